"""How often a held-out set was looked at: the number that a lock pays for in its alpha.

Sets of questions are kept as files of short digests, named by their content, so that any overlap shows,
whatever a set is called and however few questions two of them share.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from harness.digest import canonical_json, digest_bytes
from harness.errors import IntegrityProblem, UsageProblem
from harness.ledger import durable
from harness.ledger.entries import QUESTIONS_FOLDER, Entry

_DOMAIN = "question-set/1"
_MEMBER = re.compile(r"[0-9a-f]{16}")
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")


def write_question_set(root: Path, members: Iterable[str]) -> str:
    """Keep a held-out set beside the entries; a set that is there already is not written again.

    Args:
        root: the ledger's folder.
        members: digests of the questions, 16 hex digits each, in any order.

    Returns:
        The tagged digest by which a lock names the set.

    Raises:
        UsageProblem: no member, or one that is not 16 hex digits.
        IntegrityProblem: the set's file is there with other content.
        EnvironmentProblem: no permission or no space.
    """
    data = canonical_json(_checked(root, members)).encode()
    digest = digest_bytes(_DOMAIN, data)
    path = _path(root, digest)
    durable.make_folder(path.parent)
    if not durable.publish(path.parent, path.name, data):
        read_question_set(root, digest)
    return digest


def read_question_set(root: Path, digest: str) -> tuple[str, ...]:
    """The sorted members of a kept set.

    Args:
        root: the ledger's folder.
        digest: tagged digest of the set.

    Raises:
        UsageProblem: ``digest`` is not a tagged digest.
        IntegrityProblem: the set is missing or was changed.
        EnvironmentProblem: it cannot be read.
    """
    path = _path(root, digest)
    if not path.is_file():
        _broken(path, "is missing, so that looks cannot be counted")
    with durable.reporting("could not read the question set", path):
        data = path.read_bytes()
    if digest_bytes(_DOMAIN, data) != digest:
        _broken(path, "was changed: its content has another digest than its name")
    members = json.loads(data)
    if not _is_set(members):
        _broken(path, "is not a sorted list of question digests")
    return tuple(members)


def spent_on(root: Path, entries: Iterable[Entry], members: Iterable[str]) -> list[Entry]:
    """The locks that have used up a look at a held-out set, whatever they measured.

    A lock counts if its own set shares a question with this one, unless it was given back: abandoned, with
    nothing sealed, claimed or judged under it.

    Args:
        root: the ledger's folder.
        entries: the entries to count in; those before a lock, to recompute the lock's number.
        members: digests of the questions of the set.

    Raises:
        UsageProblem: no member, or one that is not 16 hex digits.
        IntegrityProblem: the set of some lock is missing or was changed.
        EnvironmentProblem: a set cannot be read.
    """
    wanted = set(_checked(root, members))
    everyone = list(entries)
    abandoned = {str(entry.payload.get("lock")) for entry in everyone if entry.kind == "abandon"}
    # An abandonment that a seal follows all the same, on another branch perhaps, gives nothing back: the run
    # went on, and somebody may have seen what came of it.
    used = {str(entry.payload.get("lock")) for entry in everyone if entry.kind in ("seal", "claim", "verdict")}
    given_back = abandoned - used
    overlaps: dict[str, bool] = {}
    spent = []
    for entry in everyone:
        if entry.kind != "lock" or entry.hash in given_back:
            continue
        digest = str(entry.payload.get("heldout_set"))
        if digest not in overlaps:
            overlaps[digest] = not wanted.isdisjoint(read_question_set(root, digest))
        if overlaps[digest]:
            spent.append(entry)
    return spent


def look_number(root: Path, entries: Iterable[Entry], members: Iterable[str]) -> int:
    """The look that a lock made now would be: 1 for a held-out set of which nobody has used a question.

    Raises:
        UsageProblem, IntegrityProblem, EnvironmentProblem: as for ``spent_on``.
    """
    return 1 + len(spent_on(root, entries, members))


def _checked(root: Path, members: Iterable[str]) -> list[str]:
    chosen = sorted(set(members))
    if not _is_set(chosen):
        wrong = next((member for member in chosen if not _MEMBER.fullmatch(member)), None)
        raise UsageProblem(
            "a held-out set without a question" if wrong is None else f"{wrong!r} is not the digest of a question",
            where=str(root / QUESTIONS_FOLDER),
            allowed="at least one question, each given by 16 hex digits",
        )
    return chosen


def _is_set(value: object) -> bool:
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(item, str) and _MEMBER.fullmatch(item) for item in value)
        and value == sorted(set(value))
    )


def _path(root: Path, digest: str) -> Path:
    match = _DIGEST.fullmatch(digest)
    if match is None:  # it becomes a file name, which must not lead elsewhere
        raise UsageProblem(f"{digest!r} is not the digest of a question set", allowed="sha256: and 64 hex digits")
    return root / QUESTIONS_FOLDER / f"{match[1]}.json"


def _broken(path: Path, what: str) -> NoReturn:
    raise IntegrityProblem(
        f"question set {path.name[:12]} {what}",
        where=str(path),
        fix="restore the file, for instance with `git checkout -- FILE` or from a backup",
    )
