"""BEIR (Thakur et al. 2021): a folder of corpus.jsonl, queries.jsonl and qrels/SPLIT.tsv.

A document's text is its title, a blank and its text, as in BEIR's own runs with one field; without a title it is the
text alone. Both as they stand in the file.
"""

from __future__ import annotations

from pathlib import Path

from harness.benchmarks.clusters import OWN
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.judged import Collection, Judgments, Split
from harness.benchmarks.lines import Seen
from harness.benchmarks.qrels import read_tsv_qrels
from harness.benchmarks.texts import Fields, json_texts
from harness.errors import UsageProblem, did_you_mean

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"

TEST = "test"
DEV_SPLITS = ("dev", "train")
"""Splits for development, in order of preference; without any of them, questions of the test split are drawn."""


def import_beir(
    folder: Path,
    *,
    name: str = "beir",
    test_split: str = TEST,
    dev_split: str | None = None,
    dev: int | None = None,
    clusters: str = OWN,
) -> Benchmark:
    """Read a BEIR folder into columns: one store, and the judged questions of two splits.

    Args:
        folder: holds corpus.jsonl, queries.jsonl and qrels/.
        name: the benchmark's name in this workspace.
        test_split: the split whose questions are held out.
        dev_split: the split for development; that of ``test_split`` to draw from it. By default the first of
            `DEV_SPLITS` that is there, else ``test_split``.
        dev: how many questions for development, drawn by digest; by default the whole split, or a fifth of
            ``test_split``.
        clusters: what questions share, as `harness.benchmarks.clusters.clusters_of` takes it.

    Raises:
        UsageProblem: a file or split that is missing or malformed, an id twice, or judgments of other questions or
            documents; it names the file and the line.
        EnvironmentProblem: a file may not be read.
    """
    heldout = judgments_path(folder, test_split)
    present = [split for split in DEV_SPLITS if split in _splits(folder) and split != test_split]
    dev_split = dev_split or next(iter(present), test_split)
    tuned = None if dev_split == test_split else judgments_path(folder, dev_split)
    # judgments first: they are small, and most of what can be wrong with a folder shows here
    judgments = Judgments.of(heldout, read_tsv_qrels)
    split = Split(judgments, Judgments.of(tuned, read_tsv_qrels) if tuned else None, dev, clusters)
    collection = Collection(name)
    path, seen = folder / QUERIES, Seen()
    collection.add_questions(path, json_texts(path, f"{QUERIES} of a BEIR folder", Fields(), seen), seen)
    path, seen = folder / CORPUS, Seen()
    fields = Fields(titled="text")
    collection.add_documents(path, json_texts(path, f"{CORPUS} of a BEIR folder", fields, seen), seen)
    drawn = "drawn from it" if tuned is None else f"{dev_split} split"
    return collection.finish(
        split,
        {
            "format": "beir",
            "variant": f"BEIR folder {folder.resolve().name}, {test_split} split; dev: {drawn}",
            "license": "not stated in the folder",
        },
    )


def judgments_path(folder: Path, split: str) -> Path:
    """The file with a split's judgments.

    Raises:
        UsageProblem: no such folder, or no such split in it.
    """
    _check_folder(folder)
    present = _splits(folder)
    if split not in present:
        allowed = f"the splits {', '.join(present)}"
        what = f"no judgments {QRELS}/{split}.tsv"
        raise UsageProblem(what, where=str(folder), allowed=allowed, fix=did_you_mean(split, present))
    return folder / QRELS / f"{split}.tsv"


def _check_folder(folder: Path) -> None:
    """Refuse what is no BEIR folder, and say which of the three it lacks."""
    fix = "unpack the data set and give its folder"
    missing = "no such folder"
    if folder.is_dir():
        missing = next((f"no {name} in it" for name in (CORPUS, QUERIES) if not (folder / name).exists()), "")
        missing = missing or ("" if _splits(folder) else f"no judgments {QRELS}/SPLIT.tsv in it")
        inner = sorted(path.parent.name for path in folder.glob(f"*/{CORPUS}"))
        fix = f"give one of the folders in it, such as {folder / inner[0]}" if inner else fix
    elif folder.exists():
        missing = "this is a file"
    if missing:
        allowed = f"a folder with {CORPUS}, {QUERIES} and {QRELS}/{TEST}.tsv"
        raise UsageProblem(missing, where=str(folder), allowed=allowed, fix=fix)


def _splits(folder: Path) -> list[str]:
    return sorted(path.stem for path in (folder / QRELS).glob("*.tsv"))
