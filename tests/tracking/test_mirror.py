from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.errors import EnvironmentProblem
from harness.tracking.address import VARIABLE, Address, address, embedded
from harness.tracking.mirror import NOT_ATTACHED, PARENT, Mirror, RecordRefused, look, mirror
from harness.tracking.record import Record


@pytest.fixture(scope="module", params=["store", "mlflow_server", "team_server"])
def anywhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Address:
    """The embedded store, a real server, and one on PostgreSQL."""
    if request.param == "store":
        return request.getfixturevalue("where")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, request.getfixturevalue(request.param))
        return address(tmp_path_factory.mktemp("workspace") / "mlflow.db")


def write(where: Address, record: Record, root: Path = Path()) -> str:
    """Mirror one record."""
    with mirror(where, root) as opened:
        return opened.write(record)


def client(where: Address) -> Any:
    """MLflow's own client."""
    from mlflow import MlflowClient

    return MlflowClient(tracking_uri=where.uri)


def runs(where: Address, record: Record) -> list[Any]:
    """Runs that carry the record's identifying tag and are not deleted."""
    own = client(where)
    experiment = own.get_experiment_by_name(record.experiment)
    tag, value = record.identity
    return list(own.search_runs([experiment.experiment_id], f"tags.`{tag}` = '{value}'")) if experiment else []


def test_a_fresh_store_is_made_without_a_word(store: Any) -> None:
    """MLflow reports each of its migrations, and none of that reaches the terminal."""
    assert store.database.is_file()
    assert (store.stdout, store.stderr) == ("", "")


def test_a_record_is_mirrored_whole(anywhere: Address, record: Record, tmp_path: Path) -> None:
    """Params, metrics, tags, times and attached files, in a run that is finished; nothing is active afterwards."""
    import mlflow

    record = dataclasses.replace(record, time="2026-12-01T01:00:00+01:00", seconds=2.5)
    identifier = write(anywhere, record, tmp_path)
    (run,) = runs(anywhere, record)
    assert run.info.run_id == identifier
    assert (run.info.run_name, run.info.status) == ("raw-only", "FINISHED")
    assert (run.info.start_time, run.info.end_time) == (1796083200000, 1796083202500)
    assert run.data.params == record.params
    assert run.data.metrics == record.metrics
    assert record.tags.items() <= run.data.tags.items()
    assert NOT_ATTACHED not in run.data.tags
    assert [item.path for item in client(anywhere).list_artifacts(identifier)] == ["report.html"]
    assert mlflow.active_run() is None


def test_a_run_that_the_environment_names_is_left_alone(
    where: Address, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever starts a command inside an MLflow job has these set: they are about that job."""
    job = write(where, dataclasses.replace(record, tags={**record.tags, "harness.lock": "the job around it"}))
    monkeypatch.setenv("MLFLOW_RUN_ID", job)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "the job's")
    assert write(where, record) != job
    assert [run.info.experiment_id for run in runs(where, record)] == [
        client(where).get_experiment_by_name("full").experiment_id
    ]


def test_mirroring_twice_makes_one_run(anywhere: Address, record: Record, tmp_path: Path) -> None:
    """A run that is there and says the same is left alone, with what people added to it."""
    first = write(anywhere, record, tmp_path)
    client(anywhere).set_tag(first, "mlflow.note.content", "see the page")
    assert write(anywhere, record, tmp_path) == first
    (run,) = runs(anywhere, record)
    assert run.data.tags["mlflow.note.content"] == "see the page"


def test_another_record_makes_another_run(where: Address, record: Record) -> None:
    """Runs are told apart by the identifying tag, not by their name."""
    other = dataclasses.replace(record, tags={**record.tags, "harness.lock": "another lock"})
    assert write(where, record) != write(where, other)


@pytest.mark.parametrize("status", ["RUNNING", "FAILED"])
def test_a_half_written_run_is_replaced(status: str, where: Address, record: Record) -> None:
    """What a crash left behind is deleted, and one whole run is there afterwards."""
    own = client(where)
    experiment = own.get_experiment_by_name(record.experiment)
    number = experiment.experiment_id if experiment else own.create_experiment(record.experiment)
    half = own.create_run(number, run_name=record.name, tags=dict(record.tags)).info.run_id
    own.log_metric(half, "look", 1)
    if status == "FAILED":
        own.set_terminated(half, status)
    identifier = write(where, record)
    assert identifier != half
    (run,) = runs(where, record)
    assert (run.info.run_id, run.info.status) == (identifier, "FINISHED")
    assert run.data.metrics == record.metrics


def test_a_file_that_is_gone_does_not_keep_a_run_out(where: Address, record: Record, tmp_path: Path) -> None:
    """The run says which one it lacks."""
    (tmp_path / "report.html").unlink()
    write(where, record, tmp_path)
    (run,) = runs(where, record)
    assert (run.info.status, run.data.tags[NOT_ATTACHED]) == ("FINISHED", "report.html")


def test_a_server_that_takes_no_files(where: Address, record: Record, tmp_path: Path) -> None:
    """It names a folder on its own machine: nothing is written there from here."""
    folder = tmp_path / "of-the-server"
    client(where).create_experiment(record.tags["harness.lock"], artifact_location=folder.as_uri())
    record = dataclasses.replace(record, experiment=record.tags["harness.lock"])
    Mirror(client(where), tmp_path, None).write(record)
    (run,) = runs(where, record)
    assert (run.info.status, run.data.tags[NOT_ATTACHED]) == ("FINISHED", "report.html")
    assert not folder.exists()


def test_more_and_longer_values_than_mlflow_takes_at_once(anywhere: Address, record: Record) -> None:
    """Many values go in batches, long ones are cut, odd names are made fit; the run then shows the record."""
    many = dataclasses.replace(
        record,
        params={"long": "p" * 7000, **{f"p{number}": str(number) for number in range(101)}},
        metrics={"R(credit=source)@10": 1 / 3, **{f"m{number}": float(number) for number in range(1001)}},
        tags={**record.tags, "claim": "t" * 9000, "": "no name", "odd@": "name"},
    )
    write(anywhere, many)
    (run,) = runs(anywhere, record)
    assert len(run.data.params) == 102
    assert len(run.data.metrics) == 1002
    assert "(9000 characters, SHA-256 " in run.data.tags["claim"]
    found = look(anywhere, many)
    assert found is not None
    assert (found.run, found.drift) == (run.info.run_id, ())


def test_a_value_that_mlflow_refuses_is_that_records_own_problem(where: Address, record: Record) -> None:
    """The store works, so that other records may be mirrored in the same go."""
    with mirror(where, Path()) as opened:
        with pytest.raises(RecordRefused, match="Invalid"):
            opened.write(dataclasses.replace(record, experiment=""))
        opened.write(record)


def test_what_drifted_is_named(anywhere: Address, record: Record) -> None:
    """A tag, metric, param or status that was changed in MLflow, with both values; tags of others are no drift."""
    identifier = write(anywhere, record)
    own = client(anywhere)
    own.set_tag(identifier, "harness.verdict", "ROLLBACK")
    own.set_tag(identifier, "note", "mine")
    own.log_metric(identifier, "look", 7)
    own.log_metric(identifier, "more", 1)
    own.log_param(identifier, "seed", "1")
    own.update_run(identifier, status="FAILED")
    found = look(anywhere, record)
    assert found is not None
    assert sorted(map(str, found.drift)) == [
        "metric look: recorded 1.0, MLflow says 7.0",
        "metric more: recorded nothing, MLflow says 1.0",
        "param seed: recorded nothing, MLflow says 1",
        "status: recorded FINISHED, MLflow says FAILED",
        "tag harness.verdict: recorded PASS, MLflow says ROLLBACK",
    ]
    assert write(anywhere, record) != identifier
    found = look(anywhere, record)
    assert found is not None
    assert found.drift == ()


def test_a_deleted_run_is_told_from_one_that_never_was(anywhere: Address, record: Record) -> None:
    """Deleted in MLflow, it can be written again."""
    found = look(anywhere, record)
    assert found is not None
    assert (found.run, found.deleted) == ("", False)
    identifier = write(anywhere, record)
    client(anywhere).delete_run(identifier)
    found = look(anywhere, record)
    assert found is not None
    assert (found.run, found.deleted) == (identifier, True)
    again = write(anywhere, record)
    assert [run.info.run_id for run in runs(anywhere, record)] == [again]


def test_looking_makes_no_store(tmp_path: Path, record: Record) -> None:
    """Where nothing was mirrored, a look leaves nothing behind."""
    assert look(embedded(tmp_path / "none" / "mlflow.db"), record) is None
    assert not (tmp_path / "none").exists()


def test_a_deleted_experiment_is_brought_back_without_what_was_replaced(anywhere: Address, record: Record) -> None:
    """MLflow keeps its name and would revive replaced runs too."""
    record = dataclasses.replace(record, experiment=record.tags["harness.lock"])
    replaced = write(anywhere, record)
    client(anywhere).set_tag(replaced, "harness.verdict", "ROLLBACK")
    kept = write(anywhere, record)
    client(anywhere).delete_experiment(client(anywhere).get_experiment_by_name(record.experiment).experiment_id)
    assert write(anywhere, record) == kept
    assert [run.info.run_id for run in runs(anywhere, record)] == [kept]


def _family(record: Record) -> tuple[Record, list[Record]]:
    sweep = record.tags["harness.lock"]
    parent = Record("dev", "a sweep", "harness.sweep", {"harness.sweep": sweep})
    children = [
        Record("dev", f"trial {n}", "harness.trial", {"harness.trial": f"{sweep}/{n}"}, {"k1": str(n)},
               parent=f"harness.sweep={sweep}")
        for n in range(3)
    ]  # fmt: skip
    return parent, children


def _below(where: Address, parent: str) -> set[str]:
    own = client(where)
    experiment = own.get_experiment_by_name("dev").experiment_id
    return {run.info.run_name for run in own.search_runs([experiment], f"tags.`{PARENT}` = '{parent}'")}


TRIALS = {"trial 0", "trial 1", "trial 2"}


def test_children_may_come_before_their_parent(where: Address, record: Record) -> None:
    """Where the store was down when the sweep began, the first child makes the parent, which is then filled."""
    parent, children = _family(record)
    with mirror(where, Path()) as opened:
        for child in children:
            opened.write(child)
        identifier = opened.write(parent)
    assert [(run.info.run_id, run.info.run_name) for run in runs(where, parent)] == [(identifier, "a sweep")]
    assert _below(where, identifier) == TRIALS


def test_a_parent_that_is_replaced_keeps_its_children(where: Address, record: Record) -> None:
    """A sweep that was broken off, and one that was edited: the children stand below the new run."""
    parent, children = _family(record)
    with mirror(where, Path()) as opened:
        for child in children:
            opened.write(child)
        broken = opened.write(dataclasses.replace(parent, status="KILLED", metrics={"best": 0.25}))
    done = dataclasses.replace(parent, metrics={"best": 0.5})
    identifier = write(where, done)
    assert identifier != broken
    assert [run.data.metrics for run in runs(where, parent)] == [{"best": 0.5}]
    assert _below(where, identifier) == TRIALS
    client(where).delete_run(identifier)
    identifier = write(where, done)
    with mirror(where, Path()) as opened:
        for child in children:
            opened.write(child)
    assert _below(where, identifier) == TRIALS


RACE = """
import sys
from pathlib import Path
from harness.tracking.address import address
from harness.tracking.mirror import mirror
from harness.tracking.record import Record
from harness.tracking import store
import mlflow
store.LOCK_WAIT_SECONDS = 600
sys.stdin.read()
with mirror(address(Path(sys.argv[1])), Path()) as opened:
    print(opened.write(Record(sys.argv[2], "run", "harness.run", {"harness.run": "1"})))
"""


def _race(*arguments: list[str]) -> list[str]:
    """What processes print that begin to mirror at the same moment."""
    racers = [
        subprocess.Popen([sys.executable, "-c", RACE, *each], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for each in arguments
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
    out = []
    for racer in racers:
        assert racer.stdout is not None
        out.append(racer.stdout.read().strip())
        assert racer.wait() == 0
    return out


def test_two_processes_make_one_fresh_store(tmp_path: Path) -> None:
    """And in it one experiment, with one run for the record that both bring."""
    first, second = _race(*[[str(tmp_path / "mlflow.db"), "new"]] * 2)
    assert first == second


@pytest.mark.parametrize("server", ["mlflow_server", "team_server"])
def test_two_workspaces_make_one_experiment_on_a_server(
    server: str, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lock of one machine keeps them apart: whoever comes second uses what is there."""
    monkeypatch.setenv(VARIABLE, request.getfixturevalue(server))
    places = [tmp_path / "one", tmp_path / "two"]
    for place in places:
        place.mkdir()
    assert all(_race(*[[str(place / "mlflow.db"), "raced"] for place in places]))


@pytest.mark.parametrize("broken_server", ["closed", "silent", "failing"], indirect=True)
def test_a_server_that_does_not_work_is_one_clear_error(
    broken_server: str,
    tmp_path: Path,
    record: Record,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """One attempt, no traceback on the terminal, and the address without its password."""
    monkeypatch.setenv(VARIABLE, broken_server.replace("http://", "http://me:s3cret@"))
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    with pytest.raises(EnvironmentProblem, match=r"refused|no answer within 1 seconds|answers 500") as caught:
        write(address(tmp_path / "mlflow.db"), record)
    assert caught.value.where == broken_server
    assert "s3cret" not in str(caught.value)
    assert capfd.readouterr() == ("", "")
