"""One MLflow store, opened for one piece of work: what it must be, and what may go wrong with it.

Whatever MLflow, its database or its server raise becomes one kind of error, within seconds: a run is recorded
before it is mirrored, so that nothing here is worth waiting for.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from filelock import FileLock, Timeout

from harness.errors import EnvironmentProblem, HarnessError
from harness.tracking.address import Address

LOCK_WAIT_SECONDS = 30.0
_BUSY_SECONDS = 2.0
_LONGEST = 300  # characters of a foreign message that are repeated
_REFILL = "move the store away: a new one is made, and harness mirror --all fills it"

# By default MLflow asks a server that is down for minutes, and waits two minutes for one that hangs.
_ENVIRONMENT = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "0",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "GIT_PYTHON_REFRESH": "quiet",
}


@contextlib.contextmanager
def opened(where: Address, *, writing: bool) -> Iterator[Any]:
    """MLflow's client on a store; nobody else on this machine writes there meanwhile.

    Args:
        where: the store.
        writing: make the store if it is not there, and keep other writers out. A reader changes nothing, waits for
            nobody, and needs a store that is there.

    Raises:
        EnvironmentProblem: the store cannot be reached, read or written, or another MLflow made it.
    """
    if where.database is not None:
        _check_place(where.database, writing)
    with _quiet():
        from mlflow import MlflowClient  # takes seconds, so that nobody is kept waiting by it

        with _only_writer(where) if writing else contextlib.nullcontext():
            check(where, writing=writing)
            with _reporting(where):
                if where.database is not None and writing and not where.database.exists():
                    _make(where.database)
                yield MlflowClient(tracking_uri=where.uri)


def _make(database: Path) -> None:
    """Make a store that is there whole or not at all: what MLflow's migrations have begun, they cannot go on with."""
    from mlflow import MlflowClient

    partial = database.with_name(f".{database.name}.partial")
    for left in (partial, partial.with_name(f"{partial.name}-journal")):  # of a process that was killed at this
        left.unlink(missing_ok=True)
    MlflowClient(tracking_uri=f"sqlite:///{partial}").search_experiments(max_results=1)
    partial.rename(database)


def check(where: Address, *, writing: bool) -> None:
    """Whether a store in a file can be used, without MLflow, which tries a bad one for minutes. Asks no server.

    Raises:
        EnvironmentProblem: it cannot be read or written, or another MLflow made it.
    """
    if where.database is not None:
        _check_place(where.database, writing)
        if where.database.exists():
            _check_database(where.database, writing)


def _check_place(database: Path, writing: bool) -> None:
    folder = database.parent
    if "?" in str(database):
        what = "MLflow cannot keep a store in a folder with a question mark in its name"
        raise EnvironmentProblem(what, where=str(database), fix="rename the folder")
    if not folder.is_dir():
        raise EnvironmentProblem("MLflow's store needs a folder", where=str(folder), fix="make that folder")
    if database.exists() and not database.is_file():
        raise EnvironmentProblem("MLflow's store is not a file", where=str(database), fix=_REFILL)
    for place in (folder, database) if writing else ():
        if place.exists() and not os.access(place, os.W_OK):
            raise EnvironmentProblem("MLflow's store cannot be written", where=str(place), fix="grant write permission")


def _check_database(database: Path, writing: bool) -> None:
    place = f"file:{quote(str(database))}?mode={'rw' if writing else 'ro'}"
    try:
        with contextlib.closing(sqlite3.connect(place, uri=True, timeout=_BUSY_SECONDS)) as connection:
            if writing:
                connection.execute("BEGIN IMMEDIATE")
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            rows = connection.execute("SELECT version_num FROM alembic_version") if "alembic_version" in tables else ()
            schema = [str(revision) for (revision,) in rows]
            connection.rollback()
        if any(name.startswith("_alembic_tmp_") for name in tables):
            what = "MLflow was stopped while it made this store"
            raise EnvironmentProblem(what, where=str(database), fix=_REFILL)
    except sqlite3.Error as error:
        fix = "end the program that holds it" if "locked" in str(error) else _REFILL
        raise EnvironmentProblem(f"MLflow's store cannot be used: {error}", where=str(database), fix=fix) from None
    unknown = set(schema) - _known_schemas()
    if unknown:
        what = f"another, probably newer, MLflow made this store (schema {', '.join(unknown)})"
        raise EnvironmentProblem(what, where=str(database), fix=f"install that MLflow; or {_REFILL}")


def _known_schemas() -> set[str]:
    found = importlib.util.find_spec("mlflow")
    places = found.submodule_search_locations if found else None
    folders = [Path(place, "store", "db_migrations", "versions") for place in places or ()]
    return {path.name.partition("_")[0] for folder in folders for path in folder.glob("*.py")}


@contextlib.contextmanager
def _only_writer(where: Address) -> Iterator[None]:
    # of two processes that make a fresh store, or an experiment, at the same time one would fail
    lock = FileLock(where.lock, timeout=LOCK_WAIT_SECONDS, poll_interval=0.02)
    try:
        lock.acquire()
    except Timeout:
        what = f"another process has been writing there for more than {LOCK_WAIT_SECONDS:g} seconds"
        raise EnvironmentProblem(what, where=where.shown, fix="try again when it has ended") from None
    except OSError as error:
        what, fix = f"the lock cannot be taken: {error.strerror}", "grant write permission"
        raise EnvironmentProblem(what, where=str(where.lock), fix=fix) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    # a fresh store logs a hundred lines of migrations, a failing one tracebacks, whatever the loggers' own levels say
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def _reporting(where: Address) -> Iterator[None]:
    """Turn whatever MLflow, sqlalchemy, alembic or requests raise into one error."""
    try:
        yield
    except HarnessError:
        raise
    except Exception as error:  # noqa: BLE001 - there is no end to what they raise
        reason = where.without_secrets(_reason(error))
        fix = "free space or grant permission" if where.database else "start the server, or correct its address"
        if "out-of-date database schema" in reason:
            reason, fix = "an older MLflow made this store", f"back it up, then: mlflow db upgrade {where.uri}"
        raise EnvironmentProblem(f"MLflow does not take it: {reason}", where=where.shown, fix=fix) from None


def _reason(error: BaseException) -> str:
    """Why, in one line: what the system said where it was asked, else the beginning of the message."""
    link: BaseException | None = error
    while link is not None:
        if "Timeout" in type(link).__name__:
            return f"no answer within {os.environ['MLFLOW_HTTP_REQUEST_TIMEOUT']} seconds"
        if isinstance(link, OSError) and link.strerror:
            return link.strerror.lower()
        if isinstance(link, ConnectionError):
            return "connection aborted"
        link = link.__cause__ or link.__context__
    text = " ".join(str(error).split()) or type(error).__name__
    answer = re.search(r"too many (\d+) error responses|failed with error code (\d+)", text)
    if answer:
        return f"the server answers {answer[1] or answer[2]}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
