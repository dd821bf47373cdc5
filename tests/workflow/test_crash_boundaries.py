"""Lock and full run, killed at every call that changes the disk; the same command then goes on as if nothing was."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LEDGER, CLAIMS = "ws/preregistrations/ledger", "ws/preregistrations/.claims"
RUN, OUTBOX, HOME = "ws/runs/full/raw-only", "ws/runs/outbox", "state/retrieval-harness"
LOOKS = f"{HOME}/outside-looks"


def written(folder: str) -> list[str]:
    """A file under a temporary name."""
    return [f"{call} {folder}/.tmp" for call in ("create", "write", "fsync")]


def tried(folder: str) -> list[str]:
    """Whether a folder takes a file."""
    return [*written(folder), f"unlink {folder}/.tmp"]


def published(folder: str, name: str) -> list[str]:
    """A new file, unless the name is taken."""
    link = f"link {folder}/.tmp → {folder}/{name}"
    return [*written(folder), link, f"fsync {folder}", f"unlink {folder}/.tmp"]


def replaced(folder: str, name: str) -> list[str]:
    """A file that may be there already."""
    return [*written(folder), f"rename {folder}/.tmp → {folder}/{name}", f"fsync {folder}"]


def made(folder: str, *below: str) -> list[str]:
    """A folder and those below it."""
    new = [folder, *(f"{folder}/{name}" for name in below)]
    return [*(f"mkdir {path}" for path in new), *(f"fsync {Path(path).parent!s}" for path in reversed(new))]


def recorded(number: int) -> list[str]:
    """An entry of the ledger, then its witnesses beside the run and in the user's home."""
    entry = published(LEDGER, f"{number:06}-*.json")
    return [*entry, *replaced(RUN, "head.json"), *replaced(f"{HOME}/heads", "*.json")]


def ranked(role: str) -> list[str]:
    """A ranking, and what it ranked."""
    return [*replaced(RUN, f"ranking-{role}.jsonl"), *replaced(RUN, f"documents-{role}.jsonl")]


# what strace lists, in order
LOCK = [
    *tried("ws/preregistrations"),
    *made(CLAIMS),
    f"create {CLAIMS}/.locking",
    *made(LEDGER, "questions"),
    *published(f"{LEDGER}/questions", "*.json"),
    f"create {LEDGER}/.lock",
    *published(LEDGER, "000001-*.json"),
    *made("ws/runs/full", "raw-only"),
    *replaced(RUN, "head.json"),
    *made(HOME, "heads"),
    f"create {HOME}/heads/*.lock",
    *replaced(f"{HOME}/heads", "*.json"),
]
SEAL = [
    *(step for folder in (RUN, LEDGER, f"{LEDGER}/questions") for step in tried(folder)),
    f"create {RUN}/.running",
    *replaced(RUN, ".running-by"),
    *ranked("baseline"),
    *ranked("candidate"),
    *(step for name in ("questions.jsonl", "budget.json", "environment.json") for step in replaced(RUN, name)),
    *recorded(2),
]
CLAIM = [*published(CLAIMS, "*.json"), *recorded(3)]
JUDGE = [
    *published(f"{LOOKS}/questions", "*.json"),
    *replaced(LOOKS, "*.json"),
    *replaced(RUN, "evidence.jsonl"),
    *replaced(RUN, "scores.json"),
    *recorded(4),
]
SHOW = [
    *replaced(RUN, "report.html"),
    *replaced(RUN, "report.md"),
    *replaced(OUTBOX, "raw-only-*.json"),
    *replaced(RUN, "mirror.json"),
]
TIDY = [f"unlink {RUN}/.running-by", f"unlink {RUN}/.running"]
COMMANDS = {
    "lock": (("prereg", "lock", "raw-only"), LOCK, ["lock"]),
    "full": (("full", "raw-only"), [*SEAL, *CLAIM, *JUDGE, *SHOW, *TIDY], ["lock", "seal", "claim", "verdict"]),
}
FIGURES = ("evidence.jsonl", "scores.json", "report.html", "report.md", "mirror.json")


@pytest.fixture(scope="module")
def campaign(whole_way: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """For each command its undisturbed run, then one trial for each boundary."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    found = {}
    for name, (words, *_) in COMMANDS.items():
        base = tmp_path_factory.mktemp(f"boundaries-{name}")
        shutil.copytree(whole_way.locked, base / "template/ws")
        shutil.copytree(whole_way.base / "locked-state", base / "template/state")
        if name == "lock":
            for left in (CLAIMS, LEDGER, "ws/runs/full", HOME):
                shutil.rmtree(base / "template" / left)
        job = {"template": str(base / "template"), "folder": str(base), "arguments": words, "faults": ["signal=KILL"]}
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("boundaries.py"))],
            input=json.dumps(job),
            env=whole_way.environment(base, MLFLOW_TRACKING_URI="not-a-store"),
            capture_output=True,
            text=True,
        )
        if "ptrace" in done.stderr:
            pytest.skip(f"no process may be traced here: {done.stderr.strip()}")
        assert done.returncode == 0, done.stderr
        found[name] = [json.loads(line) for line in done.stdout.splitlines()]
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_the_boundaries_are_these(campaign: dict[str, list[Any]], command: str) -> None:
    """Strace lists what is listed here, so that a new one is killed too; each was killed, and where it was meant to."""
    whole, *trials = campaign[command]
    assert whole["codes"] == [0, 0]
    assert whole["boundaries"] == COMMANDS[command][1]
    assert [trial["boundary"] for trial in trials] == whole["boundaries"]
    assert {(trial["stopped"]["code"], trial["reached"]) for trial in trials} == {(-signal.SIGKILL, True)}


BOUNDARIES = [(command, number) for command, (_, steps, _) in COMMANDS.items() for number in range(len(steps))]


@pytest.mark.parametrize(("command", "number"), BOUNDARIES)
def test_killed_there_the_same_command_goes_on(campaign: dict[str, list[Any]], command: str, number: int) -> None:
    """It ends with the bytes of an undisturbed run, is judged once, and leaves nothing to clean by hand."""
    whole, trial = campaign[command][0], campaign[command][1 + number]
    stopped, restarted = trial["stopped"], trial["restarted"]
    steps, kinds = COMMANDS[command][1:]
    # once mirror.json has its name everything is done, and the one run is used
    finished = command == "full" and number >= len(steps) - len(TIDY) - 1
    assert stopped["kinds"] == kinds[: len(stopped["kinds"])]
    assert restarted["code"] == (12 if finished else 0), restarted["said"]
    assert (restarted["kinds"], restarted["claims"]) == (kinds, whole["claims"])
    assert restarted["payloads"] == whole["payloads"]
    assert trial["different"] == []
    assert restarted["files"] == whole["files"]


@pytest.mark.parametrize("number", range(len([*SEAL, *CLAIM])))
def test_killed_before_the_claim_is_on_record_no_figure_is_there(campaign: dict[str, list[Any]], number: int) -> None:
    """Neither on the screen nor on the disk."""
    stopped = campaign["full"][1 + number]["stopped"]
    assert "claim" not in stopped["kinds"] or number > len(SEAL) + len(published(CLAIMS, ""))
    assert not [name for name in stopped["files"] if name.endswith(FIGURES)]
    assert "points" not in stopped["said"]
