"""How fast BM25 ranks a whole benchmark: our engine, the rank_bm25 reference and bm25s, in one run on one thread.

Everyone is given the same tokens and builds the index and the first 100 documents of every question; text is
tokenized outside the clock. Times are the best of the rounds, and the ratios are those of this machine now.

    python bench/retrieval_speed.py [path of locomo10.json]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

import bm25s
import numpy as np

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo import import_locomo
from harness.benchmarks.synthetic import import_synthetic
from harness.retrieval import reference
from harness.retrieval.documents import Documents, ReadModel, build_documents
from harness.retrieval.lexical import build_index
from harness.retrieval.ranking import Ranking
from harness.retrieval.tokenizer import ascii_words_cjk_bigrams

Given = tuple[Documents, Benchmark, Sequence[Sequence[str]]]

DEPTH, K1, B = 100, 1.2, 0.75
STORES: tuple[tuple[str, ReadModel, tuple[str, ...]], ...] = (
    ("raw chunks", "chunk", ("raw",)),
    ("raw + distill chunks", "chunk", ("raw", "distill")),
    ("raw edges", "edge", ("raw",)),
)


def rank_ours(documents: Documents, benchmark: Benchmark, tokens: Sequence[Sequence[str]]) -> Ranking:
    """Index and rank with our engine."""
    questions = benchmark.questions
    return build_index(documents, k1=K1, b=B).search(questions.ids, tokens, questions.partition, DEPTH)


def rank_reference(documents: Documents, benchmark: Benchmark, tokens: Sequence[Sequence[str]]) -> Ranking:
    """Index and rank with rank_bm25."""
    questions = benchmark.questions
    return reference.search(documents, questions.ids, tokens, questions.partition, depth=DEPTH, k1=K1, b=B)


def rank_bm25s(documents: Documents, benchmark: Benchmark, tokens: Sequence[Sequence[str]]) -> None:
    """Index and rank with bm25s on numpy; it settles ties in its own way and its scores lack a factor."""
    for number in np.unique(benchmark.questions.partition):
        rows = [list(documents.tokens[i]) for i in np.flatnonzero(documents.partition == number).tolist()]
        engine = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numpy")
        engine.index(rows, show_progress=False)
        asked = [list(tokens[i]) for i in np.flatnonzero(benchmark.questions.partition == number).tolist()]
        known = [[token for token in row if token in engine.vocab_dict] for row in asked]
        engine.retrieve([row for row in known if row], k=min(DEPTH, len(rows)), show_progress=False)


def best(given: Given, rounds: int) -> list[float]:
    """The shortest time of each engine in seconds: ours, the reference, bm25s.

    All three take their turn in every round, so that a busy spell of the machine favours none of them.
    """
    times: list[list[float]] = []
    for _ in range(rounds):
        times.append([])
        for rank in (rank_ours, rank_reference, rank_bm25s):
            begin = time.perf_counter()
            rank(*given)
            times[-1].append(time.perf_counter() - begin)
    return [min(column) for column in zip(*times, strict=True)]


def main() -> None:
    """Print one line a store: seconds of each engine and how many times ours is faster."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("locomo", nargs="?", type=Path, help="locomo10.json; the synthetic benchmark without it")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of which the best counts (3)")
    arguments = parser.parse_args()
    benchmark = import_locomo(arguments.locomo) if arguments.locomo else import_synthetic()
    tokens = [ascii_words_cjk_bigrams(text) for text in benchmark.questions.texts]
    print(f"{benchmark.name}: {len(tokens):,} questions, depth {DEPTH}, index included, tokens given")
    heads = ("documents", "ours s", "rank_bm25 s", "bm25s s", "x rank_bm25", "x bm25s")
    print(f"{'store':22}" + "".join(f"{head:>13}" for head in heads))
    for name, read_model, layers in STORES:
        documents = build_documents(
            benchmark.corpus, benchmark.edges, read_model=read_model, layers=layers, template="session-prefix/1",
            tokenizer="ascii-words-cjk-bigrams/1",
        )  # fmt: skip
        given = documents, benchmark, tokens
        if not rank_ours(*given).same_order(rank_reference(*given)):
            raise SystemExit(f"{name}: the engines disagree, so their times mean nothing")
        ours, slow, other = best(given, arguments.rounds)
        seconds = f"{ours:13.3f}{slow:13.3f}{other:13.3f}"
        print(f"{name:22}{len(documents):13,}{seconds}{slow / ours:13.1f}{other / ours:13.1f}")


if __name__ == "__main__":
    main()
