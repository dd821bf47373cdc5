from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.split import draw_dev
from harness.errors import UsageProblem

NAMES = st.text("abcdef", min_size=1, max_size=3)


def test_every_stratum_gives_its_share() -> None:
    """Fifty of five hundred questions are a tenth of each type, by largest remainders."""
    strata = ["a"] * 333 + ["b"] * 124 + ["c"] * 43
    clusters = [f"q{index}" for index in range(500)]
    chosen = draw_dev(clusters, strata, 50)
    counts = Counter(name for name, cluster in zip(strata, clusters, strict=True) if cluster in chosen)
    assert counts == {"a": 33, "b": 13, "c": 4}


def test_the_draw_is_what_it_was() -> None:
    """The digest decides, today and tomorrow."""
    assert draw_dev([f"q{index}" for index in range(10)], ["a"] * 10, 3) == {"q1", "q4", "q6"}


@given(st.lists(st.tuples(NAMES, st.sampled_from("xyz")), min_size=4, max_size=30), st.integers(1, 3), st.randoms())
def test_the_order_of_questions_makes_no_difference(questions, wanted, random):
    """Shuffled questions give the same draw, or the same refusal."""

    def draw(rows):
        try:
            return draw_dev([cluster for cluster, _ in rows], [stratum for _, stratum in rows], wanted)
        except UsageProblem as problem:
            return problem.what

    shuffled = random.sample(questions, len(questions))
    assert draw(questions) == draw(shuffled)


@given(st.lists(st.tuples(NAMES, st.sampled_from("xyz")), min_size=4, max_size=30), st.integers(1, 3))
def test_enough_is_drawn_and_something_is_left(questions, wanted):
    """At least as many questions as wanted are drawn, and at least one cluster is held out, or the draw is refused."""
    clusters = [cluster for cluster, _ in questions]
    try:
        chosen = draw_dev(clusters, [stratum for _, stratum in questions], wanted)
    except UsageProblem:
        return
    assert sum(cluster in chosen for cluster in clusters) >= wanted
    assert set(clusters) - chosen


@pytest.mark.parametrize("wanted", [-1, 0, 3, 4])
def test_a_number_that_leaves_nothing_on_either_side_is_refused(wanted: int) -> None:
    """No questions, all, or more than all."""
    with pytest.raises(UsageProblem, match=f"{wanted} of 3 questions"):
        draw_dev(["a", "b", "c"], ["x"] * 3, wanted)


def test_one_cluster_cannot_be_split() -> None:
    """Where everything hangs together nothing could be held out."""
    with pytest.raises(UsageProblem, match="nothing is held out"):
        draw_dev(["a", "a", "a"], ["x"] * 3, 1)
