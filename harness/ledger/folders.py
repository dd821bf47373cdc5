"""Folders that are there whole or not at all, whatever stops the process."""

from __future__ import annotations

import contextlib
import errno
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from harness.ledger.durable import make_folder, reporting

PARTIAL = ".partial-"
"""How the names of unfinished folders begin."""


@contextlib.contextmanager
def whole_folder(final: Path) -> Iterator[Path]:
    """Fill a new folder under a temporary name beside ``final``, which it becomes at the end.

    An error in the body leaves nothing behind. What killed processes left is removed by the next one: they hold a
    lock that the system gives back when they die.

    Raises:
        EnvironmentProblem: no permission, no space, or ``final`` is there already.
    """
    make_folder(final.parent)
    remove_dead(final.parent)
    with reporting("could not make the folder", final):
        partial, lock = _claimed(final.parent)
        try:
            partial.mkdir()
            yield partial
            if final.exists():
                raise FileExistsError(errno.EEXIST, "it is there already")
            partial.rename(final)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
            Path(lock.lock_file).unlink(missing_ok=True)
            lock.release()


def remove_dead(parent: Path) -> None:
    """Remove unfinished folders whose process is gone; harmless to call at any time."""
    for marker in parent.glob(f"{PARTIAL}*.lock"):
        lock = FileLock(marker)
        with contextlib.suppress(Timeout, OSError):
            lock.acquire(timeout=0)
            shutil.rmtree(marker.with_suffix(""), ignore_errors=True)
            marker.unlink(missing_ok=True)
            lock.release()


def _claimed(parent: Path) -> tuple[Path, FileLock]:
    """A name of our own and the lock that says so; taken before the folder, so that it never stands unguarded."""
    while True:
        partial = parent / f"{PARTIAL}{secrets.token_hex(8)}"
        lock = FileLock(partial.with_name(f"{partial.name}.lock"))
        with contextlib.suppress(Timeout):  # somebody tidied up between the lock file's making and its locking
            lock.acquire(timeout=0)
            return partial, lock
