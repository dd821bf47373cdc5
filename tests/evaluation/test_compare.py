import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Scores
from harness.evaluation.statistics.bounds import lower_bound, pair, upper_bound
from harness.evaluation.statistics.planning import detectable

R = parse_measure("R@10")
NAN = math.nan


def scores(values: Sequence[float], names: Sequence[str] | None = None) -> Scores:
    """Scores of questions q0, q1, … under R@10."""
    return Scores(tuple(names or (f"q{i}" for i in range(len(values)))), {R: np.array(values, dtype=float)}, {R: {}})


def compared(baseline: Sequence[float], candidate: Sequence[float], **rest: Any) -> Comparison:
    """A comparison in which every question is its own cluster unless said otherwise."""
    clusters = rest.pop("clusters", [f"q{i}" for i in range(len(baseline))])
    return compare(scores(baseline), scores(candidate), R, clusters=clusters, alpha=0.05, rho=0.01, **rest)


def test_differences_means_and_flips_by_hand():
    """Differences are candidate minus baseline, and won and lost questions are named."""
    found = compared([0, 1, 0.5, 0, 1, 0], [1, 0, 0.5, 0.5, 1, 1])
    assert found.deltas.tolist() == [1, -1, 0, 0.5, 0, 1]
    assert (found.baseline, found.candidate) == (pytest.approx(2.5 / 6), pytest.approx(4 / 6))
    assert found.estimate == pytest.approx(1.5 / 6)
    assert found.flips() == (["q0", "q3", "q5"], ["q1"])
    assert (found.paired.wins, found.paired.defeats, found.paired.ties) == (3, 1, 2)
    assert found.one_flip == 1 / 6


def test_the_interval_is_the_pair_of_bounds():
    """Interval and detectable effect are those of the statistics for the same differences and clusters."""
    names = ["a", "b", "c", "d", "e", "f"] * 5
    candidate = [float(i % 3 == 0) for i in range(30)]
    found = compared([float(i % 5 == 0) for i in range(30)], candidate, clusters=names)
    same = pair(found.deltas, np.arange(30) % 6)
    assert (found.interval.lower, found.interval.upper) == (
        lower_bound(same, 0.05, 0.01),
        upper_bound(same, 0.05, 0.01),
    )
    assert found.mde == detectable(same.deviation, same.sizes, 0.05, 0.01)
    assert found.interval.lower < found.estimate < found.interval.upper


def test_names_of_clusters_do_not_matter():
    """Renaming clusters changes no bound, moving a question to another cluster does."""
    candidate = [float(i % 3 == 0) for i in range(30)]
    groups = [i // 5 for i in range(30)]
    first = compared([0] * 30, candidate, clusters=[f"c{g}" for g in groups])
    renamed = compared([0] * 30, candidate, clusters=[f"z{9 - g}" for g in groups])
    moved = compared([0] * 30, candidate, clusters=[f"c{g}" for g in [1, *groups[1:]]])
    assert first.interval == renamed.interval
    assert first.interval != moved.interval


def test_identical_systems_differ_by_nothing():
    """A system against itself has no difference, no flips, and bounds on both sides of 0."""
    found = compared([0, 1, 0.5, 1, 0, 1], [0, 1, 0.5, 1, 0, 1])
    assert (found.estimate, found.flips(), found.mde) == (0, ([], []), 0)
    assert found.interval.lower == -found.interval.upper < 0


def test_exchanging_the_systems_mirrors_the_comparison():
    """With baseline and candidate exchanged estimate and interval change sign, and won becomes lost."""
    left, right = [0, 1, 0.5, 0, 1, 0, 0], [1, 0, 0.5, 0.5, 1, 1, 0]
    one, other = compared(left, right), compared(right, left)
    assert one.estimate == -other.estimate
    assert (one.interval.lower, one.interval.upper) == (-other.interval.upper, -other.interval.lower)
    assert one.flips() == other.flips()[::-1]
    assert one.mde == pytest.approx(other.mde)


def test_only_questions_scored_by_both_count():
    """A question without a score on either side is left out on both."""
    found = compared([NAN, 1, 0, 0, 1, 1, 0], [1, NAN, 1, 0, 1, 1, 1])
    assert found.questions == ("q2", "q3", "q4", "q5", "q6")
    assert (found.baseline, found.candidate) == (0.4, 0.8)
    assert found.paired.n == 5


def test_a_slice_compares_its_members_only():
    """Members choose the questions and the slice's name stands in the result."""
    members = np.array([True, False, True, True, True, True, False])
    found = compared([0] * 7, [1, 1, 0, 0, 0, 0, 1], members=members, slice_name="temporal")
    assert found.questions == ("q0", "q2", "q3", "q4", "q5")
    assert (found.slice, found.estimate) == ("temporal", 0.2)


def test_too_few_clusters_give_no_interval():
    """Below five effective clusters there is an estimate but neither bounds nor a detectable effect."""
    few = compared([0] * 8, [1, 0] * 4, clusters=["a", "b", "c", "d"] * 2)
    assert few.estimate == 0.5
    assert (few.interval, few.mde) == (None, None)
    enough = compared([0] * 10, [1, 0] * 5, clusters=["a", "b", "c", "d", "e"] * 2)
    assert enough.interval is not None
    lopsided = compared([0] * 12, [1, 0] * 6, clusters=["a"] * 8 + ["b", "c", "d", "e"])
    assert lopsided.interval is None


@pytest.mark.parametrize(
    ("names", "what"),
    [
        (["q0", "q1", "x"], "question sets differ: 1 only ranked ['x'], 1 only judged ['q2']"),
        (["q0", "q1"], "question sets differ"),
        (["q1", "q0", "q2"], "the questions stand in another order"),
    ],
)
def test_other_questions_are_refused(names, what):
    """Systems that answered other questions, or in another order, are not compared."""
    candidate = scores([1.0] * len(names), names)
    with pytest.raises(UsageProblem) as caught:
        compare(scores([0.0] * 3), candidate, R, clusters=["a", "b", "c"], alpha=0.05, rho=0.01)
    assert what in caught.value.what


@pytest.mark.parametrize(
    ("baseline", "members"), [([NAN, NAN], None), ([0, NAN], [False, True]), ([0, 0], [False, False])]
)
def test_a_slice_without_scores_is_refused(baseline, members):
    """Where no question of the slice has a score on both sides, that is said and no number given."""
    chosen = None if members is None else np.array(members)
    with pytest.raises(UsageProblem, match="no question of the slice 'temporal' has a score under R@10"):
        compared(baseline, [1, 1], members=chosen, slice_name="temporal")


def test_one_layer_against_two_on_locomo(evaluated, locomo):
    """Raw turns alone gain 8.6 points on held-out LoCoMo under raw credit and lose 7.5 under source credit."""
    heldout = np.array([part == "heldout" for part in locomo.questions.part])
    for credit, points in (("raw", 8.6), ("source", -7.5)):
        measure = parse_measure(f"R(credit={credit})@10")
        both, raw = (evaluated(locomo, str(measure), layers=layers) for layers in (("raw", "distill"), ("raw",)))
        found = compare(both, raw, measure, clusters=locomo.questions.clusters, alpha=0.0304, rho=0.01, members=heldout)
        assert round(100 * found.estimate, 1) == points
        assert found.paired.n == 1785
        assert (found.interval.lower > 0.02) == (credit == "raw")
        assert (found.interval.upper < 0) == (credit == "source")


@pytest.mark.parametrize(
    ("clusters", "words"),
    [(["a", "b"], "3 questions and 2 clusters"), (["a", "", "b"], "'q1' has no cluster"), ([], "and 0 clusters")],
)
def test_every_question_needs_a_cluster(clusters, words):
    """Clusters that are missing for some questions are named, and never guessed."""
    with pytest.raises(UsageProblem, match=words):
        compared([0, 0, 0], [1, 0, 1], clusters=clusters)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_very_few_questions_have_an_estimate_and_no_bounds(n):
    """One, two or four questions give a change and what one of them is worth, and nothing is tested."""
    found = compared([0.0] * n, [1.0] * n)
    assert (found.estimate, found.one_flip, found.interval, found.mde) == (1.0, 1 / n, None, None)


def test_a_difference_that_is_the_same_everywhere_has_width():
    """Constant differences have no spread between clusters, and the score bound still leaves room."""
    found = compared([0.0] * 40, [0.25] * 40, clusters=[str(i % 8) for i in range(40)])
    assert found.interval.lower < 0.25 < found.interval.upper
