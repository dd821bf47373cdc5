"""A benchmark on disk: separate files for the corpus, dev, held-out questions and held-out labels."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.benchmarks import store
from harness.benchmarks.columns import (
    DEV,
    HELDOUT,
    LAYERS,
    Benchmark,
    Corpus,
    Edges,
    Labels,
    Questions,
    benchmark_digest,
    labels_digest,
    part_indices,
    question_members,
    questions_digest,
)
from harness.benchmarks.question_flags import with_exact
from harness.digest import canonical_json, digest_rows
from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem, did_you_mean
from harness.ledger.folders import whole_folder

CORPUS, EDGES, DEV_FILE = "corpus.parquet", "edges.parquet", "dev.parquet"
HELDOUT_QUESTIONS, HELDOUT_LABELS = "heldout-questions.parquet", "heldout-labels.parquet"
REPAIRS, MANIFEST = "heldout-repairs.json", "manifest.json"
QUESTION_SETS = "question-sets.json"

SEALED_FILES = frozenset({HELDOUT_QUESTIONS, HELDOUT_LABELS, REPAIRS})
"""What dev work may never open; the repair report quotes held-out evidence."""

PARTS = {"corpus", "edges", "dev_questions", "dev_labels", "heldout_questions", "heldout_labels"}
"""What the manifest holds a digest of, beside the ``digest`` over them all."""


def save(benchmark: Benchmark, folder: Path, origin: Path | None = None) -> dict[str, Any]:
    """Write a benchmark to ``folder``, whole or not at all, and return its manifest.

    Args:
        benchmark: what an importer made.
        folder: a new folder.
        origin: the file that it came from; dev work is kept from opening it too.

    Raises:
        UsageProblem: another benchmark stands in the folder already.
        EnvironmentProblem: the folder cannot be written.
    """
    manifest = _manifest(benchmark) | {"origin": str(origin.resolve()) if origin else None}
    if folder.exists():
        return _present(benchmark.name, manifest, folder)
    try:
        with whole_folder(folder) as partial:
            _write_files(benchmark, manifest, partial)
    except EnvironmentProblem:
        if folder.exists():  # another process imported at the same time and was first
            return _present(benchmark.name, manifest, folder)
        raise
    return manifest


def _present(name: str, manifest: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    present = read_manifest(folder)
    if present["digests"] == manifest["digests"]:
        return present
    what = f"another benchmark named {name!r} is imported already"
    raise UsageProblem(what, where=str(folder), fix="import under another --name, or remove that folder first")


def _write_files(benchmark: Benchmark, manifest: Mapping[str, Any], folder: Path) -> None:
    dev, heldout = (part_indices(benchmark.questions, part) for part in (DEV, HELDOUT))
    store.write(store.corpus_table(benchmark.corpus), folder / CORPUS)
    store.write(store.edges_table(benchmark.edges), folder / EDGES)
    dev_table = store.questions_table(benchmark.questions.take(dev))
    store.write(store.joined(dev_table, store.labels_table(benchmark.labels.take(dev))), folder / DEV_FILE)
    store.write(store.questions_table(benchmark.questions.take(heldout)), folder / HELDOUT_QUESTIONS)
    store.write(store.labels_table(benchmark.labels.take(heldout)), folder / HELDOUT_LABELS)
    repairs = [asdict(repair) for repair in benchmark.repairs]
    (folder / REPAIRS).write_text(json.dumps(repairs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sets = {
        part: sorted(question_members(benchmark.questions.take(chosen)))
        for part, chosen in ((DEV, dev), (HELDOUT, heldout))
    }
    (folder / QUESTION_SETS).write_text(canonical_json(sets) + "\n", encoding="utf-8")
    (folder / MANIFEST).write_text(canonical_json(manifest) + "\n", encoding="utf-8")


def _manifest(benchmark: Benchmark) -> dict[str, Any]:
    layers = Counter(LAYERS[code] for code in benchmark.corpus.layer.tolist())
    faults: Counter[str] = Counter()
    for repair in benchmark.repairs:
        faults[repair.fault] += repair.count
    return {
        "format": 1,
        "name": benchmark.name,
        "source": benchmark.source,
        "partitions": list(benchmark.partitions),
        "digests": benchmark.digests(),
        "layers": {name: layers[name] for name in LAYERS if layers[name]},
        "edges": len(benchmark.edges),
        "questions": dict(Counter(benchmark.questions.part)),
        "slices": _slices(benchmark, adversarial=True),
        "slices_answerable": _slices(benchmark, adversarial=False),
        "repairs": dict(sorted(faults.items())),
    }


def _slices(benchmark: Benchmark, *, adversarial: bool) -> dict[str, Any]:
    """Counts by part, slice and cluster: questions, then those with repaired, published and overlaid evidence.

    Derived from labels, and in the manifest as counts only: without them nobody could say before the lock
    whether a guard on a slice can be decided at all.

    Args:
        benchmark: the benchmark.
        adversarial: count adversarial questions too.
    """
    questions, labels = benchmark.questions, with_exact(benchmark.labels, benchmark.questions, benchmark.corpus)
    repaired, published = labels.repaired.counts().tolist(), labels.n_published.tolist()
    overlaid = repaired if labels.overlay is None else labels.overlay.counts().tolist()
    table: dict[str, Any] = {}
    for index, (part, cluster) in enumerate(zip(questions.part, questions.clusters, strict=True)):
        slices = table.setdefault(part, defaultdict(lambda: defaultdict(lambda: [0, 0, 0, 0])))
        if not adversarial and labels.categories[index] == "adversarial":
            continue
        for name in ("all", labels.categories[index], *labels.flags[index]):
            cell = slices[name][cluster]
            cell[0] += 1
            cell[1] += bool(repaired[index])
            cell[2] += bool(published[index])
            cell[3] += bool(overlaid[index])
    return table


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the benchmark in ``folder``.

    Raises:
        IntegrityProblem: the folder is there without a readable manifest, or its digests do not fit together.
    """
    where, fix = str(folder / MANIFEST), "remove the folder and import again"
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        parts = dict(manifest["digests"])
        whole = parts.pop("digest")
        expected = benchmark_digest(manifest["name"], manifest["partitions"], parts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"the benchmark's manifest cannot be read ({type(error).__name__})"
        raise IntegrityProblem(what, where=where, fix=fix) from None
    if whole != expected or parts.keys() != PARTS:
        what = "the benchmark's manifest was edited: its digest is not that of its parts"
        raise IntegrityProblem(what, where=where, fix=fix)
    return dict(manifest)


def names(data: Path) -> list[str]:
    """Names of the benchmarks imported under the folder ``data``."""
    return sorted(path.parent.name for path in data.glob(f"*/{MANIFEST}") if not path.parent.name.startswith("."))


def find(data: Path, name: str) -> Library:
    """The benchmark imported as ``name`` under the folder ``data``.

    Raises:
        UsageProblem: no such benchmark.
    """
    present = names(data)
    if name not in present:
        allowed = ", ".join(present) or "none is imported yet"
        fix = did_you_mean(name, present) or "harness data import KIND …; harness data import --help lists the kinds"
        raise UsageProblem(f"no benchmark {name!r} in this workspace", where=str(data), allowed=allowed, fix=fix)
    return Library(data / name)


@dataclass(frozen=True)
class Library:
    """Opens the files of one benchmark, each only when asked for, and checks their content digests."""

    folder: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """Counts, digests and source; nothing in it names a held-out label."""
        return read_manifest(self.folder)

    @property
    def name(self) -> str:
        """The benchmark's name."""
        return str(self.manifest["name"])

    @property
    def origin(self) -> Path | None:
        """The file that the benchmark was imported from, as it lay on this machine."""
        path = self.manifest.get("origin")
        return Path(path) if path else None

    @property
    def digests(self) -> dict[str, str]:
        """Content digests by part; ``digest`` stands for the whole."""
        return dict(self.manifest["digests"])

    @cached_property
    def question_sets(self) -> dict[str, frozenset[str]]:
        """Short digests of the question texts of each part: dev work may know that it overlaps, and no more."""
        path = self.folder / QUESTION_SETS
        try:
            sets = json.loads(path.read_text(encoding="utf-8"))
            return {part: frozenset(map(str, sets[part])) for part in (DEV, HELDOUT)}
        except (OSError, ValueError, KeyError, TypeError) as error:
            what = f"the question sets of the benchmark cannot be read ({type(error).__name__})"
            raise IntegrityProblem(what, where=str(path), fix="remove the folder and import again") from None

    @cached_property
    def corpus(self) -> Corpus:
        """The corpus."""
        with self._intact(CORPUS):
            corpus = store.read_corpus(self.folder / CORPUS)
            self._check("corpus", digest_rows("corpus/1", corpus.rows()), CORPUS)
        return corpus

    @cached_property
    def edges(self) -> Edges:
        """The edges."""
        ids = self.corpus.ids
        with self._intact(EDGES):
            edges = store.read_edges(self.folder / EDGES)
            self._check("edges", digest_rows("edges/1", edges.rows(ids)), EDGES)
        return edges

    @cached_property
    def dev(self) -> tuple[Questions, Labels]:
        """Questions and labels for development."""
        ids = self.corpus.ids
        with self._intact(DEV_FILE):
            table = store.read(self.folder / DEV_FILE)
            questions, labels = store.questions_of(table), store.labels_of(table)
            self._check("dev_questions", questions_digest(questions), DEV_FILE)
            self._check("dev_labels", labels_digest(labels, ids), DEV_FILE)
        return questions, with_exact(labels, questions, self.corpus)

    def heldout_questions(self) -> Questions:
        """Held-out questions, without anything derived from a label."""
        with self._intact(HELDOUT_QUESTIONS):
            questions = store.questions_of(store.read(self.folder / HELDOUT_QUESTIONS))
            self._check("heldout_questions", questions_digest(questions), HELDOUT_QUESTIONS)
        return questions

    def heldout_labels(self, claim: str) -> Labels:
        """Held-out labels; only the holder of a claim on the one run opens them.

        Args:
            claim: hash of the claim entry.
        """
        if not re.fullmatch("[0-9a-f]{64}", claim):
            raise IntegrityProblem("held-out labels were asked for without a claim", where=str(self.folder))
        ids = self.corpus.ids
        with self._intact(HELDOUT_LABELS):
            labels = store.labels_of(store.read(self.folder / HELDOUT_LABELS))
            self._check("heldout_labels", labels_digest(labels, ids), HELDOUT_LABELS)
        return with_exact(labels, self.heldout_questions(), self.corpus)

    @contextmanager
    def _intact(self, file: str) -> Iterator[None]:
        """Tell whoever opens a file with other columns, types or positions that it was edited."""
        try:
            yield
        except (KeyError, IndexError, ValueError, TypeError, AttributeError) as error:
            what = f"{file} is not what was imported: it holds other columns or values ({type(error).__name__})"
            where, fix = str(self.folder / file), "remove the folder and import again"
            raise IntegrityProblem(what, where=where, fix=fix) from None

    def _check(self, part: str, found: str, file: str) -> None:
        if found != self.digests[part]:
            what = f"{file} is not what was imported: its content digest differs from the manifest"
            raise IntegrityProblem(what, where=str(self.folder / file), fix="remove the folder and import again")
