"""One record of LongMemEval: checked, its sessions in order of time, and what was found wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from harness.benchmarks.source import need
from harness.errors import UsageProblem

TYPES = (
    "single-session-user", "single-session-assistant", "single-session-preference", "multi-session",
    "temporal-reasoning", "knowledge-update",
)  # fmt: skip
"""Question types; abstention is a flag on top of them."""

_ABSTAINS = "_abs"
_ROLES = ("user", "assistant", "system")
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \([^)]*\))? (\d{2}):(\d{2})")


@dataclass(frozen=True)
class Turn:
    """What one side said, and whether it holds evidence."""

    role: str
    text: str
    has_answer: bool


@dataclass(frozen=True)
class Session:
    """A session of a haystack.

    Attributes:
        identifier: as in the file; it may tell whether the answer is here, so that no store holds it.
        time: seconds since 1970 in UTC.
        turns: in order.
        is_evidence: whether the record names it among its answer sessions.
    """

    identifier: str
    time: int
    turns: tuple[Turn, ...]
    is_evidence: bool


@dataclass(frozen=True)
class Record:
    """A question with its haystack.

    Attributes:
        where: file and record, for messages.
        identifier: as in the file.
        kind: one of `TYPES`.
        question, answer: as text.
        sessions: by time, then as in the file.
        dangling: answer sessions that are not in the haystack.
        flags: slices that the question belongs to.
        notes: fault and action.
    """

    where: str
    identifier: str
    kind: str
    question: str
    answer: str
    sessions: tuple[Session, ...]
    dangling: int
    flags: tuple[str, ...]
    notes: tuple[tuple[str, str], ...]

    @property
    def abstains(self) -> bool:
        """Whether the right answer is to abstain."""
        return self.identifier.endswith(_ABSTAINS)

    @property
    def stem(self) -> str:
        """The id without the ending that tells to abstain."""
        return self.identifier.removesuffix(_ABSTAINS)


def read_record(value: Any, where: str) -> Record:
    """Check one record and put its sessions in order.

    Raises:
        UsageProblem: a field is missing or of the wrong type, or the lists of sessions differ in length.
    """
    need(value, dict, where, "the record")
    identifier = need(value.get("question_id"), str, where, "question_id")
    if not identifier.removesuffix(_ABSTAINS) or "/" in identifier or identifier.split() != [identifier]:
        raise UsageProblem(f"question_id {identifier!r}", where=where, allowed="an id without blanks and slashes")
    where = f"{where} ({identifier})"
    kind = need(value.get("question_type"), str, where, "question_type")
    if kind not in TYPES:
        raise UsageProblem(f"question_type {kind!r}", where=where, allowed=", ".join(TYPES))
    notes: list[tuple[str, str]] = []
    answer = need(value.get("answer"), (str, int), where, "answer")
    if not isinstance(answer, str):
        notes.append(("the answer is a number", "read as text"))
    evidence = [need(one, str, where, "an answer session") for one in _list(value, "answer_session_ids", where)]
    sessions = _sessions(value, frozenset(evidence), where, notes)
    dangling = len(set(evidence) - {session.identifier for session in sessions})
    notes += [("an answer session that is not in the haystack", "ignored")] * dangling
    abstains = identifier.endswith(_ABSTAINS)
    flags = _flags(sessions, kind, notes, abstains=abstains)
    question = need(value.get("question"), str, where, "question")
    return Record(where, identifier, kind, question, str(answer), sessions, dangling, flags, tuple(notes))


def _sessions(
    value: dict[str, Any], evidence: frozenset[str], where: str, notes: list[tuple[str, str]]
) -> tuple[Session, ...]:
    names = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    ids, dates, contents = (_list(value, name, where) for name in names)
    if not len(ids) == len(dates) == len(contents):
        what = f"{len(ids)} session ids, {len(dates)} dates and {len(contents)} sessions"
        raise UsageProblem(what, where=where, allowed="as many of each", fix="fetch the file again")
    found = []
    for place, (identifier, date, content) in enumerate(zip(ids, dates, contents, strict=True)):
        there = f"{where}: session {place}"
        need(identifier, str, there, "its id")
        turns = tuple(
            _turn(turn, f"{there}, turn {n}", notes) for n, turn in enumerate(need(content, list, there, "it"))
        )
        if not turns:
            notes.append(("a session without a turn", "kept; there is nothing to find in it"))
        found.append(Session(identifier, _time(date, there), turns, identifier in evidence))
    repeated = len(ids) - len(set(ids))
    notes += [("the same session twice in a haystack", "kept apart by its place")] * repeated
    ordered = sorted(found, key=lambda session: session.time)  # stable: then as in the file
    if ordered != found:
        notes.append(("sessions out of order of time", "sorted by date, then by place"))
    return tuple(ordered)


def _turn(value: Any, where: str, notes: list[tuple[str, str]]) -> Turn:
    need(value, dict, where, "the turn")
    role = need(value.get("role"), str, where, "role")
    if role not in _ROLES:
        raise UsageProblem(f"role {role!r}", where=where, allowed=", ".join(_ROLES))
    content = need(value.get("content"), (str, list), where, "content")
    if isinstance(content, list):
        notes.append(("content in parts", "the texts joined"))
        content = "\n".join(_part(part, where) for part in content)
    if not content.strip():
        notes.append(("a turn without text", "kept; there is nothing to find in it"))
    label = value.get("has_answer")
    if label is not None and not isinstance(label, bool):
        raise UsageProblem(f"has_answer is {label!r}", where=where, allowed="true, false, or left out (false)")
    return Turn(role, content, bool(label))


def _part(part: Any, where: str) -> str:
    if isinstance(part, str):
        return part
    text: str = need(need(part, dict, where, "a part of the content").get("text"), str, where, "the part's text")
    return text


def _flags(
    sessions: tuple[Session, ...], kind: str, notes: list[tuple[str, str]], *, abstains: bool
) -> tuple[str, ...]:
    flags = ["rubric"] if kind == "single-session-preference" else []
    roles = {turn.role for session in sessions for turn in session.turns if turn.has_answer}
    if abstains:
        flags.append("abstain")
        notes.append(("abstention question", "gold is to abstain; labelled turns are no evidence, but as published"))
        return tuple(flags)
    if roles == {"assistant"}:
        flags.append("assistant_evidence")
        notes.append(("evidence on assistant turns only", "flagged assistant_evidence"))
    if any(session.is_evidence and not any(turn.has_answer for turn in session.turns) for session in sessions):
        flags.append("unlabelled_session")
        notes.append(("an answer session without a labelled turn", "flagged unlabelled_session"))
    return tuple(flags)


def _list(value: dict[str, Any], name: str, where: str) -> list[Any]:
    found: list[Any] = need(value.get(name), list, where, name)
    return found


def _time(date: Any, where: str) -> int:
    match = _DATE.fullmatch(need(date, str, where, "its date").strip())
    try:
        if not match:
            raise ValueError
        year, month, day, hour, minute = map(int, match.groups())
        return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp())
    except ValueError:
        allowed = "dates such as 2023/05/25 (Thu) 20:21"
        raise UsageProblem(f"the date {date!r}", where=where, allowed=allowed, fix="mend the record") from None
