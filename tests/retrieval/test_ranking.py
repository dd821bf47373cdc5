from collections.abc import Sequence
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageProblem
from harness.retrieval.ranking import Ranking, joined, read_trec, write_trec

NAMES = [f"conv/D1:{i}" for i in range(12)]
PLACES = {name: position for position, name in enumerate(NAMES)}


def ranking(rows: Sequence[Sequence[int]], depth: int = 10, names: Sequence[str] = ()) -> Ranking:
    """A ranking of questions q0, q1, … with scores that never increase and sometimes tie."""
    lengths = [len(row) for row in rows]
    return Ranking(
        tuple(names or (f"q{i}" for i in range(len(rows)))),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(lengths, dtype=np.int64))]),
        np.array([position for row in rows for position in row], dtype=np.int32),
        np.array([9.0 - rank // 2 for row in rows for rank in range(len(row))]),
        depth,
    )


rankings = st.lists(st.permutations(range(12)).flatmap(lambda p: st.integers(0, 10).map(lambda n: p[:n])), max_size=5)


def test_rows_are_read_by_question():
    """A ranking knows its questions and gives each one's documents, best first."""
    made = ranking([[3, 1], [], [2]])
    assert len(made) == 3
    assert made.row(0) == [3, 1]
    assert list(made.rows()) == [("q0", [3, 1]), ("q1", []), ("q2", [2])]


@given(rankings, st.integers(1, 12))
def test_cut_keeps_the_head_of_every_list(rows, k):
    """Cutting keeps the first k documents with their scores, and the depth says so."""
    cut = ranking(rows).cut(k)
    assert cut.same_order(ranking([row[:k] for row in rows]))
    assert cut.scores.tolist() == ranking([row[:k] for row in rows]).scores.tolist()
    assert cut.depth == min(k, 10)


@given(rankings, st.randoms(use_true_random=False))
def test_take_picks_questions_in_the_order_asked(rows, random):
    """Taking questions gives theirs and no others, in the order of the indices."""
    chosen = random.sample(range(len(rows)), random.randint(0, len(rows)))
    made = ranking(rows)
    taken = made.take(np.array(chosen, dtype=np.int64))
    assert list(taken.rows()) == [(f"q{i}", rows[i]) for i in chosen]
    spans = [made.scores[made.offsets[i] : made.offsets[i + 1]].tolist() for i in chosen]
    assert taken.scores.tolist() == [score for span in spans for score in span]
    assert taken.depth == made.depth


@given(rankings, st.randoms(use_true_random=False))
def test_parts_join_to_the_whole(rows, random):
    """Splitting questions into parts and joining them again gives the ranking back."""
    made = ranking(rows)
    order = list(range(len(rows)))
    random.shuffle(order)
    parts = [made.take(np.array(order[start::2], dtype=np.int64)) for start in (0, 1)]
    whole = joined(parts, made.questions, 10)
    assert whole.same_order(made)
    assert whole.scores.tobytes() == made.scores.tobytes()
    assert (whole.offsets.dtype, whole.positions.dtype) == (np.int64, np.int32)


def test_order_and_digest_see_positions_and_not_scores():
    """Scores' last bits change neither order nor digest; a swap, a missing document or another id changes both."""
    made = ranking([[3, 1], [2]])
    nudged = Ranking(made.questions, made.offsets, made.positions, np.nextafter(made.scores, 0), made.depth)
    assert made.same_order(nudged)
    assert made.digest() == nudged.digest()
    others = [
        ranking([[1, 3], [2]]), ranking([[3], [2]]), ranking([[3, 1, 4], [2]]), ranking([[3, 1], []]),
        ranking([[3], [1, 2]]), ranking([[3, 1], [2]], names=["q0", "q2"]), ranking([[3, 1]]),
    ]  # fmt: skip
    assert not any(made.same_order(other) for other in others)
    assert len({made.digest(), *(other.digest() for other in others)}) == 1 + len(others)
    assert made.digest().startswith("sha256:")


@given(rankings)
def test_a_run_file_gives_the_ranking_back(tmp_path_factory, rows):
    """Writing and reading a TREC run keeps every question's documents in order."""
    path = tmp_path_factory.mktemp("trec") / "run.txt"
    made = ranking(rows)
    write_trec(made, NAMES, path)
    again = read_trec(path, PLACES, made.questions)
    assert again.same_order(made)
    assert again.depth == max(map(len, rows), default=0)


def test_exported_scores_strictly_decrease(tmp_path):
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
        "q1 Q0 conv/D1:5 1 0.5 t\nq0 Q0 conv/D1:1 1 0.1 t\n\nq0\tQ0 conv/D1:7  2 -3e-1 t\r\n"
        "q0 Q0 conv/D1:4 3 0.1 t\nq0 Q0 conv/D1:2 9 7 t\n"
    )
    read = read_trec(path, PLACES, ["q0", "q1", "q2"])
    assert list(read.rows()) == [("q0", [2, 1, 4, 7]), ("q1", [5]), ("q2", [])]
    assert read.scores.tolist() == [7.0, 0.1, 0.1, -0.3, 0.5]
    assert read.depth == 4


GOOD = "q0 Q0 conv/D1:1 1 2.0 t\n\n"


@pytest.mark.parametrize(
    ("line", "what", "allowed"),
    [
        ("q0 Q0 conv/D1:2 2 1.0", "5 columns", "question Q0 document rank score tag"),
        ("q0 Q0 conv/D1:2 2 1.0 t extra", "7 columns", "question Q0 document rank score tag"),
        ("q9 Q0 conv/D1:2 2 1.0 t", "unknown question 'q9'", "ids such as q0"),
        ("q0 Q0 nowhere 2 1.0 t", "unknown document 'nowhere'", "ids such as conv/D1:0"),
        ("q0 Q0 conv/D1:1 2 1.0 t", "document 'conv/D1:1' twice for question 'q0'", "each document once"),
        ("q0 Q0 conv/D1:2 2 nan t", "score 'nan'", "a finite number"),
        ("q0 Q0 conv/D1:2 2 -inf t", "score '-inf'", "a finite number"),
        ("q0 Q0 conv/D1:2 2 best t", "score 'best'", "a finite number"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(tmp_path, line, what, allowed):
    """A line that cannot be read is named by file and line, with what was wrong and what is allowed."""
    path = tmp_path / "run.txt"
    path.write_text(GOOD + line + "\n")
    with pytest.raises(UsageProblem) as caught:
        read_trec(path, PLACES, ["q0", "q1"])
    assert caught.value.where == f"{path}:3"
    assert (caught.value.what, caught.value.allowed) == (what, allowed)


def test_the_same_document_may_answer_two_questions(tmp_path):
    """A document stands once for each question, not once for the whole file."""
    path = tmp_path / "run.txt"
    path.write_text(GOOD + "q1 Q0 conv/D1:1 1 2.0 t\n")
    assert list(read_trec(path, PLACES, ["q0", "q1"]).rows()) == [("q0", [1]), ("q1", [1])]


def unreadable(kind: str, folder: Path) -> Path:
    """A path that is no run file."""
    path = folder / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "binary":
        path.write_bytes(b"\xff\xfe\x00q0")
    return path


@pytest.mark.parametrize(
    ("kind", "what"), [("missing", "no such run file"), ("folder", "not a text file"), ("binary", "not a text file")]
)
def test_what_is_no_run_file_is_refused(tmp_path, kind, what):
    """A missing file, a folder and a binary file are each refused by name."""
    path = unreadable(kind, tmp_path)
    with pytest.raises(UsageProblem, match=what) as caught:
        read_trec(path, PLACES, ["q0"])
    assert caught.value.where == str(path)
