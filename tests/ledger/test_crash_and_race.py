from __future__ import annotations

import signal

import pytest

from harness.ledger import head, holder_of, missing

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
