"""Published data files: where they are, and how one comes onto this machine, whole or not at all.

Nothing goes to the disk before its digest is right, and then in one step: a reader finds the file or none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from harness.benchmarks.download import Arrived, Download, Patience, Published, check_address
from harness.digest import file_sha256
from harness.errors import EnvironmentProblem, UsageProblem
from harness.ledger import durable

LOCOMO = Published(
    name="locomo10.json",
    variant="snap-research/locomo@3eb6f2c",
    # a commit, not a branch: the address cannot come to mean another file
    url="https://raw.githubusercontent.com/snap-research/locomo/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
    sha256="79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
    size=2_805_274,
    license="CC BY-NC 4.0",
    use="harness data import locomo FILE",
)


@dataclass(frozen=True)
class Fetched:
    """The file, and whether it was downloaded just now (or was there already)."""

    path: Path
    downloaded: bool


Counting = Callable[[str, int, str], AbstractContextManager[Arrived]]
"""Begins to count: what is done, how many there are, and of what."""


@contextlib.contextmanager
def _uncounted(what: str, total: int, unit: str) -> Iterator[Arrived]:  # noqa: ARG001
    yield lambda _: None


def place(published: Published, given: Path) -> Path:
    """Where the file goes: into ``given`` if that is a folder, or is called as no file of this kind would be."""
    if given.is_dir() or not (given.is_file() or given.suffix == Path(published.name).suffix):
        return given / published.name
    return given


def fetch(
    published: Published,
    path: Path,
    *,
    url: str = "",
    patience: Patience | None = None,
    counting: Counting = _uncounted,
) -> Fetched:
    """Download the file to ``path``, unless it is there already: then nothing is asked of the network.

    Args:
        published: the file.
        path: where it goes; missing folders above it are made.
        url: another address of the same bytes.
        patience: when to give up.
        counting: shows how far the download is.

    Raises:
        UsageProblem: another file has this name (it is never overwritten), or no such address can be used.
        EnvironmentProblem: no connection, no answer, no whole file, no permission, or no space.
        IntegrityProblem: what is at the address is not the published file. Nothing is kept of it.
    """
    address = check_address(url or published.url)
    if is_there(published, path):
        return Fetched(path, downloaded=False)
    # a download that cannot be kept is not begun, and one that fails leaves no folder
    durable.try_writing(next(folder for folder in path.parents if folder.exists()))
    with counting(f"downloading {published.name}", published.size, "bytes") as arrived:
        data = Download(published, address, path, patience or Patience(), arrived).data()
    durable.make_folder(path.parent)
    if not durable.publish(path.parent, path.name, data) and not is_there(published, path):
        # a link that leads nowhere, or a file that another process made and took away again
        what = "something that is no file has this name"
        raise EnvironmentProblem(what, where=str(path), fix="remove it, or name another place")
    return Fetched(path, downloaded=True)


def is_there(published: Published, path: Path) -> bool:
    """Whether the file is at ``path`` already, with the right content.

    Raises:
        UsageProblem: something else has this name.
        EnvironmentProblem: it may not be read.
    """
    if path.is_dir():
        raise UsageProblem("this is a folder", where=str(path), allowed="a file", fix="give another name")
    try:
        size = path.stat().st_size
        # the size first: the file may be any, and long
        found = file_sha256(path) if size == published.size else ""
    except FileNotFoundError:
        return False
    except OSError as error:
        raise EnvironmentProblem(f"cannot be read: {error.strerror}", where=str(path), fix="check the path") from None
    if found == published.sha256:
        return True
    raise UsageProblem(
        f"another file has this name: {size} bytes" + (f", sha256 {found}" if found else ""),
        where=str(path),
        allowed=f"{published.size} bytes, sha256 {published.sha256}",
        fix=f"{published.command(path)} says whether it can be used; or move it away, or name another place",
    )
