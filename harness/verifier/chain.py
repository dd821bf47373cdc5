"""The ledger as a chain of content-addressed entries.

Reading collects problems instead of stopping at the first, because a damaged ledger is examined once and
whole. Of each entry only the names that link entries to one another stay in memory; payloads are read
again, against the entry's digest, when they are needed. Time and memory grow with the number of entries,
never with their size.
"""

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from .reading import (
    DamageError,
    check_canonical,
    hexadecimal,
    integer,
    items,
    mapping,
    parse,
    read_bytes,
    show,
    text,
)

LARGEST_ENTRY = 16 * 1024 * 1024
"""Bytes of the largest entry read; a real one, with its whole document, is some thousand."""

_DOMAIN = b"retrieval-harness/ledger-entry/1\n"
_KEYS = frozenset({"format", "sequence", "parents", "kind", "time", "git", "environment", "payload"})
_LINKS = ("id", "lock", "seal", "claim", "heldout_set")
_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_TAGGED = re.compile(r"sha256:[0-9a-f]{64}")


class Entry(NamedTuple):
    """One intact entry: digest, file name, place in the chain, and the names by which its payload links."""

    digest: str
    name: str
    sequence: int
    parents: tuple[str, ...]
    kind: str
    links: Mapping[str, str]


class Chain(NamedTuple):
    """All intact entries by digest, in ascending order of sequence and digest, and every problem found."""

    folder: Path
    entries: Mapping[str, Entry]
    problems: list[str]

    def tips(self) -> list[str]:
        """Sorted digests of the entries that no entry names as its parent."""
        named = {parent for entry in self.entries.values() for parent in entry.parents}
        return sorted(digest for digest in self.entries if digest not in named)

    def of_kind(self, kind: str) -> list[Entry]:
        """The entries of one kind, earliest sequence first."""
        return [entry for entry in self.entries.values() if entry.kind == kind]

    def closure(self, starts: Iterable[str]) -> set[str]:
        """The given entries and all their ancestors, as far as they are present."""
        reached: set[str] = set()
        waiting = [start for start in starts if start in self.entries]
        while waiting:
            digest = waiting.pop()
            if digest not in reached:
                reached.add(digest)
                waiting.extend(parent for parent in self.entries[digest].parents if parent in self.entries)
        return reached

    def descendants(self, start: str) -> set[str]:
        """The given entry and all after it; one pass does, since sequences rise from parent to child."""
        reached = {start}
        for digest, entry in self.entries.items():
            if not reached.isdisjoint(entry.parents):
                reached.add(digest)
        return reached


def read_chain(folder: Path) -> Chain:
    """Read and check every entry of a ledger folder.

    Files whose names do not end in ``.json`` and files whose names start with a dot (an append that was cut
    off before it was linked into place) are no entries and are passed over.
    """
    problems: list[str] = []
    found: list[Entry] = []
    try:
        with os.scandir(folder) as listing:
            names = sorted(each.name for each in listing)
    except OSError as error:
        return Chain(folder, {}, [f"no readable ledger folder {folder.name} ({error.strerror})"])
    for name in names:
        if name.endswith(".json") and not name.startswith("."):
            try:
                found.append(_read_entry(folder, name)[0])
            except DamageError as error:
                problems.append(str(error))
    found.sort(key=lambda entry: (entry.sequence, entry.digest))
    entries = {entry.digest: entry for entry in found}
    if not found and not problems:
        problems.append("the ledger has no entries")
    for entry in found:
        problems.extend(_order_problems(entry, entries))
    return Chain(folder, entries, problems)


def read_payload(chain: Chain, entry: Entry) -> Mapping[str, object]:
    """Read the payload of an entry again.

    Raises:
        DamageError: If the file is no longer the one that was checked.
    """
    again, payload = _read_entry(chain.folder, entry.name)
    if again.digest != entry.digest:
        raise DamageError(f"{entry.name}: changed while it was being verified")
    return payload


def witness_problem(chain: Chain, witness: object, where: str) -> str | None:
    """Say why the ledger does not contain what a witness saw, or None if it does.

    A witness is a head written down earlier: its tips must all be here, and they must reach exactly as many
    entries as it counted, so that neither the last entries nor any before them can be missing.
    """
    try:
        head = mapping(witness, where)
        count = integer(head.get("count"), f"{where}: count", least=1)
        tips = [hexadecimal(tip, f"{where}: tips") for tip in items(head.get("tips"), f"{where}: tips")]
    except DamageError as error:
        return str(error)
    if not tips or tips != sorted(set(tips)):
        return f"{where}: tips are not a sorted list of distinct digests"
    missing = [tip for tip in tips if tip not in chain.entries]
    if missing:
        return f"{where}: saw the entry {missing[0][:16]}, which the ledger no longer has"
    reached = len(chain.closure(tips))
    if reached != count:
        return f"{where}: counted {count} entries, {reached} are reached from its tips"
    return None


def _read_entry(folder: Path, name: str) -> tuple[Entry, Mapping[str, object]]:
    raw = read_bytes(folder / name, name, LARGEST_ENTRY)
    value = mapping(parse(raw, name), f"{name}:1")
    if not raw.endswith(b"\n"):
        raise DamageError(f"{name}:1: the line does not end, the file may be cut short")
    check_canonical(value, raw[:-1], f"{name}:1")
    digest = hashlib.sha256(_DOMAIN + raw[:-1]).hexdigest()
    entry, payload = _entry(value, name, digest)
    expected = f"{entry.sequence:06d}-{digest[:16]}.json"
    if name != expected:
        raise DamageError(f"{name}:1: its content belongs under the name {expected}, it was edited or renamed")
    return entry, payload


def _entry(value: Mapping[str, object], name: str, digest: str) -> tuple[Entry, Mapping[str, object]]:
    where = f"{name}:1"
    if value.keys() != _KEYS:
        odd = sorted(value.keys() ^ _KEYS)
        raise DamageError(f"{where}: missing or unknown keys {', '.join(map(show, odd[:5]))}")
    if integer(value["format"], f"{where}: format") != 1:
        raise DamageError(f"{where}: format {show(value['format'])}, only 1 is known")
    listed = items(value["parents"], f"{where}: parents")
    parents = tuple(hexadecimal(parent, f"{where}: parents") for parent in listed)
    if list(parents) != sorted(set(parents)):
        raise DamageError(f"{where}: parents are not sorted and distinct")
    _check_circumstances(value, where)
    payload = mapping(value["payload"], f"{where}: payload")
    links = {key: link for key in _LINKS if isinstance(link := payload.get(key), str) and len(link) <= 1000}
    kind = text(value["kind"], f"{where}: kind")
    sequence = integer(value["sequence"], f"{where}: sequence", least=1)
    return Entry(digest, name, sequence, parents, kind, links), payload


def _check_circumstances(value: Mapping[str, object], where: str) -> None:
    """Check the form of time, git state and environment; their truth is not in the ledger's power."""
    try:
        offset = datetime.fromisoformat(text(value["time"], f"{where}: time")).utcoffset()
    except ValueError:
        offset = None
    if offset is None:
        raise DamageError(f"{where}: time {show(value['time'])} is no date and time with an offset")
    git = mapping(value["git"], f"{where}: git")
    commit = git.get("commit")
    known = commit is None or (isinstance(commit, str) and _COMMIT.fullmatch(commit) is not None)
    dirty = git.get("dirty")
    if git.keys() != {"commit", "dirty"} or not known or not (dirty is None or isinstance(dirty, bool)):
        raise DamageError(f"{where}: git does not give a commit and whether the tree was dirty")
    if not _TAGGED.fullmatch(text(value["environment"], f"{where}: environment")):
        raise DamageError(f"{where}: environment {show(value['environment'])} is no tagged digest")


def _order_problems(entry: Entry, entries: Mapping[str, Entry]) -> list[str]:
    """Check that parents are present and precede the entry; rising sequences leave no room for a cycle."""
    missing = [parent for parent in entry.parents if parent not in entries]
    if missing:
        return [f"{entry.name}: its parent {parent[:16]} is missing" for parent in missing]
    expected = 1 + max((entries[parent].sequence for parent in entry.parents), default=0)
    if entry.sequence != expected:
        return [f"{entry.name}: sequence {entry.sequence} instead of {expected}"]
    return []
