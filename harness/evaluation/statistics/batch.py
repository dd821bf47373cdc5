"""The decisions of `harness.evaluation.statistics.bounds`, for many drawn comparisons over the same clusters at once.

A bound lies above a threshold exactly where the test of that threshold rejects, so no bound has to be searched for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from harness.evaluation.statistics.bounds import (
    CORRECTIONS,
    MIN_EFFECTIVE_CLUSTERS,
    PROCEDURE,
    design_effect,
    tango_statistics,
)

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Batch:
    """Many comparisons; each is described as by `bounds.Paired`.

    Attributes:
        sizes: int64 (n_clusters), questions a cluster, the same in every comparison.
        sums: float64 (n_comparisons, n_clusters), sums of differences; positive is better.
        gains, losses: float64 (n_comparisons), sums of positive and of negative differences, both ≥ 0.
    """

    sizes: NDArray[np.int64]
    sums: FloatArray
    gains: FloatArray
    losses: FloatArray

    @property
    def n(self) -> int:
        """Questions of each comparison."""
        return int(self.sizes.sum())

    @property
    def estimates(self) -> FloatArray:
        """Mean differences, float64 (n_comparisons)."""
        return (self.gains - self.losses) / self.n

    def mirrored(self) -> Batch:
        """The same comparisons with baseline and candidate exchanged."""
        return Batch(self.sizes, -self.sums, self.losses, self.gains)

    def cluster_errors(self) -> FloatArray:
        """Cluster-robust standard errors, float64 (n_comparisons); as `bounds.cluster_error`."""
        groups = len(self.sizes)
        residuals = self.sums - self.sizes * self.estimates[:, None]
        errors: FloatArray = np.sqrt(groups / (groups - 1) * np.einsum("ij,ij->i", residuals, residuals)) / self.n
        return errors


def lies_above(batch: Batch, threshold: float, alpha: float, rho: float, procedure: str = PROCEDURE) -> BoolArray:
    """Whether the lower bound lies above ``threshold``, bool (n_comparisons); never where nothing can be tested.

    Args:
        batch: the comparisons.
        threshold: a difference, in (-1, 1).
        alpha: one-sided error rate.
        rho: within-cluster correlation that is allowed for.
        procedure: the bound's name.
    """
    n, sizes = batch.n, batch.sizes
    if not n or n**2 / float((sizes**2).sum()) < MIN_EFFECTIVE_CLUSTERS:
        return np.zeros(len(batch.gains), dtype=bool)
    quantile = float(stdtrit(len(sizes) - 1, 1 - alpha))
    by_t = batch.estimates - quantile * batch.cluster_errors() > threshold
    design = design_effect(sizes, rho)
    correction = CORRECTIONS[procedure] / design
    scores = tango_statistics(batch.gains / design, batch.losses / design, n / design, threshold, correction)
    decided: BoolArray = by_t & (scores > float(ndtri(1 - alpha)))
    return decided


def lies_below(batch: Batch, threshold: float, alpha: float, rho: float, procedure: str = PROCEDURE) -> BoolArray:
    """Whether the upper bound lies below ``threshold``; the mirror image of `lies_above`."""
    return lies_above(batch.mirrored(), -threshold, alpha, rho, procedure)
