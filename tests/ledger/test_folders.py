"""Folders that are there whole or not at all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import EnvironmentProblem
from harness.ledger.folders import remove_dead, whole_folder


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    """Until the body is done nothing stands under the name; afterwards everything does, and nothing else."""
    final = tmp_path / "runs" / "one"
    with whole_folder(final) as partial:
        (partial / "a").write_text("a", encoding="utf-8")
        assert not final.exists()
    assert [path.name for path in final.iterdir()] == ["a"]
    assert [path.name for path in final.parent.iterdir()] == ["one"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    """What was begun is removed, and the error goes on."""

    def fail(partial: Path) -> None:
        (partial / "a").write_text("a", encoding="utf-8")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"), whole_folder(tmp_path / "one") as partial:
        fail(partial)
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    """What stands there already is never overwritten, not even an empty folder."""
    (tmp_path / "one").mkdir()
    with pytest.raises(EnvironmentProblem, match="already"), whole_folder(tmp_path / "one") as partial:
        (partial / "a").write_text("a", encoding="utf-8")
    assert list((tmp_path / "one").iterdir()) == []
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


KILLED = """
import os, signal, sys
from pathlib import Path
from harness.ledger.folders import whole_folder
with whole_folder(Path(sys.argv[1])) as partial:
    (partial / "a").write_text("a")
    print("begun", flush=True)
    if sys.argv[2] == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.stdin.read()
"""


def test_what_the_killed_left_is_removed_by_the_next(tmp_path: Path) -> None:
    """A killed process leaves no folder of that name, and its remains go with the next folder that is made."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "one"), "die"], check=False, timeout=60)
    assert done.returncode == -signal.SIGKILL
    assert not (tmp_path / "one").exists()
    assert len(list(tmp_path.iterdir())) == 2
    with whole_folder(tmp_path / "two"):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["two"]


def test_the_living_are_left_alone(tmp_path: Path) -> None:
    """An unfinished folder whose process still works is not removed."""
    words = [sys.executable, "-c", KILLED, str(tmp_path / "one"), "wait"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == b"begun\n"
        remove_dead(tmp_path)
        assert len(list(tmp_path.iterdir())) == 2
        process.stdin.close()
        process.wait(timeout=60)
    assert [path.name for path in tmp_path.iterdir()] == ["one"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_an_environment_problem(tmp_path: Path) -> None:
    """Where nothing can be made one error says so."""
    tmp_path.chmod(0o500)
    with pytest.raises(EnvironmentProblem), whole_folder(tmp_path / "one"):
        pass
