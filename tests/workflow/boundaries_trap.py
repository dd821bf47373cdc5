"""Stops real processes at their boundaries: the kernel asks a supervisor before every such call (Linux, x86-64).

A child puts a seccomp filter on itself that hands its boundary calls to whoever holds the listening end (seccomp user
notification, Linux 5.5); the call waits meanwhile. The supervisor lets it pass, answers with an error in its place, or
kills the process, which then never made the call. Only boundary calls are handed over, so that nothing else slows.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import signal
import socket
import struct
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from boundaries import CREATING, NAMELESS, WORD_OF, normal

NUMBERS = {
    1: "write", 2: "open", 18: "pwrite64", 20: "writev", 40: "sendfile", 74: "fsync", 75: "fdatasync", 76: "truncate",
    77: "ftruncate", 82: "rename", 83: "mkdir", 84: "rmdir", 85: "creat", 86: "link", 87: "unlink", 88: "symlink",
    257: "openat", 258: "mkdirat", 263: "unlinkat", 264: "renameat", 265: "linkat", 266: "symlinkat", 296: "pwritev",
    316: "renameat2", 326: "copy_file_range",
}  # fmt: skip
# where a call's path stands among its arguments, and its folder's handle before it (None: the working folder)
_PATHS = {
    "open": (None, 0), "creat": (None, 0), "mkdir": (None, 0), "unlink": (None, 0), "rmdir": (None, 0),
    "truncate": (None, 0), "rename": (None, 1), "link": (None, 1), "symlink": (None, 1), "openat": (0, 1),
    "mkdirat": (0, 1), "unlinkat": (0, 1), "renameat": (2, 3), "renameat2": (2, 3), "linkat": (2, 3),
    "symlinkat": (1, 2),
}  # fmt: skip
_FLAGS = {2: 1, 257: 2}  # of opening calls
_HANDLES = {"copy_file_range": 2}  # others have it first

_AUDIT_X86_64, _SECCOMP, _SET_FILTER, _NEW_LISTENER = 0xC000003E, 317, 1, 1 << 3
_ALLOW, _ASK = 0x7FFF0000, 0x7FC00000
_RECEIVE, _ANSWER, _VALID, _CONTINUE = 0xC0502100, 0xC0182101, 0x40082102, 1
_REQUEST, _REPLY = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
_NO_NEW_PRIVILEGES = 38
_AT_FDCWD = -100


def obstacle() -> str:
    """Why processes cannot be stopped here; empty if they can."""
    if platform.system() != "Linux" or platform.machine() != "x86_64":
        return "the numbers of system calls are known for Linux on x86-64 only"
    sizes = (ctypes.c_uint16 * 3)()
    if _libc().syscall(_SECCOMP, 3, 0, ctypes.byref(sizes)) != 0:
        return "this kernel, or the container, has no seccomp user notification"
    return ""


def _libc() -> Any:
    return ctypes.CDLL(None, use_errno=True)


def hand_over(channel: socket.socket) -> None:
    """From now on this process asks the other end of ``channel`` before every boundary call."""
    program = _program()
    code = (ctypes.c_char * len(program)).from_buffer_copy(program)
    header = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = _libc()
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    listener = libc.syscall(_SECCOMP, _SET_FILTER, _NEW_LISTENER, ctypes.c_char_p(header))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    socket.send_fds(channel, [b"x"], [listener])  # sendmsg, which is not filtered
    os.close(listener)
    channel.close()


def _program() -> bytes:
    """The filter in classic BPF: other calls pass, and so do opens that neither create nor cut."""
    load, equal, bits, give = 0x20, 0x15, 0x45, 0x06
    lines: list[tuple[int, int, int, int]] = [(load, 0, 0, 4), (equal, 1, 0, _AUDIT_X86_64), (give, 0, 0, _ALLOW),
                                              (load, 0, 0, 0)]  # fmt: skip
    for number in NUMBERS:
        if number in _FLAGS:
            lines += [(equal, 0, 4, number), (load, 0, 0, 16 + 8 * _FLAGS[number]), (bits, 0, 1, CREATING),
                      (give, 0, 0, _ASK), (give, 0, 0, _ALLOW)]  # fmt: skip
        else:
            lines += [(equal, 0, 1, number), (give, 0, 0, _ASK)]
    lines.append((give, 0, 0, _ALLOW))
    return b"".join(struct.pack("HBBI", *line) for line in lines)


@dataclass
class Watched:
    """One child and what shall happen to it.

    Attributes:
        pid: the process.
        root, state: the folders whose boundaries count.
        at: number of the boundary, from 0, at which something happens; None for never.
        signal: sent then, before the call is made.
        error: what the call answers instead of being made.
        lasting: that error is given to every later boundary of this kind too (``write``), or to this one only.
        listener: the kernel's end.
        seen: the boundaries so far.
    """

    pid: int
    root: Path
    state: Path
    at: int | None = None
    signal: int | None = None
    error: int | None = None
    lasting: bool = False
    listener: int = -1
    seen: list[str] = field(default_factory=list)

    def answer(self) -> None:
        """Receive one question and answer it."""
        request = bytearray(_REQUEST.size)
        try:
            fcntl.ioctl(self.listener, _RECEIVE, request)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EINTR):  # the process died, or a signal took the call back
                return
            raise
        identity, thread, _, number, _, _, *arguments = _REQUEST.unpack(request)
        said, value, flags = 0, 0, _CONTINUE
        name = _name(thread, NUMBERS[number], arguments, self)
        if name is not None:
            place = len(self.seen)
            self.seen.append(name)
            if place == self.at and self.signal is not None:
                os.kill(self.pid, self.signal)
                if self.signal == signal.SIGKILL or self._taken_back(identity):
                    return
            if self.error is not None and self.at is not None and (
                place == self.at or (self.lasting and place > self.at and not name.startswith("unlink"))
            ):  # fmt: skip
                said, flags = -self.error, 0
        try:
            fcntl.ioctl(self.listener, _ANSWER, _REPLY.pack(identity, value, said, flags))
        except OSError as error:
            if error.errno != errno.ENOENT:  # taken back by a signal meanwhile
                raise

    def _taken_back(self, identity: int) -> bool:
        """Whether the signal interrupted the waiting call, as it does unless another thread takes the signal."""
        for _ in range(200):
            try:
                fcntl.ioctl(self.listener, _VALID, struct.pack("=Q", identity))
            except OSError:
                return True
            time.sleep(0.001)
        return False


def _name(thread: int, call: str, arguments: list[int], watched: Watched) -> str | None:
    """The boundary that this call is; None if it is none, or would fail anyway."""
    try:
        path = _path(thread, call, arguments)
    except OSError:
        return None
    word = WORD_OF[call]
    name = normal(word, path, watched.root, watched.state)
    if name is None:
        return None
    if word == "create":
        number = next(key for key, value in NUMBERS.items() if value == call)
        flags = arguments[_FLAGS[number]] if number in _FLAGS else CREATING
        if flags & NAMELESS or (flags & os.O_EXCL and os.path.lexists(path)):
            return None
    if not os.path.isdir(os.path.dirname(path)):
        return None
    if (word in ("mkdir", "link") and os.path.lexists(path)) or (word == "unlink" and not os.path.lexists(path)):
        return None
    return name


def _path(thread: int, call: str, arguments: list[int]) -> str:
    if call not in _PATHS:
        return os.readlink(f"/proc/{thread}/fd/{arguments[_HANDLES.get(call, 0)]}").removesuffix(" (deleted)")
    folder, place = _PATHS[call]
    with open(f"/proc/{thread}/mem", "rb", buffering=0) as memory:
        memory.seek(arguments[place])
        path = os.fsdecode(memory.read(4096).partition(b"\0")[0])
    handle = _AT_FDCWD if folder is None else ctypes.c_int(arguments[folder]).value
    base = os.readlink(f"/proc/{thread}/cwd" if handle == _AT_FDCWD else f"/proc/{thread}/fd/{handle}")
    return os.path.normpath(os.path.join(base, path))
