"""Writes one MLflow run for each recorded run. Takes plain mappings and knows no other layer."""

from __future__ import annotations

import contextlib
import logging
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import EnvironmentProblem

# MLflow's sqlite store has a busy time-out of 20 s, a batch holds at most 1,000 metrics and 100 params
_METRICS_PER_BATCH, _PARAMS_PER_BATCH = 1000, 100


@dataclass(frozen=True)
class Record:
    """What one MLflow run shows.

    Attributes:
        experiment: name of the MLflow experiment.
        name: name of the run.
        params: text values.
        metrics: finite numbers by metric name.
        tags: text values.
        artifacts: files to attach.
        finds: a tag whose value identifies the run, so that mirroring twice makes one run.
    """

    experiment: str
    name: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    tags: Mapping[str, str]
    artifacts: tuple[Path, ...] = ()
    finds: str = field(default="")


def store_uri(database: Path) -> str:
    """Address of the embedded store at an absolute path."""
    return f"sqlite:///{database.resolve()}"


def mirror(database: Path, record: Record) -> str:
    """Write ``record`` into the embedded store and return the run's id.

    A run that carries the same identifying tag already and is complete is left alone; one that a crash left
    half-written is replaced.

    Raises:
        EnvironmentProblem: the store cannot be written.
    """
    bad = [name for name, value in record.metrics.items() if not math.isfinite(value)]
    if bad:
        raise ValueError(f"not finite: {bad}")  # MLflow would take NaN, and turn infinity into 1.8e308
    _check_store(database)
    with _quiet():
        return _mirror(database, record)


def _mirror(database: Path, record: Record) -> str:
    errors = _errors()
    try:
        client = _client(database)
        experiment = _experiment(client, record.experiment, database.parent / "mlartifacts")
        for known in _find(client, experiment, record):
            if known.info.status == "FINISHED":
                return str(known.info.run_id)
            client.delete_run(known.info.run_id)
        return _write(client, experiment, record)
    except errors as error:
        fix = "free some space or grant permission, then run the command again: the verdict stands"
        raise EnvironmentProblem(f"MLflow's store refused ({error})", where=str(database), fix=fix) from None


def read_tags(database: Path, experiment: str, tag: str, value: str) -> Mapping[str, str] | None:
    """Tags of the run that carries ``tag`` = ``value``, or None if there is no such run or store."""
    if not database.exists():
        return None
    with _quiet():
        client = _client(database)
        found = client.get_experiment_by_name(experiment)
        if found is None:
            return None
        runs = client.search_runs([found.experiment_id], f"tags.`{tag}` = '{value}'")
    return dict(runs[0].data.tags) if runs else None


def _check_store(database: Path) -> None:
    # an unwritable store would make MLflow retry for about 100 seconds
    if not database.parent.is_dir():
        raise EnvironmentProblem("MLflow's store needs a folder", where=str(database.parent), fix="make that folder")
    if database.exists() and not database.is_file():
        fix = "move it away; the store is made anew"
        raise EnvironmentProblem("MLflow's store is not a file", where=str(database), fix=fix)
    place = database if database.exists() else database.parent
    if not os.access(place, os.W_OK) or not os.access(database.parent, os.W_OK):
        raise EnvironmentProblem("MLflow's store cannot be written", where=str(place), fix="grant write permission")


def _client(database: Path) -> Any:
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=store_uri(database))


def _errors() -> tuple[type[Exception], ...]:
    from mlflow.exceptions import MlflowException
    from sqlalchemy.exc import SQLAlchemyError

    return MlflowException, SQLAlchemyError, OSError


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    # a fresh store logs a hundred lines of migrations, whatever the loggers' own levels say
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)


def _experiment(client: Any, name: str, artifacts: Path) -> str:
    found = client.get_experiment_by_name(name)
    if found is not None:
        return str(found.experiment_id)
    return str(client.create_experiment(name, artifact_location=artifacts.resolve().as_uri()))


def _find(client: Any, experiment: str, record: Record) -> list[Any]:
    if not record.finds:
        return []
    return list(client.search_runs([experiment], f"tags.`{record.finds}` = '{record.tags[record.finds]}'"))


def _write(client: Any, experiment: str, record: Record) -> str:
    from mlflow.entities import Metric, Param, RunTag

    run = client.create_run(experiment, run_name=record.name, tags=dict(record.tags))
    identifier, status = str(run.info.run_id), "FAILED"
    try:
        params = [Param(name, value) for name, value in record.params.items()]
        metrics = [Metric(name, value, 0, 0) for name, value in record.metrics.items()]
        for begin in range(0, len(params), _PARAMS_PER_BATCH):
            client.log_batch(identifier, params=params[begin : begin + _PARAMS_PER_BATCH])
        for begin in range(0, len(metrics), _METRICS_PER_BATCH):
            client.log_batch(identifier, metrics=metrics[begin : begin + _METRICS_PER_BATCH])
        client.log_batch(identifier, tags=[RunTag("harness.complete", "true")])
        for path in record.artifacts:
            client.log_artifact(identifier, str(path))
        status = "FINISHED"
    finally:
        client.set_terminated(identifier, status)
    return identifier
