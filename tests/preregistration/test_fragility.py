"""What a verdict hangs on."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest

from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Scores
from harness.preregistration.document import Preregistration
from harness.preregistration.fragility import fragility
from harness.preregistration.rule import judge

Promise = Callable[..., Preregistration]
Compared = Callable[..., Comparison]


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "state", "towards"),
    [(8, 0, 40, "PASS", "INCONCLUSIVE"), (0, 8, 40, "ROLLBACK", "INCONCLUSIVE"), (3, 1, 40, "INCONCLUSIVE", "PASS"),
     (1, 2, 40, "INCONCLUSIVE", "ROLLBACK")],
)  # fmt: skip
def test_flips_lead_to_another_verdict(
    wins: int, losses: int, ties: int, state: str, towards: str, promise: Promise, compared: Compared
) -> None:
    """A few flipped questions change each verdict, towards the one that lies nearest."""
    document = promise()
    comparison = compared(wins, losses, ties)
    verdict = judge(document, [comparison], 1, 0.05)
    assert verdict.state == state
    found = fragility(document, [comparison], verdict)
    assert found.towards == towards
    assert found.flips is not None
    assert 0 < found.flips < comparison.paired.n / 4
    assert found.clause == "primary R@10 in all"


def test_one_conversation_that_carries_everything_is_named(promise: Promise) -> None:
    """Where the gain lies in one conversation only, the verdict without it is another one, and it is named."""
    document = promise(claim={"superior": Decimal(0)}, decide_on="estimate")
    clusters = [f"c{number}" for number in range(9) for _ in range(20)]
    questions = tuple(f"q{place}" for place in range(180))
    gained = np.array([0.5 if name == "c3" else 0.0 for name in clusters])
    gained[100] = -0.5  # one question of c5 is lost
    measure = parse_measure("R@10")
    before, after = (Scores(questions, {measure: 0.5 + change}, {measure: {}}) for change in (0 * gained, gained))
    comparison = compare(before, after, measure, clusters=clusters, alpha=0.05, rho=0.01)
    verdict = judge(document, [comparison], 1, 0.05)
    assert verdict.state == "PASS"
    assert fragility(document, [comparison], verdict).without == {"c3": "ROLLBACK"}


def test_five_conversations_cannot_lose_one(promise: Promise, compared: Compared) -> None:
    """With five of equal size a bound can be trusted, with four it cannot, and that is what is said of each."""
    document = promise()
    comparison = compared(20, 0, 20, clusters=5)
    verdict = judge(document, [comparison], 1, 0.05)
    found = fragility(document, [comparison], verdict)
    assert found.without == {f"c{number}": "not_testable" for number in range(5)}


def test_what_cannot_be_tested_is_not_fragile(promise: Promise, compared: Compared) -> None:
    """No number of flips makes a verdict of what has too few conversations."""
    document = promise()
    comparison = compared(20, 0, 20, clusters=3)
    found = fragility(document, [comparison], judge(document, [comparison], 1, 0.05))
    assert (found.flips, found.towards) == (None, "")


def test_questions_by_themselves_are_no_conversations(promise: Promise, compared: Compared) -> None:
    """Where every question is its own cluster none is left out in turn."""
    document = promise()
    comparison = compared(1, 0, 0, clusters=60)
    found = fragility(document, [comparison], judge(document, [comparison], 1, 0.05))
    assert found.without == {}
    assert found.as_mapping()["flips"] == found.flips
