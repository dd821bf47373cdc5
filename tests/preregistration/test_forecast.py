"""What may come of a run, simulated from dev."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from decimal import Decimal

import pytest

from harness.evaluation.statistics.looks import alpha_of_look
from harness.preregistration.document import Preregistration
from harness.preregistration.evidence import Evidence
from harness.preregistration.forecast import Forecast, forecast

Promise = Callable[..., Preregistration]
Rehearsed = Callable[..., Evidence]


def forecast_of(document: Preregistration, evidence: Evidence) -> Forecast:
    """A forecast that is there."""
    found = forecast(document, evidence)
    assert found is not None
    return found


def test_a_large_dev_gain_is_forecast_to_pass(promise: Promise, rehearsed: Rehearsed) -> None:
    """Ten points on 200 dev questions promise a PASS of two, with an interval around what dev showed."""
    document = promise([("temporal", "0.03")])
    found = forecast_of(document, rehearsed(document, wins=20))
    assert found.gain == pytest.approx(0.1)
    assert found.low < 0.1 < found.high
    assert found.likely.passes > 0.7
    assert found.likely.passes + found.likely.rollbacks + found.likely.undecided == pytest.approx(1)


def test_the_best_of_many_trials_is_expected_to_gain_less(promise: Promise, rehearsed: Rehearsed) -> None:
    """What was picked from a hundred is worth less than what was tried once."""
    candidate = {"version": "bm25", "parameters": {"layers": ["raw"]}, "frozen": "experiments/x/frozen.yaml"}
    once, picked = (promise(candidate={**candidate, "trials": trials}) for trials in (1, 100))
    assert forecast_of(picked, rehearsed(picked)).gain < forecast_of(once, rehearsed(once)).gain


def test_nothing_changed_rarely_passes_or_is_rolled_back(promise: Promise, rehearsed: Rehearsed) -> None:
    """At a true difference of 0 neither verdict is more frequent than its error rate allows."""
    document = promise(claim={"superior": Decimal(0)})
    found = forecast_of(document, rehearsed(document, wins=12, losses=8))
    still = next(item for item in found.scenarios if item.name == "no change under the first primary")
    assert still.difference == pytest.approx(0, abs=1e-6)
    assert still.passes <= alpha_of_look(0.05, 1) + 0.01
    assert still.rollbacks <= alpha_of_look(0.05, 1) + 0.01


def test_a_lost_margin_rarely_passes(promise: Promise, rehearsed: Rehearsed) -> None:
    """If a guarded slice loses as much as is tolerated, PASS is an error, and as rare as one."""
    document = promise([("temporal", "0.03")])
    found = forecast_of(document, rehearsed(document, wins=15, losses=5))
    (lost,) = [item for item in found.scenarios if "margin" in item.name]
    assert (lost.clause, lost.difference) == (1, pytest.approx(-0.03, abs=1e-6))
    assert lost.passes <= alpha_of_look(0.05, 1) + 0.01


@pytest.mark.parametrize("guards", [[], [("temporal", "0.05")], [("temporal", "0.05"), ("open-domain", "0.1")]])
def test_every_clause_keeps_its_error_rate_at_its_threshold(
    guards: list[tuple[str, str]], promise: Promise, rehearsed: Rehearsed
) -> None:
    """With a true difference at the threshold each clause holds no more often than is promised."""
    document = promise(guards)
    found = forecast_of(document, rehearsed(document, wins=15, losses=5))
    assert len(found.boundary) == 1 + len(guards)
    assert max(found.boundary) <= alpha_of_look(0.05, 1) + 0.01


def test_the_gain_that_is_found_has_the_power_that_is_said(promise: Promise, rehearsed: Rehearsed) -> None:
    """What the first primary finds with 80 % power passes in about 80 % of simulated runs."""
    document = promise()
    found = forecast_of(document, rehearsed(document, wins=15, losses=5))
    assert found.detectable[0] is not None
    assert found.detectable[0] > 0.02
    (named,) = [item for item in found.scenarios if "80 % power" in item.name]
    assert named.passes == pytest.approx(0.8, abs=0.04)


def test_more_guards_cost_power(promise: Promise, rehearsed: Rehearsed) -> None:
    """Each clause that has to hold besides makes PASS less likely at the same truth."""
    alone, guarded = promise(), promise([("temporal", "0.021"), ("open-domain", "0.06")])
    chances = [forecast_of(document, rehearsed(document, 14, 6)).hoped.passes for document in (alone, guarded)]
    assert chances[1] < chances[0]


def test_a_forecast_is_the_same_every_time(promise: Promise, rehearsed: Rehearsed) -> None:
    """It is recorded in the lock, so it may not depend on when it is made."""
    document = promise([("temporal", "0.03")])
    assert forecast_of(document, rehearsed(document)) == forecast_of(document, rehearsed(document))


def test_no_forecast_without_dev_results(promise: Promise, evidence: Evidence, rehearsed: Rehearsed) -> None:
    """Without a rehearsal, without a scored dev question, or for one conversation, nothing is made up."""
    document = promise()
    assert forecast(document, evidence) is None
    silent = rehearsed(document)
    assert silent.rehearsal is not None
    nothing = dataclasses.replace(silent.rehearsal, members=silent.rehearsal.members & False)
    assert forecast(document, dataclasses.replace(silent, rehearsal=nothing)) is None
    one = promise([("conversation:conv-30", "0.1")])
    assert forecast(one, rehearsed(one)) is None


def test_what_is_recorded_adds_up(promise: Promise, rehearsed: Rehearsed) -> None:
    """The lock holds an interval with its level and three chances."""
    document = promise()
    recorded = forecast_of(document, rehearsed(document)).as_mapping()
    assert set(recorded) == {"gain", "low", "high", "level", "pass", "rollback", "inconclusive"}
    assert recorded["pass"] + recorded["rollback"] + recorded["inconclusive"] == pytest.approx(1)


def test_later_looks_pass_less_often(promise: Promise, rehearsed: Rehearsed) -> None:
    """The same experiment at look 2 has less α, and a smaller chance."""
    document = promise()
    first = rehearsed(document, 10)
    second = dataclasses.replace(first, look=2, alpha_k=alpha_of_look(0.05, 2))
    assert forecast_of(document, second).hoped.passes < forecast_of(document, first).hoped.passes
