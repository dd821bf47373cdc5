"""How alike the questions of a cluster are, how much one cluster carries, and what no loss at all says."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.evaluation.statistics.bounds import Paired


def measured_correlation(paired: Paired) -> float | None:
    """Within-cluster correlation of the differences, by analysis of variance (Donner 1986), in [-1, 1].

    Few clusters measure it poorly, and it may come out below 0. None where it cannot be told: with one cluster, with
    one question in each, or where nothing varies.
    """
    groups, n, sizes = len(paired.sizes), paired.n, paired.sizes
    if groups < 2 or n == groups:
        return None
    total = paired.deviation**2 * (n - 1)
    between = float((paired.sums**2 / sizes).sum() - n * paired.estimate**2)
    among, within = between / (groups - 1), max(0.0, total - between) / (n - groups)
    size = (n - float((sizes**2).sum()) / n) / (groups - 1)
    spread = among + (size - 1) * within
    return (among - within) / spread if spread > 1e-15 else None


def without_each_cluster(paired: Paired) -> NDArray[np.float64]:
    """The mean difference without each cluster in turn, float64 (n_clusters); NaN where nothing would be left."""
    rest = paired.n - paired.sizes
    left = np.full(len(rest), np.nan)
    np.divide(paired.sums.sum() - paired.sums, rest, out=left, where=rest > 0)
    return left


def most_losses_unseen(n: float, alpha: float) -> float:
    """What share of losses may be true though none was seen among ``n``: ``1 - α^(1/n)``, about 3/n at α = 0.05.

    The rule of three (Hanley & Lippman-Hand 1983), exact.

    Args:
        n: independent questions; divide by the design effect where they share clusters.
        alpha: one-sided error rate.
    """
    return float(1 - alpha ** (1 / n))
