from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.errors import EnvironmentProblem, UsageProblem
from harness.tracking import ui
from harness.tracking.ui import serving

# says which process it started, so that the test can look whether that one ends
STARTING = """
import sys
from pathlib import Path
from harness.tracking import ui

start = ui.subprocess.Popen

def telling(*arguments, **named):
    process = start(*arguments, **named)
    print(process.pid, flush=True)
    return process

ui.subprocess.Popen = telling
with ui.serving(sys.argv[1], Path(sys.argv[2])):
    pass
"""


def group_is_gone(number: int) -> bool:
    """Whether no process of a group runs any more; one that ended and was not asked for counts as ended."""
    listed = subprocess.run(["ps", "-A", "-o", "pgid=,stat="], capture_output=True, text=True, check=True)
    rows = [line.split() for line in listed.stdout.splitlines()]
    return not any(group == str(number) and not state.startswith("Z") for group, state in rows)


def uri(database: Path) -> str:
    """A store's address."""
    return f"sqlite:///{database}"


def test_a_server_that_cannot_start_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is no database ends in one error with the server's own words, and every process is gone."""
    (tmp_path / "mlflow.db").write_text("not a database " * 100)
    started: list[int] = []
    start = ui.subprocess.Popen

    def noting(*arguments, **named):  # type: ignore[no-untyped-def]
        process = start(*arguments, **named)
        started.append(process.pid)
        return process

    monkeypatch.setattr(ui.subprocess, "Popen", noting)
    with (
        pytest.raises(EnvironmentProblem, match=r"did not start \(.*not a database"),
        serving(uri(tmp_path / "mlflow.db"), tmp_path),
    ):
        pytest.fail("it serves")
    assert len(started) == 1
    assert group_is_gone(started[0])


def test_a_server_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """Killed without a chance to tidy up, the one who looks leaves no server behind."""
    words = [sys.executable, "-c", STARTING, uri(tmp_path / "mlflow.db"), str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        server = int(watching.stdout.readline())
        assert not group_is_gone(server)
        watching.send_signal(signal.SIGKILL)
    end = time.monotonic() + 60
    while not group_is_gone(server) and time.monotonic() < end:
        time.sleep(0.1)
    assert group_is_gone(server)


def test_a_port_that_is_taken_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another program's port is left alone, and the way out is named."""
    monkeypatch.setattr(ui.subprocess, "Popen", lambda *_, **__: pytest.fail("a server was started"))
    with socket.socket() as other:
        other.bind((ui.HOST, 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(EnvironmentProblem, match=f"port {port} cannot be had: address already in use") as caught:
            serving(uri(tmp_path / "mlflow.db"), tmp_path, port).__enter__()
    assert "--port" in caught.value.fix


@pytest.mark.parametrize("port", [-1, 0, 65536])
def test_a_number_that_is_no_port_is_refused(port: int, tmp_path: Path) -> None:
    """The system would take 0 for any port, and say nothing useful of the others."""
    with pytest.raises(UsageProblem, match="is no port"):
        serving(uri(tmp_path / "mlflow.db"), tmp_path, port).__enter__()
    assert not list(tmp_path.iterdir())
