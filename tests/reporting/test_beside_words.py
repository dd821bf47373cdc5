from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.reporting.beside_words import clause_lines, fragility_lines, prediction_lines

Report = Callable[..., dict[str, Any]]


def test_checks_are_sentences_with_their_limits(report: Report) -> None:
    """Each test says how it was done, what it cannot go below, and what it takes for granted."""
    tests, correlation, without, unseen = clause_lines(report()["beside"]["clauses"][0])
    for words in ("sign-flip by cluster p = 0.0039 (exact; 9 clusters cannot give less than 0.0039)",
                  "McNemar exact p < 0.0001, mid-p p < 0.0001", "paired t p = 0.0312", "for independent"):  # fmt: skip
        assert words in tests
    assert "0.0042 measured, which would be a design effect of 1.87; 3.07 is planned with" in correlation
    assert "from +8.0 points without conv-42 to +8.9 without conv-30" in without
    assert "up to 0.5 % of questions may lose all the same" in unseen


def test_checks_that_have_nothing_to_say_are_left_out(report: Report) -> None:
    """No cluster with a sum, no correlation, no second conversation and some losses: one sentence is left."""
    row = report()["beside"]["clauses"][0]
    silent = row | {"sign_flip": None, "correlation": None, "without": [], "unseen_losses": None}
    assert clause_lines(silent) == ["other tests of no difference: not testable, since no cluster's sum differs from 0"]
    assert "paired t not testable" in clause_lines(row | {"paired_t": None})[0]
    drawn = row["sign_flip"] | {"exact": False}
    assert "100,000 drawn" in clause_lines(row | {"sign_flip": drawn})[0]


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ["23 flipped questions of the guard R@10 in temporal, where they do most, would make it INCONCLUSIVE.",
              "Single conversations: without conv-42 it would be PASS."]),
        ({"flips": 1, "without": {}}, ["One flipped question of the guard R@10 in temporal, where it does most, would "
                                       "make it INCONCLUSIVE.", "No single conversation changes it."]),
        ({"flips": None, "without": {"c0": "not_testable"}},
         ["Single conversations: without c0 nothing could be tested."]),
    ],
)  # fmt: skip
def test_what_would_change_the_verdict(report: Report, changes: dict[str, Any], lines: list[str]) -> None:
    """How many questions, of which clause, towards which verdict; and single conversations by name."""
    assert fragility_lines(report()["beside"]["fragility"] | changes) == lines


def test_a_version_that_is_not_here_leaves_it_open() -> None:
    """Without the versions the rule cannot be applied again, and that is said."""
    assert "not computed" in fragility_lines(None)[0]


def test_predictions_are_told_with_what_came(report: Report) -> None:
    """The harness's with level and score, the authors' without; inside or outside."""
    ours, theirs = prediction_lines(report()["predicted"])
    assert ours.startswith("Before the lock, dev gave reason to expect +2.2 to +12.2 points (80 %); +8.6 came: inside.")
    assert "The forecast was PASS 79 %, ROLLBACK 0 % (Brier score 0.09" in ours
    assert theirs == "The authors expected +1.0 to +8.0 points; +8.6 came: outside."
