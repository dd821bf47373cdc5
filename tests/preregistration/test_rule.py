from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from harness.digest import canonical_json
from harness.errors import EXIT_CODES
from harness.evaluation.compare import Comparison, Interval
from harness.evaluation.statistics.bounds import p_above, p_below, upper_bound
from harness.preregistration.document import Preregistration
from harness.preregistration.rule import EXIT_OF_STATE, estimate_rule_errors, inadmissible, judge

Compared = Callable[..., Comparison]
Promise = Callable[..., Preregistration]

RHO = 0.01
CLAIM = {"superior": Decimal("0.02"), "rollback": Decimal("-0.01")}

GOOD, STILL, WIDE, BAD = (6, 0, 14), (0, 0, 400), (5, 5, 10), (0, 6, 14)
BETTER_BY_LITTLE, ROUGHLY_GOOD, ROUGHLY_BAD = (10, 0, 390), (4, 1, 75), (1, 3, 96)


def verdict(document: Preregistration, *comparisons: Comparison) -> tuple[str, str]:
    """State and reason of the first look."""
    found = judge(document, comparisons, 1, 0.05)
    return found.state, found.reason


@pytest.mark.parametrize(
    ("primaries", "guard", "state", "reason"),
    [
        ([GOOD], None, "PASS", "all_clauses_hold"),
        ([GOOD, GOOD], None, "PASS", "all_clauses_hold"),
        ([GOOD], STILL, "PASS", "all_clauses_hold"),
        ([GOOD], GOOD, "PASS", "all_clauses_hold"),
        ([BAD], None, "ROLLBACK", "primary_below"),
        ([GOOD, BAD], None, "ROLLBACK", "primary_below"),
        ([BAD], BAD, "ROLLBACK", "primary_below"),
        ([GOOD], BAD, "ROLLBACK", "guard_below"),
        ([WIDE], BAD, "ROLLBACK", "guard_below"),
        ([GOOD], WIDE, "INCONCLUSIVE", "guard_unresolved"),
        ([STILL], None, "INCONCLUSIVE", "no_worthwhile_change"),
        ([STILL], WIDE, "INCONCLUSIVE", "no_worthwhile_change"),
        ([WIDE, STILL], None, "INCONCLUSIVE", "no_worthwhile_change"),
        ([WIDE], None, "INCONCLUSIVE", "underpowered"),
        ([GOOD, WIDE], STILL, "INCONCLUSIVE", "underpowered"),
        ([BETTER_BY_LITTLE], None, "INCONCLUSIVE", "straddles"),
        ([ROUGHLY_GOOD], None, "INCONCLUSIVE", "straddles"),
        ([ROUGHLY_BAD], None, "INCONCLUSIVE", "straddles"),
    ],
)
def test_each_state_is_reached_for_each_reason(
    primaries: list[tuple[int, int, int]],
    guard: tuple[int, int, int] | None,
    state: str,
    reason: str,
    promise: Promise,
    compared: Compared,
) -> None:
    """The table of the rule on real comparisons: wins, losses and ties in each of nine conversations."""
    names = ["R@10", "nDCG@10"][: len(primaries)]
    document = promise([("temporal", "0.03")] if guard else [], primary=names, claim=CLAIM)
    counts = [*primaries, guard] if guard else primaries
    assert verdict(document, *(compared(*each) for each in counts)) == (state, reason)


@pytest.mark.parametrize("many", [True, False])
def test_too_few_clusters_decide_nothing(many: bool, promise: Promise, compared: Compared) -> None:
    """One clause that cannot be tested leaves the whole experiment open, however good or bad the others are."""
    document = promise([("temporal", "0.03")])
    other = compared(*(GOOD if many else BAD))
    few = compared(*GOOD, clusters=4)
    assert verdict(document, other, few) == verdict(document, few, other) == ("INCONCLUSIVE", "not_testable")
    clause = judge(document, [other, few], 1, 0.05).clauses[1].as_mapping()
    assert clause["testable"] is False
    for name in ("lower", "upper", "upper_rollback", "p_pass", "p_rollback", "mde"):
        assert clause[name] is None
    assert clause["estimate"] == pytest.approx(0.3)


def between(comparison: Comparison, lower: float, upper: float) -> Comparison:
    """The same comparison with given bounds."""
    return dataclasses.replace(comparison, interval=Interval(lower, upper))


@pytest.mark.parametrize(
    ("distance", "state"), [(0.0, "INCONCLUSIVE"), (9e-10, "INCONCLUSIVE"), (1.1e-9, "PASS"), (-1e-3, "INCONCLUSIVE")]
)
def test_a_lower_bound_at_its_threshold_does_not_pass(
    distance: float, state: str, promise: Promise, compared: Compared
) -> None:
    """PASS takes more than the last bits of arithmetic, at a primary and at a guard alike."""
    good = compared(*GOOD)
    assert verdict(promise(), between(good, 0.02 + distance, 0.4))[0] == state
    guarded = promise([("temporal", "0.03")])
    assert verdict(guarded, good, between(good, -0.03 + distance, 0.4))[0] == state


@pytest.mark.parametrize(
    ("distance", "state"), [("0", "INCONCLUSIVE"), ("0.0000000009", "INCONCLUSIVE"), ("0.000000002", "ROLLBACK")]
)
def test_an_upper_bound_at_its_threshold_does_not_roll_back(
    distance: str, state: str, promise: Promise, compared: Compared
) -> None:
    """ROLLBACK takes more than the last bits of arithmetic."""
    bad = compared(*BAD)
    line = Decimal(repr(upper_bound(bad.paired, 0.05, RHO))) + Decimal(distance)
    document = promise(claim={"superior": Decimal("0.02"), "rollback": line})
    assert verdict(document, bad)[0] == state


@pytest.mark.parametrize(
    ("lower", "upper", "reason"),
    [
        (-0.01, 0.02, "no_worthwhile_change"),
        (-0.01 - 9e-10, 0.02 + 9e-10, "no_worthwhile_change"),
        (-0.01 - 2e-9, 0.02 + 2e-9, "underpowered"),
        (-0.01 - 2e-9, 0.02, "straddles"),
        (-0.01, 0.02 + 2e-9, "straddles"),
    ],
)
def test_reasons_at_the_edges(lower: float, upper: float, reason: str, promise: Promise, compared: Compared) -> None:
    """An interval that ends at the thresholds holds no worthwhile change; one past both is underpowered."""
    assert verdict(promise(claim=CLAIM), between(compared(*WIDE), lower, upper)) == ("INCONCLUSIVE", reason)


def test_rollback_shares_the_error_rate_among_the_clauses(promise: Promise, compared: Compared) -> None:
    """What one clause alone shows at the full rate, one of three does not show at a third of it; PASS is not shared."""
    bad = compared(*BAD)
    whole, third = (upper_bound(bad.paired, alpha, RHO) for alpha in (0.05, 0.05 / 3))
    assert whole < third
    claim = {"superior": Decimal("0.02"), "rollback": Decimal(repr((whole + third) / 2))}
    assert verdict(promise(claim=claim), bad) == ("ROLLBACK", "primary_below")
    three = promise([("temporal", "0.03"), ("multi-hop", "0.03")], claim=claim)
    good = compared(*GOOD)
    found = judge(three, [bad, good, good], 1, 0.05)
    assert (found.state, found.reason) == ("INCONCLUSIVE", "straddles")
    assert found.clauses[0].upper_rollback == third
    assert found.clauses[0].upper == whole

    one = judge(promise(), [good], 1, 0.05).clauses[0]
    of_three = judge(promise([("a", "0.03"), ("b", "0.03")]), [good] * 3, 1, 0.05).clauses[0]
    assert one.lower == of_three.lower


def test_a_non_inferior_claim_passes_without_a_gain(promise: Promise, compared: Compared) -> None:
    """A candidate that changes nothing clears a margin, and no gain of 0."""
    still = compared(*STILL)
    assert verdict(promise(claim={"non_inferior": Decimal("0.01")}), still)[0] == "PASS"
    assert verdict(promise(claim={"superior": 0}), still)[0] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("primary", "guard", "expected"),
    [
        (GOOD, STILL, ("PASS", "all_clauses_hold")),
        ((1, 0, 19), (0, 0, 20), ("PASS", "all_clauses_hold")),
        ((0, 1, 19), (0, 0, 20), ("ROLLBACK", "primary_below")),
        ((1, 0, 19), (0, 1, 19), ("ROLLBACK", "guard_below")),
        ((1, 0, 79), (0, 0, 20), ("INCONCLUSIVE", "between_thresholds")),
        ((1, 0, 49), (0, 0, 20), ("INCONCLUSIVE", "between_thresholds")),  # exactly 0.02
        ((1, 0, 99), (0, 1, 99), ("INCONCLUSIVE", "between_thresholds")),
    ],
)
def test_bare_estimates_decide_where_the_document_says_so(
    primary: tuple[int, int, int],
    guard: tuple[int, int, int],
    expected: tuple[str, str],
    promise: Promise,
    compared: Compared,
) -> None:
    """Then neither bounds nor the number of clusters matter."""
    document = promise([("temporal", "0.03")], decide_on="estimate")
    assert verdict(document, compared(*primary), compared(*guard)) == expected
    assert verdict(document, compared(*primary, clusters=2), compared(*guard, clusters=2)) == expected


def test_the_error_rates_of_the_estimate_rule_are_those_of_a_normal_mean(promise: Promise, compared: Compared) -> None:
    """With the line at 0 and noise around it, a bare estimate is on the wrong side every other time."""
    document = promise(claim={"superior": 0}, decide_on="estimate")
    clause = judge(document, [compared(*WIDE)], 1, 0.05).clauses[0]
    assert estimate_rule_errors(clause, RHO) == {
        "pass_at_zero": 0.5,
        "rollback_at_zero": 0.5,
        "pass_at_threshold": 0.5,
    }
    strict = judge(promise(claim={"superior": Decimal("0.9")}), [compared(*WIDE)], 1, 0.05).clauses[0]
    assert estimate_rule_errors(strict, RHO)["pass_at_zero"] < 1e-6
    alone = judge(promise(), [compared(*WIDE, clusters=1)], 1, 0.05).clauses[0]
    assert 0 < estimate_rule_errors(alone, RHO)["pass_at_zero"] < 0.5


def test_a_verdict_carries_every_number_that_led_to_it(promise: Promise, compared: Compared) -> None:
    """As plain values that canonical JSON takes, clause by clause."""
    document = promise([("temporal", "0.03")])
    primary, guard = compared(*GOOD, 0.03), compared(*WIDE, 0.03, part="temporal")
    value = judge(document, [primary, guard], 2, 0.03).as_mapping()
    assert json.loads(canonical_json(value)) == value
    assert {key: item for key, item in value.items() if key != "clauses"} == {
        "state": "INCONCLUSIVE",
        "reason": "guard_unresolved",
        "look": 2,
        "alpha_k": 0.03,
    }
    expected: dict[str, Any] = {
        "kind": "guard",
        "measure": "R@10",
        "slice": "temporal",
        "pass_above": -0.03,
        "rollback_below": -0.03,
        "n": 180,
        "clusters": 9,
        "effective_clusters": 9.0,
        "testable": True,
        "baseline": 0.5,
        "candidate": 0.5,
        "estimate": 0.0,
        "lower": guard.interval.lower if guard.interval else None,
        "upper": guard.interval.upper if guard.interval else None,
        "upper_rollback": upper_bound(guard.paired, 0.015, RHO),
        "p_pass": p_above(guard.paired, -0.03, RHO),
        "p_rollback": p_below(guard.paired, -0.03, RHO),
        "wins": 45,
        "losses": 45,
        "ties": 90,
        "mde": guard.mde,
    }
    assert value["clauses"][1] == expected


def test_bounds_and_p_values_tell_one_story(promise: Promise, compared: Compared) -> None:
    """A clause holds where its p-value is below the error rate, and nowhere else."""
    for counts in (GOOD, STILL, WIDE, BAD, BETTER_BY_LITTLE, ROUGHLY_GOOD, ROUGHLY_BAD):
        clause = judge(promise(claim=CLAIM), [compared(*counts)], 1, 0.05).clauses[0].as_mapping()
        assert (clause["lower"] > 0.02) == (clause["p_pass"] < 0.05), counts
        assert (clause["upper_rollback"] < -0.01) == (clause["p_rollback"] < 0.05), counts


def test_one_comparison_for_each_clause(promise: Promise, compared: Compared) -> None:
    """A comparison too few or too many is a fault of the program and never passes silently."""
    document = promise([("temporal", "0.03")])
    for number in (1, 3):
        with pytest.raises(ValueError, match="zip"):
            judge(document, [compared(*GOOD)] * number, 1, 0.05)


def test_an_inadmissible_run_shows_no_number() -> None:
    """There is a reason and no clause, so that no estimate can be quoted."""
    value = inadmissible("score_invalid", 3, 0.003).as_mapping()
    assert value == {
        "state": "INADMISSIBLE",
        "reason": "score_invalid",
        "look": 3,
        "alpha_k": 0.003,
        "clauses": [],
    }


def test_every_state_has_its_documented_exit_code() -> None:
    """PASS is the only verdict that a shell takes for success."""
    assert EXIT_OF_STATE == {"PASS": 0, "ROLLBACK": 10, "INADMISSIBLE": 11, "INCONCLUSIVE": 20}
    for state, code in EXIT_OF_STATE.items():
        assert state in EXIT_CODES[code]
