from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys

import pytest

from harness.cli.progress import ConsoleProgress, rate_words, time_words
from harness.workflow.progress import SILENT


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.now


def counted(steps: list[tuple[float, int]], *, total: int, done: int = 0, quiet: bool = False) -> list[str]:
    """The lines of a count whose units end after these numbers of seconds."""
    lines: list[str] = []
    clock = Clock()
    progress = ConsoleProgress(lines.append, quiet=quiet, colour=False, clock=clock)
    with progress.counting("work", total, "units", done=done) as advance:
        for seconds, finished in steps:
            clock.now += seconds
            advance(finished)
    return lines


def test_short_work_is_one_line() -> None:
    """What takes no second is announced and not counted."""
    assert counted([(0.1, 10)] * 5, total=50) == ["[   0.0 s] work: 50 units"]


def test_long_work_is_counted_with_rate_and_time_left() -> None:
    """Rarely enough for a log: soon, then ever less often, and at the end."""
    assert counted([(2.0, 10)] * 50, total=500) == [
        "[   0.0 s] work: 500 units",
        *(
            f"[{seconds:6.1f} s] work: {5 * seconds}/500 units, 5.0/s, {left} left"
            for seconds, left in ((2, "1:38"), (8, "1:32"), (14, "1:26"), (22, "1:18"), (34, "1:06"), (52, "0:48"),
                                  (78, "0:22"))
        ),
        "[ 100.0 s] work: 500/500 units, 5.0/s",
    ]  # fmt: skip


def test_an_hour_has_few_lines() -> None:
    """At most one a minute in the long run."""
    assert len(counted([(1.0, 1)] * 3600, total=3600)) < 80


def test_what_was_done_before_does_not_count_for_the_rate() -> None:
    """A resumed count begins where it was and says how fast it goes now."""
    lines = counted([(10.0, 1)] * 2, total=100, done=90)
    assert lines[0] == "[   0.0 s] work: 90 of 100 units done already"
    assert lines[1] == "[  10.0 s] work: 91/100 units, 6.0/min, 1:30 left"


def test_work_that_fails_says_how_far_it_came() -> None:
    """The last line is there whatever ends the work."""
    lines: list[str] = []
    clock = Clock()
    progress = ConsoleProgress(lines.append, quiet=False, colour=False, clock=clock)

    def work() -> None:
        with progress.counting("work", 9, "units") as advance:
            clock.now = 0.5
            advance(3)
            clock.now = 3.0
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert lines[-1] == "[   3.0 s] work: 3/9 units, 1.0/s, 0:06 left"


def test_a_count_within_a_count_is_silent() -> None:
    """There is one count at a time, and the next one is shown again."""
    lines: list[str] = []
    progress = ConsoleProgress(lines.append, quiet=False, colour=False, clock=Clock())
    with progress.counting("outer", 2, "trials"), progress.counting("inner", 9, "questions") as advance:
        advance(9)
        progress("a step")
    with progress.counting("next", 1, "trials"):
        pass
    assert [line.split("] ")[1] for line in lines] == ["outer: 2 trials", "a step", "next: 1 trials"]


def test_quiet_is_silent() -> None:
    """Neither lines nor counts."""
    assert counted([(10.0, 1)] * 5, total=5, quiet=True) == []
    lines: list[str] = []
    ConsoleProgress(lines.append, quiet=True, colour=False)("a step")
    assert lines == []


def test_nobody_listens() -> None:
    """The default of every workflow takes the same calls."""
    SILENT("a step")
    with SILENT.counting("work", 2, "units", done=1) as advance:
        advance(1)


@pytest.mark.parametrize(
    ("rate", "text"),
    [(245.4, "245/s"), (10.0, "10/s"), (2.44, "2.4/s"), (0.5, "30/min"), (0.04, "2.4/min"), (0.001, "3.6/h")],
)
def test_a_rate_can_be_read(rate: float, text: str) -> None:
    """A second, a minute or an hour, whichever makes it at least 1."""
    assert rate_words(rate) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "0:01"), (59.0, "0:59"), (60.0, "1:00"), (3599.5, "1:00:00"), (90061.0, "25:01:01")]
)
def test_a_time_left_can_be_read(seconds: float, text: str) -> None:
    """Minutes and seconds, with hours if there are any; rounded up."""
    assert time_words(seconds) == text


BAR = """
import sys, time
from harness.cli.console import Console
console = Console()
heavy = "rich" in sys.modules
with console.progress.counting("ranking [raw]", 40, "questions") as advance:
    for place in range(40):
        time.sleep(0.05)
        advance(1)
        if place == 35:
            console.progress("a step")
console.result({}, [f"done {heavy} {'rich' in sys.modules}"])
"""


def on_terminal(**environment: str) -> tuple[str, str]:
    """Stdout, which is a pipe, and what a terminal on stderr was sent."""
    mine, theirs = pty.openpty()
    drop = ("NO_COLOR", "FORCE_COLOR", "TERM", "COLUMNS")
    env = {key: value for key, value in os.environ.items() if key not in drop}
    process = subprocess.Popen(
        [sys.executable, "-c", BAR],
        env={**env, "TERM": "xterm-256color", "COLUMNS": "100", **environment},
        stdout=subprocess.PIPE,
        stderr=theirs,
    )
    os.close(theirs)
    sent = b""
    try:
        while select.select([mine], [], [], 60)[0]:
            sent += os.read(mine, 65536)
    except OSError:  # how Linux says that nobody holds the other end any more
        pass
    finally:
        os.close(mine)
    assert process.stdout is not None
    out = process.stdout.read().decode()
    assert process.wait() == 0
    return out, sent.decode()


def test_a_terminal_has_a_bar() -> None:
    """It has names as they are, rate and time left, and goes away; its library is imported for it only."""
    out, sent = on_terminal()
    assert out == "done False True\n"
    assert "━" in sent
    assert re.search(r"ranking \[raw\].*3\d/40 questions, \d+/s, 0:0\d left", sent)
    assert "a step" in sent
    assert "\x1b[2K" in sent.rpartition("━")[2]  # the bar's line is cleared
    assert re.search(r"ranking \[raw\]: 40/40 questions, \d+/s\s*$", sent)


def test_a_bar_without_colour() -> None:
    """NO_COLOR takes the colour and not the bar."""
    colour = re.compile(r"\x1b\[(?:3\d|38;[\d;]+)m")
    assert colour.search(on_terminal()[1])
    sent = on_terminal(NO_COLOR="1")[1]
    assert "━" in sent
    assert not colour.search(sent)


def test_a_dumb_terminal_has_lines() -> None:
    """Where the cursor cannot go back nothing is drawn."""
    out, sent = on_terminal(TERM="dumb")
    assert out == "done False False\n"
    assert "\x1b" not in sent
    assert re.search(r"ranking \[raw\]: \d+/40 questions, \d+/s, 0:0\d left", sent)
