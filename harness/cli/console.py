"""Prints: results on stdout, progress and errors on stderr, JSON where it was asked for."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from harness.errors import HarnessError

_STYLES = {"PASS": "32", "OK": "32", "holds": "32", "ROLLBACK": "31", "FAIL": "31", "fell": "31", "refused": "31",
           "INCONCLUSIVE": "33", "INADMISSIBLE": "33", "OKish": "33", "open": "33", "NOTRUN": "2"}  # fmt: skip


class Console:
    """Where a command's output goes.

    Args:
        as_json: results are printed as one JSON value, and nothing else goes to stdout.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._started = time.monotonic()
        self._colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ

    def result(self, value: Any, lines: Iterable[str]) -> None:
        """Print a result: the value as JSON, or the lines for people."""
        if self.as_json:
            lines = [json.dumps(value, indent=1, ensure_ascii=False, default=str)]
        for line in lines:
            _say(line, sys.stdout)

    def paint(self, word: str, text: str | None = None) -> str:
        """``text`` (by default the word) in the word's colour, on a terminal that wants colours."""
        style = _STYLES.get(word)
        shown = word if text is None else text
        return f"\x1b[{style}m{shown}\x1b[0m" if style and self._colour else shown

    def progress(self, what: str) -> None:
        """Say on stderr what is being done, with the time since the start."""
        _say(f"[{time.monotonic() - self._started:6.1f} s] {what}", sys.stderr)
        flush_output(sys.stderr)

    def note(self, text: str) -> None:
        """A line for the person, on stderr."""
        _say(f"harness: {text}", sys.stderr)

    def error(self, error: HarnessError) -> None:
        """One clear message on stderr."""
        self.note(str(error))


def flush_output(stream: TextIO) -> None:
    """Write what is still buffered; at the interpreter's end it would be too late to meet a closed pipe."""
    try:
        stream.flush()
    except BrokenPipeError:
        _give_up(stream)


def _say(line: str, stream: TextIO) -> None:
    try:
        print(line, file=stream)
    except BrokenPipeError:
        _give_up(stream)


def _give_up(stream: TextIO) -> None:
    # the reader is gone, for instance `head`: the rest goes to nobody, and the command goes on, since its exit
    # code is the verdict's
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def table(header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: int = 1) -> list[str]:
    """Aligned columns; the first ``text_columns`` to the left, the others, which are numbers, to the right."""
    cells = [list(header), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = []
    for row in cells:
        parts = [
            cell.ljust(width) if column < text_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(parts).rstrip())
    return [lines[0], "  ".join("-" * width for width in widths), *lines[1:]]
