"""Command line: ``python -m harness.verifier WORKSPACE ID``."""

import sys
from collections.abc import Sequence
from pathlib import Path

from .checks import usable, verify

VERIFIED = 0
USAGE = 2
INTEGRITY = 3


def main(arguments: Sequence[str]) -> int:
    """Print one line per check.

    Returns:
        0 if every check passed, 3 if one failed or could not run, 2 if the command was misused.
    """
    if len(arguments) != 2 or not usable(arguments[1]) or "\0" in arguments[0]:
        print("usage: python -m harness.verifier WORKSPACE ID", file=sys.stderr)
        return USAGE
    checks = verify(Path(arguments[0]), arguments[1])
    for check in checks:
        line = f"{check.status:<6} {check.name:<8} {check.reason}"
        print(line.encode("ascii", "backslashreplace").decode("ascii"))
    return VERIFIED if all(check.status == "PASS" for check in checks) else INTEGRITY


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
