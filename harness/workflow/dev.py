"""Dev work: rank and score the dev questions only, beside the version in force."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import harness
from harness.benchmarks.library import Library, names
from harness.benchmarks.seal import seal_heldout
from harness.digest import digest_json, package_digest
from harness.errors import UsageProblem
from harness.ledger import durable
from harness.ledger.folders import remove_dead, whole_folder
from harness.retrieval.documents import document_names
from harness.retrieval.ranking_files import write_parquet, write_trec
from harness.retrieval.version import Configured, Store
from harness.workflow.compose import DevConfig
from harness.workflow.dev_result import dev_result
from harness.workflow.measured import Measured, as_read, measure_ranking, ties_of
from harness.workflow.outside import record_dev_work
from harness.workflow.progress import SILENT, Progress
from harness.workflow.systems import in_force, standard_measures
from harness.workflow.workspace import Workspace, check_writable, git_state, now

RESULT = "result.json"
# what is frozen of a result, and its kinds; a file in which they differ is damaged
_FROM_RESULT: dict[str, type] = {
    "run": str, "content": str, "benchmark": dict, "version": str, "parameters": dict, "fingerprint": str, "k": int,
    "questions": int, "slices": dict,
}  # fmt: skip
_TIE_DEPTH = 1000
_DIGITS = 12  # of the content digest, in a run's name


@dataclass(frozen=True)
class DevRun:
    """A finished dev run: its folder and what was written there."""

    folder: Path
    result: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Bench:
    """What all dev runs on one benchmark share, opened once a process.

    Attributes:
        workspace, library, store: where the runs go and what they see.
        force, because: the version in force, which every run is compared with, and why it is.
        elsewhere: dev questions that another benchmark or a lock here holds out; on record as an outside look.
    """

    workspace: Workspace
    library: Library
    store: Store
    force: Configured
    because: str
    elsewhere: int = 0
    _baselines: dict[str, Measured] = field(default_factory=dict)

    def content(self, config: DevConfig) -> str:
        """Digest of everything that a run's result depends on: data, systems, measures and code."""
        content = {
            "benchmark": self.library.digests["digest"],
            "candidate": config.system.identity(),
            "baseline": self.force.identity(),
            "k": config.k,
            **config.budget(),
            "measures": [str(measure) for measure in standard_measures(config.k, config.measures)],
            "engine": config.engine,
            "code": [package_digest("dev-code/1", f"harness.{part}") for part in ("retrieval", "evaluation")],
            "version": harness.__version__,
        }
        return digest_json("dev-content/1", content)

    def prepare(self, config: DevConfig, progress: Progress) -> None:
        """Compute what can be kept, such as vectors, and count it; ranking does the same without a word."""
        for system in (config.system, self.force):
            system.prepare(self.store, self.library.dev[0], progress.counting)

    def measured(self, config: DevConfig) -> dict[str, Measured]:
        """The candidate, and the version in force where both read the same unit, or as many tokens of it."""
        systems = {"candidate": self._measure(config.system, config)}
        if self.force.unit == config.system.unit or config.tokens:
            # a sweep compares hundreds of trials with one baseline
            key = digest_json("baseline/1", [config.k, [str(m) for m in config.measures], config.engine, config.tokens])
            if key not in self._baselines:
                self._baselines[key] = self._measure(self.force, config)
            systems["baseline"] = self._baselines[key]
        return systems

    def _measure(self, system: Configured, config: DevConfig) -> Measured:
        questions, labels = self.library.dev
        measures = standard_measures(config.k, config.measures)
        depth = max(measure.k for measure in measures)
        # deeper than is scored, so that a group of equal scores at the cut is seen whole
        deep = system.rank(self.store, questions, max(depth, _TIE_DEPTH), config.engine)
        partitions = self.library.manifest["partitions"]
        read = as_read(system, deep.cut(depth), self.store, config.tokens)
        measured = measure_ranking(system, read, self.store, partitions, questions, labels, measures)
        # which documents of a tie would fit depends on their order, so that a budget of tokens has no such report
        return measured if config.tokens else replace(measured, ties=ties_of(measured, deep))


def open_bench(workspace: Workspace, name: str, *, sealed: bool = True) -> Bench:
    """Open a benchmark for dev work.

    Args:
        workspace: the workspace.
        name: the benchmark's name.
        sealed: refuse, for the rest of this process, to open held-out files and the files that benchmarks were
            imported from. Only a caller that goes on to a full run in the same process leaves it out.

    Raises:
        UsageProblem: the benchmark is not imported.
        EnvironmentProblem: the runs folder cannot be written; found before any work.
    """
    library = workspace.benchmark(name)
    check_writable(workspace.dev_runs)
    remove_dead(workspace.dev_runs)  # also where nothing will be made: a sweep may find every trial finished
    if sealed:
        imported = (workspace.benchmark(other) for other in names(workspace.data))
        sources = [source.origin for source in imported if source.origin]
        seal_heldout(workspace.dev_runs / "refused-opens.log", sources)
    force, because = in_force(workspace.entries(), library.digests["digest"])
    elsewhere = record_dev_work(workspace, library)
    return Bench(workspace, library, Store(library.corpus, library.edges), force, because, elsewhere)


def dev_run(bench: Bench, config: DevConfig, progress: Progress = SILENT) -> DevRun:
    """Make one dev run; its folder appears whole, or not at all."""
    started = time.perf_counter()
    bench.prepare(config, progress)
    progress("ranking and scoring the dev questions")
    measured = bench.measured(config)
    content = bench.content(config)
    name = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{_digits(content)}-{secrets.token_hex(3)}"
    result = {
        **dev_result(config, bench.library, measured, bench.because),
        "run": name,
        "content": content,
        "git": git_state(bench.workspace.root),
        "time": now(),
        "seconds": round(time.perf_counter() - started, 6),
    }
    folder = bench.workspace.dev_runs / name
    with whole_folder(folder) as partial:
        documents = document_names(bench.store.corpus, bench.store.edges, config.system.read_model)
        for write, ending in ((write_trec, "trec"), (write_parquet, "parquet")):
            write(measured["candidate"].ranking, documents, partial / f"candidate.{ending}", config.system.name)
        text = json.dumps(result, indent=1, ensure_ascii=False) + "\n"
        durable.replace(partial / RESULT, text.encode())
    return DevRun(folder, result)


def _digits(content: str) -> str:
    return content.removeprefix("sha256:")[:_DIGITS]


def finished_run(workspace: Workspace, content: str) -> DevRun | None:
    """A finished run of exactly this content, if there is one: the last to be made."""
    for path in sorted(workspace.dev_runs.glob(f"*-{_digits(content)}-*/{RESULT}"), reverse=True):
        run = _read(path)
        if run is not None and run.result.get("content") == content:
            return run
    return None


def finished_runs(workspace: Workspace) -> Iterator[DevRun]:
    """Every finished dev run that can be read, in the order in which they were written."""
    # by the time of writing: two runs of one second have names in no order
    for path in sorted(workspace.dev_runs.glob(f"[!.]*/{RESULT}"), key=lambda path: path.stat().st_mtime_ns):
        run = _read(path)
        if run is not None:
            yield run


def _read(path: Path) -> DevRun | None:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return DevRun(path.parent, result) if _is_whole(result) else None


def _is_whole(result: Any) -> bool:
    if not isinstance(result, dict) or any(not isinstance(result.get(key), of) for key, of in _FROM_RESULT.items()):
        return False
    named = {"name", "digest"} <= result["benchmark"].keys()
    cells = result["slices"].get("candidate", {})
    return named and isinstance(cells, dict) and isinstance(cells.get("all"), dict)


def read_dev_run(workspace: Workspace, name: str) -> DevRun:
    """A dev run by its name, by its folder, or ``latest``.

    Raises:
        UsageProblem: there is no such run, or it is damaged.
    """
    finished = list(finished_runs(workspace))
    if name == "latest":
        if finished:
            return finished[-1]
        # none can be read: one of them says why
        name = next((path.parent.name for path in workspace.dev_runs.glob(f"[!.]*/{RESULT}")), name)
    given = workspace.dev_runs / name if (workspace.dev_runs / name / RESULT).is_file() else Path(name)
    found = next((run for run in finished if run.folder.resolve() == given.resolve()), None)
    if found is not None:
        return found
    if (given / RESULT).is_file():
        fix = "make the run again with harness dev"
        raise UsageProblem("the dev run's result is damaged", where=str(given / RESULT), fix=fix)
    allowed = ", ".join(run.folder.name for run in finished[-5:]) or "none was made yet"
    raise UsageProblem(f"no dev run {name!r}", allowed=allowed, fix="harness dev --retrieval-version V")
