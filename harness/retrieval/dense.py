"""Exact search among vectors: faiss finds candidates, float64 settles their order.

faiss computes in float32 and takes another path for other numbers of questions, so that its last bits are no property
of a document. It is asked for more than is needed, what it found is scored again in float64 and rounded to a
millionth, and equal scores stay in the order of the documents: the result is the same for every batch size and every
number of threads, and the first five are the first five of the first ten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.retrieval.embedding.embedder import Vectors
from harness.retrieval.ranking import Ranking

DECIMALS = 6
"""To which cosines are rounded before they are ordered: the last bits differ between processors."""

_MORE = 64  # candidates beyond the depth
_CELLS = 4_000_000  # float64 numbers scored again at once: 32 MB


def search_dense(
    questions: Sequence[str],
    asked: Vectors,
    partition: NDArray[np.int32],
    positions: NDArray[np.int32],
    document_partition: NDArray[np.int32],
    vectors: Vectors,
    depth: int,
) -> Ranking:
    """Rank the documents of each question's partition by cosine.

    Args:
        questions: ids.
        asked: float32 (n_questions, d), unit rows; a question with the zero row retrieves nothing.
        partition: int32 (n_questions).
        positions: int32 (n_documents), in the order that settles ties.
        document_partition: int32 (n_documents), never decreasing.
        vectors: float32 (n_documents, d), unit rows; a document with the zero row is never retrieved.
        depth: the most documents a question.
    """
    rows: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = [
        (np.zeros(0, np.int32), np.zeros(0, np.float64)) for _ in questions
    ]
    known: NDArray[np.bool_] = np.asarray(vectors.any(axis=1))
    willing: NDArray[np.bool_] = np.asarray(asked.any(axis=1))
    for number in np.unique(partition):
        first, last = np.searchsorted(document_partition, [number, number + 1])
        documents = first + np.flatnonzero(known[first:last])
        members = np.flatnonzero((partition == number) & willing)
        if len(documents) and len(members):
            best = _best(asked[members], vectors[documents], depth)
            for member, (places, scores) in zip(members.tolist(), best, strict=True):
                rows[member] = (positions[documents[places]], scores)
    lengths = np.array([len(found) for found, _ in rows], dtype=np.int64)
    return Ranking(
        tuple(questions),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        np.concatenate([found for found, _ in rows] or [np.zeros(0, np.int32)]),
        np.concatenate([scores for _, scores in rows] or [np.zeros(0, np.float64)]),
        depth,
    )


def cosines(asked: Vectors, vectors: Vectors) -> NDArray[np.float64]:
    """Rounded cosines of unit rows, each pair summed in one order whatever stands beside it.

    Args:
        asked: float32 (m, d).
        vectors: float32 (m, n, d), n vectors for each of the m.

    Returns:
        float64 (m, n) in [-1, 1], rounded to `DECIMALS`.
    """
    products = np.einsum("mnd,md->mn", vectors.astype(np.float64), asked.astype(np.float64), optimize=False)
    # minus zero is zero: one score, one order
    rounded: NDArray[np.float64] = np.clip(np.round(products, DECIMALS), -1.0, 1.0) + 0.0
    return rounded


def _best(asked: Vectors, vectors: Vectors, depth: int) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
    """Rows of ``vectors`` for each question, best first, with their scores."""
    index = _index(vectors)
    n, width = vectors.shape
    # a float32 sum of d products of unit vectors is off by d units in the last place at most
    error = 2 * width * float(np.finfo(np.float32).eps) + 10.0**-DECIMALS
    found: list[tuple[NDArray[np.int64], NDArray[np.float64]] | None] = [None] * len(asked)
    waiting, fetch = np.arange(len(asked)), min(n, depth + _MORE)
    while len(waiting):
        unsure = []
        step = max(1, _CELLS // (fetch * width))
        for begin in range(0, len(waiting), step):
            block = waiting[begin : begin + step]
            rough, places = index.search(np.ascontiguousarray(asked[block]), fetch)
            exact = cosines(asked[block], vectors[places])
            for row, question in enumerate(block.tolist()):
                order = np.lexsort((places[row], -exact[row]))[:depth]
                if fetch < n and exact[row][order[-1]] <= float(rough[row, -1]) + error:
                    unsure.append(question)  # one that was not fetched might belong here
                else:
                    found[question] = (places[row][order], exact[row][order])
        waiting, fetch = np.array(unsure, dtype=np.int64), min(n, fetch * 4)
    return [one for one in found if one is not None]


def _index(vectors: Vectors) -> Any:
    import faiss

    faiss.omp_set_num_threads(1)  # two oversubscribe a small machine
    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    return index
