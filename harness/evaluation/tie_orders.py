"""One question's measures over all orders of its tied documents, without trying the orders one by one.

Where the credited documents of a group stand among the others, and in which order they come, are independent. The
first is a matter of order statistics, as in McSherry & Najork (2008). For the second, documents with the same
evidence are interchangeable, and so are clusters of documents that share evidence in the same pattern: how many are
how far is the state of a small dynamic programme.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import comb, lgamma, log2, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LIMIT = 5_000
"""States beyond which no exact answer is given: a tie of many documents with different, shared evidence."""


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


_Sorts = tuple[tuple[int, int], ...]
"""Documents that share evidence, directly or through others: each evidence, as bits, with how many have it."""

_State = tuple[tuple[tuple[tuple[int, ...], int], ...], ...]
"""By pattern of sharing: how many documents of each sort are placed, and in how many clusters of that pattern."""


class _Step(NamedTuple):
    """The next credited document of an order: between which states, how likely, how many new pieces it finds."""

    source: int
    target: int
    chance: float
    new: int


@dataclass(frozen=True)
class _Orders:
    """All orders of a group's credited documents, by the place j = 0, 1, … that a document has among them.

    Attributes:
        steps: by place.
        finds: chance that the document finds anything new.
        counted: expected number of finders up to it, itself included, where it is one; 0 where it is none.
        pieces: expected number of new pieces.
        completes: chance that with it all evidence of the group is found.
        fewest, most: pieces found by the first j = 0, 1, … documents, over all orders.
        longest: the most documents of which each finds something new.
    """

    steps: tuple[tuple[_Step, ...], ...]
    finds: tuple[float, ...]
    counted: tuple[float, ...]
    pieces: tuple[float, ...]
    completes: tuple[float, ...]
    fewest: tuple[int, ...]
    most: tuple[int, ...]
    longest: int


@lru_cache(maxsize=4096)
def _orders(patterns: tuple[tuple[_Sorts, int], ...]) -> _Orders | None:
    """All orders of clusters of documents, given as (pattern, how many); None where they are too many."""
    if prod(comb(prod(count + 1 for _, count in sorts) + n - 1, n) for sorts, n in patterns) > LIMIT:
        return None
    left = sum(n * count for sorts, n in patterns for _, count in sorts)
    total = sum(n * _union(sorts, [count for _, count in sorts]).bit_count() for sorts, n in patterns)
    # state → [chance, expected finders so far, most finders with none in vain, pieces found]
    level: dict[_State, list[float]] = {tuple((((0,) * len(sorts), n),) for sorts, n in patterns): [1.0, 0.0, 0.0, 0]}
    steps, sums, found = [], [], [(0, 0)]
    longest = 0
    while left:
        after: dict[_State, list[float]] = {}
        numbers: dict[_State, int] = {}
        taken: list[_Step] = []
        finds = counted = pieces = completes = 0.0
        for source, (state, (chance, finders, unbroken, known)) in enumerate(level.items()):
            for then, ways, new in _after(patterns, state):
                share = ways / left
                cell = after.setdefault(then, [0.0, 0.0, -1.0, known + new])
                cell[0] += chance * share
                cell[1] += share * (finders + (chance if new else 0.0))
                if new and unbroken >= 0:
                    cell[2] = unbroken + 1
                    longest = max(longest, int(cell[2]))
                taken.append(_Step(source, numbers.setdefault(then, len(numbers)), chance * share, new))
                finds += chance * share if new else 0.0
                counted += share * (finders + chance) if new else 0.0
                pieces += chance * share * new
                completes += chance * share if new and known + new == total else 0.0
        steps.append(tuple(taken))
        sums.append((finds, counted, pieces, completes))
        sizes = [int(cell[3]) for cell in after.values()]
        found.append((min(sizes), max(sizes)))
        level, left = after, left - 1
    finds_at, counted_at, pieces_at, completes_at = (tuple(column) for column in zip(*sums, strict=True))
    fewest, most = (tuple(column) for column in zip(*found, strict=True))
    return _Orders(tuple(steps), finds_at, counted_at, pieces_at, completes_at, fewest, most, longest)


def _after(patterns: Sequence[tuple[_Sorts, int]], state: _State) -> Iterator[tuple[_State, int, int]]:
    """The states that one more document leads to, in how many ways, and the new pieces of evidence that it finds."""
    for at, (sorts, _) in enumerate(patterns):
        for placed, clusters in state[at]:
            union = _union(sorts, placed)
            for i, (mask, count) in enumerate(sorts):
                if placed[i] < count:
                    moved = Counter(dict(state[at]))
                    moved.subtract([placed])
                    moved.update([(*placed[:i], placed[i] + 1, *placed[i + 1 :])])
                    then = (*state[:at], tuple(sorted((+moved).items())), *state[at + 1 :])
                    yield then, clusters * (count - placed[i]), (mask & ~union).bit_count()


def _union(sorts: _Sorts, placed: Sequence[int]) -> int:
    union = 0
    for (mask, _), number in zip(sorts, placed, strict=True):
        if number:
            union |= mask
    return union


@cache
def _weight(measure: str, rank: int) -> float:
    """What a document that finds something earns at a 0-based rank, before a measure divides."""
    if measure == "nDCG":
        return 1 / log2(rank + 2)
    return 1 / (rank + 1) if measure in ("RR", "AP") else 1.0


@lru_cache(maxsize=4096)
def _reached(measure: str, start: int, size: int, credited: int, visible: int) -> tuple[float, ...]:
    """Expected weight of the credited document at place j, counted only among the group's first ``visible``."""
    place, at = np.ogrid[: min(credited, visible), :visible]
    after = size - credited + place - at  # documents without credit that come later
    ways = _log_comb(at, place) + _log_comb(size - 1 - at, credited - 1 - place)
    chances = np.where((at >= place) & (after >= 0), np.exp(ways - _log_comb(size, credited)), 0.0)
    earned = chances @ np.array([_weight(measure, start + rank) for rank in range(visible)])
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
        orders = _orders(_patterns(tuple(fresh)))
        if orders is None:
            return None
        walk.through(block.start, block.size, orders)
        for mask in fresh:
            found |= mask
    return walk.values()


@lru_cache(maxsize=4096)
def _patterns(masks: tuple[int, ...]) -> tuple[tuple[_Sorts, int], ...]:
    """Documents by the clusters in which they share evidence, and like clusters together."""
    clusters: list[tuple[int, list[int]]] = []
    for mask in masks:
        joined, members = mask, [mask]
        for other in [cluster for cluster in clusters if cluster[0] & mask]:
            clusters.remove(other)
            joined, members = joined | other[0], members + other[1]
        clusters.append((joined, members))
    return tuple(sorted(Counter(_canonical(members) for _, members in clusters).items()))


def _canonical(masks: Sequence[int]) -> _Sorts:
    """Sorts of documents with their number; bits are numbered anew, so that like clusters are seen to be alike."""
    bits: dict[int, int] = {}
    renamed = Counter(sum(1 << bits.setdefault(bit, len(bits)) for bit in _bits(mask)) for mask in sorted(masks))
    return tuple(sorted(renamed.items()))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        yield mask & -mask
        mask &= mask - 1


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
        self.chance = 0.0

    def through(self, start: int, size: int, orders: _Orders) -> None:
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
        self, start: int, late: int, seen: int, visible: int, reached: Sequence[float], orders: _Orders
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
        if self.measure == "nDCG":
            divisor = sum(_weight("nDCG", rank) for rank in range(min(self.total, self.k)))
        else:
            divisor = self.k if self.measure == "P" else self.total
        return self.sums[0] / divisor, self.sums[1] / divisor, self.sums[2] / divisor


def _least(measure: str, before: dict[int, float], first: int, seen: int, orders: _Orders) -> dict[int, float]:
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
