from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.retrieval.fusion import fuse
from harness.retrieval.ranking import Ranking

X, A, Y, B, C = range(5)


def ranking(*rows: Sequence[int]) -> Ranking:
    """Questions q0, q1, … with these documents; scores fall with the rank."""
    lengths = [len(row) for row in rows]
    return Ranking(
        tuple(f"q{i}" for i in range(len(rows))),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(lengths, dtype=np.int64))]),
        np.array([position for row in rows for position in row], dtype=np.int32),
        np.array([float(-rank) for row in rows for rank in range(len(row))]),
        max(lengths, default=0),
    )


def fused(*lists: Ranking, k: float = 60, weights: Sequence[float] = (), depth: int = 100) -> Ranking:
    """The lists fused, of equal weight unless told otherwise."""
    return fuse(lists, k=k, weights=weights or [1.0] * len(lists), depth=depth)


def test_what_both_lists_hold_comes_first():
    """[X, a, Y] and [b, c, Y] begin with Y: ranks count from 1, and what is absent adds nothing."""
    assert fused(ranking([X, A, Y]), ranking([B, C, Y])).row(0) == [Y, X, B, A, C]


def test_the_first_rank_is_worth_one_over_k_plus_one():
    """At k = 60 the first document of one list has 1/61, and of both lists 2/61."""
    assert fused(ranking([X])).scores.tolist() == [pytest.approx(0.016393, abs=5e-7)]
    assert fused(ranking([X]), ranking([X])).scores.tolist() == [pytest.approx(2 / 61, abs=1e-12)]


def test_equal_sums_are_equal():
    """Ranks (3, 80) and (24, 30) have one sum, whose two floats differ in the last bit; position then decides."""
    early, late = 900, 700
    first = [late if rank == 3 else early if rank == 24 else rank for rank in range(1, 81)]
    second = [late if rank == 80 else early if rank == 30 else 100 + rank for rank in range(1, 81)]
    assert 1 / 63 + 1 / 140 != 1 / 84 + 1 / 90
    assert Fraction(1, 63) + Fraction(1, 140) == Fraction(1, 84) + Fraction(1, 90)
    both = fused(ranking(first), ranking(second))
    place = both.row(0).index(late)
    assert both.row(0)[place : place + 2] == [late, early]
    assert both.scores[place] == both.scores[place + 1]


def test_the_order_of_three_lists_does_not_count():
    """Sums of three lists depend on the order of addition in their last bits, and their order does not."""
    random = np.random.default_rng(5)
    lists = [ranking(random.permutation(60).tolist()) for _ in range(3)]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0], [2, 1, 0]):
        again = fused(*(lists[i] for i in order))
        assert again.same_order(fused(*lists))
        assert again.scores.tolist() == fused(*lists).scores.tolist()


def test_a_list_of_weight_zero_adds_nothing():
    """Neither scores nor documents come from a list that does not count."""
    assert fused(ranking([X, A]), ranking([B, X]), weights=(1.0, 0.0)).row(0) == [X, A]


def test_a_weight_scales_its_list():
    """With twice the weight, the second list's first document comes before the first list's."""
    assert fused(ranking([X]), ranking([B]), weights=(1.0, 2.0)).row(0) == [B, X]


def test_lists_without_documents_give_rankings_without_documents():
    """A question for which neither list has anything has an empty ranking, and one with half has that half."""
    both = fused(ranking([], [X], []), ranking([], [], [Y]))
    assert [both.row(i) for i in range(3)] == [[], [X], [Y]]


@given(st.data())
def test_the_sums_are_those_of_exact_arithmetic(data):
    """The order is that of exact fractions, ties by position, for any lists, k and depth; and shorter is a prefix."""
    k = data.draw(st.integers(0, 200))
    rows = [
        [data.draw(st.lists(st.integers(0, 40), unique=True, max_size=30)) for _ in range(3)]
        for _ in range(data.draw(st.integers(1, 3)))
    ]
    depth = data.draw(st.integers(1, 60))
    made = fused(*(ranking(*lists) for lists in rows), k=k, depth=depth)
    for question in range(3):
        exact: dict[int, Fraction] = {}
        for lists in rows:
            for rank, document in enumerate(lists[question], start=1):
                exact[document] = exact.get(document, Fraction(0)) + Fraction(1, k + rank)
        assert made.row(question) == sorted(exact, key=lambda document: (-exact[document], document))[:depth]
