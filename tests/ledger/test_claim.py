from __future__ import annotations

import errno
import os

import pytest

from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem
from harness.ledger import holder_of, take

LOCK = "0123456789abcdef" * 4


def test_first_claim_wins(tmp_path):
    """The first to take a token gets it, the second does not, and the token keeps the first one's name."""
    folder = tmp_path / ".claims"
    assert holder_of(folder, LOCK) is None
    assert take(folder, LOCK, {"process": 12}) is True
    assert take(folder, LOCK, {"process": 13}) is False
    assert holder_of(folder, LOCK) == {"process": 12}
    assert (folder / f"{LOCK}.json").read_bytes() == b'{"process":12}\n'


def test_locks_have_their_own_tokens(tmp_path):
    """A token for one lock says nothing about another."""
    take(tmp_path, LOCK, {})
    assert holder_of(tmp_path, "f" * 64) is None
    assert take(tmp_path, "f" * 64, {}) is True


@pytest.mark.parametrize("name", ["../elsewhere", "", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_not_a_hash(tmp_path, name):
    """What is not a hash never becomes a file name."""
    with pytest.raises(UsageProblem, match="not the hash of a lock"):
        take(tmp_path / "claims", name, {})
    with pytest.raises(UsageProblem):
        holder_of(tmp_path / "claims", name)
    assert not list(tmp_path.iterdir())


def test_holder_with_nan(tmp_path):
    """A holder that JSON cannot hold is refused and no token is made."""
    with pytest.raises(UsageProblem, match="cannot be written"):
        take(tmp_path, LOCK, {"since": float("nan")})
    assert holder_of(tmp_path, LOCK) is None


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff", b"12"])
def test_changed_token(tmp_path, data):
    """A token that was cut or replaced still holds the claim, and reading it is an integrity problem."""
    (tmp_path / f"{LOCK}.json").write_bytes(data)
    assert take(tmp_path, LOCK, {}) is False
    with pytest.raises(IntegrityProblem, match="changed") as caught:
        holder_of(tmp_path, LOCK)
    assert LOCK in caught.value.where


def test_no_space(tmp_path, monkeypatch):
    """A full disk makes no token, so that the claim can be made later."""

    def full(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentProblem, match="No space"):
        take(tmp_path, LOCK, {})
    monkeypatch.undo()
    assert not list(tmp_path.iterdir())
    assert take(tmp_path, LOCK, {}) is True
