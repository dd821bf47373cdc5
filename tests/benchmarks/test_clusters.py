from __future__ import annotations

from pathlib import Path

import pytest

from harness.benchmarks.clusters import OWN, PREFIX, clusters_of, connected
from harness.errors import UsageProblem

QUESTIONS = ("c0/q0", "c0/q1", "c1/a/q2")


def test_every_question_its_own() -> None:
    """Without more knowledge every question stands alone."""
    assert clusters_of(OWN, QUESTIONS) == list(QUESTIONS)


def test_the_part_before_the_last_slash() -> None:
    """A prefix is everything before the last slash, and an id without one has none."""
    assert clusters_of(PREFIX, QUESTIONS) == ["c0", "c0", "c1/a"]
    with pytest.raises(UsageProblem, match="'bare' has no slash"):
        clusters_of(PREFIX, [*QUESTIONS, "bare"])


def test_a_file_in_any_order(tmp_path: Path) -> None:
    """A file says it question by question; lines about others, blank lines and a byte order mark do no harm."""
    path = tmp_path / "clusters.tsv"
    path.write_text("\ufeffc0/q1\ttwo words\r\n\nc9/q9\tx\nc1/a/q2\ty\nc0/q0\ty\n", encoding="utf-8")
    assert clusters_of(str(path), QUESTIONS) == ["y", "two words", "y"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("c0/q0 a\n", ":1: 'c0/q0 a'"),
        ("c0/q0\ta\nc0/q0\tb\n", ":2: question 'c0/q0' twice"),
        ("c0/q0\ta\n", "2 of 3 questions have no cluster, such as 'c0/q1'"),
        ("c0/q0\ta\tb\n", ":1:"),
        ("c0/q0\t\n", ":1:"),
        ("", "3 of 3 questions have no cluster"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, text: str, says: str) -> None:
    """Malformed lines, doubles and missing questions are named with their line."""
    path = tmp_path / "clusters.tsv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageProblem) as caught:
        clusters_of(str(path), QUESTIONS)
    assert says in str(caught.value)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a folder and one that is no text are refused."""
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none", tmp_path, tmp_path / "binary"):
        with pytest.raises(UsageProblem, match="cannot be read as a file of clusters"):
            clusters_of(str(path), QUESTIONS)


def test_questions_that_share_something_are_one_cluster() -> None:
    """Through whatever they share, also over a third question, and named by the least id whatever the order."""
    shared = {"q3": ("x",), "q1": ("y", "x"), "q2": ("y",), "q9": (), "q4": ("z",)}
    for order in (list(shared), sorted(shared), sorted(shared, reverse=True)):
        found = dict(zip(order, connected(order, [shared[one] for one in order]), strict=True))
        assert found == {"q1": "q1", "q2": "q1", "q3": "q1", "q4": "q4", "q9": "q9"}
