from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.evaluation.formulas import FORMULAS


def failed(desk: Any) -> tuple[int, set[str]]:
    """Exit code of `verify`, and the names of the checks that failed."""
    code, status, _ = desk.verify()
    return code, {name for name, said in status.items() if said == "FAIL"}


def test_a_planted_bug_in_a_measure_is_found_by_name(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was judged with a wrong measure fails the check `measures`, and does not stand."""
    right = FORMULAS["R"]
    with monkeypatch.context() as planted:
        planted.setitem(FORMULAS, "R", lambda found, k: right(found, k - 1))
        assert locked.run("full", "raw-only").code in (0, 10, 20)
    code, status, reason = locked.verify()
    assert (code, status["measures"]) == (3, "FAIL")
    assert "R(credit=source)@10, baseline" in reason["measures"]
    assert (status["chain"], status["rankings"]) == ("PASS", "PASS")


def test_a_planted_bug_in_the_rule_is_found_by_name(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict that the rule does not give fails the check `decision`."""
    from harness.preregistration import rule
    from harness.workflow import judge

    def generous(*arguments: Any) -> Any:
        verdict = rule.judge(*arguments)
        return type(verdict)(**{**vars(verdict), "state": "ROLLBACK", "reason": "primary_below"})

    with monkeypatch.context() as planted:
        planted.setattr(judge, "judge", generous)
        assert locked.run("full", "raw-only").code == 10
    code, status, _ = locked.verify()
    assert (code, status["decision"], status["measures"]) == (3, "FAIL", "PASS")


def test_without_the_benchmark_the_minimum_set_is_enough(finished: Any) -> None:
    """Where the data are not there `data` is NOTRUN, says why, and the verdict stands."""
    shutil.rmtree(finished.root / "data" / "synthetic")
    code, status, reason = finished.verify()
    assert (code, status["data"]) == (0, "NOTRUN")
    assert "not imported here" in reason["data"]
    assert "not run: data, signature" in finished.run("verify", "raw-only").out


def test_another_benchmark_under_the_name(finished: Any, tiny_locomo: Any) -> None:
    """Other data under the locked name fail the check `data`."""
    shutil.rmtree(finished.root / "data" / "synthetic")
    words = ("data", "import", "locomo", str(tiny_locomo), "--allow-unknown", "--name", "synthetic")
    assert finished.run(*words).code == 0
    assert failed(finished) == (3, {"data"})


def test_a_document_before_its_run(locked: Any) -> None:
    """A locked document has no verdict that could stand: what needs one is NOTRUN or FAIL, never PASS."""
    code, status, _ = locked.verify()
    assert code == 3
    assert {status[name] for name in ("rankings", "measures", "decision")} <= {"FAIL", "NOTRUN"}
    assert status["mirror"] == "NOTRUN"


def _edited(desk: Any) -> tuple[Any, str]:
    from mlflow import MlflowClient

    client = MlflowClient(f"sqlite:///{desk.root / 'runs' / 'mlflow.db'}")
    (found,) = client.search_runs([client.get_experiment_by_name("full").experiment_id])
    return client, found.info.run_id


def test_a_run_that_was_edited_in_mlflow(finished: Any) -> None:
    """`mirror` fails and names tag and metric with both values; the verdict stands, and is written again on demand."""
    client, run = _edited(finished)
    client.set_tag(run, "harness.verdict", "ROLLBACK")
    client.log_metric(run, "look", 3)
    code, status, reason = finished.verify()
    assert (code, status["mirror"]) == (0, "FAIL")
    assert "tag harness.verdict: recorded PASS, MLflow says ROLLBACK" in reason["mirror"]
    assert "metric look: recorded 1.0, MLflow says 3.0" in reason["mirror"]
    done = finished.run("verify", "raw-only")
    assert "the verdict stands, but its copy in MLflow does not show it: harness mirror raw-only" in done.out
    assert finished.run("mirror", "raw-only").code == 0
    code, status, _ = finished.verify()
    assert (code, status["mirror"]) == (0, "PASS")
    assert client.get_run(run).info.lifecycle_stage == "deleted"


def test_a_run_that_was_deleted_in_mlflow(finished: Any) -> None:
    """`mirror` says so, the verdict stands, and `harness mirror --all` writes it again."""
    client, run = _edited(finished)
    client.delete_run(run)
    code, status, reason = finished.verify()
    assert (code, status["mirror"]) == (0, "FAIL")
    assert "deleted" in reason["mirror"]
    assert finished.run("verdict", "raw-only").code == 0
    assert finished.run("mirror", "--all").code == 0
    assert finished.verify()[1]["mirror"] == "PASS"


def test_a_missing_mlflow_store(finished: Any) -> None:
    """Without it the verdict stands and the check `mirror` is NOTRUN; no store is made."""
    store = finished.root / "runs" / "mlflow.db"
    store.unlink()
    code, status, reason = finished.verify()
    assert (code, status["mirror"]) == (0, "NOTRUN")
    assert "harness mirror raw-only" in reason["mirror"]
    assert not store.exists()


def test_a_store_that_never_held_the_run(finished: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A colleague's store, or one that is damaged, says nothing of the verdict."""
    import sqlite3

    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/other.db")
    (tmp_path / "other.db").write_bytes(b"not a database" * 100)
    assert finished.verify()[:2] == (0, finished.verify()[1] | {"mirror": "NOTRUN"})
    (tmp_path / "other.db").unlink()
    source = sqlite3.connect(finished.root / "runs" / "mlflow.db")
    source.execute(f"VACUUM INTO '{tmp_path}/other.db'")
    source.close()
    emptied = sqlite3.connect(tmp_path / "other.db")
    emptied.execute("UPDATE tags SET value = 'another' WHERE key = 'harness.lock'")
    emptied.commit()
    emptied.close()
    code, status, reason = finished.verify()
    assert (code, status["mirror"]) == (0, "NOTRUN")
    assert "no MLflow run here" in reason["mirror"]


def _spaced(desk: Any, name: str) -> None:
    path = desk.full(name)
    path.write_bytes(path.read_bytes().replace(b",", b", ", 1))


def _swapped(desk: Any) -> None:
    path = desk.full("ranking-candidate.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    name, found = json.loads(lines[0])
    lines[0] = json.dumps([name, found[::-1]], separators=(",", ":")) + "\n"
    path.write_text("".join(lines), encoding="utf-8")


def _score(desk: Any) -> None:
    path = desk.full("scores.json")
    value = json.loads(path.read_text(encoding="utf-8"))
    column = value["measures"]["R@10"]["candidate"]
    column[column.index(0.0)] = 1.0
    path.write_text(json.dumps(value, separators=(",", ":"), sort_keys=True) + "\n", encoding="utf-8")


def _entry(desk: Any, place: int, old: str, new: str) -> None:
    path = desk.entry_files()[place]
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def _delete_ledger(desk: Any) -> None:
    shutil.rmtree(desk.root / "preregistrations" / "ledger")


EDITS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "sealed ranking": (_swapped, "rankings"),
    "sealed ranking respelled": (lambda desk: _spaced(desk, "ranking-baseline.jsonl"), "rankings"),
    "sealed documents": (lambda desk: _spaced(desk, "documents-candidate.jsonl"), "rankings"),
    "questions": (lambda desk: _spaced(desk, "questions.jsonl"), "rankings"),
    "ranking missing": (lambda desk: desk.full("ranking-candidate.jsonl").unlink(), "rankings"),
    "scores": (_score, "measures"),
    "scores missing": (lambda desk: desk.full("scores.json").unlink(), "measures"),
    "evidence": (lambda desk: _spaced(desk, "evidence.jsonl"), "measures"),
    "evidence missing": (lambda desk: desk.full("evidence.jsonl").unlink(), "measures"),
    "document": (
        lambda desk: desk.document().write_text(
            desk.document().read_text(encoding="utf-8").replace("drop: 0.06", "drop: 0.07"), encoding="utf-8"
        ),
        "documents",
    ),
    "document missing": (lambda desk: desk.document().unlink(), "documents"),
    "lock entry": (lambda desk: _entry(desk, 0, '"alpha_k":0.03', '"alpha_k":0.04'), "chain"),
    "seal entry": (lambda desk: _entry(desk, 1, '"questions":566', '"questions":565'), "chain"),
    "verdict entry": (lambda desk: _entry(desk, 3, '"state":"PASS"', '"state":"ROLLBACK"'), "chain"),
    "entry from the middle": (lambda desk: desk.entry_files()[1].unlink(), "chain"),
    "last entry": (lambda desk: desk.entry_files()[-1].unlink(), "head"),
    "every entry": (lambda desk: [path.unlink() for path in desk.entry_files()], "chain"),
    "ledger": (_delete_ledger, "chain"),
    "head": (lambda desk: desk.full("head.json").write_text('{"count":9,"tips":[]}\n', encoding="utf-8"), "head"),
    "question set": (
        lambda desk: next((desk.root / "preregistrations" / "ledger" / "questions").glob("*.json")).write_text("[]"),
        "lock",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_found_by_name(finished: Any, name: str) -> None:
    """Whatever is changed after the fact, the check that guards it fails by name (3), without a traceback."""
    edit, guard = EDITS[name]
    edit(finished)
    code, names = failed(finished)
    assert code == 3
    assert guard in names


def test_the_last_entry_shows_even_without_the_run_folder(finished: Any) -> None:
    """A removed verdict shows by the user's own witness although the run folder's went with it."""
    finished.entry_files()[-1].unlink()
    finished.full("head.json").unlink()
    code, status, _ = finished.verify()
    assert (code, status["head"]) == (3, "FAIL")


def test_a_document_respelled_still_verifies(finished: Any) -> None:
    """Comments and line ends are no edit."""
    path = finished.document()
    path.write_bytes(b"# a comment\r\n" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert failed(finished) == (0, set())
