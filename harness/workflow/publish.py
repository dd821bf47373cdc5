"""After the ledger: the verdict page and the MLflow mirror, both made from what was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import DEV, HELDOUT, Labels, Questions
from harness.digest import canonical_json
from harness.errors import HarnessError, UsageProblem
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import NAMES, Measure, parse_measure
from harness.evaluation.scores import Scores
from harness.evaluation.slices import in_slice, slice_names
from harness.ledger import durable
from harness.ledger.entries import Entry
from harness.ledger.looks import read_question_set
from harness.ledger.state import Life, life
from harness.preregistration.rule import INADMISSIBLE
from harness.reporting import words
from harness.reporting.page import HTML, MARKDOWN, render
from harness.tracking.names import slice_metric
from harness.tracking.record import Record
from harness.workflow import runfiles
from harness.workflow.lock import reused
from harness.workflow.mirroring import send, write_receipt
from harness.workflow.outside import outside_looks
from harness.workflow.progress import SILENT, Progress
from harness.workflow.report import head_words, page_frame
from harness.workflow.workspace import Workspace

MIRRORED = "mirror.json"
_NAMED = 20  # questions named in a list before it is cut
EXPERIMENT = "full"
LOCK_TAG = "harness.lock"


def judged(workspace: Workspace, identifier: str) -> Life:
    """The life of a judged document.

    Raises:
        UsageProblem: there is no verdict yet.
    """
    present = life(workspace.entries(), identifier)
    if present.verdict is None:
        what = f"{identifier} has no verdict: it is {present.stage.lower()}"
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


class _Run:
    """A judged run's files, read once."""

    def __init__(self, folder: Path, depth: int) -> None:
        self.questions, self.partitions = runfiles.read_questions(folder)
        self.labels: Labels = runfiles.read_labels(folder)
        self.scores: dict[str, Scores] = runfiles.read_scores(folder, self.questions)
        self.depth = depth

    def members(self, part: str | None, slice_name: str) -> NDArray[np.bool_]:
        chosen = in_slice(slice_name, self.questions, self.labels, self.partitions)
        if part is not None:
            chosen = chosen & np.array([name == part for name in self.questions.part], dtype=bool)
        return chosen

    def heldout_slices(self) -> list[str]:
        places = np.flatnonzero(self.members(HELDOUT, "all"))
        questions: Questions = self.questions.take(places)
        return slice_names(questions, self.labels.take(places), self.partitions)

    def compare(self, measure: Measure, slice_name: str, alpha: float, rho: float) -> Comparison:
        return compare(
            self.scores["baseline"], self.scores["candidate"], measure, clusters=self.questions.clusters,
            alpha=alpha, rho=rho, members=self.members(HELDOUT, slice_name), slice_name=slice_name,
        )  # fmt: skip


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
    run = _Run(folder, document["budget"]["k"])
    rho, alpha_k = document["rho_plan"], verdict["alpha_k"]
    first = parse_measure(document["primary"][0]["measure"])
    budgets = json.loads((folder / runfiles.BUDGET).read_text(encoding="utf-8"))
    return report | {
        "credits": _credit_rows(document, run, alpha_k, rho),
        "slice_measure": str(first),
        "slices": [row for name in run.heldout_slices() if (row := _row(run, first, name, alpha_k, rho))],
        "measures": [_measure_row(run, measure) for measure in _in_order(run.scores["baseline"].values)],
        "exclusions": _exclusions(run),
        "cost": _cost_words(budgets),
        "budgets": [
            {"role": role, **budgets[role], "layer_words": _shares(budgets[role]["layers"])} for role in runfiles.ROLES
        ],
    }


def _exposed(workspace: Workspace, entries: tuple[Any, ...], present: Life) -> bool:
    """Whether an earlier lock on an overlapping held-out set was judged before this one was locked."""
    assert present.lock is not None
    before = [entry for entry in entries if entry.sequence < present.lock.sequence]
    return reused(workspace, before, read_question_set(workspace.ledger.root, present.lock.payload["heldout_set"]))


def _row(run: _Run, measure: Measure, slice_name: str, alpha: float, rho: float) -> dict[str, Any] | None:
    try:
        compared = run.compare(measure, slice_name, alpha, rho)
    except HarnessError:
        return None  # a slice without any scored question has no row
    paired, interval = compared.paired, compared.interval
    return {
        "measure": str(measure), "slice": slice_name, "n": paired.n, "clusters": len(paired.sizes),
        "baseline": compared.baseline, "candidate": compared.candidate, "estimate": compared.estimate,
        "lower": interval.lower if interval else None, "upper": interval.upper if interval else None,
        "wins": paired.wins, "losses": paired.defeats, "ties": paired.ties,
    }  # fmt: skip


def _credit_rows(document: Mapping[str, Any], run: _Run, alpha: float, rho: float) -> list[dict[str, Any]]:
    registered = [
        (parse_measure(part["measure"]), part["slice"]) for part in (*document["primary"], *document["guards"])
    ]
    pairs = [(credit, name) for measure, name in registered for credit in (measure, measure.other_credit())]
    rows = []
    for measure, name in dict.fromkeys(pairs):
        row = _row(run, measure, name, alpha, rho)
        if row:
            rows.append(row | {"registered": (measure, name) in registered})
    return rows


def _measure_row(run: _Run, measure: Measure) -> dict[str, Any]:
    cells = []
    for part in (HELDOUT, DEV, None):
        members = run.members(part, "all")
        (baseline, n), (candidate, _) = (run.scores[role].mean(measure, members) for role in runfiles.ROLES)
        cells.append({"baseline": baseline, "candidate": candidate, "n": n})
    return {"measure": str(measure), "cells": cells}


def _in_order(measures: Iterable[Measure]) -> list[Measure]:
    """Measures as people read them, the two credit rules of one measure side by side."""
    return sorted(measures, key=lambda m: (m.k, ("R", *NAMES).index(m.name), m.credit != "raw", str(m)))


def _exclusions(run: _Run) -> list[dict[str, Any]]:
    """Which questions no mean counts, why, and under which measures; measures with the same list share a row."""
    shared: dict[tuple[str, ...], list[str]] = {}
    for measure in _in_order(run.scores["baseline"].values):
        left_out = tuple(run.scores["baseline"].unavailable[measure])
        if left_out:
            shared.setdefault(left_out, []).append(str(measure))
    every = len(run.scores["baseline"].values)
    return [
        {
            "n": len(questions),
            "measures": "every measure" if len(measures) == every else ", ".join(measures),
            "questions": ", ".join(questions[:_NAMED]) + (", …" if len(questions) > _NAMED else ""),
        }
        for questions, measures in shared.items()
    ]


def _cost_words(budgets: Mapping[str, Any]) -> str:
    """What equal k hides: how much more or less text the candidate gives to the reader."""
    before, after = (budgets[role]["tokens"] for role in runfiles.ROLES)
    change = after / before - 1 if before else 0.0
    if abs(change) < 0.005:
        return "Both systems give the reader the same amount of text."
    return f"The candidate gives the reader {100 * abs(change):.0f} % {'more' if change > 0 else 'less'} text."


def _shares(layers: Mapping[str, float]) -> str:
    ordered = sorted(layers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {words.percent(share)} %" for name, share in ordered)


def verdict_record(workspace: Workspace, present: Life) -> Record:
    """What MLflow shows of a verdict, from ledger and run files alone."""
    assert present.lock is not None
    assert present.verdict is not None
    verdict, document = present.verdict.payload, present.lock.payload["document"]
    folder = workspace.full_run(present.identifier)
    metrics: dict[str, float] = {"look": verdict["look"], "alpha_k": verdict["alpha_k"]}
    if verdict["state"] != INADMISSIBLE:
        metrics |= _metrics(_Run(folder, document["budget"]["k"])) | _clause_metrics(verdict["clauses"])
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


def _metrics(run: _Run) -> dict[str, float]:
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
