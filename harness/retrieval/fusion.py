"""Reciprocal rank fusion (Cormack, Clarke & Büttcher 2009)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from harness.retrieval.ranking import Ranking

DECIMALS = 12
"""To which sums are rounded before they are ordered: equal sums, such as those of ranks (3, 80) and (24, 30), differ
in the last bit as they come."""


def fuse(lists: Sequence[Ranking], *, k: float, weights: Sequence[float], depth: int) -> Ranking:
    """One ranking out of several: each adds ``weight / (k + rank)`` for what it holds, and nothing for the rest.

    Ranks count from 1. Equal sums are ordered by position, that is by order of ingestion.

    Args:
        lists: rankings of the same questions, in one order.
        k: how little the first ranks count more than later ones; 0 or more, 60 in the source.
        weights: one for each list, 0 or more.
        depth: the most documents a question.
    """
    owners, positions, shares = [], [], []
    for ranking, weight in zip(lists, weights, strict=True):
        lengths = np.diff(ranking.offsets)
        rank = np.arange(len(ranking.positions)) - np.repeat(ranking.offsets[:-1], lengths) + 1
        owners.append(np.repeat(np.arange(len(ranking)), lengths))
        positions.append(ranking.positions.astype(np.int64))
        shares.append(weight / (k + rank))
    width = max((int(column.max(initial=0)) for column in positions), default=0) + 1
    keys, place = np.unique(np.concatenate(owners) * width + np.concatenate(positions), return_inverse=True)
    summed = np.bincount(place, np.concatenate(shares), minlength=len(keys))
    sums = np.asarray(np.round(summed, DECIMALS), dtype=np.float64)
    owner, position = np.divmod(keys, width)
    wanted = sums > 0  # a list of weight 0 adds nothing, not even its documents
    owner, position, sums = owner[wanted], position[wanted], sums[wanted]
    order = np.lexsort((position, -sums, owner))
    counts = np.bincount(owner, minlength=len(lists[0]))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    deepest = int(counts.max(initial=0))
    fused = Ranking(lists[0].questions, offsets, position[order].astype(np.int32), sums[order], deepest)
    return fused.to_depth(depth)
