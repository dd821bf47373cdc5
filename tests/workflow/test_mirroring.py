from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from harness.tracking.address import VARIABLE
from harness.tracking.record import Record
from harness.workflow import mirroring
from harness.workflow.mirroring import send, waits
from harness.workflow.workspace import Workspace

FULL = ("full", "raw-only")
TRIAL = Record("dev", "trial", "harness.trial", {"harness.trial": "s/1"}, metrics={"R_at_10": 0.5})


@pytest.fixture
def workspace(finished: Any) -> Workspace:
    """A workspace with a verdict, which is mirrored."""
    return Workspace(finished.root)


def outbox(root: Path) -> list[Path]:
    """What waits."""
    return sorted((root / "runs" / "outbox").glob("*"))


def receipt(desk: Any) -> str:
    """What stands beside the verdict."""
    return str(json.loads(desk.full("mirror.json").read_text())["state"])


def runs(root: Path, experiment: str) -> list[Any]:
    """The runs that MLflow shows."""
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{root}/runs/mlflow.db")
    found = client.get_experiment_by_name(experiment)
    return list(client.search_runs([found.experiment_id])) if found else []


def test_the_outbox_is_empty_after_a_verdict(whole_way: Any) -> None:
    """Mirrored at once, with the run's id beside the verdict."""
    assert outbox(whole_way.finished) == []
    noted = json.loads((whole_way.finished / "runs/full/raw-only/mirror.json").read_text())
    (run,) = runs(whole_way.finished, "full")
    assert noted == {"experiment": "full", "run": run.info.run_id, "state": "mirrored"}


@pytest.mark.parametrize("broken_server", ["silent"], indirect=True)
def test_a_verdict_does_not_wait_for_a_server(broken_server: str, locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict has its own exit code and is complete; its mirror waits until a store works."""
    monkeypatch.setenv(VARIABLE, broken_server)
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "1")
    done = locked.run(*FULL)
    assert done.code == 0, done.err
    (note,) = [line for line in done.err.splitlines() if "not in MLflow yet" in line]
    assert "raw-only" in note
    assert broken_server in note
    assert "harness mirror" in note
    assert "Traceback" not in done.err
    assert (receipt(locked), len(outbox(locked.root))) == ("waiting", 1)
    assert locked.run(*FULL).code == 12
    code, status, reason = locked.verify()
    assert (code, status["mirror"]) == (0, "NOTRUN")
    assert "outbox" in reason["mirror"]
    done = locked.run("mirror")
    assert (done.code, "still waiting: raw-only" in done.out) == (4, True), done.err
    monkeypatch.delenv(VARIABLE)
    done = locked.run("mirror", "--json")
    assert (done.code, done.json["mirrored"], done.json["waiting"]) == (0, ["raw-only"], {})
    assert (receipt(locked), outbox(locked.root)) == ("mirrored", [])
    code, status, _ = locked.verify()
    assert (code, status["mirror"]) == (0, "PASS")


def test_a_verdict_does_not_wait_for_a_store(locked: Any) -> None:
    """A damaged store costs nothing, and is left as it was."""
    store = locked.root / "runs" / "mlflow.db"
    store.write_bytes(b"not a database" * 100)
    done = locked.run(*FULL)
    assert done.code == 0
    assert "not a database" in done.err
    assert receipt(locked) == "waiting"
    assert store.read_bytes() == b"not a database" * 100


def test_an_address_that_is_refused_costs_no_verdict(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may be set for other programs; `harness mirror` then says what is wrong with it."""
    monkeypatch.setenv(VARIABLE, "file:///tmp/runs")
    done = locked.run(*FULL)
    assert done.code == 0
    assert "plain folders" in done.err
    assert locked.verify()[0] == 0
    done = locked.run("mirror")
    assert (done.code, done.out) == (2, "")
    assert "unset MLFLOW_TRACKING_URI" in done.err


def test_a_verdict_on_a_server(locked: Any, mlflow_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says where it mirrors; `verify` asks there; the workspace gets no store of its own."""
    from mlflow import MlflowClient

    monkeypatch.setenv(VARIABLE, mlflow_server)
    (locked.root / "runs" / "mlflow.db").unlink(missing_ok=True)
    done = locked.run(*FULL)
    assert done.code == 0
    assert f"mirroring to {mlflow_server}" in done.err
    code, status, _ = locked.verify()
    assert (code, status["mirror"]) == (0, "PASS")
    assert not (locked.root / "runs" / "mlflow.db").exists()
    run = json.loads(locked.full("mirror.json").read_text())["run"]
    files = {item.path for item in MlflowClient(mlflow_server).list_artifacts(run)}
    assert files == {"report.html", "report.md"}


def test_killed_between_mirror_and_outbox(crash: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is mirrored and still in the outbox is mirrored once: the next command finds the run and tidies up."""
    desk = dataclasses.replace(crash.copies(["noted"])["noted"], capsys=capsys)
    assert crash.go([("noted as mirrored", desk, FULL)]) == [-signal.SIGKILL]
    monkeypatch.setenv("XDG_STATE_HOME", str(desk.state))
    assert len(outbox(desk.root)) == 1
    assert desk.run(*FULL).code == 12
    assert desk.run("mirror").code == 0
    assert outbox(desk.root) == []
    assert len(runs(desk.root, "full")) == 1
    assert desk.verify()[1]["mirror"] == "PASS"


def test_a_later_command_brings_what_waits(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is sent next, the outbox goes first."""
    monkeypatch.setenv(VARIABLE, "ftp://nowhere")
    sent = send(workspace, [TRIAL])
    assert (sent.mirrored, list(sent.waiting)) == ((), ["trial"])
    assert waits(workspace, TRIAL)
    monkeypatch.delenv(VARIABLE)
    other = dataclasses.replace(TRIAL, name="other", tags={"harness.trial": "s/2"})
    sent = send(workspace, [other])
    assert (sent.mirrored, sent.waiting, sent.note) == (("trial", "other"), {}, "")
    assert not waits(workspace, TRIAL)


def test_of_two_records_of_one_run_the_later_counts(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sweep that was broken off, and then finished, before the store worked."""
    monkeypatch.setenv(VARIABLE, "ftp://nowhere")
    for status in ("KILLED", "FINISHED", "KILLED"):
        send(workspace, [dataclasses.replace(TRIAL, status=status)])
    assert len(outbox(workspace.root)) == 2
    monkeypatch.delenv(VARIABLE)
    send(workspace, [])
    assert [run.info.status for run in runs(workspace.root, "dev") if run.info.run_name == "trial"] == ["KILLED"]


def test_one_record_that_is_refused_keeps_no_other_out(workspace: Workspace) -> None:
    """Neither a record that MLflow does not take nor a file that is damaged."""
    folder = workspace.runs / "outbox"
    folder.mkdir(exist_ok=True)
    (folder / "broken.json").write_text("{")
    (folder / "later.json").write_text('{"format": 2, "record": {}}')
    sent = send(workspace, [dataclasses.replace(TRIAL, experiment="", name="nameless"), TRIAL])
    assert sent.mirrored == ("trial",)
    assert sorted(sent.waiting) == ["broken.json", "later.json", "nameless"]
    assert "MLflow refuses these values" in sent.waiting["nameless"]
    assert "delete it" in sent.waiting["broken.json"]
    assert len(outbox(workspace.root)) == 3


def test_a_slow_store_holds_a_command_up_for_a_time_only(workspace: Workspace) -> None:
    """What is not begun in time waits, and nothing of it is lost."""
    sent = send(workspace, [TRIAL], seconds=-1)
    assert "slow" in sent.waiting["trial"]
    assert send(workspace, []).mirrored == ("trial",)


def test_where_nothing_can_be_kept(workspace: Workspace) -> None:
    """An outbox that cannot be written is told, and raises nothing."""
    shutil.rmtree(workspace.runs / "outbox", ignore_errors=True)
    (workspace.runs / "outbox").write_text("")
    sent = send(workspace, [TRIAL])
    assert "nor could it be put into the outbox" in sent.waiting["trial"]
    assert "trial" in sent.note


def test_a_note_is_one_line_however_much_waits(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few names, and how many more."""
    monkeypatch.setenv(VARIABLE, "ftp://nowhere")
    records = [dataclasses.replace(TRIAL, name=f"t{n}", tags={"harness.trial": f"s/{n}"}) for n in range(20)]
    note = send(workspace, records).note
    assert "t0, t1, t2 and 17 more" in note
    assert "\n" not in note


def test_what_a_crashed_writer_left_is_removed_when_it_is_old(workspace: Workspace) -> None:
    """A young one may be another process's that is still writing."""
    folder = workspace.runs / "outbox"
    folder.mkdir(exist_ok=True)
    old, young = ".tmp-00000000-1-0a", ".tmp-00000000-1-0b"  # of another machine
    for name in (old, young):
        (folder / name).write_text("half a rec")
    os.utime(folder / old, (time.time() - 7200,) * 2)
    send(workspace, [])
    assert [path.name for path in outbox(workspace.root)] == [young]


def test_a_workspace_that_is_moved_while_something_waits(
    finished: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files to attach are found by their place in the workspace."""
    from mlflow import MlflowClient

    monkeypatch.setenv(VARIABLE, "ftp://nowhere")
    assert finished.run("mirror", "raw-only").code == 2  # refused before anything is put off
    page = "runs/full/raw-only/report.md"
    send(Workspace(finished.root), [dataclasses.replace(TRIAL, artifacts=(page,))])
    monkeypatch.delenv(VARIABLE)
    moved = Workspace(Path(shutil.move(finished.root, tmp_path / "moved place")))
    assert send(moved, []).mirrored == ("trial",)
    (run,) = [run for run in runs(moved.root, "dev") if run.info.run_name == "trial"]
    client = MlflowClient(f"sqlite:///{moved.store}")
    assert [item.path for item in client.list_artifacts(run.info.run_id)] == ["report.md"]


def test_many_records_are_counted(workspace: Workspace) -> None:
    """They go in one opening of the store, and progress tells how far it is."""
    told: list[str] = []

    class Told(type(mirroring.SILENT)):  # type: ignore[misc]
        def counting(self, what: str, total: int, unit: str, *, done: int = 0) -> Any:
            told.append(f"{total} {unit}")
            return super().counting(what, total, unit, done=done)

    records = [dataclasses.replace(TRIAL, name=f"t{n}", tags={"harness.trial": f"many/{n}"}) for n in range(12)]
    assert len(send(workspace, records, Told()).mirrored) == 12
    assert told == ["12 runs"]
    assert outbox(workspace.root) == []
