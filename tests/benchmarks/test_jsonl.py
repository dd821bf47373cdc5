from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.columns import LAYERS, Benchmark
from harness.benchmarks.jsonl import import_jsonl, read_data_set
from harness.errors import UsageProblem

Json = dict[str, Any]
EXAMPLE = Path(__file__).parents[2] / "examples/own-data"


def chunk(identifier: str, **more: Any) -> Json:
    """A chunk with nothing but an id and a text."""
    return {"id": identifier, "text": f"text of {identifier}"} | more


def question(identifier: str, *evidence: str, **more: Any) -> Json:
    """A question with its evidence."""
    return {"id": identifier, "text": f"what is {identifier}?", "evidence": list(evidence)} | more


SOUND = [chunk("a"), chunk("b"), chunk("c")]
ASKED = [question("q1", "a"), question("q2", "b"), question("q3", "a", "c")]


def folder(tmp_path: Path, chunks: list[Any] = SOUND, questions: list[Any] = ASKED, **others: list[Any]) -> Path:
    """A data set; a line that is text stands as it is."""
    for name, rows in {"corpus": chunks, "questions": questions, **others}.items():
        lines = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def test_two_fields_a_line_are_enough(tmp_path: Path) -> None:
    """One store, raw turns of the usual confidence, every question its own cluster, and a fifth drawn for dev."""
    benchmark = import_jsonl(folder(tmp_path))
    assert benchmark.corpus.ids == ("a", "b", "c")
    assert set(benchmark.corpus.confidence.tolist()) == {0.4}
    assert benchmark.partitions == ("all",)
    assert benchmark.questions.clusters == ("q1", "q2", "q3")
    assert sorted(benchmark.questions.part) == ["dev", "heldout", "heldout"]
    assert [benchmark.labels.repaired.row(index) for index in range(3)] == [[0], [1], [0, 2]]
    assert set(benchmark.labels.categories) == {"uncategorised"}


def test_a_whole_benchmark_survives_the_way(tmp_path: Path, synthetic: Benchmark) -> None:
    """Written as lines and imported, the synthetic benchmark is the same, column by column."""
    corpus, questions, labels, edges = synthetic.corpus, synthetic.questions, synthetic.labels, synthetic.edges
    names = synthetic.partitions
    chunks = [
        {
            "id": corpus.ids[i], "text": corpus.texts[i], "speaker": corpus.speakers[i], "caption": corpus.captions[i],
            "layer": LAYERS[corpus.layer[i]], "confidence": float(corpus.confidence[i]), "time": int(corpus.time[i]),
            "session": int(corpus.session[i]), "partition": names[corpus.partition[i]],
            "sources": [corpus.ids[place] for place in corpus.sources.row(i)],
        }
        for i in range(len(corpus))
    ]  # fmt: skip
    asked = [
        {
            "id": questions.ids[i], "text": questions.texts[i], "partition": names[questions.partition[i]],
            "cluster": questions.clusters[i], "split": questions.part[i], "category": labels.categories[i],
            "answer": labels.answers[i], "flags": list(labels.flags[i]),
            "evidence": [corpus.ids[place] for place in labels.repaired.row(i)],
        }
        for i in range(len(questions))
    ]  # fmt: skip
    links = [
        dict(zip(("source", "target", "relation", "discovered_by", "confidence"), row, strict=True))
        for row in edges.rows(corpus.ids)
    ]
    found = import_jsonl(folder(tmp_path, chunks, asked, edges=links), name="synthetic")
    assert found.digests() == synthetic.digests()


def test_partitions_may_be_mixed_in_the_file(tmp_path: Path) -> None:
    """Each keeps its own order, and ids are looked up wherever they stand, sources below what cites them too."""
    chunks = [
        chunk("a1", partition="a", layer="distill", sources=["a2"]), chunk("b1", partition="b"),
        chunk("a2", partition="a"),
    ]  # fmt: skip
    asked = [question("q1", "a2", partition="a", split="dev"), question("q2", "b1", partition="b", split="heldout")]
    benchmark = import_jsonl(folder(tmp_path, chunks, asked))
    assert benchmark.corpus.ids == ("a1", "a2", "b1")
    assert benchmark.corpus.sources.row(0) == [1]
    assert benchmark.corpus.confidence.tolist() == [0.7, 0.4, 0.4]


def test_fields_may_have_other_names(tmp_path: Path) -> None:
    """Where the files call a partition user, a field called partition is one of their own."""
    chunks = [chunk("a", user="x"), chunk("b", user="y", partition="of no meaning")]
    asked = [
        question("q1", "a", user="x", set="dev", thread="t1"),
        question("q2", "b", user="y", set="heldout", thread="t2"),
    ]
    renamed = {"partition": "user", "split": "set", "cluster": "thread"}
    benchmark = import_jsonl(folder(tmp_path, chunks, asked), renamed=renamed)
    assert benchmark.partitions == ("x", "y")
    assert (benchmark.questions.part, benchmark.questions.clusters) == (("dev", "heldout"), ("t1", "t2"))


def test_ids_are_text_and_nothing_else(tmp_path: Path) -> None:
    """0, 007, 7 and the two forms of é are five ids, and a question may have the id of a chunk."""
    ids = ["0", "007", "7", "\u00e9", "e\u0301"]
    benchmark = import_jsonl(folder(tmp_path, [chunk(one) for one in ids], [question("0", "7"), question("007", "0")]))
    assert benchmark.corpus.ids == tuple(ids)
    assert [benchmark.labels.repaired.row(index) for index in (0, 1)] == [[2], [0]]


def test_edges(tmp_path: Path) -> None:
    """An edge needs its ends only, and adjacency that some store calls caused is the relation to the turn before."""
    caused = {"source": "b", "target": "c", "relation": "caused", "confidence": 0.9}
    links = [{"source": "a", "target": "b"}, caused, caused | {"discovered_by": "adjacency"}]
    edges = import_jsonl(folder(tmp_path, edges=links)).edges
    assert (edges.source.tolist(), edges.target.tolist()) == ([0, 1, 1], [1, 2, 2])
    assert edges.relation == ("followed_by", "caused", "followed_by")
    assert edges.confidence.tolist() == [0.4, 0.9, 0.9]


def test_times_are_seconds_or_iso(tmp_path: Path) -> None:
    """A time without a zone is UTC."""
    times = ["1970-01-02", "1970-01-01T00:01:00+00:01", "1970-01-01 00:01", 5]
    chunks = [chunk(str(index), time=time) for index, time in enumerate(times)]
    benchmark = import_jsonl(folder(tmp_path, chunks, [question("q", "0"), question("r", "1")]))
    np.testing.assert_array_equal(benchmark.corpus.time, [86400, 0, 60, 5])


# what stands in which file, the line that is named, and words of the fault and of its mend
FAULTS: dict[str, tuple[dict[str, list[Any]], str, str, str]] = {
    "no JSON": ({"chunks": [*SOUND, "{'id': 1}"]}, "corpus.jsonl:4", "not valid JSON", "mend the line"),
    "a list": ({"chunks": [*SOUND, "[1]"]}, "corpus.jsonl:4", "the line is list", "mend"),
    "a key twice": ({"chunks": [*SOUND, '{"id": "x", "id": "y"}']}, "corpus.jsonl:4", "'id' stands twice", ""),
    "a number as id": ({"chunks": [*SOUND, chunk(7)]}, "corpus.jsonl:4", "id is a number", "mend"),
    "an id with a blank": ({"chunks": [*SOUND, chunk("a b")]}, "corpus.jsonl:4", "'a b' is empty or holds a blank", ""),
    "an empty id": ({"chunks": [*SOUND, chunk("")]}, "corpus.jsonl:4", "'' is empty", ""),
    "no text": (
        {"chunks": [*SOUND, {"id": "x", "txt": "y"}]},
        "corpus.jsonl:4",
        "text is missing",
        "did you mean 'txt'?",
    ),
    "an id twice": ({"chunks": [*SOUND, chunk("b")]}, "corpus.jsonl:4", "'b' stands twice, first at", "rename"),
    "a confidence that moved": (
        {"chunks": [*SOUND, chunk("b", confidence=0.9)]},
        "corpus.jsonl:4",
        "twice, first at",
        "keep the first",
    ),
    "a count of uses": (
        {"chunks": [chunk("a", access_count=3)]},
        "corpus.jsonl:1",
        "changes with use",
        "as it was at ingest",
    ),
    "a weight": ({"chunks": [chunk("a", confidence_weight=3)]}, "corpus.jsonl:1", "or a weight on it", "leave it out"),
    "a confidence above 1": (
        {"chunks": [chunk("a", confidence=1.5)]},
        "corpus.jsonl:1",
        "confidence must be 1 or less",
        "",
    ),
    "another layer": ({"chunks": [chunk("a", layer="turn")]}, "corpus.jsonl:1", "layer must be 'raw'", ""),
    "no time": ({"chunks": [chunk("a", time="yesterday")]}, "corpus.jsonl:1", "'yesterday' is no time", ""),
    "milliseconds": (
        {"chunks": [chunk("a", time=1_772_000_000_000)]},
        "corpus.jsonl:1",
        "no time from 1970 to 9999 in seconds since 1970 (milliseconds: divide",
        "",
    ),
    "a time before 1970": ({"chunks": [chunk("a", time="1969-01-01")]}, "corpus.jsonl:1", "no time from 1970", ""),
    "a time behind every calendar": (
        {"chunks": [chunk("a", time="9999-12-31T23:59:59-01:00")]},
        "corpus.jsonl:1",
        "no time from 1970 to 9999",
        "",
    ),
    "one question": ({"questions": [question("q")]}, "questions.jsonl", "all questions are in one cluster", "several"),
    "one cluster": (
        {"questions": [question("q", cluster="c"), question("r", cluster="c")]},
        "questions.jsonl",
        "all questions are in one cluster",
        "several",
    ),
    "nothing that the default searches": (
        {"chunks": [chunk("a", layer="summary"), chunk("b", layer="negation"), chunk("c", layer="summary")]},
        "corpus.jsonl",
        "every chunk is in the layer negation or summary",
        "the layer raw or distill",
    ),
    "a source of nowhere": (
        {"chunks": [*SOUND, chunk("d", sources=["x"])]},
        "corpus.jsonl:4",
        "'x' is no chunk",
        "correct",
    ),
    "evidence of nowhere": (
        {"questions": [*ASKED, question("q4", "x")]},
        "questions.jsonl:4",
        "'x' is no chunk",
        "correct",
    ),
    "evidence elsewhere": (
        {"chunks": [*SOUND, chunk("d", partition="p")], "questions": [*ASKED, question("q4", "d")]},
        "questions.jsonl:4",
        "'d' lies in partition 'p', not in 'all'",
        "correct one",
    ),
    "an empty partition": (
        {"questions": [*ASKED, question("q4", partition="p")]},
        "questions.jsonl:4",
        "'p' has no chunk",
        "correct",
    ),
    "a question twice": (
        {"questions": [*ASKED, question("q1")]},
        "questions.jsonl:4",
        "question 'q1' stands twice",
        "",
    ),
    "another split": ({"questions": [question("q", split="test")]}, "questions.jsonl:1", "split must be 'dev' or", ""),
    "a split for some": (
        {"questions": [question("q", split="dev"), question("r")]},
        "questions.jsonl:2",
        "1 of 2 questions have no split",
        "",
    ),
    "one split for all": (
        {"questions": [question("q", split="dev")]},
        "questions.jsonl",
        "every question is in the split 'dev'",
        "name both",
    ),
    "a cluster on both sides": (
        {"questions": [question("q", split="dev", cluster="c"), question("r", split="heldout", cluster="c")]},
        "questions.jsonl:2",
        "'c' is for development and held out",
        "one split",
    ),
    "a slice that is there": (
        {"questions": [question("q", category="all")]},
        "questions.jsonl:1",
        "category 'all' is a slice",
        "",
    ),
    "a flag that is there": (
        {"questions": [question("q", flags=["exact"])]},
        "questions.jsonl:1",
        "'exact' is a slice",
        "",
    ),
    "an edge to nowhere": (
        {"edges": [{"source": "a", "target": "x"}]},
        "edges.jsonl:1",
        "the target 'x' is no chunk",
        "",
    ),
    "an edge between stores": (
        {"chunks": [*SOUND, chunk("d", partition="p")], "edges": [{"source": "a", "target": "d"}]},
        "edges.jsonl:1",
        "lies in partition 'p'",
        "",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_fault_is_named_with_line_and_mend(case: str, tmp_path: Path) -> None:
    """The check goes on behind it, and the import refuses with the same words."""
    content, where, what, mend = FAULTS[case]
    place = folder(tmp_path, **content)
    faults = read_data_set(place).findings.faults
    fault = next(one for one in faults if one.where.startswith(str(tmp_path / where)))
    assert what in fault.what
    assert mend in fault.mend
    with pytest.raises(UsageProblem) as caught:
        import_jsonl(place)
    assert "harness data check" in caught.value.fix


def test_every_fault_is_found_at_once(tmp_path: Path) -> None:
    """Faults of all kinds and files stand together."""
    place = folder(tmp_path, [chunk("a"), "{", chunk(1), chunk("a")], [question("q", "x"), question("q")])
    lines = [fault.where.rpartition("/")[2] for fault in read_data_set(place).findings.faults]
    assert sorted(lines) == [
        "corpus.jsonl:2:2",
        "corpus.jsonl:3",
        "corpus.jsonl:4",
        "questions.jsonl:1",
        "questions.jsonl:2",
    ]


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """A missing or empty file is named, and edges may be missing."""
    (tmp_path / "corpus.jsonl").write_text('{"id": "a", "text": "b"}\n')
    with pytest.raises(UsageProblem, match=r"questions\.jsonl"):
        read_data_set(tmp_path)
    (tmp_path / "questions.jsonl").write_text("")
    with pytest.raises(UsageProblem, match="empty"):
        read_data_set(tmp_path)


def test_a_split_that_is_written_is_not_drawn_again(tmp_path: Path) -> None:
    """A number of dev questions beside a split in the lines contradicts them."""
    asked = [question("q", split="dev"), question("r", split="heldout")]
    with pytest.raises(UsageProblem, match="name their split already"):
        import_jsonl(folder(tmp_path, questions=asked), dev=1)


def test_what_is_worth_knowing(tmp_path: Path) -> None:
    """Unread fields, questions without evidence, too few clusters, near-duplicates and look-alike ids are said."""
    chunks = [chunk("a", colour="red"), chunk("\u00e9"), chunk("e\u0301")]
    words = "what did Ann say of the boat in the harbour?"
    asked = [question("q", "a", text=words, split="dev"), question("r", text=words.upper(), split="heldout")]
    said = "\n".join(read_data_set(folder(tmp_path, chunks, asked)).observations())
    for part in (
        "not read: 'colour', lines that have it: 1", "without evidence: 1 of 2 questions", "held-out clusters: 1",
        "held-out questions that are nearly one of dev: 1, such as q ~ r", "groups of ids that look alike: 1",
    ):  # fmt: skip
        assert part in said


def test_a_fifth_that_cannot_be_drawn_is_known_before_the_import(tmp_path: Path) -> None:
    """Where the clusters leave nothing held out the check says so; fewer questions for development can be had."""
    asked = [question("alone", "a"), *(question(f"q{n}", "a", cluster="many") for n in range(20))]
    place = folder(tmp_path, SOUND, asked)
    assert "--dev N with less" in "\n".join(read_data_set(place).observations())
    with pytest.raises(UsageProblem, match="nothing is held out"):
        import_jsonl(place)
    assert set(import_jsonl(place, dev=1).questions.clusters) == {"alone", "many"}


def test_the_example_is_sound() -> None:
    """The data set that the guide shows has no fault."""
    data = read_data_set(EXAMPLE)
    assert data.findings.faults == []
    benchmark = import_jsonl(EXAMPLE)
    assert benchmark.partitions == ("ann", "ben")
    assert benchmark.questions.part == ("dev", "dev", "heldout", "heldout")
