"""Prints: results on stdout, progress and errors on stderr, JSON where it was asked for."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import Any

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
            print(json.dumps(value, indent=1, ensure_ascii=False, default=str))
            return
        for line in lines:
            print(line)

    def paint(self, word: str, text: str | None = None) -> str:
        """``text`` (by default the word) in the word's colour, on a terminal that wants colours."""
        style = _STYLES.get(word)
        shown = word if text is None else text
        return f"\x1b[{style}m{shown}\x1b[0m" if style and self._colour else shown

    def progress(self, what: str) -> None:
        """Say on stderr what is being done, with the time since the start."""
        print(f"[{time.monotonic() - self._started:6.1f} s] {what}", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """A line for the person, on stderr."""
        print(f"harness: {text}", file=sys.stderr)

    def error(self, error: HarnessError) -> None:
        """One clear message on stderr."""
        self.note(str(error))


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
