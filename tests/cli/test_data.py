from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import pytest


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """A BEIR folder: twelve documents, one for each question, six questions for development and six held out."""
    words = ("tulip", "ferry", "kayak", "rye", "shed", "frost", "porto", "sister", "bulb", "lake", "soil", "april")
    folder = tmp_path / "nature"
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": f"d{n}", "title": word, "text": f"all about the {word}"} for n, word in enumerate(words)]
    queries = [{"_id": f"q{n}", "text": f"tell me about the {word}"} for n, word in enumerate(words)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    for split, begin in (("dev", 0), ("test", 6)):
        rows = [f"q{n}\td{n}\t1" for n in range(begin, begin + 6)]
        text = "\n".join(["query-id\tcorpus-id\tscore", *rows, ""])
        (folder / f"qrels/{split}.tsv").write_text(text, encoding="utf-8")
    return folder


def test_a_beir_folder_is_imported_and_tried(ready: Any, beir: Path) -> None:
    """Import says what is there and what to type next, and typing it ranks and scores the dev questions."""
    done = ready.run("data", "import", "beir", str(beir), "--name", "nature")
    assert done.code == 0, done.err
    assert "nature: BEIR folder nature, test split; dev: dev split, 1 store" in done.out
    assert "chunks: 12 raw; edges: 0" in done.out
    assert "questions: 6 dev, 6 held out" in done.out
    typed = "dev --retrieval-version rrf benchmark.name=nature"
    assert f"next: harness {typed}" in done.out.replace("'", "")
    tried = ready.run(*typed.split(), "--json")
    assert tried.code == 0, tried.err
    rows = {row["measure"]: row for row in tried.json["comparisons"] if row["slice"] == "all"}
    assert (rows["R@10"]["n"], rows["R@10"]["candidate"], rows["nDCG@10"]["candidate"]) == (6, 1.0, 1.0)
    assert "each on its own" in tried.json["interval"]
    again = ready.run("data", "import", "beir", str(beir), "--name", "nature", "--json")
    assert (again.code, again.json["questions"]) == (0, {"dev": 6, "heldout": 6})


def test_a_collection_of_trec_is_imported_and_tried(ready: Any, beir: Path, tmp_path: Path) -> None:
    """The same content from three files, with a fifth drawn for development, and without a list of splits."""
    qrels = tmp_path / "all.qrels"
    qrels.write_text("".join(f"q{n} 0 d{n} {1 + n % 2}\n" for n in range(12)), encoding="utf-8")
    files = ("--corpus", str(beir / "corpus.jsonl"), "--topics", str(beir / "queries.jsonl"), "--qrels", str(qrels))
    done = ready.run("data", "import", "trec", *files, "--name", "three")
    assert done.code == 0, done.err
    assert "three: corpus.jsonl, judged by all.qrels; dev: drawn from them, 1 store" in done.out
    assert "questions: 2 dev, 10 held out" in done.out
    assert "     6  grade above 1" in done.out
    tried = ready.run("dev", "--retrieval-version", "bm25", "benchmark.name=three", "--json")
    assert tried.code == 0, tried.err
    assert tried.json["comparisons"][0]["n"] == 2


def test_dev_work_cannot_open_the_judgments_that_are_held_out(ready: Any, beir: Path) -> None:
    """The file of the test split is closed to it, that of the dev split and the corpus are not."""
    assert ready.run("data", "import", "beir", str(beir)).code == 0

    def attempt(root: str, path: str) -> str:
        from pathlib import Path

        from harness.workflow.trial import _bench

        _bench(root, "beir")
        try:
            Path(path).read_bytes()
        except Exception as error:  # noqa: BLE001 - the test looks at what it was
            return type(error).__name__
        return "opened"

    files = ("qrels/test.tsv", "qrels/dev.tsv", "corpus.jsonl")
    said = joblib.Parallel(n_jobs=2)([joblib.delayed(attempt)(str(ready.root), str(beir / file)) for file in files])
    assert said == ["IntegrityProblem", "opened", "opened"]


def test_what_is_no_collection_is_refused(ready: Any, refused: Any, beir: Path, tmp_path: Path) -> None:
    """One message with file and line, and no benchmark is left behind."""
    load = ("data", "import", "beir")
    refused(ready, 2, *load, str(tmp_path / "none"), says=("no such folder", "corpus.jsonl, queries.jsonl and"))
    refused(ready, 2, *load, str(beir), "--test-split", "tset", says=("did you mean 'test'?",))
    refused(ready, 2, *load, str(beir), "--clusters", "prefix", says=("'q0' has no slash",))
    refused(ready, 2, *load, str(beir), "--name", "../x")
    with (beir / "corpus.jsonl").open("a", encoding="utf-8") as handle:
        handle.write('{"_id": 7, "text": "x"}\n')
    refused(ready, 2, *load, str(beir), says=("corpus.jsonl:13", "the number 7", "quotation marks"))
    files = ("--corpus", str(beir / "corpus.jsonl"), "--topics", str(beir / "queries.jsonl"))
    refused(ready, 2, "data", "import", "trec", *files, says=("--qrels",))
    refused(ready, 2, "data", "import", "trec", *files, "--qrels", str(beir / "qrels/test.tsv"), says=("3 columns",))


def test_everything_that_another_system_needs_is_exported(ready: Any, tmp_path: Any) -> None:
    """Documents and questions of both splits are written, without labels, and the two counts are said."""
    done = ready.run("data", "export", "synthetic", str(tmp_path / "theirs"), "--json")
    assert (done.code, done.err) == (0, "")
    asked = [json.loads(line) for line in (tmp_path / "theirs/questions.jsonl").read_text("utf-8").splitlines()]
    assert done.json["questions"] == len(asked)
    listed = ready.run("data", "list", "--json").json
    assert len(asked) == sum(one["questions"]["dev"] + one["questions"]["heldout"] for one in listed)
    assert {key for one in asked for key in one} == {"question", "text", "partition"}
    documents = [json.loads(line) for line in (tmp_path / "theirs/corpus.jsonl").read_text("utf-8").splitlines()]
    assert done.json["documents"] == len(documents) == len({one["id"] for one in documents})
    assert {one["layer"] for one in documents} == {"raw", "distill"}
    more = ready.run("data", "export", "synthetic", str(tmp_path / "all"), "--layers", "raw,distill,summary", "--json")
    assert more.json["documents"] > len(documents)


def test_a_folder_that_cannot_be_written_is_named(ready: Any, refused: Any, tmp_path: Any) -> None:
    """A file in its place, and a benchmark that is not there, are refused."""
    (tmp_path / "file").write_text("")
    refused(ready, 4, "data", "export", "synthetic", str(tmp_path / "file"), says=("file",))
    refused(
        ready, 2, "data", "export", "synthetic", str(tmp_path / "x"), "--layers", "raw,distil",
        says=("no layer 'distil'", "did you mean 'distill'?"),
    )  # fmt: skip
    refused(ready, 2, "data", "export", "locomo11", str(tmp_path / "x"), says=("locomo11",))


def test_own_data_is_checked_and_imported(ready: Any, tmp_path: Any) -> None:
    """The check needs no workspace, names faults with exit code 2, and the import of a sound folder is tried on dev."""
    import shutil
    from pathlib import Path

    mine = shutil.copytree(Path(__file__).parents[2] / "examples/own-data", tmp_path / "mine")
    done = ready.process("data", "check", str(mine))
    said = "8 chunks in 2 partitions, 4 questions, 3 edges; no fault"
    assert (done.code, done.out.splitlines()[-3:]) == (
        0,
        [said, "", f"next: harness data import jsonl {mine} --name NAME"],
    )
    assert ready.run("data", "import", "jsonl", str(mine), "--name", "mine").code == 0
    done = ready.run("dev", "--retrieval-version", "rrf", "benchmark.name=mine", "k=2")
    assert done.code == 0, done.err
    with (mine / "corpus.jsonl").open("a") as handle:
        handle.write('{"id": 7}\n')
    done = ready.process("data", "check", str(mine), "--json")
    assert done.code == 2
    assert [fault["where"].rpartition("/")[2] for fault in done.json["faults"]] == ["corpus.jsonl:9"] * 2
