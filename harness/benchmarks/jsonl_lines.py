"""The lines of a data set of one's own, each checked by itself, and the faults that are found in them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from harness.benchmarks.build import CONFIDENCE_DISTILLED, CONFIDENCE_RAW, CONFIDENCE_SUMMARY, FOLLOWED_BY
from harness.benchmarks.columns import DEV, EXACT, HELDOUT
from harness.benchmarks.lines import Seen, read_lines
from harness.errors import UsageProblem, did_you_mean, in_plain_words

CONFIDENCES = {
    "raw": CONFIDENCE_RAW, "distill": CONFIDENCE_DISTILLED, "summary": CONFIDENCE_SUMMARY,
    "negation": CONFIDENCE_DISTILLED,
}  # fmt: skip
"""Layer → confidence of a chunk whose line names none."""

STORE = "all"
"""The one partition of a data set that names none."""

_RESERVED = ("all", EXACT)
_YEAR_10000 = 253_402_300_800  # no calendar of the standard library goes on
_MOVING = re.compile(r"access|boost|decay|weight|\bhits?\b|hit_count|last_used|times_used|feedback|reinforce")


@dataclass(frozen=True)
class Fault:
    """One thing that keeps a data set from being imported: where it is, what it is, and how to mend it."""

    where: str
    what: str
    mend: str


@dataclass
class Findings:
    """What was found in a data set.

    Attributes:
        faults: what must be mended.
        unread: field that nobody asked for → how many lines have it.
    """

    faults: list[Fault] = field(default_factory=list)
    unread: Counter[str] = field(default_factory=Counter)

    def add(self, where: str, what: str, mend: str) -> None:
        """Note a fault."""
        self.faults.append(Fault(where, what, mend))


def _id(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f'is a number, and 7, 7.0 and 007 are one number and three ids; write it as text: "{value}"')
    if isinstance(value, str) and (not value or value.split() != [value]):
        raise ValueError(f"{value!r} is empty or holds a blank, which run files cannot; use another character")
    return value


def _time(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError(f"{value!r} is no time; write 2026-05-08T13:56:00Z, or seconds since 1970") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def _in_range(value: int) -> int:
    if not -1 <= value < _YEAR_10000:  # -1 is none
        raise ValueError(f"{value} is no time from 1970 to 9999 in seconds since 1970 (milliseconds: divide by 1000)")
    return value


def _slice(value: str) -> str:
    if value in _RESERVED or value.startswith("conversation:") or not value.strip():
        raise ValueError(f"{value!r} is a slice that every benchmark has, or none; choose another name")
    return value


Id = Annotated[str, BeforeValidator(_id)]
Slice = Annotated[str, AfterValidator(_slice)]
Confidence = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


class ChunkLine(_Line):
    """A line of ``corpus.jsonl``."""

    id: Id
    text: str
    partition: Id = STORE
    layer: Literal["raw", "distill", "summary", "negation"] = "raw"
    confidence: Confidence | None = None
    session: Annotated[int, Field(ge=0, lt=2**31)] = 0
    time: Annotated[int, BeforeValidator(_time), AfterValidator(_in_range)] = -1
    speaker: str = ""
    caption: str = ""
    sources: list[Id] = Field(default_factory=list)


class QuestionLine(_Line):
    """A line of ``questions.jsonl``."""

    id: Id
    text: str
    partition: Id = STORE
    split: Literal["dev", "heldout"] | None = None
    cluster: Annotated[str, Field(min_length=1)] | None = None
    category: Slice = "uncategorised"
    answer: str = ""
    flags: list[Slice] = Field(default_factory=list)
    evidence: list[Id] = Field(default_factory=list)


class EdgeLine(_Line):
    """A line of ``edges.jsonl``."""

    source: Id
    target: Id
    relation: Annotated[str, Field(min_length=1)] = FOLLOWED_BY
    confidence: Confidence = CONFIDENCE_RAW
    discovered_by: str = "import"


SPLITS = (DEV, HELDOUT)

Line = TypeVar("Line", bound=_Line)


def lines_of(
    path: Path, kind: type[Line], renamed: Mapping[str, str], findings: Findings, seen: Seen
) -> Iterator[tuple[str, Line]]:
    """Every sound line of a file with its place; what is wrong with the others is added to the findings.

    Args:
        path: the file.
        kind: what its lines are.
        renamed: field of `kind` → what the file calls it.
        findings: takes faults and unread fields.
        seen: takes the file's digest.
    """
    expected = f"{path.name}, one JSON object a line"

    def refused(problem: UsageProblem) -> None:
        findings.add(problem.where, problem.what, problem.fix or "mend the line")

    theirs = {name: own for own, name in renamed.items() if own in kind.model_fields}
    for number, value in read_lines(path, expected, seen, refused):
        where = f"{path}:{number}"
        # a field of the file's own may go by another name, and the name that it takes then is free
        value = {
            theirs.get(name, name): given
            for name, given in value.items()
            if name in theirs or name not in theirs.values()
        }
        for name in value.keys() - kind.model_fields.keys():
            if _MOVING.search(name.lower()):
                what = f"{name!r} is a confidence that changes with use, or a weight on it"
                findings.add(where, what, "leave it out; write the confidence once, as it was at ingest")
            findings.unread[name] += 1
        try:
            yield where, kind.model_validate(value)
        except ValidationError as error:
            for one in error.errors():
                name = ".".join(map(str, one["loc"]))
                near = did_you_mean(name, value.keys() - kind.model_fields.keys()) if one["type"] == "missing" else ""
                findings.add(where, f"{name} {in_plain_words(one)}", near or "mend the line")
