"""How few questions decide: the least number of flips that moves a bound across its line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from harness.evaluation.statistics.bounds import Paired


def flipped(paired: Paired, count: int, sign: int, *, apart: bool) -> Paired:
    """The comparison with ``count`` questions flipped by one: tied to lost or won to tied, or the other way round.

    Args:
        paired: the comparison.
        count: how many flip, at most all questions.
        sign: -1 for flips against the candidate, +1 for flips in its favour.
        apart: whether they fall where they drive clusters apart, which widens the bounds, or where they draw them
            together.
    """
    moved = _crowded(paired, count, sign) if apart else _levelled(paired, count, sign)
    # ties flip first: a question that differs already has less far to go
    new = min(count, paired.ties)
    undone = count - new
    gains, losses = (paired.gains, paired.losses) if sign > 0 else (paired.losses, paired.gains)
    gains, losses = gains + new, max(0.0, losses - undone)
    if sign < 0:
        gains, losses = losses, gains
    return replace(paired, sums=paired.sums + sign * moved, gains=gains, losses=losses)


def _crowded(paired: Paired, count: int, sign: int) -> NDArray[np.float64]:
    """Flips a cluster, float64 (n_clusters): as many as it has questions in the one that is farthest out, and so on."""
    residuals = sign * (paired.sums - paired.sizes * paired.estimate)
    order = np.argsort(-residuals, kind="stable")
    moved: NDArray[np.float64] = np.zeros(len(order))
    ends = np.cumsum(paired.sizes[order])
    moved[order] = np.clip(count - (ends - paired.sizes[order]), 0, paired.sizes[order])
    return moved


def _levelled(paired: Paired, count: int, sign: int) -> NDArray[np.float64]:
    """Flips a cluster, float64 (n_clusters): so shared out that the clusters' means come as near as they can."""
    means = sign * paired.sums / paired.sizes

    def shared(level: float) -> NDArray[np.float64]:
        share: NDArray[np.float64] = np.clip((level - means) * paired.sizes, 0, paired.sizes)
        return share

    low, high = -1.0, 2.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shared(middle).sum() < count else (low, middle)
    return shared(high)


def least_flips(paired: Paired, sign: int, is_reached: Callable[[Paired], bool], *, apart: bool) -> int | None:
    """The least number of flips, of those that `flipped` makes, with which a condition holds; None if none does.

    Args:
        paired: the comparison.
        sign, apart: as for `flipped`.
        is_reached: a condition that more flips only make truer.
    """
    if not is_reached(flipped(paired, paired.n, sign, apart=apart)):
        return None
    low, high = 0, paired.n
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_reached(flipped(paired, middle, sign, apart=apart)) else (middle, high)
    return high
