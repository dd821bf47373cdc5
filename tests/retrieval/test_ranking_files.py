import contextlib
import json
import os
from dataclasses import replace
from pathlib import Path

import ir_measures
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import EnvironmentProblem, UsageProblem
from harness.retrieval.ranking import Ranking
from harness.retrieval.ranking_files import Names, read_parquet, read_trec, write_parquet, write_trec

NAMES = [f"conv/D1:{i}" for i in range(12)]
PLACES = {name: position for position, name in enumerate(NAMES)}
QUESTIONS = ["q0", "q1", "q2"]

rows_of_questions = st.lists(
    st.permutations(range(12)).flatmap(lambda p: st.integers(0, 10).map(lambda n: p[:n])), max_size=5
)


@given(rows_of_questions)
def test_a_run_file_gives_the_ranking_back(tmp_path_factory, ranking, rows):
    """Writing and reading a TREC run keeps every question's documents in order."""
    path = tmp_path_factory.mktemp("trec") / "run.txt"
    made = ranking(rows)
    write_trec(made, NAMES, path)
    again = read_trec(path, PLACES, made.questions)
    assert again.same_order(made)
    assert again.depth == max(map(len, rows), default=0)


def test_exported_scores_strictly_decrease(tmp_path, ranking):
    """The score column falls by one at each rank although the scores tie, and other readers keep the order."""
    path = tmp_path / "run.txt"
    write_trec(ranking([[3, 10, 2, 1]]), NAMES, path, tag="bm25")
    assert path.read_bytes() == (
        b"q0 Q0 conv/D1:3 1 4 bm25\nq0 Q0 conv/D1:10 2 3 bm25\nq0 Q0 conv/D1:2 3 2 bm25\nq0 Q0 conv/D1:1 4 1 bm25\n"
    )
    read = sorted(ir_measures.read_trec_run(str(path)), key=lambda row: -row.score)
    assert [row.doc_id for row in read] == ["conv/D1:3", "conv/D1:10", "conv/D1:2", "conv/D1:1"]


def test_rows_are_ordered_by_score_and_then_by_place(tmp_path):
    """Reading orders by the score column, equal scores by their order in the file, and ignores the rank column."""
    path = tmp_path / "run.txt"
    path.write_text(
        "q1 Q0 conv/D1:5 1 0.5 t\nq0 Q0 conv/D1:1 1 .1 t\n\nq0\tQ0 conv/D1:7  2 -3e-1 t\r\n"
        "q0 Q0 conv/D1:4 3 +0.1 t\nq0 Q0 conv/D1:2 9 7. t\n"
    )
    read = read_trec(path, PLACES, QUESTIONS)
    assert list(read.rows()) == [("q0", [2, 1, 4, 7]), ("q1", [5]), ("q2", [])]
    assert read.scores.tolist() == [7.0, 0.1, 0.1, -0.3, 0.5]
    assert read.depth == 4


GOOD = "q0 Q0 conv/D1:1 1 2.0 t\n\n"
NO_NUMBERS = ["nan", "NaN", "-inf", "Infinity", "1e999", "best", "1_0", "0x10", "٣", "1,5", "--1"]


@pytest.mark.parametrize(
    ("line", "what", "allowed"),
    [
        ("q0 Q0 conv/D1:2 2 1.0", "5 columns", "question Q0 document rank score tag"),
        ("q0 Q0 conv/D1:2 2 1.0 t extra", "7 columns", "question Q0 document rank score tag"),
        ("q9 Q0 conv/D1:2 2 1.0 t", "unknown question 'q9'", "ids such as q0"),
        ("q0 Q0 nowhere 2 1.0 t", "unknown document 'nowhere'", "ids such as conv/D1:0"),
        ("q0 Q0 conv/D1:1 2 1.0 t", "document 'conv/D1:1' twice for question 'q0'", "each document once"),
        *((f"q0 Q0 conv/D1:2 2 {text} t", f"score {text!r}", "a finite number") for text in NO_NUMBERS),
    ],
)
def test_a_bad_line_is_refused_by_its_number(tmp_path, line, what, allowed):
    """A line that cannot be read is named by file and line, with what was wrong and what is allowed."""
    path = tmp_path / "run.txt"
    path.write_text(GOOD + line + "\n", encoding="utf-8")
    with pytest.raises(UsageProblem) as caught:
        read_trec(path, PLACES, QUESTIONS)
    assert caught.value.where == f"{path}:3"
    assert (caught.value.what, caught.value.allowed) == (what, allowed)


def test_the_same_document_may_answer_two_questions(tmp_path):
    """A document stands once for each question, not once for the whole file."""
    path = tmp_path / "run.txt"
    path.write_text(GOOD + "q1 Q0 conv/D1:1 1 2.0 t\n")
    assert list(read_trec(path, PLACES, ["q0", "q1"]).rows()) == [("q0", [1]), ("q1", [1])]


READERS = [read_trec, read_parquet]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize(
    ("kind", "what"), [("missing", "no such run file"), ("folder", "not a run file"), ("binary", "not a run file")]
)
def test_what_is_no_run_file_is_refused(tmp_path, read, kind, what):
    """A missing file, a folder and a file of another kind are each refused by name."""
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(b"\xff\xfe\x00q0")
    with pytest.raises(UsageProblem, match=what) as caught:
        read(path, PLACES, ["q0"])
    assert caught.value.where == str(path)


@pytest.mark.parametrize("read", READERS)
def test_a_file_that_may_not_be_read_is_the_environment(tmp_path, monkeypatch, read):
    """A file without read permission ends as a problem of the environment, not of the file."""
    path = tmp_path / "run"
    path.write_bytes(b"")
    path.chmod(0)
    if os.access(path, os.R_OK):  # the superuser may read everything
        monkeypatch.setattr(Path, "open", _denied)
    with pytest.raises(EnvironmentProblem, match="cannot be read") as caught:
        read(path, PLACES, ["q0"])
    assert caught.value.where == str(path)


def _denied(path: Path, *_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied", str(path))


def parquet(ranking: Ranking, folder: Path, tag: str = "bm25") -> Path:
    """The ranking as a Parquet file."""
    path = folder / "run.parquet"
    write_parquet(ranking, NAMES, path, tag)
    return path


@given(rows_of_questions, st.integers(10, 99))
def test_a_parquet_ranking_comes_back_whole(tmp_path_factory, ranking, rows, depth):
    """Order, scores to the last bit, depth and the questions without results survive."""
    made = ranking(rows, depth)
    made = replace(made, scores=made.scores / 7)
    path = parquet(made, tmp_path_factory.mktemp("parquet"))
    again = read_parquet(path, PLACES, made.questions)
    assert again.same_order(made)
    assert again.scores.tobytes() == made.scores.tobytes()
    assert (again.offsets.dtype, again.positions.dtype) == (np.int64, np.int32)
    assert again.offsets.tolist() == made.offsets.tolist()
    assert again.depth == depth


def test_a_parquet_ranking_reads_as_a_table(tmp_path, ranking):
    """Any reader finds the four columns, ranks from 1, the scores as they are, and tag, depth and questions."""
    path = parquet(ranking([[3, 10, 2], [], [1]]), tmp_path)
    table = pq.read_table(path)
    assert table.to_pydict() == {
        "question": ["q0", "q0", "q0", "q2"],
        "document": ["conv/D1:3", "conv/D1:10", "conv/D1:2", "conv/D1:1"],
        "rank": [1, 2, 3, 1],
        "score": [9.0, 9.0, 8.0, 9.0],
    }
    assert json.loads(table.schema.metadata[b"harness.ranking"]) == {
        "format": 1, "tag": "bm25", "depth": 10, "questions": QUESTIONS,
    }  # fmt: skip


def test_the_same_ranking_gives_the_same_bytes(tmp_path, ranking):
    """A file is written alike twice, and another tag is another file."""
    made = ranking([[3, 10, 2], [], [1]])
    first = parquet(made, tmp_path).read_bytes()
    assert parquet(made, tmp_path).read_bytes() == first
    assert parquet(made, tmp_path, "other").read_bytes() != first


Columns = dict[str, object]


def table(**columns: object) -> Columns:
    """Three rows of two questions, with other columns than the right ones."""
    return {
        "question": ["q0", "q1", "q0"], "document": ["conv/D1:4", "conv/D1:5", "conv/D1:7"], "rank": [1, 1, 2],
        "score": [2.0, 0.5, 2.0], **columns,
    }  # fmt: skip


def written(columns: Columns, folder: Path) -> Path:
    """A table of another tool's, without our metadata."""
    path = folder / "run.parquet"
    pq.write_table(pa.table({name: column for name, column in columns.items() if column is not None}), path)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        table(),
        dict(reversed(table().items())),
        {name: list(reversed(column)) for name, column in table().items()},  # type: ignore[call-overload]
        table(question=pa.array(["q0", "q1", "q0"]).dictionary_encode(), rank=pa.array([1, 1, 2], pa.uint8())),
        table(document=pa.array(["conv/D1:4", "conv/D1:5", "conv/D1:7"], pa.large_string())),
        table(score=pa.array([2.0, 0.5, 2.0], pa.float32())),
    ],
    ids=["plain", "columns turned round", "rows turned round", "categories", "large text", "single precision"],
)
def test_tables_of_other_tools_are_read_by_rank(tmp_path, columns):
    """The rank column is the order whatever the order of rows and columns, and ties stay as ranked."""
    read = read_parquet(written(columns, tmp_path), PLACES, QUESTIONS)
    assert list(read.rows()) == [("q0", [4, 7]), ("q1", [5]), ("q2", [])]
    assert (read.scores.tolist(), read.depth) == ([2.0, 2.0, 0.5], 2)


@pytest.mark.parametrize(
    ("columns", "row", "what"),
    [
        (table(question=["q0", "q9", "q0"]), 2, "unknown question 'q9'"),
        (table(document=["conv/D1:4", "conv/D1:5", "nowhere"]), 3, "unknown document 'nowhere'"),
        (table(document=["conv/D1:4"] * 3), 3, "document 'conv/D1:4' twice for question 'q0'"),
        (table(score=[2.0, float("nan"), 2.0]), 2, "score 'nan'"),
        (table(score=[float("inf"), 0.5, 2.0]), 1, "score 'inf'"),
        (table(rank=[0, 1, 1]), 1, "rank 0 for question 'q0' where 1 comes next"),
        (table(rank=[1, 1, 3]), 3, "rank 3 for question 'q0' where 2 comes next"),
        (table(rank=[1, 1, 1]), 3, "rank 1 for question 'q0' where 2 comes next"),
        (table(score=[2.0, 0.5, 2.5]), 3, "rank 2 of question 'q0' has a higher score than rank 1"),
        (table(rank=None), 0, "columns question, document, score"),
        (table(tag=["t"] * 3), 0, "columns question, document, rank, score, tag"),
        (table(question=[0, 1, 0]), 0, "the column question holds int64"),
        (table(rank=[1.0, 1.0, 2.0]), 0, "the column rank holds double"),
        (table(score=["2", "1", "2"]), 0, "the column score holds string"),
        (table(score=[2, 1, 2]), 0, "the column score holds int64"),
        (table(document=["conv/D1:4", None, "conv/D1:7"]), 0, "the column document has 1 empty cells"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_bad_table_is_refused_by_its_row(tmp_path, columns, row, what):
    """Each fault of a line has its match in a table, and rank and score must agree."""
    path = written(columns, tmp_path)
    with pytest.raises(UsageProblem) as caught:
        read_parquet(path, PLACES, QUESTIONS)
    assert (caught.value.what, caught.value.where) == (what, f"{path}, row {row}" if row else str(path))
    assert caught.value.allowed


def test_a_table_says_which_questions_it_answers(tmp_path, ranking):
    """A question that was never asked is not one without results, and a question that nobody knows is refused."""
    path = parquet(ranking([[3], []]), tmp_path)
    with pytest.raises(UsageProblem, match="1 of 3 questions were not asked, such as 'q2'"):
        read_parquet(path, PLACES, QUESTIONS)
    with pytest.raises(UsageProblem, match="unknown question 'q1'"):
        read_parquet(path, PLACES, ["q0"])


@pytest.mark.parametrize(
    "about", ["", "[]", "{}", '{"format":2,"depth":1,"questions":[]}', '{"format":1,"depth":"x","questions":[]}',
              '{"format":1,"depth":1,"questions":[["q0"]]}'],
)  # fmt: skip
def test_metadata_that_we_did_not_write_is_refused(tmp_path, about):
    """Under our own name in the metadata only what we write there is accepted."""
    path = tmp_path / "run.parquet"
    pq.write_table(pa.table(table()).replace_schema_metadata({"harness.ranking": about}), path)
    with pytest.raises(UsageProblem, match="damaged"):
        read_parquet(path, PLACES, QUESTIONS)


@settings(max_examples=60)
@given(st.data())
def test_a_damaged_table_is_refused_or_the_same(tmp_path_factory, ranking, data):
    """A file with one byte changed, or cut short, is refused or reads as before: never otherwise."""
    folder = tmp_path_factory.mktemp("damaged")
    made = ranking([[3, 10, 2], [], [1]])
    path = parquet(made, folder)
    raw = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(raw) - 1))
    if data.draw(st.booleans()):
        raw[place] ^= data.draw(st.integers(1, 255))
    else:
        del raw[place:]
    path.write_bytes(raw)
    with contextlib.suppress(UsageProblem):
        read = read_parquet(path, PLACES, QUESTIONS)
        assert list(read.rows()) == list(made.rows())


def test_files_that_come_without_a_corpus(tmp_path):
    """Without question ids those of the file are taken, and document names get positions as they appear."""
    names = Names()
    (tmp_path / "a.run").write_text("q2 Q0 b 1 2 t\nq1 Q0 a 1 1 t\nq2 Q0 a 2 1 t\n", encoding="utf-8")
    (tmp_path / "b.run").write_text("q1 Q0 c 1 1 t\n", encoding="utf-8")
    assert list(read_trec(tmp_path / "a.run", names, None).rows()) == [("q2", [0, 1]), ("q1", [1])]
    assert list(read_trec(tmp_path / "b.run", names, None).rows()) == [("q1", [2])]
    assert dict(names) == {"b": 0, "a": 1, "c": 2}
    ranking = read_trec(tmp_path / "a.run", names, None)
    write_parquet(ranking, list(names), tmp_path / "a.parquet")
    assert read_parquet(tmp_path / "a.parquet", names, None).same_order(ranking)
