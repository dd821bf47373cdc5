from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

LOOPBACK = ("127.", "::1", "localhost", "/")


@pytest.fixture(scope="module")
def demonstration(whole_way: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A demonstration in its own process, watched from inside: its folder, result, and what it opened and reached."""
    base = tmp_path_factory.mktemp("demo")
    desk = whole_way.desk(base)
    done = desk.process("demo", "--into", str(base / "ws"), **whole_way.watching(base / "watch"))
    return base, done, whole_way.watched_in(base / "watch")


def test_the_demonstration_goes_the_whole_way(demonstration: Any) -> None:
    """`harness demo` ends with a verdict, says where everything is and what to type next, and exits 0."""
    base, done, _ = demonstration
    assert done.code == 0, done.err
    for words in ("On dev:", "The verdict:", "PASS", "harness verify raw-turns-only", str(base / "ws"), "synthetic"):
        assert words in done.out
    assert (base / "ws" / "runs" / "full" / "raw-turns-only" / "report.html").is_file()
    assert (base / "ws" / "runs" / "mlflow.db").is_file()
    assert all(line.startswith("[") for line in done.err.splitlines())


def test_the_demonstration_talks_to_nobody(demonstration: Any) -> None:
    """Outside a test runner's environment, too, nothing connects anywhere or looks a name up."""
    _, _, seen = demonstration
    reached = [what for event, what in seen if event.startswith("socket.")]
    assert [what for what in reached if not any(place in what for place in LOOPBACK)] == []
    assert [what for event, what in seen if event == "open"]  # the watch was on


def test_the_watch_sees_a_connection(whole_way: Any, tmp_path: Path) -> None:
    """The watch that finds nothing in the demonstration does find a connection where there is one."""
    code = "import socket\ns = socket.socket(); s.settimeout(0.01)\ntry: s.connect(('192.0.2.1', 9))\nexcept OSError: 1"
    env = whole_way.environment(tmp_path, **whole_way.watching(tmp_path / "watch"))
    subprocess.run([sys.executable, "-c", code], env=env, check=True)
    assert ("socket.connect", "('192.0.2.1', 9)") in whole_way.watched_in(tmp_path / "watch")


def test_the_demonstration_verifies(demonstration: Any, desk: Any) -> None:
    """What the demonstration left stands every check."""
    base, _, _ = demonstration
    there = type(desk)(base / "ws", base / "state", desk.capsys)
    shutil.copytree(base / "state", desk.state)
    code, status, _ = there.verify("raw-turns-only")
    assert (code, status["measures"], status["data"], status["mirror"]) == (0, "PASS", "PASS", "PASS")


def test_a_folder_with_something_in_it_is_refused(desk: Any) -> None:
    """The demonstration never writes into a folder that is in use."""
    (desk.root / "mine.txt").write_text("mine", encoding="utf-8")
    before = desk.tree()
    done = desk.run("demo", "--into", str(desk.root))
    assert (done.code, done.out) == (2, "")
    assert "not empty" in done.err
    assert desk.tree() == before
