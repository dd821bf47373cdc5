"""A collection as at TREC: a file of documents, a file of topics, and qrels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from harness.benchmarks.clusters import OWN
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.judged import Collection, Judgments, Split
from harness.benchmarks.lines import Seen
from harness.benchmarks.qrels import read_qrels
from harness.benchmarks.texts import Fields, texts_of

DOCUMENT = Fields(ids=("id", "_id", "docno", "docid"), texts=("text", "contents"), titled="text")
"""Documents by field name; ``contents`` is whole as it is, and before ``text`` goes the title, if there is one."""

TOPIC = Fields(ids=("id", "_id", "qid"), texts=("text", "query", "title"))


@dataclass(frozen=True)
class Files:
    """The files of a collection.

    Attributes:
        corpus, topics: JSON lines, or id, tab, text.
        qrels: judgments of the questions that are held out.
        dev_qrels: judgments of those for development; None to draw them from those of ``qrels``.
    """

    corpus: Path
    topics: Path
    qrels: Path
    dev_qrels: Path | None = None


def import_trec(files: Files, *, name: str = "trec", dev: int | None = None, clusters: str = OWN) -> Benchmark:
    """Read a collection into columns: one store, and the judged questions.

    Args:
        files: what to read.
        name: the benchmark's name in this workspace.
        dev: how many questions for development, drawn by digest; by default all of ``dev_qrels``, or a fifth of
            ``qrels``.
        clusters: what questions share, as `harness.benchmarks.clusters.clusters_of` takes it.

    Raises:
        UsageProblem: a file that is missing or malformed, an id twice, or judgments of other questions or documents;
            it names the file and the line.
        EnvironmentProblem: a file may not be read.
    """
    tuned = Judgments.of(files.dev_qrels, read_qrels) if files.dev_qrels else None
    split = Split(Judgments.of(files.qrels, read_qrels), tuned, dev, clusters)
    collection = Collection(name)
    seen = Seen()
    collection.add_questions(files.topics, texts_of(files.topics, "a file of topics", TOPIC, seen), seen)
    seen = Seen()
    collection.add_documents(files.corpus, texts_of(files.corpus, "a file of documents", DOCUMENT, seen), seen)
    drawn = "drawn from them" if tuned is None else tuned.path.name
    return collection.finish(
        split,
        {
            "format": "trec",
            "variant": f"{files.corpus.name}, judged by {files.qrels.name}; dev: {drawn}",
            "license": "not stated in the files",
        },
    )
