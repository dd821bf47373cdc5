"""The checks beside a verdict, and its predictions, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.reporting.words import p_value, points


def clause_lines(row: Mapping[str, Any]) -> list[str]:
    """The checks of one clause.

    Args:
        row: as `harness.workflow.beside.beside` makes it.
    """
    return [*_tests(row), *_alike(row), *_unseen(row)]


def _tests(row: Mapping[str, Any]) -> Iterator[str]:
    flip = row["sign_flip"]
    if flip is None:
        yield "other tests of no difference: not testable, since no cluster's sum differs from 0"
        return
    how = "exact" if flip["exact"] else "100,000 drawn"
    found = [
        f"sign-flip by cluster {_p(flip['p'])} ({how}; {flip['clusters']} clusters cannot give less than "
        f"{p_value(flip['least'])})",
        f"McNemar exact {_p(row['mcnemar_exact'])}, mid-p {_p(row['mcnemar_mid_p'])}",
        f"paired t {_p(row['paired_t'])}",
    ]
    yield (
        f"other tests of no difference, two-sided: {'; '.join(found)}. McNemar and t take all questions for independent"
    )


def _p(value: float | None) -> str:
    if value is None:
        return "not testable"
    return f"p {p_value(value)}" if value < 0.0001 else f"p = {p_value(value)}"


def _alike(row: Mapping[str, Any]) -> Iterator[str]:
    if row["correlation"] is not None:
        yield (
            f"correlation within clusters: {row['correlation']:.4f} measured, which would be a design effect of "
            f"{row['design_measured']:.2f}; {row['design_planned']:.2f} is planned with. So few clusters measure it "
            "poorly"
        )
    if row["without"]:
        least, greatest = row["without"]
        yield (
            f"without one conversation: from {points(least['estimate'])} points without {least['cluster']} to "
            f"{points(greatest['estimate'])} without {greatest['cluster']}"
        )


def _unseen(row: Mapping[str, Any]) -> Iterator[str]:
    if row["unseen_losses"] is not None:
        yield (
            f"no loss was seen; up to {100 * row['unseen_losses']:.1f} % of questions may lose all the same "
            "(95 %, rule of three on effective counts)"
        )


def fragility_lines(found: Mapping[str, Any] | None) -> list[str]:
    """What would change the verdict."""
    if found is None:
        return ["What would change the verdict: not computed, a version is not installed here."]
    lines = []
    if found["flips"] is not None:
        one = found["flips"] == 1
        many = "One flipped question" if one else f"{found['flips']} flipped questions"
        where = f"of the {found['clause']}, where {'it does' if one else 'they do'} most"
        lines.append(f"{many} {where}, would make it {found['towards']}.")
    changed = [
        f"without {name} nothing could be tested" if state == "not_testable" else f"without {name} it would be {state}"
        for name, state in found["without"].items()
    ]
    lines.append(f"Single conversations: {'; '.join(changed)}." if changed else "No single conversation changes it.")
    return lines


def prediction_lines(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """Predictions and how they came out."""
    lines = []
    for row in found:
        held = "inside" if row["inside"] else "outside"
        whose = "The authors expected" if row["by"] == "authors" else "Before the lock, dev gave reason to expect"
        level = f" ({100 * row['level']:.0f} %)" if row["level"] else ""
        said = (
            f"{whose} {points(row['low'])} to {points(row['high'])} points{level}; {points(row['came'])} came: {held}"
        )
        if "brier" in row:
            chances = ", ".join(f"{name} {100 * row[name.lower()]:.0f} %" for name in ("PASS", "ROLLBACK"))
            said += (
                f". The forecast was {chances} (Brier score {row['brier']:.2f}; 0 is perfect, 2 is certain and wrong)"
            )
        lines.append(f"{said}.")
    return lines
