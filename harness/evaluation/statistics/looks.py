"""The share of the error rate that each look at one held-out set may spend."""

from __future__ import annotations

import math


def alpha_of_look(alpha: float, look: int) -> float:
    """``alpha * 6 / (pi^2 k^2)`` for the k-th look: over any number of looks the shares add up to at most alpha.

    Args:
        alpha: one-sided error rate over all looks.
        look: 1-based number of the look.
    """
    if look < 1:
        raise ValueError("looks are counted from 1")
    return alpha * 6 / (math.pi**2 * look**2)


def alpha_left(alpha: float, spent: int) -> float:
    """What is left of alpha for all looks after the first ``spent``."""
    if spent < 0:
        raise ValueError("looks are counted from 0")
    return alpha - sum(alpha_of_look(alpha, look) for look in range(1, spent + 1))
