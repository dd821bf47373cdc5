"""Clauses and verdict, from scores, the locked document and the error rate of the look.

The rule is an intersection-union test for PASS, where no correction is needed (Berger 1982), and a union over
clauses for ROLLBACK, where each clause gets an equal share of the error rate (Bonferroni).
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .bounds import CORRECTIONS, detectable_effect, lower_bound, p_not_above, p_not_below, summarise, upper_bound
from .measures import Evidence
from .reading import DamageError, items, mapping, number, show, text
from .runfiles import Question, Scores

TOLERANCE = 1e-9
"""Careful computations of one number agree within this; a bound this close to a threshold decides nothing."""

_NOISE = 1e-12
"""A difference up to this is a tie: two orders of adding the same terms can differ by as much."""


class Rule(NamedTuple):
    """One promise of the document."""

    kind: str
    measure: str
    slice: str
    pass_above: float
    rollback_below: float


class Clause(NamedTuple):
    """One promise with what was observed; the fields of a verdict's clause, in its order."""

    kind: str
    measure: str
    slice: str
    pass_above: float
    rollback_below: float
    n: int
    clusters: int
    effective_clusters: float
    testable: bool
    baseline: float | None
    candidate: float | None
    estimate: float | None
    lower: float | None
    upper: float | None
    upper_rollback: float | None
    p_pass: float | None
    p_rollback: float | None
    wins: int
    losses: int
    ties: int
    mde: float | None


class _Pair(NamedTuple):
    """Both scores of one held-out question, and its cluster."""

    before: float
    after: float
    cluster: str


def rules(document: Mapping[str, object]) -> list[Rule]:
    """Read the promises of a document: primaries first, then guards, in its order.

    Raises:
        DamageError: If the document does not have the form of a locked one.
    """
    where = "document"
    claim = mapping(document.get("claim"), f"{where}: claim")
    pass_above = number(claim.get("pass_above"), f"{where}: claim: pass_above")
    rollback_below = number(claim.get("rollback_below"), f"{where}: claim: rollback_below")
    found = []
    for kind in ("primary", "guard"):
        key = "primary" if kind == "primary" else "guards"
        for index, value in enumerate(items(document.get(key), f"{where}: {key}"), start=1):
            place = f"{where}: {key} {index}"
            promise = mapping(value, place)
            measure, part = text(promise.get("measure"), place), text(promise.get("slice"), place)
            if kind == "primary":
                found.append(Rule(kind, measure, part, pass_above, rollback_below))
            else:
                floor = -number(promise.get("drop"), f"{place}: drop", 0.0, 1.0)
                found.append(Rule(kind, measure, part, floor, floor))
    if not found or found[0].kind != "primary":
        raise DamageError(f"{where}: no primary measure")
    return found


def clauses(
    document: Mapping[str, object],
    questions: Sequence[Question],
    evidence: Sequence[Evidence],
    scores: Scores,
    alpha: float,
) -> list[Clause]:
    """Compute every clause of a document on the held-out questions.

    Args:
        document: The locked document.
        questions: All questions of the run.
        evidence: Aligned with the questions.
        scores: Per measure and role, aligned with the questions.
        alpha: The error rate of this look.

    Raises:
        DamageError: If the document is malformed or a measure that it reads was not scored.
    """
    promised = rules(document)
    rho = number(document.get("rho_plan"), "document: rho_plan", 0.0, 1.0)
    correction = CORRECTIONS[text(document.get("procedure"), "document: procedure")]
    computed = []
    for rule in promised:
        if rule.measure not in scores:
            raise DamageError(f"scores.json: no measure {show(rule.measure)}, which the document reads")
        columns = scores[rule.measure]
        pairs = [
            _Pair(before, after, question.cluster)
            for question, facts, before, after in zip(
                questions, evidence, columns["baseline"], columns["candidate"], strict=True
            )
            if question.heldout and before is not None and after is not None
            if in_slice(rule.slice, question, facts)
        ]
        computed.append(_clause(rule, pairs, alpha, alpha / len(promised), rho, correction))
    return computed


def in_slice(name: str, question: Question, evidence: Evidence) -> bool:
    """Whether a question belongs to a slice: all, its category, one of its flags, or its conversation."""
    return name in ("all", evidence.category, f"conversation:{question.partition}") or name in evidence.flags


def decide(found: Sequence[Clause], decide_on: str = "bounds") -> tuple[str, str]:
    """Reach state and reason from clauses, on their bounds or on bare estimates, as the document says."""
    if any(clause.n == 0 for clause in found):
        return "INADMISSIBLE", "guard_without_value"
    if decide_on == "estimate":
        return _decide_on_estimates(found)
    if not all(clause.testable for clause in found):
        return "INCONCLUSIVE", "not_testable"
    if all(_passes(clause) for clause in found):
        return "PASS", "all_clauses_hold"
    for clause in found:
        if _known(clause.upper_rollback) < clause.rollback_below - TOLERANCE:
            return "ROLLBACK", f"{clause.kind}_below"
    primaries = [clause for clause in found if clause.kind == "primary"]
    if all(_passes(clause) for clause in primaries):
        return "INCONCLUSIVE", "guard_unresolved"
    if any(
        clause.rollback_below - TOLERANCE <= _known(clause.lower)
        and _known(clause.upper) <= clause.pass_above + TOLERANCE
        for clause in primaries
    ):
        return "INCONCLUSIVE", "no_worthwhile_change"
    if any(
        _known(clause.lower) < clause.rollback_below - TOLERANCE
        and _known(clause.upper) > clause.pass_above + TOLERANCE
        for clause in primaries
        if not _passes(clause)
    ):
        return "INCONCLUSIVE", "underpowered"
    return "INCONCLUSIVE", "straddles"


def _decide_on_estimates(found: Sequence[Clause]) -> tuple[str, str]:
    if all(_known(clause.estimate) > clause.pass_above + TOLERANCE for clause in found):
        return "PASS", "all_clauses_hold"
    for clause in found:
        if _known(clause.estimate) < clause.rollback_below - TOLERANCE:
            return "ROLLBACK", f"{clause.kind}_below"
    return "INCONCLUSIVE", "between_thresholds"


def clause_differences(recorded: object, computed: Clause, where: str) -> list[str]:
    """Compare a recorded clause with the recomputed one, field by field, and name each field that differs."""
    try:
        fields = mapping(recorded, where)
    except DamageError as error:
        return [str(error)]
    odd = sorted(fields.keys() ^ set(Clause._fields))
    if odd:
        return [f"{where}: {show(odd[0])} is missing or no field of a clause"]
    return [
        f"{where}: {name} is {show(fields[name])} in the verdict, {show(value)} recomputed"
        for name, value in computed._asdict().items()
        if not _agree(fields[name], value)
    ]


def _clause(rule: Rule, pairs: Sequence[_Pair], alpha: float, share: float, rho: float, correction: float) -> Clause:
    if not pairs:
        return Clause(*rule, 0, 0, 0.0, False, None, None, None, None, None, None, None, None, 0, 0, 0, None)
    differences = [pair.after - pair.before for pair in pairs]
    sample = summarise(differences, [pair.cluster for pair in pairs], rho, correction)
    wins = sum(difference > _NOISE for difference in differences)
    losses = sum(difference < -_NOISE for difference in differences)
    bare = Clause(
        *rule,
        n=sample.n,
        clusters=sample.clusters,
        effective_clusters=sample.effective_clusters,
        testable=sample.testable,
        baseline=math.fsum(pair.before for pair in pairs) / sample.n,
        candidate=math.fsum(pair.after for pair in pairs) / sample.n,
        estimate=sample.mean,
        lower=None,
        upper=None,
        upper_rollback=None,
        p_pass=None,
        p_rollback=None,
        wins=wins,
        losses=losses,
        ties=sample.n - wins - losses,
        mde=None,
    )
    if not sample.testable:
        return bare
    return bare._replace(
        lower=lower_bound(sample, alpha),
        upper=upper_bound(sample, alpha),
        upper_rollback=upper_bound(sample, share),
        p_pass=p_not_above(sample, rule.pass_above),
        p_rollback=p_not_below(sample, rule.rollback_below),
        mde=detectable_effect(sample, alpha),
    )


def _passes(clause: Clause) -> bool:
    return _known(clause.lower) > clause.pass_above + TOLERANCE


def _known(bound: float | None) -> float:
    """A bound of a testable clause; bounds are missing only where a clause is not testable."""
    if bound is None:
        raise ValueError("a clause that is not testable has no bounds")
    return bound


def _agree(recorded: object, value: object) -> bool:
    if isinstance(value, float) and isinstance(recorded, int | float) and not isinstance(recorded, bool):
        return abs(recorded - value) <= TOLERANCE
    return type(recorded) is type(value) and recorded == value
