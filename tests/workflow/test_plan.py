"""How large an experiment has to be."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

FROM = ("prereg", "plan", "--from", "experiments/raw-only/frozen.yaml")


@pytest.fixture
def frozen(ready: Any) -> Any:
    """A user with a frozen dev result."""
    assert ready.run("dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]").code == 0
    assert ready.run("freeze", "latest", "--name", "raw-only").code == 0
    return ready


def planned(desk: Any, *more: str) -> dict[str, Any]:
    """The plan as plain values."""
    done = desk.run(*FROM, *more, "--json")
    assert done.code == 0, done.err
    return dict(done.json)


def test_more_is_needed_for_less(frozen: Any) -> None:
    """A smaller gain takes more conversations, and more correlation does too."""
    small, large = (planned(frozen, "--gain", gain) for gain in ("0.03", "0.06"))
    for less, more in zip(small["by_correlation"], large["by_correlation"], strict=True):
        assert less["conversations"] > more["conversations"]
    counts = [row["conversations"] for row in small["by_correlation"]]
    assert counts == sorted(counts)


def test_what_is_found_now_is_found_now(frozen: Any) -> None:
    """A gain a little above what is found now needs no more questions than there are, and the simulation agrees."""
    finds = planned(frozen, "--gain", "0.05")["by_correlation"][1]["finds"]
    found = planned(frozen, "--gain", f"{finds + 0.002:.4f}")
    assert found["by_correlation"][1]["questions"] <= found["n"]
    assert found["simulated_power"] > 0.6


def test_a_margin_is_never_one_that_no_run_could_clear(frozen: Any) -> None:
    """Where nothing is meant to change, the margin that is named lies at the floor or beyond it."""
    found = planned(frozen, "--gain", "0", "--non-inferior", "0.05")
    assert all(row["threshold"] < -0.005 for row in found["by_correlation"])
    text = frozen.run(*FROM, "--gain", "0", "--non-inferior", "0.05").out
    assert "non_inferior: 0.0" in text


def test_nothing_is_changed_and_the_plot_is_the_same_every_time(frozen: Any, tmp_path: Path) -> None:
    """A plan is arithmetic: no ledger entry, no look, and the same picture."""
    first, second = tmp_path / "a.svg", tmp_path / "b.svg"
    before = frozen.tree()
    for path in (first, second):
        assert frozen.run(*FROM, "--gain", "0.05", "--superior", "0.02", "--plot", str(path)).code == 0
    assert frozen.tree() == before
    assert first.read_bytes() == second.read_bytes()
    text = first.read_text(encoding="utf-8")
    for words in ("ρ = 0.01", "true change, points", "power", "499 questions in 9 conversations"):
        assert words in text


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--gain", "0.01", "--superior", "0.02"), "does not exceed 0.02"),
        (("--gain", "-0.02", "--non-inferior", "0.01"), "does not exceed -0.01"),
        (("--gain", "3"), "a fraction of the measure"),
        (("--gain", "0.05", "--power", "1"), "0.05 to 0.99"),
        (("--gain", "0.05", "--power", "nan"), "0.05 to 0.99"),
        (("--gain", "0.05", "--slice", "temporl"), "no two conversations"),
        (("--gain", "0.05", "--slice", "conversation:home"), "no two conversations"),
        (("--gain", "0.05", "--primary", "Rr@10"), "RR"),
        (("--gain", "0.05", "--plot", "power.png"), "power.svg"),
    ],
)
def test_what_cannot_be_planned_is_refused(frozen: Any, more: tuple[str, ...], words: str) -> None:
    """Each refusal says what was allowed, and ends with 2."""
    done = frozen.run(*FROM, *more)
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert words in done.err


def test_the_version_in_force_cannot_be_planned_against_itself(finished: Any) -> None:
    """After its PASS the frozen candidate is the baseline, and nothing would differ."""
    done = finished.run(*FROM, "--gain", "0.05")
    assert done.code == 2
    assert "is the version in force" in done.err


def test_a_frozen_result_that_is_not_there(ready: Any) -> None:
    """A wrong path is named."""
    shutil.rmtree(ready.root / "experiments" / "raw-only", ignore_errors=True)
    done = ready.run(*FROM, "--gain", "0.05")
    assert done.code == 2
    assert "experiments/raw-only/frozen.yaml" in done.err
