"""Runs MLflow's own server on an sqlite store, for this machine only and for as long as somebody looks."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.errors import EnvironmentProblem, UsageProblem

HOST = "127.0.0.1"
_START_SECONDS = 180.0  # a first start takes 20 to 40 seconds on an ordinary machine
_STOP = ((signal.SIGTERM, 5.0), (signal.SIGKILL, 1.0))  # how a server is asked to end, and for how many seconds
_POLL_SECONDS = 0.1
_LONGEST = 300  # characters of the server's own message that are repeated

# The server, and what ends it with all its children when this process is gone, even killed or with its terminal:
# then nobody holds the other end of its input any more.
_SERVER = """
import os, signal, threading

def end_with_parent():
    os.read(0, 1)
    os.killpg(0, signal.SIGKILL)

threading.Thread(target=end_with_parent, daemon=True).start()

from mlflow.cli import cli

cli.main()
"""


@dataclass(frozen=True)
class Server:
    """A server that answers.

    Attributes:
        url: where a browser finds it.
        process: the process that was started; what it started in turn is in its process group.
    """

    url: str
    process: subprocess.Popen[bytes]

    def wait(self) -> None:
        """Wait until the server ends, which it does by itself only if it fails.

        Raises:
            EnvironmentProblem: it ended.
        """
        code = self.process.wait()
        raise EnvironmentProblem(f"MLflow's server ended with code {code}", where=self.url, fix="start it again")


@contextlib.contextmanager
def serving(uri: str, folder: Path, port: int | None = None) -> Iterator[Server]:
    """Start MLflow's server, and stop it with all its children at the end of the body.

    Args:
        uri: the store.
        folder: where the server works; files that are sent to it go to ``mlartifacts`` there.
        port: where it listens; by default a free one.

    Raises:
        UsageProblem: there is no such port.
        EnvironmentProblem: the port is taken or not allowed, or the server does not start.
    """
    chosen = _free_port(port)
    command = [
        *(sys.executable, "-c", _SERVER, "server", "--backend-store-uri", uri),
        *("--host", HOST, "--port", str(chosen), "--workers", "1", "--uvicorn-opts", "--log-level warning"),
    ]
    # its job runner would be four more processes, for evaluations that nobody asks for here
    environment = {**os.environ, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    with tempfile.TemporaryFile() as output:
        # a session of its own: Ctrl-C reaches us only, and the whole group can be stopped together
        process = subprocess.Popen(  # noqa: S603 - our own interpreter; what varies is a path and a number
            command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=output, stderr=output,
            start_new_session=True,
        )  # fmt: skip
        try:
            server = Server(f"http://{HOST}:{chosen}", process)
            _wait_for(server, output)
            yield server
        finally:
            _stop(process)


def _free_port(port: int | None) -> int:
    if port is not None and not 1 <= port <= 65535:
        raise UsageProblem(f"{port} is no port", where="--port", allowed="1 to 65535")
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # as the server does: a port whose last connections are still closing can be had
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port or 0))
        except OSError as error:
            what = f"port {port} cannot be had: {(error.strerror or str(error)).lower()}"
            raise EnvironmentProblem(what, where="--port", fix="leave --port out, and a free one is taken") from None
        return int(probe.getsockname()[1])


def _wait_for(server: Server, output: IO[bytes]) -> None:
    """Return as soon as the server answers."""
    # no proxy: the address is this machine's own
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    end = time.monotonic() + _START_SECONDS
    while server.process.poll() is None and time.monotonic() < end:
        with contextlib.suppress(OSError), opener.open(f"{server.url}/health", timeout=5) as answer:
            if answer.status == 200 and server.process.poll() is None:
                return
        time.sleep(_POLL_SECONDS)
    ended = server.process.poll() is not None
    why = _last_words(output) if ended else f"no answer within {_START_SECONDS:g} seconds"
    raise EnvironmentProblem(
        f"MLflow's server did not start ({why})", where=server.url, fix="harness mirror checks the store"
    )


def _last_words(output: IO[bytes]) -> str:
    """What the server said last: the line that ends a traceback, else whatever came last."""
    output.seek(0)
    lines = [line.strip() for line in output.read().decode("utf-8", "replace").splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]+(?:Error|Exception): ", line)]
    return (errors or lines or ["it said nothing"])[-1][:_LONGEST]


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process group, first politely; a child that its parent has left behind is in it too."""
    for number, patience in _STOP:
        end = time.monotonic() + patience
        while _alive(process) and time.monotonic() < end:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            time.sleep(_POLL_SECONDS)
    process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _alive(process: subprocess.Popen[bytes]) -> bool:
    process.poll()  # an ended child stays in its group until it was asked
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True
