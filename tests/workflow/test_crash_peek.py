"""A kill as a peek: who stops the judge between the scores and the verdict has seen them, and can change nothing."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from harness.ledger import life
from harness.workflow import runfiles
from harness.workflow.workspace import Workspace

FULL, REASON = ("full", "raw-only"), ("--reason", "I saw the scores")
SEALED = ("ranking-baseline.jsonl", "ranking-candidate.jsonl", "questions.jsonl")


BEFORE_THE_CLAIM = ("first ranking written", "before the seal", "after the seal", "token without an entry")


@pytest.fixture(scope="module")
def killed(crash: Any) -> dict[str, Any]:
    """A workspace for every point, whose full run was killed there."""
    points = (*BEFORE_THE_CLAIM, "before the verdict")
    # names of its own: other modules of the session make copies for the same points
    desks = dict(zip(points, crash.copies([f"peek {point}" for point in points]).values(), strict=True))
    jobs = [(point, desk, FULL) for point, desk in desks.items()]
    assert crash.go(jobs) == [-signal.SIGKILL] * len(jobs)
    return desks


@pytest.fixture
def peeked(
    killed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Any:
    """A workspace whose judge was killed when scores and evidence lay on the disk and the verdict did not."""
    stopped = killed["before the verdict"]
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "not-a-store")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    shutil.copytree(stopped.state, tmp_path / "state")
    desk = type(stopped)(shutil.copytree(stopped.root, tmp_path / "ws"), tmp_path / "state", capsys)
    assert {path.name for path in desk.full().iterdir()} >= set(runfiles.JUDGED)
    assert desk.kinds() == ["lock", "seal", "claim"]
    return desk


@pytest.mark.parametrize("point", BEFORE_THE_CLAIM)
def test_before_the_claim_there_is_nothing_to_see(killed: dict[str, Any], whole_way: Any, point: str) -> None:
    """A run that is killed before its claim is on record has written no score, no evidence and no page."""
    before, after = ({path.name for path in root.rglob("*")} for root in (whole_way.locked, killed[point].root))
    assert "ranking-baseline.jsonl" in after
    assert not (after - before) & {*runfiles.JUDGED, "report.html", "report.md", "mirror.json"}


def test_a_peek_cannot_be_undone(peeked: Any) -> None:
    """Abandoned after the peek, the document keeps its look; the next one pays for a second and is called reused."""
    done = peeked.run("prereg", "abandon", "raw-only", *REASON)
    assert done.code == 0
    assert "the held-out labels were opened" in done.out
    assert peeked.run(*FULL).code == 2
    text = peeked.document().read_text(encoding="utf-8").replace("drop: 0.06", "drop: 0.3")
    peeked.document("second").write_text(text.replace("id: raw-only", "id: second"), encoding="utf-8")
    checked = peeked.run("prereg", "check", "second", "--json").json
    assert checked["look"] == 2
    assert any("error rate not controlled" in finding["says"] for finding in checked["findings"])
    assert peeked.run("prereg", "lock", "second", "--acknowledge", "a test", "--json").json["look"] == 2


def test_a_peek_cannot_change_the_promise(peeked: Any) -> None:
    """After the peek another threshold is refused (3), and so is locking the document again (2)."""
    path = peeked.document()
    path.write_text(path.read_text(encoding="utf-8").replace("superior: 0.02", "superior: 0.01"), encoding="utf-8")
    assert peeked.run(*FULL).code == 3
    assert peeked.run("prereg", "lock", "raw-only").code == 2
    assert peeked.kinds() == ["lock", "seal", "claim"]


@pytest.mark.parametrize("name", SEALED)
def test_a_peek_cannot_change_the_rankings(peeked: Any, name: str) -> None:
    """After the peek nothing is ranked again: what was sealed is judged, and a file that was changed is refused (3)."""
    path = peeked.full(name)
    sealed = path.read_bytes()
    path.write_bytes(sealed.replace(b"1", b"2", 1))
    assert peeked.run(*FULL).code == 3
    path.unlink()
    assert peeked.run(*FULL).code == 3
    assert not path.exists()
    path.write_bytes(sealed)
    assert peeked.kinds() == ["lock", "seal", "claim"]


def test_a_peek_cannot_change_the_scores(peeked: Any, whole_way: Any) -> None:
    """Scores that were edited after the peek are written anew from the sealed rankings: the verdict is what it was."""
    path = peeked.full(runfiles.SCORES)
    path.write_text(path.read_text(encoding="utf-8").replace("1.0", "0.0"), encoding="utf-8")
    peeked.full(runfiles.EVIDENCE).unlink()
    assert peeked.run(*FULL).code == 0
    for name in (*SEALED, *runfiles.JUDGED):
        assert peeked.full(name).read_bytes() == (whole_way.finished / "runs/full/raw-only" / name).read_bytes()
    assert peeked.kinds() == ["lock", "seal", "claim", "verdict"]
    assert peeked.verify()[0] == 0


@pytest.mark.parametrize("kind", ["claim", "seal"])
def test_a_peek_cannot_be_taken_off_the_record(peeked: Any, kind: str) -> None:
    """Entries that are removed after the peek show (3) in the run's folder and in the user's."""
    entries = Workspace(peeked.root).entries()
    assert getattr(life(entries, "raw-only"), kind) is not None
    for path in peeked.entry_files():
        if json.loads(path.read_text(encoding="utf-8"))["kind"] in ("claim", kind):
            path.unlink()
    assert peeked.run(*FULL).code == 3
    peeked.full("head.json").unlink()
    done = peeked.run(*FULL)
    assert done.code == 3
    assert str(peeked.state) in done.err
