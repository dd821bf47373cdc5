"""Draws paired differences in clusters whose within-cluster correlation is known exactly.

A cluster's probabilities of each difference come from a Dirichlet distribution around the mean probabilities. With
concentration s the correlation of any function of the difference within a cluster is 1/(s + 1) (Mosimann 1962), so
that one number sets it for sparse, dense and graded differences alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.evaluation.statistics.batch import Batch


@dataclass(frozen=True)
class Law:
    """What one question's difference can be.

    Attributes:
        values: float64 (n_values), in [-1, 1], the last of them 0.
        chances: float64 (n_values), how likely each is; they add up to 1.
    """

    values: NDArray[np.float64]
    chances: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """The true difference."""
        return float(self.values @ self.chances)

    @property
    def variance(self) -> float:
        """Variance of one question's difference."""
        return float(self.values**2 @ self.chances) - self.mean**2


def law(mean: float, share: float, sizes: list[float]) -> Law | None:
    """Gains and losses of the given sizes, in a share of the questions, with a given mean; None if there is none."""
    weight = float(np.mean(sizes))
    up, down = (share + mean / weight) / 2, (share - mean / weight) / 2
    if min(up, down) < -1e-12 or share > 1:
        return None
    each = np.array(sizes)
    values = np.concatenate([each, -each, [0.0]])
    chances = np.concatenate([np.full(len(each), up / len(each)), np.full(len(each), down / len(each)), [1 - share]])
    return Law(values, np.clip(chances, 0, None))


def draw(law: Law, sizes: NDArray[np.int64], rho: float, count: int, random: np.random.Generator) -> Batch:
    """Draw ``count`` comparisons over clusters of the given sizes with within-cluster correlation ``rho``."""
    shape = (count, len(sizes))
    if rho > 0 and sizes.max() > 1:
        weights = random.standard_gamma(law.chances * (1 / rho - 1), size=(*shape, len(law.chances)))
        # with tiny shapes every weight can be too small for a float: the cluster then has one difference only
        empty = weights.sum(axis=2) <= 0
        weights[empty] = random.multinomial(1, law.chances, size=int(empty.sum()))
        chances = weights / weights.sum(axis=2, keepdims=True)
    else:
        chances = np.broadcast_to(law.chances, (*shape, len(law.chances)))
    return batch(law, sizes, random.multinomial(np.broadcast_to(sizes, shape), chances))


def draw_harm(mean: float, sizes: NDArray[np.int64], where: int, count: int, random: np.random.Generator) -> Batch:
    """Draw losses in one cluster only, so many that the mean over all questions is ``mean``."""
    losses = np.zeros((count, len(sizes)))
    losses[:, where] = random.binomial(sizes[where], -mean * sizes.sum() / sizes[where], size=count)
    return Batch(sizes, -losses, np.zeros(count), losses.sum(axis=1))


def draw_rare_harm(mean: float, sizes: NDArray[np.int64], count: int, random: np.random.Generator) -> Batch:
    """Draw losses in clusters that are harmed with a chance of one in their number, so that the mean is ``mean``."""
    share = min(1.0, -mean * len(sizes))
    harmed = random.random((count, len(sizes))) < 1 / len(sizes)
    losses = random.binomial(sizes, share, size=(count, len(sizes))) * harmed
    return Batch(sizes, -losses.astype(np.float64), np.zeros(count), losses.sum(axis=1).astype(np.float64))


def batch(law: Law, sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> Batch:
    """Describe drawn counts, int64 (n_comparisons, n_clusters, n_values)."""
    sums = counts @ law.values
    totals = counts.sum(axis=1)
    return Batch(sizes, sums, totals @ np.clip(law.values, 0, None), totals @ np.clip(-law.values, 0, None))
