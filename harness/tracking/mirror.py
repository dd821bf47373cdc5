"""Writes one MLflow run for each recorded run, and reads back what it says; knows plain values and no other layer."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import EnvironmentProblem
from harness.tracking.address import Address
from harness.tracking.names import allowed_name, allowed_param, allowed_tag
from harness.tracking.record import Record, split_identity
from harness.tracking.store import opened

PARENT = "mlflow.parentRunId"
NOT_ATTACHED = "harness.not-attached"
"""Tag that names files which were gone when their run was mirrored, or which the server takes no way."""

_SUPERSEDED = "harness.superseded"  # a run that another one replaced
_PER_BATCH = {"params": 100, "metrics": 900}  # MLflow takes 100 params, 100 tags, and 1,000 values in all
_ABSENT = "nothing"


class RecordRefused(EnvironmentProblem):
    """MLflow does not take this one record; it may take others."""


@dataclass(frozen=True)
class Drift:
    """One value that MLflow shows otherwise than it was recorded.

    Attributes:
        what: ``tag harness.verdict``, ``metric look``, ``param id``, ``status``.
        recorded, shown: both values as text.
    """

    what: str
    recorded: str
    shown: str

    def __str__(self) -> str:
        return f"{self.what}: recorded {_short(self.recorded)}, MLflow says {_short(self.shown)}"


@dataclass(frozen=True)
class Found:
    """What a store holds of a record.

    Attributes:
        run: id of the run; empty if it never had one.
        deleted: it had one, and somebody deleted it.
        drift: what it shows otherwise.
    """

    run: str = ""
    deleted: bool = False
    drift: tuple[Drift, ...] = ()


class Mirror:
    """An opened store.

    Args:
        client: MLflow's client.
        root: the folder that artifacts are relative to.
        artifacts: where a store without a server keeps attached files; None for a server, which decides itself.
    """

    def __init__(self, client: Any, root: Path, artifacts: Path | None) -> None:
        self._client = client
        self._root = root
        self._artifacts = artifacts
        self._experiments: dict[str, str] = {}
        self._parents: dict[tuple[str, str], str] = {}

    def write(self, record: Record) -> str:
        """Make MLflow show the record, and return the run's id.

        A run that shows it already is left alone. One that a crash left half-written, or that somebody edited, is
        replaced, with the runs below it attached to the new one; so there is one run for a record at any time.

        Raises:
            RecordRefused: MLflow does not take these values.
        """
        try:
            return self._write(_as_shown(record))
        except Exception as error:
            if getattr(error, "error_code", "") == "INVALID_PARAMETER_VALUE":
                raise RecordRefused(f"MLflow refuses these values: {str(error)[:300]}") from None
            raise

    def _write(self, record: Record) -> str:
        experiment = self._experiment(record.experiment)
        parent = self._parent(experiment, record.parent)
        known = self._find(experiment, record.identity)
        kept = next((run for run in known if not _drift(record, run)), None)
        if kept is None:
            # a run that its children made is filled in place
            kept = next((run for run in known if not (run.data.params or run.data.metrics)), None)
            kept = kept or self._create(experiment, record, parent)
            self._fill(kept, record, parent)
        run = str(kept.info.run_id)
        if kept.data.tags.get(PARENT, "") != parent.get(PARENT, ""):
            self._client.set_tag(run, PARENT, parent.get(PARENT, ""))
        for other in known:
            if other.info.run_id != run:
                self._replace(experiment, other.info.run_id, run)
        return run

    def find(self, record: Record) -> Found:
        """What the store holds of a record; changes nothing."""
        record = _as_shown(record)
        experiment = self._client.get_experiment_by_name(record.experiment)
        known = self._find(experiment.experiment_id, record.identity, deleted=True) if experiment else []
        active = [run for run in known if run.info.lifecycle_stage == "active"]
        if not active:
            return Found(known[0].info.run_id, deleted=True) if known else Found()
        run, drift = min(((run, _drift(record, run)) for run in active), key=lambda pair: len(pair[1]))
        return Found(run.info.run_id, drift=tuple(drift))

    def _experiment(self, name: str) -> str:
        if name not in self._experiments:
            self._experiments[name] = self._make_experiment(name)
        return self._experiments[name]

    def _make_experiment(self, name: str) -> str:
        found = self._client.get_experiment_by_name(name)
        if found is None:
            place = self._artifacts.resolve().as_uri() if self._artifacts else None
            try:
                return str(self._client.create_experiment(name, artifact_location=place))
            except Exception:
                # on a server somebody else may have made it since
                found = self._client.get_experiment_by_name(name)
                if found is None:
                    raise
        number = str(found.experiment_id)
        if found.lifecycle_stage == "deleted":  # its name stays taken, so that it can only be brought back
            self._client.restore_experiment(number)
            while revived := self._find(number, (_SUPERSEDED, "true")):
                for run in revived:
                    self._client.delete_run(run.info.run_id)
        return number

    def _find(self, experiment: str, identity: tuple[str, str], *, deleted: bool = False) -> list[Any]:
        from mlflow.entities import ViewType

        tag, value = identity
        view = ViewType.ALL if deleted else ViewType.ACTIVE_ONLY
        return list(self._client.search_runs([experiment], f"tags.`{tag}` = '{value}'", view, max_results=100))

    def _create(self, experiment: str, record: Record, parent: Mapping[str, str]) -> Any:
        tags = {**record.tags, **parent}
        return self._client.create_run(experiment, _milliseconds(record.time), tags, run_name=record.name)

    def _parent(self, experiment: str, identity: str) -> dict[str, str]:
        if not identity:
            return {}
        key = (experiment, identity)
        if key not in self._parents:
            tag, value = split_identity(identity)
            known = self._find(experiment, (tag, value))
            # a child may be mirrored before its parent: whoever comes first makes the run
            run = known[0] if known else self._client.create_run(experiment, tags={tag: value}, run_name=value)
            self._parents[key] = str(run.info.run_id)
        return {PARENT: self._parents[key]}

    def _fill(self, begun: Any, record: Record, parent: Mapping[str, str]) -> None:
        from mlflow.entities import Metric, Param

        run = str(begun.info.run_id)
        # a server that does not take files names a folder of its own machine, which MLflow would look for on this one
        elsewhere = self._artifacts is None and urlsplit(begun.info.artifact_uri).scheme in ("", "file")
        missing = [name for name in record.artifacts if elsewhere or not (self._root / name).is_file()]
        tags = {**record.tags, **parent, **({NOT_ATTACHED: ", ".join(missing)} if missing else {})}
        for name, value in tags.items():
            if begun.data.tags.get(name) != value:
                self._client.set_tag(run, name, value)
        params = [Param(name, value) for name, value in record.params.items()]
        metrics = [Metric(name, value, 0, 0) for name, value in record.metrics.items()]
        for some, more in zip_longest(_batches(params, "params"), _batches(metrics, "metrics")):
            self._client.log_batch(run, params=some or (), metrics=more or ())
        for name in record.artifacts:
            if name not in missing:
                self._client.log_artifact(run, str(self._root / name))
        if begun.info.run_name != record.name:
            self._client.update_run(run, name=record.name)
        began = _milliseconds(record.time)
        # last: a run that has not ended is not whole
        self._client.set_terminated(run, record.status, began and began + round(1000 * record.seconds))

    def _replace(self, experiment: str, old: str, new: str) -> None:
        while children := self._find(experiment, (PARENT, old)):
            for child in children:
                self._client.set_tag(child.info.run_id, PARENT, new)
        self._parents = {key: new if run == old else run for key, run in self._parents.items()}
        self._client.set_tag(old, _SUPERSEDED, "true")
        self._client.delete_run(old)


@contextlib.contextmanager
def mirror(where: Address, root: Path) -> Iterator[Mirror]:
    """A store to write to, opened and locked once for any number of records.

    Args:
        where: the store, which is made if it is not there.
        root: the folder that artifacts are relative to.

    Raises:
        EnvironmentProblem: the store cannot be written; also what any method of the mirror raises.
    """
    with opened(where, writing=True) as client:
        yield Mirror(client, root, where.database.parent / "mlartifacts" if where.database else None)


def look(where: Address, record: Record) -> Found | None:
    """What a store holds of a record, or None if there is no store here; nothing is changed, nor made.

    Raises:
        EnvironmentProblem: the store cannot be reached or read.
    """
    if where.database is not None and not where.database.is_file():
        return None
    with opened(where, writing=False) as client:
        return Mirror(client, Path(), None).find(record)


def _as_shown(record: Record) -> Record:
    """The record in names and lengths that MLflow takes."""
    return replace(
        record,
        tags={allowed_name(name): allowed_tag(value) for name, value in record.tags.items()},
        params={allowed_name(name): allowed_param(value) for name, value in record.params.items()},
        metrics={allowed_name(name): float(value) for name, value in record.metrics.items()},
    )


def _drift(record: Record, run: Any) -> list[Drift]:
    """What a run shows otherwise; tags that others added are their own matter."""
    drift = [] if run.info.status == record.status else [Drift("status", record.status, run.info.status)]
    kinds: tuple[tuple[str, Mapping[str, Any], Mapping[str, Any]], ...] = (
        ("tag", record.tags, {name: run.data.tags[name] for name in record.tags if name in run.data.tags}),
        ("param", record.params, run.data.params),
        ("metric", record.metrics, run.data.metrics),
    )
    for kind, recorded, shown in kinds:
        for name in {**recorded, **shown}:
            before, after = recorded.get(name, _ABSENT), shown.get(name, _ABSENT)
            if before != after:
                drift.append(Drift(f"{kind} {name}", str(before), str(after)))
    return drift


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}…"


def _batches(values: list[Any], kind: str) -> Iterator[list[Any]]:
    size = _PER_BATCH[kind]
    return (values[begin : begin + size] for begin in range(0, len(values), size))


def _milliseconds(time: str) -> int | None:
    return round(1000 * datetime.fromisoformat(time).timestamp()) if time else None
