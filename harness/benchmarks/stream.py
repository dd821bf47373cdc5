"""Reads a JSON array record by record, so that a file need not fit into memory."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from harness.benchmarks.source import decoder, problem_of, refuse_what_is_no_text
from harness.errors import UsageProblem

_STEP = 1 << 20
_LARGEST = 256 << 20
"""Characters of one record; a file that is damaged early must not be read into memory as a whole."""


class RecordStream:
    """The records of a file, to be read once from first to last.

    Attributes:
        bytes: how many were read so far.
    """

    def __init__(self, path: Path, expected: str) -> None:
        """See `harness.benchmarks.source.read_json` for the arguments and the errors."""
        self._path, self._expected = path, expected
        self._hash = hashlib.sha256()
        self.bytes = 0
        self._line = 1

    @property
    def sha256(self) -> str:
        """Digest of what was read so far, in hex; of the whole file after the last record."""
        return self._hash.hexdigest()

    def __iter__(self) -> Iterator[Any]:
        """Every record in order.

        Raises:
            UsageProblem: missing, empty, cut off, not UTF-8, not JSON, no array, or with a key twice.
            EnvironmentProblem: not readable.
        """
        try:
            with self._path.open("rb") as handle:
                yield from self._records(handle)
        except (OSError, ValueError, RecursionError) as error:
            raise problem_of(error, self._path, self._expected, self._line) from None

    def _records(self, handle: BinaryIO) -> Iterator[Any]:
        text = _Text(handle, self)
        if text.next_mark() != "[":
            what = "the file is empty" if text.at_end else "not a list of records"
            raise UsageProblem(what, where=str(self._path), allowed=self._expected, fix="fetch the file again")
        parser = decoder()
        mark = text.next_mark()
        while mark != "]":
            text.push_back()
            value = text.decode(parser)
            refuse_what_is_no_text(value)
            yield value
            mark = text.next_mark()
            if mark == ",":
                mark = text.next_mark()
                if mark == "]":
                    raise self._refused("not valid JSON: a comma before the end", text)
            elif mark != "]":
                cut, missing = "the JSON ends early: the file is cut off", "not valid JSON: a comma is missing"
                raise self._refused(missing if mark else cut, text)
        if text.next_mark():
            raise self._refused("not valid JSON: something stands after the end", text)

    def _refused(self, what: str, text: _Text) -> UsageProblem:
        line = self._line + text.buffer.count("\n", 0, text.place)
        return UsageProblem(what, where=f"{self._path}:{line}", allowed=self._expected, fix="fetch the file again")

    def feed(self, data: bytes) -> None:
        """Count what was read."""
        self._hash.update(data)
        self.bytes += len(data)

    def passed(self, text: str) -> None:
        """Count the lines of what needs not be kept."""
        self._line += text.count("\n")


class _Text:
    """A window on the file's text that grows at its end and is cut at its beginning."""

    def __init__(self, handle: BinaryIO, stream: RecordStream) -> None:
        self._handle, self._stream = handle, stream
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self.buffer, self.place, self.at_end = "", 0, False

    def next_mark(self) -> str:
        """The next character that is no blank, consumed; empty at the end of the file."""
        while True:
            while self.place < len(self.buffer):
                self.place += 1
                if self.buffer[self.place - 1] not in " \t\r\n":
                    return self.buffer[self.place - 1]
            if not self._more(_STEP):
                return ""

    def push_back(self) -> None:
        """Step back before the last mark."""
        self.place = max(0, self.place - 1)

    def decode(self, parser: json.JSONDecoder) -> Any:
        """The value that begins here, consumed."""
        step = _STEP
        while True:
            try:
                value, end = parser.raw_decode(self.buffer, self.place)
            except json.JSONDecodeError as error:
                # what a value lacks at its end shows at the end of what was read, or where a string begins
                unfinished = error.pos >= len(self.buffer) - 8 or error.msg.startswith("Unterminated")
                if not unfinished or len(self.buffer) > _LARGEST or not self._more(step):
                    raise
                step *= 2
            else:
                # a number may go on in what was not read yet
                if end < len(self.buffer) or not self._more(step):
                    self.place = end
                    return value

    def _more(self, size: int) -> bool:
        data = b"" if self.at_end else self._handle.read(size)
        self._stream.feed(data)
        self.at_end = self.at_end or not data
        kept, passed = self.buffer[self.place :], self.buffer[: self.place]
        self._stream.passed(passed)
        self.buffer, self.place = kept + self._decoder.decode(data, final=self.at_end), 0
        return bool(data)
