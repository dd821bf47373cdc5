from __future__ import annotations

import json
from typing import Any

WORDS = ("--title", "t", "--hypothesis", "h", "--rationale", "r", "--author", "me", "--superior", "0.02")


def test_a_budget_of_tokens_goes_the_whole_way(ready: Any) -> None:
    """Edges against chunks, each as far as it fits: dev, frozen file, document, sealed rankings and the verifier."""
    done = ready.run("dev", "--retrieval-version", "bm25-edges", "budget=tokens:200", "k=30")
    assert done.code == 0, done.err
    assert "as far as it fits into 200 tokens" in done.out
    assert ready.run("freeze", "latest", "--name", "edges").code == 0
    done = ready.run("prereg", "new", "edges", "--from", "experiments/edges/frozen.yaml", *WORDS)
    assert done.code == 0, done.err
    assert "\nbudget: tokens:200 " in ready.document("edges").read_text("utf-8")
    done = ready.run("prereg", "lock", "edges", "--acknowledge", "to see")
    assert done.code == 0, done.err
    assert ready.run("full", "edges").code in (0, 10, 20)
    budgets = json.loads(ready.full("budget.json", "edges").read_text("utf-8"))
    assert [budgets[role]["unit"] for role in ("baseline", "candidate")] == ["chunks", "edges"]
    assert all(150 < budgets[role]["tokens"] <= 200 for role in budgets)
    code, status, reason = ready.verify("edges")
    assert (code, status["measures"], status["decision"]) == (0, "PASS", "PASS"), reason


def test_a_reason_for_unequal_budgets_stands_on_the_page(ready: Any) -> None:
    """Without it two read models are refused; with it the verdict page says so first."""
    assert ready.run("dev", "--retrieval-version", "bm25-edges", "k=10").code == 0
    assert ready.run("freeze", "latest", "--name", "edges").code == 0
    done = ready.run("prereg", "new", "edges", "--from", "experiments/edges/frozen.yaml", *WORDS)
    assert done.code == 2
    assert "equal k is not an equal budget" in done.err
    assert "--unequal WHY" in done.err
    done = ready.run("prereg", "new", "edges", "--from", "experiments/edges/frozen.yaml", "--unequal", "we pay", *WORDS)
    assert done.code == 0, done.err
    assert ready.run("prereg", "lock", "edges", "--acknowledge", "to see").code == 0
    assert ready.run("full", "edges").code in (0, 10, 20)
    page = ready.full("report.md", "edges").read_text("utf-8")
    assert page.splitlines()[2] == "**Unequal read budgets**: equal k is not equal reading here. we pay"
