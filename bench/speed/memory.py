"""Peak memory and time of ranking a large store of long chunks with the version ``bm25``.

    python -m bench.speed.memory [--distinct 0.5] [--batches 20]

500 partitions of 450 chunks of about 250 words, 277 MB of text, as much as LongMemEval-S has; a part of the texts
stands in several partitions. One question a partition. ``--batches 20`` is what ``harness dev`` and ``harness full``
do, ``--batches 1`` ranks everything at once. The peak is that of the whole process, store included; for another way,
start again.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

from harness.benchmarks.columns import Corpus, Edges, Groups, Questions
from harness.retrieval.ranking import joined
from harness.retrieval.registry import select
from harness.retrieval.tokenizer import STOP_WORDS
from harness.retrieval.version import Store
from harness.workflow.ranking import batches

PARTITIONS, CHUNKS, LENGTHS = 500, 450, (200, 301)
WORDS = 60_000
DEPTH = 100


def main() -> None:
    """Print megabytes, seconds of processor time, and the digest of the ranking, which has to stay."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.memory", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--distinct", type=float, default=0.5, help="distinct texts for each chunk, 0 to 1 (0.5)")
    parser.add_argument("--batches", type=int, default=20, help="parts in which the questions are ranked (20)")
    given = parser.parse_args()
    store, questions = drawn(given.distinct)
    size = sum(map(len, store.corpus.texts)) / 1e6
    before = peak()
    begin = time.process_time()
    system = select("bm25", {"layers": ["raw"]})
    parts = [system.rank(store, questions.take(p), DEPTH) for p in batches(questions.partition, given.batches)]
    ranking = joined(parts, questions.ids, DEPTH)
    seconds = time.process_time() - begin
    print(f"{len(store.corpus):,} chunks, {size:.0f} MB of text, {len(set(store.corpus.texts)):,} texts are distinct")
    print(f"ranked in {given.batches} parts: {seconds:.1f} s; {ranking.digest()}")
    print(f"peak of the process {peak():,.0f} MB, {before:,.0f} MB before the ranking began")


def peak() -> float:
    """The most memory that this process has had so far, in MB."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def drawn(distinct: float) -> tuple[Store, Questions]:
    """A store of words by Zipf's law, the stop words first; every chunk's text is an object of its own."""
    random = np.random.default_rng(20)
    names = np.array([*sorted(STOP_WORDS), *(_word(rank) for rank in range(len(STOP_WORDS), WORDS))], dtype=object)
    share = np.cumsum(1.0 / np.arange(1, WORDS + 1))

    def text(length: int) -> str:
        return " ".join(names[np.searchsorted(share, random.random(length) * share[-1])])

    n = PARTITIONS * CHUNKS
    pool = [text(length) for length in random.integers(*LENGTHS, max(1, int(distinct * n))).tolist()]
    # encoded and decoded, so that a text that stands twice is two objects, as after reading a file
    texts = tuple(pool[place].encode().decode() for place in random.permutation(np.arange(n) % len(pool)).tolist())
    partition = np.repeat(np.arange(PARTITIONS, dtype=np.int32), CHUNKS)
    none, zeros = ("",) * n, np.zeros(n, np.int32)
    corpus = Corpus(
        tuple(f"c{i}" for i in range(n)), texts, none, none, zeros.astype(np.int8), np.ones(n), zeros,
        np.full(n, -1), partition, Groups(np.zeros(n + 1, np.int64), zeros[:0]),
    )  # fmt: skip
    edges = Edges(zeros[:0], zeros[:0], (), (), np.zeros(0))
    ids, asked = tuple(f"q{i}" for i in range(PARTITIONS)), tuple(text(12) for _ in range(PARTITIONS))
    numbers = np.arange(PARTITIONS, dtype=np.int32)
    return Store(corpus, edges), Questions(ids, asked, numbers, ids, ("dev",) * PARTITIONS, numbers)


def _word(rank: int) -> str:
    """A word that is its own: frequent ones are short, as in a language."""
    letters = "w"
    while rank:
        rank, place = divmod(rank, 10)
        letters += "aeioubdgln"[place]
    return letters


if __name__ == "__main__":
    main()
