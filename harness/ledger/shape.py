"""The bytes of an entry and what they must look like, the same for writing and for reading."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeGuard

from harness.digest import canonical_json, digest_bytes
from harness.errors import UsageProblem

FORMAT = 1

_FIELDS = ("environment", "format", "git", "kind", "parents", "payload", "sequence", "time")
_HASH = re.compile(r"[0-9a-f]{64}")


def encode(kind: str, record: Mapping[str, Any]) -> bytes:
    """Canonical bytes of an entry, without the line end.

    Raises:
        UsageProblem: NaN, infinity, or text with half of a surrogate pair.
        TypeError: a value that JSON does not know.
    """
    try:
        return canonical_json(record).encode()
    except ValueError as error:
        raise UsageProblem(
            f"this {kind} entry cannot be recorded: {error}",
            allowed="finite numbers and well-formed text",
            fix="find the value that is not a number, or the text with broken characters, and mend it",
        ) from error


def entry_hash(body: bytes) -> str:
    """The 64 hex digits by which an entry is known, from its canonical bytes without the line end."""
    return digest_bytes("ledger-entry/1", body).removeprefix("sha256:")


def shape_problem(record: Any) -> str:
    """What keeps a parsed JSON value from being an entry, or the empty string."""
    if not isinstance(record, dict) or tuple(sorted(record)) != _FIELDS:
        return f"its fields must be {', '.join(_FIELDS)}"
    if type(record["format"]) is not int or record["format"] != FORMAT:
        return f"format {record['format']!r} is not {FORMAT}; a newer version may read it"
    if type(record["sequence"]) is not int or record["sequence"] < 1:
        return "sequence must be a whole number from 1"
    if not are_hashes(record["parents"]):
        return "parents must be sorted entry hashes, each once"
    if not all(isinstance(record[name], str) and record[name] for name in ("kind", "environment")):
        return "kind and environment must be text"
    if not isinstance(record["payload"], dict):
        return "payload must be a mapping"
    return _git_problem(record["git"]) or _time_problem(record["time"])


def is_hash(value: Any) -> TypeGuard[str]:
    """Whether ``value`` is 64 lower-case hex digits."""
    return isinstance(value, str) and _HASH.fullmatch(value) is not None


def are_hashes(value: Any) -> bool:
    """Whether ``value`` is a sorted list of different hashes."""
    return isinstance(value, list) and all(map(is_hash, value)) and value == sorted(set(value))


def _git_problem(git: Any) -> str:
    if not isinstance(git, dict) or sorted(git) != ["commit", "dirty"]:
        return "git must have commit and dirty"
    if not isinstance(git["commit"], str | None) or not isinstance(git["dirty"], bool | None):
        return "git.commit must be text or null, git.dirty true, false or null"
    return ""


def _time_problem(time: Any) -> str:
    try:
        offset = datetime.fromisoformat(time).tzinfo
    except (TypeError, ValueError):
        offset = None
    return "" if offset else f"time {time!r} must be ISO 8601 with an offset from UTC"
