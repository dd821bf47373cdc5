"""The verdict rule: promised clauses and measured comparisons in, PASS, ROLLBACK or INCONCLUSIVE out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from scipy.special import ndtr

from harness.evaluation.compare import Comparison
from harness.evaluation.statistics.bounds import cluster_error, p_above, p_below, upper_bound
from harness.preregistration.document import Clause, Preregistration

PASS, ROLLBACK, INCONCLUSIVE, INADMISSIBLE = "PASS", "ROLLBACK", "INCONCLUSIVE", "INADMISSIBLE"
EXIT_OF_STATE = {PASS: 0, ROLLBACK: 10, INADMISSIBLE: 11, INCONCLUSIVE: 20}

TOLERANCE = 1e-9
"""A bound this near to its threshold decides nothing: the last bits of arithmetic may not."""


@dataclass(frozen=True)
class Judged:
    """A clause with what was measured. Bounds and p-values are None where nothing can be tested."""

    clause: Clause
    comparison: Comparison
    upper_rollback: float | None
    p_pass: float | None
    p_rollback: float | None

    @property
    def lower(self) -> float | None:
        """Lower bound at the look's error rate."""
        return self.comparison.interval.lower if self.comparison.interval else None

    @property
    def upper(self) -> float | None:
        """Upper bound at the look's error rate."""
        return self.comparison.interval.upper if self.comparison.interval else None

    def as_mapping(self) -> dict[str, Any]:
        """Everything that led to the verdict, as plain values."""
        compared = self.comparison
        paired = compared.paired
        return {
            "kind": self.clause.kind,
            "measure": str(self.clause.measure),
            "slice": self.clause.slice,
            "pass_above": float(self.clause.pass_above),
            "rollback_below": float(self.clause.rollback_below),
            "n": paired.n,
            "clusters": len(paired.sizes),
            "effective_clusters": paired.effective_clusters,
            "testable": paired.testable,
            "baseline": compared.baseline,
            "candidate": compared.candidate,
            "estimate": compared.estimate,
            "lower": self.lower,
            "upper": self.upper,
            "upper_rollback": self.upper_rollback,
            "p_pass": self.p_pass,
            "p_rollback": self.p_rollback,
            "wins": paired.wins,
            "losses": paired.defeats,
            "ties": paired.ties,
            "mde": compared.mde,
        }


@dataclass(frozen=True)
class Verdict:
    """The state, the reason for it, and every number that led there."""

    state: str
    reason: str
    look: int
    alpha_k: float
    clauses: tuple[Judged, ...]

    def as_mapping(self) -> dict[str, Any]:
        """The verdict as plain values, for the ledger and the mirror."""
        return {
            "state": self.state,
            "reason": self.reason,
            "look": self.look,
            "alpha_k": self.alpha_k,
            "clauses": [judged.as_mapping() for judged in self.clauses],
        }


def inadmissible(reason: str, look: int, alpha_k: float) -> Verdict:
    """The verdict that nothing valid was measured; no estimate goes with it."""
    return Verdict(INADMISSIBLE, reason, look, alpha_k, ())


def judge(document: Preregistration, comparisons: Sequence[Comparison], look: int, alpha_k: float) -> Verdict:
    """Apply the rule.

    PASS needs every clause at the look's full error rate: an intersection-union test, which needs no correction
    (Berger 1982). ROLLBACK needs any one clause, each at an equal share, because looking for one of m is.

    Args:
        document: what was promised.
        comparisons: one for each clause, in order, at ``alpha_k``.
        look: number of this look at the held-out set.
        alpha_k: error rate of this look.
    """
    judged = tuple(
        _judge_clause(clause, comparison, alpha_k / len(document.clauses))
        for clause, comparison in zip(document.clauses, comparisons, strict=True)
    )
    decide = _decide_on_estimates if document.model.decide_on == "estimate" else _decide_on_bounds
    state, reason = decide(judged)
    return Verdict(state, reason, look, alpha_k, judged)


def _judge_clause(clause: Clause, comparison: Comparison, alpha_rollback: float) -> Judged:
    paired, rho, procedure = comparison.paired, comparison.rho, comparison.procedure
    if comparison.interval is None:
        return Judged(clause, comparison, None, None, None)
    return Judged(
        clause,
        comparison,
        upper_rollback=upper_bound(paired, alpha_rollback, rho, procedure),
        p_pass=p_above(paired, float(clause.pass_above), rho, procedure),
        p_rollback=p_below(paired, float(clause.rollback_below), rho, procedure),
    )


def _above(value: float | None, threshold: Decimal) -> bool:
    return value is not None and value > float(threshold) + TOLERANCE


def _below(value: float | None, threshold: Decimal) -> bool:
    return value is not None and value < float(threshold) - TOLERANCE


def _decide_on_bounds(judged: Sequence[Judged]) -> tuple[str, str]:
    if not all(item.comparison.paired.testable for item in judged):
        return INCONCLUSIVE, "not_testable"
    if all(_above(item.lower, item.clause.pass_above) for item in judged):
        return PASS, "all_clauses_hold"
    for item in judged:
        if _below(item.upper_rollback, item.clause.rollback_below):
            return ROLLBACK, f"{item.clause.kind}_below"
    return INCONCLUSIVE, _why_inconclusive([item for item in judged if item.clause.kind == "primary"])


def _why_inconclusive(primaries: Sequence[Judged]) -> str:
    unresolved = [item for item in primaries if not _above(item.lower, item.clause.pass_above)]
    if not unresolved:
        return "guard_unresolved"
    for item in unresolved:
        within = not _below(item.lower, item.clause.rollback_below) and not _above(item.upper, item.clause.pass_above)
        if within:
            return "no_worthwhile_change"
    for item in unresolved:
        if _below(item.lower, item.clause.rollback_below) and _above(item.upper, item.clause.pass_above):
            return "underpowered"
    return "straddles"


def _decide_on_estimates(judged: Sequence[Judged]) -> tuple[str, str]:
    if all(_above(item.comparison.estimate, item.clause.pass_above) for item in judged):
        return PASS, "all_clauses_hold"
    for item in judged:
        if _below(item.comparison.estimate, item.clause.rollback_below):
            return ROLLBACK, f"{item.clause.kind}_below"
    return INCONCLUSIVE, "between_thresholds"


def estimate_rule_errors(judged: Judged, rho: float) -> dict[str, float]:
    """How often a bare point-estimate rule would be wrong here, in the normal approximation.

    Returns:
        ``pass_at_zero`` and ``rollback_at_zero``: how often it would say so if nothing had changed;
        ``pass_at_threshold``: how often it would pass a change exactly at the threshold.
    """
    paired = judged.comparison.paired
    sampling = paired.deviation * math.sqrt(paired.design_effect(rho) / paired.n)
    error = max(sampling, cluster_error(paired) if len(paired.sizes) > 1 else 0.0, 1e-12)
    return {
        "pass_at_zero": float(ndtr(-float(judged.clause.pass_above) / error)),
        "rollback_at_zero": float(ndtr(float(judged.clause.rollback_below) / error)),
        "pass_at_threshold": 0.5,
    }
