"""The checks beside a verdict."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Scores
from harness.reporting.beside_words import clause_lines
from harness.workflow.beside import beside

R = parse_measure("R@10")


def compared(before: Sequence[float], after: Sequence[float], clusters: Sequence[str]) -> Comparison:
    """Two systems on questions in clusters."""
    questions = tuple(f"q{place}" for place in range(len(before)))
    left, right = (Scores(questions, {R: np.array(values, dtype=float)}, {R: {}}) for values in (before, after))
    return compare(left, right, R, clusters=clusters, alpha=0.05, rho=0.01)


@pytest.mark.parametrize(
    ("before", "after", "clusters"),
    [
        ([0.0], [1.0], ["a"]),
        ([0.0, 1.0], [1.0, 1.0], ["a", "b"]),
        ([0.5] * 12, [0.5] * 12, ["a", "b", "c"] * 4),
        ([0.0] * 12, [0.25] * 12, ["a", "b", "c"] * 4),
        ([0.0] * 12, [1.0] * 12, ["a"] * 12),
        ([0.0, 1.0, 0.5] * 10, [1.0, 0.0, 0.5] * 10, [str(place) for place in range(30)]),
    ],
    ids=["one question", "two questions", "all ties", "constant deltas", "one cluster", "single questions"],
)
def test_nothing_is_ever_nan(before: list[float], after: list[float], clusters: list[str]) -> None:
    """However little there is, every check gives a number or says that there is none."""
    found = beside(compared(before, after, clusters))
    text = json.dumps(found, allow_nan=False)
    assert json.loads(text) == found
    lines = clause_lines(found)
    assert lines
    assert not any("nan" in line for line in lines)


def test_no_loss_is_told_with_what_it_leaves_open() -> None:
    """No loss among 90 questions in 9 conversations, which count as fewer, leaves some per cent unseen."""
    clusters = [str(place % 9) for place in range(90)]
    found = beside(compared([0.0] * 90, [1.0] * 5 + [0.0] * 85, clusters))
    assert 0.03 < found["unseen_losses"] < 0.04
    lost = beside(compared([1.0] + [0.0] * 89, [0.0] * 90, clusters))
    assert lost["unseen_losses"] is None


def test_conversations_without_which_the_change_is_least_and_greatest() -> None:
    """The one that gains most is named for the least, the one that loses for the greatest."""
    clusters = [name for name in "abcdef" for _ in range(10)]
    after = [1.0] * 8 + [0.0] * 2 + [0.0] * 40 + [0.0] * 10
    before = [0.0] * 50 + [1.0] * 5 + [0.0] * 5
    least, greatest = beside(compared(before, after, clusters))["without"]
    assert (least["cluster"], greatest["cluster"]) == ("a", "f")
    assert (least["estimate"], greatest["estimate"]) == (-0.1, pytest.approx(0.16))


def test_the_page_and_the_verdict_show_them(finished: Any) -> None:
    """Every clause has its checks on both pages and in JSON; the terminal says what would change the verdict."""
    value = finished.run("verdict", "raw-only", "--json").json
    assert [row["clause"] for row in value["beside"]["clauses"]] == ["primary R@10, all", "guard R@10, temporal"]
    assert value["beside"]["fragility"]["towards"] == "INCONCLUSIVE"
    for name in ("report.md", "report.html"):
        text = finished.full(name).read_text(encoding="utf-8")
        for words in ("Checks beside the verdict", "sign-flip by cluster", "McNemar exact", "mid-p", "paired t",
                      "design effect", "without one conversation", "flipped questions", "Holm 1979"):  # fmt: skip
            assert words in text, (name, words)
    assert "would make it INCONCLUSIVE" in finished.run("verdict", "raw-only").out
