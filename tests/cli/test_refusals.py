"""Commands that must not go on: one message on stderr, the documented code, and nothing changed on disk."""

from __future__ import annotations

import json
import shutil
from typing import Any

import pytest


def test_new_documents_that_are_refused(refused: Any, locked: Any) -> None:
    """`prereg new` refuses a taken id, a file that is not there, and sizes that are no fractions."""
    frozen = ("--from", "experiments/raw-only/frozen.yaml")
    refused(locked, 2, "prereg", "new", "raw-only", *frozen, says=("the document exists",))
    refused(locked, 2, "prereg", "new", "b", "--from", "experiments/none/frozen.yaml", says=("harness freeze",))
    refused(locked, 2, "prereg", "new", "b", "--from", "/etc/passwd", says=("in this workspace",))
    refused(locked, 2, "prereg", "new", "b", *frozen, "--superior", "2%", says=("2%", "fraction"))
    refused(locked, 2, "prereg", "new", "b", *frozen, "--superior", "3", says=("fraction",))
    refused(locked, 2, "prereg", "new", "b", *frozen, "--superior", "0.02", "--non-inferior", "0.01")
    refused(locked, 2, "prereg", "new", "b", *frozen, "--guard", "temporal", says=("SLICE:DROP",))
    refused(locked, 2, "prereg", "new", "b", *frozen, "--guard", "temporal:nan", says=("fraction",))
    refused(locked, 2, "prereg", "new", "b", *frozen, "--primary", "R@ten", says=("R@ten",))
    refused(locked, 2, "prereg", "new", "../b", *frozen, says=("is not an id",))


def test_full_runs_only_what_was_locked(refused: Any, locked: Any) -> None:
    """A full run takes no sweep, no override, no other version, and no document that is not locked."""
    assert locked.second().code == 0
    refused(locked, 2, "full", "second", says=("second is not locked", "harness prereg lock second"))
    refused(locked, 2, "full", "raw-only", "-m", says=("-m", "neither sweeps nor overrides"))
    refused(locked, 2, "full", "raw-only", "retrieval.k1=0.9", says=("retrieval.k1=0.9",))
    refused(locked, 2, "full", "raw-only", "k=5", "-m", says=("neither sweeps nor overrides",))
    refused(locked, 2, "full", "raw-only", "--retrieval-version", "bm25-edges", says=("locked candidate is bm25",))
    assert locked.kinds() == ["lock"]


def test_full_accepts_the_version_that_was_locked(locked: Any) -> None:
    """--retrieval-version is accepted where it says what the lock says."""
    assert locked.run("full", "raw-only", "--retrieval-version", "bm25").code == 0


UNKNOWN = (
    ("full",), ("verdict",), ("report",), ("prereg", "check"), ("prereg", "lock"), ("prereg", "show"),
    ("prereg", "abandon", "--reason", "r"),
)  # fmt: skip


@pytest.mark.parametrize("command", UNKNOWN)
def test_an_id_that_is_not_there(refused: Any, locked: Any, command: tuple[str, ...]) -> None:
    """An unknown id, and a word that can be none, are refused by every command that takes one."""
    refused(locked, 2, *command, "nobody", says=("nobody",))
    refused(locked, 2, *command, "../nobody")
    refused(locked, 2, *command, "No Body")


def test_verify_of_an_id_that_is_not_there_does_not_pass(refused: Any, locked: Any) -> None:
    """There is nothing to verify under an id that no lock names: usage (2), and never a pass."""
    refused(locked, 2, "verify", "nobody", says=("nothing to verify", "no such document"))


@pytest.mark.parametrize("command", [("verdict", "raw-only"), ("report", "raw-only")])
def test_a_verdict_that_is_not_there_yet(refused: Any, locked: Any, command: tuple[str, ...]) -> None:
    """Before the full run there is neither verdict nor page, and the message says what makes them."""
    refused(locked, 2, *command, says=("no verdict", "harness full raw-only"))


COMMANDS = (("dev",), ("freeze", "latest", "--name", "a"), ("prereg", "list"), ("full", "a"), ("verify", "a"),
            ("verdict", "a"), ("report", "a"), ("data", "list"), ("data", "import", "synthetic"),
            ("versions", "in-force"))  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_workspace(refused: Any, desk: Any, command: tuple[str, ...]) -> None:
    """Outside a workspace every command that needs one says how to make it, and makes nothing."""
    refused(desk, 2, *command, says=("no workspace here", "harness init"))


def test_words_that_are_no_command(refused: Any, desk: Any) -> None:
    """An unknown command or subcommand is refused with the nearest one; nothing is imported or made."""
    refused(desk, 2, "verfy", says=("no command 'verfy'",))
    for words, meant in ((("verfy", "a"), "verify"), (("prereg", "lok", "a"), "lock"), (("data", "imprt"), "import")):
        done = desk.run(*words)
        assert (done.code, f"did you mean '{meant}'?" in done.err) == (2, True), done.err
    refused(desk, 2, "verify", says=("id", "--help"))
    refused(desk, 2, "prereg", "list", "--jsn", says=("--jsn",))


def test_no_dev_run_to_freeze(refused: Any, locked: Any) -> None:
    """A dev run that does not exist is refused with those that do; a damaged one is named."""
    run = next((locked.root / "runs" / "dev").glob("2*"))
    refused(locked, 2, "freeze", "nothing", "--name", "a", says=(run.name,))
    refused(locked, 2, "freeze", "latest", "--name", "../a")
    (run / "result.json").write_text("{", encoding="utf-8")
    refused(locked, 2, "freeze", "latest", "--name", "a", says=("damaged",))


@pytest.mark.parametrize("content", ["[]", "12", '{"format": 1}'])
def test_a_dev_result_that_is_something_else(refused: Any, locked: Any, content: str) -> None:
    """A result file that is JSON and no dev result is refused as damaged."""
    next((locked.root / "runs" / "dev").glob("*/result.json")).write_text(content, encoding="utf-8")
    refused(locked, 2, "freeze", "latest", "--name", "a", says=("damaged",))


@pytest.mark.parametrize(("key", "value"), [("benchmark", None), ("k", {}), ("slices", {}), ("version", 5)])
def test_a_damaged_dev_run_stops_no_other(refused: Any, locked: Any, key: str, value: Any) -> None:
    """A value of another kind makes its own run damaged, and is no matter of the run that is frozen."""
    sound = next((locked.root / "runs" / "dev").glob("2*"))
    damaged = shutil.copytree(sound, sound.with_name("20200101-000000-0123456789ab-000000"))
    result = json.loads((damaged / "result.json").read_text(encoding="utf-8"))
    (damaged / "result.json").write_text(json.dumps({**result, key: value}), encoding="utf-8")
    assert locked.run("freeze", sound.name, "--name", "a").code == 0
    refused(locked, 2, "freeze", damaged.name, "--name", "b", says=("damaged",))


def test_a_missing_ledger(refused: Any, finished: Any) -> None:
    """A ledger that is gone although a run says there was one is an integrity failure (3), for every command."""
    shutil.rmtree(finished.root / "preregistrations" / "ledger")
    for words in (("full", "raw-only"), ("verdict", "raw-only"), ("report", "raw-only"), ("prereg", "list"),
                  ("prereg", "check", "raw-only"), ("prereg", "lock", "raw-only"), ("versions", "in-force"),
                  ("dev", "retrieval.layers=[raw]")):  # fmt: skip
        refused(finished, 3, *words, says=("ledger",))
    code, status, _ = finished.verify()
    assert (code, status["chain"]) == (3, "FAIL")


def test_a_ledger_that_was_edited(refused: Any, finished: Any) -> None:
    """An entry that was changed is an integrity failure (3) by its file's name."""
    entry = finished.entry_files()[0]
    entry.write_text(entry.read_text(encoding="utf-8").replace('"look":1', '"look":2'), encoding="utf-8")
    refused(finished, 3, "verdict", "raw-only", says=(entry.name,))


@pytest.mark.parametrize("words", [("dev", "retrieval.layers=[raw]"), ("full", "raw-only")], ids=" ".join)
def test_an_unwritable_runs_folder(refused: Any, locked: Any, words: tuple[str, ...]) -> None:
    """Where runs cannot be written the command ends (4) before any work."""
    shutil.rmtree(locked.root / "runs")
    (locked.root / "runs").write_text("a file in its place", encoding="utf-8")
    message = refused(locked, 4, *words, says=("cannot be written",))
    assert "ranking" not in message


def test_an_unwritable_ledger(refused: Any, locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the ledger cannot be written a full run ends (4) before any ranking."""
    from harness.errors import EnvironmentProblem
    from harness.ledger.entries import Ledger

    def refuse(_: Ledger) -> None:
        raise EnvironmentProblem("the ledger cannot be written", where="ledger")

    monkeypatch.setattr(Ledger, "check_writable", refuse)
    message = refused(locked, 4, "full", "raw-only")
    assert "ranking" not in message


def test_a_place_where_no_workspace_can_be_laid(refused: Any, desk: Any) -> None:
    """`init` on a file ends with 4 and the place."""
    (desk.root / "file").write_text("", encoding="utf-8")
    refused(type(desk)(desk.root / "file", desk.state, desk.capsys), 4, "init", says=("file",))


def test_damaged_data(locked: Any) -> None:
    """A damaged manifest or benchmark file is named (2 or 3), never a traceback."""
    folder = locked.root / "data" / "synthetic"
    manifest = folder / "manifest.json"
    good = manifest.read_bytes()
    for bad in (b"", b"{", b"[]", b'{"format": 1}'):
        manifest.write_bytes(bad)
        for words in (("data", "list"), ("full", "raw-only"), ("versions", "in-force")):
            before = locked.tree()
            done = locked.run(*words)
            assert done.code in (2, 3), (bad, words, done.err)
            assert "manifest.json" in done.err
            assert locked.tree() == before
    manifest.write_bytes(good)
    for name in ("corpus.parquet", "heldout-questions.parquet", "heldout-labels.parquet"):
        kept = (folder / name).read_bytes()
        (folder / name).write_bytes(kept[: len(kept) // 2])
        done = locked.run("full", "raw-only")
        assert done.code in (2, 3), (name, done.err)
        assert name in done.err
        assert "verdict" not in locked.kinds()
        (folder / name).write_bytes(kept)
    assert locked.run("full", "raw-only").code == 0


def test_one_fault_more_is_internal_and_says_so(refused: Any, locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no user's mistake ends with 1, one line and the way to see more; a full disk ends with 4."""
    import errno

    def fault(_: Any) -> Any:
        raise ZeroDivisionError("by hand")

    def full_disk(_: Any) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device", "somewhere")

    monkeypatch.delenv("HARNESS_DEBUG", raising=False)
    monkeypatch.setattr("harness.workflow.workspace.open_workspace", fault)
    done = locked.run("prereg", "list")
    assert done.code == 1
    assert "internal error: ZeroDivisionError: by hand" in done.err
    assert "HARNESS_DEBUG=1" in done.err
    monkeypatch.setattr("harness.workflow.workspace.open_workspace", full_disk)
    refused(locked, 4, "prereg", "list", says=("No space left", "somewhere"))
