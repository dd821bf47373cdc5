"""Every held-out set that this workspace knows, and who has looked at it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.benchmarks.columns import HELDOUT
from harness.benchmarks.library import names
from harness.evaluation.statistics.looks import alpha_left, alpha_of_look
from harness.ledger.entries import Entry
from harness.ledger.looks import read_question_set, spent_on
from harness.ledger.state import lives
from harness.workflow.lock import reused
from harness.workflow.outside import KIND, SET
from harness.workflow.workspace import Workspace


def held_out_looks(workspace: Workspace, alpha: float) -> list[dict[str, Any]]:
    """The looks at every held-out set, by overlap of questions: no other name, candidate or split resets them.

    Args:
        workspace: whose benchmarks and locks are looked through.
        alpha: one-sided error rate over all looks, as a document declares it.

    Returns:
        One mapping a set: ``name``, ``questions``, ``imported``, ``looks`` (one mapping a lock that spent one),
        ``outside`` (one mapping an outside look), ``next_look``, ``alpha_next``, ``alpha_left``, ``exposed``.

    Raises:
        IntegrityProblem: the ledger or a question set is damaged.
    """
    entries = workspace.entries()
    sets = {name: frozenset(workspace.benchmark(name).question_sets[HELDOUT]) for name in names(workspace.data)}
    imported = set(sets)
    for entry in entries:
        if entry.kind == "lock":
            members = frozenset(read_question_set(workspace.ledger.root, entry.payload["heldout_set"]))
            if members not in sets.values():
                sets[f"{entry.payload['benchmark']['name']} as locked by {entry.payload['id']}"] = members
    return [
        {"name": name, "imported": name in imported, **_of_set(workspace, entries, members, alpha)}
        for name, members in sets.items()
        if members
    ]


def _of_set(workspace: Workspace, entries: tuple[Entry, ...], members: Iterable[str], alpha: float) -> dict[str, Any]:
    wanted, root = frozenset(members), workspace.ledger.root
    spent = spent_on(root, entries, wanted)
    outside = [
        {"what": entry.payload["what"], "time": entry.time, "questions": len(common)}
        for entry in entries
        if entry.kind == KIND and SET in entry.payload
        if (common := wanted & frozenset(read_question_set(root, entry.payload[SET])))
    ]
    return {
        "questions": len(wanted),
        "looks": [_look(entries, lock, wanted, root) for lock in spent],
        "outside": outside,
        "next_look": 1 + len(spent),
        "alpha": alpha,
        "alpha_next": alpha_of_look(alpha, 1 + len(spent)),
        "alpha_left": alpha_left(alpha, len(spent)),
        "exposed": reused(workspace, entries, wanted),
    }


def _look(entries: tuple[Entry, ...], lock: Entry, wanted: frozenset[str], root: Any) -> dict[str, Any]:
    present = lives(entries)[lock.payload["id"]]
    verdict = present.verdict.payload["state"] if present.verdict else None
    common = wanted & frozenset(read_question_set(root, lock.payload["heldout_set"]))
    return {
        "id": lock.payload["id"], "look": lock.payload["look"], "alpha_k": lock.payload["alpha_k"],
        "stage": present.stage.value, "verdict": verdict, "time": lock.time, "questions": len(common),
    }  # fmt: skip
