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


FILES: dict[str, tuple[bytes | None, str]] = {
    "missing": (None, "no such file"),
    "empty": (b"", "the file is empty"),
    "blank": (b" \n", "the file is empty"),
    "truncated": (json.dumps(LONGMEMEVAL).encode()[:-20], "cut off"),
    "not-json": (b"sample_id: conv-26\n", "not valid JSON"),
    "zip": (b"PK\x03\x04\x14\x00", "zip archive"),
    "not-utf8": (b'["\xff\xfe"]', "not UTF-8"),
    "number": (b"12", ""),
    "object": (b'{"conversation": {}}', ""),
    "empty-list": (b"[]", ""),
    "other-list": (b'[{"a": 1}]', ""),
    "longmemeval": (json.dumps(LONGMEMEVAL).encode(), "LongMemEval"),
}


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_locomo_file(refused: Any, locked: Any, tmp_path: Path, name: str) -> None:
    """A file that is missing, empty, cut off or something else is refused by name; no benchmark is left behind."""
    content, says = FILES[name]
    path = tmp_path / f"{name}.json"
    if content is not None:
        path.write_bytes(content)
    refused(locked, 2, "data", "import", "locomo", str(path), says=(path.name, says))


def test_a_folder_instead_of_a_file(refused: Any, locked: Any, tmp_path: Path) -> None:
    """A folder given as the data file is refused."""
    refused(locked, 2, "data", "import", "locomo", str(tmp_path), says=("folder",))


def test_an_unknown_variant(refused: Any, locked: Any, tiny_locomo: Path) -> None:
    """A file in LoCoMo's format that is no known variant needs --allow-unknown."""
    refused(locked, 2, "data", "import", "locomo", str(tiny_locomo), says=("--allow-unknown",))
    assert locked.run("data", "import", "locomo", str(tiny_locomo), "--allow-unknown").code == 0


def test_a_dev_conversation_that_is_not_there(refused: Any, locked: Any, tiny_locomo: Path) -> None:
    """An unknown conversation for development is refused before anything is written."""
    words = ("data", "import", "locomo", str(tiny_locomo), "--allow-unknown", "--dev", "conv-99")
    refused(locked, 2, *words, says=("conv-99",))


@pytest.mark.parametrize("name", ["../elsewhere", "Upper", "a/b", ""])
def test_a_name_that_could_be_a_path(refused: Any, locked: Any, tiny_locomo: Path, name: str) -> None:
    """A benchmark's name must not lead anywhere else."""
    refused(locked, 2, "data", "import", "locomo", str(tiny_locomo), "--allow-unknown", "--name", name)


DEV: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "version": (("--retrieval-version", "bm52"), ("no retrieval version 'bm52'", "did you mean 'bm25'?")),
    "version by override": (("retrieval=bm25-edge",), ("bm25-edge", "did you mean 'bm25-edges'?")),
    "parameter": (("retrieval.tie_rul=ordinal",), ("no parameter 'tie_rul'", "did you mean 'tie_rule'?")),
    "parameter added": (("+retrieval.laters=[raw]",), ("laters", "did you mean 'layers'?")),
    "weight": (
        ("--retrieval-version", "static-tiebreak", "retrieval.weight=0.7"),
        ("static-tiebreak takes no 'weight': ", "as a multiplier", "leave retrieval.weight out"),
    ),
    "weight added": (
        ("--retrieval-version", "static-tiebreak", "+retrieval.decay=0.7"),
        ("static-tiebreak takes no 'decay': ", "questions were asked before"),
    ),
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
    "sweep of wrong values": (("-m", "retrieval.k1=0.9,99"), ("1 of 2 trials", "nothing was started")),
    "sweep without -m": (("retrieval.k1=0.9,1.2",), ("k1", "add -m")),
    "two versions in one": (("--retrieval-version", "bm25,bm25-edges"), ("sweep", "add -m")),
    "a number with an underscore": (("retrieval.k1=1_0",), ("read as the number 10",)),
    "Hydra's own settings": (("hydra.run.dir=elsewhere",), ("Hydra's own settings",)),
    "code in configuration": (("retrieval._target_=os.system",), ("may not name code",)),
    "flag": (("--k", "5"), ("--k",)),
    "full split": (("benchmark.split=full",), ("benchmark.split=full", "harness full ID")),
    "held-out split": (("benchmark.split=heldout",), ("benchmark.split=heldout", "harness full ID")),
    "benchmark": (("benchmark=locom",), ("locom",)),
    "not imported": (("benchmark=locomo",), ("locomo",)),
    "bracket": (("retrieval.layers=[raw",), ("retrieval.layers=[raw",)),
}


@pytest.mark.parametrize("name", DEV)
def test_what_dev_refuses(refused: Any, locked: Any, name: str) -> None:
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
def test_what_a_document_must_not_say(refused: Any, locked: Any, name: str, command: str) -> None:
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
