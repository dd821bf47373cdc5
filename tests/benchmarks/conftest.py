"""What the tests of benchmarks share: the small faulty file imported, and changed values imported."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.library import Library, find, save
from harness.benchmarks.locomo import import_locomo

AsFile = Callable[[Any], Path]
ImportValue = Callable[..., Benchmark]


@pytest.fixture
def as_file(tmp_path: Path) -> AsFile:
    """Write a value as a JSON file and give its path."""

    def write(value: Any) -> Path:
        path = tmp_path / "value.json"
        path.write_text(json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def import_value(as_file: AsFile) -> ImportValue:
    """Import a value in LoCoMo's format as an unknown variant."""

    def run(value: Any, **options: Any) -> Benchmark:
        return import_locomo(as_file(value), **({"allow_unknown": True} | options))

    return run


@pytest.fixture
def tiny(tiny_locomo: Path) -> Benchmark:
    """The small faulty file, imported."""
    return import_locomo(tiny_locomo, allow_unknown=True)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """An empty folder of benchmarks."""
    return tmp_path / "data"


@pytest.fixture
def saved(data: Path, tiny: Benchmark) -> Library:
    """The small faulty benchmark on disk."""
    save(tiny, data / "locomo")
    return find(data, "locomo")
