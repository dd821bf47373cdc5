"""One question's measures over all orders of its tied documents, without trying the orders one by one.

Where the credited documents of a group stand among the others, and in which order they come, are independent. The
first is a matter of order statistics, as in McSherry & Najork (2008); the second is `harness.evaluation.tie_orders`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache, lru_cache
from math import lgamma, log2
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from harness.evaluation.tie_orders import Orders, orders_of


class Block(NamedTuple):
    """A group of equally scored documents.

    Attributes:
        start: 0-based rank of its first document.
        size: its documents.
        masks: the evidence of each document that is credited with some, as a set of bits.
    """

    start: int
    size: int
    masks: tuple[int, ...]


@cache
def _weight(measure: str, rank: int) -> float:
    """What a document that finds something earns at a 0-based rank, before a measure divides."""
    if measure == "nDCG":
        return 1 / log2(rank + 2)
    if measure == "ndcg_any":
        return 1 / log2(max(rank, 1) + 1)
    return 1 / (rank + 1) if measure in ("RR", "AP") else 1.0


@lru_cache(maxsize=4096)
def _reached(measure: str, start: int, size: int, credited: int, visible: int) -> tuple[float, ...]:
    """Expected weight of the credited document at place j, counted only among the group's first ``visible``."""
    place, at = np.ogrid[: min(credited, visible), :visible]
    after = size - credited + place - at  # documents without credit that come later
    ways = _log_comb(at, place) + _log_comb(size - 1 - at, credited - 1 - place) - _log_comb(size, credited)
    earned = np.exp(np.where((at >= place) & (after >= 0), ways, -np.inf)) @ np.array(
        [_weight(measure, start + rank) for rank in range(visible)]
    )
    return (*earned.tolist(), *[0.0] * (credited - len(earned)))


def _log_comb(n: Any, k: Any) -> Any:
    """Logarithm of the number of ways to choose ``k`` of ``n``; of no use where k is not in 0 … n."""
    logs = _log_factorials(1 << int(np.max(n)).bit_length())
    return logs[n] - logs[np.maximum(k, 0)] - logs[np.maximum(n - k, 0)]


@cache
def _log_factorials(n: int) -> NDArray[np.float64]:
    return np.array([lgamma(number + 1) for number in range(n + 1)])


def value_range(measure: str, k: int, blocks: Sequence[Block], total: int) -> tuple[float, float, float] | None:
    """Least, expected and greatest value of a measure for one question, over all orders of ties.

    Args:
        measure: its name, one of `harness.evaluation.measure.NAMES`.
        k: cut-off.
        blocks: every group that begins above the cut and holds credited documents, best first.
        total: pieces of evidence there are, at least 1.

    Returns:
        None where there are too many orders for an exact answer.
    """
    found = 0
    walk = _Walk(measure, k, total)
    for block in blocks:
        if block.start >= k:
            break
        fresh = [new for mask in block.masks if (new := mask & ~found)]
        if not fresh:
            continue
        orders = orders_of(tuple(fresh))
        if orders is None:
            return None
        walk.through(block.start, block.size, orders)
        for mask in fresh:
            found |= mask
    return walk.values()


class _Walk:
    """Goes down the groups of one question and adds up a measure's least, expected and greatest value."""

    def __init__(self, measure: str, k: int, total: int) -> None:
        self.measure, self.k, self.total = measure, k, total
        self.sums = [0.0, 0.0, 0.0]
        self.finders = [0.0, 0.0, 0.0]
        # least AP: an order that earns less now may count more finders for later, so both are kept
        self.least = {0: 0.0}
        self.pieces = [0, 0]
        self.surely = 0

    def through(self, start: int, size: int, orders: Orders) -> None:
        """Go through one group, which has something new."""
        credited = len(orders.steps)
        visible = min(size, self.k - start)
        reached = _reached(self.measure, start, size, credited, visible)
        late = size - credited  # the worst order puts every other document first
        seen = max(0, visible - late)
        first = not self.surely
        if self.measure in ("R", "AllSuccess", "Success"):
            self.pieces = [self.surely + orders.fewest[seen], self.surely + orders.most[min(visible, credited)]]
            if self.measure == "R":
                self.sums[1] += sum(p * r for p, r in zip(orders.pieces, reached, strict=True))
            elif self.measure == "Success":
                self.sums[1] += reached[0] if first else 0.0
            elif self.surely + orders.most[-1] == self.total:
                self.sums[1] += sum(c * r for c, r in zip(orders.completes, reached, strict=True))
        elif self.measure == "RR":
            if first:
                self.sums = [_weight("RR", start + late) if seen else 0.0, reached[0], _weight("RR", start)]
        else:
            self._add_finders(start, late, seen, visible, reached, orders)
        self.surely += orders.most[-1]

    def _add_finders(
        self, start: int, late: int, seen: int, visible: int, reached: Sequence[float], orders: Orders
    ) -> None:
        counting = self.measure == "AP"
        earned = [orders.finds, orders.counted] if counting else [orders.finds]
        factors = [self.finders[1], 1.0] if counting else [1.0]
        for factor, column in zip(factors, earned, strict=True):
            self.sums[1] += factor * sum(e * r for e, r in zip(column, reached, strict=True))
        for place in range(min(orders.longest, visible)):
            nth = self.finders[2] + place + 1 if counting else 1.0
            self.sums[2] += nth * _weight(self.measure, start + place)
        self.least = _least(self.measure, self.least, start + late, seen, orders)
        self.finders[1] += sum(orders.finds)
        self.finders[2] += orders.longest

    def values(self) -> tuple[float, float, float]:
        """Least, expected and greatest value."""
        least, expected, greatest = self._sums()
        return least, min(max(least, expected), greatest), greatest  # the last bits of a sum are no value out of range

    def _sums(self) -> tuple[float, float, float]:
        if self.measure in ("Success", "AllSuccess", "R"):
            few, many = self.pieces
            if self.measure == "R":
                return few / self.total, self.sums[1] / self.total, many / self.total
            enough = 1 if self.measure == "Success" else self.total
            return float(few >= enough), self.sums[1], float(many >= enough)
        if self.measure == "RR":
            return self.sums[0], self.sums[1], self.sums[2]
        self.sums[0] = min(self.least.values())
        if self.measure in ("nDCG", "ndcg_any"):
            divisor = sum(_weight(self.measure, rank) for rank in range(min(self.total, self.k)))
        else:
            divisor = self.k if self.measure == "P" else self.total
        return self.sums[0] / divisor, self.sums[1] / divisor, self.sums[2] / divisor


def _least(measure: str, before: dict[int, float], first: int, seen: int, orders: Orders) -> dict[int, float]:
    """Least sum by number of finders, with the credited documents at ranks ``first``, ``first`` + 1, …."""
    counting = measure == "AP"
    # (state, finders) → least sum
    level: dict[tuple[int, int], float] = {(0, finders): cost for finders, cost in before.items()}
    for place, steps in enumerate(orders.steps):
        weight = _weight(measure, first + place) if place < seen else 0.0
        by_source = defaultdict(list)
        for (source, finders), cost in level.items():
            by_source[source].append((finders, cost))
        level = {}
        for step in steps:
            for finders, cost in by_source[step.source]:
                nth = finders + 1 if counting and step.new else finders
                then = cost + (weight * (nth if counting else 1) if step.new else 0.0)
                key = (step.target, nth)
                level[key] = min(then, level.get(key, then))
    least: dict[int, float] = {}
    for (_, finders), cost in level.items():
        least[finders] = min(cost, least.get(finders, cost))
    return least
