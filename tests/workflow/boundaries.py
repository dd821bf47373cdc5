"""What a command does to the disk, call by call: what counts as such a boundary, and what it is called.

A boundary is a system call that changes a folder or a file of the workspace or of the user's state folder, or forces
it to the disk, and does not fail in an undisturbed run. `normal` gives it the same name in every run. MLflow's own
store is no boundary of ours.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

WORDS = {
    "create": ("open", "openat", "creat"),
    "write": ("write", "pwrite64", "writev", "pwritev", "ftruncate", "truncate", "sendfile", "copy_file_range"),
    "fsync": ("fsync", "fdatasync"),
    "rename": ("rename", "renameat", "renameat2"),
    "link": ("link", "linkat", "symlink", "symlinkat"),
    "mkdir": ("mkdir", "mkdirat"),
    "unlink": ("unlink", "unlinkat", "rmdir"),
}
"""What a boundary does → the system calls that do it."""

WORD_OF = {call: word for word, calls in WORDS.items() for call in calls}
CREATING = os.O_CREAT | os.O_TRUNC
NAMELESS = 0o20000000  # the bit of O_TMPFILE that O_DIRECTORY has not: such a file has no name that could be left

_RANDOM = (
    (re.compile(r"\.tmp-[0-9a-f]+-\d+-[0-9a-f]+"), ".tmp"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"(\d{6})-[0-9a-f]{16}"), r"\1-HASH"),
    (re.compile(r"-[0-9a-f]{16}\.json"), "-HASH.json"),
)
_LINE = re.compile(r"(?:\[pid +)?(\d+)?\]? *(\w+)\((.*)\) += (-?\d+)")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_HANDLE = re.compile(r"^\d+<([^>]*)>")


def normal(word: str, path: str, root: Path, state: Path) -> str | None:
    """``word`` and the place, without what differs from run to run; None if it is not one of ours."""
    for base, name in ((root, ""), (state, "STATE/")):
        if path == str(base) or path.startswith(f"{base}/"):
            place = name + path[len(str(base)) :].lstrip("/")
            break
    else:
        return None
    if re.search(r"(^|/)\.?mlflow\.db", place):
        return None
    for pattern, replacement in _RANDOM:
        place = pattern.sub(replacement, place)
    return f"{word} {place or '.'}"


def traced(command: list[str], root: Path, state: Path, environment: dict[str, str]) -> tuple[int, list[str]]:
    """Exit code of a command and its boundaries, in order, as strace sees them in the real process."""
    log = state.parent / "strace.log"
    calls = ",".join(sorted(call for call in WORD_OF))
    done = subprocess.run(
        ["strace", "-f", "-y", "-s", "4096", "--seccomp-bpf", "-o", str(log), "-e", f"trace={calls}", *command],
        cwd=root, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    with log.open(encoding="utf-8", errors="replace") as lines:
        return done.returncode, list(parsed(lines, root, state))


def parsed(lines: Iterable[str], root: Path, state: Path) -> Iterable[str]:
    """The boundaries in the output of ``strace -f -y``."""
    for line in lines:
        if (found := _LINE.match(line)) is None or found[4].startswith("-"):
            continue
        call, arguments = found[2], found[3]
        word = WORD_OF[call]
        if word == "create" and (not re.search("O_CREAT|O_TRUNC", arguments) or "O_TMPFILE" in arguments):
            continue
        strings = _STRING.findall(arguments)
        handle = _HANDLE.match(arguments)
        if word in ("write", "fsync") and handle:
            path = handle[1].removesuffix("(deleted)")
        elif word in ("rename", "link"):
            path = strings[1]
        else:
            path = strings[0] if strings else ""
        if (name := normal(word, path, root, state)) is not None:
            yield name
