from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks import lines
from harness.benchmarks.lines import Seen, read_lines, text_lines
from harness.errors import HarnessError, UsageProblem

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
OBJECTS = st.dictionaries(TEXT, st.none() | st.booleans() | st.integers() | TEXT | st.lists(TEXT, max_size=2))


def written(path: Path, content: bytes) -> Path:
    """A file with this content."""
    path.write_bytes(content)
    return path


def read(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """All objects of a file, with their lines."""
    return list(read_lines(path, "the file x.jsonl"))


@given(st.lists(OBJECTS, min_size=1, max_size=6), st.booleans(), st.sampled_from(["\n", "\r\n", "\n \t\n"]))
def test_every_object_comes_back(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any], escaped: bool, end: str
) -> None:
    """Whatever the texts hold, line separators of Unicode too, objects are what was written, and the digest is its."""
    content = end.join(json.dumps(value, ensure_ascii=escaped) for value in values).encode()
    path, seen = written(tmp_path_factory.mktemp("l") / "x.jsonl", content), Seen()
    assert [value for _, value in read_lines(path, "x", seen)] == values
    assert (seen.sha256, seen.bytes) == (hashlib.sha256(content).hexdigest(), len(content))


def test_blank_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    """The number is that of the line in the file; a byte order mark is no content."""
    path = written(tmp_path / "x.jsonl", b'\xef\xbb\xbf\n{"a": 1}\r\n \t\r\n\n{"b": 2}')
    assert read(path) == [(2, {"a": 1}), (5, {"b": 2})]


def test_text_is_as_it_stands(tmp_path: Path) -> None:
    """Only a newline ends a line: other separators, blanks and tabs at its ends are text."""
    path = written(tmp_path / "x.tsv", "a\t b\u2028c\x0bd \n\ne\x85\tf\r\n".encode())
    assert list(text_lines(path, "x")) == [(1, "a\t b\u2028c\x0bd \n"), (3, "e\x85\tf\r\n")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not valid JSON"),
        (b'{"a": "un', "not valid JSON: Unterminated string"),
        (b"sample: 1", "not valid JSON"),
        (b'{"a": 1} {"b": 2}', "not valid JSON: Extra data"),
        (b"[1, 2]", "the line is list"),
        (b"null", "the line is nothing"),
        (b'"text"', "the line is str"),
        (b'{"a": {"b": 1, "b": 2}}', "the key 'b' stands twice"),
        (b'{"a": NaN}', "a number that cannot be read: NaN"),
        (b'{"a": 1e999}', "a number that cannot be read: 1e999"),
        (b'{"a": "\\ud83d"}', "half of a surrogate pair"),
        (b'{"\\udc00": 1}', "half of a surrogate pair"),
        (b'{"a": "caf\xe9"}', "not UTF-8 text"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("after", [b'\n{"c": 3}\n', b"\n"])
def test_a_wrong_line_is_named(tmp_path: Path, line: bytes, message: str, after: bytes) -> None:
    """Whatever is wrong with a line, the error says what and in which line of which file, and never that it is cut."""
    path = written(tmp_path / "x.jsonl", b'{"a": 1}\n\n' + line + after)
    with pytest.raises(UsageProblem, match=message) as caught:
        read(path)
    assert caught.value.where.startswith(f"{path}:3")
    assert caught.value.allowed
    assert "cut off" not in caught.value.what


@pytest.mark.parametrize("length", range(1, 13))
def test_a_file_that_ends_inside_a_line_is_cut_off(tmp_path: Path, length: int) -> None:
    """Wherever the last line breaks off, the error says so; inside a character too."""
    path = written(tmp_path / "x.jsonl", b'{"a": 1}\n' + '{"日本": "é"}'.encode()[:length])
    with pytest.raises(UsageProblem, match="cut off") as caught:
        read(path)
    assert caught.value.where.startswith(f"{path}:2")


@pytest.mark.parametrize("content", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_a_file_without_a_line_is_empty(tmp_path: Path, content: bytes) -> None:
    """Blank lines alone are nothing."""
    with pytest.raises(UsageProblem, match="the file is empty"):
        read(written(tmp_path / "x.jsonl", content))


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    """A missing file and a folder are said to be that, without a line."""
    for path, message in ((tmp_path / "nowhere", "no such file"), (tmp_path, "this is a folder")):
        with pytest.raises(HarnessError, match=message) as caught:
            read(path)
        assert caught.value.where == str(path)


def test_a_file_without_line_ends_is_not_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line longer than any record ends the reading."""
    monkeypatch.setattr(lines, "_LARGEST", 1 << 20)
    seen = Seen()
    path = written(tmp_path / "x.jsonl", b'{"a": "' + b"b" * (3 << 20))
    with pytest.raises(UsageProblem, match="no end within 1 MiB"):
        list(read_lines(path, "x", seen))
    assert seen.bytes == 1 << 20
