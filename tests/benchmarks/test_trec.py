from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.beir import import_beir
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.trec import Files, import_trec
from harness.errors import UsageProblem

CORPUS = [("d1", "Tulips need frost"), ("d2", 'a "ferry" is late'), ("0", "rye"), ("007", "rye"), ("q1", "kayak")]
TOPICS = [("q1", "What needs frost?"), ("q2", "Which flour?"), ("q3", "What is late?"), ("4", "Unasked")]
QRELS = "q1 0 d1 2\nq1 0 d2 0\nq2 0 0 1\nq2 Q0 007 1\n"
DEV = "q3\t0\td2\t1\r\n"


def tabs(path: Path, rows: list[tuple[str, str]]) -> Path:
    """A file of id, tab, text."""
    path.write_text("".join(f"{name}\t{text}\n" for name, text in rows), encoding="utf-8")
    return path


def objects(path: Path, rows: list[tuple[str, str]], name: str = "id", text: str = "text", **more: Any) -> Path:
    """A file of JSON lines with these field names."""
    path.write_text("".join(json.dumps({name: one, text: two} | more) + "\n" for one, two in rows), encoding="utf-8")
    return path


def files(place: Path, **changes: Path) -> Files:
    """The files of a collection, in tabs; some of them others."""
    (place / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (place / "dev.txt").write_text(DEV, encoding="utf-8")
    given = {
        "corpus": tabs(place / "corpus.tsv", CORPUS),
        "topics": tabs(place / "topics.tsv", TOPICS),
        "qrels": place / "qrels.txt",
        "dev_qrels": place / "dev.txt",
    }
    return Files(**(given | changes))


def told(benchmark: Benchmark) -> list[tuple[str, str, str, list[int]]]:
    """Id, text, part and evidence of each question."""
    questions = benchmark.questions
    return list(
        zip(questions.ids, questions.texts, questions.part, benchmark.labels.repaired.rows(), strict=True)
    )  # fmt: skip


def test_three_files_become_one_store(tmp_path: Path) -> None:
    """Documents and topics by tabs, quotation marks as they stand, judgments as at TREC."""
    benchmark = import_trec(files(tmp_path))
    assert benchmark.partitions == ("all",)
    assert list(zip(benchmark.corpus.ids, benchmark.corpus.texts, strict=True)) == CORPUS
    assert told(benchmark) == [
        ("q1", "What needs frost?", "heldout", [0]),
        ("q2", "Which flour?", "heldout", [2, 3]),
        ("q3", "What is late?", "dev", [1]),
    ]
    assert sum(one.count for one in benchmark.repairs if one.fault == "question that nobody judged") == 1


@pytest.mark.parametrize(
    ("name", "text"), [("id", "text"), ("_id", "text"), ("id", "contents"), ("docno", "text"), ("docid", "contents")]
)
def test_documents_as_json_lines(tmp_path: Path, name: str, text: str) -> None:
    """The fields that BEIR, Anserini and TREC use give the same store as tabs; other fields are ignored."""
    corpus = objects(tmp_path / "corpus.jsonl", CORPUS, name, text, raw="<doc>", url=None)
    assert import_trec(files(tmp_path, corpus=corpus)).digests() == import_trec(files(tmp_path)).digests()


@pytest.mark.parametrize(("name", "text"), [("id", "text"), ("_id", "text"), ("qid", "query"), ("id", "title")])
def test_topics_as_json_lines(tmp_path: Path, name: str, text: str) -> None:
    """They give the same questions as tabs."""
    topics = objects(tmp_path / "topics.jsonl", TOPICS, name, text)
    assert told(import_trec(files(tmp_path, topics=topics))) == told(import_trec(files(tmp_path)))


def test_a_title_goes_before_text_and_not_before_contents(tmp_path: Path) -> None:
    """What Anserini calls contents is whole already."""
    for text, expected in (("text", "Rye Tulips need frost"), ("contents", "Tulips need frost")):
        corpus = objects(tmp_path / "corpus.jsonl", CORPUS, "id", text, title="Rye")
        assert import_trec(files(tmp_path, corpus=corpus)).corpus.texts[0] == expected


def test_the_same_collection_in_both_forms_is_the_same_benchmark(tmp_path: Path) -> None:
    """BEIR's folder and TREC's files with the same content have the same digest under the same name."""
    place = tmp_path / "beir"
    (place / "qrels").mkdir(parents=True)
    objects(place / "corpus.jsonl", CORPUS, "_id", title="")
    objects(place / "queries.jsonl", TOPICS, "_id")
    for split, qrels in (("test", QRELS), ("dev", DEV)):
        rows = [line.split() for line in qrels.splitlines()]
        lines = ["query-id\tcorpus-id\tscore", *("\t".join((q, d, grade)) for q, _, d, grade in rows)]
        (place / f"qrels/{split}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert import_beir(place, name="x").digests() == import_trec(files(tmp_path), name="x").digests()


def test_questions_for_development_are_drawn_or_given(tmp_path: Path) -> None:
    """Without judgments of their own, some of the judged questions are for development."""
    given = files(tmp_path)
    drawn = import_trec(Files(given.corpus, given.topics, given.qrels))
    assert sorted(drawn.questions.part) == ["dev", "heldout"]
    with pytest.raises(UsageProblem, match="2 of 2 questions for development"):
        import_trec(Files(given.corpus, given.topics, given.qrels), dev=2)
    clusters = tabs(tmp_path / "clusters.tsv", [("q1", "A"), ("q2", "A")])
    with pytest.raises(UsageProblem, match="1 clusters of questions: nothing is held out"):
        import_trec(Files(given.corpus, given.topics, given.qrels), clusters=str(clusters))


WRONG: dict[str, tuple[str, str, str, str]] = {
    "no document": ("corpus.tsv", "\n", "", "the file is empty"),
    "no topic": ("topics.tsv", "", "", "the file is empty"),
    "no judgment": ("qrels.txt", "", "", "no judgment in it"),
    "no tab": ("corpus.tsv", "d1\tx\nd2 y\n", ":2", "1 column\n"),
    "two tabs": ("topics.tsv", "q1\tx\ty\n", ":1", "3 columns"),
    "topics as XML": ("topics.tsv", "<top>\n<num> Number: 301\n", ":1", "1 column\n"),
    "an id with a blank": ("corpus.tsv", "d 1\tx\n", ":1", "the id 'd 1' holds a blank"),
    "no id": ("corpus.tsv", "\tx\n", ":1", "the id is empty"),
    "a document twice": ("corpus.tsv", "d1\tx\nd2\ty\n\nd1\tz\n", ":4", "'d1' stands twice, first in line 1"),
    "a topic twice": ("topics.tsv", "q1\tx\nq1\tx\n", ":2", "'q1' stands twice, first in line 1"),
    "judgments of BEIR": ("qrels.txt", "query-id\tcorpus-id\tscore\nq1\td1\t1\n", ":1", "3 columns"),
    "not UTF-8": ("corpus.tsv", "d1\tx\nd2\t\udce9\n", ":2", "not UTF-8 text"),
    "other topics": ("qrels.txt", "301 0 d1 1\n", "", "no question in common with topics.tsv: qrels.txt has '301'"),
    "other documents": ("dev.txt", "q3 0 FT911-1 1\n", "", "no document in common with corpus.tsv: dev.txt has "),
    "two ids": ("corpus.jsonl", '{"id": "a", "_id": "a", "text": "x"}\n', ":1", "id under 2 names: id, _id"),
    "two texts": ("corpus.jsonl", '{"id": "a", "contents": "x", "text": "x"}\n', ":1", "text under 2 names"),
    "a number as id": ("topics.jsonl", '{"qid": 301, "text": "x"}\n', ":1", "qid is the number 301"),
    "another ending": ("corpus.gz", "x", "", "its name does not say its form"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_named_with_its_line(case: str, tmp_path: Path) -> None:
    """The error says what is wrong, in which file and line, and what was allowed."""
    name, content, line, message = WRONG[case]
    given, path = files(tmp_path), tmp_path / name
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    role = {"corpus": "corpus", "topics": "topics", "qrels": "qrels", "dev": "dev_qrels"}[path.stem]
    with pytest.raises(UsageProblem, match=message) as caught:
        import_trec(Files(**(vars(given) | {role: path})))
    assert caught.value.where == f"{path}{line}"
    assert caught.value.allowed


@pytest.mark.parametrize(
    ("role", "says"),
    [("corpus", "a file of documents"), ("topics", "a file of topics"), ("qrels", "qrels"), ("dev_qrels", "qrels")],
)
def test_a_file_that_is_missing_is_named(tmp_path: Path, role: str, says: str) -> None:
    """Whichever it is, with what was expected."""
    given = files(tmp_path)
    missing = tmp_path / "nowhere.tsv"
    with pytest.raises(UsageProblem, match="no such") as caught:
        import_trec(Files(**(vars(given) | {role: missing})))
    assert caught.value.where == str(missing)
    assert says in str(caught.value)
