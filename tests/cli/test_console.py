from __future__ import annotations

import io

import pytest

from harness.cli.console import Console, table, wants_colour
from harness.errors import UsageProblem


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """It is one."""
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "pipe"),
    [
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"NO_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "0"}, False, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
        ({"TERM": "dumb"}, False, False),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, True, True),
        ({"TERM": "xterm"}, True, False),
    ],
)
def test_colour_where_it_is_wanted(
    environment: dict[str, str], terminal: bool, pipe: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal that can show it; NO_COLOR forbids, FORCE_COLOR demands, empty ones say nothing."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert (wants_colour(Terminal()), wants_colour(io.StringIO())) == (terminal, pipe)


def test_a_word_is_painted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known words have their colour, others none; without colour the text is as it is."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    console = Console()
    assert console.paint("PASS", "PASS  ") == "\x1b[32mPASS  \x1b[0m"
    assert console.paint("other") == "other"
    monkeypatch.setenv("NO_COLOR", "1")
    assert Console().paint("PASS") == "PASS"


def test_quiet_keeps_results_and_errors(capsys: pytest.CaptureFixture[str]) -> None:
    """Steps and notes are left out; the result is on stdout, the error on stderr."""
    console = Console(quiet=True)
    console.progress("a step")
    console.note("by the way")
    console.result({}, ["the result"])
    console.error(UsageProblem("wrong", fix="do it right"))
    assert capsys.readouterr() == ("the result\n", "harness: wrong\n  fix: do it right\n")


def test_json_is_one_value(capsys: pytest.CaptureFixture[str]) -> None:
    """Lines for people are left out."""
    Console(as_json=True).result({"a": "é"}, ["a: é"])
    assert capsys.readouterr().out == '{\n "a": "é"\n}\n'


def test_a_table_is_aligned() -> None:
    """Text to the left, numbers to the right, and no blanks at the end of a line."""
    assert table(["name", "n", "to"], [["a", "1", "x"], ["long name", "22", ""]]) == [
        "name        n  to",
        "---------  --  --",
        "a           1   x",
        "long name  22",
    ]
