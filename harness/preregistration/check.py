"""Before the lock: can this experiment decide anything, and was everything rehearsed on dev?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import did_you_mean
from harness.evaluation.measure import Measure
from harness.evaluation.slices import CONVERSATION
from harness.evaluation.statistics.bounds import MIN_EFFECTIVE_CLUSTERS, Paired, best_lower_bound, lower_bound
from harness.preregistration.document import Clause, Preregistration
from harness.preregistration.draft import TODO
from harness.preregistration.rule import TOLERANCE

REFUSED, NOTED, FINE = "refused", "noted", "fine"


@dataclass(frozen=True)
class Finding:
    """One result of the check.

    Attributes:
        kind: ``refused`` (no lock), ``noted`` (worth knowing) or ``fine``.
        subject: what was looked at, in a few words.
        says: one plain sentence.
        fix: what to change, if anything.
        may_acknowledge: whether a reason on record lets the lock go ahead all the same.
    """

    kind: str
    subject: str
    says: str
    fix: str = ""
    may_acknowledge: bool = False


@dataclass(frozen=True)
class Evidence:
    """What a check looks at besides the document; nothing in it comes from a held-out label but counts.

    Attributes:
        manifest: the benchmark's manifest.
        look: number of the next look at this held-out set.
        alpha_k: error rate of that look.
        in_force: identity (version and parameters) of the version in force.
        fingerprints: what baseline and candidate do now.
        frozen: the frozen dev result that the candidate names, or None.
    """

    manifest: Mapping[str, Any]
    look: int
    alpha_k: float
    in_force: Mapping[str, Any]
    fingerprints: Mapping[str, str]
    frozen: Mapping[str, Any] | None


def check(document: Preregistration, evidence: Evidence) -> list[Finding]:
    """Everything that speaks for or against locking the document as it is."""
    findings = [
        *_check_words(document),
        *_check_benchmark(document, evidence),
        *_check_systems(document, evidence),
        *_check_rehearsal(document, evidence),
    ]
    for clause in document.clauses:
        findings += _check_clause(document, clause, evidence)
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


def slice_sizes(manifest: Mapping[str, Any], measure: Measure, name: str) -> dict[str, int] | None:
    """Held-out questions with a score, by cluster, or None if there is no such slice."""
    table = manifest["slices" if measure.adversarial == "in" else "slices_answerable"]
    slices = table.get("heldout", {})
    if name.startswith(CONVERSATION):
        wanted = name.removeprefix(CONVERSATION)
        cells = {c: cell for c, cell in slices.get("all", {}).items() if c == wanted} or None
    else:
        cells = slices.get(name)
    if cells is None:
        return None if name not in manifest["slices"].get("heldout", {}) else {}
    # columns of the manifest's counts: all, with repaired, with published, with overlaid evidence
    column = 0 if measure.empty != "skip" else 1 + ("repaired", "published", "overlay").index(measure.evidence)
    return {cluster: cell[column] for cluster, cell in cells.items() if cell[column] > 0}


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
        findings.append(_ties_only(document))
    if document.baseline.identity() != evidence.in_force:
        force = evidence.in_force
        settings = ", ".join(f"{key}={value}" for key, value in force["parameters"].items())
        says = f"the baseline is not the version in force, {force['version']} ({settings})"
        if document.model.straw:
            findings.append(Finding(NOTED, "baseline", f"a straw comparison, declared: {document.model.straw}"))
        else:
            fix = "compare with the version in force, or declare why not with straw: <reason>"
            findings.append(Finding(REFUSED, "baseline", says, fix))
    return findings or [Finding(FINE, "systems", "the baseline is the version in force; both behave as registered")]


def _ties_only(document: Preregistration) -> Finding:
    says = (
        "both systems give every document the same score and differ in the order of exact ties only, so that hardly "
        "any ranking can change"
    )
    if document.model.claim.superior is None:
        return Finding(NOTED, "ties", f"{says}; that nothing is lost is the one claim that can be decided")
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
        return [Finding(REFUSED, "rehearsal", says, fix)]
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
    return [rehearsed, *_check_near_duplicates(evidence.frozen)]


def _check_near_duplicates(frozen: Mapping[str, Any]) -> list[Finding]:
    found = {kind: count for kind, count in frozen.get("near_duplicates", {}).items() if count}
    if not found:
        return []
    pairs = " and ".join(f"{count} pairs of {kind}" for kind, count in found.items())
    says = f"{pairs} are nearly the same in dev and held-out: what was tuned on one is known of the other"
    return [Finding(NOTED, "near duplicates", says)]


def _check_clause(document: Preregistration, clause: Clause, evidence: Evidence) -> list[Finding]:
    subject = f"{clause.kind} {clause.measure} in {clause.slice}"
    sizes = slice_sizes(evidence.manifest, clause.measure, clause.slice)
    if not sizes:
        known = sorted(evidence.manifest["slices"].get("heldout", {}))
        says = f"no held-out question of a slice {clause.slice!r} has a score; slices: {', '.join(known)}"
        return [Finding(REFUSED, subject, says, did_you_mean(clause.slice, known))]
    counts = np.array(list(sizes.values()), dtype=np.int64)
    rho = float(document.model.rho_plan)
    effective = float(counts.sum() ** 2 / (counts**2).sum())
    if effective < MIN_EFFECTIVE_CLUSTERS and document.model.decide_on == "bounds":
        says = (
            f"{int(counts.sum())} questions in {len(counts)} clusters count as {effective:.1f} equal clusters; "
            f"below {MIN_EFFECTIVE_CLUSTERS:g} nothing can be tested"
        )
        return [Finding(REFUSED, subject, says, "choose a slice that more conversations have")]
    size = f"{int(counts.sum())} questions in {len(counts)} clusters"
    one = f"one question is {100 / counts.sum():.2f} points"
    if document.model.decide_on == "estimate":
        return [Finding(FINE, subject, f"{size}; decided on the estimate alone; {one}")]
    if clause.pass_above >= 0:
        best = _lower_bound_of_all_wins(counts, evidence.alpha_k, rho)
        story = "with every question won"
    else:
        best = best_lower_bound(counts, evidence.alpha_k, rho)
        story = "without a single loss"
    if best <= float(clause.pass_above) + TOLERANCE:
        says = (
            f"PASS is unreachable: {story} the lower bound on {int(counts.sum())} questions would be "
            f"{100 * best:+.1f} points, and {100 * float(clause.pass_above):+.1f} must be cleared"
        )
        return [Finding(REFUSED, subject, says, _attainable(clause, best), may_acknowledge=True)]
    against = f"{100 * best:+.1f} points against {100 * float(clause.pass_above):+.1f}"
    return [Finding(FINE, subject, f"{size}; {story} the lower bound would be {against}; {one}")]


def _attainable(clause: Clause, best: float) -> str:
    # rounded to the safe side, so that the figure given is one that is accepted
    gain, drop = math.floor(1000 * best - 1e-3) / 1000, math.ceil(1e-3 - 1000 * best) / 1000
    if clause.pass_above >= 0 and gain > 0:
        return f"claim a gain of {gain:.3f} or less, or choose a larger slice"
    if clause.pass_above < 0 and drop < 1:
        return f"tolerate {drop:.3f}, or choose a larger slice"
    return "choose a larger slice"


def _lower_bound_of_all_wins(counts: NDArray[np.int64], alpha: float, rho: float) -> float:
    n = int(counts.sum())
    won = Paired(n, counts, counts.astype(np.float64), float(n), 0.0, n, 0, 0, 0.0)
    return lower_bound(won, alpha, rho)
