"""Runs commands in child processes that kill themselves at a given point, or that start at the same moment.

Its argument is a JSON list of jobs, each with a point ("" for none), the command's words, and the user's state
folder; with a second argument all jobs start at once. Prints a JSON list of exit codes, −9 for the killed.
Children are forked, so that everything is imported once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from harness.cli.main import main
from harness.ledger import Ledger, durable
from harness.tracking.mirror import Mirror
from harness.workflow import full, mirroring, publish, runfiles, workspace


def die() -> None:
    """As if the power had gone."""
    os.kill(os.getpid(), signal.SIGKILL)


def always(*_: Any, **__: Any) -> bool:
    """Every call counts."""
    return True


def before(place: Any, name: str, when: Callable[..., bool] = always) -> None:
    """Die instead of calling."""
    original = getattr(place, name)

    def dying(*arguments: Any, **named: Any) -> Any:
        if when(*arguments, **named):
            die()
        return original(*arguments, **named)

    setattr(place, name, dying)


def after(place: Any, name: str, when: Callable[..., bool] = always) -> None:
    """Die as soon as the call is done."""
    original = getattr(place, name)

    def dying(*arguments: Any, **named: Any) -> Any:
        value = original(*arguments, **named)
        if when(*arguments, **named):
            die()
        return value

    setattr(place, name, dying)


def kind(wanted: str) -> Callable[..., bool]:
    """Whether `Workspace.record` is called for this kind of entry."""
    return lambda _workspace, said, _payload: said == wanted


def mirror_half_written() -> None:
    """Die when MLflow is about to be told that the run is finished."""
    from mlflow import MlflowClient

    before(MlflowClient, "set_terminated")


def names(wanted: str) -> Callable[..., bool]:
    """Whether a durable write is for this file."""
    return lambda path, _data: path.name == wanted


RECORD = (workspace.Workspace, "record")
POINTS: dict[str, Callable[[], None]] = {
    "": lambda: None,
    "first ranking written": lambda: after(runfiles, "write_ranking"),
    "before the seal": lambda: before(*RECORD, kind("seal")),
    "after the seal": lambda: after(*RECORD, kind("seal")),
    "token without an entry": lambda: after(full, "take"),
    "after the claim": lambda: after(*RECORD, kind("claim")),
    "evidence written": lambda: after(runfiles, "write_evidence"),
    "before the verdict": lambda: before(*RECORD, kind("verdict")),
    "after the verdict": lambda: after(*RECORD, kind("verdict")),
    "verdict without a witness": lambda: after(Ledger, "append", lambda _self, said, *_, **__: said == "verdict"),
    "half a page": lambda: before(durable, "replace", names("report.md")),
    "page written": lambda: after(publish, "write_report"),
    "mirror half written": mirror_half_written,
    "in the outbox": lambda: after(mirroring, "_put"),
    "mirrored": lambda: after(Mirror, "write"),
    "noted as mirrored": lambda: after(mirroring, "write_receipt"),
    "before the lock": lambda: before(*RECORD, kind("lock")),
    "after the lock": lambda: after(*RECORD, kind("lock")),
}


def child(job: dict[str, Any], gate: tuple[int, int] | None = None) -> int:
    """Start the job in a child of its own and return its process id."""
    pid = os.fork()
    if pid:
        return pid
    code = 99
    try:
        os.environ["XDG_STATE_HOME"] = job["state"]
        POINTS[job["point"]]()
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - until the process ends
        if gate is not None:
            os.close(gate[1])
            os.read(gate[0], 1)  # returns when nobody holds the other end any more
        code = main(job["arguments"])
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(code)


def one_after_the_other(jobs: list[dict[str, Any]]) -> list[int]:
    """Exit codes of jobs: those of one workspace in turn, those of different ones two at a time."""
    chains: dict[str, list[int]] = {}
    for place, job in enumerate(jobs):
        chains.setdefault(job["arguments"][-1], []).append(place)
    waiting, running, codes = list(chains.values()), {}, [99] * len(jobs)
    while waiting or running:
        while waiting and len(running) < 2:
            chain = waiting.pop()
            running[child(jobs[chain[0]])] = chain
        pid, status = os.wait()
        place, *rest = running.pop(pid)
        codes[place] = os.waitstatus_to_exitcode(status)
        if rest:
            waiting.append(rest)
    return codes


def all_at_once(jobs: list[dict[str, Any]]) -> list[int]:
    """Exit codes of jobs that begin at the same moment."""
    gate = os.pipe()
    children = [child(job, gate) for job in jobs]
    os.close(gate[1])
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    json.dump(all_at_once(given) if len(sys.argv) > 2 else one_after_the_other(given), sys.stdout)
