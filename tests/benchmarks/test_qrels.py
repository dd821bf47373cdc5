from __future__ import annotations

from pathlib import Path

import pytest

from harness.benchmarks.qrels import read_qrels
from harness.errors import UsageProblem


def written(tmp_path: Path, text: str | bytes) -> Path:
    """A qrels file with this text."""
    path = tmp_path / "a.qrels"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_grade_above_0_is_relevant(tmp_path: Path) -> None:
    """Grades of 0 and below are judged and not relevant; those above 1 are counted; a question may have none."""
    text = "q1 0 a 1\nq1 0 b 0\n\nq1 0 c 3\nq2\t0\td\t-1\r\nq3 Q0 a 2\n"
    found = read_qrels(written(tmp_path, text))
    assert dict(found.relevant) == {"q1": ("a", "c"), "q2": (), "q3": ("a",)}
    assert (found.judged, found.graded, found.without_evidence) == (5, 2, ["q2"])


def test_a_byte_order_mark_is_no_part_of_an_id(tmp_path: Path) -> None:
    """A file saved with one names the same questions."""
    assert list(read_qrels(written(tmp_path, "\ufeffq1 0 a 1\n")).relevant) == ["q1"]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("q 0 a 1\nq 0 a 1\n", 2, "judged twice for question 'q', first in line 1"),
        ("q 0 a 1\nq 0 a 0\n", 2, "judged twice"),
        ("q 0 a 1\nq 0 b 0.5\n", 2, "grade '0.5'"),
        ("q 0 a 1e1\n", 1, "grade '1e1'"),
        ("q 0 a high\n", 1, "grade 'high'"),
        ("q 0 a nan\n", 1, "grade 'nan'"),
        ("q 0 a ²\n", 1, "grade '²'"),
        ("q 0 a\n", 1, "3 columns"),
        ("\nq 0 a 1 x\n", 2, "5 columns"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, line: int, says: str) -> None:
    """Duplicates, grades that are no whole numbers and other columns are refused with the line's number."""
    path = written(tmp_path, text)
    with pytest.raises(UsageProblem) as caught:
        read_qrels(path)
    assert (caught.value.where, says in caught.value.what) == (f"{path}:{line}", True), caught.value.what


@pytest.mark.parametrize("text", ["", "\n \n", b"\xff\xfe"])
def test_a_file_without_judgments_is_refused(tmp_path: Path, text: str | bytes) -> None:
    """An empty file and one that is no text are no qrels."""
    with pytest.raises(UsageProblem, match=r"no judgment in it|not a qrels file"):
        read_qrels(written(tmp_path, text))


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    """What is not there, and what is no file, is named."""
    for path, says in ((tmp_path / "none", "no such qrels file"), (tmp_path, "not a qrels file")):
        with pytest.raises(UsageProblem, match=says):
            read_qrels(path)
