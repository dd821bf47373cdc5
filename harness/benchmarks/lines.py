"""Reads a file line by line, as JSON objects or as text, so that a corpus need not fit into memory as one file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from harness.benchmarks.source import decoder, need, problem_of, refuse_what_is_no_text
from harness.errors import HarnessError, UsageProblem

_LARGEST = 256 << 20
"""Bytes of one line; a file without line ends must not be read into memory as a whole."""

_OBJECT_A_LINE = "one JSON object a line"


class Seen:
    """Digest and size of a file while it is read; of the whole file after its last line.

    Attributes:
        bytes: how many were read so far.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.bytes = 0

    @property
    def sha256(self) -> str:
        """Digest of what was read so far, in hex."""
        return self._hash.hexdigest()

    def feed(self, data: bytes) -> None:
        """Count what was read."""
        self._hash.update(data)
        self.bytes += len(data)


def read_lines(
    path: Path, expected: str, seen: Seen | None = None, refused: Callable[[UsageProblem], None] | None = None
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON object of each line that is not blank, with the line's number, from 1.

    Args:
        path: the file; lines end with a newline, with or without a carriage return before it, and with nothing else.
        expected: what the file should be, for messages ("corpus.jsonl of a BEIR folder").
        seen: counts what was read, for whoever needs the file's digest.
        refused: told of a line that is no JSON object, which is then passed over; without it the first one raises.

    Raises:
        UsageProblem: missing, a folder, without a line, not UTF-8, or a line that is not one JSON object, is cut off,
            holds a key twice, a number that is not finite or half of a surrogate pair; it names the line.
        EnvironmentProblem: not readable.
    """
    parser = decoder()
    for number, text in text_lines(path, expected, seen):
        where = f"{path}:{number}"
        try:
            value = parser.decode(text.rstrip("\r\n"))
            if "\\u" in text:  # half of a pair can only come from an escape
                refuse_what_is_no_text(value)
            need(value, dict, where, "the line")
        except UsageProblem as problem:
            _tell(problem, refused)
        except (ValueError, RecursionError) as error:
            _tell(_problem(error, path, number, expected, whole=text.endswith("\n")), refused)
        else:
            yield number, value


def text_lines(path: Path, expected: str, seen: Seen | None = None) -> Iterator[tuple[int, str]]:
    """Each line that is not blank, as it stands, with its number, from 1.

    Args:
        path, expected, seen: as in `read_lines`.

    Raises:
        UsageProblem: missing, a folder, without a line, a line that is not UTF-8 or has no end.
        EnvironmentProblem: not readable.
    """
    seen = seen or Seen()
    number, empty = 0, True
    try:
        with path.open("rb") as handle:
            while raw := handle.readline(_LARGEST):
                number += 1
                seen.feed(raw)
                if len(raw) == _LARGEST:
                    what = f"the line has no end within {_LARGEST >> 20} MiB"
                    raise UsageProblem(what, where=f"{path}:{number}", allowed=expected)
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if text.strip(" \t\r\n"):
                    empty = False
                    yield number, text
    except (OSError, UnicodeDecodeError) as error:
        raise _problem(error, path, number, expected, whole=False) from None
    if empty:
        raise UsageProblem("the file is empty", where=str(path), allowed=expected, fix=f"give the path of {expected}")


def _tell(problem: HarnessError, refused: Callable[[UsageProblem], None] | None) -> None:
    if refused is None or not isinstance(problem, UsageProblem):
        raise problem from None
    refused(problem)


def _problem(error: Exception, path: Path, number: int, expected: str, *, whole: bool) -> HarnessError:
    """What is wrong with a line; one that has its end was not cut off, whatever it lacks."""
    if isinstance(error, json.JSONDecodeError) and whole:
        where = f"{path}:{number}:{error.colno}"
        return UsageProblem(f"not valid JSON: {error.msg}", where=where, allowed=_OBJECT_A_LINE, fix="mend the line")
    problem = problem_of(error, path, expected, number)
    if not isinstance(error, OSError) and problem.where == str(path):
        problem.where = f"{path}:{number}"
    return problem
