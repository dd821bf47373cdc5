"""Predictions made before a run, scored after it: intervals that should hold the change, and chances of verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.ledger.entries import Entry
from harness.ledger.state import Life, lives

STATES = ("PASS", "ROLLBACK", "INCONCLUSIVE")


def score_predictions(present: Life) -> list[dict[str, Any]]:
    """What was predicted of a judged document, each with how it came out; nothing where nothing valid was measured.

    Returns:
        One mapping a prediction: ``by`` (``harness`` or ``authors``), ``low``, ``high``, ``level`` (intended coverage,
        None where the authors named none), ``came`` (the held-out change under the first primary), ``inside``; for
        the harness also ``pass``, ``rollback``, ``inconclusive`` and ``brier``.
    """
    assert present.lock is not None
    assert present.verdict is not None
    lock, verdict = present.lock.payload, present.verdict.payload
    if verdict["state"] not in STATES or not verdict["clauses"]:
        return []
    came = verdict["clauses"][0]["estimate"]
    found = []
    forecast = lock.get("forecast")
    if forecast:
        chances = {state: forecast[state.lower()] for state in STATES}
        found.append({"by": "harness", **forecast, **_came(forecast, came), "brier": brier(chances, verdict["state"])})
    expect = lock["document"]["expect"]
    if expect:
        found.append({"by": "authors", **expect, "level": None, **_came(expect, came)})
    return found


def _came(interval: Mapping[str, Any], came: float) -> dict[str, Any]:
    return {"came": came, "inside": interval["low"] <= came <= interval["high"]}


def brier(chances: Mapping[str, float], state: str) -> float:
    """Brier score of a forecast of the verdict (Brier 1950): 0 is perfect, 2 is certain and wrong.

    Args:
        chances: state → its forecast chance; they add up to 1.
        state: what came.
    """
    return sum((chance - (name == state)) ** 2 for name, chance in chances.items())


def calibration(entries: Sequence[Entry]) -> dict[str, Any]:
    """How good the predictions of all judged documents were.

    Returns:
        ``verdicts``: one mapping a judged document with its predictions; ``intervals``: for ``harness`` and
        ``authors``, how many there were and how many held; ``brier``: the mean of the harness's forecasts, beside
        that of one who gives each of the three verdicts a third; None where there are none.
    """
    judged = [life for life in lives(entries).values() if life.verdict is not None and life.lock is not None]
    judged.sort(key=lambda life: life.verdict.sequence if life.verdict else 0)
    rows = [
        {"id": life.identifier, "state": life.verdict.payload["state"], "predictions": score_predictions(life)}
        for life in judged
        if life.verdict
    ]
    every = [prediction for row in rows for prediction in row["predictions"]]
    intervals = {}
    for by in ("harness", "authors"):
        mine = [prediction["inside"] for prediction in every if prediction["by"] == by]
        intervals[by] = {"n": len(mine), "inside": sum(mine)}
    scores = [prediction["brier"] for prediction in every if "brier" in prediction]
    third = brier(dict.fromkeys(STATES, 1 / 3), STATES[0])
    mean = {"n": len(scores), "mean": sum(scores) / len(scores), "of_thirds": third} if scores else None
    return {"verdicts": rows, "intervals": intervals, "brier": mean}
