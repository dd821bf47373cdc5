"""The chain of entries: what happened, in an order that nobody can rearrange afterwards.

Every entry is one canonical JSON line in its own file and names its parents by hash, so that an entry cannot
be edited, dropped from the middle or put elsewhere without its descendants showing it. Files are only ever
added; two branches that each added some are merged by having the files of both.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from harness.digest import canonical_json
from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem
from harness.ledger import durable
from harness.ledger.shape import FORMAT, encode, entry_hash, shape_problem

QUESTIONS_FOLDER = "questions"
LOCK_NAME = ".lock"

_ENTRY_NAME = re.compile(r"[0-9]{6,}-[0-9a-f]{16}\.json")
# Not entries, but at home here: unfinished writes, lock files, what git, a network drive or a desktop drops.
_IGNORED = (durable.TEMPORARY, LOCK_NAME, ".filelock-", ".git", ".nfs", ".DS_Store")
_RESTORE = "restore the file as it was recorded, for instance with `git checkout -- FILE` or from a backup"


@dataclass(frozen=True)
class Entry:
    """One recorded event.

    Attributes:
        sequence: 1 for a first entry, otherwise one more than the highest of its parents.
        parents: full hashes of the entries that were tips when this one was written, sorted.
        kind: lock, abandon, seal, claim, verdict, outside_look, or a word of a later version.
        time: ISO 8601 with offset, as the writer's clock had it; it never decides an order.
        git: ``{"commit": hex or None, "dirty": bool or None}``.
        environment: tagged digest of the environment.
        payload: what the kind of entry says.
        hash: 64 hex digits over the canonical bytes.
    """

    sequence: int
    parents: tuple[str, ...]
    kind: str
    time: str
    git: Mapping[str, Any] = field(hash=False)
    environment: str
    payload: Mapping[str, Any] = field(hash=False)
    hash: str

    @property
    def name(self) -> str:
        """Name of the entry's file."""
        return f"{self.sequence:06d}-{self.hash[:16]}.json"


def tips(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Hashes of the entries that no other one names as its parent, sorted."""
    everyone = list(entries)
    named = {parent for entry in everyone for parent in entry.parents}
    return tuple(sorted(entry.hash for entry in everyone if entry.hash not in named))


def ancestors(entries: Iterable[Entry], starts: Iterable[str]) -> frozenset[str]:
    """Hashes of ``starts`` and of all that was in the ledger before them; unknown ones are left out."""
    parents = {entry.hash: entry.parents for entry in entries}
    found: set[str] = set()
    waiting = list(starts)
    while waiting:
        current = waiting.pop()
        if current in parents and current not in found:
            found.add(current)
            waiting.extend(parents[current])
    return frozenset(found)


@dataclass(frozen=True)
class Ledger:
    """The folder of entries.

    Attributes:
        root: the folder; the first ``append`` makes it.
        lock_timeout: seconds that ``append`` waits for other writers.
    """

    root: Path
    lock_timeout: float = durable.LOCK_WAIT_SECONDS

    def read(self, *, missing_ok: bool = False) -> tuple[Entry, ...]:
        """Every entry, checked, ordered by (sequence, hash): parents come before their children.

        Args:
            missing_ok: read an absent ledger, or one without a single entry, as ``()``.

        Raises:
            IntegrityProblem: the ledger is missing; a file was changed, cut or renamed, or does not belong
                there; the parent of an entry is missing.
            EnvironmentProblem: the folder or a file in it cannot be read.
        """
        found: dict[str, Entry] = {}
        seen: set[str] = set()
        while fresh := self._names() - seen:
            seen |= fresh
            for name in sorted(fresh):
                entry = self._load(name)
                found[entry.hash] = entry
            if not any(parent not in found for entry in found.values() for parent in entry.parents):
                break
            # A listing is no snapshot: a child that was appended meanwhile may be in it without its parent.
        if not found and not missing_ok:
            raise IntegrityProblem(
                "ledger is missing",
                where=str(self.root),
                allowed="a folder with at least one entry, once anything was locked",
                fix="restore it, for instance with `git checkout -- FOLDER`; the first lock makes it",
            )
        for entry in found.values():
            self._check_parents(entry, found)
        return tuple(sorted(found.values(), key=lambda entry: (entry.sequence, entry.hash)))

    def append(
        self,
        kind: str,
        payload: Mapping[str, Any],
        *,
        git: Mapping[str, Any],
        environment: str,
        time: str,
    ) -> Entry:
        """Add one entry after all present tips; when this returns, it is on the disk.

        Whatever goes wrong, the ledger holds the whole entry or none of it. Writers wait for each other.

        Args:
            kind: what happened.
            payload: plain values; NaN and infinity are refused.
            git: ``{"commit": ..., "dirty": ...}``.
            environment: tagged digest of the environment.
            time: ISO 8601 with an offset from UTC.

        Raises:
            UsageProblem: the entry cannot be written as JSON, or a field is not of its kind.
            IntegrityProblem: the ledger as it stands is broken.
            EnvironmentProblem: no permission, no space, or another writer held the lock too long.
            TypeError: a value that JSON does not know; a fault of the caller.
        """
        stated = {"kind": kind, "payload": payload, "git": git, "environment": environment, "time": time}
        # Refuse before the folder is touched; what is read back is what any later reader will see.
        fields = json.loads(encode(kind, {"format": FORMAT, "sequence": 1, "parents": [], **stated}))
        if trouble := shape_problem(fields):
            raise UsageProblem(f"this {kind} entry cannot be recorded: {trouble}", where=str(self.root))
        durable.make_folder(self.root)
        with durable.exclusive(self.root / LOCK_NAME, wait=self.lock_timeout):
            return self._write_next(fields)

    def check_writable(self) -> None:
        """Find out, before any work is done, whether ``append`` could write; the ledger is left as it is.

        Raises:
            EnvironmentProblem: the folder, or the nearest parent that exists, cannot be written.
        """
        place = next(folder for folder in (self.root, *self.root.absolute().parents) if folder.exists())
        durable.try_writing(place)
        if (self.root / QUESTIONS_FOLDER).exists():
            durable.try_writing(self.root / QUESTIONS_FOLDER)
        lock = self.root / LOCK_NAME
        if lock.exists():
            with durable.reporting("the lock file cannot be written", lock):
                os.close(os.open(lock, os.O_RDWR))

    def _write_next(self, fields: Mapping[str, Any]) -> Entry:
        present = self.read(missing_ok=True)
        parents = tips(present)
        sequence = 1 + max((entry.sequence for entry in present if entry.hash in parents), default=0)
        record = {**fields, "sequence": sequence, "parents": list(parents)}
        body = encode(record["kind"], record)
        entry = _entry(record, body)
        if not durable.publish(self.root, entry.name, body + b"\n"):
            self._broken(entry.name, "appeared while it was being written", "run the command again")
        return entry

    def _names(self) -> set[str]:
        """File names of the entries; anything that has no business in the folder is a problem."""
        names: set[str] = set()
        if not os.path.lexists(self.root):
            return names
        if self.root.exists() and not self.root.is_dir():
            raise IntegrityProblem(
                "the ledger is not a folder",
                where=str(self.root),
                fix="move this file away and restore the folder",
            )
        with durable.reporting("could not read the ledger", self.root), os.scandir(self.root) as listing:
            items = [(item.name, item.is_file(follow_symlinks=False)) for item in listing]
        for name, is_file in items:
            if _ENTRY_NAME.fullmatch(name):
                if not is_file:
                    self._broken(name, "is not a regular file")
                names.add(name)
            elif name == QUESTIONS_FOLDER:
                if is_file:
                    self._broken(name, "is a file where a folder was expected")
            elif not name.startswith(_IGNORED):
                self._broken(name, "does not belong in the ledger", "move it out of the folder")
        return names

    def _load(self, name: str) -> Entry:
        path = self.root / name
        try:
            with durable.reporting("could not read the entry", path):
                data = path.read_bytes()
        except EnvironmentProblem:
            if path.exists():
                raise
            self._broken(name, "vanished while the ledger was being read")
        body = data.removesuffix(b"\n")
        if len(body) == len(data):
            self._broken(name, "does not end with a line end: it was cut or changed")
        if entry_hash(body)[:16] != name[-21:-5]:
            self._broken(name, "was changed or renamed: the hash in its name is not that of its content")
        try:
            record = json.loads(body.decode())
            canonical = canonical_json(record).encode()
        except (ValueError, RecursionError):  # bad UTF-8, bad JSON, NaN, half of a surrogate pair
            self._broken(name, "is not JSON that the ledger writes")
        if canonical != body:
            self._broken(name, "is not canonical JSON")
        if trouble := shape_problem(record):
            self._broken(name, f"is not a ledger entry: {trouble}")
        entry = _entry(record, body)
        if entry.name != name:
            self._broken(name, f"was renamed: it is entry {entry.sequence}", f"rename it to {entry.name}")
        return entry

    def _check_parents(self, entry: Entry, found: Mapping[str, Entry]) -> None:
        for parent in entry.parents:
            if parent not in found:
                self._broken(
                    entry.name,
                    f"follows entry {parent[:16]}..., which is missing",
                    f"restore the file whose name ends in -{parent[:16]}.json, from git or from a backup",
                )
        expected = 1 + max((found[parent].sequence for parent in entry.parents), default=0)
        if entry.sequence != expected:
            self._broken(entry.name, f"has sequence {entry.sequence}, but its parents make it {expected}")

    def _broken(self, name: str, what: str, fix: str = _RESTORE) -> NoReturn:
        raise IntegrityProblem(f"ledger file {name} {what}", where=str(self.root / name), fix=fix)


def _entry(record: Mapping[str, Any], body: bytes) -> Entry:
    return Entry(
        sequence=record["sequence"],
        parents=tuple(record["parents"]),
        kind=record["kind"],
        time=record["time"],
        git=record["git"],
        environment=record["environment"],
        payload=record["payload"],
        hash=entry_hash(body),
    )
