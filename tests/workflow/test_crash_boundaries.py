"""Lock and full run, disturbed at every system call that changes the disk: killed, told to stop, refused the call."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
RUN, LEDGER, CLAIMS = "runs/full/raw-only", "preregistrations/ledger", "preregistrations/.claims"
HEADS, LOOKS = "STATE/retrieval-harness/heads", "STATE/retrieval-harness/outside-looks"
SIGNALS = {"kill": signal.SIGKILL, "term": signal.SIGTERM, "interrupt": signal.SIGINT}


def tried(folder: str) -> list[str]:
    """A small file, to learn early whether the folder takes any."""
    return [f"{word} {folder}/.tmp" for word in ("create", "write", "fsync", "unlink")]


def replaced(folder: str, name: str) -> list[str]:
    """A file written anew in one step."""
    steps = [f"{word} {folder}/.tmp" for word in ("create", "write", "fsync")]
    return [*steps, f"rename {folder}/{name}", f"fsync {folder}"]


def published(folder: str, name: str) -> list[str]:
    """A new file that replaces nothing."""
    steps = [f"{word} {folder}/.tmp" for word in ("create", "write", "fsync")]
    return [*steps, f"link {folder}/{name}", f"unlink {folder}/.tmp", f"fsync {folder}"]


def made(*folders: str) -> list[str]:
    """New folders, the outermost first, each forced to the disk by the folder that it is in."""
    return [*(f"mkdir {each}" for each in folders), *(f"fsync {os.path.dirname(each)}" for each in folders[::-1])]  # noqa: PTH120


def recorded(number: int) -> list[str]:
    """A ledger entry and its witnesses; the witnesses' places are there."""
    entry = published(LEDGER, f"{number:06d}-HASH.json")
    return [*entry, *replaced(RUN, "head.json"), *replaced(HEADS, "HASH.json")]


# every boundary in order, as strace lists them for an undisturbed run; see `boundaries.py` for the names
LOCK = [
    *tried("preregistrations"),
    *made(CLAIMS),
    f"create {CLAIMS}/.locking",
    *made(LEDGER, f"{LEDGER}/questions"),
    *published(f"{LEDGER}/questions", "HASH.json"),
    f"create {LEDGER}/.lock",
    *published(LEDGER, "000001-HASH.json"),
    *made("runs/full", RUN),
    *replaced(RUN, "head.json"),
    "mkdir STATE/retrieval-harness",
    f"mkdir {HEADS}",
    "fsync STATE/retrieval-harness",
    "fsync STATE/",
    f"create {HEADS}/HASH.lock",
    *replaced(HEADS, "HASH.json"),
]
SEALED = ("ranking-baseline.jsonl", "documents-baseline.jsonl", "ranking-candidate.jsonl", "documents-candidate.jsonl",
          "questions.jsonl", "budget.json", "environment.json")  # fmt: skip
FULL = [
    *tried(RUN),
    *tried(LEDGER),
    *tried(f"{LEDGER}/questions"),
    f"create {RUN}/.running",
    *replaced(RUN, ".running-by"),
    *(step for name in SEALED for step in replaced(RUN, name)),
    *recorded(2),  # seal
    *published(CLAIMS, "HASH.json"),
    *recorded(3),  # claim
    *made(LOOKS),
    *made(f"{LOOKS}/questions"),
    *published(f"{LOOKS}/questions", "HASH.json"),
    *published(LOOKS, "HASH.json"),
    *replaced(RUN, "evidence.jsonl"),
    *replaced(RUN, "scores.json"),
    *recorded(4),  # verdict
    *replaced(RUN, "report.html"),
    *replaced(RUN, "report.md"),
    *made("runs/outbox"),
    *replaced("runs/outbox", "raw-only-HASH.json"),
    *replaced(RUN, "mirror.json"),
    f"unlink {RUN}/.running-by",
    f"unlink {RUN}/.running",
]
LISTED = {"lock": LOCK, "full": FULL}


@pytest.fixture(scope="module")
def ask(whole_way: Any) -> Iterator[Callable[..., dict[str, Any]]]:
    """Asks `boundaries_run.py`, in memory where that can be: it is the order of calls that counts, not the disk."""
    memory = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None, prefix="boundaries-"))
    shutil.copytree(whole_way.locked, base / "full" / "ws")
    shutil.copytree(whole_way.base / "locked-state", base / "full" / "state")
    draft = shutil.copytree(whole_way.locked, base / "lock" / "ws")
    for name in (LEDGER, CLAIMS, "runs/full"):
        shutil.rmtree(draft / name)

    def asked(**given: Any) -> dict[str, Any]:
        (base / "work").mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, str(HERE / "boundaries_run.py")],
            input=json.dumps({"templates": str(base), "work": str(base / "work"), "plans": [], **given}),
            env=whole_way.environment(base / "none", HARNESS_DEBUG=""), capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    script = f"import sys; sys.path.insert(0, {str(HERE)!r}); import boundaries_trap; print(boundaries_trap.obstacle())"
    reason = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    if reason:
        pytest.skip(reason)
    yield asked
    shutil.rmtree(base)


@pytest.fixture(scope="module")
def trials(ask: Callable[..., dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Outcomes by what was done: killed in every state of the disk; the others at some boundaries each."""
    plans: list[dict[str, Any]] = []
    for number, command in enumerate(LISTED):
        plans.append({"command": command, "signal": signal.SIGKILL, "states": True, "every": [0, 1]})
        plans.append({"command": command, "signal": signal.SIGTERM, "every": [1 + number, 19]})
        plans.append({"command": command, "signal": signal.SIGINT, "every": [11 - number, 19]})
        plans.append({"command": command, "error": errno.ENOSPC, "lasting": True, "every": [2, 17]})
        plans.append({"command": command, "error": errno.EIO, "every": [8, 23]})
        plans.append({"command": command, "error": errno.EACCES, "every": [0, 29]})
    found: dict[str, list[dict[str, Any]]] = {}
    for outcome in ask(plans=plans)["outcomes"]:
        plan = outcome["plan"]
        done = errno.errorcode[plan["error"]] if plan["error"] else signal.Signals(plan["signal"]).name
        found.setdefault(done, []).append(outcome)
    return found


def faults(outcomes: list[dict[str, Any]]) -> list[str]:
    """What was found, with the boundary at which the command was disturbed."""
    return [f"{o['plan']['command']} {o['boundary']}: {o['codes']}: {o['faults']}" for o in outcomes if o["faults"]]


def test_the_list_is_what_strace_sees(ask: Callable[..., dict[str, Any]]) -> None:
    """The list is complete: strace sees these calls and no others in a real process, and so does the supervisor."""
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("strace is not installed")
    works = subprocess.run([strace, "-f", "-o", os.devnull, "true"], capture_output=True, text=True)
    if works.returncode:
        pytest.skip(f"strace cannot trace here: {works.stderr.strip()}")
    seen = ask(trace=[*LISTED])
    assert seen["traced"] == LISTED
    assert seen["boundaries"] == LISTED


def test_killed_before_every_call_the_same_command_goes_on(trials: dict[str, list[dict[str, Any]]]) -> None:
    """SIGKILL in every state of the disk: no figure before the claim; started again, the same bytes, one claim, one
    verdict, nothing left over, and the verifier agrees."""
    outcomes = trials["SIGKILL"]
    assert faults(outcomes) == []
    assert {outcome["codes"][0] for outcome in outcomes} == {-signal.SIGKILL}
    killed = Counter(outcome["plan"]["command"] for outcome in outcomes)
    not_after_fsync = {
        command: 1 + sum(not name.startswith("fsync") for name in names[:-1]) for command, names in LISTED.items()
    }
    assert killed == not_after_fsync


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_told_to_stop_at_a_call(trials: dict[str, list[dict[str, Any]]], name: str) -> None:
    """SIGTERM and Ctrl-C instead of a call: exit 130 with one line, and the same command goes on as after a kill."""
    assert faults(trials[name]) == []
    assert {outcome["codes"][0] for outcome in trials[name]} == {130}


@pytest.mark.parametrize("name", ["ENOSPC", "EIO", "EACCES"])
def test_refused_a_call(trials: dict[str, list[dict[str, Any]]], name: str) -> None:
    """A call that fails ends the command with 4 and one line that names a path, unless it can do without; the same
    command then goes on as after a kill."""
    assert faults(trials[name]) == []
    assert {outcome["codes"][0] for outcome in trials[name]} <= {0, 4}
    assert 4 in {outcome["codes"][0] for outcome in trials[name]}
