"""The token that lets one process, and only one, open the held-out labels for a lock.

It is local, and made before the claim's entry is written: of two racing processes one knows that it lost, and
after a crash in between the winner's token tells what has to be finished.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.digest import canonical_json
from harness.errors import IntegrityProblem, UsageProblem
from harness.ledger import durable
from harness.ledger.shape import is_hash


def take(folder: Path, lock_hash: str, holder: Mapping[str, Any]) -> bool:
    """Take the token of a lock; of any number of processes exactly one gets it.

    Args:
        folder: where tokens are kept; it is made if it is missing.
        lock_hash: full hash of the lock's entry.
        holder: who takes it, as plain values; another process reads it to say who won.

    Returns:
        True if this call made the token, False if it was taken before.

    Raises:
        UsageProblem: ``lock_hash`` is not a hash, or ``holder`` cannot be written as JSON.
        EnvironmentProblem: no permission or no space; no token, nor part of one, is left behind.
    """
    path = _path(folder, lock_hash)
    try:
        data = canonical_json(holder).encode() + b"\n"
    except ValueError as error:
        raise UsageProblem(f"the holder of a claim cannot be written: {error}", where=str(path)) from error
    durable.make_folder(folder)
    return durable.publish(folder, path.name, data)


def holder_of(folder: Path, lock_hash: str) -> Mapping[str, Any] | None:
    """Who holds the token of a lock, or None if nobody took it.

    Raises:
        UsageProblem: ``lock_hash`` is not a hash.
        IntegrityProblem: the token was changed.
        EnvironmentProblem: it cannot be read.
    """
    path = _path(folder, lock_hash)
    if not os.path.lexists(path):
        return None
    with durable.reporting("could not read the claim token", path):
        data = path.read_bytes()
    try:
        holder = json.loads(data.decode())
    except (ValueError, RecursionError):
        holder = None
    if not isinstance(holder, dict):
        raise IntegrityProblem(
            "this claim token was changed: it is not what a claim writes",
            where=str(path),
            allowed="one JSON mapping that says who holds the claim",
            fix="restore the file; it is the proof that the labels were opened once, so do not delete it",
        )
    return holder


def _path(folder: Path, lock_hash: str) -> Path:
    if not is_hash(lock_hash):  # it becomes a file name, which must not lead elsewhere
        raise UsageProblem(
            f"{lock_hash!r} is not the hash of a lock", where=str(folder), allowed="64 lower-case hex digits"
        )
    return folder / f"{lock_hash}.json"
