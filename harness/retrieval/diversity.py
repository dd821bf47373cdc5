"""Maximal marginal relevance (Carbonell & Goldstein 1998), in which only items of one layer push each other down."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.retrieval.dense import cosines
from harness.retrieval.embedding.embedder import Vectors
from harness.retrieval.ranking import Ranking

_DECIMALS = 12
_CELLS = 4_000_000  # float64 numbers compared at once: 32 MB


def diversify(
    ranking: Ranking,
    *,
    vectors: Vectors,
    place: NDArray[np.int64],
    layers: NDArray[np.int8],
    lambda_mult: float,
    pool: int,
) -> Ranking:
    """Re-order the first ``pool`` documents of every question; those after them follow as they were.

    One after the other, the document is taken that has the most of ``λ·relevance - (1 - λ)·redundancy``. Relevance
    is its score, scaled so that the first of the pool has 1 and the last 0; where all are equal, each has 1.
    Redundancy is the greatest cosine with a document that was taken before and lies in the same layer, and 0 where
    there is none or where it is negative. The most relevant is always taken first; equal values stay in the order
    in which they came. With λ = 1 the order is that of the input.

    Args:
        ranking: what is re-ordered.
        vectors: float32 (n, d), unit rows.
        place: int64, row of ``vectors`` for every position; only those of documents in a pool are read.
        layers: int8, layer of every position.
        lambda_mult: λ, 0 (diversity alone) to 1 (relevance alone).
        pool: how many are re-ordered.

    Returns:
        The same documents. The scores of the pool are the values by which they were taken; those after them keep
        their distances, below the last of the pool.
    """
    positions, scores = ranking.positions.copy(), ranking.scores.copy()
    lengths = np.diff(ranking.offsets)
    for size in np.unique(np.minimum(lengths, pool)).tolist():
        if not size:
            continue
        members = np.flatnonzero(np.minimum(lengths, pool) == size)
        step = max(1, _CELLS // (size * vectors.shape[1]))
        for begin in range(0, len(members), step):
            starts = ranking.offsets[members[begin : begin + step]]
            cells = starts[:, None] + np.arange(size)
            held = ranking.positions[cells]
            taken, values = _greedy(ranking.scores[cells], vectors[place[held]], layers[held], lambda_mult)
            positions[cells] = np.take_along_axis(held, taken, axis=1)
            scores[cells] = values
    rank = np.arange(len(scores)) - np.repeat(ranking.offsets[:-1], lengths)
    after = np.flatnonzero(rank >= pool)
    last = np.repeat(ranking.offsets[:-1], lengths)[after] + pool - 1
    scores[after] = scores[last] - 1 - (ranking.scores[last] - ranking.scores[after])
    return Ranking(ranking.questions, ranking.offsets, positions, scores, ranking.depth)


def _greedy(
    scores: NDArray[np.float64], vectors: Vectors, layers: NDArray[np.int8], lambda_mult: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Columns in the order in which they are taken, and their values then; (m, n) each."""
    rows, n = np.arange(len(scores)), scores.shape[1]
    most, least = scores[:, :1], scores[:, -1:]
    spread = most - least
    relevance = np.divide(scores - least, spread, out=np.ones_like(scores), where=spread > 0)
    redundancy = np.zeros_like(scores)
    open_ = np.ones(scores.shape, dtype=bool)
    taken, values = np.zeros((len(scores), n), dtype=np.int64), np.zeros_like(scores)
    for step in range(n):
        worth = np.round(lambda_mult * relevance - (1 - lambda_mult) * redundancy, _DECIMALS)
        # argmax takes the first of equals; the first of all is the most relevant whatever λ is
        best = np.argmax(np.where(open_, worth, -np.inf), axis=1) if step else np.zeros(len(scores), dtype=np.int64)
        taken[:, step], values[:, step] = best, worth[rows, best]
        open_[rows, best] = False
        if lambda_mult < 1 and step + 1 < n:
            like = cosines(vectors[rows, best], vectors)
            same = layers == layers[rows, best][:, None]
            redundancy = np.maximum(redundancy, np.where(same, like, 0.0))
    return taken, values
