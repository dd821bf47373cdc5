"""Files that are there whole or not at all, whatever stops the process or the machine.

Content goes to a temporary name in the same folder, is forced to the disk, and only then gets its real name;
afterwards the folder itself is forced to the disk, for a name that is only in memory is lost with the power.
Whoever writes next in a folder removes what killed writers left there, so that nobody has to tidy up.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import socket
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from harness.errors import EnvironmentProblem

TEMPORARY = ".tmp-"
"""How the names of unfinished files begin; whoever finds one may ignore it."""

_OURS = re.compile(rf"{re.escape(TEMPORARY)}[0-9a-f]{{8}}-[0-9]+-[0-9a-f]+")  # machine, process, chance

LOCK_WAIT_SECONDS = 30.0
_ABANDONED_SECONDS = 3600.0  # no write takes that long, whatever machine it is made on
_POLL_SECONDS = 0.01  # a holder needs a few milliseconds, so that a coarser step would be mostly waiting

# What systems answer where a file system knows no hard links: FAT, some network and container file systems.
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})
# A folder that cannot be forced to the disk as such: the file system does it by itself or not at all.
_NO_FOLDER_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EBADF})


def publish(folder: Path, name: str, data: bytes) -> bool:
    """Give ``folder`` a new file, whole and durable, unless it has one of that name.

    Of any number of processes that publish one name at once, exactly one succeeds.

    Args:
        folder: an existing folder.
        name: name of the new file.
        data: its content.

    Returns:
        True if this call made the file, False if the name was taken (the file there is left as it is).

    Raises:
        EnvironmentProblem: no permission, no space, or the disk fails; no half-written file is left behind.
    """
    with reporting("could not write the file", folder / name):
        temporary = _write_temporary(folder, data)
        try:
            made = _link(temporary, folder / name)
            if made:
                _sync_folder(folder)
        except BaseException:
            _discard(temporary)
            raise
        # where the system refuses this, the caller is told: the next process, not this one, can clear it away
        temporary.unlink(missing_ok=True)
        return made


def replace(path: Path, data: bytes) -> None:
    """Write ``path`` anew in one step: a reader sees the old content or the new one, never a part.

    Raises:
        EnvironmentProblem: no permission, no space, or the disk fails; the old content then stays.
    """
    with reporting("could not write the file", path):
        temporary = _write_temporary(path.parent, data)
        try:
            temporary.replace(path)
        except BaseException:
            _discard(temporary)
            raise
        _sync_folder(path.parent)


def make_folder(folder: Path) -> None:
    """Make ``folder`` and its parents where they are missing, durably.

    Raises:
        EnvironmentProblem: the folder cannot be made.
    """
    with reporting("could not make the folder", folder):
        fresh = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        for place in fresh:
            _sync_folder(place.parent)


def try_writing(folder: Path) -> None:
    """Write, force out and remove a small file, to learn early whether ``folder`` takes any.

    Raises:
        EnvironmentProblem: it does not.
    """
    with reporting("the folder cannot be written", folder):
        _write_temporary(folder, b"\0" * 4096).unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what killed writers left in ``folder``; what somebody may still be writing stays."""
    for leftover in folder.glob(f"{TEMPORARY}*"):
        # the folder may be anybody's, with unfinished files of other programs
        if _OURS.fullmatch(leftover.name) and _is_abandoned(leftover):
            _discard(leftover)


@contextlib.contextmanager
def exclusive(path: Path, *, wait: float = LOCK_WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock file ``path``; the system releases it if the process dies.

    Raises:
        EnvironmentProblem: another process held it for ``wait`` seconds, or the lock file cannot be used.
    """
    lock = FileLock(path, timeout=wait, poll_interval=_POLL_SECONDS)
    with reporting("could not take the lock", path):
        try:
            lock.acquire()
        except Timeout as error:
            raise EnvironmentProblem(
                f"another process has been holding this lock for more than {wait:g} seconds",
                where=str(path),
                fix="wait until the other command has ended, or end it if it hangs; then try again",
            ) from error
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def reporting(what: str, where: Path) -> Iterator[None]:
    """Turn an ``OSError`` of the body into an EnvironmentProblem: what failed, where, and the mend."""
    try:
        yield
    except OSError as error:
        raise EnvironmentProblem(
            f"{what}: {error.strerror or error}", where=str(where), fix=_mend(error.errno)
        ) from error


def _mend(number: int | None) -> str:
    if number in (errno.ENOSPC, errno.EDQUOT):
        return "free some space there, then run the command again"
    if number in (errno.EACCES, errno.EPERM):
        return "give yourself permission there, then run the command again"
    if number == errno.EROFS:
        return "use a copy that is not read-only"
    return "check the disk and the path, then run the command again"


def _write_temporary(folder: Path, data: bytes) -> Path:
    sweep(folder)
    temporary = folder / f"{TEMPORARY}{_machine()}-{os.getpid()}-{secrets.token_hex(8)}"
    # Permissions follow the user's umask, as for any other file of a shared project.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException:
        _discard(temporary)
        raise
    return temporary


def _machine() -> str:
    return f"{zlib.crc32(socket.gethostname().encode()):08x}"


def _is_abandoned(temporary: Path) -> bool:
    machine, _, rest = temporary.name.removeprefix(TEMPORARY).partition("-")
    process = rest.partition("-")[0]
    if machine == _machine() and process.isdecimal() and not _is_alive(int(process)):
        return True
    try:
        return time.time() - temporary.stat().st_mtime > _ABANDONED_SECONDS
    except OSError:  # its writer has just finished
        return False


def _is_alive(process: int) -> bool:
    if os.name == "nt":  # asking would end it there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        return True
    return True


def _link(temporary: Path, final: Path) -> bool:
    try:
        os.link(temporary, final)
    except FileExistsError:
        # A network file system may make the link, lose the answer, ask again and then report a conflict.
        return final.exists() and final.samefile(temporary)
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        return _rename(temporary, final)
    return True


def _rename(temporary: Path, final: Path) -> bool:
    # A rename replaces silently, so that the test for the name and the rename must be one step to others.
    # Reserving the final name with an empty file needs no lock, but a crash would leave it empty.
    with exclusive(final.parent / ".lock-publish"):
        if os.path.lexists(final):
            return False
        temporary.rename(final)
    return True


def _discard(temporary: Path) -> None:
    with contextlib.suppress(OSError):  # a leftover does no harm: readers ignore it and the next writer sweeps it
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders cannot be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_FOLDER_SYNC:
            raise
    finally:
        os.close(handle)
