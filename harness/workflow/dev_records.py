"""What MLflow shows of dev work: one run a dev run, and for a sweep a parent with one run a trial."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from harness.digest import canonical_json
from harness.tracking.names import slice_metric
from harness.tracking.record import Record
from harness.workflow.dev import RESULT, DevRun
from harness.workflow.sweep import Outcome, Sweep, choices
from harness.workflow.workspace import now

EXPERIMENT = "dev"
_RUN, _TRIAL, _SWEEP = "harness.run", "harness.trial", "harness.sweep"


def run_record(run: DevRun) -> Record:
    """A dev run of its own: means of every measure in every slice, of both systems."""
    result = run.result
    metrics = {
        slice_metric("dev", name, role, measure): cell["mean"]
        for role, slices in result["slices"].items()
        for name, cells in slices.items()
        for measure, cell in cells.items()
        if cell["mean"] is not None
    }
    return _record(run, _RUN, {_RUN: result["run"]}, metrics)


def sweep_records(sweep: Sweep) -> Iterator[Record]:
    """The trials, and at the end their parent, which closes the sweep."""
    for outcome in sweep.outcomes:
        yield _trial_record(sweep, outcome)
    by = str(sweep.space.by)
    best = sweep.finished[0].result if sweep.finished else None
    metrics: dict[str, float] = {"trials": len(sweep.outcomes), "failed": len(sweep.failed)}
    if best is not None and best["slices"]["candidate"]["all"][by]["mean"] is not None:
        metrics[slice_metric("dev", "all", "best", by)] = best["slices"]["candidate"]["all"][by]["mean"]
    tags = {_SWEEP: sweep.name, "harness.by": by}
    if best is not None:
        tags["harness.best_run"] = best["run"]
    yield Record(
        experiment=EXPERIMENT,
        name=sweep.title or f"sweep {sweep.name}",
        finds=_SWEEP,
        tags=tags,
        metrics=metrics,
        status="FAILED" if sweep.failed else "FINISHED",
        time=min((run.result["time"] for run in sweep.finished), default=now()),
    )


def _trial_record(sweep: Sweep, outcome: Outcome) -> Record:
    # a trial shows under every sweep that has it, so that its name holds the sweep's
    tags = {_TRIAL: f"{sweep.name}/{outcome.content.removeprefix('sha256:')[:32]}"}
    parent = f"{_SWEEP}={sweep.name}"
    if outcome.run is None:
        return Record(
            experiment=EXPERIMENT,
            name=f"trial {outcome.trial.number}",
            finds=_TRIAL,
            tags=tags | {"harness.error": (outcome.error or {}).get("what", "")},
            params=choices(outcome.trial, sweep.space),
            parent=parent,
            status="FAILED",
        )
    by = str(sweep.space.by)
    slices: dict[str, Any] = outcome.run.result["slices"]["candidate"]
    metrics = {
        slice_metric("dev", name, "candidate", measure): cell["mean"]
        for name, cells in slices.items()
        for measure, cell in cells.items()
        if cell["mean"] is not None and (name == "all" or measure == by)
    }
    return _record(outcome.run, _TRIAL, tags | {_RUN: outcome.run.result["run"]}, metrics, parent)


def _record(run: DevRun, finds: str, tags: dict[str, str], metrics: dict[str, float], parent: str = "") -> Record:
    result = run.result
    params = {key: canonical_json(value) for key, value in result["parameters"].items()}
    return Record(
        experiment=EXPERIMENT,
        name=result["run"],
        finds=finds,
        tags=tags | {"harness.fingerprint": result["fingerprint"], "harness.content": result["content"]},
        params={
            "version": result["version"],
            "benchmark": result["benchmark"]["name"],
            "k": str(result["k"]),
            **params,
        },
        metrics=metrics | {"seconds": result["seconds"]},
        artifacts=(f"runs/dev/{result['run']}/{RESULT}",),
        parent=parent,
        time=result["time"],
        seconds=result["seconds"],
    )
