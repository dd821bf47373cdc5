"""Looks that somebody would rather not have on record: reworded, repeated after the lock, or kept nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import HELDOUT
from harness.errors import EnvironmentProblem
from harness.ledger import life
from harness.workflow.outside import adopt_looks, held_out_by_id, must_be_kept, record_outside_look, remember_look
from harness.workflow.workspace import Workspace

EDITS = {
    "a blank more": lambda text: f"{text} ",
    "upper case": str.upper,
    "another mark": lambda text: f"{text.rstrip('?')} !?",
    "blanks doubled": lambda text: text.replace(" ", "  "),
    "no-break blanks": lambda text: text.replace(" ", "\N{NO-BREAK SPACE}"),
}


@pytest.fixture
def workspace(locked: Any) -> Workspace:
    """A workspace with a locked document."""
    return Workspace(locked.root)


@pytest.fixture
def heldout(workspace: Workspace) -> frozenset[str]:
    """Digests of the questions that it holds out."""
    return workspace.benchmark("synthetic").question_sets[HELDOUT]


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A user whose state folder cannot be made."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))


def lock_another(desk: Any) -> None:
    """Lock a second document on the same questions; its look needs a wider guard."""
    assert desk.second().code == 0
    path = desk.document("second")
    path.write_text(path.read_text(encoding="utf-8").replace("drop: 0.06", "drop: 0.3"), encoding="utf-8")
    assert desk.run("prereg", "lock", "second", "--acknowledge", "a test").code == 0


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_copy_of_the_questions_is_seen(desk: Any, tiny_value: Any, tmp_path: Path, edit: str) -> None:
    """Dev work on a copy whose questions differ in blanks, case or marks is a look at the held-out questions."""
    assert desk.run("init").code == 0
    for name, change in (("real", lambda text: text), ("copy", EDITS[edit])):
        for conversation in tiny_value:
            for question in conversation["qa"]:
                question["question"] = change(question["question"])
        path = tmp_path / f"{name}.json"
        path.write_text(json.dumps(tiny_value), encoding="utf-8")
        dev = "conv-26" if name == "real" else "conv-90"
        words = ("data", "import", "locomo", str(path), "--name", name, "--allow-unknown", "--dev", dev)
        assert desk.run(*words).code == 0
    assert desk.run("dev", "benchmark.name=copy").code == 0
    assert desk.kinds() == ["outside_look"]


def test_a_look_that_is_repeated_after_a_lock_is_recorded_again(locked: Any, heldout: frozenset[str]) -> None:
    """Otherwise the page would say that it was made before the lock only."""
    workspace = Workspace(locked.root)
    assert record_outside_look(workspace, "a look", heldout) is not None
    assert record_outside_look(workspace, "a look", heldout) is None
    lock_another(locked)
    assert record_outside_look(workspace, "a look", heldout) is not None
    assert record_outside_look(workspace, "a look", heldout) is None


def test_a_remembered_look_that_is_repeated_after_the_lock_is_adopted_again(
    locked: Any, heldout: frozenset[str]
) -> None:
    """The full run adopts it though the lock did, and only once."""
    workspace = Workspace(locked.root)
    library = workspace.benchmark("synthetic")
    remember_look("a look", heldout)
    adopt_looks(workspace, library)
    lock_another(locked)
    lock = life(workspace.entries(), "second").lock
    remember_look("a look", heldout)
    for _ in range(2):
        adopt_looks(workspace, library, lock=lock)
        assert locked.kinds() == ["lock", "outside_look", "lock", "outside_look"]


@pytest.mark.usefixtures("homeless")
def test_without_a_home_the_workspace_remembers(workspace: Workspace, heldout: frozenset[str]) -> None:
    """Its own next lock or full run adopts the look."""
    assert remember_look("a look", heldout, workspace=workspace)
    adopt_looks(workspace, workspace.benchmark("synthetic"))
    assert workspace.entries()[-1].payload["what"] == "a look"


@pytest.mark.usefixtures("homeless")
def test_a_look_that_nothing_can_keep_is_refused(heldout: frozenset[str]) -> None:
    """Its figures are not shown (4)."""
    kept = remember_look("a look", heldout)
    assert not kept
    with pytest.raises(EnvironmentProblem, match="XDG_STATE_HOME"):
        must_be_kept(kept)


def test_ids_in_another_spelling_are_known(workspace: Workspace) -> None:
    """Files of other tools may spell the ids of questions in other cases and with other signs."""
    ids = workspace.benchmark("synthetic").heldout_questions().ids[:3]
    spelled = [name.upper().replace("/", "_").replace("-", "") for name in ids]
    assert held_out_by_id(workspace, spelled) == held_out_by_id(workspace, ids) != frozenset()
