"""What may not be committed: frozen retrieval code, changed promises and results, a ledger that lost something.

All read git's index. Which documents are open is asked of the staged ledger and of the one in the work tree
together, for a lock binds from the moment at which it is recorded and not from its commit.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from harness.errors import HarnessError
from harness.ledger.entries import Entry
from harness.ledger.looks import read_question_set
from harness.ledger.state import Life, Stage, lives
from harness.reporting.page import HTML, MARKDOWN, render
from harness.retrieval.fingerprint import code_digest
from harness.workflow.full import check_unchanged
from harness.workflow.publish import MIRRORED, assemble
from harness.workflow.staged import Staged, Tree
from harness.workflow.workspace import HEAD, PREREGISTRATIONS, Workspace

PACKAGE = "harness/retrieval"
"""Where the retrieval package lies in a clone, from the repository's top."""

_LEDGER = f"{PREREGISTRATIONS}/ledger/"
_FULL = "runs/full/"
_OPEN = (Stage.LOCKED, Stage.SEALED, Stage.CLAIMED)
_INSIDE = re.compile(rf"((?:.*/)?){PREREGISTRATIONS}/(?:ledger/[^/]+\.json|[^/]+\.yaml)")


class Refusal(NamedTuple):
    """One reason why something may not be committed."""

    where: str
    what: str
    fix: str


def frozen_retrieval(staged: Staged, package: str = PACKAGE, beside: Workspace | None = None) -> list[Refusal]:
    """While a document is open, staged retrieval code must be the code with which it was locked.

    Args:
        staged: what is about to be committed.
        package: the retrieval package's folder, from the repository's top.
        beside: a workspace whose documents count too, wherever it lies.
    """
    folder = f"{package.strip('/')}/"
    changed = sorted(path for path in staged.changed() if path.startswith(folder) and path.endswith(".py"))
    if not changed:
        return []
    with tempfile.TemporaryDirectory() as name:
        staged.write([folder], Path(name))
        (Path(name) / folder).mkdir(parents=True, exist_ok=True)
        code = code_digest(Path(name) / folder)
    refusals: list[Refusal] = []
    held = [
        present.identifier
        for present in _all_lives(staged, beside, refusals)
        if present.lock is not None and present.stage in _OPEN and present.lock.payload["code"] != code
    ]
    if held:
        names = ", ".join(sorted(held))
        what = f"retrieval code is frozen while a document is open, and {names} {'is' if len(held) == 1 else 'are'}"
        fix = f"git restore --staged {folder}; finish with harness full, or give up with harness prereg abandon"
        refusals += [Refusal(path, what, fix) for path in changed]
    return refusals


def unchanged_documents(staged: Staged) -> list[Refusal]:
    """Locked documents must mean what was locked, and the files of sealed and judged runs be what was recorded.

    A comment, a line end or another spelling of a number may change in a document, as its digest is that of its
    meaning; in run files and in the ledger every byte counts.
    """
    refusals: list[Refusal] = []
    for prefix in _workspaces(staged):
        with _view(staged, prefix) as workspace, _mending(workspace, prefix, refusals):
            own = {entry.hash for entry in _staged_only(staged, prefix)}
            for present in lives(workspace.ledger.read(missing_ok=True)).values():
                if present.stage in (*_OPEN, Stage.JUDGED):
                    refusals += _document(staged, prefix, workspace, present, own)
                    refusals += _run_files(staged, prefix, workspace, present)
    return refusals + _lost_entries(staged)


def whole_ledger(staged: Staged) -> list[Refusal]:
    """Every staged ledger must hold together, contain what run folders remember, and have lost nothing."""
    refusals: list[Refusal] = []
    for prefix in _workspaces(staged):
        with _view(staged, prefix, work_tree=False) as workspace, _mending(workspace, prefix, refusals):
            for entry in workspace.entries():
                # a lock names the set that it holds out, an outside look the one that was seen
                for name in {"heldout_set", "question_set"} & entry.payload.keys():
                    read_question_set(workspace.ledger.root, str(entry.payload[name]))
            lives(workspace.entries())
    return refusals + _lost_entries(staged)


HOOKS: dict[str, Callable[..., list[Refusal]]] = {
    "retrieval": frozen_retrieval,
    "documents": unchanged_documents,
    "ledger": whole_ledger,
}


def _document(staged: Staged, prefix: str, workspace: Workspace, present: Life, own: set[str]) -> list[Refusal]:
    assert present.lock is not None
    path = f"{prefix}{PREREGISTRATIONS}/{present.identifier}.yaml"
    # a lock that is not staged yet says nothing of an older draft that is not touched either
    if present.lock.hash in own or staged.index.get(path) != staged.head.get(path):
        try:
            check_unchanged(workspace, present.lock)
        except HarnessError as error:
            what = error.what.replace(f"{workspace.root}/", prefix)
            return [Refusal(path, what, f"stage {path} as it was locked, for instance from the commit of the lock")]
    return []


def _run_files(staged: Staged, prefix: str, workspace: Workspace, present: Life) -> list[Refusal]:
    folder = f"{prefix}{_FULL}{present.identifier}/"
    recorded = {
        name: digest
        for entry in (present.seal, present.verdict)
        if entry is not None
        for name, digest in entry.payload["files"].items()
    }
    refusals = []
    for path in sorted(path for path in {*staged.index, *staged.head} if path.startswith(folder)):
        name = path[len(folder) :]
        file = workspace.full_run(present.identifier) / name
        if path not in staged.index:
            if name in recorded or present.verdict is not None:
                refusals.append(Refusal(path, "a file of a judged run is deleted", f"git restore --staged {path}"))
        elif name in recorded:
            if hashlib.sha256(file.read_bytes()).hexdigest() != recorded[name]:
                what = "is not what the ledger recorded of this run"
                refusals.append(Refusal(path, what, f"git checkout HEAD -- {path}, or the copy that was recorded"))
        elif present.verdict is not None and _rewritten(staged, path, name, workspace, present):
            fix = f"harness report {present.identifier} writes the page; nothing else in a judged run changes"
            refusals.append(Refusal(path, "a file of a judged run is changed", fix))
    return refusals


def _rewritten(staged: Staged, path: str, name: str, workspace: Workspace, present: Life) -> bool:
    """Whether a file that the ledger has no digest of was changed by hand."""
    if name in (MIRRORED, HEAD) or staged.index[path] == staged.head.get(path, staged.index[path]):
        return False  # MLflow may be written again; what is wrong with a head shows in the ledger
    if name not in (HTML, MARKDOWN):
        return True
    try:
        page = render(assemble(workspace, present))[name]
    except (HarnessError, OSError):
        return True  # what it is made of is not all staged
    return (workspace.full_run(present.identifier) / name).read_bytes() != page.encode()


def _lost_entries(staged: Staged) -> list[Refusal]:
    """What a parent's ledger has and the staged one has not; a whole ledger may move with its workspace."""
    ledgers = {prefix: _below(staged.index, prefix + _LEDGER) for prefix in _workspaces(staged)}
    refusals = []
    for parent in staged.parents:
        for prefix, now in ledgers.items():
            before = _below(parent, prefix + _LEDGER)
            if any(before.items() <= other.items() for other in ledgers.values()):
                continue
            for name in sorted(name for name in before if now.get(name) != before[name]):
                what = "a ledger entry is changed" if name in now else "a ledger entry is deleted"
                path = f"{prefix}{_LEDGER}{name}"
                fix = f"git checkout HEAD -- {path}" if parent is staged.head else "keep the files of both branches"
                refusals.append(Refusal(path, what, fix))
    return list(dict.fromkeys(refusals))


def _below(tree: Tree, folder: str) -> dict[str, str]:
    return {path[len(folder) :]: content for path, content in tree.items() if path.startswith(folder)}


def _workspaces(staged: Staged) -> list[str]:
    """Folders that are workspaces in the index or in a parent, each ending in ``/`` or empty."""
    matches = (_INSIDE.fullmatch(path) for tree in (staged.index, *staged.parents) for path in tree)
    return sorted({match[1] for match in matches if match})


def _all_lives(staged: Staged, beside: Workspace | None, refusals: list[Refusal]) -> Iterator[Life]:
    seen = set()
    for prefix in _workspaces(staged):
        seen.add((staged.root / prefix).resolve())
        with _view(staged, prefix) as workspace, _mending(workspace, prefix, refusals):
            yield from lives(workspace.ledger.read(missing_ok=True)).values()
    if beside is not None and beside.root.resolve() not in seen:
        yield from lives(beside.entries()).values()


def _staged_only(staged: Staged, prefix: str) -> tuple[Entry, ...]:
    with _view(staged, prefix, work_tree=False) as workspace:
        return workspace.ledger.read(missing_ok=True)


@contextlib.contextmanager
def _view(staged: Staged, prefix: str, *, work_tree: bool = True) -> Iterator[Workspace]:
    """A staged workspace, written out; with the entries that the work tree alone has, unless they are not wanted."""
    with tempfile.TemporaryDirectory() as name:
        workspace = Workspace(Path(name))
        staged.write([f"{PREREGISTRATIONS}/", _FULL], workspace.root, below=prefix)
        if work_tree:
            here = staged.root / prefix / _LEDGER
            for path in here.rglob("*.json"):
                target = workspace.ledger.root / path.relative_to(here)
                if not target.exists():
                    target.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, target)
        yield workspace


@contextlib.contextmanager
def _mending(workspace: Workspace, prefix: str, refusals: list[Refusal]) -> Iterator[None]:
    """Turn an error into a refusal that names the repository's files."""
    try:
        yield
    except HarnessError as error:
        text = (part.replace(f"{workspace.root}/", prefix) for part in (error.where, error.what, error.fix))
        refusals.append(Refusal(*text))
