"""What the ledger's tests share: a ledger in a temporary folder and a short way to add entries to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.digest import canonical_json
from harness.ledger import Entry, Ledger
from harness.ledger.shape import entry_hash

Add = Callable[..., Entry]
Run = Callable[..., "subprocess.Popen[str]"]

CONTEXT = {
    "git": {"commit": None, "dirty": None},
    "environment": "sha256:" + "0" * 64,
    "time": "2026-11-30T22:10:00+00:00",
}


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger that has no folder yet."""
    return Ledger(tmp_path / "preregistrations" / "ledger")


@pytest.fixture
def add(ledger: Ledger) -> Add:
    """Append an entry: ``add(kind, **payload)``."""

    def append(kind: str = "note", **payload: Any) -> Entry:
        return ledger.append(kind, payload, **CONTEXT)

    return append


@pytest.fixture
def plant(ledger: Ledger) -> Callable[..., Path]:
    """Write an entry file with a fitting name by hand, whatever it says; the file's path is returned."""

    def write(**changes: Any) -> Path:
        record = {
            "format": 1,
            "sequence": 1,
            "parents": [],
            "kind": "note",
            "payload": {},
            **CONTEXT,
            **changes,
        }
        body = canonical_json(record).encode()
        ledger.root.mkdir(parents=True, exist_ok=True)
        path = ledger.root / f"{record['sequence']:06d}-{entry_hash(body)[:16]}.json"
        path.write_bytes(body + b"\n")
        return path

    return write


@pytest.fixture
def run() -> Run:
    """Start a Python script in a process of its own: ``run(script, *arguments)``."""

    def start(script: str, *arguments: object) -> subprocess.Popen[str]:
        where = str(Path(harness.__file__).parents[1])
        return subprocess.Popen(
            [sys.executable, "-c", script, json.dumps(CONTEXT), *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": where},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start
