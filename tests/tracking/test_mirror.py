from __future__ import annotations

import dataclasses
import logging
import math
from pathlib import Path
from typing import Any, Protocol

import pytest

from harness.errors import EnvironmentProblem
from harness.tracking import mirror as module
from harness.tracking.mirror import Record, mirror, read_tags, store_uri


class _Store(Protocol):
    database: Path
    stdout: str
    stderr: str


@pytest.fixture
def record(request: pytest.FixtureRequest, tmp_path: Path) -> Record:
    """A record that no other test has: it is found by the test's own name."""
    page = tmp_path / "report.html"
    page.write_text("<p>PASS</p>")
    return Record(
        experiment="full",
        name="raw-only",
        params={"id": "raw-only", "baseline.version": "bm25", "candidate.layers": '["raw"]'},
        metrics={"heldout/all/candidate/R.credit-source_at_10": 0.5, "look": 1, "worst": -1.0},
        tags={"harness.verdict": "PASS", "harness.lock": request.node.name},
        artifacts=(page,),
        finds="harness.lock",
    )


def client(database: Path) -> Any:
    """MLflow's own client."""
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=store_uri(database))


def runs(database: Path, record: Record) -> list[Any]:
    """Runs that carry the record's identifying tag and are not deleted."""
    own = client(database)
    experiment = own.get_experiment_by_name(record.experiment)
    wanted = f"tags.`{record.finds}` = '{record.tags[record.finds]}'"
    return list(own.search_runs([experiment.experiment_id], wanted)) if experiment else []


def test_a_fresh_store_is_made_without_a_word(store: _Store) -> None:
    """MLflow reports each of its migrations, and none of that reaches the terminal."""
    assert store.database.is_file()
    assert (store.stdout, store.stderr) == ("", "")
    assert [path.name for path in store.database.parent.iterdir()] == ["mlflow.db"]


def test_a_record_is_mirrored_whole(database: Path, record: Record) -> None:
    """Params, metrics, tags and attached files, in a run that is finished."""
    identifier = mirror(database, record)
    (run,) = runs(database, record)
    assert run.info.run_id == identifier
    assert (run.info.run_name, run.info.status) == ("raw-only", "FINISHED")
    assert run.data.params == record.params
    assert run.data.metrics == record.metrics
    assert record.tags.items() <= run.data.tags.items()
    kept = database.parent / "mlartifacts" / identifier / "artifacts" / "report.html"
    assert kept.read_text() == "<p>PASS</p>"


def test_mirroring_twice_makes_one_run(database: Path, record: Record) -> None:
    """A command that is run again leaves what is there."""
    first = mirror(database, record)
    assert mirror(database, dataclasses.replace(record, params={"id": "other"})) == first
    (run,) = runs(database, record)
    assert run.data.params == record.params


def test_another_record_makes_another_run(database: Path, record: Record) -> None:
    """Runs are told apart by the identifying tag, not by their name."""
    other = dataclasses.replace(record, tags={**record.tags, "harness.lock": "another lock"})
    assert mirror(database, record) != mirror(database, other)


def test_records_without_an_identity_are_never_taken_for_one_another(database: Path, record: Record) -> None:
    """Where nothing identifies a run, each record is a run."""
    anonymous = dataclasses.replace(record, finds="", artifacts=())
    assert mirror(database, anonymous) != mirror(database, anonymous)


@pytest.mark.parametrize("status", ["RUNNING", "FAILED"])
def test_a_half_written_run_is_replaced(status: str, database: Path, record: Record) -> None:
    """What a crash left behind is deleted, and one whole run is there afterwards."""
    own = client(database)
    experiment = own.get_experiment_by_name(record.experiment)
    number = experiment.experiment_id if experiment else own.create_experiment(record.experiment)
    half = own.create_run(number, run_name=record.name, tags=dict(record.tags)).info.run_id
    if status == "FAILED":
        own.set_terminated(half, status)
    identifier = mirror(database, record)
    assert identifier != half
    (run,) = runs(database, record)
    assert (run.info.run_id, run.info.status) == (identifier, "FINISHED")
    assert run.data.metrics == record.metrics


def test_a_run_that_cannot_be_finished_is_marked_and_replaced_next_time(database: Path, record: Record) -> None:
    """An artifact that is not there fails the run, and the same command mends it once the file is back."""
    missing = dataclasses.replace(record, artifacts=(record.artifacts[0].parent / "missing.html",))
    with pytest.raises(EnvironmentProblem, match="MLflow's store refused"):
        mirror(database, missing)
    (failed,) = runs(database, record)
    assert failed.info.status == "FAILED"
    identifier = mirror(database, record)
    assert [run.info.run_id for run in runs(database, record)] == [identifier]


def test_more_values_than_one_batch_holds(database: Path, record: Record) -> None:
    """A run with many slices and parameters is written whole."""
    many = dataclasses.replace(
        record,
        params={f"p{number}": str(number) for number in range(101)},
        metrics={f"m{number}": float(number) for number in range(1001)},
    )
    mirror(database, many)
    (run,) = runs(database, record)
    assert run.data.params == many.params
    assert run.data.metrics == many.metrics


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_refused(value: float, database: Path, record: Record) -> None:
    """MLflow would take it and show something else, so that nothing is written at all."""
    with pytest.raises(ValueError, match=r"not finite: \['odd'\]"):
        mirror(database, dataclasses.replace(record, metrics={"fine": 0.5, "odd": value}))
    assert runs(database, record) == []


def test_tags_can_be_read_back(database: Path, record: Record) -> None:
    """What the mirror says of a run is there for a comparison with the record."""
    mirror(database, record)
    lock = record.tags["harness.lock"]
    tags = read_tags(database, "full", "harness.lock", lock)
    assert tags is not None
    assert record.tags.items() <= tags.items()
    assert read_tags(database, "full", "harness.lock", "no such lock") is None
    assert read_tags(database, "no such experiment", "harness.lock", lock) is None


def test_reading_makes_no_store(tmp_path: Path) -> None:
    """Where nothing was mirrored, a look leaves nothing behind."""
    assert read_tags(tmp_path / "mlflow.db", "full", "harness.lock", "x") is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["no folder", "a file as folder", "a folder as store"])
def test_a_store_that_cannot_be_there_is_refused_at_once(
    kind: str, tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLflow would try again for a minute and a half, so that it is not even asked."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.db").mkdir()
    names = {"no folder": "none/mlflow.db", "a file as folder": "file/mlflow.db", "a folder as store": "folder.db"}
    monkeypatch.setattr(module, "_client", lambda _: pytest.fail("MLflow was asked"))
    with pytest.raises(EnvironmentProblem, match="MLflow's store") as caught:
        mirror(tmp_path / names[kind], record)
    assert caught.value.fix
    assert caught.value.where.startswith(str(tmp_path))


def test_a_store_without_permission_is_refused_at_once(
    tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Permission is asked of the system, for the store and for its folder."""
    monkeypatch.setattr(module, "_client", lambda _: pytest.fail("MLflow was asked"))
    for denied in (tmp_path, tmp_path / "mlflow.db"):
        (tmp_path / "mlflow.db").touch()
        monkeypatch.setattr(module.os, "access", lambda path, _, denied=denied: path != denied)
        with pytest.raises(EnvironmentProblem, match="cannot be written"):
            mirror(tmp_path / "mlflow.db", record)


def test_a_damaged_store_is_a_problem_of_the_environment(tmp_path: Path, record: Record) -> None:
    """A file that is no database gives one message with the way out, and is left as it was."""
    (tmp_path / "mlflow.db").write_text("not a database " * 100)
    with pytest.raises(EnvironmentProblem, match="not a database") as caught:
        mirror(tmp_path / "mlflow.db", record)
    assert caught.value.where == str(tmp_path / "mlflow.db")
    assert (tmp_path / "mlflow.db").read_text() == "not a database " * 100


@pytest.mark.parametrize("before", [logging.NOTSET, logging.ERROR])
def test_logging_is_as_it_was_afterwards(before: int, database: Path, record: Record) -> None:
    """Silence lasts as long as MLflow works, and is lifted when it fails too."""
    logging.disable(before)
    try:
        mirror(database, record)
        with pytest.raises(EnvironmentProblem):
            mirror(database, dataclasses.replace(record, artifacts=(Path("/none"),), finds=""))
        assert logging.root.manager.disable == before
    finally:
        logging.disable(logging.NOTSET)
