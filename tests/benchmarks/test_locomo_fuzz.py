from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.library import save
from harness.benchmarks.locomo import import_locomo
from harness.errors import HarnessError

Json = dict[str, Any]
AsFile = Callable[[Any], Path]
ImportValue = Callable[..., Benchmark]

# what a careless script leaves behind in the place of a value
JUNK: list[Any] = [
    None, True, False, 0, -1, 1, 6, 2.5, 10**30, "", " ", "D", "D1:1", "D:1:2", "a/b", "\u0663", "\x00", "日本語",
    "D" + "9" * 5000 + ":1", "9:05 am on 3 March, 2021", "13:05 pm on 3 May, 2021", "9:05 am on 31 June, 2021",
    [], [[]], [None], ["D1:1"], [1], ["D1:1", None], [["text", "D1:1"]], [{"dia_id": "D1:1"}],
    {}, {"a": 1}, {"session_1": []},
]  # fmt: skip


def _paths(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    return [path for key in keys for path in [(*before, key), *_paths(value[key], (*before, key))]]


def _mutate(value: Any, path: tuple[Any, ...], chance: random.Random) -> None:
    """Replace, remove, repeat or rename what stands at ``path``."""
    for key in path[:-1]:
        value = value[key]
    key, kind = path[-1], chance.random()
    if kind < 0.7:
        value[key] = chance.choice(JUNK)
    elif kind < 0.8:
        del value[key]
    elif isinstance(value, list):
        value.insert(chance.randrange(len(value) + 1), value[key])
    else:
        value[chance.choice(["session_0", "session_01", "session_99", "session_\u0663", "x", f"{key} "])] = value[key]


def _import_and_save(path: Path, folder: Path | None) -> HarnessError | None:
    try:
        benchmark = import_locomo(path, allow_unknown=True)
        benchmark.digests()
        if folder:
            save(benchmark, folder)
    except HarnessError as error:
        return error
    return None


@pytest.mark.parametrize("seed", range(8))
def test_a_damaged_value_is_refused_or_imported_whole(
    tiny_value: list[Json], as_file: AsFile, tmp_path: Path, seed: int
) -> None:
    """Whatever stands at any place of the file, the import succeeds and can be saved, or names the fault."""
    chance = random.Random(seed)
    paths, outcomes = _paths(tiny_value), []
    for number in range(60):
        value = json.loads(json.dumps(tiny_value))
        _mutate(value, chance.choice(paths), chance)
        folder = tmp_path / f"saved-{number}" if number % 6 == 0 else None
        outcomes.append(_import_and_save(as_file(value), folder))
    refused = [error for error in outcomes if error]
    assert 0 < len(refused) < len(outcomes)
    assert all(error.exit_code == 2 and "value.json" in error.where for error in refused)
