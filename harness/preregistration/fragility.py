"""How much a verdict hangs on: the least number of questions, and any single conversation, that would change it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.evaluation.compare import Comparison
from harness.evaluation.statistics.bounds import Paired, lower_bound, upper_bound
from harness.evaluation.statistics.flips import least_flips
from harness.preregistration.document import Clause, Preregistration
from harness.preregistration.rule import INCONCLUSIVE, PASS, ROLLBACK, TOLERANCE, Verdict, judge


@dataclass(frozen=True)
class Fragility:
    """What would change a verdict.

    Attributes:
        flips: the least number of flipped questions found that does; None if no number of them does.
        towards: the verdict that they lead to; empty if none.
        clause: the clause whose questions they are, in words; empty if none.
        without: conversation → the verdict without it, where it is another one; ``not_testable`` where too little
            would be left.
    """

    flips: int | None
    towards: str
    clause: str
    without: Mapping[str, str]

    def as_mapping(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "flips": self.flips, "towards": self.towards, "clause": self.clause, "without": dict(self.without)
        }  # fmt: skip


def fragility(document: Preregistration, comparisons: Sequence[Comparison], verdict: Verdict) -> Fragility:
    """What would change a verdict that was reached on these comparisons.

    Flips fall where they do most, and clauses are looked at one by one, so the number is one with which the verdict
    does change if they are the clauses' own questions; fewer may do where clauses share questions.
    """
    found = _flips(document, comparisons, verdict)
    flips, towards, clause = min(found, default=(None, "", ""))
    return Fragility(flips, towards, clause, _without(document, comparisons, verdict))


def _without(document: Preregistration, comparisons: Sequence[Comparison], verdict: Verdict) -> dict[str, str]:
    found: dict[str, str] = {}
    if all(comparison.paired.sizes.max() == 1 for comparison in comparisons):
        return found  # every question by itself: what one of them does, the flips say
    for cluster in dict.fromkeys(name for comparison in comparisons for name in comparison.clusters):
        rest = [comparison.without(cluster) for comparison in comparisons]
        left = [comparison for comparison in rest if comparison is not None]
        if len(left) < len(rest):
            found[cluster] = "not_testable"
            continue
        again = judge(document, left, verdict.look, verdict.alpha_k)
        if again.state != verdict.state:
            found[cluster] = again.reason if again.reason == "not_testable" else again.state
    return found


_Found = tuple[int, str, str]


def _flips(document: Preregistration, comparisons: Sequence[Comparison], verdict: Verdict) -> list[_Found]:
    """Numbers of flips that lead to another verdict, with that verdict and the clause."""
    if verdict.reason == "not_testable":
        return []
    sides = [_Side(document, clause, comparison, verdict.alpha_k)
             for clause, comparison in zip(document.clauses, comparisons, strict=True)]  # fmt: skip
    if verdict.state == PASS:
        # one clause that stops holding is enough
        return _any([(side, side.stops_holding()) for side in sides], INCONCLUSIVE)
    if verdict.state == ROLLBACK:
        return _all([(side, side.stops_falling()) for side in sides if side.falls(side.paired)], INCONCLUSIVE)
    gained = [(side, side.starts_holding()) for side in sides if not side.holds(side.paired)]
    return [*_all(gained, PASS), *_any([(side, side.starts_falling()) for side in sides], ROLLBACK)]


def _any(counted: Sequence[tuple[_Side, int | None]], towards: str) -> list[_Found]:
    known = [(count, towards, side.name) for side, count in counted if count is not None]
    return [min(known)] if known else []


def _all(counted: Sequence[tuple[_Side, int | None]], towards: str) -> list[_Found]:
    known = [(count, towards, side.name) for side, count in counted if count is not None]
    return [max(known)] if known and len(known) == len(counted) else []


@dataclass(frozen=True)
class _Side:
    """One clause, and how its flips move it."""

    document: Preregistration
    clause: Clause
    comparison: Comparison
    alpha_k: float

    @property
    def paired(self) -> Paired:
        return self.comparison.paired

    @property
    def name(self) -> str:
        return f"{self.clause.kind} {self.clause.measure} in {self.clause.slice}"

    def holds(self, paired: Paired) -> bool:
        return self._bound(lower_bound, paired, self.alpha_k) > float(self.clause.pass_above) + TOLERANCE

    def falls(self, paired: Paired) -> bool:
        share = self.alpha_k / len(self.document.clauses)
        return self._bound(upper_bound, paired, share) < float(self.clause.rollback_below) - TOLERANCE

    def _bound(self, bound: Callable[..., float], paired: Paired, alpha: float) -> float:
        if self.document.model.decide_on == "estimate":
            return paired.estimate
        return bound(paired, alpha, self.comparison.rho, self.comparison.procedure)

    def stops_holding(self) -> int | None:
        return least_flips(self.paired, -1, lambda paired: not self.holds(paired), apart=True)

    def stops_falling(self) -> int | None:
        return least_flips(self.paired, 1, lambda paired: not self.falls(paired), apart=True)

    def starts_holding(self) -> int | None:
        return least_flips(self.paired, 1, self.holds, apart=False)

    def starts_falling(self) -> int | None:
        return least_flips(self.paired, -1, self.falls, apart=False)
