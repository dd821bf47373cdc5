from __future__ import annotations

import errno
import json
import os
import tempfile
from itertools import pairwise
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem
from harness.ledger import Ledger, ancestors, durable, head, tips

CONTEXT = {
    "git": {"commit": "ab12", "dirty": False},
    "environment": "sha256:00",
    "time": "2026-11-30T22:10:00+00:00",
}


def test_format(ledger, add):
    """An entry is one canonical JSON line in a file named by its sequence and the start of its hash."""
    entry = add("lock", id="a", number=0.5, text="é")
    [path] = ledger.root.glob("*.json")
    assert path.name == f"000001-{entry.hash[:16]}.json"
    assert path.read_bytes() == (
        b'{"environment":"sha256:' + b"0" * 64 + b'","format":1,"git":{"commit":null,"dirty":null},"kind":"lock",'
        b'"parents":[],"payload":{"id":"a","number":0.5,"text":"\xc3\xa9"},"sequence":1,'
        b'"time":"2026-11-30T22:10:00+00:00"}\n'
    )


def test_chain(ledger, add):
    """Entries follow each other by hash, and reading gives what appending returned, in order."""
    written = tuple(add(step=step) for step in range(12))
    assert ledger.read() == written
    assert [entry.sequence for entry in written] == list(range(1, 13))
    assert [entry.parents for entry in written[1:]] == [(entry.hash,) for entry in written[:-1]]
    assert len(set(written)) == 12


def test_branches(ledger, add, plant):
    """Two tips, as a merge of branches leaves them, are valid, and the next entry follows both."""
    first = add()
    add()
    plant(sequence=2, parents=[first.hash], payload={"branch": "other"})
    entries = ledger.read()
    assert len(tips(entries)) == 2
    merge = add()
    assert merge.parents == tips(entries)
    assert merge.sequence == 3
    assert tips(ledger.read()) == (merge.hash,)


def test_merge_of_unequal_branches(ledger, add, plant):
    """An entry after two tips has one more than the higher sequence of the two."""
    first = add()
    add()
    third = add()
    other = plant(sequence=2, parents=[first.hash], payload={"branch": "other"})
    merge = add()
    assert merge.sequence == third.sequence + 1
    assert len(merge.parents) == 2
    assert ancestors(ledger.read(), merge.parents) == {e.hash for e in ledger.read()} - {merge.hash}
    other.unlink()
    with pytest.raises(IntegrityProblem, match="which is missing"):
        ledger.read()


def test_two_first_entries(ledger, add, plant):
    """Two ledgers that were begun apart and merged are read together."""
    add()
    plant(payload={"begun": "elsewhere"})
    assert [entry.sequence for entry in ledger.read()] == [1, 1]


def test_ancestors_leave_out_what_came_later(ledger, add):
    """The ancestors of an entry are itself and what was there before it; unknown hashes are left out."""
    first, second, _ = add(), add(), add()
    assert ancestors(ledger.read(), [second.hash, "f" * 64]) == {first.hash, second.hash}


@pytest.mark.parametrize("there", [False, True])
def test_missing_ledger(ledger, there):
    """A ledger that is absent or emptied is a problem unless the reader says that it may be."""
    if there:
        ledger.root.mkdir(parents=True)
    with pytest.raises(IntegrityProblem, match="ledger is missing"):
        ledger.read()
    assert ledger.read(missing_ok=True) == ()


def test_reading_changes_nothing(ledger):
    """Reading an absent ledger does not make one."""
    ledger.read(missing_ok=True)
    assert not ledger.root.exists()


def test_a_file_in_place_of_the_ledger(ledger):
    """A file where the ledger's folder should be is named."""
    ledger.root.parent.mkdir()
    ledger.root.write_text("")
    with pytest.raises(IntegrityProblem, match="not a folder"):
        ledger.read(missing_ok=True)


def test_removed_entry(ledger, add):
    """Removing any entry but the last one is found in the entry that follows it."""
    written = [add(step=step) for step in range(3)]
    for entry, follower in pairwise(written):
        path = ledger.root / entry.name
        kept = path.read_bytes()
        path.unlink()
        with pytest.raises(IntegrityProblem, match=follower.name) as caught:
            ledger.read()
        assert entry.hash[:16] in caught.value.fix
        path.write_bytes(kept)


def test_appending_to_a_broken_ledger(ledger, add):
    """Nothing is added to a ledger whose entries do not hold together."""
    first, _ = add(), add()
    (ledger.root / first.name).unlink()
    with pytest.raises(IntegrityProblem):
        add()
    assert len(list(ledger.root.glob("*.json"))) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data.replace(b'"x":1', b'"x":2'), "was changed"),
        (lambda data: data[: len(data) // 2], "was cut"),
        (lambda data: data[:0], "was cut"),
        (lambda data: data + b"\n", "was changed"),
        (lambda data: data.replace(b"\n", b"\r\n"), "was changed"),
        (lambda data: data.replace(b":", b": "), "was changed"),
    ],
    ids=["edited", "cut", "emptied", "longer", "other line end", "reformatted"],
)
def test_changed_entry(ledger, add, change, says):
    """An edit of an entry's file, down to blanks and line end, is found, and file and mend are named."""
    entry = add(x=1)
    path = ledger.root / entry.name
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(IntegrityProblem, match=says) as caught:
        ledger.read()
    assert caught.value.where == str(path)
    assert "restore" in caught.value.fix
    assert caught.value.exit_code == 3


def test_renamed_entry(ledger, add):
    """An entry under another sequence, or another hash, is found."""
    entry = add()
    path = ledger.root / entry.name
    moved = path.rename(path.with_name("000002" + path.name[6:]))
    with pytest.raises(IntegrityProblem, match="it is entry 1") as caught:
        ledger.read()
    assert entry.name in caught.value.fix
    moved.rename(path.with_name("000001-0123456789abcdef.json"))
    with pytest.raises(IntegrityProblem, match="renamed"):
        ledger.read()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"format": 2}, "format 2"),
        ({"format": True}, "format"),
        ({"sequence": 0}, "sequence"),
        ({"parents": ["12"]}, "parents"),
        ({"parents": ["b" * 64, "a" * 64]}, "parents"),
        ({"kind": ""}, "kind"),
        ({"kind": 1}, "kind"),
        ({"payload": []}, "payload"),
        ({"git": {}}, "git"),
        ({"git": {"commit": 1, "dirty": None}}, "git"),
        ({"time": "2026-11-30T22:10:00"}, "offset"),
        ({"time": "yesterday"}, "ISO 8601"),
        ({"time": None}, "ISO 8601"),
        ({"note": 1}, "fields"),
        ({"sequence": 2}, "has sequence 2"),
    ],
)
def test_misshapen_entry(ledger, plant, changes, says):
    """A file whose name fits its content, but that is no entry, is refused with what is wrong."""
    path = plant(**changes)
    with pytest.raises(IntegrityProblem, match=says) as caught:
        ledger.read()
    assert path.name in str(caught.value)


@pytest.mark.parametrize("body", [b"not json", b"\xff", b'{"x":NaN}', b'"\\ud800"', b"[" * 100_000, b'{"b":1,"a":2}'])
def test_foreign_bytes(ledger, body):
    """Bytes that the ledger never writes are refused under whatever fitting name."""
    from harness.ledger.shape import entry_hash

    ledger.root.mkdir(parents=True)
    (ledger.root / f"000001-{entry_hash(body)[:16]}.json").write_bytes(body + b"\n")
    with pytest.raises(IntegrityProblem, match=r"not (JSON|canonical)"):
        ledger.read()


@pytest.mark.parametrize("name", ["notes.txt", "000001-12.json", "١٢٣٤٥٦-0123456789abcdef.json", ".hidden", "old"])
def test_unexpected_file(ledger, add, name):
    """A file that has no business in the ledger is named, with the advice to move it out."""
    add()
    (ledger.root / name).write_text("")
    with pytest.raises(IntegrityProblem, match="does not belong") as caught:
        ledger.read()
    assert caught.value.where.endswith(name)
    assert "move it out" in caught.value.fix


def test_housekeeping_is_ignored(ledger, add):
    """Lock file, question sets, leftovers of a crash and git's own files are no entries and no problem."""
    add()
    (ledger.root / "questions").mkdir()
    for name in (".tmp-12-ab", ".gitattributes", ".nfs0001"):
        (ledger.root / name).write_text("half")
    assert (ledger.root / ".lock").exists()
    assert len(ledger.read()) == 1


def test_questions_must_be_a_folder(ledger, add):
    """A file in place of the folder of question sets is named."""
    add()
    (ledger.root / "questions").write_text("")
    with pytest.raises(IntegrityProblem, match="questions"):
        ledger.read()


def test_symbolic_link(ledger, add, tmp_path):
    """An entry that is a symbolic link is refused, for its content may be elsewhere and change."""
    path = ledger.root / add().name
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(IntegrityProblem, match="not a regular file"):
        ledger.read()


def test_entry_folder(ledger):
    """A folder under an entry's name is refused."""
    (ledger.root / "000001-0123456789abcdef.json").mkdir(parents=True)
    with pytest.raises(IntegrityProblem, match="not a regular file"):
        ledger.read()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", [{"deep": float("-inf")}]])
def test_unwritable_payload(ledger, add, value):
    """NaN, infinity and broken text are refused before anything is touched."""
    with pytest.raises(UsageProblem, match="verdict entry cannot be recorded"):
        add("verdict", value=value)
    assert not ledger.root.exists()


@pytest.mark.parametrize(
    "wrong", [{"time": "2026-11-30T22:10:00"}, {"git": {"commit": None}}, {"environment": ""}, {"kind": ""}]
)
def test_unwritable_fields(ledger, wrong):
    """A field that reading would refuse is refused when writing."""
    with pytest.raises(UsageProblem, match="cannot be recorded"):
        ledger.append(**{"kind": "lock", "payload": {}, **CONTEXT, **wrong})
    assert not ledger.root.exists()


def test_unknown_kind(ledger, add):
    """A kind that this version does not know is chained like any other."""
    add("kind of a later version", anything=[1, {"b": None}])
    assert add().sequence == 2
    assert ledger.read()[0].payload == {"anything": [1, {"b": None}]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=15, deadline=None)
@given(payload=st.dictionaries(st.text(), JSON, max_size=4))
def test_round_trip(payload):
    """Whatever JSON a payload holds is read back as it was appended."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "ledger")
        entry = ledger.append("note", payload, **CONTEXT)
        assert ledger.read() == (entry,)
        assert entry.payload == payload


def test_lock_held_elsewhere(ledger, add):
    """A writer that waits too long for another one ends with an environment problem that names the lock."""
    add()
    lock = ledger.root / ".lock"
    with (
        FileLock(lock, thread_local=False),
        pytest.raises(EnvironmentProblem, match="another process") as caught,
    ):
        # in another thread, for in one thread the lock would be a dead lock and not a wait
        _in_thread(lambda: Ledger(ledger.root, lock_timeout=0.05).append("note", {}, **CONTEXT))
    assert caught.value.where == str(lock)
    assert len(ledger.read()) == 1


def _in_thread(work):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


FAULTS = {
    "no space": (errno.ENOSPC, "free some space"),
    "no permission": (errno.EACCES, "permission"),
    "read-only": (errno.EROFS, "not read-only"),
    "failing disk": (errno.EIO, "check the disk"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("call", ["fsync", "link"])
def test_faults_while_writing(ledger, add, monkeypatch, fault, call):
    """A disk that is full, locked or failing leaves no part of an entry and says what to do."""
    first = add()
    number, mend = FAULTS[fault]
    monkeypatch.setattr(os, call, _failing(number))
    with pytest.raises(EnvironmentProblem, match=os.strerror(number)) as caught:
        add()
    monkeypatch.undo()
    assert mend in caught.value.fix
    assert ledger.read() == (first,)
    assert not list(ledger.root.glob(".tmp-*"))
    assert add().parents == (first.hash,)


def test_interrupt_while_writing(ledger, add, monkeypatch):
    """Ctrl-C before the entry has its name leaves nothing behind and releases the lock."""
    add()
    monkeypatch.setattr(os, "link", _raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        add()
    monkeypatch.undo()
    assert not list(ledger.root.glob(".tmp-*"))
    assert add().sequence == 2


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS])
def test_without_hard_links(ledger, add, monkeypatch, number):
    """A file system without hard links takes entries all the same, and no name twice."""
    monkeypatch.setattr(os, "link", _failing(number))
    written = add(), add()
    assert ledger.read() == written
    assert durable.publish(ledger.root, written[0].name, b"other") is False
    assert ledger.read() == written
    assert not list(ledger.root.glob(".tmp-*"))


def test_lost_answer_of_a_network_drive(tmp_path, monkeypatch):
    """A link that was made although the system reports a conflict counts as made."""
    link = os.link

    def twice(source, target):
        link(source, target)
        raise FileExistsError(errno.EEXIST, "File exists")

    monkeypatch.setattr(os, "link", twice)
    assert durable.publish(tmp_path, "name", b"content") is True
    assert (tmp_path / "name").read_bytes() == b"content"


def test_a_child_listed_without_its_parent(ledger, add, monkeypatch):
    """A listing that misses an entry appended meanwhile is made again before anything is called missing."""
    first, second = add(), add()
    complete = Ledger._names
    partial = iter([{second.name}])
    monkeypatch.setattr(Ledger, "_names", lambda self: next(partial, None) or complete(self))
    assert ledger.read() == (first, second)


def test_vanished_entry(ledger, add, monkeypatch):
    """An entry that is removed between listing and reading is named."""
    entry = add()
    names = ledger._names()
    (ledger.root / entry.name).unlink()
    monkeypatch.setattr(Ledger, "_names", lambda _: names)
    with pytest.raises(IntegrityProblem, match="vanished"):
        ledger.read()


@pytest.mark.parametrize("there", [False, True])
def test_check_writable(ledger, add, monkeypatch, there):
    """Whether entries could be written is found out beforehand, and leaves no trace."""
    if there:
        add()
        (ledger.root / "questions").mkdir()
    before = sorted(ledger.root.parent.rglob("*"))
    ledger.check_writable()
    assert sorted(ledger.root.parent.rglob("*")) == before
    monkeypatch.setattr(os, "open", _failing(errno.EROFS))
    with pytest.raises(EnvironmentProblem) as caught:
        ledger.check_writable()
    assert caught.value.exit_code == 4


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write everywhere")
@pytest.mark.parametrize("make", [False, True])
def test_folder_without_permission(ledger, add, make):
    """A folder without write permission is found beforehand, and appending to it fails cleanly."""
    if make:
        add()
    else:
        ledger.root.parent.mkdir()
    folder = ledger.root if make else ledger.root.parent
    folder.chmod(0o555)
    try:
        with pytest.raises(EnvironmentProblem, match="denied"):
            ledger.check_writable()
        with pytest.raises(EnvironmentProblem, match="denied"):
            add()
    finally:
        folder.chmod(0o755)
    assert len(ledger.read(missing_ok=True)) == make


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may read everything")
def test_unreadable_entry(ledger, add):
    """An entry without read permission is an environment problem, not a changed entry."""
    path = ledger.root / add().name
    path.chmod(0)
    with pytest.raises(EnvironmentProblem, match="denied"):
        ledger.read()


def test_head_of_what_was_read(ledger, add):
    """Reading in any state of the folder gives entries whose head can be told."""
    entry = add()
    assert json.loads(json.dumps(head(ledger.read()))) == {"count": 1, "tips": [entry.hash]}


def _failing(number):
    return _raising(OSError(number, os.strerror(number)))


def _raising(error):
    def fail(*_args, **_kwargs):
        raise error

    return fail
