"""The words of a verdict. They follow the test: what was not shown is not claimed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

_REASONS = {
    "all_clauses_hold": "every primary cleared its threshold and no guard fell",
    "primary_below": "a primary measure is shown to lie below its rollback line",
    "guard_below": "a guarded measure is shown to have dropped by more than was tolerated",
    "not_testable": "too few effective clusters for any bound to be trusted",
    "guard_unresolved": "the primaries hold, but a guard could not be shown to be safe",
    "no_worthwhile_change": "whatever change there is, it is shown to be too small to matter",
    "underpowered": "the interval is too wide: it holds both a gain worth having and a loss",
    "straddles": "the interval holds a threshold, so the data do not decide",
    "between_thresholds": "the estimate lies between the two thresholds",
    "instrument_did_not_move": "both systems gave identical rankings although their configurations differ",
    "baseline_not_repeatable": "the baseline, declared deterministic, did not repeat itself",
    "question_sets_differ": "the two systems were not asked the same questions",
    "score_invalid": "a score is not a number between 0 and 1",
    "guard_without_value": "a promised measure has no value on any held-out question",
}

_CONSEQUENCES = {
    "PASS": "The candidate becomes the version in force.",
    "ROLLBACK": "The version in force stays, and the idea is closed.",
    "INCONCLUSIVE": "The version in force stays.",
    "INADMISSIBLE": "Nothing valid was measured, so no estimate is shown. The look is spent.",
}


def reason_words(reason: str) -> str:
    """A verdict's reason in one plain clause."""
    return _REASONS.get(reason, reason)


def consequence(state: str) -> str:
    """What a verdict's state means for the version in force."""
    return _CONSEQUENCES[state]


def points(value: float | None, digits: int = 1) -> str:
    """A difference in points of the measure, signed; a dash where there is none."""
    if value is None:
        return "–"
    rounded = round(100 * value, digits)
    return f"{rounded + 0.0:+.{digits}f}"


def exact_points(value: float) -> str:
    """A promised threshold in points, without sign and never rounded: what was promised is what stands there."""
    text = format((100 * Decimal(str(abs(value)))).normalize(), "f")
    return text if "." in text else f"{text}.0"


def percent(value: float | None) -> str:
    """A mean in per cent; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.1f}"


def p_value(value: float | None) -> str:
    """A p-value; never 0."""
    if value is None:
        return "–"
    return "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def shows(lower: float | None, upper: float | None) -> str:
    """What two one-sided bounds show of a difference, and no more."""
    if lower is None or upper is None:
        return "not testable"
    if lower > 0:
        return "a gain"
    return "a loss" if upper < 0 else "no difference"


def worth(estimate: float, n: int) -> str:
    """``, which is one question``: a change of so few questions is not left to be read as a percentage."""
    questions = abs(estimate) * n
    few = round(questions)
    if not 1 <= few <= 3 or abs(questions - few) > 1e-6:
        return ""
    return f", which is {('one question', 'two questions', 'three questions')[few - 1]}"


def slice_words(name: str) -> str:
    """A slice as it stands in a sentence."""
    return "all held-out questions" if name == "all" else f"the slice {name}"


def promise(clause: Mapping[str, Any]) -> str:
    """What a clause promised."""
    measure, where = clause["measure"], slice_words(clause["slice"])
    threshold = clause["pass_above"]
    if clause["kind"] == "guard":
        return f"{measure} on {where} may not drop by {exact_points(threshold)} points or more"
    if threshold < 0:
        return f"{measure} on {where} is not worse by {exact_points(threshold)} points or more"
    if threshold == 0:
        return f"{measure} on {where} gains"
    return f"{measure} on {where} gains more than {exact_points(threshold)} points"


def outcome(clause: Mapping[str, Any]) -> str:
    """What was measured for a clause, with everything that a delta must carry."""
    n, losses = clause["n"], clause["losses"]
    change = f"{points(clause['estimate'])} points ({percent(clause['baseline'])} to {percent(clause['candidate'])})"
    change += worth(clause["estimate"], n)
    counts = (
        f"{n} questions in {clause['clusters']} clusters, {clause['wins']} won, {losses} lost, {clause['ties']} tied"
    )
    if clause["lower"] is None:
        return f"{change}; not testable; {counts}"
    shown = ""
    if clause["lower"] <= 0 <= clause["upper"]:
        shown = "; no difference shown" if clause["kind"] == "primary" else ""
    return f"{change}, bounds {points(clause['lower'])} to {points(clause['upper'])}{shown}; {counts}"


def standing(clause: Mapping[str, Any], decide_on: str = "bounds") -> str:
    """``holds``, ``fell`` or ``open``, as the rule saw the clause."""
    tolerance = 1e-9
    low, high = clause["lower"], clause["upper_rollback"]
    if decide_on == "estimate":
        low = high = clause["estimate"]
    if low is not None and low > clause["pass_above"] + tolerance:
        return "holds"
    if high is not None and high < clause["rollback_below"] - tolerance:
        return "fell"
    return "open"


def flip_words(clause: Mapping[str, Any]) -> str:
    """What one question is worth, and what could have been seen."""
    one = 100 / clause["n"]
    mde = clause["mde"]
    seen = (
        f"; with 80 % power {points(mde).lstrip('+')} points beyond the threshold can be seen"
        if mde  # with no difference at all there is no spread to tell a power from
        else ""
    )
    return f"one question is {one:.2f} points{seen}"
