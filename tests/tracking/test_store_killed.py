from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest

from harness.errors import EnvironmentProblem
from harness.tracking.address import address
from harness.tracking.store import opened


def killed_while_making(database: Path) -> None:
    """Make a store in a child of its own that is killed at the first of MLflow's migrations."""
    pid = os.fork()
    if pid == 0:
        from alembic.operations import Operations

        for name in ("batch_alter_table", "create_table"):
            setattr(Operations, name, lambda *_a, **_k: os.kill(os.getpid(), signal.SIGKILL))
        try:
            with opened(address(database), writing=True) as client:
                client.search_experiments()
        finally:
            os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def test_killed_while_a_store_was_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store is there whole or not at all: killed in MLflow's migrations, the next writer makes it anew."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    database = tmp_path / "mlflow.db"
    killed_while_making(database)
    assert not database.exists()
    with opened(address(database), writing=True) as client:
        assert [each.name for each in client.search_experiments()] == ["Default"]
    assert [path.name for path in tmp_path.iterdir() if "partial" in path.name] == []


def test_a_half_made_store_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that an earlier version left half-made is refused with the mend, not with MLflow's SQL."""
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    database = tmp_path / "mlflow.db"
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE TABLE _alembic_tmp_runs (name TEXT)")
    with pytest.raises(EnvironmentProblem, match="stopped while it made"), opened(address(database), writing=True):
        pass
