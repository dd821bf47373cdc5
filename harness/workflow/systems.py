"""The version in force, and the measures that every run reports besides the promised ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from harness.evaluation.measure import Measure
from harness.ledger.entries import Entry
from harness.ledger.state import lives
from harness.retrieval.registry import DEFAULT, select
from harness.retrieval.version import Configured

USUAL = ("R", "Success", "AllSuccess", "RR", "nDCG")
"""What every run reports. Recorded runs hold exactly these; other measures are reported where they are asked for."""


def in_force(entries: Iterable[Entry], benchmark_digest: str) -> tuple[Configured, str]:
    """The version in force on a benchmark, and why: the last PASS, else the shipped default.

    Raises:
        UsageProblem: a passed version does not exist in this installation.
    """
    document = _last_passed(entries, benchmark_digest)
    if document is None:
        return select(DEFAULT), "the shipped default; nothing has passed on this benchmark yet"
    candidate = document["candidate"]
    measures = ", ".join(part["measure"] for part in document["primary"])
    system = select(candidate["version"], candidate["parameters"], f"preregistration {document['id']}")
    return system, f"{document['id']} passed on {measures}"


def deciding_measures(entries: Iterable[Entry], benchmark_digest: str) -> list[str]:
    """The primary measures by which the version in force passed; none for the shipped default."""
    document = _last_passed(entries, benchmark_digest)
    return [part["measure"] for part in document["primary"]] if document else []


def _last_passed(entries: Iterable[Entry], benchmark_digest: str) -> dict[str, Any] | None:
    """The locked document of the last PASS on a benchmark."""
    passed = [
        (life.verdict.sequence, life.lock.payload["document"])
        for life in lives(entries).values()
        if life.lock
        and life.verdict
        and life.verdict.payload["state"] == "PASS"
        and life.lock.payload["benchmark"]["digest"] == benchmark_digest
    ]
    return max(passed, key=lambda pair: pair[0])[1] if passed else None


def standard_measures(k: int, registered: Sequence[Measure] = ()) -> list[Measure]:
    """The registered measures, then the usual five at cut-off ``k``, all under both credit rules."""
    usual = [Measure(name, k) for name in USUAL]
    wanted = [*registered, *usual]
    both = [credit for measure in wanted for credit in (measure, measure.other_credit())]
    return list(dict.fromkeys([*registered, *both]))
