from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from harness.errors import EnvironmentProblem
from harness.tracking import store as module
from harness.tracking.address import Address, embedded
from harness.tracking.store import check, opened


@pytest.fixture
def copy(where: Address, tmp_path: Path) -> Path:
    """A store of the test's own."""
    assert where.database is not None
    return Path(shutil.copyfile(where.database, tmp_path / "mlflow.db"))


def refused(database: Path, *, writing: bool = True) -> EnvironmentProblem:
    """How a store is refused, before MLflow is asked."""
    with pytest.raises(EnvironmentProblem) as caught:
        check(embedded(database), writing=writing)
    with pytest.raises(EnvironmentProblem) as again, opened(embedded(database), writing=writing):
        pytest.fail("MLflow was asked")
    assert str(again.value) == str(caught.value)
    assert caught.value.fix
    return caught.value


@pytest.mark.parametrize("kind", ["no folder", "a file as folder", "a folder as store", "a question mark"])
def test_a_store_that_cannot_be_there(kind: str, tmp_path: Path) -> None:
    """MLflow would try again for minutes, so that it is not even asked."""
    (tmp_path / "file").write_text("")
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "what?").mkdir()
    names = {
        "no folder": "none/mlflow.db",
        "a file as folder": "file/mlflow.db",
        "a folder as store": "folder.db",
        "a question mark": "what?/mlflow.db",
    }
    assert refused(tmp_path / names[kind]).where.startswith(str(tmp_path))


def test_a_store_without_permission(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Permission is asked of the system, for the store and for its folder; a reader needs none."""
    for denied in (copy.parent, copy):
        monkeypatch.setattr(module.os, "access", lambda path, _, denied=denied: path != denied)
        assert "cannot be written" in refused(copy).what
        check(embedded(copy), writing=False)


@pytest.mark.parametrize("writing", [True, False])
def test_a_file_that_is_no_database(writing: bool, tmp_path: Path) -> None:
    """It gives one message with the way out, and is left as it was."""
    database = tmp_path / "mlflow.db"
    database.write_text("not a database " * 100)
    assert "not a database" in refused(database, writing=writing).what
    assert database.read_text() == "not a database " * 100


@pytest.mark.parametrize("writing", [True, False])
def test_a_store_of_a_newer_mlflow(copy: Path, writing: bool) -> None:
    """Its schema is one that this MLflow does not know: nothing is written, and the schema is named."""
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'fedcba987654'")
        connection.commit()
    before = copy.read_bytes()
    problem = refused(copy, writing=writing)
    assert "newer" in problem.what
    assert "fedcba987654" in problem.what
    assert copy.read_bytes() == before


def test_a_store_of_an_older_mlflow(copy: Path) -> None:
    """It is not changed unasked: MLflow's own command for that is named."""
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '451aebb31d03'")
        connection.commit()
    with (
        pytest.raises(EnvironmentProblem, match="an older MLflow") as caught,
        opened(embedded(copy), writing=True) as it,
    ):
        it.search_experiments()
    assert "mlflow db upgrade sqlite:" in caught.value.fix


def test_a_store_that_is_locked(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program that holds the database is waited for a little only."""
    monkeypatch.setattr(module, "_BUSY_SECONDS", 0.1)
    with contextlib.closing(sqlite3.connect(copy)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        problem = refused(copy)
    assert "locked" in problem.what
    assert "end the program" in problem.fix
    check(embedded(copy), writing=True)


def test_another_process_that_mirrors_too_long(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock beside the store is waited for, and then given up; a reader does not wait."""
    monkeypatch.setattr(module, "LOCK_WAIT_SECONDS", 0.1)
    where = embedded(copy)
    with FileLock(where.lock):
        with pytest.raises(EnvironmentProblem, match="another process"), opened(where, writing=True):
            pytest.fail("the lock was not respected")
        with opened(where, writing=False):
            pass
    with opened(where, writing=True):
        pass


@pytest.fixture
def full_disk(copy: Path) -> Iterator[Path]:
    """A store that may not grow any further, as on a full disk."""
    with contextlib.closing(sqlite3.connect(copy)) as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]

    def limit(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    import sqlalchemy

    sqlalchemy.event.listen(sqlalchemy.engine.Engine, "connect", limit)
    yield copy
    sqlalchemy.event.remove(sqlalchemy.engine.Engine, "connect", limit)


def test_a_full_disk(full_disk: Path) -> None:
    """What the database says of it becomes one error."""

    def write() -> None:
        with opened(embedded(full_disk), writing=True) as client:
            for number in range(500):
                client.create_run("0", tags={"text": "x" * 5000}, run_name=str(number))

    with pytest.raises(EnvironmentProblem, match="full"):
        write()


@pytest.mark.parametrize("before", [logging.NOTSET, logging.ERROR])
def test_logging_is_as_it_was_afterwards(before: int, where: Address) -> None:
    """Silence lasts as long as MLflow works, and is lifted when it fails too."""
    logging.disable(before)
    try:
        with opened(where, writing=False):
            assert not logging.getLogger("mlflow").isEnabledFor(logging.ERROR)
        with pytest.raises(EnvironmentProblem, match="unheard"), opened(where, writing=False):
            raise RuntimeError("unheard of")
        assert logging.root.manager.disable == before
    finally:
        logging.disable(logging.NOTSET)


def test_what_the_user_set_for_mlflow_counts(where: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of time are defaults only."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "77")
    monkeypatch.delenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", raising=False)
    with opened(where, writing=False):
        assert os.environ["MLFLOW_HTTP_REQUEST_TIMEOUT"] == "77"
        assert os.environ["MLFLOW_HTTP_REQUEST_MAX_RETRIES"] == "0"
