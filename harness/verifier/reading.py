"""Strict reading of files that nobody vouches for.

Everything the verifier opens may be cut short, edited or hostile. Reading happens here only, so that each
way in which a file can be broken becomes one typed error with the file and the line, and no later module
has to expect NaN, an infinity, an integer of a million digits or a key that occurs twice.
"""

import hashlib
import json
import math
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NoReturn

LARGEST_FILE = 512 * 1024 * 1024
"""Bytes read at most from a run file: hundreds of times a real one, and within a small machine's memory."""

LONGEST_INTEGER = 100
"""Digits of the longest integer accepted: any position, count or seed fits a float too, a bomb does not."""

_HEX64 = re.compile(r"[0-9a-f]{64}")


class DamageError(Exception):
    """A file is missing, broken, or holds a value that its format does not allow.

    The text names the place first (``scores.json:1: ...``), then what was found and what was allowed.
    """


def show(value: object) -> str:
    """Spell a value from a file safely for one line of output: escaped, and never long."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    text = "null" if value is None else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def read_bytes(path: Path, name: str, limit: int = LARGEST_FILE) -> bytes:
    """Read a regular file of bounded size; links and devices are refused, their content is elsewhere.

    Raises:
        DamageError: If the file is missing, no regular file, too large, or cannot be read.
    """
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise DamageError(f"{name}: not a regular file")
        if status.st_size > limit:
            raise DamageError(f"{name}: {status.st_size} bytes, at most {limit} are read")
        with path.open("rb") as stream:
            return stream.read(status.st_size)  # no more, however the file grows meanwhile
    except FileNotFoundError:
        raise DamageError(f"{name}: missing") from None
    except OSError as error:
        raise DamageError(f"{name}: cannot be read ({error.strerror})") from None


def canonical(value: object) -> bytes:
    """Spell a JSON value in its one canonical form, in UTF-8, without a final newline.

    Raises:
        DamageError: If the value has no such form (NaN, lone surrogates, nesting beyond the recursion limit).
    """
    try:
        return _ENCODER.encode(value).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise DamageError(f"no canonical JSON form ({type(error).__name__})") from None


def check_canonical(value: object, raw: bytes, where: str) -> None:
    """Refuse bytes that are not the canonical spelling of the value parsed from them.

    Raises:
        DamageError: With the place given.
    """
    try:
        same = canonical(value) == raw
    except DamageError as error:
        raise DamageError(f"{where}: {error}") from None
    if not same:
        raise DamageError(f"{where}: not canonical JSON")


def tagged_digest(domain: str, value: object) -> str:
    """Digest a JSON value under a domain, so that equal bytes of different meaning never share a digest."""
    return "sha256:" + hashlib.sha256(f"retrieval-harness/{domain}\n".encode() + canonical(value)).hexdigest()


def parse(raw: bytes, name: str, line: int = 1) -> object:
    """Parse one JSON value; NaN, infinities, oversized integers and repeated keys are refused.

    Args:
        raw: The bytes of the value.
        name: The file, for the error text.
        line: The line of the file at which ``raw`` starts.

    Raises:
        DamageError: With the file and the line.
    """
    try:
        return _DECODER.decode(raw.decode("utf-8"))
    except _RefusedError as error:
        at = line + raw.count(b"\n", 0, max(raw.find(error.token.encode()), 0))
        raise DamageError(f"{name}:{at}: {error}") from None
    except json.JSONDecodeError as error:
        raise DamageError(f"{name}:{line + error.lineno - 1}: not JSON ({error.msg})") from None
    except UnicodeDecodeError as error:
        at = line + raw.count(b"\n", 0, error.start)
        raise DamageError(f"{name}:{at}: not UTF-8") from None
    except RecursionError:
        raise DamageError(f"{name}:{line}: nested too deeply") from None


def json_lines(raw: bytes, name: str) -> Iterator[tuple[str, object]]:
    """Yield the place (``file:line``) and the value of every line of a file of canonical JSON lines.

    Raises:
        DamageError: If the file is empty, a line is not canonical JSON, or the last line does not end.
    """
    if not raw:
        raise DamageError(f"{name}:1: empty file")
    *complete, rest = raw.split(b"\n")
    for number, piece in enumerate(complete, start=1):
        value = parse(piece, name, number)
        check_canonical(value, piece, f"{name}:{number}")
        yield f"{name}:{number}", value
    if rest:
        parse(rest, name, len(complete) + 1)
        raise DamageError(f"{name}:{len(complete) + 1}: the last line does not end, the file may be cut short")


def mapping(value: object, where: str) -> Mapping[str, object]:
    """Narrow to a JSON object."""
    if isinstance(value, dict):
        return value
    raise _mismatch(value, where, "an object")


def items(value: object, where: str, length: int | None = None) -> list[object]:
    """Narrow to a JSON list, of a given length if one is given."""
    if isinstance(value, list):
        if length is not None and len(value) != length:
            raise DamageError(f"{where}: {len(value)} items instead of {length}")
        return value
    raise _mismatch(value, where, "a list")


def text(value: object, where: str) -> str:
    """Narrow to a string."""
    if isinstance(value, str):
        return value
    raise _mismatch(value, where, "a string")


def hexadecimal(value: object, where: str) -> str:
    """Narrow to the 64 lower-case digits of a SHA-256 value."""
    if isinstance(value, str) and _HEX64.fullmatch(value):
        return value
    raise _mismatch(value, where, "64 hexadecimal digits")


def integer(value: object, where: str, least: int = 0) -> int:
    """Narrow to an integer of at least ``least``; true and false are no integers here, as in JSON."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= least:
        return value
    raise _mismatch(value, where, f"an integer of at least {least}")


def number(value: object, where: str, low: float = -1.0, high: float = 1.0) -> float:
    """Narrow to a finite number within a range, both ends included."""
    if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
        return float(value)
    raise _mismatch(value, where, f"a number from {low:g} to {high:g}")


def truth(value: object, where: str) -> bool:
    """Narrow to true or false."""
    if isinstance(value, bool):
        return value
    raise _mismatch(value, where, "true or false")


class _RefusedError(Exception):
    """A token that JSON, or Python's reading of it, would let through; carries the token to find its line."""

    def __init__(self, message: str, token: str) -> None:
        super().__init__(message)
        self.token = token


def _mismatch(value: object, where: str, allowed: str) -> DamageError:
    return DamageError(f"{where}: {show(value)} instead of {allowed}")


def _refuse_constant(token: str) -> NoReturn:
    raise _RefusedError(f"{token} is not a JSON number", token)


def _bounded_integer(token: str) -> int:
    if len(token) > LONGEST_INTEGER:
        raise _RefusedError(f"an integer of {len(token)} characters", token)
    return int(token)


def _finite_float(token: str) -> float:
    value = float(token)
    if not math.isfinite(value):
        raise _RefusedError(f"{show(token)} is beyond the range of a number", token)
    return value


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _RefusedError(f"the key {show(key)} occurs twice", json.dumps(key))
        seen.add(key)
    return found


# made once: a ledger has as many values to read and to spell again as it has entries
_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_DECODER = json.JSONDecoder(
    parse_constant=_refuse_constant,
    parse_int=_bounded_integer,
    parse_float=_finite_float,
    object_pairs_hook=_unique_keys,
)
