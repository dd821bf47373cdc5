"""What an experiment can find before it is made: detectable gains, power, sizes, and what a dev gain is worth."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import integrate
from scipy.special import ndtr, stdtr, stdtrit
from scipy.stats import chi2

from harness.evaluation.statistics.bounds import MIN_EFFECTIVE_CLUSTERS, POWER, design_effect

Sizes = NDArray[np.int64] | NDArray[np.float64]

_MOST_CLUSTERS = 1 << 17

LIMIT = 0.8
"""Confidence of the upper limit at which a spread seen on dev is planned with."""


def standard_error(deviation: float, sizes: Sizes, rho: float) -> float:
    """Standard error of a mean difference over clusters: ``σ √(D / n)``.

    Args:
        deviation: standard deviation of one question's difference.
        sizes: int64 (n_clusters), questions a cluster.
        rho: within-cluster correlation.
    """
    return deviation * math.sqrt(design_effect(sizes, rho) / float(sizes.sum()))


def detectable(deviation: float, sizes: Sizes, alpha: float, rho: float, power: float = POWER) -> float:
    """The true difference beyond a threshold that is found with the given power: ``(t_1-α + t_power) σ √(D / n)``.

    Args:
        deviation, sizes, rho: as for `standard_error`; at least two clusters.
        alpha: one-sided error rate.
        power: how often it is to be found, in (0, 1).

    Raises:
        ValueError: one cluster only.
    """
    if len(sizes) < 2:
        raise ValueError("one cluster: nothing can be found")
    freedom = len(sizes) - 1
    quantiles = float(stdtrit(freedom, 1 - alpha)) + float(stdtrit(freedom, power))
    return quantiles * standard_error(deviation, sizes, rho)


def power_of(gain: float, deviation: float, sizes: Sizes, alpha: float, rho: float) -> float:
    """How often a true difference ``gain`` beyond the threshold is found: `detectable` read the other way."""
    error = standard_error(deviation, sizes, rho)
    if error <= 0:
        return float(gain > 0)
    freedom = len(sizes) - 1
    return float(stdtr(freedom, gain / error - float(stdtrit(freedom, 1 - alpha))))


def upper_limit(deviation: float, n: int, confidence: float = LIMIT) -> float:
    """Upper confidence limit of a standard deviation that was seen on ``n`` questions; infinite below two."""
    if n < 2:
        return math.inf
    return deviation * math.sqrt((n - 1) / float(chi2.ppf(1 - confidence, n - 1)))


def shrunk(estimate: float, error: float, trials: int) -> float:
    """A dev gain less what picking the best of ``trials`` adds by chance, never pulled past 0; a loss stays as it is.

    The best of m equal systems looks better than it is by the mean of the largest of m standard normal errors. That
    takes the trials for independent, so it shrinks too much rather than too little: trials that share questions and
    parameters err together.

    Args:
        estimate: mean difference of the picked trial.
        error: its standard error.
        trials: how many it was picked from, at least 1.
    """
    return max(0.0, estimate - mean_of_largest(trials) * error) if estimate > 0 else estimate


def mean_of_largest(count: int) -> float:
    """Expected value of the largest of ``count`` independent standard normal numbers (tabulated by Harter 1961)."""
    if count <= 1:
        return 0.0

    def density(x: float) -> float:
        return x * count * float(ndtr(x)) ** (count - 1) * math.exp(-x * x / 2) / math.sqrt(2 * math.pi)

    return float(integrate.quad(density, -9, 9, points=[0.0], limit=200)[0])


def questions_needed(
    gain: float, deviation: float, sizes: Sizes, alpha: float, rho: float, power: float = POWER
) -> int | None:
    """Questions over the same clusters, in the same proportions, with which ``gain`` is found; None if none suffice.

    More questions of the same conversations help only down to what conversations themselves differ by.
    """

    def found(factor: float) -> bool:
        return detectable(deviation, np.asarray(sizes * factor, dtype=np.float64), alpha, rho, power) <= gain

    return _least(found, float(sizes.sum()))


def clusters_needed(
    gain: float, deviation: float, size: float, alpha: float, rho: float, power: float = POWER
) -> int | None:
    """Equal clusters of ``size`` questions with which ``gain`` is found; None if too many for sense.

    Never fewer than can be tested at all.
    """

    def found(count: int) -> bool:
        return detectable(deviation, np.full(count, size), alpha, rho, power) <= gain

    least = math.ceil(MIN_EFFECTIVE_CLUSTERS)
    if found(least):
        return least
    low, high = least, 2 * least
    while not found(high):
        low, high = high, 2 * high
        if high > _MOST_CLUSTERS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return high


def _least(found: Callable[[float], bool], n: float) -> int | None:
    low, high = 1 / n, 1e6 / n + 1e3
    if not found(high):
        return None
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) else (middle, high)
    return math.ceil(high * n - 1e-6)
