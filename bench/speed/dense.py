"""Dense search of drawn unit vectors: ours, and faiss by itself.

Ours is faiss with more candidates than are wanted, scored again in float64 and ordered by a total order: the ratio is
what a result that depends on no batch size costs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.speed.timing import Absent, Contender, Task, absent_modules, module
from harness.retrieval.dense import search_dense
from harness.retrieval.ranking import Ranking

PARTITIONS, SIZE, QUESTIONS, WIDTH, DEPTH = 10, 850, 1986, 256, 100


def task() -> Task:
    """The first 100 of 10 × 850 vectors for 1,986 questions, about what LoCoMo has."""
    facts = {"partitions": PARTITIONS, "documents": PARTITIONS * SIZE, "questions": QUESTIONS, "d": WIDTH, "k": DEPTH}
    title = f"dense: {PARTITIONS} × {SIZE} vectors of {WIDTH}, {QUESTIONS:,} questions, k={DEPTH}, index included"
    missing = absent_modules("faiss")
    if missing:
        return Task(title, facts, [Absent(name, "faiss is not installed") for name in ("ours", "faiss")])
    random = np.random.default_rng(20)
    vectors, asked = _unit(random, PARTITIONS * SIZE), _unit(random, QUESTIONS)
    partition = np.sort(random.integers(0, PARTITIONS, QUESTIONS)).astype(np.int32)
    positions = np.arange(PARTITIONS * SIZE, dtype=np.int32)
    places = np.repeat(np.arange(PARTITIONS, dtype=np.int32), SIZE)
    ids = tuple(f"q{index}" for index in range(QUESTIONS))

    def ours(_: Any) -> Ranking:
        return search_dense(ids, asked, partition, positions, places, vectors, DEPTH)

    def by_faiss(_: Any) -> list[NDArray[np.int64]]:
        faiss, found = module("faiss"), []
        for number in range(PARTITIONS):
            index = faiss.IndexFlatIP(WIDTH)
            index.add(vectors[places == number])
            found.append(index.search(asked[partition == number], DEPTH)[1] + number * SIZE)
        return found

    expected = [set(row) for _, row in ours(None).rows()]

    def agreement(found: list[NDArray[np.int64]]) -> str:
        rows = [set(row.tolist()) for block in found for row in block]
        return f"{100 * np.mean([len(a & b) / len(a) for a, b in zip(expected, rows, strict=True)]):.2f} % of ours"

    return Task(
        title, facts, [Contender("ours", None, ours, lambda _: ""), Contender("faiss", None, by_faiss, agreement)]
    )


def _unit(random: np.random.Generator, n: int) -> NDArray[np.float32]:
    rows = random.standard_normal((n, WIDTH)).astype(np.float32)
    return np.ascontiguousarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
