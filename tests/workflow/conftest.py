"""One finished workspace on the synthetic benchmark for all tests, made as a user makes it, and copies of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.benchmarks.library import save
from harness.benchmarks.synthetic import import_synthetic
from harness.cli.main import main
from harness.digest import digest_bytes
from harness.workflow.workspace import init_workspace

ID = "raw-only"
NEW = ("--primary", "R@10", "--superior", "0.02", "--guard", "temporal:0.06", "--title", "Raw turns only",
       "--hypothesis", "Facts repeat turns.", "--rationale", "Two points pay.", "--author", "me")  # fmt: skip

# logged from inside the interpreter, so that no library can get round it
_WATCHING = """\
import os, sys

_log = os.open(os.environ["WATCH_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
_EVENTS = ("open", "socket.connect", "socket.getaddrinfo", "socket.sendto")

def _watch(event, arguments):
    if event in _EVENTS:
        said = arguments[0] if event == "open" else arguments[-1] if event == "socket.connect" else arguments
        os.write(_log, f"{event} {said}\\n".encode("utf-8", "backslashreplace"))

sys.addaudithook(_watch)
"""


class Result(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one value on stdout."""
        return json.loads(self.out)


def environment(state: Path, **more: str) -> dict[str, str]:
    """The environment of a command: this one, without what a test runner or a developer sets."""
    drop = ("PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "HARNESS_DEBUG", "CI", "PYTEST_CURRENT_TEST", "PYTHONPATH")
    return {k: v for k, v in os.environ.items() if k not in drop} | {"XDG_STATE_HOME": str(state), **more}


@dataclass(frozen=True)
class Desk:
    """A user at a workspace.

    Attributes:
        root: the workspace.
        state: the user's state folder.
        capsys: None where commands run in processes of their own only.
    """

    root: Path
    state: Path
    capsys: pytest.CaptureFixture[str] | None = None

    def run(self, *arguments: str) -> Result:
        """Run a command in this process."""
        assert self.capsys is not None
        self.capsys.readouterr()
        code = main([*arguments, "--workspace", str(self.root)])
        return Result(code, *self.capsys.readouterr())

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        """Start a command in a process of its own, in the workspace's folder."""
        return subprocess.Popen(
            [sys.executable, "-m", "harness", *arguments],
            cwd=self.root,
            env=environment(self.state, **more),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def process(self, *arguments: str, **more: str) -> Result:
        """Run a command in a process of its own, in the workspace's folder."""
        process = self.start(*arguments, **more)
        out, err = process.communicate(timeout=900)
        return Result(process.returncode, out, err)

    def entries(self) -> list[dict[str, Any]]:
        """The ledger's entries, read without the program."""
        return [json.loads(path.read_text(encoding="utf-8")) for path in self.entry_files()]

    def entry_files(self) -> list[Path]:
        """The ledger's files, in order."""
        return sorted((self.root / "preregistrations" / "ledger").glob("0*.json"))

    def kinds(self) -> list[str]:
        """Kinds of the ledger's entries, in order."""
        return [entry["kind"] for entry in self.entries()]

    def payload(self, kind: str) -> dict[str, Any]:
        """Payload of the last entry of a kind."""
        return next(entry["payload"] for entry in reversed(self.entries()) if entry["kind"] == kind)

    def full(self, name: str = "", identifier: str = ID) -> Path:
        """A file of the full run, or its folder."""
        return self.root / "runs" / "full" / identifier / name

    def document(self, identifier: str = ID) -> Path:
        """The document's file."""
        return self.root / "preregistrations" / f"{identifier}.yaml"

    def verify(self, identifier: str = ID) -> tuple[int, dict[str, str], dict[str, str]]:
        """Exit code of `verify`, then status and reason of every named check."""
        done = self.run("verify", identifier, "--json")
        found = {check["name"]: check for check in done.json["checks"]}
        status, reason = ({name: check[key] for name, check in found.items()} for key in ("status", "reason"))
        return done.code, status, reason

    def tree(self) -> dict[str, str]:
        """Relative path → digest of its content, for everything in the workspace."""
        return {
            str(path.relative_to(self.root)): digest_bytes("test", path.read_bytes()) if path.is_file() else "folder"
            for path in sorted(self.root.rglob("*"))
        }

    def second(self, identifier: str = "second", *more: str) -> Result:
        """Write one more document, on the same frozen result; words and measure as in the first."""
        frozen = f"experiments/{ID}/frozen.yaml"
        return self.run("prereg", "new", identifier, "--from", frozen, *NEW, *more)


def watching(folder: Path) -> dict[str, str]:
    """Environment variables under which a process logs its opens and connections to ``folder/watched.log``."""
    folder.mkdir(exist_ok=True)
    (folder / "sitecustomize.py").write_text(_WATCHING, encoding="utf-8")
    return {"PYTHONPATH": str(folder), "WATCH_LOG": str(folder / "watched.log")}


def read_watch(folder: Path) -> list[tuple[str, str]]:
    """What was logged: event and object."""
    text = (folder / "watched.log").read_text(encoding="utf-8")
    return [(event, what) for event, _, what in (line.partition(" ") for line in text.splitlines())]


@dataclass(frozen=True)
class WholeWay:
    """The whole way once: every command's result, and the workspace before and after the full run."""

    base: Path
    calls: dict[str, Result]

    @property
    def locked(self) -> Path:
        """The workspace with a locked document."""
        return self.base / "locked"

    @property
    def finished(self) -> Path:
        """The workspace with a verdict."""
        return self.base / "finished"

    @property
    def state(self) -> Path:
        """The user's state folder after the full run."""
        return self.base / "state"

    def watched(self, name: str) -> list[tuple[str, str]]:
        """What the process of a step opened, and where it connected to."""
        return read_watch(self.base / f"watch-{name}")

    # for tests, which cannot import this module
    watching = staticmethod(watching)
    watched_in = staticmethod(read_watch)
    environment = staticmethod(environment)

    @staticmethod
    def desk(base: Path) -> Desk:
        """A user at ``base``, with a state folder there."""
        return Desk(base, base / "state")


@pytest.fixture(scope="session", autouse=True)
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled modules, kept for the session, where the environment keeps none: processes start faster by far."""
    if sys.dont_write_bytecode:
        folder = str(tmp_path_factory.getbasetemp() / "bytecode")
        os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder


@pytest.fixture(scope="session")
def whole_way(tmp_path_factory: pytest.TempPathFactory) -> WholeWay:
    """The whole way on the synthetic benchmark, every step in its own process."""
    base = tmp_path_factory.getbasetemp() / "whole-way"
    kept = base / "calls.json"
    if not kept.exists():  # two folders of tests share it
        base.mkdir()
        kept.write_text(json.dumps(_go(base)), encoding="utf-8")
    return WholeWay(base, {name: Result(*call) for name, call in json.loads(kept.read_text(encoding="utf-8")).items()})


def _go(base: Path) -> dict[str, Result]:
    (base / "finished").mkdir()
    desk = Desk(base / "finished", base / "state")
    calls = {}

    def step(name: str, *arguments: str) -> None:
        calls[name] = desk.process(*arguments, "--json", **watching(base / f"watch-{name}"))

    step("init", "init")
    step("import", "data", "import", "synthetic")
    step("dev", "dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]")
    step("freeze", "freeze", "latest", "--name", ID)
    step("new", "prereg", "new", ID, "--from", f"experiments/{ID}/frozen.yaml", *NEW)
    step("check", "prereg", "check", ID)
    step("lock", "prereg", "lock", ID)
    shutil.copytree(desk.root, base / "locked")
    shutil.copytree(desk.state, base / "locked-state")
    step("full", "full", ID)
    return calls


@pytest.fixture(autouse=True)
def user_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's state folder of the test's own, and a dev run that does not seal the process of all tests."""
    state = tmp_path / "user-state"
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    # the seal cannot be taken off again and would close the held-out files to every later test
    monkeypatch.setattr("harness.workflow.dev.seal_heldout", lambda *_: None)
    return state


@pytest.fixture
def desk(tmp_path: Path, user_state: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A user at an empty folder."""
    (tmp_path / "empty").mkdir()
    return Desk(tmp_path / "empty", user_state, capsys)


@pytest.fixture(scope="session")
def imported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the synthetic benchmark and a store without an experiment, to be copied."""
    from mlflow import MlflowClient

    root = tmp_path_factory.mktemp("imported") / "ws"
    workspace, _ = init_workspace(root)
    save(import_synthetic(), workspace.data / "synthetic")
    # its hundred migrations cost more than any sweep over the synthetic benchmark
    MlflowClient(tracking_uri=f"sqlite:///{workspace.store}").search_experiments()
    return root


@pytest.fixture
def ready(imported: Path, tmp_path: Path, user_state: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A user at a workspace with the synthetic benchmark."""
    return Desk(shutil.copytree(imported, tmp_path / "ready"), user_state, capsys)


@pytest.fixture
def locked(whole_way: WholeWay, tmp_path: Path, user_state: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A user at a copy of the workspace with a locked document, free to be changed."""
    shutil.copytree(whole_way.base / "locked-state", user_state)
    return Desk(shutil.copytree(whole_way.locked, tmp_path / "locked"), user_state, capsys)


@pytest.fixture
def finished(whole_way: WholeWay, tmp_path: Path, user_state: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A user at a copy of the workspace with a verdict, free to be changed."""
    shutil.copytree(whole_way.state, user_state)
    return Desk(shutil.copytree(whole_way.finished, tmp_path / "finished"), user_state, capsys)


class Crash:
    """Runs commands that are killed at a named point, or that start at the same moment; see `crashing.py`."""

    def __init__(self, whole_way: WholeWay, folder: Path) -> None:
        self._whole_way = whole_way
        self._folder = folder

    def copies(self, names: Iterable[str]) -> dict[str, Desk]:
        """A copy of the locked workspace for each name."""
        made = {}
        for name in names:
            place = self._folder / name.replace(" ", "-")
            shutil.copytree(self._whole_way.base / "locked-state", place / "state")
            made[name] = Desk(shutil.copytree(self._whole_way.locked, place / "ws"), place / "state")
        return made

    @staticmethod
    def go(jobs: Iterable[tuple[str, Desk, tuple[str, ...]]], *, at_once: bool = False) -> list[int]:
        """Run jobs of point, desk and words; their exit codes, or −9 for the killed."""
        given = [
            {"point": point, "arguments": [*words, "--workspace", str(desk.root)], "state": str(desk.state)}
            for point, desk, words in jobs
        ]
        script = [sys.executable, str(Path(__file__).with_name("crashing.py")), json.dumps(given)]
        done = subprocess.run(
            [*script, *(["at once"] if at_once else [])],
            env=environment(Path(), HARNESS_DEBUG=""),
            capture_output=True,
            text=True,
            timeout=900,
        )
        sys.stderr.write(done.stderr)  # shown where a test fails
        return list(json.loads(done.stdout))


@pytest.fixture(scope="session")
def crash(whole_way: WholeWay, tmp_path_factory: pytest.TempPathFactory) -> Crash:
    """Kills commands and lets them race."""
    return Crash(whole_way, tmp_path_factory.mktemp("crash"))
