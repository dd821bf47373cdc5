"""Before the lock: can this experiment decide anything, and was everything rehearsed on dev?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.preregistration.clause_check import check_clauses, points
from harness.preregistration.document import Preregistration
from harness.preregistration.draft import DROP, TODO
from harness.preregistration.evidence import FINE, NOTED, REFUSED, Evidence, Finding
from harness.preregistration.forecast import Forecast, Scenario, forecast

LEAST_POWER, GOOD_POWER = 0.5, 0.8
"""Chance of PASS: refused where it is below the first at the most that can be hoped for, unless a ROLLBACK is as
likely; noted where it is below the second at what is hoped for."""

UNEQUAL = 0.1
"""Share by which the text that two systems give to a reader may differ without a word."""


def check(document: Preregistration, evidence: Evidence, planned: Forecast | None = None) -> list[Finding]:
    """Everything that speaks for or against locking the document as it is.

    Args:
        document: what is promised.
        evidence: what is known.
        planned: the forecast, where it was made already.
    """
    planned = planned or forecast(document, evidence)
    findings = [
        *_check_words(document),
        *_check_benchmark(document, evidence),
        *_check_systems(document, evidence),
        *_check_guards(document, evidence),
        *_check_budget(document, evidence),
        *_check_rehearsal(document, evidence),
    ]
    findings += check_clauses(document, evidence, planned)
    undecidable = any(item.kind == REFUSED and item.may_acknowledge for item in findings)
    if planned is not None and document.model.decide_on == "bounds" and not undecidable:
        findings += _check_power(document, evidence, planned)
    if evidence.look > 1:
        says = (
            f"this is look {evidence.look} at these held-out questions, so each bound is taken at "
            f"{evidence.alpha_k:.4f} instead of {float(document.model.alpha):g}"
        )
        findings.append(Finding(NOTED, "looks", says))
    return findings


def refusals(findings: list[Finding], acknowledged: str | None) -> list[Finding]:
    """The findings that stand in the way of a lock, given a reason on record or none."""
    return [item for item in findings if item.kind == REFUSED and not (acknowledged and item.may_acknowledge)]


def _check_power(document: Preregistration, evidence: Evidence, planned: Forecast) -> list[Finding]:
    """Whether PASS is likely at the gain that is hoped for, and possible at the most that can be hoped for."""
    hoped, hopeful, expected = planned.hoped, planned.hopeful, document.model.expect is not None
    source = "the middle of what you expect" if expected else "what dev showed, shrunk for its trials"
    says = _power_words(hoped, source)
    if evidence.rehearsal is not None and not evidence.rehearsal.seen(0).any():
        still = f"not one of {len(evidence.rehearsal.seen(0))} dev questions differs, so how many will is hardly known"
        return [Finding(NOTED, "power", f"{still}; {says}")]
    if planned.likely.rollbacks >= LEAST_POWER:
        says = f"dev points to ROLLBACK, which is forecast in {100 * planned.likely.rollbacks:.0f} % of cases"
        return [Finding(NOTED, "power", f"{says}; {_power_words(hoped, source)}")]
    if hopeful.passes < LEAST_POWER:
        most = "the most that you expect" if expected else "as much as dev leaves plausible"
        fix = "claim less, drop a guard, or find more questions: harness prereg plan"
        says = f"even {_power_words(hopeful, most)}: most likely it decides nothing"
        return [Finding(REFUSED, "power", says, fix, may_acknowledge=True)]
    if hoped.passes < GOOD_POWER:
        return [Finding(NOTED, "power", f"{says}; {100 * GOOD_POWER:.0f} % is usual")]
    return [Finding(FINE, "power", says)]


def _power_words(truth: Scenario, source: str) -> str:
    gain = points(truth.difference)
    return f"if the true gain is {gain} points, {source}, the run says PASS in {100 * truth.passes:.0f} % of cases"


def _check_words(document: Preregistration) -> list[Finding]:
    written = document.model
    fields = {"title": written.title, "hypothesis": written.hypothesis, "rationale": written.rationale}
    blank = [name for name, text in fields.items() if text.strip() == TODO]
    blank += ["authors"] if TODO in written.authors else []
    if blank:
        says = f"still to be written: {', '.join(blank)}"
        return [Finding(REFUSED, "words", says, f"replace {TODO} in the document")]
    return []


def _check_benchmark(document: Preregistration, evidence: Evidence) -> list[Finding]:
    named, present = document.model.benchmark.digest, evidence.manifest["digests"]["digest"]
    if named and named != present:
        says = f"the document names {named[:19]}… and the imported benchmark is {present[:19]}…"
        return [Finding(REFUSED, "benchmark", says, "import the file that the document means, or correct the digest")]
    return [Finding(FINE, "benchmark", f"{document.model.benchmark.name}, {present[:19]}…")]


def _check_systems(document: Preregistration, evidence: Evidence) -> list[Finding]:
    findings = []
    for role, system, written in (
        ("baseline", document.baseline, document.model.baseline),
        ("candidate", document.candidate, document.model.candidate),
    ):
        now = evidence.fingerprints[role]
        if written.fingerprint and written.fingerprint != now:
            says = f"{role} {system.name} does not behave as the document says: fingerprint {now[:19]}… now"
            findings.append(Finding(REFUSED, role, says, "use the code that the document was written for"))
    if document.baseline.identity() == document.candidate.identity():
        says = "baseline and candidate are the same version with the same parameters"
        findings.append(Finding(REFUSED, "systems", says, "change a parameter of the candidate"))
    elif document.baseline.scoring() == document.candidate.scoring():
        findings.append(_ties_only(document, evidence))
    if document.baseline.identity() != evidence.in_force:
        force = evidence.in_force
        settings = ", ".join(f"{key}={value}" for key, value in force["parameters"].items())
        says = f"the baseline is not the version in force, {force['version']} ({settings})"
        if document.model.straw:
            findings.append(Finding(NOTED, "baseline", f"a straw comparison, declared: {document.model.straw}"))
        else:
            fix = "compare with the version in force, or declare why not with straw: <reason>"
            findings.append(Finding(REFUSED, "baseline", says, fix))
    findings += [_asks_for(name, document.candidate.name) for name in document.candidate.requires]
    return findings or [Finding(FINE, "systems", "the baseline is the version in force; both behave as registered")]


def _asks_for(probe: str, version: str) -> Finding:
    says = (
        f"{version} asks for the record of a {probe} probe: whether there is anything for it to do, before it is tried"
    )
    fix = f"run the {probe} probe first, or say with --acknowledge why not"
    return Finding(REFUSED, probe, says, fix, may_acknowledge=True)


def _check_guards(document: Preregistration, evidence: Evidence) -> list[Finding]:
    """Whether the slices that a change of this kind is known to hurt are guarded."""
    present = evidence.manifest["slices"].get("heldout", {})
    guarded = {clause.slice for clause in document.guards}
    missing = [name for name in document.candidate.guarded if name in present and name not in guarded]
    if not missing:
        return []
    says = f"{document.candidate.name} is known to lose in the slice {' and '.join(missing)}, which no guard names"
    measure = document.primaries[0].measure
    fix = "; ".join(f"guards: {{measure: {measure}, slice: {name}, drop: {DROP}}}" for name in missing)
    return [Finding(REFUSED, "guards", says, f"{fix}; or say with --acknowledge why not", may_acknowledge=True)]


def _check_budget(document: Preregistration, evidence: Evidence) -> list[Finding]:
    """Whether equal k is equal reading: what a longer context finds is no better retrieval."""
    written = document.model.budget
    if written and written.unequal:
        return [Finding(NOTED, "budget", f"the read budgets are unequal, declared: {written.unequal}")]
    if evidence.frozen is not None and evidence.frozen.get("tokens") != document.tokens:
        on_dev = evidence.frozen.get("tokens") or "no budget of tokens"
        says = f"the dev run read {on_dev} and the document says {document.tokens or 'none'}"
        return [Finding(REFUSED, "budget", says, "make the dev run with the budget of the document: budget=tokens:N")]
    before, after = (evidence.rehearsal and evidence.rehearsal.tokens) or (0.0, 0.0)
    if document.tokens or not before or abs(after / before - 1) < UNEQUAL:
        return []
    change = after / before - 1
    says = (
        f"at equal k the candidate gives the reader {100 * abs(change):.0f} % {'more' if change > 0 else 'less'} text "
        f"({after:.0f} tokens a question against {before:.0f}): part of a difference may be no more than that"
    )
    return [Finding(NOTED, "budget", says, f"budget: tokens:{before:.0f} holds it equal")]


def _ties_only(document: Preregistration, evidence: Evidence) -> Finding:
    says = (
        "both systems give every document the same score and differ in the order of exact ties only, so that hardly "
        "any ranking can change"
    )
    if document.model.claim.superior is None:
        return Finding(NOTED, "ties", f"{says}; that nothing is lost is the one claim that can be decided")
    if evidence.rehearsal is not None and evidence.rehearsal.reach[0] is not None:
        return Finding(NOTED, "ties", says)  # the reach says it in figures, and refuses
    fix = "claim non_inferior: the largest loss that you would tolerate"
    return Finding(REFUSED, "ties", f"{says}: a claim of superiority cannot pass", fix, may_acknowledge=True)


def _check_rehearsal(document: Preregistration, evidence: Evidence) -> list[Finding]:
    fix = "run harness dev with the candidate's parameters, then harness freeze, and name the file as frozen:"
    if evidence.frozen is None:
        says = "no dress rehearsal: the candidate names no frozen dev result"
        return [Finding(REFUSED, "rehearsal", says, fix, may_acknowledge=True)]
    same = {key: evidence.frozen.get(key) for key in ("version", "parameters")}
    if same != document.candidate.identity():
        says = "the frozen dev result is of another version or of other parameters than the candidate"
        says += _differing(same, document.candidate.identity())
        return [Finding(REFUSED, "rehearsal", says, f"copy what is frozen into the document, or {fix}")]
    if evidence.frozen.get("benchmark", {}).get("digest") != evidence.manifest["digests"]["digest"]:
        return [Finding(REFUSED, "rehearsal", "the frozen dev result comes from another benchmark", fix)]
    if evidence.frozen.get("fingerprint") != evidence.fingerprints["candidate"]:
        says = "the candidate no longer behaves as it did in its dev run"
        return [Finding(REFUSED, "rehearsal", says, fix)]
    missing = [str(m) for m in document.measures() if str(m) not in evidence.frozen.get("measures", {})]
    if missing:
        says = f"never produced on dev: {', '.join(missing)}"
        more = f"{fix} (add 'measures=[{','.join(missing)}]' to harness dev)"
        return [Finding(REFUSED, "rehearsal", says, more, may_acknowledge=True)]
    rehearsed = Finding(FINE, "rehearsal", "every measure that the rule reads was produced once on dev")
    return [
        *_check_trials(document, evidence.frozen), *_check_movement(evidence), rehearsed,
        *_check_near_duplicates(evidence.frozen),
    ]  # fmt: skip


def _check_trials(document: Preregistration, frozen: Mapping[str, Any]) -> list[Finding]:
    """Whether the document admits from how many dev trials the candidate was picked."""
    made = int(frozen.get("trials", 1))
    if (document.model.candidate.trials or 1) >= made:
        return []
    says = f"it was picked from {made} dev trials, and the document admits fewer"
    return [Finding(REFUSED, "trials", says, f"write trials: {made}")]


def _differing(frozen: Mapping[str, Any], written: Mapping[str, Any]) -> str:
    """Which parameters differ, and how, where the version is the same."""
    theirs, ours = frozen["parameters"] or {}, written["parameters"]
    if frozen["version"] != written["version"] or theirs.keys() != ours.keys():
        return ""
    pairs = [f"{key} {theirs[key]} frozen, {ours[key]} written" for key in ours if theirs[key] != ours[key]]
    return f": {', '.join(pairs)}"


def _check_movement(evidence: Evidence) -> list[Finding]:
    """Whether the candidate does anything: a full run in which no ranking moves measures nothing, and costs a look."""
    rehearsal = evidence.rehearsal
    if rehearsal is None or rehearsal.moved:
        return []
    says = (
        f"not one of {len(rehearsal.categories)} dev questions is ranked differently; a full run in which nothing "
        "moves is INADMISSIBLE, and spends the look"
    )
    return [Finding(REFUSED, "movement", says, "look for a version that changes rankings on dev", may_acknowledge=True)]


def _check_near_duplicates(frozen: Mapping[str, Any]) -> list[Finding]:
    found = {kind: count for kind, count in frozen.get("near_duplicates", {}).items() if count}
    if not found:
        return []
    pairs = " and ".join(f"{count} pairs of {kind}" for kind, count in found.items())
    says = f"{pairs} are nearly the same in dev and held-out: what was tuned on one is known of the other"
    return [Finding(NOTED, "near duplicates", says)]
