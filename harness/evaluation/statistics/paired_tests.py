"""Well-known tests of no difference between two systems, as checks beside the verdict; none of them decides.

All are two-sided: a small p says that the systems differ, either way. Where a test has nothing to go on it answers
None, never NaN, and never a p of 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from harness.evaluation.statistics.bounds import Paired

EXACT_UP_TO = 32
"""Clusters whose signs are flipped in all ways; for more, ways are drawn."""

DRAWS = 100_000
_SEED = 1935  # Fisher's year; the draws are the same on every call
_TINY = 1e-9


@dataclass(frozen=True)
class SignFlip:
    """A sign-flip test.

    Attributes:
        p: two-sided p-value.
        exact: whether all ways of flipping were counted; else ``DRAWS`` of them were drawn.
        least: the smallest p that so many clusters can give.
        clusters: clusters with a sum other than 0: the others have no sign.
    """

    p: float
    exact: bool
    least: float
    clusters: int


def mcnemar_exact(wins: int, losses: int) -> float:
    """Two-sided exact McNemar test (McNemar 1947): a sign test of wins against losses; 1 if nothing differs.

    Args:
        wins, losses: questions on which the candidate is better, and worse. How much better does not matter.
    """
    if wins + losses == 0:
        return 1.0
    return float(stats.binomtest(wins, wins + losses, 0.5).pvalue)


def mcnemar_mid_p(wins: int, losses: int) -> float:
    """Two-sided mid-p McNemar test (Fagerland, Lydersen & Laake 2013), less cautious than the exact one.

    Args:
        wins, losses: as for `mcnemar_exact`; 1 if nothing differs.
    """
    if wins + losses == 0:
        return 1.0
    if wins == losses:
        return 1.0 - 0.5 * float(stats.binom.pmf(wins, wins + losses, 0.5))
    fewer = min(wins, losses)
    return mcnemar_exact(wins, losses) - float(stats.binom.pmf(fewer, wins + losses, 0.5))


def paired_t(paired: Paired) -> float | None:
    """Two-sided paired t-test (Student 1908) that takes all questions for independent; None without any spread."""
    if paired.n < 2 or paired.deviation <= _TINY:
        return None
    return float(2 * stats.t.sf(abs(paired.estimate) / (paired.deviation / paired.n**0.5), paired.n - 1))


def sign_flip(sums: NDArray[np.float64], draws: int = DRAWS, exact_up_to: int = EXACT_UP_TO) -> SignFlip | None:
    """Sign-flip test by cluster (Fisher 1935): were the signs of the clusters' sums a matter of chance?

    Only the sums matter, so one draw costs a product, whatever the number of questions.

    Args:
        sums: float64 (n_clusters), sum of differences a cluster.
        draws: how many ways of flipping are drawn where there are too many to count.
        exact_up_to: the most clusters whose ways are all counted.

    Returns:
        None where no cluster has a sum other than 0.
    """
    sizes = np.abs(sums[np.abs(sums) > _TINY])
    if not len(sizes):
        return None
    observed = abs(float(sums.sum())) - _TINY
    least = max(2.0 ** (1 - len(sizes)), 1.0 / (draws + 1) if len(sizes) > exact_up_to else 0.0)
    if len(sizes) <= exact_up_to:
        return SignFlip(_share_reached(sizes, observed), True, least, len(sizes))
    random = np.random.default_rng(_SEED)
    reached = 0
    for done in range(0, draws, 10_000):
        step = min(10_000, draws - done)
        bits = np.unpackbits(random.integers(0, 256, size=(step, -(-len(sizes) // 8)), dtype=np.uint8), axis=1)
        # a sum under flipped signs is twice the sum of those kept, less all
        totals = 2 * (bits[:, : len(sizes)] @ sizes) - sizes.sum()
        reached += int((np.abs(totals) >= observed).sum())
    # the observed signs are one of the ways, so p is never 0 (Phipson & Smyth 2010)
    return SignFlip((reached + 1) / (draws + 1), False, least, len(sizes))


def _share_reached(sizes: NDArray[np.float64], observed: float) -> float:
    """The share of all 2^n ways in which the sum is at least as far from 0; halves are met in the middle."""
    half = len(sizes) // 2
    left, right = _all_sums(sizes[:half]), np.sort(_all_sums(sizes[half:]))
    above = len(right) - np.searchsorted(right, observed - left, side="left")
    below = np.searchsorted(right, -observed - left, side="right")
    # with an observed sum of 0 every way counts, and some count twice
    return min(1.0, float(above.sum() + below.sum()) / 2.0 ** len(sizes))


def _all_sums(sizes: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums + size, sums - size])
    return sums


def holm(p_values: dict[str, float]) -> dict[str, float]:
    """Adjusted p-values of a declared family (Holm 1979): the chance of any false claim among them stays below α.

    Args:
        p_values: name → p-value, each in [0, 1]; the whole family.
    """
    adjusted: dict[str, float] = {}
    greatest = 0.0
    for rank, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: (item[1], item[0]))):
        greatest = max(greatest, min(1.0, (len(p_values) - rank) * p))
        adjusted[name] = greatest
    return {name: adjusted[name] for name in p_values}
