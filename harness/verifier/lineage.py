"""The story of one experiment in the ledger: its lock, seal, claim and verdict, and which look it was.

A look is re-derived, never believed: it depends on every earlier lock whose held-out questions overlap, and
on which of those had been given back before anything was sealed.
"""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .chain import Chain, Entry, read_payload
from .reading import (
    DamageError,
    check_canonical,
    integer,
    items,
    mapping,
    number,
    parse,
    read_bytes,
    show,
    tagged_digest,
    text,
)

_MEMBER = re.compile(r"[0-9a-f]{16}")
_TAGGED = re.compile(r"sha256:[0-9a-f]{64}")


class Stage(NamedTuple):
    """One entry of the story with its payload."""

    entry: Entry
    payload: Mapping[str, object]


class Lineage(NamedTuple):
    """What the chain says about one experiment.

    Attributes:
        problems: Everything that does not hold; the stages found are given all the same.
        lock: The lock, unless there is none or more than one.
        document: The locked document; ``problems`` says if its digest is not the recorded one.
        look: The re-derived number of this look at the held-out questions.
        alpha: The re-derived error rate of this look.
        heldout: Number of members of the held-out set.
        seal: The seal, if there is exactly one.
        claim: The claim, likewise.
        verdict: The verdict, likewise.
        concurrent: Names of locks on other branches that share held-out questions; no look counts them.
    """

    problems: list[str]
    lock: Stage | None = None
    document: Mapping[str, object] | None = None
    look: int | None = None
    alpha: float | None = None
    heldout: int | None = None
    seal: Stage | None = None
    claim: Stage | None = None
    verdict: Stage | None = None
    concurrent: Sequence[str] = ()


def trace(chain: Chain, identifier: str) -> Lineage:
    """Find the entries of one experiment and check that they name each other and agree with the chain."""
    locks = [entry for entry in chain.of_kind("lock") if entry.links.get("id") == identifier]
    if not locks:
        return Lineage([f"no lock of {show(identifier)} in the ledger"])
    problems = _strays(chain, identifier, {entry.digest for entry in locks})
    abandoned = {entry.links.get("lock") for entry in chain.of_kind("abandon")}
    standing = [entry for entry in locks if entry.digest not in abandoned]
    if len(standing) != 1:
        names = ", ".join(entry.name for entry in standing)
        return Lineage([*problems, f"{len(standing)} locks that stand instead of one {names}".rstrip()])
    lock = Stage(standing[0], read_payload(chain, standing[0]))
    stages: dict[str, Stage] = {"lock": lock}
    for kind in ("seal", "claim", "verdict"):
        try:
            entry = _stage(chain, kind, stages, identifier)
        except DamageError as error:
            problems.append(str(error))
            break
        if entry is None:
            continue
        stages[kind] = Stage(entry, read_payload(chain, entry))
    lineage = Lineage(
        problems, lock=lock, seal=stages.get("seal"), claim=stages.get("claim"), verdict=stages.get("verdict")
    )
    try:
        return _derive(chain, identifier, lineage)
    except DamageError as error:
        return lineage._replace(problems=[*problems, str(error)])


def _strays(chain: Chain, identifier: str, locks: set[str]) -> list[str]:
    """Entries that claim to belong to the experiment and name none of its locks."""
    return [
        f"{entry.name}: this {kind} of {show(identifier)} names no lock of it"
        for kind in ("seal", "claim", "verdict", "abandon")
        for entry in chain.of_kind(kind)
        if entry.links.get("id") == identifier and entry.links.get("lock") not in locks
    ]


def _stage(chain: Chain, kind: str, earlier: Mapping[str, Stage], identifier: str) -> Entry | None:
    """The one entry of a kind that names the lock; it must name, and come after, every earlier stage."""
    lock = earlier["lock"].entry.digest
    found = [entry for entry in chain.of_kind(kind) if entry.links.get("lock") == lock]
    if not found:
        return None
    if len(found) > 1:
        raise DamageError(f"{len(found)} {kind} entries of one lock: {', '.join(entry.name for entry in found[:3])}")
    entry = found[0]
    if entry.links.get("id") != identifier:
        raise DamageError(f"{entry.name}: this {kind} names the lock of {show(identifier)} under another id")
    needed = {"seal": ("lock",), "claim": ("lock", "seal"), "verdict": ("lock", "seal", "claim")}[kind]
    ancestors = chain.closure(entry.parents)
    for name in needed:
        if name not in earlier:
            raise DamageError(f"{entry.name}: a {kind} without a {name}")
        if entry.links.get(name) != earlier[name].entry.digest:
            raise DamageError(f"{entry.name}: this {kind} does not name the {name} {earlier[name].entry.name}")
        if earlier[name].entry.digest not in ancestors:
            raise DamageError(f"{entry.name}: the {name} that this {kind} names does not come before it")
    return entry


def _derive(chain: Chain, identifier: str, lineage: Lineage) -> Lineage:
    """Check the lock's document, look and error rate, and that the verdict repeats them."""
    if lineage.lock is None:
        return lineage
    problems = list(lineage.problems)
    entry, payload = lineage.lock
    document = mapping(payload.get("document"), f"{entry.name}: document")
    if tagged_digest("preregistration/1", document) != payload.get("document_digest"):
        problems.append(f"{entry.name}: document_digest is not the digest of the document")
    if document.get("id") != identifier:
        problems.append(f"{entry.name}: the document's id is {show(document.get('id'))}")
    members = _heldout(chain.folder, entry)
    look, concurrent = _look(chain, entry, members)
    level = number(document.get("alpha"), f"{entry.name}: document: alpha", 1e-12, 0.5 - 1e-12)
    alpha = level * 6.0 / (math.pi**2 * look**2)
    problems.extend(_look_problems(lineage.lock, look, alpha))
    if lineage.verdict is not None:
        problems.extend(_look_problems(lineage.verdict, look, alpha))
    return lineage._replace(
        problems=problems,
        document=document,
        look=look,
        alpha=alpha,
        heldout=len(members),
        concurrent=concurrent,
    )


def _look_problems(stage: Stage, look: int, alpha: float) -> list[str]:
    name = stage.entry.name
    recorded = integer(stage.payload.get("look"), f"{name}: look", least=1)
    level = number(stage.payload.get("alpha_k"), f"{name}: alpha_k", 0.0, 1.0)
    problems = []
    if recorded != look:
        problems.append(f"{name}: look {recorded}, the chain makes it look {look}")
    if not math.isclose(level, alpha, rel_tol=1e-9):
        problems.append(f"{name}: alpha_k {level!r}, look {look} makes it {alpha!r}")
    return problems


def _look(chain: Chain, lock: Entry, members: frozenset[str]) -> tuple[int, list[str]]:
    """Count the earlier locks that share questions and were not given back; name the concurrent ones.

    Earlier means an ancestor, not an earlier time: a clock can be set, an ancestor cannot be added. A lock
    is given back when, as far as this lock can see, it was abandoned and nothing of it had been sealed.
    """
    before = chain.closure(lock.parents)
    after = chain.descendants(lock.digest)
    past = [chain.entries[digest] for digest in before]
    sealed = {entry.links.get("lock") for entry in past if entry.kind == "seal"}
    given_back = {entry.links.get("lock") for entry in past if entry.kind == "abandon"} - sealed
    overlaps: dict[str | None, bool] = {}
    look = 1
    concurrent = []
    for other in chain.of_kind("lock"):
        if other.digest in after or other.digest in given_back:
            continue
        name = other.links.get("heldout_set")
        if name not in overlaps:
            overlaps[name] = not members.isdisjoint(_heldout(chain.folder, other))
        if overlaps[name] and other.digest in before:
            look += 1
        elif overlaps[name]:
            concurrent.append(other.name)
    return look, concurrent


def _heldout(folder: Path, lock: Entry) -> frozenset[str]:
    """Read the held-out set that a lock names and check it against that name."""
    digest = lock.links.get("heldout_set", "")
    if not _TAGGED.fullmatch(digest):
        raise DamageError(f"{lock.name}: heldout_set {show(digest)} is no tagged digest")
    name = f"questions/{digest.removeprefix('sha256:')}.json"
    raw = read_bytes(folder / name, name)
    value = parse(raw, name)
    check_canonical(value, raw.removesuffix(b"\n"), f"{name}:1")
    if tagged_digest("question-set/1", value) != digest:
        raise DamageError(f"{name}:1: its content is not the set that {lock.name} names")
    members = [text(member, f"{name}:1") for member in items(value, f"{name}:1")]
    if not members or members != sorted(set(members)) or not all(map(_MEMBER.fullmatch, members)):
        raise DamageError(f"{name}:1: not a sorted list of distinct questions of 16 hexadecimal digits")
    return frozenset(members)
