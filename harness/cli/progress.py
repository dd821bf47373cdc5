"""Progress on stderr: a bar on a terminal, lines elsewhere, both with rate and time left; silence with --quiet."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

_PATIENCE = 1.0
"""Seconds after which a bar, or a first line, is worth showing."""

_SHORTEST, _LONGEST = 5.0, 60.0
"""Seconds between two lines; they grow with the time that the work has taken, so that a log stays readable."""


class ConsoleProgress:
    """What `harness.workflow.progress.Progress` asks for, on this process's stderr.

    Args:
        say: prints one line on stderr.
        quiet: say nothing at all.
        colour: whether a bar may be coloured.
        clock: seconds; for tests.
    """

    def __init__(
        self, say: Callable[[str], None], *, quiet: bool, colour: bool, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._quiet = quiet
        self._colour = colour
        self._clock = clock
        self._started = clock()
        self._counting = False

    def __call__(self, what: str, /) -> None:
        """Say what begins, with the time since the start."""
        if not self._quiet:
            self._say(f"[{self._clock() - self._started:6.1f} s] {what}")

    @contextlib.contextmanager
    def counting(self, what: str, total: int, unit: str, *, done: int = 0) -> Iterator[Callable[[int], None]]:
        """Count something long; what is counted inside of it is not shown, so that there is one bar at a time."""
        if self._quiet or self._counting:
            yield lambda _: None
            return
        self(f"{what}: {f'{done} of ' if done else ''}{total} {unit}{' done already' if done else ''}")
        count = _Count(what, total, unit, done, self._clock)
        show = _Bar(count, colour=self._colour) if _animates() else _Lines(count, self)
        self._counting = True
        try:
            yield lambda finished: show.advanced(count.add(finished))
        finally:
            self._counting = False
            show.close()
            if count.elapsed() > _PATIENCE and count.finished:
                self(f"{what}: {count.words()}")


class _Count:
    """How much is done, how fast it goes, and how long the rest will take."""

    def __init__(self, what: str, total: int, unit: str, done: int, clock: Callable[[], float]) -> None:
        self.what, self.total, self.unit, self.done = what, total, unit, done
        self.finished = 0
        self._clock, self._began = clock, clock()

    def add(self, finished: int) -> float:
        """Count units as done; return the seconds since the start."""
        self.done += finished
        self.finished += finished
        return self.elapsed()

    def elapsed(self) -> float:
        """Seconds since the start."""
        return self._clock() - self._began

    def words(self) -> str:
        """``120/566 questions, 45/s, 0:10 left``."""
        text = f"{self.done}/{self.total} {self.unit}"
        seconds = self.elapsed()
        if not self.finished or seconds <= 0:
            return text
        rate = self.finished / seconds
        left = max(0, self.total - self.done) / rate
        return f"{text}, {rate_words(rate)}, {time_words(left)} left" if left else f"{text}, {rate_words(rate)}"


def rate_words(rate: float) -> str:
    """Units a second in the largest unit of time that is needed to read it: ``45/s``, ``2.4/min``, ``1.5/h``."""
    for seconds, name in ((1, "s"), (60, "min")):
        if rate * seconds >= 1:
            return f"{rate * seconds:.{0 if rate * seconds >= 10 else 1}f}/{name}"
    return f"{rate * 3600:.1f}/h"


def time_words(seconds: float) -> str:
    """``0:07``, ``12:30``, ``1:02:03``; a time that is left is never shorter than shown."""
    whole = int(-(-seconds // 1))
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def _animates() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


class _Lines:
    """A line now and then, for logs and pipes."""

    def __init__(self, count: _Count, say: Callable[[str], None]) -> None:
        self._count, self._say = count, say
        self._next = _PATIENCE

    def advanced(self, elapsed: float) -> None:
        """Say how far it is, if it was not said lately."""
        if elapsed >= self._next and self._count.done < self._count.total:
            self._next = elapsed + min(_LONGEST, max(_SHORTEST, elapsed / 2))
            self._say(f"{self._count.what}: {self._count.words()}")

    def close(self) -> None:
        """Nothing is open."""


class _Bar:
    """A bar that goes away when the work is done; its library is imported for work that takes long enough."""

    def __init__(self, count: _Count, *, colour: bool) -> None:
        self._count, self._colour = count, colour
        self._bar: Any = None

    def advanced(self, elapsed: float) -> None:
        """Show how far it is."""
        if self._bar is None and elapsed >= _PATIENCE and self._count.done < self._count.total:
            self._bar = self._open()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self._count.done, words=self._count.words())

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _open(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[words]}", markup=False),
        )
        # results belong to stdout whoever reads it, so that only stderr goes through the bar
        bar = Progress(*columns, console=Console(stderr=True, no_color=not self._colour), transient=True,
                       redirect_stdout=False)  # fmt: skip
        bar.add_task(self._count.what, total=self._count.total, words=self._count.words())
        bar.start()
        return bar
