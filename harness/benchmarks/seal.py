"""Keeps held-out files out of dev work: an audit hook refuses, and logs, every open of one."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.benchmarks.library import SEALED_FILES
from harness.errors import IntegrityProblem

_state: dict[str, Any] = {"on": False, "sources": frozenset(), "log": None}


def seal_heldout(log: Path, sources: Iterable[Path] = ()) -> None:
    """Refuse, from now on and until this process ends, to open held-out files.

    Args:
        log: refused opens are appended here, one path a line.
        sources: further files to refuse, such as the file that a benchmark was imported from.

    An audit hook cannot be taken away again, which is what is wanted: a dev process never looks.
    """
    _state["sources"] |= {str(path.resolve()) for path in sources}  # what was sealed once stays sealed
    _state["log"] = log
    if not _state["on"]:
        _state["on"] = True
        sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    # a file that was renamed or linked would open under a name that is not sealed
    if event not in ("open", "os.rename", "os.link") or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = os.fsdecode(arguments[0])
    # the name alone settles most opens without touching the file system, also through a link's target below
    name = os.path.basename(path)  # noqa: PTH119 - a Path per open would slow every import down
    sealed = name in SEALED_FILES
    if not sealed and os.path.islink(path):  # noqa: PTH114 - as above
        sealed = Path(os.path.realpath(path)).name in SEALED_FILES
    if not sealed and not (_state["sources"] and os.path.realpath(path) in _state["sources"]):
        return
    if _state["log"] is not None:
        # refused all the same where the log cannot be written
        with (
            contextlib.suppress(OSError),
            Path(_state["log"]).open("a", encoding="utf-8", errors="replace") as log,
        ):
            log.write(f"{path}\n")
    raise IntegrityProblem(
        "dev work tried to open a held-out file",
        where=path,
        allowed="the dev questions and the corpus",
        fix="lock a preregistration and make the one full run: harness full ID",
    )
