"""The life of a document, derived from the entries and kept nowhere else."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NoReturn

from harness.errors import IntegrityProblem
from harness.ledger.entries import Entry

_LIFE_KINDS = frozenset({"lock", "abandon", "seal", "claim", "verdict"})


class Stage(StrEnum):
    """How far a document has come."""

    DRAFT = "DRAFT"
    LOCKED = "LOCKED"
    SEALED = "SEALED"
    CLAIMED = "CLAIMED"
    JUDGED = "JUDGED"
    ABANDONED = "ABANDONED"


@dataclass(frozen=True)
class Life:
    """One document's current lock and what followed it; None for what has not happened.

    Attributes:
        identifier: the document's id.
        lock: the one lock that stands, otherwise the last of the abandoned ones.
        seal: the lock's seal; where a judged lock has several, the one that was judged.
        claim: its claim, likewise.
        verdict: its verdict.
        abandoned: the entry that abandoned it; without effect once there is a verdict.
    """

    identifier: str
    lock: Entry | None = None
    seal: Entry | None = None
    claim: Entry | None = None
    verdict: Entry | None = None
    abandoned: Entry | None = None

    @property
    def stage(self) -> Stage:
        """How far the document has come: a verdict outlives everything, then an abandonment counts."""
        reached = (
            (self.verdict, Stage.JUDGED),
            (self.abandoned, Stage.ABANDONED),
            (self.claim, Stage.CLAIMED),
            (self.seal, Stage.SEALED),
            (self.lock, Stage.LOCKED),
        )
        return next((stage for entry, stage in reached if entry is not None), Stage.DRAFT)


def life(entries: Iterable[Entry], identifier: str) -> Life:
    """The life of one document; a document without a lock is a draft.

    Args:
        entries: the checked entries of a ledger.
        identifier: the document's id.

    Raises:
        IntegrityProblem: the entries contradict each other: two verdicts, two locks that stand, two seals of
            different files, two claims of different seals, or an entry for a lock, seal or claim that this
            document does not have.
    """
    own = [e for e in entries if e.kind in _LIFE_KINDS and e.payload.get("id") == identifier]
    return _derive(identifier, own)


def lives(entries: Iterable[Entry]) -> dict[str, Life]:
    """The lives of all documents by id, in the order in which they first appear.

    Raises:
        IntegrityProblem: as for ``life``.
    """
    own: dict[str, list[Entry]] = defaultdict(list)
    for entry in _ordered(entries):
        identifier = entry.payload.get("id")
        if entry.kind in _LIFE_KINDS and isinstance(identifier, str):
            own[identifier].append(entry)
    return {identifier: _derive(identifier, group) for identifier, group in own.items()}


def _derive(identifier: str, own: Iterable[Entry]) -> Life:
    by_kind: dict[str, list[Entry]] = defaultdict(list)
    for entry in _ordered(own):
        by_kind[entry.kind].append(entry)
    _check_references(identifier, by_kind)
    verdicts = by_kind["verdict"]
    if len(verdicts) > 1:
        _contradiction(identifier, "has two verdicts", verdicts)
    judged = {_lock_of(entry) for entry in verdicts}
    abandons = {_lock_of(entry): entry for entry in reversed(by_kind["abandon"])}  # of several the first
    # Abandoning after the verdict would make room for a second try, so that it changes nothing.
    standing = [lock for lock in by_kind["lock"] if lock.hash in judged or lock.hash not in abandons]
    if len(standing) > 1:
        _contradiction(identifier, "has two locks that stand", standing)
    current = (standing or by_kind["lock"])[-1:]
    if not current:
        return Life(identifier)
    lock = current[0].hash
    verdict = verdicts[0] if verdicts else None
    seals, claims = ([e for e in by_kind[kind] if _lock_of(e) == lock] for kind in ("seal", "claim"))
    return Life(
        identifier,
        current[0],
        seal=_one(identifier, seals, "files", verdict),
        claim=_one(identifier, claims, "seal", verdict),
        verdict=verdict,
        abandoned=abandons.get(lock),
    )


def _one(identifier: str, steps: Sequence[Entry], content: str, verdict: Entry | None) -> Entry | None:
    """The seal or claim that counts: the one that the verdict names, otherwise the first.

    Two processes that both finish what a crash left write the same thing twice. That is harmless, and as
    entries are never removed it must stay readable; two of different content are not harmless.
    """
    for entry in steps[1:]:
        if entry.payload.get(content) != steps[0].payload.get(content):
            _contradiction(identifier, f"has two {entry.kind}s that differ", [steps[0], entry])
    named = [entry for entry in steps if verdict and entry.hash == verdict.payload.get(entry.kind)]
    return next(iter([*named, *steps]), None)


def _check_references(identifier: str, by_kind: Mapping[str, Sequence[Entry]]) -> None:
    locks = {entry.hash for entry in by_kind["lock"]}
    steps = {kind: {e.hash: _lock_of(e) for e in by_kind[kind]} for kind in ("seal", "claim")}
    for kind in ("abandon", "seal", "claim", "verdict"):
        for entry in by_kind[kind]:
            if _lock_of(entry) not in locks:
                _dangling(identifier, entry, "lock")
            for step, lock_of in steps.items():
                named = entry.payload.get(step)
                if named is not None and lock_of.get(str(named)) != _lock_of(entry):
                    _dangling(identifier, entry, step)


def _lock_of(entry: Entry) -> str:
    return str(entry.payload.get("lock"))


def _dangling(identifier: str, entry: Entry, what: str) -> NoReturn:
    named = str(entry.payload.get(what))
    raise IntegrityProblem(
        f"the {entry.kind} of '{identifier}' is for a {what} that is not the document's: {named[:16]}",
        where=entry.name,
        fix="restore the entries of the document, from git or from a backup, or find out who wrote this one",
    )


def _contradiction(identifier: str, what: str, entries: Sequence[Entry]) -> NoReturn:
    first, second = entries[:2]
    raise IntegrityProblem(
        f"'{identifier}' {what}: {first.name} and {second.name}",
        where=second.name,
        allowed="one lock that stands, one run and one verdict for a document",
        fix="if two branches were merged, keep both entries and say in the report which one came second; "
        "otherwise find out who wrote the second one",
    )


def _ordered(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=lambda entry: (entry.sequence, entry.hash))
