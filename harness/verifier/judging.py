"""Recomputation of what a verdict says: every score, every clause, state and reason."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .bounds import CORRECTIONS
from .decision import TOLERANCE, Clause, clause_differences, clauses, decide, rules
from .lineage import Lineage, Stage
from .measures import Evidence, Measure, parse_measure, question_score
from .reading import DamageError, items, mapping, show
from .runfiles import JUDGED, ROLES, Run, Scores, parse_evidence, parse_scores, read_listed

STATES = ("PASS", "ROLLBACK", "INCONCLUSIVE", "INADMISSIBLE")
UNDERIVABLE = ("question_sets_differ", "digests_differ")
"""Reasons for INADMISSIBLE that rest on the benchmark itself, which a run folder does not hold."""


class Finding(NamedTuple):
    """Outcome of a recomputation.

    Attributes:
        problems: What does not hold.
        summary: What holds; where ``skipped``, why nothing was compared.
        skipped: Whether there was nothing that could be compared.
        evidence: The parsed evidence, if measures could be recomputed.
        scores: The recorded scores, likewise.
    """

    problems: list[str]
    summary: str = ""
    skipped: bool = False
    evidence: Sequence[Evidence] | None = None
    scores: Scores | None = None


def check_measures(folder: Path, lineage: Lineage, run: Run) -> Finding:
    """Recompute every recorded score from the sealed rankings and the opened evidence."""
    if lineage.verdict is None:
        return Finding([], "not judged yet", skipped=True)
    name, payload = lineage.verdict.entry.name, lineage.verdict.payload
    if payload.get("state") == "INADMISSIBLE" and payload.get("files") in ({}, None):
        return Finding([], "INADMISSIBLE before anything was scored", skipped=True)
    contents, problems = read_listed(folder, JUDGED, payload.get("files"), f"{name}: files")
    if len(contents) < len(JUDGED):
        return Finding(problems)
    try:
        evidence = parse_evidence(contents["evidence.jsonl"], "evidence.jsonl", run.questions)
        scores = parse_scores(contents["scores.json"], "scores.json", run.questions)
        wanted = {rule.measure for rule in rules(lineage.document)} if lineage.document is not None else set()
        missing = sorted(wanted - scores.keys())
        if missing:
            raise DamageError(f"scores.json: no measure {show(missing[0])}, which the document reads")
        for measure in scores:
            problems.extend(_score_problems(measure, parse_measure(measure), run, evidence, scores[measure]))
    except DamageError as error:
        return Finding([*problems, str(error)])
    values = 2 * len(scores) * len(run.questions)
    return Finding(problems, f"{values} values of {len(scores)} measure(s)", evidence=evidence, scores=scores)


def check_decision(lineage: Lineage, run: Run, measured: Finding) -> Finding:
    """Recompute clauses, state and reason, and compare them with the verdict's."""
    if lineage.verdict is None or lineage.seal is None or lineage.document is None or lineage.alpha is None:
        return Finding([], "not judged yet", skipped=True)
    document, verdict = lineage.document, lineage.verdict.payload
    for key, known in (("procedure", tuple(CORRECTIONS)), ("decide_on", ("bounds", "estimate"))):
        if document.get(key) not in known:
            what = f"{key} {show(document.get(key))} is unknown here, known: {', '.join(known)}"
            return Finding([], what, skipped=True)
    computed: list[Clause] = []
    try:
        void = _void_reasons(document, lineage.seal, run)
        if measured.evidence is not None and measured.scores is not None:
            computed = clauses(document, run.questions, measured.evidence, measured.scores, lineage.alpha)
        if verdict.get("state") not in STATES:
            raise DamageError(f"state {show(verdict.get('state'))} instead of {', '.join(STATES)}")
        recorded = items(verdict.get("clauses"), "clauses")
    except DamageError as error:
        return Finding([str(error)])
    if any(clause.n == 0 for clause in computed):
        void.append("guard_without_value")
    if void or verdict.get("state") == "INADMISSIBLE":
        return _compare_void(verdict, recorded, void, scored=bool(computed))
    return _compare(verdict, recorded, computed, str(document.get("decide_on")))


def _score_problems(
    name: str,
    measure: Measure,
    run: Run,
    evidence: Sequence[Evidence],
    columns: Mapping[str, Sequence[float | None]],
) -> list[str]:
    problems = []
    for role in ROLES:
        for question, ranking, facts, recorded in zip(
            run.questions, run.rankings[role], evidence, columns[role], strict=True
        ):
            if len(ranking) == run.depth < measure.k:
                problems.append(f"{name}: reads to rank {measure.k}, the sealed rankings end at {run.depth}")
                return problems
            value = question_score(measure, ranking, run.documents[role], facts)
            same = value is None if recorded is None else value is not None and abs(value - recorded) <= TOLERANCE
            if not same:
                where = f"{name}, {role}, {show(question.name)}"
                problems.append(f"{where}: recorded {show(recorded)}, recomputed {show(value)}")
    return problems


def _void_reasons(document: Mapping[str, object], seal: Stage, run: Run) -> list[str]:
    """Reasons for INADMISSIBLE that the sealed files alone show."""
    reasons = []
    settings = []
    for role in ROLES:
        side = mapping(document.get(role), f"document: {role}")
        settings.append((side.get("version"), side.get("parameters")))
    if settings[0] != settings[1] and list(run.rankings["baseline"]) == list(run.rankings["candidate"]):
        reasons.append("instrument_did_not_move")
    if mapping(seal.payload.get("repeat"), f"{seal.entry.name}: repeat").get("baseline") is not True:
        reasons.append("baseline_not_repeatable")
    return reasons


def _compare_void(
    verdict: Mapping[str, object], recorded: Sequence[object], void: Sequence[str], *, scored: bool
) -> Finding:
    """Compare an INADMISSIBLE verdict, or one that should have been, with the reasons that can be derived."""
    state, reason = verdict.get("state"), verdict.get("reason")
    if state != "INADMISSIBLE":
        return Finding([f"state is {show(state)} in the verdict, INADMISSIBLE recomputed ({void[0]})"])
    if recorded:
        return Finding([f"clauses: {len(recorded)} in an INADMISSIBLE verdict, which has none"])
    if reason in void:
        return Finding([], f"INADMISSIBLE ({reason}) recomputed")
    if void:
        return Finding([f"reason is {show(reason)} in the verdict, {void[0]} recomputed"])
    if reason in UNDERIVABLE or (not scored and reason in ("score_invalid", "guard_without_value")):
        return Finding(
            [], f"INADMISSIBLE without clauses; the reason {reason} cannot be recomputed from the run folder"
        )
    return Finding([f"reason is {show(reason)} in the verdict, nothing in the run shows it"])


def _compare(
    verdict: Mapping[str, object], recorded: Sequence[object], computed: Sequence[Clause], decide_on: str
) -> Finding:
    problems = []
    if len(recorded) != len(computed):
        problems.append(f"clauses: {len(recorded)} in the verdict, {len(computed)} recomputed")
    for index, (given, clause) in enumerate(zip(recorded, computed, strict=False), start=1):
        where = f"clause {index} ({clause.kind} {clause.measure} on {clause.slice})"
        problems.extend(clause_differences(given, clause, where))
    if not computed:
        return Finding([*problems, "no clause could be recomputed"])
    for field, value in zip(("state", "reason"), decide(computed, decide_on), strict=True):
        if verdict.get(field) != value:
            problems.append(f"{field} is {show(verdict.get(field))} in the verdict, {value} recomputed")
    return Finding(problems, f"{verdict.get('state')} ({verdict.get('reason')}), {len(computed)} clause(s) recomputed")
