"""The reach of a lever: an oracle's gain, never less than any real order gets."""

import itertools
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.columns import Groups, Labels
from harness.evaluation.measure import NAMES, Measure
from harness.evaluation.reach import reach_of_pool, reach_of_ties
from harness.evaluation.scores import Credit, score
from harness.retrieval.ranking import Ranking


def ranking_of(rows: list[list[int]], scores: list[list[float]] | None = None, depth: int = 100) -> Ranking:
    """One ranking a question; scores fall by one a rank unless they are given."""
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    given_scores = scores or [list(range(len(row), 0, -1)) for row in rows]
    return Ranking(
        tuple(f"q{i}" for i in range(len(rows))), offsets, np.array(list(chain(*rows)), dtype=np.int32),
        np.array(list(chain(*given_scores)), dtype=np.float64), depth,
    )  # fmt: skip


def labels_of(evidence: list[list[int]]) -> Labels:
    """Questions with this evidence."""
    n, found = len(evidence), Groups.of(evidence)
    ids = tuple(f"q{i}" for i in range(n))
    return Labels(ids, ("",) * n, ("",) * n, ((),) * n, found, found, found.counts().astype(np.int32))


def credit_of(chunks: list[tuple[int, ...]]) -> Credit:
    """What each document is credited with, under both rules."""
    return Credit(Groups.of([list(row) for row in chunks]), Groups.of([list(row) for row in chunks]))


OWN = credit_of([(chunk,) for chunk in range(8)])


@given(st.permutations(range(5)), st.sets(st.integers(0, 6), min_size=1, max_size=4), st.integers(1, 5))
def test_the_pool_reaches_the_best_of_all_orders(row, evidence, k):
    """With one piece of evidence a document, the oracle's value is exactly that of the best order of the pool."""
    labels = labels_of([sorted(evidence)])
    for name in NAMES:
        measure = Measure(name, k)
        best = max(
            float(score(ranking_of([list(order)]), labels, OWN, [measure]).values[measure][0])
            for order in itertools.permutations(row)
        )
        found = reach_of_pool(ranking_of([list(row)]), OWN, labels, measure)
        assert found is not None
        assert found.best == pytest.approx(best)
        assert found.moved == (found.gain > 1e-12)


@given(st.permutations(range(4)), st.integers(1, 4))
def test_documents_with_several_pieces_are_bounded_from_above(row, k):
    """Where a document finds two pieces, no order does better than the oracle is said to."""
    shared = credit_of([(0, 1), (1, 2), (3,), (), (4,)])
    labels = labels_of([[0, 2, 3]])
    for name in NAMES:
        measure = Measure(name, k)
        found = reach_of_pool(ranking_of([list(row)]), shared, labels, measure)
        assert found is not None
        for order in itertools.permutations(row):
            value = score(ranking_of([list(order)]), labels, shared, [measure]).values[measure][0]
            assert value <= found.best + 1e-12


def test_only_ties_move_for_a_tie_break():
    """Evidence in a group of equal scores can be brought up to the group's first place, and no further."""
    ranking = ranking_of([[0, 1, 2, 3]], [[9.0, 5.0, 5.0, 1.0]])
    labels = labels_of([[2]])
    found = reach_of_ties(ranking, OWN, labels, Measure("Success", 2))
    assert found is not None
    assert (found.ranked, found.best, found.gain, found.moved) == (0.0, 1.0, 1.0, 1)
    nothing = reach_of_ties(ranking, OWN, labels, Measure("Success", 1))
    assert nothing is not None
    assert nothing.gain == 0


def test_reach_over_another_system_and_in_a_slice():
    """What counts is the gain over the system that is to be beaten, on the questions that a clause counts."""
    ranking, labels = ranking_of([[1, 0], [0, 1]]), labels_of([[0], [0]])
    measure = Measure("Success", 1)
    before = np.array([1.0, 0.0])
    found = reach_of_pool(ranking, OWN, labels, measure, np.array([True, False]), before)
    assert found is not None
    assert (found.n, found.ranked, found.gain) == (1, 1.0, 0.0)
    both = reach_of_pool(ranking, OWN, labels, measure, None, before)
    assert both is not None
    assert both.gain == 0.5


def test_no_question_no_reach():
    """An empty slice, or questions without evidence, give no number."""
    ranking, labels = ranking_of([[1, 0]]), labels_of([[]])
    for reach in (reach_of_ties, reach_of_pool):
        assert reach(ranking, OWN, labels, Measure("R", 1)) is None
        assert reach(ranking, OWN, labels_of([[1]]), Measure("R", 1), np.array([False])) is None
