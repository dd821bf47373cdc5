from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest

from harness.tracking.record import Record

TRIAL = Record(
    "dev", "trial 3", "harness.trial", {"harness.trial": "s/3"}, {"k1": "0.9"}, {"R_at_10": np.float64(0.5)},
    artifacts=("runs/dev/x/result.json",), parent="harness.sweep=s", status="FAILED",
    time="2026-12-01T00:00:00+00:00", seconds=2.5, receipt="x.json",
)  # fmt: skip


def test_a_record_waits_in_json_and_comes_back() -> None:
    """All of it, numbers of numpy included."""
    assert Record.from_plain(json.loads(json.dumps(TRIAL.as_plain()))) == TRIAL


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_no_finite_number_is_refused(value: float) -> None:
    """MLflow would take it, and show infinity as 1.8e308."""
    with pytest.raises(ValueError, match=r"not finite: \['odd'\]"):
        dataclasses.replace(TRIAL, metrics={"fine": 0.5, "odd": value})


@pytest.mark.parametrize(
    "change",
    [
        {"finds": "harness.run"},
        {"tags": {"harness.trial": ""}},
        {"tags": {"harness.trial": "it's"}},
        {"parent": "harness.sweep"},
        {"parent": "harness.sweep=a'b"},
        {"status": "RUNNING"},
    ],
    ids=str,
)
def test_a_record_must_be_findable_and_over(change: dict[str, Any]) -> None:
    """An identity that is missing or cannot be searched for, and a run that has not ended, are faults of a caller."""
    with pytest.raises(ValueError, match=r"identify|ended"):
        dataclasses.replace(TRIAL, **change)


@pytest.mark.parametrize("value", [[], "text", None, {}, {"name": "x"}, TRIAL.as_plain() | {"more": 1}], ids=str)
def test_other_json_is_no_record(value: Any) -> None:
    """What somebody changed by hand is told from a record."""
    with pytest.raises(ValueError, match=r"not a record|unknown"):
        Record.from_plain(value)
