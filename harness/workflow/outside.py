"""Outside looks: held-out figures that were seen in another way than by a verdict, and the documents they touch."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from harness.benchmarks.columns import HELDOUT, Questions, question_members
from harness.benchmarks.library import Library, names
from harness.digest import canonical_json, digest_json
from harness.errors import EnvironmentProblem, HarnessError, UsageProblem
from harness.ledger import durable
from harness.ledger.entries import Entry
from harness.ledger.head import user_state
from harness.ledger.looks import read_question_set, write_question_set
from harness.ledger.state import Life
from harness.workflow.progress import SILENT, Progress
from harness.workflow.workspace import Workspace, now, open_workspace

KIND, SET, IDS = "outside_look", "question_set", "id_set"
REMEMBERED = "outside-looks"
"""Folder of the looks that a user made outside of a workspace, or in another one."""


def record_outside_look(workspace: Workspace, what: str, members: Iterable[str], **more: Any) -> Entry | None:
    """Put a look at held-out questions on record; to be called before its figures are shown.

    Args:
        workspace: whose ledger keeps it.
        what: what was looked at and how, in words; two looks with equal words at equal questions are one, unless
            a document was locked between them.
        members: digests of the questions, as `harness.benchmarks.columns.question_members` makes them.
        more: further plain values for the entry.

    Returns:
        The new entry; None where this look is on record already, or is a look at no question.

    Raises:
        IntegrityProblem: the ledger is damaged.
        EnvironmentProblem: the ledger cannot be written.
    """
    chosen = sorted(set(members))
    if not chosen:
        return None
    entries = workspace.entries()
    question_set = write_question_set(workspace.ledger.root, chosen)
    same = {"what": what, SET: question_set}
    # a look that is repeated after a lock is a look after that lock
    since = max((entry.sequence for entry in entries if entry.kind == "lock"), default=-1)
    known = [entry for entry in entries if entry.kind == KIND and entry.sequence > since]
    if any(same.items() <= dict(entry.payload).items() for entry in known):
        return None
    entry = workspace.record(KIND, {**more, **same, "questions": len(chosen)})
    remember_look(what, chosen, entry=entry.hash)
    return entry


def record_dev_work(workspace: Workspace, library: Library) -> int:
    """Put dev work on record wherever its questions are held out; to be called before its figures are shown.

    One file can be imported twice, with other dev conversations: what is tried on one import was promised on the
    other, in this workspace or in another, today or tomorrow.

    Returns:
        How many of the dev questions are held out in this workspace.
    """
    what = f"dev work on {library.name} ({library.digests['digest'].removeprefix('sha256:')[:12]})"
    members = question_members(library.dev[0])
    elsewhere = held_out(workspace, members, library)
    record_outside_look(workspace, what, elsewhere)
    remember_look(what, members, workspace=workspace)
    return len(elsewhere)


def remember_look(
    what: str,
    members: Iterable[str] = (),
    *,
    ids: Iterable[str] = (),
    entry: str = "",
    workspace: Workspace | None = None,
) -> bool:
    """Keep a look in the user's own folder, so that a workspace in which its questions are held out can adopt it.

    Never fails: a home that cannot be written is no reason to stop. The time of the last such look is kept.

    Args:
        what, members: as for `record_outside_look`.
        ids: question ids instead, where the texts are not known.
        entry: hash of the ledger entry that tells of the same look; the ledger that has it needs no other.
        workspace: keeps it too, for its own documents, whatever becomes of the user's folder.

    Returns:
        Whether it is kept.
    """
    key, chosen = (IDS, sorted(set(map(_id_digest, ids)))) if ids else (SET, sorted(set(members)))
    kept = False
    for place in (None, workspace) if workspace else (None,):
        try:
            folder = _folder(place)
            durable.make_folder(folder)
            look = {"what": what, key: write_question_set(folder, chosen), "entry": entry}
            name = digest_json("remembered-look/1", look).removeprefix("sha256:")
            durable.replace(folder / f"{name}.json", canonical_json({**look, "time": now()}).encode())
        except (HarnessError, OSError):
            continue
        kept = True
    return kept


def must_be_kept(kept: bool) -> None:
    """Refuse to show figures of a look that neither a ledger nor the user's folder could keep.

    Raises:
        EnvironmentProblem: it is not kept.
    """
    if not kept:
        what = "this look at figures can be kept nowhere: no workspace is here, and your state folder cannot be written"
        fix = "set XDG_STATE_HOME to a folder that can be written, or work in a workspace"
        raise EnvironmentProblem(what, fix=fix)


def _id_digest(question: str) -> str:
    return hashlib.sha256(f"question-id/2\n{_plain_id(question)}".encode()).hexdigest()[:16]


def _plain_id(question: str) -> str:
    """An id without case and signs: files of other tools spell ``conv-30/q1`` as ``CONV-30_q1``."""
    return "".join(character for character in question.casefold() if character.isalnum()) or question


def adopt_looks(
    workspace: Workspace, library: Library, progress: Progress = SILENT, *, lock: Entry | None = None
) -> None:
    """Record the looks at its held-out questions that this user made elsewhere: in another workspace, or in none.

    Args:
        workspace: whose ledger takes them.
        library: the benchmark of a lock.
        progress: told of each.
        lock: of the document that is being run; what was repeated after it is recorded again.
    """
    questions = library.heldout_questions()
    # the same words may be asked in a dev conversation too: its own dev work is no look at what it holds out
    wanted = question_members(questions) - question_members(library.dev[0])
    names_of = {_id_digest(question): question for question in questions.ids}
    read = cache(lambda folder, digest: frozenset(read_question_set(folder, digest)))
    entries = workspace.entries()
    own = {entry.hash for entry in entries}
    told: dict[tuple[str, bool], frozenset[str]] = defaultdict(frozenset)
    for entry in entries:
        if entry.kind == KIND and SET in entry.payload:
            seen = read(workspace.ledger.root, entry.payload[SET])
            for late in {False, lock is not None and entry.sequence > lock.sequence}:
                told[entry.payload["what"], late] |= seen
    for path in _remembered(workspace):
        try:
            look = json.loads(path.read_text(encoding="utf-8"))
            if IDS in look:
                common = read(path.parent, look[IDS]) & names_of.keys()
                touched = _members(questions, {names_of[digest] for digest in common})
            else:
                touched = read(path.parent, look[SET])
            what, origin, time = str(look["what"]), look["entry"], str(look["time"])
            late = lock is not None and datetime.fromisoformat(time) >= datetime.fromisoformat(lock.time)
        except (HarnessError, OSError, ValueError, KeyError, TypeError):
            continue  # a help, as the user's witness is; what is damaged is no reason to refuse work
        seen = wanted & touched
        if origin not in own and seen and not seen <= told[what, late]:
            if record_outside_look(workspace, what, touched, seen=time) is None:
                continue  # remembered twice, by the user and by the workspace
            progress(f"recorded as an outside look at the held-out questions: {what}, {time}")


def _remembered(workspace: Workspace) -> Iterator[Path]:
    """Files of remembered looks, of the user and of the workspace."""
    for place in (None, workspace):
        with contextlib.suppress(HarnessError, OSError):  # a home that cannot be read remembers nothing
            yield from sorted(_folder(place).glob("[!.]*.json"))


def _folder(workspace: Workspace | None) -> Path:
    return (workspace.runs if workspace else user_state()) / REMEMBERED


def held_out(workspace: Workspace, members: Iterable[str], own: Library | None = None) -> frozenset[str]:
    """Those of the questions that are held out in any benchmark of the workspace, or under any lock of its ledger.

    The locks count because a benchmark's folder can be removed, and imported again with another split.

    Args:
        workspace: where to look.
        members: digests of questions.
        own: the benchmark of which they are dev questions. Its own held-out set is left out: the same words may be
            asked in a dev conversation and in a held-out one, and are two questions there.

    Raises:
        IntegrityProblem: the ledger, or the question sets of a benchmark, are damaged.
    """
    root = workspace.ledger.root
    locked = {entry.payload["heldout_set"] for entry in workspace.entries() if entry.kind == "lock"}
    sets = {frozenset(read_question_set(root, digest)) for digest in locked}
    sets |= {workspace.benchmark(name).question_sets[HELDOUT] for name in names(workspace.data)}
    if own is not None:
        sets.discard(own.question_sets[HELDOUT])
    return frozenset(members) & frozenset().union(*sets)


def held_out_by_id(workspace: Workspace, ids: Collection[str]) -> frozenset[str]:
    """Digests of the questions with one of these ids, in a benchmark imported here, that are held out here.

    Raises:
        IntegrityProblem: the ledger or a benchmark is damaged.
    """
    found: frozenset[str] = frozenset()
    for name in names(workspace.data):
        library = workspace.benchmark(name)
        found |= _members(library.heldout_questions(), ids)
        found |= held_out(workspace, _members(library.dev[0], ids), library)
    return found


def _members(questions: Questions, ids: Collection[str]) -> frozenset[str]:
    wanted = {_plain_id(question) for question in ids}
    chosen = [index for index, question in enumerate(questions.ids) if _plain_id(question) in wanted]
    return question_members(questions.take(np.array(chosen, dtype=np.int64)))


def workspaces_around(*places: Path) -> list[Workspace]:
    """The workspaces at or above these folders, each once: none if somebody works outside of any."""
    found = {}
    for place in places:
        try:
            workspace = open_workspace(place)
        except UsageProblem:
            continue
        found[workspace.root] = workspace
    return list(found.values())


def outside_looks(root: Path, entries: Iterable[Entry], present: Life) -> list[str]:
    """The outside looks that a judged document has to name: at its held-out questions, before its verdict.

    A look after the verdict changed neither the promise nor the run; every result can be read by then, and a later
    document on these questions names it.

    Args:
        root: the ledger's folder.
        entries: the ledger's entries.
        present: the document's life, up to its verdict.
    """
    assert present.lock is not None
    assert present.verdict is not None
    lock = present.lock.payload
    wanted = frozenset(read_question_set(root, lock["heldout_set"]))
    lines = []
    for entry in entries:
        if entry.kind != KIND or entry.sequence >= present.verdict.sequence:
            continue
        if SET in entry.payload:
            touched = not wanted.isdisjoint(read_question_set(root, entry.payload[SET]))
        else:  # entries of the first version name the corpus only
            touched = entry.payload.get("corpus") == lock["benchmark"]["corpus"]
        if touched:
            when = "before the lock" if entry.sequence < present.lock.sequence else "after the lock"
            lines.append(f"{entry.payload['what']}, recorded {entry.time}, {when}")
    return lines
