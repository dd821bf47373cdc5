"""Predictions made before a run, and how they came out."""

from __future__ import annotations

from typing import Any

import pytest

from harness.workflow.predictions import STATES, brier


def test_brier_score_of_certain_and_of_ignorant_forecasts() -> None:
    """Certain and right is 0, certain and wrong is 2, a third each is two thirds."""
    certain = {"PASS": 1.0, "ROLLBACK": 0.0, "INCONCLUSIVE": 0.0}
    assert [brier(certain, state) for state in STATES] == [0, 2, 2]
    assert brier(dict.fromkeys(STATES, 1 / 3), "ROLLBACK") == pytest.approx(2 / 3)


def test_the_lock_records_a_forecast(locked: Any) -> None:
    """Before the run the lock holds an interval and three chances, made from dev alone."""
    forecast = locked.payload("lock")["forecast"]
    assert forecast["low"] < forecast["gain"] < forecast["high"]
    assert forecast["pass"] + forecast["rollback"] + forecast["inconclusive"] == pytest.approx(1)


def test_the_forecast_is_scored_after_the_run(finished: Any) -> None:
    """The verdict says what was predicted, what came, and whether it lay inside; so does the page."""
    done = finished.run("verdict", "raw-only", "--json")
    (predicted,) = done.json["predicted"]
    recorded, came = finished.payload("lock")["forecast"], finished.payload("verdict")["clauses"][0]["estimate"]
    assert (predicted["low"], predicted["came"]) == (recorded["low"], came)
    assert predicted["inside"] == (recorded["low"] <= came <= recorded["high"])
    chances = {state: recorded[state.lower()] for state in STATES}
    assert predicted["brier"] == pytest.approx(brier(chances, "PASS"))
    for text in (finished.run("verdict", "raw-only").out, finished.full("report.md").read_text(encoding="utf-8")):
        assert "Before the lock, dev gave reason to expect" in text
        assert "Brier score" in text


def test_calibration_sums_up_every_verdict(finished: Any) -> None:
    """All judged documents are listed, intervals counted, forecasts scored beside that of ignorance."""
    found = finished.run("calibration", "--json").json
    assert [row["id"] for row in found["verdicts"]] == ["raw-only"]
    assert found["intervals"]["harness"]["n"] == 1
    assert found["intervals"]["authors"]["n"] == 0
    assert found["brier"]["n"] == 1
    assert found["brier"]["of_thirds"] == pytest.approx(2 / 3)
    text = finished.run("calibration").out
    assert "raw-only" in text
    assert "so few verdicts say little" in text


def test_calibration_before_any_verdict(locked: Any) -> None:
    """Nothing has been judged, and that is what is said."""
    assert "nothing has been judged yet" in locked.run("calibration").out
    assert locked.run("calibration", "--json").json["brier"] is None


@pytest.mark.parametrize(("low", "high", "inside"), [("0.03", "0.2", True), ("0.3", "0.5", False)])
def test_the_authors_prediction_is_scored_too(ready: Any, low: str, high: str, inside: bool) -> None:
    """What the document expects is held against what came, beside the harness's own."""
    assert ready.run("dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]").code == 0
    assert ready.run("freeze", "latest", "--name", "raw-only").code == 0
    assert ready.second("hoped").code == 0
    path = ready.document("hoped")
    path.write_text(f"{path.read_text(encoding='utf-8')}expect: {{low: {low}, high: {high}}}\n", encoding="utf-8")
    assert ready.run("prereg", "lock", "hoped").code == 0
    assert ready.run("full", "hoped").code == 0
    predicted = {item["by"]: item for item in ready.run("verdict", "hoped", "--json").json["predicted"]}
    assert set(predicted) == {"harness", "authors"}
    assert (predicted["authors"]["level"], predicted["authors"]["inside"]) == (None, inside)
    assert "The authors expected" in ready.full("report.md", "hoped").read_text(encoding="utf-8")
    assert ready.run("calibration", "--json").json["intervals"]["authors"] == {"n": 1, "inside": int(inside)}
