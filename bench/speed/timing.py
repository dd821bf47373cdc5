"""Times of several libraries that do the same work, in alternating order, and what stands in the table.

Times are processor time, of all threads: on a machine with other work a clock on the wall charges a library for its
neighbours. On a quiet one both are the same, but for waiting, which is not counted.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from typing import Any


@dataclass(frozen=True)
class Contender:
    """One library at one piece of work.

    Attributes:
        name: as in the table.
        build: makes what is searched; None where there is nothing to make.
        work: what is timed after it, given what ``build`` returned.
        check: what one untimed run found, as text for the table.
        share: the part of the questions that ``work`` answers; its time is scaled up.
    """

    name: str
    build: Callable[[], Any] | None
    work: Callable[[Any], Any]
    check: Callable[[Any], str]
    share: float = 1.0


@dataclass(frozen=True)
class Absent:
    """A library that is not installed, or that cannot be run, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Measured:
    """Seconds of one library in every round, as the processor counts them, and what it found."""

    name: str
    build: list[float]
    work: list[float]
    check: str
    share: float = 1.0

    @property
    def seconds(self) -> tuple[float, float, float]:
        """Medians over the rounds: building, the work itself, and both."""
        both = [one + other for one, other in zip(self.build, self.work, strict=True)]
        return statistics.median(self.build), statistics.median(self.work), statistics.median(both)


@dataclass(frozen=True)
class Task:
    """One part of the table.

    Attributes:
        title: what everyone does.
        facts: its sizes, for the record.
        contenders: ours first.
        questions: to give times for each; 0 where the whole is the unit.
        rounds: how often everyone takes its turn.
    """

    title: str
    facts: dict[str, Any]
    contenders: Sequence[Contender | Absent]
    questions: int = 0
    rounds: int | None = None


@dataclass(frozen=True)
class Result:
    """A task with its times."""

    task: Task
    measured: list[Measured]
    absent: list[Absent] = field(default_factory=list)


def absent_modules(*names: str) -> str:
    """Which of these modules are not installed, as text; empty where all are."""
    return ", ".join(name for name in names if find_spec(name) is None)


def module(name: str) -> Any:
    """A module that may be absent and ships no types."""
    return import_module(name)


def run(task: Task, rounds: int) -> Result:
    """Time everyone.

    One round before the clock starts checks what each one finds, and compiles what is compiled at first use. Every
    second round goes backwards, so that neither a busy spell nor the neighbour's leftovers favour anyone.
    """
    able = [one for one in task.contenders if isinstance(one, Contender)]
    checks = [one.check(one.work(one.build() if one.build else None)) for one in able]
    times: list[list[tuple[float, float]]] = [[] for _ in able]
    for number in range(task.rounds or rounds):
        places = range(len(able)) if number % 2 == 0 else reversed(range(len(able)))
        for place in places:
            times[place].append(_once(able[place]))
    measured = [
        Measured(one.name, [build for build, _ in pairs], [work / one.share for _, work in pairs], check, one.share)
        for one, pairs, check in zip(able, times, checks, strict=True)
    ]
    return Result(task, measured, [one for one in task.contenders if isinstance(one, Absent)])


def _once(contender: Contender) -> tuple[float, float]:
    gc.collect()
    gc.disable()  # a collection would be charged to whoever is there when it happens
    try:
        begin = time.process_time()
        built = contender.build() if contender.build else None
        middle = time.process_time()
        contender.work(built)
        return middle - begin, time.process_time() - middle
    finally:
        gc.enable()
