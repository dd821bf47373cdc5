"""What is about to be committed: git's index beside the commits that it follows."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import EnvironmentProblem, UsageProblem

Tree = Mapping[str, str]
"""Path from the repository's top, with ``/`` → mode and name of its content: equal values, equal files."""

_SUBMODULE = "160000"


@dataclass(frozen=True)
class Staged:
    """The index and its parents.

    Attributes:
        root: the top of the work tree.
        index: what would be committed.
        parents: the commits that it would follow: none for the first one, several for a merge.
    """

    root: Path
    index: Tree
    parents: tuple[Tree, ...]

    @property
    def head(self) -> Tree:
        """The commit that is checked out; empty before the first one."""
        return self.parents[0] if self.parents else {}

    def changed(self) -> set[str]:
        """Paths that differ from the commit that is checked out."""
        return {path for path in {*self.index, *self.head} if self.index.get(path) != self.head.get(path)}

    def write(self, prefixes: Iterable[str], folder: Path, *, below: str = "") -> None:
        """Write staged files as they are in the index, whatever the work tree holds.

        Args:
            prefixes: what the paths of the wanted files begin with, after ``below``.
            folder: where to write them.
            below: a folder of the repository, ending in ``/`` or empty; paths are written relative to it.
        """
        wanted = tuple(below + prefix for prefix in prefixes)
        paths = sorted(path for path in self.index if path.startswith(wanted) and self.index[path][:6] != _SUBMODULE)
        names = [self.index[path].split()[1] for path in paths]
        for path, data in zip(paths, _contents(self.root, names), strict=True):
            target = folder / path[len(below) :]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)


def read_staged(place: Path) -> Staged:
    """The index of the repository around ``place``, as a git hook sees it (git names another one in some commits).

    Raises:
        UsageProblem: there is no repository.
        EnvironmentProblem: git is missing or fails.
    """
    root = Path(os.fsdecode(_git(place, "rev-parse", "--show-toplevel", no_repository=True)).rstrip("\r\n"))
    index = {}
    for line in _records(_git(root, "ls-files", "--stage", "-z")):
        about, _, path = line.partition("\t")
        mode, name, stage = about.split()
        if stage == "0":  # others are sides of a conflict, with which nothing can be committed
            index[path] = f"{mode} {name}"
    return Staged(root, index, tuple(_tree(root, commit) for commit in _parents(root)))


def _parents(root: Path) -> list[str]:
    head = _git(root, "rev-parse", "--verify", "--quiet", "HEAD", may_fail=True).decode().strip()
    merged = root / os.fsdecode(_git(root, "rev-parse", "--git-path", "MERGE_HEAD")).rstrip("\r\n")
    others = merged.read_text(encoding="ascii").split() if merged.is_file() else []
    # before a merge that needs no hand, git names what it merges in the environment only
    others += [name.removeprefix("GITHEAD_") for name in os.environ if name.startswith("GITHEAD_")]
    return [head, *(other for other in dict.fromkeys(others) if other != head)] if head else []


def _tree(root: Path, commit: str) -> Tree:
    rows = (line.partition("\t") for line in _records(_git(root, "ls-tree", "-r", "-z", "--full-tree", commit)))
    return {path: " ".join(about.split()[::2]) for about, _, path in rows}


def _records(output: bytes) -> list[str]:
    return [os.fsdecode(line) for line in output.split(b"\0") if line]


def _contents(root: Path, names: list[str]) -> Iterable[bytes]:
    output = _git(root, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
    place = 0
    for _ in names:
        end = output.index(b"\n", place)
        size = int(output[place:end].split()[2])
        yield output[end + 1 : end + 1 + size]
        place = end + size + 2


def _git(
    place: Path, *arguments: str, given: bytes = b"", may_fail: bool = False, no_repository: bool = False
) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, no shell
            ["git", *arguments],  # noqa: S607 - the user's own git
            cwd=place, input=given, capture_output=True, check=False,
        )  # fmt: skip
    except OSError as error:
        what = f"git cannot be run ({error.strerror})"
        raise EnvironmentProblem(what, where=str(place), fix="install git; the hooks read what it has staged") from None
    if done.returncode == 0 or may_fail:
        return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ") or "no reason given"
    if no_repository:
        what = f"no git repository here, so that nothing is staged: {said}"
        raise UsageProblem(what, where=str(place), fix="run it where you commit, or git init")
    raise EnvironmentProblem(f"git {arguments[0]} failed: {said}", where=str(place), fix="mend the repository")
