"""One-sided bounds on a mean paired difference, honest both between and within conversations.

Procedure ``cluster-t+tango/1``: of a cluster-robust t bound and a Tango (1998) score bound on effective counts
the wider one counts. The first sees differences between clusters, the second sees sparse and all-zero
differences, where the first has no width.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

PROCEDURE = "cluster-t+tango/1"

MIN_EFFECTIVE_CLUSTERS = 5.0
"""Below this a cluster-robust t is not to be trusted (Carter, Schnepel & Steigerwald 2017)."""

POWER = 0.8
"""The power at which minimum detectable effects are given."""

_TINY = 1e-12


@dataclass(frozen=True)
class Paired:
    """Sufficient description of paired differences in clusters.

    Attributes:
        n: questions.
        sizes: int64 (n_clusters), questions a cluster.
        sums: float64 (n_clusters), sum of differences a cluster; positive is better.
        gains, losses: sums of positive and of negative differences, both ≥ 0.
        wins, defeats, ties: number of questions with a difference above, below and equal to 0.
        deviation: sample standard deviation of the differences.
    """

    n: int
    sizes: NDArray[np.int64]
    sums: NDArray[np.float64]
    gains: float
    losses: float
    wins: int
    defeats: int
    ties: int
    deviation: float

    @property
    def estimate(self) -> float:
        """Mean difference, every question counting the same."""
        return (self.gains - self.losses) / self.n

    @property
    def effective_clusters(self) -> float:
        """``(sum n_g)^2 / sum n_g^2``: the number of equal clusters with the same concentration."""
        return float(self.n**2 / (self.sizes**2).sum())

    @property
    def testable(self) -> bool:
        """Whether there are clusters enough for any bound to be trusted."""
        return self.effective_clusters >= MIN_EFFECTIVE_CLUSTERS

    def design_effect(self, rho: float) -> float:
        """Variance inflation at within-cluster correlation rho: ``max(1, 1 + (n̄ (1 + CV²) - 1) rho)`` (Kish 1965)."""
        mean = self.sizes.mean()
        variation = self.sizes.var() / mean**2
        return max(1.0, float(1 + (mean * (1 + variation) - 1) * rho))


def pair(differences: NDArray[np.float64], clusters: NDArray[np.int64]) -> Paired:
    """Describe paired differences.

    Args:
        differences: float64 (n), candidate minus baseline, each in [-1, 1].
        clusters: int64 (n), cluster of each question, any numbering.

    Raises:
        ValueError: no questions, or a difference that is not a finite number in [-1, 1].
    """
    if not len(differences):
        raise ValueError("no questions")
    if not np.isfinite(differences).all() or (np.abs(differences) > 1 + _TINY).any():
        raise ValueError("differences must be finite and within [-1, 1]")
    _, number = np.unique(clusters, return_inverse=True)
    return Paired(
        n=len(differences),
        sizes=np.bincount(number),
        sums=np.bincount(number, weights=differences).astype(np.float64),
        gains=float(differences[differences > 0].sum()),
        losses=float(-differences[differences < 0].sum()),
        wins=int((differences > _TINY).sum()),
        defeats=int((differences < -_TINY).sum()),
        ties=int((np.abs(differences) <= _TINY).sum()),
        deviation=float(differences.std(ddof=1)) if len(differences) > 1 else 0.0,
    )


def cluster_error(paired: Paired) -> float:
    """Cluster-robust standard error of the mean difference, with the G / (G - 1) correction."""
    groups = len(paired.sizes)
    if groups < 2:
        return math.nan
    residuals = paired.sums - paired.sizes * paired.estimate
    return math.sqrt(groups / (groups - 1) * float((residuals**2).sum())) / paired.n


def lower_bound(paired: Paired, alpha: float, rho: float) -> float:
    """One-sided lower bound at error rate ``alpha``, correlation up to ``rho`` allowed for."""
    t = float(stdtrit(len(paired.sizes) - 1, 1 - alpha))
    return max(-1.0, min(paired.estimate - t * cluster_error(paired), _tango_lower(*_effective(paired, rho), alpha)))


def upper_bound(paired: Paired, alpha: float, rho: float) -> float:
    """One-sided upper bound, the mirror image of `lower_bound`."""
    return -lower_bound(mirrored(paired), alpha, rho)


def mirrored(paired: Paired) -> Paired:
    """The same comparison with baseline and candidate exchanged."""
    return Paired(
        paired.n, paired.sizes, -paired.sums, paired.losses, paired.gains, paired.defeats, paired.wins, paired.ties,
        paired.deviation,
    )  # fmt: skip


def p_above(paired: Paired, threshold: float, rho: float) -> float:
    """One-sided p-value of the hypothesis that the true difference is at most ``threshold``."""
    score = tango_statistic(*_effective(paired, rho), threshold)
    return max(_p_cluster(paired, threshold), float(ndtr(-score)))


def p_below(paired: Paired, threshold: float, rho: float) -> float:
    """One-sided p-value of the hypothesis that the true difference is at least ``threshold``."""
    return p_above(mirrored(paired), -threshold, rho)


def _p_cluster(paired: Paired, threshold: float) -> float:
    distance, error = paired.estimate - threshold, cluster_error(paired)
    if error <= _TINY:
        # no width at all: this lens has nothing to say, and the score bound decides
        return 0.5 if abs(distance) <= _TINY else float(distance < 0)
    return float(stdtr(len(paired.sizes) - 1, -distance / error))


def minimum_detectable(paired: Paired, alpha: float, rho: float, power: float = POWER) -> float:
    """The true difference that is found with the given power: ``(t_1-α + t_power) σ √(D / n)``."""
    freedom = len(paired.sizes) - 1
    quantiles = float(stdtrit(freedom, 1 - alpha)) + float(stdtrit(freedom, power))
    return quantiles * paired.deviation * math.sqrt(paired.design_effect(rho) / paired.n)


def best_lower_bound(sizes: NDArray[np.int64], alpha: float, rho: float) -> float:
    """The floor: the lower bound of a comparison in which not one question differs."""
    n = int(sizes.sum())
    still = Paired(n, sizes, np.zeros(len(sizes)), 0.0, 0.0, 0, 0, n, 0.0)
    return lower_bound(still, alpha, rho)


def _effective(paired: Paired, rho: float) -> tuple[float, float, float]:
    """Gains, losses and questions divided by the design effect."""
    design = paired.design_effect(rho)
    return paired.gains / design, paired.losses / design, paired.n / design


def tango_statistic(gains: float, losses: float, n: float, difference: float) -> float:
    """Tango's score statistic for a paired difference; positive where the data lie above ``difference``.

    Args:
        gains, losses, n: counts, which may be fractions.
        difference: the hypothetical true difference, in [-1, 1].
    """
    a = 2 * n
    b = -gains - losses + (2 * n - gains + losses) * difference
    c = -losses * difference * (1 - difference)
    q = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
    variance = n * (2 * q + difference * (1 - difference))
    distance = gains - losses - n * difference
    if variance <= _TINY:
        return 0.0 if abs(distance) <= _TINY else math.copysign(math.inf, distance)
    return distance / math.sqrt(variance)


def _tango_lower(gains: float, losses: float, n: float, alpha: float) -> float:
    """The difference below the estimate at which the score statistic reaches the normal quantile."""
    target = float(ndtri(1 - alpha))
    estimate = (gains - losses) / n
    return _bisect(lambda difference: tango_statistic(gains, losses, n, difference) - target, -1.0, estimate)


def _bisect(function: Callable[[float], float], low: float, high: float) -> float:
    # the statistic falls from its greatest value at -1 to 0 at the estimate; plain halving to the last bit is
    # the same on every machine, which a library's root finder does not promise
    if function(low) <= 0:
        return low
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if function(middle) > 0:
            low = middle
        else:
            high = middle
    return low
