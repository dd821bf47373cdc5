"""Two real preregistrations on LoCoMo: the same change, promised under either credit rule."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

PRIMARY = {"raw": "R@10", "source": "R(credit=source)@10"}
NEW = ("--superior", "0.02", "--guard", "temporal:0.03", "--title", "Raw turns only", "--hypothesis", "h",
       "--rationale", "r", "--author", "me")  # fmt: skip


@pytest.fixture(scope="module")
def dev_done(locomo_file: Path, whole_way: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh workspace with LoCoMo imported, one dev run of BM25 over raw turns, and its frozen result."""
    desk = whole_way.desk(tmp_path_factory.mktemp("locomo"))
    (desk.root / "runs").mkdir()
    # an MLflow store that exists saves making one
    shutil.copyfile(whole_way.locked / "runs" / "mlflow.db", desk.root / "runs" / "mlflow.db")
    for words in (
        ("init",),
        ("data", "import", "locomo", str(locomo_file)),
        ("dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]"),
        ("freeze", "latest", "--name", "raw-only"),
    ):
        done = desk.process(*words)
        assert done.code == 0, done.err
    return desk.root


@pytest.fixture(scope="module", params=["raw", "source"])
def judged(request: pytest.FixtureRequest, dev_done: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Credit rule, folder and state folder of a workspace of its own in which the rule's promise was locked."""
    base = tmp_path_factory.mktemp(request.param)
    shutil.copytree(dev_done, base / "ws")
    return request.param, base / "ws", base / "state"


@pytest.fixture
def way(
    judged: Any, desk: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[str, Any, dict[str, Any]]:
    """Credit rule, workspace and verdict; locked and run by the first test that asks."""
    credit, root, state = judged
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    here = type(desk)(root, state, capsys)
    if not here.entry_files():
        frozen = ("--from", "experiments/raw-only/frozen.yaml")
        assert here.run("prereg", "new", "raw-only", *frozen, "--primary", PRIMARY[credit], *NEW).code == 0
        checked = here.run("prereg", "check", "raw-only")
        assert checked.code == 0
        assert ("dev points to ROLLBACK, which is forecast" in checked.out) == (credit == "source")
        assert here.run("prereg", "lock", "raw-only").code == 0
        assert here.run("full", "raw-only").code == {"raw": 0, "source": 10}[credit]
    return credit, here, here.payload("verdict")


def test_the_credit_rule_decides(way: Any) -> None:
    """Under raw credit the change passes with about +8.6 points, under source credit it is rolled back with −7.5."""
    credit, desk, verdict = way
    primary, guard = verdict["clauses"]
    assert verdict["state"] == {"raw": "PASS", "source": "ROLLBACK"}[credit]
    low, high = {"raw": (0.084, 0.088), "source": (-0.077, -0.073)}[credit]
    assert low < primary["estimate"] < high
    assert primary["lower"] < primary["estimate"] < primary["upper"]
    assert (guard["slice"], primary["clusters"]) == ("temporal", 9)
    assert desk.run("verdict", "raw-only").code == {"raw": 0, "source": 10}[credit]


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_the_page_shows_the_other_credit_as_exploratory(way: Any, name: str) -> None:
    """Each page has both credits, names the other one exploratory, and gives its change."""
    credit, desk, verdict = way
    text = desk.full(name).read_text(encoding="utf-8").replace("−", "-")
    assert verdict["state"] in text
    assert PRIMARY["raw"] in text
    assert PRIMARY["source"] in text
    lines = [line for line in text.splitlines() if "exploratory" in line]
    assert lines
    assert {"raw": "-7.5", "source": "+8.6"}[credit] in text


def test_both_verdicts_verify(way: Any) -> None:
    """Every check passes on real data, the benchmark's own included; only the signature is not there."""
    _, desk, _ = way
    code, status, _ = desk.verify()
    assert (code, {name for name, said in status.items() if said != "PASS"}) == (0, {"signature"})


def test_the_forecast_is_scored(way: Any) -> None:
    """Before the run dev pointed to PASS under one rule and to ROLLBACK under the other; both came, as forecast."""
    credit, desk, verdict = way
    forecast = desk.payload("lock")["forecast"]
    likely = {"raw": "pass", "source": "rollback"}[credit]
    assert forecast[likely] > 0.7
    (predicted,) = desk.run("verdict", "raw-only", "--json").json["predicted"]
    assert predicted["inside"]
    assert predicted["low"] < predicted["came"] == verdict["clauses"][0]["estimate"] < predicted["high"]
    found = desk.run("calibration", "--json").json
    assert found["intervals"]["harness"] == {"n": 1, "inside": 1}
    assert found["brier"]["mean"] < 0.2


def test_only_a_pass_comes_into_force(way: Any) -> None:
    """The candidate is in force after the PASS, and the shipped default stays after the ROLLBACK."""
    credit, desk, _ = way
    force = desk.run("versions", "in-force", "--json").json
    assert force["parameters"]["layers"] == {"raw": ["raw"], "source": ["raw", "distill"]}[credit]
