"""Witnesses: a few bytes, kept elsewhere, by which missing entries show.

A head says how many entries there are and which hashes nobody follows. Since a hash fixes everything before
it, a ledger that still contains an old head has lost nothing that the head knew, whatever was added since.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from harness.digest import canonical_json
from harness.errors import EnvironmentProblem, HarnessError, IntegrityProblem
from harness.ledger import durable
from harness.ledger.entries import Entry, ancestors, tips
from harness.ledger.shape import are_hashes


def head(entries: Iterable[Entry]) -> dict[str, Any]:
    """The head of a ledger: ``{"count": number of entries, "tips": sorted hashes}``."""
    everyone = list(entries)
    return {"count": len(everyone), "tips": list(tips(everyone))}


def missing(entries: Iterable[Entry], witness: Mapping[str, Any]) -> list[str]:
    """What the witness knew and the entries no longer have, one sentence each; empty if all is there.

    Args:
        entries: the checked entries of a ledger.
        witness: a head taken from it, or from a branch that was merged into it.
    """
    if trouble := _head_problem(witness):
        return [f"the witness is not a head: {trouble}"]
    everyone = list(entries)
    present = {entry.hash for entry in everyone}
    lost = [f"entry {tip[:16]}... is missing" for tip in witness["tips"] if tip not in present]
    if witness["count"] > len(everyone):
        lost.append(f"the witness counted {witness['count']} entries, the ledger has {len(everyone)}")
    if lost:
        return lost
    reached = len(ancestors(everyone, witness["tips"]))
    if reached != witness["count"]:
        return [f"the witness counted {witness['count']} entries up to its tips, the ledger has {reached} there"]
    return []


def write_witness(path: Path, head: Mapping[str, Any]) -> None:
    """Write a head to ``path`` in one step, in place of what was there; the folder is made if it is missing.

    Raises:
        IntegrityProblem: ``head`` is not a head.
        EnvironmentProblem: no permission or no space; what was there stays.
    """
    if trouble := _head_problem(head):
        raise IntegrityProblem(f"not a ledger head, so it was not written: {trouble}", where=str(path))
    durable.make_folder(path.parent)
    durable.replace(path, canonical_json(head).encode() + b"\n")


def read_witness(path: Path) -> dict[str, Any] | None:
    """The head that was written to ``path``, or None where there is no such file.

    Raises:
        IntegrityProblem: the file holds something else.
        EnvironmentProblem: it cannot be read.
    """
    if not os.path.lexists(path):
        return None
    with durable.reporting("could not read the witness", path):
        data = path.read_bytes()
    try:
        witness = json.loads(data.decode())
        trouble = _head_problem(witness)
    except (ValueError, RecursionError):
        trouble = "not JSON"
    if trouble:
        raise IntegrityProblem(
            f"this witness of the ledger was changed or cut: {trouble}",
            where=str(path),
            allowed='{"count": number of entries, "tips": [sorted hashes]}',
            fix="restore the file, or check the ledger against another witness and then delete this one",
        )
    return dict(witness)


def user_witness_path(entries: Iterable[Entry]) -> Path:
    """Where this user's witness of this ledger is kept: outside the project, out of reach of a checkout.

    Named after the first entry; where a merge joined several ledgers, after the one of least hash.

    Raises:
        IntegrityProblem: there is no entry.
        EnvironmentProblem: the user has no home folder.
    """
    first = min((entry.hash for entry in entries if not entry.parents), default=None)
    if first is None:
        raise IntegrityProblem("ledger is missing", fix="restore it; only a ledger with entries has a witness")
    return user_state() / "heads" / f"{first}.json"


def user_state() -> Path:
    """This user's own folder of what is remembered across workspaces.

    Raises:
        EnvironmentProblem: the user has no home folder.
    """
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    try:
        # The XDG base directory specification has relative paths ignored.
        state = named if named.is_absolute() else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise EnvironmentProblem("no home folder is known", fix="set HOME or XDG_STATE_HOME") from error
    return state / "retrieval-harness"


def update_user_witness(entries: Iterable[Entry]) -> bool:
    """Bring this user's witness up to date, unless that would make it forget an entry.

    It never fails: a witness is a help, and a home that cannot be written is no reason to stop.

    Returns:
        Whether the witness now says the present head. False where it cannot be written, is damaged, or knows
        entries that are not among ``entries``; it is then left as it is.
    """
    everyone = list(entries)
    try:
        path = user_witness_path(everyone)
        durable.make_folder(path.parent)
        with durable.exclusive(path.with_suffix(".lock"), wait=5.0):
            known = read_witness(path)
            if known is not None and missing(everyone, known):
                return False
            write_witness(path, head(everyone))
    except (HarnessError, OSError):
        return False
    return True


def unwitnessed(entries: Iterable[Entry]) -> str:
    """What to tell a user whose witness does not say the present head, in one line; empty if it does."""
    everyone = list(entries)
    try:
        path = user_witness_path(everyone)
        if read_witness(path) == head(everyone):
            return ""
        where = str(path.parent)
    except HarnessError as error:
        where = error.where or error.what
    return f"no witness outside of this workspace, since {where} cannot be written: keep a copy of the ledger elsewhere"


def _head_problem(value: Any) -> str:
    if not isinstance(value, Mapping) or sorted(value) != ["count", "tips"]:
        return "it must have count and tips"
    if type(value["count"]) is not int or value["count"] < 0:
        return "count must be a whole number"
    return "" if are_hashes(value["tips"]) else "tips must be sorted entry hashes, each once"
