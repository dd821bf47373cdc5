"""Whatever a user does wrong: one message on stderr, the documented code, and nothing changed on disk."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

LONGMEMEVAL = [
    {"question_id": "e47becba", "question_type": "single-session-user", "question": "Which degree?", "answer": "BA",
     "question_date": "2023/05/30 (Tue) 23:40", "haystack_session_ids": ["s1"], "haystack_dates": ["2023/05/20"],
     "haystack_sessions": [[{"role": "user", "content": "hello"}]], "answer_session_ids": ["s1"]}
]  # fmt: skip


def refused(desk: Any, code: int, *arguments: str, says: tuple[str, ...] = ()) -> str:
    """Run a command that must be refused in this way, and return its message."""
    before = desk.tree()
    done = desk.run(*arguments)
    assert (done.code, done.out) == (code, ""), done.err
    messages = [line for line in done.err.splitlines() if not line.startswith(("[", "  allowed:", "  fix:"))]
    assert len(messages) == 1, done.err
    assert messages[0].startswith("harness: ")
    assert "Traceback" not in done.err
    assert "internal error" not in done.err
    for word in says:
        assert word in done.err
    assert desk.tree() == before
    return str(done.err)


FILES: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "no such file"),
    "empty": (b"", "the file is empty"),
    "blank": (b" \n", "the file is empty"),
    "truncated": (json.dumps(LONGMEMEVAL).encode()[:-20], "cut off"),
    "not-json": (b"sample_id: conv-26\n", "not valid JSON"),
    "not-utf8": (b'["\xff\xfe"]', "not UTF-8"),
    "number": (b"12", ""),
    "object": (b'{"conversation": {}}', ""),
    "empty-list": (b"[]", ""),
    "other-list": (b'[{"a": 1}]', ""),
    "longmemeval": (json.dumps(LONGMEMEVAL).encode(), "LongMemEval"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_locomo_file(locked: Any, tmp_path: Path, name: str) -> None:
    """A file that is missing, empty, cut off or something else is refused by name; no benchmark is left behind."""
    content, says = FILES[name]
    path = tmp_path / f"{name}.json"
    if content is not None:
        path.write_bytes(content)
    refused(locked, 2, "data", "import", "locomo", str(path), says=(path.name, says))


def test_a_folder_instead_of_a_file(locked: Any, tmp_path: Path) -> None:
    """A folder given as the data file is refused."""
    refused(locked, 2, "data", "import", "locomo", str(tmp_path), says=("folder",))


def test_an_unknown_variant(locked: Any, tiny_locomo: Path) -> None:
    """A file in LoCoMo's format that is no known variant needs --allow-unknown."""
    refused(locked, 2, "data", "import", "locomo", str(tiny_locomo), says=("--allow-unknown",))
    assert locked.run("data", "import", "locomo", str(tiny_locomo), "--allow-unknown").code == 0


def test_a_dev_conversation_that_is_not_there(locked: Any, tiny_locomo: Path) -> None:
    """An unknown conversation for development is refused before anything is written."""
    words = ("data", "import", "locomo", str(tiny_locomo), "--allow-unknown", "--dev", "conv-99")
    refused(locked, 2, *words, says=("conv-99",))


@pytest.mark.parametrize("name", ["../elsewhere", "Upper", "a/b", ""])
def test_a_name_that_could_be_a_path(locked: Any, tiny_locomo: Path, name: str) -> None:
    """A benchmark's name must not lead anywhere else."""
    refused(locked, 2, "data", "import", "locomo", str(tiny_locomo), "--allow-unknown", "--name", name)


DEV: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "version": (("--retrieval-version", "bm52"), ("no retrieval version 'bm52'", "did you mean 'bm25'?")),
    "version by override": (("retrieval=bm25-edge",), ("bm25-edge", "did you mean 'bm25-edges'?")),
    "parameter": (("retrieval.tie_rul=ordinal",), ("no parameter 'tie_rul'", "did you mean 'tie_rule'?")),
    "parameter added": (("+retrieval.laters=[raw]",), ("laters", "did you mean 'layers'?")),
    "key": (("measure=[R@5]",), ("measure",)),
    "added key": (("+mesures=[R@5]",), ("did you mean 'measures'?",)),
    "value": (("retrieval.k1=high",), ("k1",)),
    "range": (("retrieval.b=1.5",), ("b",)),
    "layer": (("retrieval.layers=[rwa]",), ("layers",)),
    "no layer": (("retrieval.layers=[]",), ("layers",)),
    "k": (("k=0",), ("k",)),
    "k as text": (("k=ten",), ("k",)),
    "measure": (("measures=[R@]",), ("R@",)),
    "measure name": (("measures=[Recall@10]",), ("no measure 'Recall'", "Success, AllSuccess, R")),
    "engine": (("engine=fast",), ("engine",)),
    "no override": (("k",), ("not an override", "KEY=VALUE")),
    "two versions": (("--retrieval-version", "bm25", "retrieval=bm25-edges"), ("contradict",)),
    "sweep": (("-m", "retrieval.k1=0.9,1.2"), ("-m", "sweeps")),
    "sweep without -m": (("retrieval.k1=0.9,1.2",), ("k1",)),
    "two versions in one": (("--retrieval-version", "bm25,bm25-edges"), ("sweeps",)),
    "flag": (("--k", "5"), ("--k",)),
    "full split": (("benchmark.split=full",), ("benchmark.split=full", "harness full ID")),
    "held-out split": (("benchmark.split=heldout",), ("benchmark.split=heldout", "harness full ID")),
    "benchmark": (("benchmark=locom",), ("locom",)),
    "not imported": (("benchmark=locomo",), ("locomo",)),
    "bracket": (("retrieval.layers=[raw",), ("retrieval.layers=[raw",)),
}


@pytest.mark.parametrize("name", DEV)
def test_what_dev_refuses(locked: Any, name: str) -> None:
    """A version, parameter, key or value that does not exist is refused, with the nearest one that does."""
    arguments, says = DEV[name]
    refused(locked, 2, "dev", *arguments, says=says)


DOCUMENTS: dict[str, tuple[Callable[[str], str], tuple[str, ...]]] = {
    "duplicate key": (lambda text: text + "title: Twice\n", ("title", "a second time")),
    "unknown key": (lambda text: text.replace("hypothesis:", "hypotesis:"), ("did you mean 'hypothesis'?",)),
    "no": (lambda text: text.replace("title: Raw turns only", "title: no"), ("no",)),
    "exponent": (lambda text: text.replace("superior: 0.02", "superior: 2e-2"), ("2e-2",)),
    "percent": (lambda text: text.replace("superior: 0.02", "superior: 2%"), ("2%",)),
    "points": (lambda text: text.replace("superior: 0.02", "superior: 2"), ("2", "fraction")),
    "version": (
        lambda text: text.replace("version: bm25\n  parameters: {layers: [raw], ", "version: bm26\n  parameters: {"),
        ("bm26", "did you mean 'bm25'?"),
    ),
    "parameter": (lambda text: text.replace("tie_rule", "tie_rul"), ("tie_rul", "did you mean 'tie_rule'?")),
    "slice": (lambda text: text.replace("slice: temporal", "slice: temporl"), ("temporl",)),
    "measure": (lambda text: text.replace("[R@10]", "[Recal@10]"), ("'Recal'",)),
    "tab": (lambda text: text.replace("  version", "\tversion"), (".yaml:",)),
    "anchor": (lambda text: text.replace("title: Raw", "title: &a Raw"), ("anchor",)),
    "empty": (lambda _: "", ("empty",)),
    "two documents": (lambda text: text + "---\n" + text, ("document",)),
    "other id": (lambda text: text.replace("id: raw-only", "id: other"), ("other",)),
    "binary": (lambda text: text + "\x00", ()),
    "todo": (lambda text: text.replace("hypothesis: Facts repeat turns.", "hypothesis: TODO"), ("TODO",)),
}


@pytest.mark.parametrize("command", ["check", "lock"])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_a_document_must_not_say(locked: Any, name: str, command: str) -> None:
    """A document that could be misread is neither checked nor locked; the message names what and where."""
    shutil.rmtree(locked.root / "preregistrations" / "ledger")
    shutil.rmtree(locked.root / "runs" / "full", ignore_errors=True)
    change, says = DOCUMENTS[name]
    path = locked.document()
    before = path.read_text(encoding="utf-8")
    path.write_text(change(before), encoding="utf-8")
    assert change(before) != before
    if name in ("slice", "todo") and command == "check":
        done = locked.run("prereg", "check", "raw-only")  # a finding, and so part of the result
        assert (done.code, done.err) == (2, "")
        assert {"slice": "temporl", "todo": "TODO"}[name] in done.out
        return
    refused(locked, 2, "prereg", command, "raw-only", says=says)


def test_new_documents_that_are_refused(locked: Any) -> None:
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


def test_full_runs_only_what_was_locked(locked: Any) -> None:
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
def test_an_id_that_is_not_there(locked: Any, command: tuple[str, ...]) -> None:
    """An unknown id, and a word that can be none, are refused by every command that takes one."""
    refused(locked, 2, *command, "nobody", says=("nobody",))
    refused(locked, 2, *command, "../nobody")
    refused(locked, 2, *command, "No Body")


def test_verify_of_an_id_that_is_not_there_does_not_pass(locked: Any) -> None:
    """Nothing passes for lack of content: an unknown id is a FAIL (3)."""
    code, status, _ = locked.verify("nobody")
    assert (code, status["lock"], status["decision"]) == (3, "FAIL", "NOTRUN")


@pytest.mark.parametrize("command", [("verdict", "raw-only"), ("report", "raw-only")])
def test_a_verdict_that_is_not_there_yet(locked: Any, command: tuple[str, ...]) -> None:
    """Before the full run there is neither verdict nor page, and the message says what makes them."""
    refused(locked, 2, *command, says=("no verdict", "harness full raw-only"))


COMMANDS = (("dev",), ("freeze", "latest", "--name", "a"), ("prereg", "list"), ("full", "a"), ("verify", "a"),
            ("verdict", "a"), ("report", "a"), ("data", "list"), ("data", "import", "synthetic"),
            ("versions", "in-force"))  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_no_workspace(desk: Any, command: tuple[str, ...]) -> None:
    """Outside a workspace every command that needs one says how to make it, and makes nothing."""
    refused(desk, 2, *command, says=("no workspace here", "harness init"))


def test_words_that_are_no_command(desk: Any) -> None:
    """An unknown command or subcommand is refused with the nearest one; nothing is imported or made."""
    refused(desk, 2, "verfy", says=("no command 'verfy'",))
    for words, meant in ((("verfy", "a"), "verify"), (("prereg", "lok", "a"), "lock"), (("data", "imprt"), "import")):
        done = desk.run(*words)
        assert (done.code, f"did you mean '{meant}'?" in done.err) == (2, True), done.err
    refused(desk, 2, "verify", says=("id", "--help"))
    refused(desk, 2, "prereg", "list", "--jsn", says=("--jsn",))


def test_no_dev_run_to_freeze(locked: Any) -> None:
    """A dev run that does not exist is refused with those that do; a damaged one is named."""
    run = next((locked.root / "runs" / "dev").glob("2*"))
    refused(locked, 2, "freeze", "nothing", "--name", "a", says=(run.name,))
    refused(locked, 2, "freeze", "latest", "--name", "../a")
    (run / "result.json").write_text("{", encoding="utf-8")
    refused(locked, 2, "freeze", "latest", "--name", "a", says=("damaged",))


@pytest.mark.parametrize("content", ["[]", "12", '{"format": 1}'])
def test_a_dev_result_that_is_something_else(locked: Any, content: str) -> None:
    """A result file that is JSON and no dev result is refused as damaged."""
    next((locked.root / "runs" / "dev").glob("*/result.json")).write_text(content, encoding="utf-8")
    refused(locked, 2, "freeze", "latest", "--name", "a", says=("damaged",))


def test_a_missing_ledger(finished: Any) -> None:
    """A ledger that is gone although a run says there was one is an integrity failure (3), for every command."""
    shutil.rmtree(finished.root / "preregistrations" / "ledger")
    for words in (("full", "raw-only"), ("verdict", "raw-only"), ("report", "raw-only"), ("prereg", "list"),
                  ("prereg", "check", "raw-only"), ("prereg", "lock", "raw-only"), ("versions", "in-force"),
                  ("dev", "retrieval.layers=[raw]")):  # fmt: skip
        refused(finished, 3, *words, says=("ledger",))
    code, status, _ = finished.verify()
    assert (code, status["chain"]) == (3, "FAIL")


def test_a_ledger_that_was_edited(finished: Any) -> None:
    """An entry that was changed is an integrity failure (3) by its file's name."""
    entry = finished.entry_files()[0]
    entry.write_text(entry.read_text(encoding="utf-8").replace('"look":1', '"look":2'), encoding="utf-8")
    refused(finished, 3, "verdict", "raw-only", says=(entry.name,))


@pytest.mark.parametrize("words", [("dev", "retrieval.layers=[raw]"), ("full", "raw-only")], ids=" ".join)
def test_an_unwritable_runs_folder(locked: Any, words: tuple[str, ...]) -> None:
    """Where runs cannot be written the command ends (4) before any work."""
    shutil.rmtree(locked.root / "runs")
    (locked.root / "runs").write_text("a file in its place", encoding="utf-8")
    message = refused(locked, 4, *words, says=("cannot be written",))
    assert "ranking" not in message


def test_an_unwritable_ledger(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the ledger cannot be written a full run ends (4) before any ranking."""
    from harness.errors import EnvironmentProblem
    from harness.ledger.entries import Ledger

    def refuse(_: Ledger) -> None:
        raise EnvironmentProblem("the ledger cannot be written", where="ledger")

    monkeypatch.setattr(Ledger, "check_writable", refuse)
    message = refused(locked, 4, "full", "raw-only")
    assert "ranking" not in message


def test_a_place_where_no_workspace_can_be_laid(desk: Any) -> None:
    """`init` on a file ends with 4 and the place."""
    (desk.root / "file").write_text("", encoding="utf-8")
    refused(desk, 4, "init", str(desk.root / "file"), says=("file",))


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


def test_one_fault_more_is_internal_and_says_so(locked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
