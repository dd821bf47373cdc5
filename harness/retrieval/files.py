"""Files that a configuration names: recipes, runs, vectors. Paths are relative to the workspace."""

from __future__ import annotations

import errno
from pathlib import Path

from harness.errors import EnvironmentProblem, UsageProblem

_below: list[Path] = []


def look_below(workspace: Path) -> None:
    """From now on, for this process, relative paths are those of files below ``workspace``, or else below here."""
    _below[:] = [workspace.resolve()]


def root() -> Path:
    """The workspace, or the current folder where none was opened."""
    return _below[0] if _below else Path.cwd()


def find(name: str, what: str) -> Path:
    """The file called ``name``.

    Args:
        name: a path, absolute or relative to the workspace or the current folder; the workspace comes first.
        what: what the file should be, for messages.

    Raises:
        UsageProblem: there is no such file.
    """
    for place in _places(name):
        if _is_file(place):
            return place
    raise UsageProblem(f"no such file: {name}", where=str(root()), allowed=what, fix="give a path from the workspace")


def read(name: str, what: str) -> bytes:
    """The bytes of the file called ``name``.

    Raises:
        UsageProblem: there is no such file.
        EnvironmentProblem: it may not be read.
    """
    path = find(name, what)
    try:
        return path.read_bytes()
    except OSError as error:
        raise EnvironmentProblem(f"cannot be read: {error.strerror}", where=str(path), fix="check the file") from None


def is_there(name: str) -> bool:
    """Whether `find` finds a file of this name."""
    return any(map(_is_file, _places(name)))


def _places(name: str) -> tuple[Path, Path]:
    return root() / name, Path(name)


def _is_file(place: Path) -> bool:
    try:
        return place.is_file()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # a program that stands in a command as one word
            return False
        raise
