"""A document and its prospects in plain sentences, for whoever has to decide whether to lock it."""

from __future__ import annotations

from collections.abc import Iterator

from harness.evaluation.reach import POOL
from harness.preregistration.clause_check import counted, lever_words, moved_words, points
from harness.preregistration.document import Clause, Preregistration
from harness.preregistration.evidence import Evidence, Rehearsal, cluster_sizes
from harness.preregistration.forecast import LEVEL, Forecast


def plain_words(document: Preregistration, evidence: Evidence, planned: Forecast | None) -> list[str]:
    """What is promised, what dev showed, and what may come of the run; nothing in it refuses anything."""
    lines = [*_promises(document, evidence), _look(document, evidence)]
    if evidence.rehearsal is not None and len(evidence.rehearsal.seen(0)):
        lines += _dev(document, evidence.rehearsal, planned)
    if planned is not None:
        lines += _prospects(planned)
    return lines


def _look(document: Preregistration, evidence: Evidence) -> str:
    first = "the first look" if evidence.look == 1 else f"look {evidence.look}"
    if document.model.decide_on == "estimate":
        return f"This is {first} at these questions. Bare estimates decide: no error rate is promised."
    less = "" if evidence.look == 1 else f" instead of {float(document.model.alpha):g}"
    return f"This is {first} at these questions: each bound is taken at α = {evidence.alpha_k:.4f}{less}."


def _promises(document: Preregistration, evidence: Evidence) -> Iterator[str]:
    surely = "" if document.model.decide_on == "estimate" else "surely "
    for clause in document.clauses:
        sizes = cluster_sizes(evidence.manifest, clause.measure, clause.slice)
        if not len(sizes):
            continue
        where = f"{int(sizes.sum())} held-out questions in {counted(len(sizes), 'conversation')}"
        name = "all of them" if clause.slice == "all" else f"slice {clause.slice}"
        yield f"{_promise(clause, surely)}: {clause.measure}, {where} ({name})."


def _promise(clause: Clause, surely: str) -> str:
    if clause.kind == "guard":
        return f"PASS needs a drop that is {surely}smaller than {points(-float(clause.pass_above))[1:]} points"
    if clause.pass_above >= 0:
        return f"PASS needs a gain that is {surely}above {points(float(clause.pass_above))[1:]} points"
    return f"PASS needs a loss that is {surely}smaller than {points(-float(clause.pass_above))[1:]} points"


def _dev(document: Preregistration, rehearsal: Rehearsal, planned: Forecast | None) -> Iterator[str]:
    seen, clusters = rehearsal.seen(0), len(rehearsal.sizes(0))
    won, lost = int((seen > 1e-12).sum()), int((seen < -1e-12).sum())
    where = "one conversation" if clusters == 1 else f"{clusters} conversations"
    showed = (
        f"Dev showed {points(float(seen.mean()))} points of {document.clauses[0].measure} on {len(seen)} questions of "
        f"{where} ({won} won, {lost} lost, {len(seen) - won - lost} tied; one question is {100 / len(seen):.1f})"
    )
    trials = document.model.candidate.trials
    if planned is not None and trials and trials > 1:
        showed += f"; as the best of {trials} trials it counts as {points(planned.gain)}"
    yield f"{showed}."
    reach = rehearsal.reach[0]
    if reach is not None:
        gain = points(reach.gain, 2 if reach.gain < 0.01 else 1)
        best = f"{lever_words(reach)} would gain {gain} points on dev ({moved_words(reach)})"
        bound = "an oracle, not a forecast" if reach.lever == POOL else "no more is there"
        yield f"{best[0].upper()}{best[1:]}: {bound}."


def _prospects(planned: Forecast) -> Iterator[str]:
    yield (
        f"The held-out change should come out between {points(planned.low)} and {points(planned.high)} points "
        f"({100 * LEVEL:.0f} %)."
    )
    likely = planned.likely
    chances = ", ".join(
        f"{name} {100 * chance:.0f} %"
        for name, chance in (
            ("PASS", likely.passes), ("INCONCLUSIVE", likely.undecided), ("ROLLBACK", likely.rollbacks)
        )
    )  # fmt: skip
    yield f"Over all gains that dev leaves plausible, the forecast is {chances}."
