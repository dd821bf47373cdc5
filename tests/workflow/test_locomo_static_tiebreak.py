"""The tie-break on LoCoMo: a promise that it can keep, one that it cannot, and a store in which it does nothing."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "preregistrations"
DOCUMENT = (EXAMPLES / "static-tiebreak.yaml").read_text(encoding="utf-8").replace("authors: TODO", "authors: me")
RAW = "\n  parameters: {layers: [raw]}"
TEXTS = {
    "at 0.007": DOCUMENT,
    "at 0.005": DOCUMENT.replace("non_inferior: 0.007", "non_inferior: 0.005"),
    "raw": DOCUMENT.replace("baseline: bm25", f"straw: turns alone\nbaseline:\n  version: bm25{RAW}")
    .replace("version: static-tiebreak ", f"version: static-tiebreak{RAW} ")
    .replace("experiments/static-tiebreak/", "experiments/raw/")
    .replace("trials: 1 ", "trials: 2 "),
}
CODES = {"at 0.007": 0, "at 0.005": 20, "raw": 11}
ID = "static-tiebreak"


@pytest.fixture(scope="module")
def dev_done(locomo_file: Path, whole_way: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh workspace with LoCoMo imported, and the tie-break frozen over both layers and over turns alone."""
    desk = whole_way.desk(tmp_path_factory.mktemp("locomo"))
    for words in (
        ("init",),
        ("data", "import", "locomo", str(locomo_file)),
        ("dev", "--retrieval-version", ID),
        ("freeze", "latest", "--name", ID),
        ("dev", "--retrieval-version", ID, "retrieval.layers=[raw]"),
        ("freeze", "latest", "--name", "raw"),
    ):
        done = desk.process(*words)
        assert done.code == 0, done.err
    return desk.root


@pytest.fixture(scope="module", params=list(TEXTS))
def workspace(request: pytest.FixtureRequest, dev_done: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Name, folder and state folder of a workspace of its own with one of the documents."""
    base = tmp_path_factory.mktemp("tiebreak")
    shutil.copytree(dev_done, base / "ws")
    (base / "ws" / "preregistrations" / f"{ID}.yaml").write_text(TEXTS[request.param], encoding="utf-8")
    return request.param, base / "ws", base / "state"


@pytest.fixture
def way(
    workspace: Any, desk: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[str, Any, dict[str, Any]]:
    """Name, workspace and verdict; checked, locked and run by the first test that asks."""
    name, root, state = workspace
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    here = type(desk)(root, state, capsys)
    if not here.entry_files():
        checked = here.run("prereg", "check", ID)
        assert "that nothing is lost is the one claim that can be decided" in checked.out
        lock = ("prereg", "lock", ID)
        if name == "at 0.005":
            assert "PASS is unreachable: without a single loss the lower bound on 1785 questions would be -0.6 poi" in (
                checked.out
            )
            assert here.run(*lock).code == 2
            lock += ("--acknowledge", "to see what it says")
        if name == "raw":
            assert "not one of 199 dev questions is ranked differently" in checked.out
            assert here.run(*lock).code == 2
            lock += ("--acknowledge", "to see what it says")
        assert here.run(*lock).code == 0
        assert here.run("full", ID).code == CODES[name]
    return name, here, here.payload("verdict")


@pytest.mark.parametrize("gain", ["0", "0.005"])
def test_superiority_is_out_of_reach(
    gain: str, dev_done: Path, desk: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No order of exact ties gains anything on dev, and at least 0.63 points more than the gain are needed."""
    here = type(desk)(Path(shutil.copytree(dev_done, tmp_path / "ws")), desk.state, capsys)
    text = DOCUMENT.replace("non_inferior: 0.007", f"superior: {gain}")
    (here.root / "preregistrations" / f"{ID}.yaml").write_text(text, encoding="utf-8")
    done = here.run("prereg", "check", ID, "--json")
    assert done.code == 2
    (refused,) = [item for item in done.json["findings"] if item["kind"] == "refused"]
    assert refused["subject"] == "primary Success@10 in all"
    for words in ("the best order of all exact ties would gain +0.00 points on dev", "1 of 197 questions depends on it",
                  {"0": "+0.63 points", "0.005": "+1.14 points"}[gain]):  # fmt: skip
        assert words in refused["says"], refused["says"]
    assert refused["may_acknowledge"]


def test_a_temporal_guard_of_one_point_is_refused_with_its_floor(
    dev_done: Path, desk: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """284 temporal questions without a single loss show no better than -1.8 points, and that is said."""
    here = type(desk)(Path(shutil.copytree(dev_done, tmp_path / "ws")), desk.state, capsys)
    text = f"{DOCUMENT}guards: [{{measure: Success@10, slice: temporal, drop: 0.01}}]\n"
    (here.root / "preregistrations" / f"{ID}.yaml").write_text(text, encoding="utf-8")
    done = here.run("prereg", "check", ID, "--json")
    assert done.code == 2
    (refused,) = [item for item in done.json["findings"] if item["kind"] == "refused"]
    assert refused["subject"] == "guard Success@10 in temporal"
    assert "on 284 questions would be -1.8 points, and -1.0 must be cleared" in refused["says"]
    assert refused["fix"] == "tolerate 0.018, or choose a larger slice"


def test_what_the_tie_break_can_show(way: Any) -> None:
    """Without a win or a loss the bound decides by the margin, and over turns alone there is nothing to decide."""
    name, desk, verdict = way
    assert (verdict["state"], verdict["reason"]) == {
        "at 0.007": ("PASS", "all_clauses_hold"),
        "at 0.005": ("INCONCLUSIVE", "underpowered"),
        "raw": ("INADMISSIBLE", "instrument_did_not_move"),
    }[name]
    baseline, candidate = (
        desk.full(f"ranking-{role}.jsonl", ID).read_text(encoding="utf-8").splitlines()
        for role in ("baseline", "candidate")
    )
    moved = sum(before != after for before, after in zip(baseline, candidate, strict=True))
    if name == "raw":
        assert (moved, verdict["clauses"]) == (0, [])
    else:
        (primary,) = verdict["clauses"]
        assert moved == 33
        assert (primary["n"], primary["clusters"], primary["wins"], primary["losses"]) == (1785, 9, 0, 0)
        # the design effect: n̄ (1 + CV²) is the number of questions by the number of equal clusters
        assert 1 + (1785 / primary["effective_clusters"] - 1) * 0.01 == pytest.approx(3.07, abs=0.005)
        assert primary["estimate"] == 0
        assert primary["lower"] == pytest.approx(-0.0063, abs=5e-5)


def test_each_verdict_verifies(way: Any) -> None:
    """Every check passes whatever the verdict is; only the signature is not there."""
    _, desk, _ = way
    code, status, _ = desk.verify(ID)
    assert (code, {check for check, said in status.items() if said != "PASS"}) == (0, {"signature"})
