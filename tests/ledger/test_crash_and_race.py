from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from harness.ledger import durable, head, holder_of, missing

DYING = """
import json, os, signal, sys
from pathlib import Path
from harness.ledger import Ledger

context, root, point = json.loads(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
link, fsync, rename, synced = os.link, os.fsync, os.rename, []

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

def die_half_written(handle):
    os.ftruncate(handle, os.fstat(handle).st_size // 2)
    die()

def die_at_second(handle):
    synced.append(handle)
    die() if len(synced) == 2 else fsync(handle)

def no_link(*_):
    raise PermissionError(1, "Operation not permitted")

def after(call):
    return lambda *a, **k: (call(*a, **k), die())

if point == "half-written": os.fsync = die_half_written
if point == "written": os.fsync = after(fsync)
if point == "before link": os.link = die
if point == "after link": os.link = after(link)
if point == "at the folder": os.fsync = die_at_second
if point.endswith("rename"): os.link = no_link
if point == "before rename": os.rename = die
if point == "after rename": os.rename = after(rename)
Ledger(root).append("note", {"from": "the one that died"}, **context)
"""

RACING = """
import json, sys, time
from pathlib import Path
from harness.ledger import Ledger

context, root, start, name = json.loads(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
print("ready", flush=True)
while not start.exists():
    time.sleep(0.002)
for step in range(15):
    print(Ledger(root).append("note", {"by": name, "step": step}, **context).hash)
"""

CLAIMING = """
import sys, time
from pathlib import Path
from harness.ledger import take

folder, start, name = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
print("ready", flush=True)
while not start.exists():
    time.sleep(0.001)
print(take(folder, "a" * 64, {"holder": name}))
"""

KILLED_AT = {
    "half-written": 0,
    "written": 0,
    "before link": 0,
    "after link": 1,
    "at the folder": 1,
    "before rename": 0,
    "after rename": 1,
}


@pytest.mark.parametrize("point", KILLED_AT)
def test_killed_while_appending(ledger, add, run, point):
    """A process killed anywhere in an append leaves no entry or a whole one, and the next append works."""
    before = add()
    process = run(DYING, ledger.root, point)
    assert process.wait(20) == -signal.SIGKILL, process.stderr.read()
    after = ledger.read()
    assert len(after) == 1 + KILLED_AT[point]
    assert after[0] == before
    following = add()
    assert following.parents == (after[-1].hash,)
    assert ledger.read() == (*after, following)
    assert not list(ledger.root.glob(".tmp-*"))


def test_killed_in_the_first_append(ledger, add, run):
    """A process killed before the first entry is there leaves a ledger that can be begun again."""
    process = run(DYING, ledger.root, "before link")
    assert process.wait(20) == -signal.SIGKILL
    assert ledger.read(missing_ok=True) == ()
    assert add().sequence == 1


def test_racing_appends(ledger, run, tmp_path):
    """Six processes that append at once lose no entry and leave one chain with one tip."""
    start = tmp_path / "start"
    processes = [run(RACING, ledger.root, start, name) for name in range(6)]
    for process in processes:
        process.stdout.readline()
    start.touch()
    heads = []
    while any(process.poll() is None for process in processes):  # readers need no lock and see only whole states
        heads.append(head(ledger.read(missing_ok=True)))
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0] * 6, outputs
    entries = ledger.read()
    assert sorted(entry.hash for entry in entries) == sorted(" ".join(out for out, _ in outputs).split())
    assert [entry.sequence for entry in entries] == list(range(1, 91))
    assert len(head(entries)["tips"]) == 1
    assert {(entry.payload["by"], entry.payload["step"]) for entry in entries} == {
        (str(name), step) for name in range(6) for step in range(15)
    }
    assert not [trouble for seen in heads for trouble in missing(entries, seen)]


def test_racing_claims(run, tmp_path):
    """Of eight processes that claim one lock at once exactly one gets it, and its name is in the token."""
    folder, start = tmp_path / "claims", tmp_path / "start"
    processes = [run(CLAIMING, folder, start, name) for name in range(8)]
    for process in processes:
        process.stdout.readline()
    start.touch()
    outputs = [process.communicate(timeout=20) for process in processes]
    won = [name for name, (out, _) in enumerate(outputs) if out.strip() == "True"]
    assert [process.returncode for process in processes] == [0] * 8, outputs
    assert len(won) == 1
    assert sorted(out.strip() for out, _ in outputs) == ["False"] * 7 + ["True"]
    assert holder_of(folder, "a" * 64) == {"holder": str(won[0])}
    assert [path.name for path in folder.iterdir()] == ["a" * 64 + ".json"]


WRITING = """
import os, sys, time
from pathlib import Path
from harness.ledger import durable

fsync = os.fsync
def stay(handle):
    print("writing", flush=True)
    time.sleep(60)
os.fsync = stay
durable.replace(Path(sys.argv[2]) / "file", b"whole")
"""


@pytest.mark.parametrize("write", ["replace", "publish", "try_writing"])
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path, run, write):
    """A half-written file stays while its writer lives, and is gone once somebody else writes in that folder."""
    process = run(WRITING, tmp_path)
    assert process.stdout.readline() == "writing\n"
    calls = {
        "replace": lambda: durable.replace(tmp_path / "file", b"mine"),
        "publish": lambda: durable.publish(tmp_path, "file", b"mine"),
        "try_writing": lambda: durable.try_writing(tmp_path),
    }
    calls[write]()
    assert len(list(tmp_path.glob(".tmp-*"))) == 1
    process.kill()
    process.communicate()
    calls[write]()
    assert list(tmp_path.glob(".tmp-*")) == []


def test_what_another_machine_is_writing_is_left_alone(tmp_path, monkeypatch):
    """On a shared disk only an unfinished file that nobody can still be writing is removed."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    monkeypatch.setattr(socket, "gethostname", lambda: "elsewhere")
    theirs = tmp_path / f".tmp-{durable._machine()}-{ended.pid}-00"
    monkeypatch.undo()
    theirs.touch()
    durable.sweep(tmp_path)
    assert theirs.exists()
    os.utime(theirs, (time.time() - 7200,) * 2)
    durable.sweep(tmp_path)
    assert not theirs.exists()


def test_unfinished_files_of_other_programs_are_left_alone(tmp_path):
    """A folder may be anybody's: only names that this program makes are ever removed, however old."""
    names = [
        ".tmp-notes",
        ".tmp-12",
        ".tmp-0a1b2c3d",
        ".tmp-0a1b2c3d-12",
        ".tmp-0a1b2c3d-12-zz",
        ".tmp-0a1b2c3d-12-0a.x",
    ]
    for name in names:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - 7200,) * 2)
    durable.try_writing(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(names)
