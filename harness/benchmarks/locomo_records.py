"""LoCoMo's records, checked one by one: whatever has another shape is refused by an error that names it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

from harness.benchmarks.build import Builder
from harness.benchmarks.source import need
from harness.errors import UsageProblem

EXPECTED = "the LoCoMo file locomo10.json, which harness data fetch locomo downloads"

MEND = "mend the record in the file"

_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2}) (am|pm) on ([0-9]{1,2}) ([A-Z][a-z]+), ([0-9]{4})")
_SESSION = re.compile(r"session_([0-9]+)")
# padded, the same number could come twice
_SESSION_NUMBER = re.compile(r"[1-9][0-9]{0,4}")
_NAME = re.compile(r"[^\s/]+")  # ids are joined by slashes, and exported to formats that blanks divide


def conversations(value: Any, where: str) -> list[tuple[str, dict[str, Any]]]:
    """The conversations of a file, each with the words that name it in messages."""
    items = value if isinstance(value, list) else [value]
    first = items[0] if items else None
    if isinstance(first, dict) and "haystack_sessions" in first:
        what = "this is a LongMemEval file (its records have haystack_sessions)"
        raise UsageProblem(what, where=where, allowed=EXPECTED, fix=f"give the path of {EXPECTED}")
    if not isinstance(value, list) or not isinstance(first, dict) or not {"qa", "conversation"} <= first.keys():
        what = "this is not a LoCoMo file"
        allowed = "a list of objects with sample_id, conversation and qa"
        raise UsageProblem(what, where=where, allowed=allowed, fix=f"give the path of {EXPECTED}")
    result: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    for index, item in enumerate(items):
        record = f"{where}: record {index}"
        need(item, dict, record, "the record")
        identifier = _identifier(item.get("sample_id"), record, "sample_id")
        if identifier in seen:
            raise UsageProblem(f"conversation {identifier!r} stands twice", where=record, fix="remove one of them")
        seen.add(identifier)
        need(item.get("conversation"), dict, f"{where}: {identifier}", "conversation")
        need(item.get("qa"), list, f"{where}: {identifier}", "qa")
        result.append((f"{where}: {identifier}", item))
    return result


def _identifier(value: Any, where: str, what: str) -> str:
    identifier: str = need(value, str, where, what)
    if not _NAME.fullmatch(identifier):
        raise UsageProblem(f"{what} is {identifier!r}", where=where, allowed="text without blanks and slashes")
    return identifier


def sessions(
    builder: Builder, where: str, conversation: dict[str, Any], partition: str
) -> list[tuple[int, int, list[dict[str, Any]]]]:
    """Sessions as (number, start, turns), in time order; dates without a session are noted and left out."""
    found = []
    for key in conversation:
        match = _SESSION.fullmatch(key.removesuffix("_date_time"))
        if match and key.endswith("_date_time") and match[0] not in conversation:
            builder.note(f"{partition}/{match[0]}", "session date without a session", "ignored")
        if not match or key.endswith("_date_time"):
            continue
        record = f"{where}: {key}"
        if not _SESSION_NUMBER.fullmatch(match[1]):
            raise UsageProblem(f"session number {match[1][:20]}", where=record, allowed="session_1 to session_99999")
        turns = need(conversation[key], list, record, "the session")
        for index, turn in enumerate(turns):
            need(turn, dict, f"{record}[{index}]", "the turn")
            _identifier(turn.get("dia_id"), f"{record}[{index}]", "dia_id")
            for name in ("speaker", "text"):
                need(turn.get(name), str, f"{record}[{index}]", name)
            for name in ("blip_caption", "query"):
                need(turn.get(name) or "", str, f"{record}[{index}]", name)
        date = need(conversation.get(f"{key}_date_time"), str, record, f"{key}_date_time")
        found.append((int(match[1]), _timestamp(date, record), turns))
    if not found:
        raise UsageProblem("the conversation has no session", where=where, allowed="session_1, session_2, …")
    return sorted(found, key=lambda session: (session[1], session[0]))


def _timestamp(text: str, where: str) -> int:
    # by hand: strptime reads month names in the language of the machine
    match = _TIME.fullmatch(text.strip())
    try:
        if not match or not 1 <= int(match[1]) <= 12:
            raise ValueError
        hour = int(match[1]) % 12 + (12 if match[3] == "pm" else 0)
        month = _MONTHS.index(match[5]) + 1
        moment = datetime(int(match[6]), month, int(match[4]), hour, int(match[2]), tzinfo=UTC)
    except ValueError:
        raise UsageProblem(f"a time of {text!r}", where=where, allowed="1:56 pm on 8 May, 2023") from None
    return int(moment.timestamp())


def fact_parts(fact: Any, where: str) -> tuple[str, list[str]]:
    """A fact's text and its sources as published, one id or a list of them."""
    if isinstance(fact, list) and len(fact) == 2:
        sources = fact[1] if isinstance(fact[1], list) else [fact[1]]
        if isinstance(fact[0], str) and all(isinstance(source, str) for source in sources):
            return fact[0], sources
    raise UsageProblem("not a fact with its source", where=where, allowed='["what is known", "D1:3"]')


def gold(question: dict[str, Any], where: str) -> str | int | float | None:
    """A question's answer, if it has one."""
    answer = question.get("answer")
    if answer is None:
        return None
    if isinstance(answer, bool) or not isinstance(answer, str | int | float):
        found = type(answer).__name__
    elif not str(answer).strip():
        found = "blank"
    else:
        return answer
    raise UsageProblem(f"the answer is {found}", where=where, allowed="text or a number", fix=MEND)
