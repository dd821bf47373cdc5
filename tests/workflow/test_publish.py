from __future__ import annotations

import re
import shutil
from typing import Any


def test_an_edited_or_missing_page_is_made_again(finished: Any) -> None:
    """The page is made from ledger and run files alone: edited or removed, it comes back byte for byte."""
    html, markdown = finished.full("report.html"), finished.full("report.md")
    good = html.read_bytes(), markdown.read_bytes()
    html.write_bytes(good[0].replace(b"PASS", b"ROLLBACK"))
    markdown.unlink()
    done = finished.run("report", "raw-only", "--json")
    assert (done.code, done.json) == (0, {"files": [str(html), str(markdown)]})
    assert (html.read_bytes(), markdown.read_bytes()) == good


def test_the_page_needs_no_benchmark(finished: Any) -> None:
    """A colleague without the data can make the page again."""
    good = finished.full("report.md").read_bytes()
    shutil.rmtree(finished.root / "data" / "synthetic")
    assert finished.run("report", "raw-only").code == 0
    assert finished.full("report.md").read_bytes() == good


def test_the_page_says_everything_a_verdict_must(finished: Any) -> None:
    """Words first, then promise beside outcome, both credits, slices, look, and how to reproduce."""
    text = finished.full("report.md").read_text(encoding="utf-8")
    assert text.index("PASS") < text.index("R@10")
    for words in ("R(credit=source)@10", "exploratory", "harness verify raw-only", "9 clusters", "temporal",
                  "Facts repeat turns.", "Two points pay.", finished.payload("lock")["document_digest"]):  # fmt: skip
        assert words in text, words


def test_the_page_loads_nothing(finished: Any) -> None:
    """The HTML page stands alone: no script, no picture, no style from anywhere else."""
    html = finished.full("report.html").read_text(encoding="utf-8")
    assert re.findall(r"""(?:src|href)\s*=\s*["']?(?!#)[^"' >]+""", html) == []
    assert "@import" not in html
    assert "url(" not in html


def test_mlflow_holds_the_verdict_and_the_page(whole_way: Any) -> None:
    """One finished run, found by its lock, with verdict, look, metrics of slices, and the page."""
    from mlflow import MlflowClient

    desk = whole_way.desk(whole_way.base)
    root = whole_way.finished
    client = MlflowClient(f"sqlite:///{root / 'runs' / 'mlflow.db'}")
    (found,) = client.search_runs([client.get_experiment_by_name("full").experiment_id])
    tags, metrics = found.data.tags, found.data.metrics
    lock = type(desk)(root, whole_way.state).entries()[0]
    assert (tags["harness.verdict"], tags["harness.look"], tags["harness.id"]) == ("PASS", "1", "raw-only")
    assert tags["harness.document"] == lock["payload"]["document_digest"]
    primary = whole_way.calls["full"].json["clauses"][0]
    assert metrics["heldout/all/candidate/R_at_10"] == primary["candidate"]
    assert metrics["primary/all/lower/R_at_10"] == primary["lower"]
    assert "heldout/temporal/baseline/R.credit-source_at_10" in metrics
    assert found.data.params["candidate.layers"] == '["raw"]'
    assert {item.path for item in client.list_artifacts(found.info.run_id)} == {"report.html", "report.md"}
    assert client.get_experiment_by_name("dev") is not None
