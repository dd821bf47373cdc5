"""Shared pieces of the command line: one error form, and the options that every command has."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NoReturn

from harness.errors import EXIT_CODES, UsageProblem, did_you_mean

Commands = Any
"""What ``add_subparsers`` returns; argparse keeps its type private."""

ALWAYS = (0, 1, 2, 4, 130)
"""How any command can end: done, a fault of the program, mistyped, no space or permission, interrupted."""


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
    commands: Commands,
    name: str,
    run: Callable[..., int],
    summary: str,
    *,
    exits: Iterable[int] = (),
    takes_rest: bool = False,
    in_workspace: bool = True,
    epilog: str = "",
) -> argparse.ArgumentParser:
    """Add a command with the options that commands have.

    Args:
        commands: where to add it.
        name: the word that is typed.
        run: called with the options and the console; returns the exit code.
        summary: what it does, in a few words.
        exits: exit codes that it can end with besides `ALWAYS`; its help explains them.
        takes_rest: whether words that the parser does not know are the command's own matter.
        in_workspace: whether it works in a workspace that is there.
        epilog: what its help says after the options.
    """
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}.",
        epilog="\n\n".join(part for part in (epilog, exit_codes({*ALWAYS, *exits})) if part),
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    if in_workspace:
        where = "the workspace (default: here, or the nearest one above)"
        parser.add_argument("--workspace", metavar="DIR", help=where)
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--quiet", action="store_true", help="print results and errors only, no progress")
    parser.set_defaults(run=run, takes_rest=takes_rest)
    return parser


def exit_codes(codes: Iterable[int]) -> str:
    """What these exit codes mean, a line each."""
    return "exit codes:\n" + "\n".join(f"  {code:>3}  {EXIT_CODES[code]}" for code in sorted(codes))


def group(commands: Commands, name: str, summary: str) -> Commands:
    """Add a command that has commands of its own."""
    parser = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.", allow_abbrev=False
    )
    return parser.add_subparsers(dest="subcommand", metavar="COMMAND", required=True)


def commands_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Every command that can be typed, by its whole name."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield parser.prog, parser
    for action in groups:
        for below in action.choices.values():
            yield from commands_of(below)


def refuse_rest(rest: list[str]) -> NoReturn:
    """Refuse words that the command does not take."""
    raise UsageProblem(f"unexpected: {' '.join(rest)}", fix="add --help to see what the command takes")
