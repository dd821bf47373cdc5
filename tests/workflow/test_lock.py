from __future__ import annotations

import dataclasses
import json
import math
import signal
from pathlib import Path
from typing import Any

import pytest

LOCK = ("prereg", "lock")
BECAUSE = ("--acknowledge", "a second look can hardly find anything here")
# after a PASS the version in force is the candidate itself, so that a second document needs another one
STRAW = "straw: the first document's baseline once more, to read the same questions again\n"


def alpha(look: int) -> float:
    """α of a look as it is promised: 0.05 · 6 / (π² k²)."""
    return 0.05 * 6 / (math.pi**2 * look**2)


def again(desk: Any, identifier: str) -> None:
    """A second document with the first one's systems and claim under another id; its guard fits any look's floor."""
    text = desk.document().read_text(encoding="utf-8").replace("drop: 0.06", "drop: 0.3")
    desk.document(identifier).write_text(text.replace("id: raw-only", f"id: {identifier}"), encoding="utf-8")


def test_the_lock_holds_the_promise(locked: Any) -> None:
    """The lock entry has the document, its digest, both fingerprints, data digests, look and α."""
    lock = locked.payload("lock")
    shown = locked.run("prereg", "show", "raw-only", "--json").json
    assert (lock["document"], lock["document_digest"]) == (shown["document"], shown["digest"])
    assert (lock["look"], lock["alpha_k"]) == (1, pytest.approx(alpha(1)))
    assert lock["benchmark"]["digest"] == lock["document"]["benchmark"]["digest"]
    assert set(lock["fingerprints"]) == {"baseline", "candidate"}
    assert lock["fingerprints"]["candidate"] == lock["document"]["candidate"]["fingerprint"]


def test_an_id_is_locked_once(locked: Any) -> None:
    """Locking over a lock is refused, whatever the document says now."""
    path = locked.document()
    path.write_text(path.read_text(encoding="utf-8").replace("superior: 0.02", "superior: 0.01"), encoding="utf-8")
    done = locked.run(*LOCK, "raw-only")
    assert done.code == 2
    assert "raw-only is locked already" in done.err
    assert locked.kinds() == ["lock"]


def test_a_second_document_pays_for_a_second_look(locked: Any) -> None:
    """Another id on the same held-out questions is look 2 at a quarter of α, checked and locked alike."""
    again(locked, "second")
    assert locked.run("prereg", "check", "second", "--json").json["look"] == 2
    done = locked.run(*LOCK, "second", *BECAUSE, "--json")
    assert (done.code, done.json["look"]) == (0, 2), done.err
    assert done.json["alpha_k"] == pytest.approx(alpha(2))


def test_abandoning_before_the_seal_gives_the_look_back(locked: Any) -> None:
    """An abandoned document that was never run costs nothing; its id stays used and it cannot be run."""
    done = locked.run("prereg", "abandon", "raw-only", "--reason", "a better idea")
    assert done.code == 0
    assert locked.payload("abandon")["reason"] == "a better idea"
    again(locked, "second")
    assert locked.run(*LOCK, "second", "--json").json["look"] == 1
    assert locked.run("full", "raw-only").code == 2
    assert "abandoned already" in locked.run(*LOCK, "raw-only").err
    assert locked.run("prereg", "abandon", "raw-only", "--reason", "again").code == 2
    stages = {row["id"]: row["stage"] for row in locked.run("prereg", "list", "--json").json}
    assert stages == {"raw-only": "ABANDONED", "second": "LOCKED"}


def test_abandoning_after_the_seal_spends_the_look(locked: Any, crash: Any) -> None:
    """Once the rankings are sealed the look is spent, whether they are judged or given up."""
    assert crash.go([("after the seal", locked, ("full", "raw-only"))]) == [-signal.SIGKILL]
    assert locked.run("prereg", "abandon", "raw-only", "--reason", "changed my mind").code == 0
    again(locked, "second")
    assert locked.run(*LOCK, "second", *BECAUSE, "--json").json["look"] == 2


def test_a_judged_document_cannot_be_abandoned(finished: Any) -> None:
    """After the verdict there is nothing to give up."""
    done = finished.run("prereg", "abandon", "raw-only", "--reason", "it lost")
    assert done.code == 2
    assert "judged" in done.err
    assert "abandon" not in finished.kinds()


def test_a_pass_changes_the_version_in_force(finished: Any) -> None:
    """After a PASS the next draft's baseline is the version that passed, and the old one is no baseline any more."""
    assert finished.second("next").code == 0
    document = finished.run("prereg", "show", "next", "--json").json["document"]
    assert document["baseline"]["parameters"] == document["candidate"]["parameters"]
    assert document["baseline"]["parameters"]["layers"] == ["raw"]
    again(finished, "stale")
    done = finished.run(*LOCK, "stale")
    assert done.code == 2
    assert "in force" in done.err


def test_a_reused_heldout_set_is_named_on_page_and_verdict(finished: Any) -> None:
    """A verdict on questions that were judged before says so, in the terminal and on the page, and pays its look."""
    again(finished, "second")
    path = finished.document("second")
    path.write_text(path.read_text(encoding="utf-8") + STRAW, encoding="utf-8")
    assert finished.run(*LOCK, "second", *BECAUSE).code == 0
    done = finished.run("full", "second")
    assert done.code == 0, done.err
    assert "reused: error rate not controlled" in done.out
    assert f"look 2, α = {alpha(2):.4f}" in done.out
    assert finished.payload("verdict")["alpha_k"] == pytest.approx(alpha(2))
    for name in ("report.md", "report.html"):
        text = finished.full(name, "second").read_text(encoding="utf-8")
        assert "Reused: error rate not controlled" in text
        assert "straw" in text.lower()
        assert "Reused" not in finished.full(name).read_text(encoding="utf-8")
    assert finished.run("verify", "second").code == 0
    assert finished.run("verify", "raw-only").code == 0


def test_racing_locks_get_different_looks(crash: Any) -> None:
    """Three documents on one held-out set that are locked at the same moment get three different looks."""
    desk = crash.copies(["race of locks"])["race of locks"]
    for name in ("a", "b", "c"):
        again(desk, name)
    jobs = [("", desk, (*LOCK, name, *BECAUSE)) for name in ("a", "b", "c")]
    assert crash.go(jobs, at_once=True) == [0, 0, 0]
    locks = [entry["payload"] for entry in desk.entries()]
    assert [lock["look"] for lock in locks] == [1, 2, 3, 4]
    assert [lock["alpha_k"] for lock in locks] == [pytest.approx(alpha(look)) for look in (1, 2, 3, 4)]


def test_one_document_locked_twice_at_once_is_locked_once(crash: Any) -> None:
    """Of two processes that lock the same document one makes the lock, and the other finds it made."""
    desk = crash.copies(["same lock"])["same lock"]
    again(desk, "second")
    assert sorted(crash.go([("", desk, (*LOCK, "second", *BECAUSE))] * 2, at_once=True)) == [0, 0]
    assert desk.kinds() == ["lock", "lock"]


@pytest.mark.parametrize("point", ["before the lock", "after the lock"])
def test_a_killed_lock_is_there_or_not(
    crash: Any, point: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lock that was killed is either made and stands, or was not made and can be made again."""
    desk = dataclasses.replace(crash.copies([point])[point], capsys=capsys)
    monkeypatch.setenv("XDG_STATE_HOME", str(desk.state))
    again(desk, "second")
    assert crash.go([(point, desk, (*LOCK, "second", *BECAUSE))]) == [-signal.SIGKILL]
    made = point.startswith("after")
    assert desk.kinds() == ["lock"] * (2 if made else 1)
    assert desk.run(*LOCK, "second", *BECAUSE).code == 0
    assert desk.kinds() == ["lock"] * 2
    assert [entry["payload"]["look"] for entry in desk.entries()] == [1, 2]


def test_the_frozen_result_belongs_to_the_candidate(locked: Any) -> None:
    """A candidate whose parameters are not those of its frozen dev result cannot be locked."""
    again(locked, "second")
    path = locked.document("second")
    before, _, after = path.read_text(encoding="utf-8").partition("candidate:")
    path.write_text(f"{before}candidate:{after.replace('k1: 1.2', 'k1: 0.9', 1)}", encoding="utf-8")
    done = locked.run(*LOCK, "second")
    assert done.code == 2
    assert locked.kinds() == ["lock"]


def test_a_frozen_file_outside_the_workspace_is_refused(locked: Any) -> None:
    """A document cannot point out of its workspace."""
    again(locked, "second")
    path = locked.document("second")
    text = path.read_text(encoding="utf-8").replace("experiments/raw-only/frozen.yaml", "../../frozen.yaml")
    path.write_text(text, encoding="utf-8")
    done = locked.run(*LOCK, "second")
    assert done.code == 2
    assert "outside the workspace" in done.err


def own_data(folder: Path) -> dict[str, tuple[str, ...]]:
    """Forty questions on forty documents in three forms, and how each is imported."""
    rows = [(f"d{n}", f"boat number {n} of {n % 7} in the harbour") for n in range(40)]
    beir = folder / "beir"
    (beir / "qrels").mkdir(parents=True)
    texts = {
        folder / "corpus.jsonl": [json.dumps({"id": d, "text": text}) for d, text in rows],
        folder / "questions.jsonl": [json.dumps({"id": f"q{d}", "text": t, "evidence": [d]}) for d, t in rows],
        beir / "corpus.jsonl": [json.dumps({"_id": d, "text": text}) for d, text in rows],
        beir / "queries.jsonl": [json.dumps({"_id": f"q{d}", "text": text}) for d, text in rows],
        beir / "qrels/test.tsv": [f"q{d}\t{d}\t1" for d, _ in rows],
        folder / "docs.tsv": [f"{d}\t{text}" for d, text in rows],
        folder / "topics.tsv": [f"q{d}\t{text}" for d, text in rows],
        folder / "qrels.txt": [f"q{d} 0 {d} 1" for d, _ in rows],
    }
    for path, lines in texts.items():
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    files = (f"--corpus={folder}/docs.tsv", f"--topics={folder}/topics.tsv", f"--qrels={folder}/qrels.txt")
    return {"jsonl": (str(folder),), "beir": (str(beir),), "trec": files}


@pytest.mark.parametrize("kind", ["jsonl", "beir", "trec"])
def test_data_of_ones_own_goes_the_whole_way(kind: str, locked: Any, tmp_path: Path) -> None:
    """What was imported from several files is locked with the digest of each, run, and named on the page."""
    assert locked.run("data", "import", kind, *own_data(tmp_path / "data")[kind], "--name", "mine").code == 0
    assert locked.run("dev", "--retrieval-version", "bm25", "retrieval.b=0.1", "k=5", "benchmark.name=mine").code == 0
    assert locked.run("freeze", "latest", "--name", "mine").code == 0
    words = ("--title", "T", "--hypothesis", "H", "--rationale", "R", "--author", "me")
    frozen = ("--from", "experiments/mine/frozen.yaml", "--primary", "R@5", "--non-inferior", "0.5")
    assert locked.run("prereg", "new", "mine", *frozen, *words).code == 0
    done = locked.run(*LOCK, "mine", "--acknowledge", "to see the way")
    assert done.code == 0, done.err
    source = locked.payload("lock")["benchmark"]["source"]
    assert (source["format"], "sha256" in source) == (kind, False)
    assert locked.run("full", "mine").code in (0, 11, 20)
    assert locked.verify("mine")[0] == 0
    page = locked.full("report.md", "mine").read_text(encoding="utf-8")
    assert f"harness data import {kind} " in page
    assert all(one["sha256"] in page for one in source["files"].values())


def test_a_run_file_without_the_heldout_questions_is_refused_before_the_lock(locked: Any) -> None:
    """It is enough for dev and for no full run: the check says so, and no reason on record helps."""
    ours = max((locked.root / "runs" / "dev").glob("*/candidate.trec"))
    (locked.root / "ours.trec").write_bytes(ours.read_bytes())
    assert locked.run("dev", "--retrieval-version", "external", "retrieval.run=ours.trec", "k=5").code == 0
    assert locked.run("freeze", "latest", "--name", "ours").code == 0
    words = ("--title", "T", "--hypothesis", "H", "--rationale", "R", "--author", "me")
    frozen = ("--from", "experiments/ours/frozen.yaml", "--primary", "R@5", "--non-inferior", "0.1")
    assert locked.run("prereg", "new", "ours", *frozen, *words).code == 0
    done = locked.run(*LOCK, "ours", "--acknowledge", "it will do")
    assert done.code == 2
    assert "candidate: the held-out questions cannot be ranked" in done.err
    assert "questions are not in the run" in done.err
    assert locked.kinds() == ["lock"]
