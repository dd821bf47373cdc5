"""After the ledger: the verdict page and the MLflow mirror, both made from what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness.benchmarks.columns import DEV, HELDOUT
from harness.digest import canonical_json
from harness.errors import UsageProblem
from harness.evaluation.measure import parse_measure
from harness.ledger import durable
from harness.ledger.entries import Entry
from harness.ledger.looks import read_question_set
from harness.ledger.state import Life, life
from harness.preregistration.rule import INADMISSIBLE
from harness.reporting.page import HTML, MARKDOWN, render
from harness.tracking.names import slice_metric
from harness.tracking.record import Record
from harness.workflow import runfiles
from harness.workflow.beside import checks_beside
from harness.workflow.judged_run import (
    JudgedRun,
    cost_words,
    credit_rows,
    exclusions,
    layer_words,
    measure_rows,
    slice_rows,
)
from harness.workflow.lock import reused
from harness.workflow.mirroring import send, write_receipt
from harness.workflow.outside import outside_looks
from harness.workflow.predictions import score_predictions
from harness.workflow.progress import SILENT, Progress
from harness.workflow.report import head_words, page_frame
from harness.workflow.workspace import Workspace

MIRRORED = "mirror.json"
EXPERIMENT = "full"
LOCK_TAG = "harness.lock"


def judged(workspace: Workspace, identifier: str) -> Life:
    """The life of a judged document.

    Raises:
        UsageProblem: there is no verdict yet.
    """
    present = life(workspace.entries(), identifier)
    if present.verdict is None:
        known = present.lock is not None or workspace.document(identifier).exists()
        stage = f"it is {present.stage.lower()}" if known else "there is no such document"
        what = f"{identifier} has no verdict: {stage}"
        raise UsageProblem(what, fix=f"harness full {identifier}" if present.lock else "harness prereg list")
    return present


def judged_documents(workspace: Workspace) -> list[str]:
    """Ids of the documents that have a verdict, in the order in which they were judged."""
    return [entry.payload["id"] for entry in workspace.entries() if entry.kind == "verdict"]


def is_published(workspace: Workspace, identifier: str) -> bool:
    """Whether the page of a verdict was written, and its mirror made or put off."""
    return (workspace.full_run(identifier) / MIRRORED).exists()


def publish(workspace: Workspace, identifier: str, progress: Progress = SILENT) -> None:
    """Write page and mirror of a verdict; the mirror may fail and then waits, the verdict is complete."""
    progress("writing the page")
    write_report(workspace, identifier)
    sent = send(workspace, [verdict_record(workspace, judged(workspace, identifier))], progress)
    if sent.note:
        progress(sent.note)
    if not is_published(workspace, identifier):
        # not even the outbox could be written: harness mirror makes the record again
        write_receipt(workspace.full_run(identifier) / MIRRORED, EXPERIMENT, None)


def write_report(workspace: Workspace, identifier: str) -> list[Path]:
    """Write the verdict page of a judged document and return the files."""
    report = assemble(workspace, judged(workspace, identifier))
    folder = workspace.full_run(identifier)
    for name, text in render(report).items():
        durable.replace(folder / name, text.encode())
    return [folder / name for name in render(report)]


def assemble(workspace: Workspace, present: Life) -> dict[str, Any]:
    """Everything that the page shows, from ledger and run files alone."""
    assert present.lock is not None
    assert present.verdict is not None
    folder = workspace.full_run(present.identifier)
    entries = workspace.entries()
    verdict = present.verdict.payload
    report = page_frame(present, head_words(entries, present.verdict), exposed=_exposed(workspace, entries, present))
    report["outside_looks"] = [*report["outside_looks"], *outside_looks(workspace.ledger.root, entries, present)]
    if verdict["state"] == INADMISSIBLE:
        return report
    document = present.lock.payload["document"]
    run = JudgedRun(folder, document, verdict["alpha_k"])
    first = parse_measure(document["primary"][0]["measure"])
    budgets = json.loads((folder / runfiles.BUDGET).read_text(encoding="utf-8"))
    return report | {
        "beside": checks_beside(present, run),
        "predicted": score_predictions(present),
        "credits": credit_rows(document, run),
        "slice_measure": str(first),
        "slices": slice_rows(document, run, first),
        "measures": measure_rows(run),
        "exclusions": exclusions(run),
        "cost": cost_words(budgets),
        "budgets": [
            {"role": role, **budgets[role], "layer_words": layer_words(budgets[role]["layers"])}
            for role in runfiles.ROLES
        ],
    }


def _exposed(workspace: Workspace, entries: tuple[Any, ...], present: Life) -> bool:
    """Whether an earlier lock on an overlapping held-out set was judged before this one was locked."""
    assert present.lock is not None
    before = [entry for entry in entries if entry.sequence < present.lock.sequence]
    return reused(workspace, before, read_question_set(workspace.ledger.root, present.lock.payload["heldout_set"]))


def verdict_record(workspace: Workspace, present: Life) -> Record:
    """What MLflow shows of a verdict, from ledger and run files alone."""
    assert present.lock is not None
    assert present.verdict is not None
    verdict, document = present.verdict.payload, present.lock.payload["document"]
    folder = workspace.full_run(present.identifier)
    metrics: dict[str, float] = {"look": verdict["look"], "alpha_k": verdict["alpha_k"]}
    if verdict["state"] != INADMISSIBLE:
        metrics |= _metrics(JudgedRun(folder, document, verdict["alpha_k"])) | _clause_metrics(verdict["clauses"])
    budget = {"k": str(document["budget"]["k"]), "unit": document["budget"]["unit"]}
    params = {"id": present.identifier, "benchmark": present.lock.payload["benchmark"]["name"], **budget}
    for role in runfiles.ROLES:
        params[f"{role}.version"] = document[role]["version"]
        params |= {f"{role}.{key}": canonical_json(value) for key, value in document[role]["parameters"].items()}
    place = folder.relative_to(workspace.root).as_posix()
    return Record(
        experiment=EXPERIMENT,
        name=present.identifier,
        finds=LOCK_TAG,
        tags=_tags(workspace.entries(), present),
        params=params,
        metrics=metrics,
        artifacts=tuple(f"{place}/{name}" for name in (HTML, MARKDOWN)),
        time=present.verdict.time,
        receipt=f"{place}/{MIRRORED}",
    )


def _tags(entries: tuple[Entry, ...], present: Life) -> dict[str, str]:
    assert present.lock is not None
    assert present.verdict is not None
    verdict, document = present.verdict.payload, present.lock.payload["document"]
    return {
        "harness.id": present.identifier,
        "harness.verdict": verdict["state"],
        "harness.reason": verdict["reason"],
        LOCK_TAG: present.lock.hash,
        "harness.entry": present.verdict.hash,
        "harness.look": str(verdict["look"]),
        "harness.document": present.lock.payload["document_digest"],
        "harness.head": head_words(entries, present.verdict),
        "harness.benchmark": present.lock.payload["benchmark"]["digest"],
        "harness.title": document["title"],
        "harness.claim": canonical_json(document["claim"]),
        "harness.primary": canonical_json(document["primary"]),
        "harness.guards": canonical_json(document["guards"]),
    }


def _metrics(run: JudgedRun) -> dict[str, float]:
    table: dict[str, float] = {}
    for part in (HELDOUT, DEV):
        for name in run.heldout_slices() if part == HELDOUT else ["all"]:
            members = run.members(part, name)
            for role in runfiles.ROLES:
                for measure in run.scores[role].values:
                    mean, n = run.scores[role].mean(measure, members)
                    if n and mean is not None:
                        table[slice_metric(part, name, role, str(measure))] = mean
    return table


def _clause_metrics(clauses: list[dict[str, Any]]) -> dict[str, float]:
    table: dict[str, float] = {}
    for clause in clauses:
        for key in ("estimate", "lower", "upper"):
            if clause[key] is not None:
                table[slice_metric(clause["kind"], clause["slice"], key, clause["measure"])] = clause[key]
    return table
