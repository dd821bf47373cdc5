"""Shared pieces of the command line: one error form, and the options that every command has."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

from harness.errors import UsageProblem, did_you_mean

Commands = Any
"""What ``add_subparsers`` returns; argparse keeps its type private."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are ours, with a suggestion for a misspelt word."""

    def error(self, message: str) -> NoReturn:
        """Raise instead of printing and exiting."""
        where = self.prog.removeprefix("harness").strip()  # the line begins with the program's name already
        wrong = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        if wrong:
            choices = re.findall(r"[\w-]+", wrong[2])
            hint = did_you_mean(wrong[1], choices)
            raise UsageProblem(f"no command {wrong[1]!r}", where=where, allowed=", ".join(choices), fix=hint)
        raise UsageProblem(message, where=where, fix=f"{self.prog} --help")


def command(
    commands: Commands, name: str, run: Callable[..., int], summary: str, *, takes_rest: bool = False, **more: Any
) -> argparse.ArgumentParser:
    """Add a command with the options that all commands have."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter, **more,
    )  # fmt: skip
    parser.add_argument("--workspace", metavar="DIR", help="the workspace (default: here, or the nearest one above)")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run, takes_rest=takes_rest)
    return parser


def group(commands: Commands, name: str, summary: str) -> Commands:
    """Add a command that has commands of its own."""
    parser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    return parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)


def refuse_rest(rest: list[str]) -> NoReturn:
    """Refuse words that the command does not take."""
    raise UsageProblem(f"unexpected: {' '.join(rest)}", fix="add --help to see what the command takes")
