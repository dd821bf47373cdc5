"""The version in force, and the measures that every run reports besides the promised ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.evaluation.measure import NAMES, Measure
from harness.ledger.entries import Entry
from harness.ledger.state import lives
from harness.retrieval.registry import DEFAULT, select
from harness.retrieval.version import Configured


def in_force(entries: Iterable[Entry], benchmark_digest: str) -> tuple[Configured, str]:
    """The version in force on a benchmark, and why: the last PASS, else the shipped default.

    Raises:
        UsageProblem: a passed version does not exist in this installation.
    """
    passed = [
        life
        for life in lives(entries).values()
        if life.lock
        and life.verdict
        and life.verdict.payload["state"] == "PASS"
        and life.lock.payload["benchmark"]["digest"] == benchmark_digest
    ]
    if not passed:
        return select(DEFAULT), "the shipped default; nothing has passed on this benchmark yet"
    last = max(passed, key=lambda life: life.verdict.sequence if life.verdict else 0)
    document: dict[str, Any] = last.lock.payload["document"] if last.lock else {}
    candidate = document["candidate"]
    where = f"preregistration {last.identifier}"
    return select(candidate["version"], candidate["parameters"], where), f"{last.identifier} passed"


def standard_measures(k: int, registered: Sequence[Measure] = ()) -> list[Measure]:
    """The registered measures, then the usual five at cut-off ``k``, all under both credit rules."""
    usual = [Measure(name, k) for name in ("R", *(name for name in NAMES if name != "R"))]
    wanted = [*registered, *usual]
    both = [credit for measure in wanted for credit in (measure, measure.other_credit())]
    return list(dict.fromkeys([*registered, *both]))
