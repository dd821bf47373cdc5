"""LongMemEval (Wu et al. 2025): 500 questions, each with a haystack of chat sessions of its own.

Ids are made from places and never from the session ids of the file, which tell where the answer is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.benchmarks.build import CONFIDENCE_RAW, Builder
from harness.benchmarks.clusters import connected
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.longmemeval_records import Record, Session, read_record
from harness.benchmarks.split import draw_dev
from harness.benchmarks.stream import RecordStream
from harness.errors import UsageProblem

EXPECTED = "a file of LongMemEval, such as longmemeval_s_cleaned.json"

KNOWN = {
    "821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c": "oracle, cleaned",
    "d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442": "S, cleaned",
    "9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f": "M, cleaned",
}
"""sha256 of a file → which release it is."""

DEV = 50
"""Questions for development, or a tenth of a shorter file."""

Unit = Literal["turn", "session"]
Turns = Literal["all", "user"]


def import_longmemeval(
    path: Path, *, name: str = "longmemeval", unit: Unit = "turn", turns: Turns = "all", dev: int | None = None
) -> Benchmark:
    """Read a LongMemEval file into columns, record by record, noting every known fault.

    Args:
        path: the oracle, S or M file, original or cleaned.
        name: the benchmark's name in this workspace.
        unit: what is retrieved and judged: turns, or whole sessions. With ``session`` the benchmark has no edges.
        turns: whose turns are in the store; ``user`` as in the official retrieval runs.
        dev: least number of questions for development; the default is 50, or a tenth of a file with fewer than 500.

    Raises:
        UsageProblem: not a LongMemEval file, or one with a record that cannot be read; it names the record.
    """
    builder, stream = Builder(name), RecordStream(path, EXPECTED)
    reader = _Reader(builder, unit, turns)
    for index, value in enumerate(stream):
        reader.add(read_record(value, f"{path}: record {index}"))
    asked = reader.asked
    if not asked:
        raise UsageProblem("no question in it", where=str(path), allowed=EXPECTED)
    clusters = connected([one.identifier for one in asked], [one.shared for one in asked])
    wanted = min(DEV, max(1, len(asked) // 10)) if dev is None else dev
    chosen = draw_dev(clusters, [one.kind for one in asked], wanted, str(path))
    for place, (one, cluster) in enumerate(zip(asked, clusters, strict=True)):
        builder.add_question(
            one.identifier, one.text, dev=cluster in chosen, category=one.kind, answer=one.answer, flags=one.flags,
            repaired=one.repaired, published=one.published, n_published=one.n_published, cluster=cluster,
            partition=place,
        )  # fmt: skip
    variant = KNOWN.get(stream.sha256, "unknown release")
    return builder.finish(
        {
            "format": "longmemeval",
            "variant": f"LongMemEval {variant}, {unit}s" + (" of users" if turns == "user" else ""),
            "sha256": stream.sha256,
            "bytes": stream.bytes,
            "license": "MIT",
        }
    )


@dataclass(frozen=True)
class _Asked:
    """A question that waits for its cluster, with its evidence."""

    identifier: str
    kind: str
    text: str
    answer: str
    flags: tuple[str, ...]
    repaired: list[int]
    published: list[int]
    n_published: int
    shared: tuple[Hashable, ...]


class _Reader:
    """Adds one record after another; each distinct text is kept once, however many haystacks it lies in."""

    def __init__(self, builder: Builder, unit: Unit, turns: Turns) -> None:
        self.builder, self.unit, self.turns = builder, unit, turns
        self.asked: list[_Asked] = []
        self._texts: dict[str, str] = {}
        self._ids: set[str] = set()

    def add(self, record: Record) -> None:
        """Add a record's haystack to the builder and its question to those that wait."""
        identifier = self._identifier(record)
        self.builder.begin_partition(identifier)
        for fault, action in record.notes:
            self.builder.note(identifier, fault, action)
        add = self._add_turns if self.unit == "turn" else self._add_session
        repaired: list[int] = []
        published: list[int] = []
        for number, session in enumerate(record.sessions, start=1):
            found, judged = add(f"{identifier}/s{number}", number, session)
            repaired += found
            published += judged
        judged_turns = [turn for session in record.sessions for turn in session.turns if turn.has_answer]
        n_published = len(judged_turns) if self.unit == "turn" else len(published) + record.dangling
        self.asked.append(
            _Asked(
                identifier, record.kind, record.question, record.answer, record.flags,
                # nothing in the haystack answers a question whose right answer is to abstain
                [] if record.abstains else repaired, published, n_published, self._shared(record),
            )
        )  # fmt: skip

    def _identifier(self, record: Record) -> str:
        """The question's id without the ending that tells to abstain, and a digest where that makes it ambiguous."""
        identifier = record.stem
        if identifier in self._ids:
            identifier += f"-{hashlib.sha256(record.identifier.encode()).hexdigest()[:8]}"
        if identifier in self._ids:
            raise UsageProblem(f"the question {record.identifier!r} stands twice", where=record.where, fix="remove one")
        self._ids.add(identifier)
        return identifier

    def _shared(self, record: Record) -> tuple[Hashable, ...]:
        """What makes questions one cluster: an evidence session, by id or by words, or being the other's twin."""
        evidence = [session for session in record.sessions if session.is_evidence]
        words = (hashlib.sha256(repr([turn.text for turn in one.turns]).encode()).digest() for one in evidence)
        return (record.stem, *(one.identifier for one in evidence), *words)

    def _kept(self, session: Session) -> list[tuple[int, Any]]:
        return [
            (place, turn)
            for place, turn in enumerate(session.turns, start=1)
            if self.turns == "all" or turn.role == "user"
        ]

    def _add_turns(self, identifier: str, number: int, session: Session) -> tuple[list[int], list[int]]:
        kept = self._kept(session)
        first = len(self.builder.chunks)
        rows = [(f"{identifier}/t{place}", turn.role, self._once(turn.text), "") for place, turn in kept]
        self.builder.add_session(rows, session=number, start=session.time)
        judged = [first + index for index, (_, turn) in enumerate(kept) if turn.has_answer]
        return judged, judged

    def _add_session(self, identifier: str, number: int, session: Session) -> tuple[list[int], list[int]]:
        kept = [turn for _, turn in self._kept(session)]
        texts: Sequence[str] = [turn.text if self.turns == "user" else f"{turn.role}: {turn.text}" for turn in kept]
        position = self.builder.add_chunk(
            identifier, self._once(("\n" if self.turns == "all" else " ").join(texts)), layer="raw",
            confidence=CONFIDENCE_RAW, session=number, time=session.time,
        )  # fmt: skip
        # the official runs judge a session by what its user said, where they store nothing else
        told = session.is_evidence and (self.turns == "all" or any(turn.has_answer for turn in kept))
        return [position] if told else [], [position] if session.is_evidence else []

    def _once(self, text: str) -> str:
        return self._texts.setdefault(text, text)
