from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting import words

Clause = Callable[..., dict[str, Any]]

REASONS = (
    "all_clauses_hold", "primary_below", "guard_below", "not_testable", "guard_unresolved", "no_worthwhile_change",
    "underpowered", "straddles", "between_thresholds", "instrument_did_not_move", "baseline_not_repeatable",
    "question_sets_differ", "score_invalid", "guard_without_value",
)  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_is_a_clause_of_a_sentence(reason: str) -> None:
    """No name from the program reaches the page."""
    text = words.reason_words(reason)
    assert text != reason
    assert "_" not in text
    assert text[0].islower()
    assert not text.endswith(".")


def test_an_unknown_reason_is_shown_as_it_is() -> None:
    """A ledger of a later release can still be read."""
    assert words.reason_words("something_new") == "something_new"


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("PASS", "becomes the version in force"),
        ("ROLLBACK", "the idea is closed"),
        ("INCONCLUSIVE", "The version in force stays."),
        ("INADMISSIBLE", "no estimate is shown"),
    ],
)
def test_every_state_has_its_consequence(state: str, said: str) -> None:
    """Each verdict says what happens to the version in force."""
    assert said in words.consequence(state)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0859, 1, "+8.6"),
        (-0.0751, 1, "-7.5"),
        (0.0, 1, "+0.0"),
        (-0.0, 1, "+0.0"),
        (-0.0004, 1, "+0.0"),
        (-0.0004, 2, "-0.04"),
        (1.0, 2, "+100.00"),
        (None, 1, "–"),
    ],
)
def test_points_have_a_sign_and_never_a_minus_zero(value: float | None, digits: int, text: str) -> None:
    """A change in points, or a dash where there is none."""
    assert words.points(value, digits) == text


@given(st.floats(-1, 1), st.integers(0, 3))
def test_points_are_near_the_value(value: float, digits: int) -> None:
    """To the last digit shown, always signed."""
    text = words.points(value, digits)
    assert re.fullmatch(r"[+-]\d+(\.\d+)?", text)
    assert not re.fullmatch(r"-0(\.0+)?", text)
    assert abs(float(text) - 100 * value) <= 0.5 * 10**-digits + 1e-9


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.03, "3.0"),
        (-0.03, "3.0"),
        (0.0125, "1.25"),
        (0.0004, "0.04"),
        (0.1, "10.0"),
        (0.5, "50.0"),
        (1e-12, "0.0000000001"),
    ],
)
def test_a_promised_threshold_is_never_rounded(value: float, text: str) -> None:
    """What stands on the page is what was locked."""
    assert words.exact_points(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.7412, "74.1"), (1.0, "100.0"), (0.0, "0.0"), (None, "–")])
def test_means_are_per_cent(value: float | None, text: str) -> None:
    """Unsigned, or a dash where there is none."""
    assert words.percent(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "< 0.0001"),
        (1e-300, "< 0.0001"),
        (0.00009999, "< 0.0001"),
        (0.0001, "0.0001"),
        (0.04567, "0.0457"),
        (1.0, "1.0000"),
        (None, "–"),
    ],
)
def test_a_p_value_is_never_0(value: float | None, text: str) -> None:
    """Below what is shown it says so."""
    assert words.p_value(value) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, "R@10 on all held-out questions gains more than 2.0 points"),
        ({"pass_above": 0.0125}, "R@10 on all held-out questions gains more than 1.25 points"),
        ({"pass_above": 0.0, "slice": "temporal"}, "R@10 on the slice temporal gains"),
        ({"pass_above": -0.01}, "R@10 on all held-out questions is not worse by 1.0 points or more"),
        (
            {"kind": "guard", "pass_above": -0.0175, "slice": "temporal"},
            "R@10 on the slice temporal may not drop by 1.75 points or more",
        ),
    ],
)
def test_a_promise_is_a_sentence(changes: dict[str, Any], text: str, clause: Clause) -> None:
    """Measure, slice and threshold, for a gain, for any gain, for a margin and for a guard."""
    assert words.promise(clause(**changes)) == text


def test_an_outcome_carries_everything_that_a_change_needs(clause: Clause) -> None:
    """Change, means, bounds, questions, clusters, wins, losses and ties."""
    assert words.outcome(clause()) == (
        "+8.6 points (74.1 to 82.7), bounds +6.1 to +11.1; 1785 questions in 9 clusters, 190 won, 37 lost, 1558 tied"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"lower": -0.01, "upper": 0.01}, True),
        ({"lower": 0.0, "upper": 0.01}, True),
        ({"lower": -0.01, "upper": 0.0}, True),
        ({"lower": 0.001, "upper": 0.01}, False),
        ({"lower": -0.02, "upper": -0.01}, False),
        ({"lower": -0.01, "upper": 0.01, "kind": "guard"}, False),
    ],
)
def test_what_was_not_shown_is_not_claimed(changes: dict[str, Any], said: bool, clause: Clause) -> None:
    """A primary whose interval holds 0 is said to have shown no difference."""
    assert ("no difference shown" in words.outcome(clause(**changes))) == said


def test_an_outcome_without_bounds_says_that_nothing_was_tested(clause: Clause) -> None:
    """Counts and change are there, bounds are not."""
    text = words.outcome(clause(lower=None, upper=None, upper_rollback=None, mde=None))
    assert "not testable" in text
    assert "bounds" not in text
    assert "190 won, 37 lost, 1558 tied" in text


@pytest.mark.parametrize(
    ("changes", "decide_on", "standing"),
    [
        ({}, "bounds", "holds"),
        ({"lower": 0.02}, "bounds", "open"),
        ({"lower": 0.02 + 1.1e-9}, "bounds", "holds"),
        ({"lower": -0.1, "upper": -0.02, "upper_rollback": -0.01}, "bounds", "fell"),
        ({"lower": -0.1, "upper": -0.02, "upper_rollback": 0.0}, "bounds", "open"),
        ({"lower": None, "upper": None, "upper_rollback": None}, "bounds", "open"),
        ({"lower": None, "upper": None, "upper_rollback": None}, "estimate", "holds"),
        ({"estimate": 0.01}, "estimate", "open"),
        ({"estimate": -0.01}, "estimate", "fell"),
    ],
)
def test_a_clause_stands_as_the_rule_saw_it(
    changes: dict[str, Any], decide_on: str, standing: str, clause: Clause
) -> None:
    """By its bounds at their own error rates, or by the bare estimate where that decides."""
    assert words.standing(clause(**changes), decide_on) == standing


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"n": 24}, "one question is 4.17 points; with 80 % power 3.1 points beyond the threshold can be seen"),
        ({"n": 284, "mde": None}, "one question is 0.35 points"),
    ],
)
def test_what_one_question_is_worth(changes: dict[str, Any], text: str, clause: Clause) -> None:
    """And the difference that could have been seen, where there is one."""
    assert words.flip_words(clause(**changes)) == text


@pytest.mark.parametrize(
    ("lower", "upper", "said"),
    [(0.01, 0.05, "a gain"), (-0.05, -0.01, "a loss"), (-0.01, 0.05, "no difference"), (0.0, 0.05, "no difference"),
     (-0.02, 0.0, "no difference"), (None, None, "not testable")],
)  # fmt: skip
def test_words_follow_the_bounds(lower: float | None, upper: float | None, said: str) -> None:
    """A bound that touches 0 shows nothing, whatever the estimate is."""
    assert words.shows(lower, upper) == said


@pytest.mark.parametrize(
    ("estimate", "n", "said"),
    [(1 / 24, 24, ", which is one question"), (-2 / 24, 24, ", which is two questions"), (3 / 7, 7, ", which is three "
     "questions"), (4 / 24, 24, ""), (0.0, 24, ""), (0.5 / 24, 24, ""), (0.0859, 1785, "")],
)  # fmt: skip
def test_few_questions_are_called_that(estimate: float, n: int, said: str) -> None:
    """+4.2 points on 24 questions is one question, and is said to be."""
    assert words.worth(estimate, n) == said
