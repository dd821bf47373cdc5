"""The one full run: rank, seal, judge, ledger, then page and mirror. Stopped anywhere, it goes on from there."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from harness.benchmarks.library import Library
from harness.digest import canonical_json
from harness.errors import IntegrityProblem, RunUsed, UsageProblem
from harness.ledger import durable
from harness.ledger.claim import holder_of, take
from harness.ledger.entries import Entry
from harness.ledger.head import unwitnessed
from harness.ledger.looks import read_question_set
from harness.ledger.state import Life, Stage, life
from harness.preregistration.document import Preregistration, load_document
from harness.retrieval.documents import describe
from harness.retrieval.fingerprint import code_digest, fingerprint
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Configured, Store
from harness.workflow import runfiles
from harness.workflow.judge import judge_run
from harness.workflow.measured import as_read
from harness.workflow.outside import adopt_looks, remember_look
from harness.workflow.progress import SILENT, Progress
from harness.workflow.publish import is_published, publish
from harness.workflow.ranking import rank_counted
from harness.workflow.workspace import Workspace, check_writable, environment


def full_run(workspace: Workspace, identifier: str, progress: Progress = SILENT) -> Entry:
    """Make the one full run of a locked document, or finish one that was interrupted.

    Returns:
        The verdict entry.

    Raises:
        UsageProblem: the document is not locked.
        RunUsed: the run was made before, or another process is making it.
        IntegrityProblem: document, data or retrieval code are not what was locked.
        EnvironmentProblem: something cannot be written; found before any work where possible.
    """
    path = workspace.document(identifier)
    present = life(workspace.complete_entries(), path.stem)
    if present.lock is None:
        what = f"{path.stem} is not locked"
        fix = f"harness prereg lock {path.stem}" if path.exists() else "harness prereg list shows the documents"
        raise UsageProblem(what, where=str(path), allowed="a locked document", fix=fix)
    if present.stage is Stage.ABANDONED:
        raise UsageProblem(f"{path.stem} was abandoned", fix="write a new document under a new id")
    folder = workspace.full_run(path.stem)
    check_writable(folder)
    workspace.ledger.check_writable()
    with _only_process(folder):
        # read again: another process may have finished between the first look and the lock
        return _run(workspace, life(workspace.entries(), path.stem), folder, progress)


def _run(workspace: Workspace, present: Life, folder: Path, progress: Progress) -> Entry:
    assert present.lock is not None
    if present.verdict is not None:
        if is_published(workspace, present.identifier):
            state = present.verdict.payload["state"]
            what = f"the one full run of {present.identifier} was made at {present.verdict.time}: {state}"
            fix = f"harness verdict {present.identifier} shows it; another run needs a new document"
            raise RunUsed(what, fix=fix)
        workspace.witness(present.identifier)
        publish(workspace, present.identifier, progress)
        return present.verdict
    document = check_unchanged(workspace, present.lock)
    library = workspace.benchmark(document.model.benchmark.name)
    check_data(library, present.lock)
    if present.seal is None:
        check_code(document, present.lock)
        _rank_and_seal(workspace, present.lock, document, library, folder, progress)
        present = life(workspace.entries(), present.identifier)
    assert present.lock is not None
    assert present.seal is not None
    claim = present.claim or _claim(workspace, present.lock, present.seal)
    progress("judging")
    heldout = read_question_set(workspace.ledger.root, present.lock.payload["heldout_set"])
    adopt_looks(workspace, library, progress, lock=present.lock)
    # before the judge, who writes scores: a kill in between is no way to see them unnoticed
    kept = remember_look(f"the full run of {document.id} in another workspace", heldout, entry=claim.hash)
    verdict = judge_run(workspace, document, present.lock, present.seal, claim, library, folder)
    if note := unwitnessed(workspace.entries()):
        progress(note)
    elif not kept:
        progress("this look is not kept outside of this workspace, since your state folder cannot be written")
    publish(workspace, present.identifier, progress)
    return verdict


@contextlib.contextmanager
def _only_process(folder: Path) -> Iterator[None]:
    path, holder = folder / ".running", folder / ".running-by"
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        name = "another process"
        with contextlib.suppress(OSError):  # it has not written its name yet, or is tidying up already
            name = holder.read_text(encoding="utf-8").strip()
        what = f"the full run is under way: {name}"
        raise RunUsed(what, where=str(folder), fix="wait for it; the loser of a race changes nothing") from None
    try:
        durable.replace(holder, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        for left in (holder, path):
            with contextlib.suppress(OSError):  # a file that stays tells nothing: the lock is what the system holds
                left.unlink(missing_ok=True)
        lock.release()


def check_unchanged(workspace: Workspace, lock: Entry) -> Preregistration:
    """The locked document, which must still mean what it meant.

    Raises:
        IntegrityProblem: the file was edited or removed.
    """
    identifier = lock.payload["id"]
    path = workspace.document(identifier)
    fix = f"restore it (git checkout -- preregistrations/{path.name}), or harness prereg abandon {identifier}"
    if not path.exists():
        raise IntegrityProblem("the locked document is missing", where=str(path), fix=fix)
    document = load_document(path)
    if document.digest != lock.payload["document_digest"]:
        changed = _changes(lock.payload["document"], document.canonical)
        what = f"the document was changed after its lock: {'; '.join(changed[:5])}"
        raise IntegrityProblem(what, where=str(path), fix=fix)
    return document


def _changes(locked: Any, now: Any, path: str = "") -> list[str]:
    """Every value that differs, by its place: ``claim.pass_above: locked 0.02, now 0.01``."""
    if canonical_json(locked) == canonical_json(now):
        return []
    if isinstance(locked, dict) and isinstance(now, dict):
        keys = sorted(locked.keys() | now.keys())
        return [line for key in keys for line in _changes(locked.get(key), now.get(key), f"{path}.{key}".lstrip("."))]
    if isinstance(locked, list) and isinstance(now, list) and len(locked) == len(now):
        pairs = enumerate(zip(locked, now, strict=True), start=1)
        return [line for place, (old, new) in pairs for line in _changes(old, new, f"{path} {place}")]
    old, new = (text if len(text) <= 60 else f"{text[:57]}…" for text in map(canonical_json, (locked, now)))
    return [f"{path}: locked {old}, now {new}"]


def check_data(library: Library, lock: Entry) -> None:
    """The imported benchmark must be the one that was locked.

    Raises:
        IntegrityProblem: it is another.
    """
    if library.digests["digest"] != lock.payload["benchmark"]["digest"]:
        what = f"the benchmark {library.name} is not the one that the document was locked on"
        raise IntegrityProblem(what, where=str(library.folder), fix="import the original file again")


def check_code(document: Preregistration, lock: Entry) -> None:
    """Retrieval must behave as it did at the lock.

    Raises:
        IntegrityProblem: a fingerprint or the code of the retrieval package differs.
    """
    fix = f"check out the commit of the lock ({lock.git.get('commit') or 'not recorded'}), or abandon the document"
    for role, system in (("baseline", document.baseline), ("candidate", document.candidate)):
        if fingerprint(system) != lock.payload["fingerprints"][role]:
            raise IntegrityProblem(f"the {role} {system.name} ranks differently than at the lock", fix=fix)
    if code_digest() != lock.payload["code"]:
        what = "the retrieval code was changed after the lock; it is frozen while a document is open"
        raise IntegrityProblem(what, fix=fix)


def _rank_and_seal(
    workspace: Workspace,
    lock: Entry,
    document: Preregistration,
    library: Library,
    folder: Path,
    progress: Progress,
) -> Entry:
    """Rank everything, label-free, and record the digests of the rankings."""
    questions = library.dev[0].merged(library.heldout_questions())
    store = Store(library.corpus, library.edges)
    rankings: dict[str, Ranking] = {}
    budgets = {}
    for role, system in (("baseline", document.baseline), ("candidate", document.candidate)):
        what = f"ranking with the {role}, {system.name}"
        ranking = rank_counted(system, store, questions, document.depth, progress, what)
        rankings[role] = as_read(system, ranking, store, document.tokens)
        documents = describe(rankings[role].positions.tolist(), store.corpus, store.edges, system.read_model)
        runfiles.write_ranking(folder, role, rankings[role], documents)
        budgets[role] = _budget(system, rankings[role], document.k, store, documents)
    what = "ranking once more with the baseline, which must repeat itself"
    again = rank_counted(document.baseline, store, questions, document.depth, progress, what)
    repeat = as_read(document.baseline, again, store, document.tokens)
    runfiles.write_questions(folder, questions, library.manifest["partitions"])
    durable.replace(folder / runfiles.BUDGET, canonical_json(budgets).encode() + b"\n")
    durable.replace(folder / runfiles.ENVIRONMENT, canonical_json(environment()).encode() + b"\n")
    names = (*runfiles.SEALED, runfiles.BUDGET, runfiles.ENVIRONMENT)
    payload = {
        "id": document.id,
        "lock": lock.hash,
        "files": {name: runfiles.sha256(folder / name) for name in names},
        "questions": len(questions),
        "depth": document.depth,
        "repeat": {"baseline": repeat.same_order(rankings["baseline"])},
    }
    return workspace.record("seal", payload)


def _budget(system: Configured, ranking: Ranking, k: int, store: Store, documents: Any) -> dict[str, Any]:
    from harness.evaluation.budget import read_budget

    spent = read_budget(ranking, k, store.corpus, documents)
    return {"unit": system.unit, **spent.as_mapping()}


def _claim(workspace: Workspace, lock: Entry, seal: Entry) -> Entry:
    """Take the one claim on the held-out labels, or finish taking it after a crash."""
    holder = {"process": os.getpid(), "host": socket.gethostname(), "seal": seal.hash}
    if not take(workspace.claims, lock.hash, holder):
        # we hold the run's process lock, so whoever took the token is gone: finish its work
        before = holder_of(workspace.claims, lock.hash)
        if before is None or before.get("seal") != seal.hash:
            what = "the claim on this run was taken for other rankings"
            raise RunUsed(what, where=str(workspace.claims), fix="harness verify shows what is recorded")
    return workspace.record("claim", {"id": lock.payload["id"], "lock": lock.hash, "seal": seal.hash})
