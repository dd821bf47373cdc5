"""Reads an importer's source file: one clear error for anything that is not the JSON it should be."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

from harness.errors import EnvironmentProblem, UsageProblem


def read_json(path: Path, expected: str) -> tuple[Any, bytes]:
    """Parse a JSON file.

    Args:
        path: the file.
        expected: what the file should be, for messages ("the LoCoMo file locomo10.json").

    Returns:
        The parsed value and the file's bytes.

    Raises:
        UsageProblem: missing, a folder, empty, cut off, not UTF-8, not JSON, or with a key twice.
        EnvironmentProblem: not readable.
    """
    fix = f"give the path of {expected}"
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise UsageProblem("no such file", where=str(path), allowed=expected, fix=fix) from None
    except IsADirectoryError:
        raise UsageProblem("this is a folder", where=str(path), allowed=expected, fix=fix) from None
    except NotADirectoryError:
        raise UsageProblem("no such file", where=str(path), allowed=expected, fix=fix) from None
    except PermissionError:
        raise EnvironmentProblem("cannot be read", where=str(path), fix="grant read permission") from None
    except OSError as error:
        raise EnvironmentProblem(f"cannot be read: {error.strerror}", where=str(path), fix=fix) from None
    if not raw.strip():
        raise UsageProblem("the file is empty", where=str(path), allowed=expected, fix=fix)
    try:
        value = json.loads(
            raw.decode("utf-8-sig"), object_pairs_hook=_no_key_twice, parse_constant=_no_such_number,
            parse_float=_finite,
        )  # fmt: skip
        # an escaped half of a surrogate pair is legal JSON and no text: it could be neither hashed nor stored
        json.dumps(value, ensure_ascii=False).encode()
        return value, raw
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        what = "the file is cut off inside a character" if cut else f"not UTF-8 text at byte {error.start}"
        raise UsageProblem(what, where=str(path), allowed=expected, fix=fix) from None
    except UnicodeEncodeError as error:
        what = f"half of a surrogate pair, {error.object[error.start]!a}"
        raise UsageProblem(what, where=str(path), allowed="text that UTF-8 can write", fix=fix) from None
    except json.JSONDecodeError as error:
        cut = error.pos >= len(raw.decode("utf-8-sig").rstrip()) - 1 or error.msg.startswith("Unterminated")
        what = "the JSON ends early: the file is cut off" if cut else f"not valid JSON: {error.msg}"
        where = f"{path}:{error.lineno}:{error.colno}"
        raise UsageProblem(what, where=where, allowed=expected, fix="fetch the file again") from None
    except RecursionError:
        raise UsageProblem("nested too deeply", where=str(path), allowed=expected, fix=fix) from None
    except _KeyTwiceError as error:
        what = f"the key {error.args[0]!r} stands twice in one object"
        raise UsageProblem(what, where=str(path), allowed="each key once", fix=fix) from None
    except ValueError as error:
        # NaN and infinity, and whole numbers with more digits than Python reads
        what = f"a number that cannot be read: {str(error).partition(';')[0]}"
        raise UsageProblem(what, where=str(path), allowed="finite numbers", fix=fix) from None


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


def need(value: Any, kind: type | tuple[type, ...], where: str, what: str) -> Any:
    """Return ``value`` if it has the type, else raise an error that names the record."""
    if isinstance(value, kind) and not (isinstance(value, bool) and kind is not bool):
        return value
    kinds = kind if isinstance(kind, tuple) else (kind,)
    allowed = " or ".join({str: "text", int: "a whole number", list: "a list", dict: "an object"}[k] for k in kinds)
    found = "nothing" if value is None else type(value).__name__
    raise UsageProblem(f"{what} is {found}", where=where, allowed=allowed, fix="mend the record in the file")
