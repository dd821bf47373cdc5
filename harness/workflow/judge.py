"""The judge: opens the held-out labels once, scores what was sealed, and applies the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from harness.benchmarks.columns import HELDOUT, Labels, Questions
from harness.benchmarks.library import Library
from harness.errors import HarnessError
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.scores import Credit, Scores, score
from harness.evaluation.slices import in_slice
from harness.ledger.entries import Entry
from harness.preregistration.document import Preregistration
from harness.preregistration.rule import Verdict, estimate_rule_errors, inadmissible, judge
from harness.workflow import runfiles
from harness.workflow.runfiles import Sealed
from harness.workflow.systems import standard_measures
from harness.workflow.workspace import Workspace


def judge_run(
    workspace: Workspace,
    document: Preregistration,
    lock: Entry,
    seal: Entry,
    claim: Entry,
    library: Library,
    folder: Path,
) -> Entry:
    """Judge a sealed run and record the verdict.

    Args:
        workspace: where the ledger is.
        document: the promise.
        lock: holds the look and its error rate.
        seal: holds the digests of the rankings.
        claim: the one claim on the held-out labels.
        library: the benchmark.
        folder: the run's files.

    Raises:
        IntegrityProblem: a sealed file or a label is not what was recorded.
    """
    runfiles.check_files(folder, seal.payload["files"])
    sealed = runfiles.read_sealed(folder, seal.payload["depth"])
    labels = library.dev[1].aligned(library.heldout_labels(claim.hash), sealed.questions.ids)
    runfiles.write_evidence(folder, labels)
    measures = standard_measures(document.k, document.measures())
    scores = {
        role: score(sealed.rankings[role], labels, Credit.of(sealed.documents[role]), measures)
        for role in runfiles.ROLES
    }
    runfiles.write_scores(folder, scores)
    verdict = decide(document, sealed, labels, scores, lock, seal)
    extra = {}
    if document.model.decide_on == "estimate" and verdict.clauses:
        extra["estimate_rule"] = estimate_rule_errors(verdict.clauses[0], float(document.model.rho_plan))
    payload = {
        "id": document.id,
        "lock": lock.hash,
        "seal": seal.hash,
        "claim": claim.hash,
        **verdict.as_mapping(),
        **extra,
        "files": {name: runfiles.sha256(folder / name) for name in runfiles.JUDGED},
    }
    return workspace.record("verdict", payload)


def decide(
    document: Preregistration,
    sealed: Sealed,
    labels: Labels,
    scores: Mapping[str, Scores],
    lock: Entry,
    seal: Entry,
) -> Verdict:
    """The verdict on scored rankings; takes nothing but document, comparison and lock."""
    look, alpha_k = lock.payload["look"], lock.payload["alpha_k"]
    reason = _why_inadmissible(document, sealed, scores, seal)
    if reason:
        return inadmissible(reason, look, alpha_k)
    try:
        comparisons = registered_comparisons(document, sealed.questions, labels, sealed.partitions, scores, alpha_k)
    except HarnessError:
        return inadmissible("guard_without_value", look, alpha_k)
    return judge(document, comparisons, look, alpha_k)


def _why_inadmissible(
    document: Preregistration, sealed: Sealed, scores: Mapping[str, Scores], seal: Entry
) -> str | None:
    baseline, candidate = (sealed.rankings[role] for role in runfiles.ROLES)
    if baseline.questions != candidate.questions or baseline.questions != sealed.questions.ids:
        return "question_sets_differ"
    if not seal.payload["repeat"]["baseline"] and document.baseline.deterministic:
        return "baseline_not_repeatable"
    if baseline.same_order(candidate):
        return "instrument_did_not_move"
    for role in runfiles.ROLES:
        for values in scores[role].values.values():
            known = values[~np.isnan(values)]
            if not np.isfinite(known).all() or (known < 0).any() or (known > 1).any():
                return "score_invalid"
    return None


def registered_comparisons(
    document: Preregistration,
    questions: Questions,
    labels: Labels,
    partitions: Sequence[str],
    scores: Mapping[str, Scores],
    alpha_k: float,
) -> list[Comparison]:
    """One comparison for each clause of the document, on held-out questions only."""
    heldout = np.array([part == HELDOUT for part in questions.part], dtype=bool)
    return [
        compare(
            scores["baseline"],
            scores["candidate"],
            clause.measure,
            clusters=questions.clusters,
            alpha=alpha_k,
            rho=float(document.model.rho_plan),
            procedure=document.model.procedure,
            members=heldout & in_slice(clause.slice, questions, labels, tuple(partitions)),
            slice_name=clause.slice,
        )
        for clause in document.clauses
    ]
