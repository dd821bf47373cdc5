from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from harness.benchmarks.source import canonical_sha256, need, read_json
from harness.errors import EnvironmentProblem, UsageProblem

SOUND = '[{"a": "é", "b": [1, 2.5, null, true], "日本": {"c": "x\\n"}}]'.encode()


def refused(path: Path) -> UsageProblem:
    """The error with which a file is refused."""
    with pytest.raises(UsageProblem) as caught:
        read_json(path, "the file x.json")
    return caught.value


def test_a_sound_file_gives_its_value_and_its_bytes(tmp_path: Path) -> None:
    """The value is parsed, the bytes are as they lie on disk."""
    path = tmp_path / "x.json"
    path.write_bytes(SOUND)
    value, raw = read_json(path, "the file x.json")
    assert value == [{"a": "é", "b": [1, 2.5, None, True], "日本": {"c": "x\n"}}]
    assert raw == SOUND


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    """A byte order mark is skipped in the value and kept in the bytes."""
    path = tmp_path / "x.json"
    path.write_bytes(b"\xef\xbb\xbf[1]")
    assert read_json(path, "x") == ([1], b"\xef\xbb\xbf[1]")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b" \n\t", "the file is empty"),
        (b'[{"a": 1', "cut off"),
        (b'[{"a": "un', "cut off"),
        ("[\"é".encode()[:-1], "cut off inside a character"),
        (b"\xff\xfe[\x001\x00]\x00", "not UTF-8 text at byte 0"),
        (b'["caf\xe9"]', "not UTF-8 text at byte 5"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8 text at byte 0"),
        (b"PAR1", "not valid JSON"),
        (b"[1] [2]", "not valid JSON: Extra data"),
        (b"{'a': 1}   ", "not valid JSON"),
        (b'{"a": 1, "a": 1}', "the key 'a' stands twice"),
        (b'[{"b": {"a": 1, "c": 2, "a": 3}}]', "the key 'a' stands twice"),
        (b"[NaN]", "a number that cannot be read: NaN"),
        (b'{"a": -Infinity}', "a number that cannot be read: -Infinity"),
        (b"[1e999]", "a number that cannot be read: 1e999"),
        (b"[" + b"9" * 5000 + b"]", "a number that cannot be read"),
        (b'["\\ud83d"]', "half of a surrogate pair"),
        (b'{"\\udc00": 1}', "half of a surrogate pair"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused_with_its_fault(tmp_path: Path, content: bytes, message: str) -> None:
    """Each kind of damage has its own message, which names the file."""
    path = tmp_path / "x.json"
    path.write_bytes(content)
    error = refused(path)
    assert message in error.what
    assert str(path) in error.where
    assert error.allowed or error.fix


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    """However many bytes are missing at the end, the file is refused."""
    path = tmp_path / "x.json"
    for length in range(len(SOUND)):
        path.write_bytes(SOUND[:length])
        assert str(path) in refused(path).where


def test_the_place_of_a_fault_is_named(tmp_path: Path) -> None:
    """Line and column of broken JSON are part of the place."""
    path = tmp_path / "x.json"
    path.write_bytes(b"[1,\n  2,\n  oops,\n 3\n]")
    assert refused(path).where == f"{path}:3:3"


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """A file that is not there, also below another file, is named with what was expected."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for path in (tmp_path / "none.json", tmp_path / "no" / "none.json", tmp_path / "file" / "none.json"):
        error = refused(path)
        assert error.what == "no such file"
        assert (error.where, error.allowed) == (str(path), "the file x.json")


def test_a_folder_is_called_one(tmp_path: Path) -> None:
    """A folder is not read as a file."""
    assert refused(tmp_path).what == "this is a folder"


def test_what_the_machine_refuses_is_its_own_error(tmp_path: Path) -> None:
    """A link to itself and a name that is too long are faults of the environment, told in one line."""
    (tmp_path / "loop").symlink_to("loop")
    for path in (tmp_path / "loop", tmp_path / ("x" * 300)):
        with pytest.raises(EnvironmentProblem, match="cannot be read"):
            read_json(path, "the file x.json")


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_forbidden_file_is_an_environment_error(tmp_path: Path) -> None:
    """A file without permission to read is told as such."""
    path = tmp_path / "x.json"
    path.write_bytes(SOUND)
    path.chmod(0)
    with pytest.raises(EnvironmentProblem, match="cannot be read"):
        read_json(path, "the file x.json")


def test_canonical_digest_ignores_order_and_blanks() -> None:
    """The digest is over sorted keys without blanks in UTF-8, so that others can compute it."""
    expected = hashlib.sha256('{"a":[1,"é"],"b":null}'.encode()).hexdigest()
    assert canonical_sha256({"b": None, "a": [1, "é"]}) == expected
    assert canonical_sha256({"b": None, "a": ["é", 1]}) != expected


@pytest.mark.parametrize(
    ("value", "kind", "found", "allowed"),
    [
        (None, str, "nothing", "text"),
        (7, str, "int", "text"),
        (True, int, "bool", "a whole number"),
        (1.0, int, "float", "a whole number"),
        ("x", (list, dict), "str", "a list or an object"),
    ],
)
def test_need_says_what_was_found_and_what_was_needed(
    value: object, kind: type | tuple[type, ...], found: str, allowed: str
) -> None:
    """The error names the record, what stood there and what should."""
    with pytest.raises(UsageProblem) as caught:
        need(value, kind, "record 3", "the field")
    assert (caught.value.what, caught.value.where) == (f"the field is {found}", "record 3")
    assert caught.value.allowed == allowed


def test_need_gives_back_what_fits() -> None:
    """A value of the needed type is handed on unchanged, empty ones too."""
    for value, kind in (("", str), (0, int), ([], list), ({}, (list, dict))):
        assert need(value, kind, "r", "f") is value
