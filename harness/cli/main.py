"""Entry point of the console script ``harness``."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from harness import __version__
from harness.cli import data, demo, dev, full, parsing, prereg, reproduce, verdicts, versions
from harness.cli.console import Console, flush_output
from harness.errors import EXIT_CODES, EnvironmentProblem, HarnessError

# read at import by libraries that no command imports before it runs: no telemetry, no prompts, no
# oversubscribed cores
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "1",
    "GIT_PYTHON_REFRESH": "quiet",
    "RAY_USAGE_STATS_ENABLED": "0",
    "OMP_NUM_THREADS": "1",
}

_GROUPS = (demo, data, versions, dev, prereg, full, verdicts, reproduce)

_EPILOG = "exit codes:\n" + "\n".join(f"  {code:>3}  {meaning}" for code, meaning in EXIT_CODES.items())


def build_parser() -> argparse.ArgumentParser:
    """The whole command line."""
    parser = parsing.Parser(
        prog="harness",
        description="Is my retrieval change real, and can I prove that I did not move the bar?",
        epilog=_EPILOG,
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
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    finally:
        flush_output(sys.stdout)


def _main(arguments: list[str]) -> int:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    console = Console(as_json="--json" in arguments)
    try:
        options, rest = build_parser().parse_known_args(arguments)
        options.rest = rest
        if rest and not getattr(options, "takes_rest", False):
            parsing.refuse_rest(rest)
        options.workspace = Path(getattr(options, "workspace", None) or Path.cwd())
        return int(options.run(options, console))
    except HarnessError as error:
        console.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        console.note("interrupted; run the same command again to go on")
        return 130
    except OSError as error:
        problem = _environment_problem(error)
        if problem is None:
            return _internal_error(error, console)
        console.error(problem)
        return problem.exit_code
    except Exception as error:  # noqa: BLE001 - the last resort: one line, exit code 1
        return _internal_error(error, console)


def _environment_problem(error: OSError) -> EnvironmentProblem | None:
    known = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE)
    if error.errno not in known:
        return None
    where = str(error.filename or "")
    return EnvironmentProblem(f"{error.strerror}", where=where, fix="free space or grant permission, then run it again")


def _internal_error(error: BaseException, console: Console) -> int:
    if os.environ.get("HARNESS_DEBUG"):
        raise error
    console.note(f"internal error: {type(error).__name__}: {error}")
    console.note("this is a fault of the program; HARNESS_DEBUG=1 shows where it happened")
    return 1
