from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks import stream
from harness.benchmarks.stream import RecordStream
from harness.errors import HarnessError, UsageProblem

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abé日", max_size=2), inner, max_size=3),
    max_leaves=8,
)


def written(path: Path, content: bytes) -> Path:
    """A file with this content."""
    path.write_bytes(content)
    return path


def read(path: Path) -> list[Any]:
    """All records of a file."""
    return list(RecordStream(path, "the file x.json"))


@given(st.lists(VALUES, max_size=6), st.integers(1, 20), st.sampled_from([None, 1]), st.booleans())
def test_records_are_those_of_the_whole_file(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], step: int, indent: int | None, escaped: bool
) -> None:
    """Whatever lies on the border of two reads, records are what json makes of the file, and the digest is its own."""
    content = json.dumps(values, indent=indent, ensure_ascii=escaped).encode()
    path = written(tmp_path_factory.mktemp("s") / "x.json", content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "_STEP", step)
        records = RecordStream(path, "x")
        assert list(records) == values
    assert records.sha256 == hashlib.sha256(content).hexdigest()
    assert records.bytes == len(content)


@pytest.mark.parametrize("step", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n", "the file is empty"),
        (b'{"a": 1}', "not a list of records"),
        (b"[", "cut off"),
        (b"[1", "cut off"),
        (b"[1,", "cut off"),
        (b"[1 ", "cut off"),
        (b'[{"a": 1}', "cut off"),
        (b'[{"a": 1},', "cut off"),
        (b'[{"a": 1}, {"a": "un', "cut off"),
        ('["é'.encode()[:-1], "cut off inside a character"),
        (b'["caf\xe9", 1]', "not UTF-8 text"),
        (b"[1 2]", "a comma is missing"),
        (b"[1,]", "a comma before the end"),
        (b"[1] [2]", "something stands after the end"),
        (b'[{"a": 1, "a": 1}]', "the key 'a' stands twice"),
        (b"[1, NaN]", "a number that cannot be read: NaN"),
        (b'["\\ud83d"]', "half of a surrogate pair"),
        (b'[{"a" 1}, {"b": 2}, {"c": 3}]', "not valid JSON"),
    ],
)
def test_damage_is_named(
    tmp_path: Path, content: bytes, message: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the file's fault and wherever a read ends, the error says what is wrong, in which file."""
    monkeypatch.setattr(stream, "_STEP", step)
    with pytest.raises(UsageProblem, match=message) as caught:
        read(written(tmp_path / "x.json", content))
    assert str(tmp_path / "x.json") in caught.value.where


def test_the_line_of_a_fault_counts_from_the_file_s_beginning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that were read before count too."""
    monkeypatch.setattr(stream, "_STEP", 5)
    path = written(tmp_path / "x.json", b'[\n{"a": 1},\n{"a": 2},\n{"a" 3},\n{"a": 4}]')
    with pytest.raises(UsageProblem) as caught:
        read(path)
    assert caught.value.where == f"{path}:4:6"


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    """A missing file and a folder are said to be that."""
    for path, message in ((tmp_path / "nowhere", "no such file"), (tmp_path, "this is a folder")):
        with pytest.raises(HarnessError, match=message):
            read(path)


def test_a_damaged_file_is_not_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quotation mark that is missing early ends the reading at the size of the largest record."""
    monkeypatch.setattr(stream, "_LARGEST", 1000)
    monkeypatch.setattr(stream, "_STEP", 100)
    records = RecordStream(written(tmp_path / "x.json", b'[{"a": "' + b"b" * 1_000_000), "x")
    with pytest.raises(UsageProblem):
        list(records)
    assert records.bytes < 5000
