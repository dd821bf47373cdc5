"""Entry point of the console script ``harness``."""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from harness import __version__
from harness.cli import (
    compare,
    completion,
    data,
    demo,
    dev,
    full,
    hooks,
    looks,
    mirror,
    parsing,
    prereg,
    reproduce,
    ui,
    verdicts,
    versions,
)
from harness.cli.console import Console, flush_output
from harness.errors import EXIT_CODES, EnvironmentProblem, HarnessError, UsageProblem, environment_problem

# read at import by libraries that no command imports before it runs: no telemetry, no prompts, no
# oversubscribed cores
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "1",
    "GIT_PYTHON_REFRESH": "quiet",
    "RAY_USAGE_STATS_ENABLED": "0",
    "OMP_NUM_THREADS": "1",
}

_GROUPS = (demo, data, versions, dev, prereg, full, verdicts, looks, reproduce, compare, mirror, ui, hooks, completion)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = parsing.Parser(
        prog="harness",
        description="Is my retrieval change real, and can I prove that I did not move the bar?",
        epilog=parsing.exit_codes(EXIT_CODES),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"harness {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for group in _GROUPS:
        group.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code; nothing that a user did wrong ends in a traceback."""
    _prepare_output()
    try:
        with _stoppable() as stopped:
            code = _main(list(sys.argv[1:] if arguments is None else arguments))
            # a library may have made an error of its own out of the interruption
            return 130 if stopped and code in (1, EnvironmentProblem.exit_code) else code
    finally:
        flush_output(sys.stdout)


@contextlib.contextmanager
def _stoppable() -> Iterator[list[int]]:
    """Let SIGTERM end a command as Ctrl-C does, so that every `finally` runs; a second signal ends it at once.

    The value of the context holds the signal that came, if one did.
    """
    before: dict[signal.Signals, Any] = {}
    stopped: list[int] = []

    def stop(number: int, _frame: FrameType | None) -> None:
        stopped.append(number)
        for number in before:
            signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            # what somebody chose to ignore, as nohup and a shell's `&` do, stays ignored
            if signal.getsignal(number) == usual:
                before[number] = signal.signal(number, stop)
    try:
        yield stopped
    finally:
        for number in before:
            signal.signal(number, before[number])


def _main(arguments: list[str]) -> int:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    console = Console()
    try:
        parser = build_parser()
        completion.answer(parser)
        options, rest = parser.parse_known_args(arguments)
        options.rest = rest
        console = Console(as_json=options.json, quiet=options.quiet)
        if rest and not getattr(options, "takes_rest", False):
            parsing.refuse_rest(rest)
        options.workspace = Path(getattr(options, "workspace", None) or _here())
        return int(options.run(options, console))
    except HarnessError as error:
        console.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        console.failure("interrupted; run the same command again to go on")
        return 130
    except OSError as error:
        problem = environment_problem(error)
        if problem is None:
            return _internal_error(error, console)
        console.error(problem)
        return problem.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort: one line, exit code 1
        return _internal_error(error, console)


def _here() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:
        fix = "change to a folder that is there, or give --workspace DIR"
        raise UsageProblem("the current folder was removed", fix=fix) from None


def _prepare_output() -> None:
    """Make any output printable: one that is closed, and one whose encoding lacks a character."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="backslashreplace")


def _internal_error(error: BaseException, console: Console) -> int:
    if os.environ.get("HARNESS_DEBUG"):
        raise error
    console.failure(f"internal error: {type(error).__name__}: {error}")
    console.failure("this is a fault of the program; HARNESS_DEBUG=1 shows where it happened")
    return 1
