"""Prints: results on stdout, progress and errors on stderr, JSON where it was asked for."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from harness.cli.progress import ConsoleProgress
from harness.errors import HarnessError

_STYLES = {"PASS": "32", "OK": "32", "holds": "32", "ROLLBACK": "31", "FAIL": "31", "fell": "31", "refused": "31",
           "INCONCLUSIVE": "33", "INADMISSIBLE": "33", "OKish": "33", "open": "33", "NOTRUN": "2"}  # fmt: skip


class Console:
    """Where a command's output goes.

    Args:
        as_json: results are printed as one JSON value, and nothing else goes to stdout.
        quiet: no progress and no notes; results and errors stay.

    Attributes:
        progress: see `harness.workflow.progress.Progress`.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self._colour = wants_colour(sys.stdout)
        self.progress = ConsoleProgress(_say_at_once, quiet=quiet, colour=wants_colour(sys.stderr))

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

    def note(self, text: str) -> None:
        """A line that a person may want to know, on stderr."""
        if not self.quiet:
            self.failure(text)

    def failure(self, text: str) -> None:
        """Why the command does not do what was asked, on stderr."""
        _say(f"harness: {text}", sys.stderr)

    def error(self, error: HarnessError) -> None:
        """One clear message on stderr."""
        self.failure(str(error))


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to ``stream``: NO_COLOR forbids, FORCE_COLOR demands, else a terminal may have it.

    Either counts if it is set and not empty (no-color.org, force-color.org); ``FORCE_COLOR=0`` forbids too.
    """
    force = os.environ.get("FORCE_COLOR")
    if os.environ.get("NO_COLOR") or force == "0":
        return False
    return bool(force) or (stream.isatty() and os.environ.get("TERM") != "dumb")


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


def _say_at_once(line: str) -> None:
    _say(line, sys.stderr)
    flush_output(sys.stderr)


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
