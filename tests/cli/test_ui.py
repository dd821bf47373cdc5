from __future__ import annotations

import json
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest


def asked(url: str, value: dict[str, Any] | None = None) -> Any:
    """What the server answers; a value is sent as JSON."""
    data = None if value is None else json.dumps(value).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=60) as answer:
        text = answer.read().decode()
    return text if value is None else json.loads(text)


def processes() -> dict[int, tuple[int, str]]:
    """Every process that runs: id → parent and state."""
    done = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return {int(pid): (int(parent), state) for pid, parent, state in rows if not state.startswith("Z")}


def below(process: int) -> set[int]:
    """A process's children, and theirs."""
    running = processes()
    found: set[int] = set()
    while more := {pid for pid, (parent, _) in running.items() if parent in found | {process}} - found:
        found |= more
    return found


def test_runs_are_shown_until_it_is_stopped(finished: Any) -> None:
    """MLflow's own server answers on this machine only and knows the verdict; stopped, it takes its children along."""
    process = finished.start("ui", "--json")
    try:
        assert process.stdout is not None
        url = json.loads("".join(process.stdout.readline() for _ in range(3)))["url"]
        host, port = url.removeprefix("http://").split(":")
        assert host == "127.0.0.1"
        assert asked(f"{url}/health") == "OK"
        experiments = asked(f"{url}/api/2.0/mlflow/experiments/search", {"max_results": 10})["experiments"]
        number = next(each["experiment_id"] for each in experiments if each["name"] == "full")
        (run,) = asked(f"{url}/api/2.0/mlflow/runs/search", {"experiment_ids": [number]})["runs"]
        assert {"key": "harness.verdict", "value": "PASS"} in run["data"]["tags"]

        second = finished.run("ui", "--port", port)
        assert second.code == 4
        assert f"port {port} cannot be had" in second.err

        children = below(process.pid)
        assert children
    finally:
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err.splitlines()[-1] == "harness: stopped"
    assert not children & processes().keys()


def test_without_a_store_nothing_is_started(desk: Any, refused: Callable[..., str]) -> None:
    """Where nothing was mirrored yet there is nothing to show, and no store is made."""
    assert desk.run("init").code == 0
    refused(desk, 2, "ui", says=("there is no MLflow store yet", "harness dev"))


def test_a_store_that_mlflow_cannot_read_is_refused_at_once(desk: Any, refused: Callable[..., str]) -> None:
    """What is no database ends in one error (4), before half a minute of starting a server in vain."""
    assert desk.run("init").code == 0
    (desk.root / "runs" / "mlflow.db").write_text("not a database " * 100)
    refused(desk, 4, "ui", says=("not a database",))


def test_a_server_of_its_own_is_named_and_not_doubled(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a tracking server configured its address is printed, without the password."""
    assert desk.run("init").code == 0
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://ada:secret@mlflow.example:5000")
    done = desk.run("ui")
    assert (done.code, done.out) == (0, "MLflow is at http://mlflow.example:5000 (MLFLOW_TRACKING_URI)\n")
    assert "secret" not in done.err


@pytest.mark.parametrize("port", ["0", "99999", "http"])
def test_a_port_must_be_one(finished: Any, port: str) -> None:
    """A number out of range or a word is refused (2) before anything starts."""
    done = finished.run("ui", "--port", port)
    assert (done.code, done.out) == (2, "")
    assert "port" in done.err
