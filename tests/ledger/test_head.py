from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from harness.errors import EnvironmentProblem, IntegrityProblem
from harness.ledger import head, missing, read_witness, update_user_witness, user_witness_path, write_witness


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    """A state folder of the test's own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def test_head(ledger, add):
    """The head is the number of entries and the hashes that nobody follows."""
    assert head([]) == {"count": 0, "tips": []}
    add()
    last = add()
    assert head(ledger.read()) == {"count": 2, "tips": [last.hash]}


def test_growth_keeps_every_old_head(ledger, add, plant):
    """A ledger contains every head it ever had, of both branches and after their merge."""
    heads = [head([])]
    first = add()
    heads.append(head(ledger.read()))
    other = plant(sequence=2, parents=[first.hash], payload={"branch": 2})
    heads.append(head(ledger.read()))
    kept = other.read_bytes()
    other.unlink()
    add()
    heads.append(head(ledger.read()))
    other.write_bytes(kept)
    heads.append(head(ledger.read()))
    add()
    assert [missing(ledger.read(), old) for old in heads] == [[]] * 5


def test_removed_tip(ledger, add):
    """Removing the last entry, which the chain cannot show, is shown by a witness."""
    add()
    last = add()
    witness = head(ledger.read())
    (ledger.root / last.name).unlink()
    assert missing(ledger.read(), witness) == [
        f"entry {last.hash[:16]}... is missing",
        "the witness counted 2 entries, the ledger has 1",
    ]


def test_emptied_and_replaced(ledger, add, plant):
    """A ledger that was emptied, or begun anew with as many entries, does not contain the old head."""
    old = add()
    witness = head(ledger.read())
    assert missing([], witness)
    (ledger.root / old.name).unlink()
    plant(payload={"new": True})
    assert missing(ledger.read(), witness) == [f"entry {old.hash[:16]}... is missing"]


@pytest.mark.parametrize("count", [0, 1, 3])
def test_edited_count(ledger, add, count):
    """A witness whose count does not fit its tips is called out."""
    add()
    add()
    witness = {**head(ledger.read()), "count": count}
    assert len(missing(ledger.read(), witness)) == 1


@pytest.mark.parametrize(
    "witness",
    [{}, {"count": 1}, {"count": "1", "tips": []}, {"count": True, "tips": []}, {"count": 0, "tips": ["x"]}],
)
def test_not_a_head(witness):
    """A witness of another shape contains nothing and is never taken for an empty one."""
    assert missing([], witness)[0].startswith("the witness is not a head")


def test_witness_file(tmp_path, ledger, add):
    """A witness is read back as it was written, in a folder that is made for it; none is None."""
    path = tmp_path / "runs" / "head.json"
    assert read_witness(path) is None
    add()
    write_witness(path, head(ledger.read()))
    assert read_witness(path) == head(ledger.read())
    add()
    write_witness(path, head(ledger.read()))
    assert read_witness(path) == head(ledger.read())
    assert [found.name for found in path.parent.iterdir()] == ["head.json"]


def test_witness_file_refuses_other_things(tmp_path):
    """What is not a head is not written as one."""
    with pytest.raises(IntegrityProblem, match="not a ledger head"):
        write_witness(tmp_path / "head.json", {"count": -1, "tips": []})
    assert read_witness(tmp_path / "head.json") is None


def test_witness_file_on_a_full_disk(tmp_path, monkeypatch):
    """A witness that cannot be written leaves the old one."""
    path = tmp_path / "head.json"
    write_witness(path, head([]))
    monkeypatch.setattr(os, "fsync", _full)
    with pytest.raises(EnvironmentProblem, match="No space"):
        write_witness(path, {"count": 1, "tips": ["a" * 64]})
    assert read_witness(path) == head([])
    assert [found.name for found in tmp_path.iterdir()] == ["head.json"]


@pytest.mark.parametrize("data", [b"", b"\xff", b"[]", b'{"count":1}', b'{"count":1,"tips":["x"]}'])
def test_changed_witness_file(tmp_path, data):
    """A witness that was cut or edited is an integrity problem that names the file."""
    path = tmp_path / "head.json"
    path.write_bytes(data)
    with pytest.raises(IntegrityProblem, match="changed or cut") as caught:
        read_witness(path)
    assert caught.value.where == str(path)


def test_user_witness_path(ledger, add, plant, state):
    """The user's witness is named after the first entry, of several after the one of least hash."""
    first = add()
    add()
    assert user_witness_path(ledger.read()) == state / "retrieval-harness" / "heads" / f"{first.hash}.json"
    plant(payload={"begun": "elsewhere"})
    firsts = sorted(entry.hash for entry in ledger.read() if entry.sequence == 1)
    assert user_witness_path(ledger.read()).stem == firsts[0]


@pytest.mark.parametrize("value", [None, "", "relative/path"])
def test_user_witness_path_by_default(ledger, add, monkeypatch, tmp_path, value):
    """Without an absolute XDG_STATE_HOME the witness is kept under ~/.local/state."""
    add()
    monkeypatch.delenv("XDG_STATE_HOME")
    if value is not None:
        monkeypatch.setenv("XDG_STATE_HOME", value)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert user_witness_path(ledger.read()).is_relative_to(tmp_path / ".local" / "state")


def test_no_entry_no_witness(state):
    """A ledger without entries has no witness to keep, and updating makes none."""
    with pytest.raises(IntegrityProblem, match="missing"):
        user_witness_path([])
    assert update_user_witness([]) is False
    assert not state.exists()


def test_user_witness_grows(ledger, add):
    """Every update of a grown ledger is written."""
    for _ in range(3):
        add()
        assert update_user_witness(ledger.read()) is True
        assert read_witness(user_witness_path(ledger.read())) == head(ledger.read())


def test_user_witness_never_shrinks(ledger, add):
    """A ledger that lost an entry, and then grew otherwise, does not replace the witness that knew more."""
    add()
    last = add()
    update_user_witness(ledger.read())
    path = user_witness_path(ledger.read())
    known = read_witness(path)
    (ledger.root / last.name).unlink()
    assert update_user_witness(ledger.read()) is False
    add(other=True)
    add(other=True)
    assert update_user_witness(ledger.read()) is False
    assert read_witness(path) == known
    assert missing(ledger.read(), known)


def test_damaged_user_witness(ledger, add):
    """A damaged witness is left for the user to see."""
    add()
    path = user_witness_path(ledger.read())
    path.parent.mkdir(parents=True)
    path.write_text("{")
    assert update_user_witness(ledger.read()) is False
    assert path.read_text() == "{"


def test_unwritable_home(ledger, add, monkeypatch, state):
    """A home that cannot be written, or is none, is no error."""
    add()
    entries = ledger.read()
    state.write_text("a file where a folder is needed")
    assert update_user_witness(entries) is False
    state.unlink()
    monkeypatch.setattr(os, "fsync", _full)
    assert update_user_witness(entries) is False
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", _homeless)
    assert update_user_witness(entries) is False


def _full(*_args):
    raise OSError(errno.ENOSPC, "No space left on device")


def _homeless():
    raise RuntimeError("Could not determine home directory.")
