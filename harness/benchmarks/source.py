"""Reads an importer's source file: one clear error for anything that is not the JSON it should be."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from harness.errors import EnvironmentProblem, HarnessError, UsageProblem

_ZIP = b"PK\x03\x04"


def read_json(path: Path, expected: str) -> tuple[Any, bytes]:
    """Parse a JSON file.

    Args:
        path: the file.
        expected: what the file should be, for messages ("the LoCoMo file locomo10.json").

    Returns:
        The parsed value and the file's bytes.

    Raises:
        UsageProblem: missing, a folder, empty, a zip archive, cut off, not UTF-8, not JSON, or with a key twice.
        EnvironmentProblem: not readable.
    """
    try:
        raw = path.read_bytes()
        if not raw.strip():
            raise UsageProblem("the file is empty", where=str(path), allowed=expected, fix=_give(expected))
        if raw.startswith(_ZIP):
            raise UsageProblem("this is a zip archive", where=str(path), allowed=expected, fix=_give(expected))
        value = decoder().decode(raw.decode("utf-8-sig"))
        refuse_what_is_no_text(value)
        return value, raw
    except (OSError, ValueError, RecursionError) as error:
        raise problem_of(error, path, expected) from None


def decoder() -> json.JSONDecoder:
    """A decoder that takes what JSON allows and no more: neither NaN nor a key twice."""
    return json.JSONDecoder(object_pairs_hook=_no_key_twice, parse_constant=_no_such_number, parse_float=_finite)


def refuse_what_is_no_text(value: Any) -> None:
    """Refuse an escaped half of a surrogate pair: legal JSON, and no text that could be hashed or stored.

    Raises:
        UnicodeEncodeError: there is one.
    """
    json.dumps(value, ensure_ascii=False).encode()


def problem_of(error: Exception, path: Path, expected: str, first_line: int = 1) -> HarnessError:
    """What went wrong while a file of JSON was read, in words.

    Args:
        error: what was raised.
        path, expected: the file, and what it should be.
        first_line: the line on which the text begins that the error speaks of.
    """
    where, fix = str(path), _give(expected)
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return UsageProblem("no such file", where=where, allowed=expected, fix=fix)
        case IsADirectoryError():
            return UsageProblem("this is a folder", where=where, allowed=expected, fix=fix)
        case PermissionError():
            return EnvironmentProblem("cannot be read", where=where, fix="grant read permission")
        case OSError():
            return EnvironmentProblem(f"cannot be read: {error.strerror}", where=where, fix=fix)
        case UnicodeDecodeError():
            cut = error.reason == "unexpected end of data"
            what = "the file is cut off inside a character" if cut else f"not UTF-8 text at byte {error.start}"
            return UsageProblem(what, where=where, allowed=expected, fix=fix)
        case UnicodeEncodeError():
            what = f"half of a surrogate pair, {error.object[error.start]!a}"
            return UsageProblem(what, where=where, allowed="text that UTF-8 can write", fix=fix)
        case json.JSONDecodeError():
            cut = error.pos >= len(error.doc.rstrip()) - 1 or error.msg.startswith("Unterminated")
            what = "the JSON ends early: the file is cut off" if cut else f"not valid JSON: {error.msg}"
            place = f"{path}:{first_line + error.lineno - 1}:{error.colno}"
            return UsageProblem(what, where=place, allowed=expected, fix="fetch the file again")
        case RecursionError():
            return UsageProblem("nested too deeply", where=where, allowed=expected, fix=fix)
        case _KeyTwiceError():
            what = f"the key {error.args[0]!r} stands twice in one object"
            return UsageProblem(what, where=where, allowed="each key once", fix=fix)
    # NaN and infinity, and whole numbers with more digits than Python reads
    what = f"a number that cannot be read: {str(error).partition(';')[0]}"
    return UsageProblem(what, where=where, allowed="finite numbers", fix=fix)


def _give(expected: str) -> str:
    return f"give the path of {expected}"


class _KeyTwiceError(ValueError):
    pass


def _no_such_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_such_number(text[:20])


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # json keeps the last of two equal keys without a word; a benchmark must not depend on which one
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _KeyTwiceError(next(key for key in keys if keys.count(key) > 1))
    return value


def canonical_sha256(value: Any) -> str:
    """SHA-256 in hex of the value's canonical JSON; without a domain tag, so that others can compute it."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def need_id(value: Any, where: str, what: str) -> str:
    """Return ``value`` if it is an id that a TREC file can hold, exactly as it is, else raise an error that says why.

    A JSON number is refused: 7, 7.0 and 007 are three ids and one number, and judgments name ids.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        said, fix = f"{what} is the number {value}", f'write the id in quotation marks, such as "{value}"'
        raise UsageProblem(said, where=where, allowed="text, since 7, 7.0 and 007 are different ids", fix=fix)
    identifier: str = need(value, str, where, what)
    if identifier.split() != [identifier]:
        said = f"{what} {identifier!r} holds a blank" if identifier.strip() else f"{what} is empty"
        raise UsageProblem(said, where=where, allowed="an id without blanks, as TREC files hold it", fix="rename it")
    return identifier


def need(value: Any, kind: type | tuple[type, ...], where: str, what: str) -> Any:
    """Return ``value`` if it has the type, else raise an error that names the record."""
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    kinds = kind if isinstance(kind, tuple) else (kind,)
    allowed = " or ".join({str: "text", int: "a whole number", list: "a list", dict: "an object"}[k] for k in kinds)
    found = "nothing" if value is None else type(value).__name__
    raise UsageProblem(f"{what} is {found}", where=where, allowed=allowed, fix="mend the record in the file")
