"""What the documents of a tie find in all orders of theirs, without trying the orders one by one.

Documents with the same evidence are interchangeable, and so are clusters of documents that share evidence in the same
pattern: how many are how far is the state of a small dynamic programme.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, prod
from typing import NamedTuple

LIMIT = 5_000
"""States beyond which no exact answer is given: a tie of many documents with different, shared evidence."""

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
class Orders:
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


def orders_of(masks: tuple[int, ...]) -> Orders | None:
    """All orders of the credited documents of a group; None where they are too many for an exact answer.

    Args:
        masks: the evidence of each document, as a set of bits, never empty.
    """
    return _orders(_patterns(masks))


@lru_cache(maxsize=4096)
def _orders(patterns: tuple[tuple[_Sorts, int], ...]) -> Orders | None:
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
    return Orders(tuple(steps), finds_at, counted_at, pieces_at, completes_at, fewest, most, longest)


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
