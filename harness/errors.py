"""The one family of errors that a user can meet.

Every mistake that a user can make ends in one of these: it says what happened, where, what was allowed and
how to mend it, and carries the documented exit code. Anything else that escapes is a fault of the program.
"""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

EXIT_CODES = {
    0: "PASS, or the command did what was asked",
    1: "internal error: a fault of the program, never of its input",
    2: "usage, bad document or bad data",
    3: "integrity: something recorded was changed or is missing",
    4: "environment: no space, no permission, no network",
    5: "a gate or a reproduction failed",
    10: "ROLLBACK",
    11: "INADMISSIBLE: nothing valid was measured",
    12: "the single run is already used, or under way",
    20: "INCONCLUSIVE",
    130: "interrupted",
}


class HarnessError(Exception):
    """A user-facing error: what happened, where, what was allowed, the fix.

    Args:
        what: what was attempted or found, in one sentence.
        where: file, file:line, question id or command-line word, if there is one.
        allowed: what would have been accepted.
        fix: what to type or change.
    """

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", allowed: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.allowed = allowed
        self.fix = fix

    def __str__(self) -> str:
        lines = [f"{self.where}: {self.what}" if self.where else self.what]
        if self.allowed:
            lines.append(f"  allowed: {self.allowed}")
        if self.fix:
            lines.append(f"  fix: {self.fix}")
        return "\n".join(lines)


class UsageProblem(HarnessError):
    """A command line, document, parameter or data file that cannot be accepted."""

    exit_code = 2


class IntegrityProblem(HarnessError):
    """Something that was recorded has been changed, or is missing."""

    exit_code = 3


class EnvironmentProblem(HarnessError):
    """The machine does not let us: permission, space, network."""

    exit_code = 4


class ReproductionFailed(HarnessError):
    """A gate or a reproduction did not come out as its recipe says."""

    exit_code = 5


class RunUsed(HarnessError):
    """The one full run of a document was made already, or is being made now."""

    exit_code = 12


_ENVIRONMENT = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE}
)


def environment_problem(error: BaseException) -> EnvironmentProblem | None:
    """The system's refusal (no space, no permission, a failing disk) as one of ours; None for any other error."""
    if not isinstance(error, OSError) or error.errno not in _ENVIRONMENT:
        return None
    where = str(error.filename or "")
    return EnvironmentProblem(f"{error.strerror}", where=where, fix="free space or grant permission, then run it again")


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """A hint such as ``did you mean 'bm25'?`` for a misspelt word, or the empty string."""
    near = difflib.get_close_matches(word, list(choices), n=1, cutoff=0.6)
    return f"did you mean '{near[0]}'?" if near else ""


_DECIMAL = re.compile(r"Decimal\('([^']*)'\)")
_SHOWN = 60  # a longer value would hide what is said of it

# pydantic's kinds of errors in plain words; what stands in braces is its context
_MUST_BE = {
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list, such as [a, b]",
    "tuple_type": "a list, such as [a, b]",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "finite_number": "finite",
    "greater_than_equal": "{ge} or more",
    "greater_than": "more than {gt}",
    "less_than_equal": "{le} or less",
    "less_than": "less than {lt}",
    "literal_error": "{expected}",
    "too_short": "a list of {min_length} or more",
    "string_too_short": "text of {min_length} or more characters",
    "string_too_long": "text of {max_length} or fewer characters",
}


def in_plain_words(error: Mapping[str, Any]) -> str:
    """What is wrong with a value, from one of pydantic's errors: ``must be a whole number (given: 'ten')``."""
    kind, given = error["type"], error.get("input")
    # a limit as it was written, not as Python holds it: 10.0, Decimal('0.2')
    limits = {
        name: f"{value:g}" if isinstance(value, float) else _DECIMAL.sub(r"\1", str(value))
        for name, value in error.get("ctx", {}).items()
    }
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return limits["error"]
    message = str(error["msg"])
    must_be = _MUST_BE.get(kind)
    said = f"must be {must_be.format(**limits)}" if must_be else f"{message[:1].lower()}{message[1:]}"
    shown = "nothing" if given is None else str(given) if isinstance(given, Decimal) else repr(given)
    return f"{said} (given: {shown})" if len(shown) <= _SHOWN else said
