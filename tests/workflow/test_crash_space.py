"""A disk of its own that runs full at one write of a command, and stays full until something is deleted."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.ledger import durable
from harness.workflow import dev

LOCK, FULL = ("prereg", "lock", "raw-only"), ("full", "raw-only")
DEV = ("dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]", "k=7")
EVERYTHING = ["lock", "seal", "claim", "verdict"]


class Disk:
    """A small file system of real memory; see tmpfs(5).

    Attributes:
        root: where it is mounted.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._ballast = root / "ballast"

    def fill(self) -> None:
        """Take all the space that is left."""
        with contextlib.suppress(OSError), self._ballast.open("ab", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))

    def free(self) -> None:
        """Give the space back."""
        self._ballast.unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A file system of 32 MB; skips where none can be mounted."""
    root = tmp_path / "disk"
    root.mkdir()
    mount = shutil.which("mount")
    if mount is None:
        pytest.skip("there is no mount command")
    made = subprocess.run([mount, "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(root)], capture_output=True, text=True)
    if made.returncode != 0:
        pytest.skip(f"no file system can be mounted: {made.stderr.strip()}")
    try:
        yield Disk(root)
    finally:
        subprocess.run(["umount", str(root)], check=True)


@pytest.fixture
def at_disk(
    disk: Disk, whole_way: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Any]:
    """The desk of a user whose workspace and home are on that disk: with a ``draft``, or with a lock."""

    def make(stage: str) -> Any:
        shutil.copytree(whole_way.base / "locked-state", disk.root / "state")
        shutil.copytree(whole_way.locked, disk.root / "ws")
        monkeypatch.setenv("XDG_STATE_HOME", str(disk.root / "state"))
        monkeypatch.setenv("MLFLOW_TRACKING_URI", "not-a-store")
        desk = type(whole_way.desk(disk.root))(disk.root / "ws", disk.root / "state", capsys)
        if stage == "draft":
            for place in (desk.root / "preregistrations/ledger", desk.root / "runs/full", desk.state):
                shutil.rmtree(place)
        return desk

    return make


def full_at(disk: Disk, place: Any, name: str, nth: int) -> contextlib.AbstractContextManager[None]:
    """Fill the disk just before the ``nth`` call of a function, from 0."""
    original, calls = getattr(place, name), iter(range(10_000))

    def filling(*arguments: Any, **named: Any) -> Any:
        if next(calls) == nth:
            disk.fill()
        return original(*arguments, **named)

    @contextlib.contextmanager
    def patched() -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(place, name, filling)
            yield

    return patched()


def refused(done: Any, disk: Disk) -> str:
    """The command ended with 4 and one message, which names a place on the disk and the mend; the place."""
    assert done.code == 4, (done.code, done.err)
    message = [line for line in done.err.splitlines() if not line.startswith("[")]
    assert message[0].startswith(f"harness: {disk.root}/")
    assert "No space left on device" in message[0]
    assert message[1:] == ["  fix: free some space there, then run the command again"]
    return message[0].removeprefix(f"harness: {disk.root}/").partition(":")[0]


@pytest.mark.parametrize("nth", range(4))
def test_a_disk_that_runs_full_during_a_lock(at_disk: Any, disk: Disk, nth: int) -> None:
    """The lock ends (4) without an entry, or with a whole one; after freeing space the same command finishes."""
    desk = at_disk("draft")
    with full_at(disk, durable, "_write_temporary", nth):
        done = desk.run(*LOCK)
    place = refused(done, disk)
    assert desk.kinds() == (["lock"] if place.endswith("head.json") else [])
    disk.free()
    assert desk.run(*LOCK).code == 0
    assert desk.kinds() == ["lock"]
    assert desk.full("head.json").exists()
    assert leftovers(desk) == []


def test_a_disk_that_runs_full_before_the_witness(at_disk: Any, disk: Disk) -> None:
    """A user's own folder that takes nothing more is a note: the lock is made."""
    desk = at_disk("draft")
    with full_at(disk, durable, "_write_temporary", 4):
        done = desk.run(*LOCK)
    assert done.code == 0
    assert "no witness outside of this workspace" in done.err
    assert desk.kinds() == ["lock"]


@pytest.mark.parametrize("nth", [0, 2, 8, 13, 18, 22, 27])
def test_a_disk_that_runs_full_during_a_full_run(at_disk: Any, disk: Disk, whole_way: Any, nth: int) -> None:
    """The run ends (4), shows no figure before its verdict and loses nothing; then the same command finishes."""
    desk = at_disk("locked")
    with full_at(disk, durable, "_write_temporary", nth):
        done = desk.run(*FULL)
    refused(done, disk)
    assert done.out == ""
    recorded = [path.read_bytes() for path in desk.entry_files()]
    assert desk.kinds() == EVERYTHING[: len(recorded)]
    disk.free()
    assert desk.run(*FULL).code == 0
    assert desk.kinds() == EVERYTHING
    assert [path.read_bytes() for path in desk.entry_files()][: len(recorded)] == recorded
    for name in ("ranking-candidate.jsonl", "evidence.jsonl", "scores.json"):
        assert desk.full(name).read_bytes() == (whole_way.finished / "runs/full/raw-only" / name).read_bytes()
    assert leftovers(desk) == []


@pytest.mark.parametrize(
    ("place", "name", "nth"),
    [(durable, "_write_temporary", 0), (dev, "write_trec", 0), (dev, "write_parquet", 0), (durable, "replace", 0)],
    ids=["at once", "before the TREC run", "before the Parquet run", "before the result"],
)
def test_a_disk_that_runs_full_during_dev(at_disk: Any, disk: Disk, place: Any, name: str, nth: int) -> None:
    """A dev run is there whole or not at all; after freeing space the same command makes it."""
    desk = at_disk("locked")
    before = sorted((desk.root / "runs/dev").iterdir())
    with full_at(disk, place, name, nth):
        done = desk.run(*DEV)
    refused(done, disk)
    assert sorted((desk.root / "runs/dev").iterdir()) == before
    disk.free()
    assert desk.run(*DEV).code == 0
    assert len(sorted((desk.root / "runs/dev").iterdir())) == len(before) + 1
    assert leftovers(desk) == []


def leftovers(desk: Any) -> list[Path]:
    """Unfinished files and folders, and locks of a run that has ended."""
    return [path for path in desk.root.rglob(".*") if path.name.startswith((".tmp-", ".partial-", ".running"))]
