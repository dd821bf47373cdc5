"""The check of what can be found: reach, dead clauses, detectable gains and power."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from harness.evaluation.reach import POOL, TIES
from harness.preregistration.check import check, refusals
from harness.preregistration.document import Preregistration
from harness.preregistration.evidence import FINE, NOTED, REFUSED, Evidence, Finding
from harness.preregistration.forecast import forecast
from harness.preregistration.plain import plain_words

Promise = Callable[..., Preregistration]
Rehearsed = Callable[..., Evidence]


def findings(document: Preregistration, evidence: Evidence, subject: str) -> list[Finding]:
    """The findings about a subject."""
    return [found for found in check(document, evidence) if found.subject == subject]


@pytest.mark.parametrize(("lever", "words"), [(TIES, "the best order of all exact ties"), (POOL, "first 1000")])
def test_a_gain_beyond_reach_is_refused(lever: str, words: str, promise: Promise, rehearsed: Rehearsed) -> None:
    """An oracle that gains a tenth of a point cannot show any gain on 1,785 questions; the figures say so."""
    document = promise(claim={"superior": Decimal(0)})
    (found,) = findings(document, rehearsed(document, 0, reach=0.001, lever=lever), "primary R@10 in all")
    assert (found.kind, found.may_acknowledge) == (REFUSED, True)
    assert found.says.startswith("PASS is out of reach")
    for part in (words, "+0.10 points on dev", "+0.63 points without a single loss"):
        assert part in found.says, found.says


def test_no_loss_is_a_claim_without_reach(promise: Promise, rehearsed: Rehearsed) -> None:
    """Where nothing can be gained, that nothing is lost can still be shown."""
    document = promise(claim={"non_inferior": Decimal("0.01")})
    found = findings(document, rehearsed(document, 0, reach=0.0, lever=TIES), "primary R@10 in all")
    assert {item.kind for item in found} == {FINE}


@pytest.mark.parametrize(
    ("keys", "guards", "baseline", "kind", "words"),
    [
        ({"claim": {"non_inferior": Decimal("0.5")}}, [], 0.4, REFUSED, "can never fall: the baseline has 40.0 points"),
        ({}, [("temporal", "0.5")], 0.5, REFUSED, "can never fall"),
        ({"claim": {"superior": Decimal("0.3")}}, [], 0.75, REFUSED, "asks for more than is missing"),
        ({"claim": {"superior": Decimal(0), "rollback": Decimal("-0.5")}}, [], 0.5, NOTED, "ROLLBACK can never"),
        ({}, [("all", "0.03")], 0.5, NOTED, "can never decide a PASS"),
    ],
)
def test_dead_clauses_are_named(
    keys: dict[str, Any], guards: list[tuple[str, str]], baseline: float, kind: str, words: str, promise: Promise,
    rehearsed: Rehearsed,
) -> None:  # fmt: skip
    """A loss larger than all there is, a gain larger than what is missing, a guard that the claim implies."""
    document = promise(guards, **keys)
    found = [item for item in check(document, rehearsed(document, baseline=baseline)) if words in item.says]
    assert [item.kind for item in found] == [kind]


def test_detectable_gains_are_shown_for_several_correlations(promise: Promise, rehearsed: Rehearsed) -> None:
    """Dev is one conversation, so the page shows what would be found at ρ of 0, .01 and .02."""
    document = promise()
    (found,) = [i for i in findings(document, rehearsed(document), "primary R@10 in all") if "80 % power" in i.says]
    for words in ("simulated at ρ = 0.01", " at 0,", " at 0.01,", " at 0.02;", "σ = 0."):
        assert words in found.says, found.says


@pytest.mark.parametrize(("wins", "losses", "kind"), [(24, 0, FINE), (11, 2, NOTED), (5, 6, REFUSED), (4, 16, NOTED)])
def test_power_is_held_against_what_is_hoped_for(
    wins: int, losses: int, kind: str, promise: Promise, rehearsed: Rehearsed
) -> None:
    """A large dev gain is fine, a small one a warning, none is refused, and a loss is told: it may be a ROLLBACK."""
    document = promise()
    evidence = rehearsed(document, wins, losses)
    (found,) = findings(document, evidence, "power")
    assert found.kind == kind, found.says
    assert refusals(check(document, evidence), "we know") == []


def test_the_authors_own_hope_counts(promise: Promise, rehearsed: Rehearsed) -> None:
    """Who expects four to eight points has the power computed for six, and for eight, whatever dev showed."""
    document = promise(expect={"low": Decimal("0.04"), "high": Decimal("0.08")})
    (found,) = findings(document, rehearsed(document, 4, 16), "power")
    assert "+6.0 points, the middle of what you expect" in found.says
    hopeless = promise(expect={"low": Decimal("0.0"), "high": Decimal("0.01")})
    (refused,) = findings(hopeless, rehearsed(hopeless, 24), "power")
    assert refused.kind == REFUSED
    assert "even if the true gain is +1.0 points, the most that you expect" in refused.says


def test_dev_without_any_difference_plans_no_power(promise: Promise, rehearsed: Rehearsed) -> None:
    """Where no dev question differs nobody knows how many will, and that is a note, not a refusal."""
    document = promise(claim={"non_inferior": Decimal("0.01")})
    (found,) = findings(document, rehearsed(document, 0), "power")
    assert found.kind == NOTED
    assert "not one of 200 dev questions differs" in found.says


def test_plain_words_come_first(promise: Promise, rehearsed: Rehearsed) -> None:
    """What is promised, on what, what dev showed, and what may come of it, each in a sentence."""
    document = promise([("temporal", "0.03")])
    evidence = rehearsed(document)
    text = "\n".join(plain_words(document, evidence, forecast(document, evidence)))
    for words in (
        "PASS needs a gain that is surely above 2.0 points: R@10, 1787 held-out questions in 9 conversations",
        "PASS needs a drop that is surely smaller than 3.0 points: R@10, 284 held-out questions",
        "the first look", "Dev showed +10.0 points of R@10 on 200 questions of one conversation (20 won, 0 lost, 180 "
        "tied; one question is 0.5)", "should come out between", "the forecast is PASS",
    ):  # fmt: skip
        assert words in text, text


def test_plain_words_of_bare_estimates(promise: Promise, rehearsed: Rehearsed) -> None:
    """Where estimates decide nothing is sure, and no error rate is spoken of."""
    document = promise(decide_on="estimate")
    text = "\n".join(plain_words(document, rehearsed(document), None))
    assert "PASS needs a gain that is above 2.0 points" in text
    assert "no error rate is promised" in text
    assert "surely" not in text


def test_plain_words_without_dev(promise: Promise, evidence: Evidence) -> None:
    """Without dev results the promise is still put into words, and nothing is forecast."""
    text = "\n".join(plain_words(promise(), evidence, None))
    assert "PASS needs a gain" in text
    assert "Dev" not in text
    assert "forecast" not in text
