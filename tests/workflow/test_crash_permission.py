"""Another Unix user at the workspace, from whom permission is taken at any stage, or whose home cannot be written."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import harness
from harness.cli.main import main
from harness.workflow import full, runfiles, workspace

NOBODY = 65534
LOCK, FULL = ("prereg", "lock", "raw-only"), ("full", "raw-only")
RUN, LEDGER, CLAIMS = "runs/full/raw-only", "preregistrations/ledger", "preregistrations/.claims"

# name of the stage → what is called then, the folder that cannot be written from then on, and what is on record by then
STAGES = {
    "before the run": (None, RUN, ["lock"]),
    "before the ledger": (None, LEDGER, ["lock"]),
    "one system ranked": ((runfiles, "write_ranking"), RUN, ["lock"]),
    "all ranked": ((workspace.Workspace, "record"), LEDGER, ["lock"]),
    "sealed": ((full, "take"), CLAIMS, ["lock", "seal"]),
    "claimed": ((full, "judge_run"), RUN, ["lock", "seal", "claim"]),
    "judged": ((full, "publish"), RUN, ["lock", "seal", "claim", "verdict"]),
}


@contextlib.contextmanager
def as_nobody() -> Iterator[None]:
    """Act as a user who owns nothing but what was given to them; root may write everywhere."""
    group, groups = os.getegid(), os.getgroups()
    os.setgroups([])
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)


@pytest.fixture(scope="module")
def imported(whole_way: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Everything that the commands import, imported: the other user may be unable to read this interpreter's files."""
    if getattr(os, "geteuid", lambda: 1)() != 0:
        pytest.skip("only root can act as another user")
    for package in (harness, np):
        with as_nobody():
            if not os.access(str(package.__file__), os.R_OK, effective_ids=True):
                pytest.skip("another user cannot read the installed packages")
    folder = tmp_path_factory.mktemp("imported")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.setenv("MLFLOW_TRACKING_URI", "not-a-store")
        root = shutil.copytree(whole_way.locked, folder / "ws")
        for words in (LOCK, FULL, ("verify", "raw-only")):
            assert main([*words, "--workspace", str(root)]) == 0


@pytest.fixture
def theirs(
    imported: None,  # noqa: ARG001 - used for what it loads
    whole_way: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Any]:
    """The desk of another user with a locked document, where every folder up to it can be entered."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        shutil.copytree(whole_way.base / "locked-state", base / "state")
        shutil.copytree(whole_way.locked, base / "ws")
        for path in (base / "ws", base / "state", *base.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        monkeypatch.setenv("XDG_STATE_HOME", str(base / "state"))
        monkeypatch.setenv("MLFLOW_TRACKING_URI", "not-a-store")  # MLflow is no part of this
        yield type(whole_way.desk(base))(base / "ws", base / "state", capsys)


def run(desk: Any, *words: str) -> Any:
    """Run a command as the other user."""
    with as_nobody():
        return desk.run(*words)


def refused(done: Any, place: Path) -> None:
    """The command ended with 4 and one message: the place, what was denied, and the mend."""
    assert done.code == 4, done.err
    message = [line for line in done.err.splitlines() if not line.startswith("[")]
    assert message[0].startswith(f"harness: {place}")
    assert message[0].endswith("Permission denied")
    assert message[1:] == ["  fix: give yourself permission there, then run the command again"]


@pytest.mark.parametrize("stage", STAGES)
def test_permission_lost_during_a_full_run(theirs: Any, monkeypatch: pytest.MonkeyPatch, stage: str) -> None:
    """Whenever a folder stops taking files the run ends (4) with its name; given back, the same command finishes."""
    call, where, kinds = STAGES[stage]
    folder = theirs.root / where
    if call is None:
        folder.chmod(0o555)
    else:
        original = getattr(*call)

        def lose(*arguments: Any, **named: Any) -> Any:
            folder.chmod(0o555)
            return original(*arguments, **named)

        place, name = call
        monkeypatch.setattr(place, name, lose)
    done = run(theirs, *FULL)
    monkeypatch.undo()
    monkeypatch.setenv("XDG_STATE_HOME", str(theirs.state))
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "not-a-store")
    refused(done, folder)
    assert theirs.kinds() == kinds
    rankings = {path: path.read_bytes() for path in folder.parent.rglob("ranking-*")} if "seal" in kinds else {}

    folder.chmod(0o755)
    assert run(theirs, *FULL).code == 0
    assert theirs.kinds() == ["lock", "seal", "claim", "verdict"]
    assert rankings == {path: path.read_bytes() for path in rankings}
    assert [path for path in theirs.root.rglob(".*") if path.name.startswith((".tmp-", ".running"))] == []


@pytest.mark.parametrize("name", ["preregistrations", LEDGER, f"{LEDGER}/questions", CLAIMS])
def test_permission_lost_before_a_lock(theirs: Any, name: str) -> None:
    """A lock that cannot be written ends (4) with the folder's name and leaves no entry; later it is made."""
    shutil.rmtree(theirs.root / LEDGER)
    shutil.rmtree(theirs.root / "runs" / "full")
    shutil.rmtree(theirs.root / CLAIMS)
    folder = theirs.root / name
    folder.mkdir(parents=True, exist_ok=True)
    for path in (theirs.root / LEDGER, folder):
        if path.exists():
            os.chown(path, NOBODY, NOBODY)
    folder.chmod(0o555)
    refused(run(theirs, *LOCK), folder)
    assert theirs.kinds() == []
    folder.chmod(0o755)
    assert run(theirs, *LOCK).code == 0
    assert theirs.kinds() == ["lock"]


@pytest.mark.parametrize("home", ["read-only", "closed", "none"])
def test_a_home_that_cannot_be_written_is_a_note(theirs: Any, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    """The user's own witness is a help: without it lock, run and verification work, and the user is told."""
    shutil.rmtree(theirs.root / LEDGER)
    shutil.rmtree(theirs.root / "runs" / "full")
    shutil.rmtree(theirs.state / "retrieval-harness", ignore_errors=True)
    if home == "none":
        monkeypatch.delenv("XDG_STATE_HOME")
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.setattr(Path, "home", _homeless)
    else:
        theirs.state.chmod(0o555 if home == "read-only" else 0)
    for words in (LOCK, FULL):
        done = run(theirs, *words)
        assert done.code == 0, done.err
        assert done.err.count("no witness outside of this workspace") == 1
    done = run(theirs, "verify", "raw-only")
    assert done.code == 0, done.err
    theirs.state.chmod(0o755)
    assert list(theirs.state.iterdir()) == []


def _homeless() -> Path:
    raise RuntimeError("Could not determine home directory.")
