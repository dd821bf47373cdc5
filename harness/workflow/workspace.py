"""The working folders, and what of the machine goes on record."""

from __future__ import annotations

import contextlib
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from harness.benchmarks.library import Library, find
from harness.digest import digest_json
from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem
from harness.ledger import durable
from harness.ledger.entries import Entry, Ledger
from harness.ledger.head import head, missing, read_witness, update_user_witness, user_witness_path, write_witness
from harness.preregistration.model import IDENTIFIER
from harness.retrieval import files

PREREGISTRATIONS = "preregistrations"
HEAD = "head.json"

_FOLDERS = ("data", "experiments", PREREGISTRATIONS, "runs", "conf")

_GITIGNORE = """\
# data is never committed; dev runs and the MLflow mirror can be made again
/data/
/runs/*
!/runs/full/
/preregistrations/.claims/
/preregistrations/ledger/.lock
"""

_GITATTRIBUTES = """\
# digests are over bytes: git may not change line ends here
/preregistrations/** -text
/runs/full/** -text
"""


@dataclass(frozen=True)
class Workspace:
    """A folder with data, experiments, preregistrations and runs."""

    root: Path

    @property
    def data(self) -> Path:
        """Imported benchmarks."""
        return self.root / "data"

    @property
    def experiments(self) -> Path:
        """One folder an experiment, with its frozen dev result."""
        return self.root / "experiments"

    @property
    def documents(self) -> Path:
        """Preregistration documents."""
        return self.root / PREREGISTRATIONS

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return Ledger(self.documents / "ledger")

    @property
    def claims(self) -> Path:
        """Local claim tokens."""
        return self.documents / ".claims"

    @property
    def runs(self) -> Path:
        """Everything that runs write."""
        return self.root / "runs"

    @property
    def dev_runs(self) -> Path:
        """Dev runs, one folder each."""
        return self.runs / "dev"

    @property
    def store(self) -> Path:
        """The embedded MLflow store."""
        return self.runs / "mlflow.db"

    def full_run(self, identifier: str) -> Path:
        """Folder of a document's one full run."""
        return self.runs / "full" / identifier

    def document(self, identifier: str) -> Path:
        """Path of a document, given its id or its path.

        Raises:
            UsageProblem: neither is there.
        """
        if identifier.endswith((".yaml", ".yml")):
            given = Path(identifier)
            if given.parent.resolve() != self.documents.resolve():
                what = f"{identifier} is not in {self.documents}"
                raise UsageProblem(what, fix="move the document there; the ledger covers that folder only")
            identifier = given.stem
        check_identifier(identifier)
        return self.documents / f"{identifier}.yaml"

    def benchmark(self, name: str) -> Library:
        """An imported benchmark by name."""
        return find(self.data, name)

    def record(self, kind: str, payload: dict[str, Any]) -> Entry:
        """Append an entry to the ledger, with what git and the machine say of themselves, and witness it."""
        state = git_state(self.root)
        entry = self.ledger.append(kind, payload, git=state, environment=environment_digest(), time=now())
        self.witness(payload.get("id"))
        return entry

    def witness(self, identifier: str | None = None) -> None:
        """Put the ledger's head into the user's state folder, and into the run folder of a document.

        From there it shows if an entry is ever missing. A command that goes on after a kill calls this too: the kill
        may have come between an entry and its witness.
        """
        entries = self.ledger.read()
        if identifier is not None:
            write_witness(self.full_run(identifier) / HEAD, head(entries))
        update_user_witness(entries)

    def entries(self) -> tuple[Entry, ...]:
        """All ledger entries, checked; none if nothing was ever locked here.

        Raises:
            IntegrityProblem: the ledger, or an entry that a run folder remembers, is gone.
        """
        witnesses = sorted((self.runs / "full").glob(f"*/{HEAD}"))
        entries = self.ledger.read(missing_ok=not witnesses)
        for path in witnesses:
            _refuse_missing(entries, path)
        return entries

    def complete_entries(self) -> tuple[Entry, ...]:
        """As `entries`, held against this user's own witness too; what reserves or spends a look asks this.

        Raises:
            IntegrityProblem: an entry that this user once recorded is gone, perhaps by restoring a copy.
        """
        entries = self.entries()
        if entries:
            # a home that is not there or cannot be read remembers nothing: `unwitnessed` says so in the end
            with contextlib.suppress(EnvironmentProblem):
                _refuse_missing(entries, user_witness_path(entries))
        return entries


def _refuse_missing(entries: tuple[Entry, ...], path: Path) -> None:
    witness = read_witness(path)
    lost = missing(entries, witness) if witness else []
    if lost:
        raise IntegrityProblem(
            f"the ledger has lost entries: {lost[0]}",
            where=str(path),
            fix="bring them back, from git or from the copy of this workspace in which they were recorded",
        )


def check_identifier(identifier: str) -> None:
    """Refuse an id that could be a path or that a file system could misread."""
    if not IDENTIFIER.fullmatch(identifier):
        allowed = "lower-case letters, digits and hyphens, 64 at most"
        plain = re.sub(r"[^a-z0-9]+", "-", identifier.lower()).strip("-")[:64]
        raise UsageProblem(f"{identifier!r} is not an id", allowed=allowed, fix=f"such as {plain or 'raw-only'}")


def open_workspace(start: Path) -> Workspace:
    """The workspace at ``start`` or in the nearest folder above it.

    Raises:
        UsageProblem: there is none.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / PREREGISTRATIONS).is_dir():
            files.look_below(folder)
            return Workspace(folder)
    what = f"no workspace here: {start} and the folders above it have no {PREREGISTRATIONS}/"
    raise UsageProblem(what, fix="run harness init in an empty folder, or give --workspace DIR")


def init_workspace(root: Path) -> tuple[Workspace, list[Path]]:
    """Lay the working folders, leaving alone what is there already; return what was made.

    Raises:
        EnvironmentProblem: the folder cannot be written.
    """
    made = []
    for name in _FOLDERS:
        if not (root / name).is_dir():
            durable.make_folder(root / name)
            made.append(root / name)
    for name, text in ((".gitignore", _GITIGNORE), (".gitattributes", _GITATTRIBUTES)):
        # whole or not at all: half of it, left alone by the next `init`, would let data be committed
        if not (root / name).exists() and durable.publish(root, name, text.encode()):
            made.append(root / name)
    return Workspace(root), made


def check_writable(folder: Path) -> None:
    """Make sure that ``folder`` can be made and written, before any work is done.

    Raises:
        EnvironmentProblem: it cannot.
    """
    with durable.reporting("the folder cannot be written", folder):
        folder.mkdir(parents=True, exist_ok=True)
    durable.try_writing(folder)


def now() -> str:
    """The time with its offset, to the second."""
    return datetime.now().astimezone().isoformat(timespec="seconds")


def git_state(root: Path) -> dict[str, Any]:
    """The commit, and whether the tree differs from it; nulls where there is no git."""
    commit = _git(root, "rev-parse", "HEAD")
    status = _git(root, "status", "--porcelain") if commit is not None else None
    return {"commit": commit, "dirty": None if status is None else bool(status)}


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            # a look at the state takes no lock: killed, git would leave one that stops the user's next commit
            ["git", "--no-optional-locks", "-C", str(root), *arguments],  # noqa: S607 - the user's own git
            capture_output=True, text=True, timeout=20, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def environment() -> dict[str, str]:
    """Python, platform and the versions of what can change a number."""
    names = ("retrieval-harness", "numpy", "scipy", "rank-bm25", "faiss-cpu", "pyarrow")
    versions = {name: metadata.version(name) for name in names}
    return {"python": sys.version.split()[0], "machine": platform.machine(), "system": platform.system(), **versions}


def environment_digest() -> str:
    """Digest of `environment`."""
    return digest_json("environment/1", environment())
