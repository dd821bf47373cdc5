"""One MLflow store for all tests: making its tables takes seconds."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.tracking.address import Address, embedded
from harness.tracking.record import Record

FRESH = """
import sys
from pathlib import Path
from harness.tracking.address import embedded
from harness.tracking.mirror import mirror
from harness.tracking.record import Record
database = Path(sys.argv[1])
with mirror(embedded(database), database.parent) as opened:
    opened.write(Record("first", "first", "number", {"number": "1"}))
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
def where(store: Store) -> Address:
    """Where the store is."""
    return embedded(store.database)


@pytest.fixture
def record(request: pytest.FixtureRequest, tmp_path: Path) -> Record:
    """A record that no other test has: it is found by the test's own name; its file lies in ``tmp_path``."""
    (tmp_path / "report.html").write_text("<p>PASS</p>")
    return Record(
        experiment="full",
        name="raw-only",
        finds="harness.lock",
        tags={"harness.verdict": "PASS", "harness.lock": request.node.name},
        params={"id": "raw-only", "baseline.version": "bm25", "candidate.layers": '["raw"]'},
        metrics={"heldout/all/candidate/R.credit-source_at_10": 0.5, "look": 1, "worst": -1.0},
        artifacts=("report.html",),
    )
