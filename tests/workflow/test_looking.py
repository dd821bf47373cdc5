"""Who looked at which held-out questions."""

from __future__ import annotations

from typing import Any

import pytest

from harness.evaluation.statistics.looks import alpha_of_look


def looks(desk: Any, *more: str) -> dict[str, Any]:
    """The one held-out set of a workspace."""
    done = desk.run("looks", "--json", *more)
    assert done.code == 0, done.err
    (found,) = done.json
    return dict(found)


def test_a_fresh_benchmark_has_its_first_look_before_it(ready: Any) -> None:
    """Nothing is spent, nobody has looked, and all of α is there."""
    found = looks(ready)
    assert (found["name"], found["imported"], found["looks"], found["outside"]) == ("synthetic", True, [], [])
    assert (found["next_look"], found["alpha_left"], found["exposed"]) == (1, 0.05, False)
    assert found["alpha_next"] == pytest.approx(alpha_of_look(0.05, 1))
    text = ready.run("looks").out
    assert "next: look 1, at α = 0.0304; 0.0500 of 0.05 is left" in text
    assert "not exposed" in text


def test_a_lock_spends_a_look(locked: Any) -> None:
    """A lock reserves its look before anything runs."""
    (look,) = looks(locked)["looks"]
    assert (look["id"], look["look"], look["stage"], look["verdict"]) == ("raw-only", 1, "LOCKED", None)
    assert not looks(locked)["exposed"]


def test_a_verdict_exposes(finished: Any) -> None:
    """Once the labels were opened for a run, results can be read."""
    found = looks(finished)
    assert (found["next_look"], found["exposed"], found["looks"][0]["verdict"]) == (2, True, "PASS")
    assert found["alpha_left"] == pytest.approx(0.05 - alpha_of_look(0.05, 1))
    assert "look 1: raw-only, PASS" in finished.run("looks").out


def test_an_abandoned_lock_gives_its_look_back(locked: Any) -> None:
    """Before anything was sealed, an abandoned document leaves the set as it was."""
    assert locked.run("prereg", "abandon", "raw-only", "--reason", "a typo").code == 0
    found = looks(locked)
    assert (found["looks"], found["next_look"]) == ([], 1)


def test_another_name_or_split_resets_nothing(finished: Any) -> None:
    """The same questions under another name are at look 2, and exposed as well."""
    assert finished.run("data", "import", "synthetic", "--name", "renamed").code == 0
    found = {part["name"]: part for part in finished.run("looks", "--json").json}
    assert found["renamed"]["next_look"] == found["synthetic"]["next_look"] == 2
    assert found["renamed"]["exposed"]


def test_a_set_that_is_gone_is_still_listed(finished: Any) -> None:
    """A benchmark whose folder was removed keeps its looks, under the document that locked it."""
    import shutil

    shutil.rmtree(finished.root / "data" / "synthetic")
    found = looks(finished)
    assert (found["imported"], found["next_look"]) == (False, 2)
    assert "not imported now" in finished.run("looks").out


def test_looks_outside_are_named(finished: Any, tmp_path: Any) -> None:
    """A comparison of files about held-out questions stands in the list with what was compared."""
    from harness.benchmarks.library import find

    questions = find(finished.root / "data", "synthetic").heldout_questions()
    run = tmp_path / "a.run"
    run.write_text("".join(f"{name} Q0 d{i} 1 1.0 x\n" for i, name in enumerate(questions.ids[:30])), encoding="utf-8")
    qrels = tmp_path / "q.qrels"
    qrels.write_text("".join(f"{name} 0 d{i} 1\n" for i, name in enumerate(questions.ids[:30])), encoding="utf-8")
    assert finished.run("compare", str(run), str(run), "--qrels", str(qrels)).code == 0
    outside = looks(finished)["outside"]
    assert any("harness compare a.run" in look["what"] for look in outside)
    assert "outside: harness compare a.run" in finished.run("looks").out


@pytest.mark.parametrize("alpha", ["0", "0.5", "-0.1", "nan"])
def test_an_error_rate_that_is_none_is_refused(ready: Any, alpha: str) -> None:
    """α lies above 0 and below a half."""
    done = ready.run("looks", f"--alpha={alpha}")
    assert done.code == 2
    assert "above 0 and below 0.5" in done.err


def test_without_a_benchmark_there_is_nothing_to_list(desk: Any) -> None:
    """An empty workspace says how to begin."""
    assert desk.run("init").code == 0
    assert "harness data import" in desk.run("looks").out
    assert desk.run("looks", "--json").json == []


@pytest.fixture(scope="module")
def three_imports(locomo_file: Any, whole_way: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A workspace with LoCoMo as it is, with a held-out question less, and with an overlay; a lock on the first."""
    import json

    from harness.benchmarks.library import find
    from harness.ledger.entries import Ledger
    from harness.ledger.looks import write_question_set

    desk = whole_way.desk(tmp_path_factory.mktemp("three"))
    desk.root.mkdir(exist_ok=True)
    less = json.loads(locomo_file.read_text(encoding="utf-8"))
    del less[3]["qa"][5]
    (desk.root / "less.json").write_text(json.dumps(less), encoding="utf-8")
    overlay = {"format": 1, "name": "audit", "questions": {"conv-41/q0": {"evidence": ["D1:1"], "why": "a test"}}}
    (desk.root / "overlay.json").write_text(json.dumps(overlay), encoding="utf-8")
    locomo = ("data", "import", "locomo")
    for words in (("init",), (*locomo, str(locomo_file)), (*locomo, "less.json", "--allow-unknown", "--name", "less"),
                  (*locomo, str(locomo_file), "--overlay", "overlay.json", "--name", "corrected")):  # fmt: skip
        done = desk.process(*words)
        assert done.code == 0, done.err
    ledger = Ledger(desk.root / "preregistrations" / "ledger")
    members = find(desk.root / "data", "locomo").question_sets["heldout"]
    payload = {"id": "first", "look": 1, "alpha_k": 0.03, "benchmark": {"name": "locomo"},
               "heldout_set": write_question_set(ledger.root, members)}  # fmt: skip
    ledger.append(
        "lock",
        payload,
        git={"commit": None, "dirty": False},
        environment="sha256:" + "0" * 64,
        time="2026-01-01T00:00:00+00:00",
    )
    return desk


@pytest.mark.parametrize("name", ["locomo", "less", "corrected"])
def test_neither_a_question_less_nor_an_overlay_resets_looks(three_imports: Any, name: str) -> None:
    """Every import that shares questions with what was locked is at look 2, and says how many it shares."""
    found = {part["name"]: part for part in three_imports.process("looks", "--json").json}
    assert set(found) == {"locomo", "less", "corrected"}
    assert found[name]["next_look"] == 2
    (look,) = found[name]["looks"]
    assert look["id"] == "first"
    assert found[name]["questions"] - look["questions"] in (0, 1)
