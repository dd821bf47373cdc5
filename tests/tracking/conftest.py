"""One MLflow store for all tests: making its tables takes seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

FRESH = """
import sys
from pathlib import Path
from harness.tracking.mirror import Record, mirror
mirror(Path(sys.argv[1]), Record("first", "first", {}, {}, {}))
"""


class Store(NamedTuple):
    """A store's database, and what was printed when it was made."""

    database: Path
    stdout: str
    stderr: str


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A real sqlite store, made in a process of its own so that everything it prints is seen."""
    database = tmp_path_factory.mktemp("mlflow") / "mlflow.db"
    command = [sys.executable, "-c", FRESH, str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=database.parent)
    return Store(database, done.stdout, done.stderr)


@pytest.fixture(scope="session")
def database(store: Store) -> Path:
    """Where the store is."""
    return store.database
