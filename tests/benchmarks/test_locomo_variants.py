from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo import import_locomo
from harness.benchmarks.locomo_variants import KNOWN_RAW, ORIGINAL, PARTS, difference
from harness.errors import UsageProblem

Json = dict[str, Any]
AsFile = Callable[[Any], Path]


@pytest.fixture
def value(locomo_file: Path) -> list[Json]:
    """Real LoCoMo, free to be changed."""
    read: list[Json] = json.loads(locomo_file.read_bytes())
    return read


BYTES: dict[str, Callable[[bytes], bytes]] = {
    "": lambda raw: raw,
    " (line ends of Windows)": lambda raw: raw.replace(b"\n", b"\r\n"),
    " (one newline more at the end)": lambda raw: raw + b"\n",
    " (same content, other bytes)": lambda raw: json.dumps(json.loads(raw)).encode(),
}


@pytest.mark.parametrize("ending", BYTES)
def test_the_same_content_is_known_in_any_bytes(locomo_file: Path, tmp_path: Path, ending: str) -> None:
    """Each known form of the published file is named, keeps its licence, and becomes the same benchmark."""
    path = tmp_path / "locomo10.json"
    path.write_bytes(BYTES[ending](locomo_file.read_bytes()))
    benchmark = import_locomo(path)
    assert benchmark.source["variant"] == ORIGINAL + ending
    assert benchmark.source["license"] == "CC BY-NC 4.0"
    assert benchmark.source["bytes"] == path.stat().st_size
    assert benchmark.digests() == import_locomo(locomo_file).digests()


def test_every_known_form_is_tested() -> None:
    """A digest that is pinned is one that a test makes."""
    assert {ORIGINAL + ending for ending in BYTES} >= set(KNOWN_RAW.values())


def _edit_questions(value: list[Json]) -> None:
    """27 questions edited and one deleted, as a public fork has it."""
    for number, conversation in enumerate(value[:9]):
        for question in conversation["qa"][: 3 if number else 4]:
            question["answer"] = "another"
    del value[0]["qa"][0]


def _drop(value: list[Json]) -> None:
    del value[3]


FORKS: dict[str, tuple[Callable[[list[Json]], object], str]] = {
    "questions": (
        _edit_questions,
        "other questions in conv-26 (198 instead of 199), conv-30, conv-41, conv-42, conv-43, conv-44, conv-47, "
        "conv-48, conv-49",
    ),
    "a turn": (
        lambda value: value[1]["conversation"]["session_1"][0].update(text="Hello."),
        "other turns, observations or summaries in conv-30",
    ),
    "a conversation less": (_drop, "no conv-42"),
    "another name": (lambda value: value[9].update(sample_id="conv-51"), "no conv-50; added: conv-51"),
    "another order": (lambda value: value.append(value.pop(0)), "the same conversations in another order"),
}


@pytest.mark.parametrize("fork", FORKS)
def test_a_fork_is_refused_with_what_differs(value: list[Json], as_file: AsFile, fork: str) -> None:
    """The error names the conversations that differ, and how, and both ways to go on."""
    change, says = FORKS[fork]
    change(value)
    path = as_file(value)
    with pytest.raises(UsageProblem, match="unknown variant") as caught:
        import_locomo(path)
    assert caught.value.what.endswith(f"Against the original: {says}")
    assert ORIGINAL in caught.value.allowed
    assert "harness data fetch locomo" in caught.value.fix
    assert "--allow-unknown" in caught.value.fix
    allowed: Benchmark = import_locomo(path, allow_unknown=True)
    assert (allowed.source["variant"], allowed.source["license"]) == ("unknown", "unknown")


def test_the_original_differs_in_nothing(value: list[Json]) -> None:
    """The pinned parts are those of the file: alone, each conversation is known, and with it the others are missing."""
    assert [record["sample_id"] for record in value] == list(PARTS)
    for record in value:
        others = ", ".join(name for name in PARTS if name != record["sample_id"])
        assert difference([record]) == f"no {others}"
