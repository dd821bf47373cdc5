from __future__ import annotations

import dataclasses
import json
import signal
from typing import Any

import pytest

from harness.workflow import runfiles
from harness.workflow.full import _only_process

FULL = ("full", "raw-only")
# the exit code of the run that finishes is the verdict's, wherever the one before it was killed
POINTS = (
    "first ranking written",
    "before the seal",
    "after the seal",
    "token without an entry",
    "after the claim",
    "evidence written",
    "before the verdict",
    "verdict without a witness",
    "after the verdict",
    "half a page",
    "page written",
    "in the outbox",
    "mirror half written",
    "mirrored",
)
SEVERAL = ("first ranking written", "token without an entry", "before the verdict", "mirror half written")


@pytest.fixture(scope="module")
def killed(crash: Any) -> dict[str, Any]:
    """A workspace for every point, whose full run was killed there; and one that was killed at several in turn."""
    desks = crash.copies([*POINTS, "several"])
    jobs = [(point, desks[point], FULL) for point in POINTS] + [(point, desks["several"], FULL) for point in SEVERAL]
    assert crash.go(jobs) == [-signal.SIGKILL] * len(jobs)
    return desks


@pytest.mark.parametrize("point", [*POINTS, "several"])
def test_killed_anywhere_the_same_command_goes_on(
    killed: dict[str, Any],
    point: str,
    whole_way: Any,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After a kill the same command reaches the same verdict, once, and leaves the same files."""
    desk = dataclasses.replace(killed[point], capsys=capsys)
    monkeypatch.setenv("XDG_STATE_HOME", str(desk.state))
    done = desk.run(*FULL, "--json")
    assert (done.code, done.json["state"]) == (0, "PASS"), done.err
    whole = type(desk)(whole_way.finished, whole_way.state)
    assert desk.kinds() == ["lock", "seal", "claim", "verdict"]
    for kind in ("seal", "verdict"):
        drop = {"seal": None, "claim": None}  # hashes, which hold the time
        assert desk.payload(kind) | drop == whole.payload(kind) | drop
    mine, theirs = ({path.name for path in each.full().iterdir()} for each in (desk, whole))
    assert mine == theirs
    assert not [path for path in desk.root.rglob("*") if path.name.startswith(".tmp-")]
    assert desk.run(*FULL).code == 12
    assert len(list((desk.root / "preregistrations" / ".claims").glob("*.json"))) == 1


@pytest.mark.parametrize("point", ["token without an entry", "mirror half written", "several"])
def test_what_was_finished_after_a_kill_verifies(
    killed: dict[str, Any], point: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that was killed and finished stands every check, and MLflow has one run of it."""
    from mlflow import MlflowClient

    desk = dataclasses.replace(killed[point], capsys=capsys)
    monkeypatch.setenv("XDG_STATE_HOME", str(desk.state))
    desk.run(*FULL)
    code, status, _ = desk.verify()
    assert (code, status["mirror"]) == (0, "PASS")
    client = MlflowClient(f"sqlite:///{desk.root / 'runs' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("full")
    assert len(client.search_runs([experiment.experiment_id])) == 1


def test_of_racing_runs_exactly_one_runs(crash: Any) -> None:
    """Of three full runs that start at once one gives the verdict; the others exit 12 and change nothing."""
    desk = crash.copies(["race"])["race"]
    assert sorted(crash.go([("", desk, FULL)] * 3, at_once=True)) == [0, 12, 12]
    assert desk.kinds() == ["lock", "seal", "claim", "verdict"]
    assert len(list((desk.root / "preregistrations" / ".claims").glob("*.json"))) == 1


def test_a_run_under_way_is_named_and_left_alone(locked: Any) -> None:
    """While one process runs, a second one exits 12 and says who is running."""
    folder = locked.full()
    with _only_process(folder):
        before = locked.tree()
        done = locked.run(*FULL)
        assert locked.tree() == before
    assert done.code == 12
    assert "under way: process " in done.err
    assert locked.kinds() == ["lock"]


def test_interrupted_and_gone_on(locked: Any) -> None:
    """Ctrl-C ends with 130 and one line; the same command then goes on to the verdict."""
    process = locked.start(*FULL)
    assert process.stderr is not None
    assert "ranking" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    rest = [line for line in err.splitlines() if not line.startswith("[")]
    assert (process.returncode, out) == (130, "")
    assert rest == ["harness: interrupted; run the same command again to go on"]
    assert locked.run(*FULL).code == 0


def test_a_second_run_is_refused_and_changes_nothing(finished: Any) -> None:
    """The one run is used: 12, naming when and with which verdict."""
    before = finished.tree()
    done = finished.run(*FULL)
    assert done.code == 12
    assert "was made at" in done.err
    assert "PASS" in done.err
    assert finished.tree() == before


def test_an_edited_document_stops_the_run(locked: Any) -> None:
    """A document whose meaning was changed after the lock is refused (3) before anything runs, by the changed key."""
    path = locked.document()
    path.write_text(path.read_text(encoding="utf-8").replace("superior: 0.02", "superior: 0.01"), encoding="utf-8")
    done = locked.run(*FULL)
    assert done.code == 3
    assert "changed after its lock: claim" in done.err
    assert locked.kinds() == ["lock"]
    assert not locked.full("ranking-baseline.jsonl").exists()


def test_a_document_spelled_otherwise_still_runs(locked: Any) -> None:
    """Comments, line ends and another spelling of a number are no change of meaning."""
    path = locked.document()
    text = path.read_text(encoding="utf-8").replace("superior: 0.02", "superior: 0.0200") + "# a comment\n"
    path.write_bytes(text.replace("\n", "\r\n").encode())
    assert locked.run(*FULL).code == 0


def test_another_benchmark_under_the_name_stops_the_run(locked: Any) -> None:
    """Data that are not what was locked are refused (3) before anything runs."""
    manifest = locked.root / "data" / "synthetic" / "manifest.json"
    value = json.loads(manifest.read_text(encoding="utf-8"))
    value["digests"]["digest"] = "sha256:" + "0" * 64
    manifest.write_text(json.dumps(value), encoding="utf-8")
    done = locked.run(*FULL)
    assert done.code == 3
    assert locked.kinds() == ["lock"]


def test_changed_retrieval_code_stops_the_run(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a document is open retrieval code is frozen: another digest is refused (3) before anything runs."""
    monkeypatch.setattr("harness.workflow.full.code_digest", lambda: "sha256:" + "0" * 64)
    done = locked.run(*FULL)
    assert done.code == 3
    assert "retrieval code was changed" in done.err
    assert locked.kinds() == ["lock"]


def test_changed_behaviour_stops_the_run(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that ranks otherwise than at the lock is refused (3), by role and name."""
    monkeypatch.setattr("harness.workflow.full.fingerprint", lambda _: "sha256:" + "0" * 64)
    done = locked.run(*FULL)
    assert done.code == 3
    assert "baseline bm25 ranks differently" in done.err


def test_rankings_that_were_edited_after_the_seal_are_not_judged(locked: Any, crash: Any) -> None:
    """A sealed ranking that was changed before the judging stops it (3); the labels stay closed."""
    assert crash.go([("after the seal", locked, FULL)]) == [-signal.SIGKILL]
    path = locked.full("ranking-candidate.jsonl")
    path.write_bytes(path.read_bytes().replace(b",", b", ", 1))
    done = locked.run(*FULL)
    assert done.code == 3
    assert "ranking-candidate.jsonl" in done.err
    assert "verdict" not in locked.kinds()
    assert not locked.full("evidence.jsonl").exists()


def test_a_token_for_other_rankings_is_refused(locked: Any, crash: Any) -> None:
    """A claim token that names another seal stops the run (12): somebody opened the labels for other rankings."""
    assert crash.go([("token without an entry", locked, FULL)]) == [-signal.SIGKILL]
    token = next((locked.root / "preregistrations" / ".claims").glob("*.json"))
    token.write_text(json.dumps({"process": 1, "host": "elsewhere", "seal": "0" * 64}), encoding="utf-8")
    done = locked.run(*FULL)
    assert done.code == 12
    assert locked.kinds() == ["lock", "seal"]


def test_the_seal_names_every_file_that_is_judged(finished: Any) -> None:
    """What was sealed before the labels were opened is what lies in the run's folder now."""
    seal, verdict = finished.payload("seal"), finished.payload("verdict")
    files = seal["files"] | verdict["files"]
    assert set(runfiles.SEALED) | set(runfiles.JUDGED) <= set(files)
    assert all(runfiles.sha256(finished.full(name)) == digest for name, digest in files.items())
    assert (seal["questions"], seal["repeat"]) == (566, {"baseline": True})


def test_an_unmoved_instrument_is_inadmissible(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two configurations whose rankings are identical measured nothing: 11, without an estimate, page included."""
    from harness.workflow import full

    document = full.check_unchanged

    def both_baseline(workspace: Any, lock: Any) -> Any:
        found = document(workspace, lock)
        return dataclasses.replace(found, candidate=found.baseline)

    monkeypatch.setattr(full, "check_unchanged", both_baseline)
    monkeypatch.setattr(full, "check_code", lambda *_: None)
    done = locked.run(*FULL, "--json")
    assert (done.code, done.json["state"]) == (11, "INADMISSIBLE"), done.err
    assert (done.json["reason"], done.json["clauses"]) == ("instrument_did_not_move", [])
    assert "INADMISSIBLE" in locked.full("report.md").read_text(encoding="utf-8")
    assert locked.run("versions", "in-force", "--json").json["parameters"]["layers"] == ["raw", "distill"]


def test_a_baseline_that_does_not_repeat_itself_is_inadmissible(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version that is declared deterministic and ranks otherwise the second time measured nothing: 11."""
    from harness.retrieval.ranking import Ranking

    calls = []

    def same_order(_self: Ranking, _other: Ranking) -> bool:
        calls.append(1)
        return len(calls) > 1

    monkeypatch.setattr(Ranking, "same_order", same_order)
    done = locked.run(*FULL, "--json")
    assert (done.code, done.json["reason"]) == (11, "baseline_not_repeatable"), done.err
