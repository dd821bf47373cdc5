"""Record first, mirror second: what MLflow shall show waits in ``runs/outbox/`` until it does.

A record is forced to the disk before MLflow is asked, and removed after MLflow has answered. Killed in between, a
command leaves a file in the outbox or a whole run in MLflow, and the next command that mirrors goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Generator, Iterable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from harness.digest import canonical_json, digest_json
from harness.errors import EnvironmentProblem, HarnessError
from harness.ledger import durable
from harness.tracking.address import address
from harness.tracking.mirror import RecordRefused, mirror
from harness.tracking.record import Record
from harness.workflow.progress import SILENT, Progress
from harness.workflow.workspace import Workspace

OUTBOX = "outbox"
MIRRORED, WAITING = "mirrored", "waiting"
_FORMAT = 1
_NAMED = 3  # records named in a note
_MANY = 10  # records from which on they are counted
_ROUND_SECONDS = 60.0  # for as long as this a slow server may hold up a command that has done its work
_LEFTOVER_SECONDS = 3600.0


@dataclass(frozen=True)
class Sent:
    """What became of records.

    Attributes:
        where: the store, as people are told.
        mirrored: names of the records that MLflow shows now.
        waiting: of everything that is not there yet, name → why.
    """

    where: str
    mirrored: tuple[str, ...] = ()
    waiting: dict[str, str] = field(default_factory=dict)

    @property
    def note(self) -> str:
        """What to tell the user, in one line; empty if nothing waits."""
        if not self.waiting:
            return ""
        names, reason = [*self.waiting], next(iter(self.waiting.values()))
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return (
            f"recorded, but not in MLflow yet: {', '.join(names[:_NAMED])}{more} ({reason}); harness mirror tries again"
        )


def send(
    workspace: Workspace, records: Iterable[Record], progress: Progress = SILENT, *, seconds: float = _ROUND_SECONDS
) -> Sent:
    """Put records into the outbox, then mirror everything there, the oldest first.

    Never fails because of MLflow or the disk: what cannot be mirrored waits, and it is told why. Sending what is
    mirrored already writes nothing.

    Args:
        workspace: the workspace.
        records: what MLflow shall show.
        progress: told how far it is.
        seconds: after this time nothing more is begun.
    """
    unkept = {}
    for record in records:
        try:
            _put(workspace, record)
        except HarnessError as error:
            unkept[record.name] = f"nor could it be put into the outbox: {_line(error)}"
    sent = _deliver(workspace, progress, seconds)
    return Sent(sent.where, sent.mirrored, unkept | sent.waiting)


def waits(workspace: Workspace, record: Record) -> bool:
    """Whether a record of this identity is in the outbox."""
    known = (_read(path) for path in _waiting(workspace))
    return any(each.identity == record.identity for each in known if each is not None)


def write_receipt(path: Path, experiment: str, run: str | None) -> None:
    """Write down beside a recorded run which MLflow run shows it; None: it waits."""
    receipt = {"experiment": experiment, "run": run, "state": MIRRORED if run else WAITING}
    durable.replace(path, canonical_json(receipt).encode() + b"\n")


def _deliver(workspace: Workspace, progress: Progress, seconds: float) -> Sent:
    """Mirror what waits. A store that fails once ends the round, and so does the time; the rest goes on waiting."""
    paths, where, reason = _waiting(workspace), "", ""
    mirrored: list[str] = []
    refused: dict[Path, str] = {}
    try:
        store = address(workspace.store)
        where = store.shown
        if paths:
            in_time = contextlib.closing(_in_time(paths, where, progress, seconds))
            with mirror(store, workspace.root) as opened, in_time as begun:
                for path in begun:
                    record = _read(path)
                    if record is None:
                        continue
                    try:
                        run = opened.write(record)
                    except RecordRefused as error:
                        refused[path] = _line(error)
                        continue
                    _receive(workspace, record, run)
                    path.unlink(missing_ok=True)
                    mirrored.append(record.name)
    except HarnessError as error:
        reason = _line(error)
    waiting = {}
    for path in paths:
        if path.exists():  # another process may have mirrored it
            record = _read(path)
            why = reason if record else "damaged, or written by a newer version; delete it to give it up"
            waiting[record.name if record else path.name] = refused.get(path, why)
            with contextlib.suppress(HarnessError):  # a full disk: the file in the outbox says as much
                _receive(workspace, record, None)
    return Sent(where, tuple(dict.fromkeys(mirrored)), waiting)


def _in_time(paths: list[Path], where: str, progress: Progress, seconds: float) -> Generator[Path]:
    """The paths, counted where they are many, until the time is over."""
    end, what = time.monotonic() + seconds, f"mirroring to {where}"
    if len(paths) < _MANY:
        progress(what)
    with progress.counting(what, len(paths), "runs") if len(paths) >= _MANY else nullcontext(lambda _: None) as advance:
        for path in paths:
            if time.monotonic() > end:
                raise EnvironmentProblem(f"it is slow: {seconds:g} seconds were not enough for all", where=where)
            yield path
            advance(1)


def _put(workspace: Workspace, record: Record) -> None:
    folder = workspace.runs / OUTBOX
    durable.make_folder(folder)
    plain = record.as_plain()
    # named by its content: a process that mirrors an older record of the same run cannot remove this one
    digits = digest_json("outbox/1", plain).removeprefix("sha256:")[:16]
    name = f"{re.sub(r'[^a-z0-9]+', '-', record.name.lower())[:60].strip('-')}-{digits}.json"
    durable.replace(folder / name, canonical_json({"format": _FORMAT, "record": plain}).encode() + b"\n")


def _waiting(workspace: Workspace) -> list[Path]:
    """The outbox, oldest first."""
    found = []
    for path in (workspace.runs / OUTBOX).glob("*"):
        with contextlib.suppress(OSError):  # another process may have mirrored it since
            written = path.stat().st_mtime_ns
            if path.name.startswith(durable.TEMPORARY):
                if time.time() - written / 1e9 > _LEFTOVER_SECONDS:
                    path.unlink()
            elif path.suffix == ".json":
                found.append((written, path))
    return [path for _, path in sorted(found)]


def _read(path: Path) -> Record | None:
    """A record of the outbox; None if it cannot be read, or is gone."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        return Record.from_plain(value["record"]) if value["format"] == _FORMAT else None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _receive(workspace: Workspace, record: Record | None, run: str | None) -> None:
    if record is not None and record.receipt:
        write_receipt(workspace.root / record.receipt, record.experiment, run)


def _line(error: HarnessError) -> str:
    return f"{error.what}: {error.where}" if error.where else error.what
