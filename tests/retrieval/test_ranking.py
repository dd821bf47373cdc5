import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from harness.retrieval.ranking import Ranking, joined

rankings = st.lists(st.permutations(range(12)).flatmap(lambda p: st.integers(0, 10).map(lambda n: p[:n])), max_size=5)


def test_rows_are_read_by_question(ranking):
    """A ranking knows its questions and gives each one's documents, best first."""
    made = ranking([[3, 1], [], [2]])
    assert len(made) == 3
    assert made.row(0) == [3, 1]
    assert list(made.rows()) == [("q0", [3, 1]), ("q1", []), ("q2", [2])]


@given(rankings, st.integers(1, 12))
def test_cut_keeps_the_head_of_every_list(ranking, rows, k):
    """Cutting keeps the first k documents with their scores, and the depth says so."""
    cut = ranking(rows).cut(k)
    assert cut.same_order(ranking([row[:k] for row in rows]))
    assert cut.scores.tolist() == ranking([row[:k] for row in rows]).scores.tolist()
    assert cut.depth == min(k, 10)


@given(rankings, st.randoms(use_true_random=False))
def test_take_picks_questions_in_the_order_asked(ranking, rows, random):
    """Taking questions gives theirs and no others, in the order of the indices."""
    chosen = random.sample(range(len(rows)), random.randint(0, len(rows)))
    made = ranking(rows)
    taken = made.take(np.array(chosen, dtype=np.int64))
    assert list(taken.rows()) == [(f"q{i}", rows[i]) for i in chosen]
    spans = [made.scores[made.offsets[i] : made.offsets[i + 1]].tolist() for i in chosen]
    assert taken.scores.tolist() == [score for span in spans for score in span]
    assert taken.depth == made.depth


@given(rankings, st.randoms(use_true_random=False))
def test_parts_join_to_the_whole(ranking, rows, random):
    """Splitting questions into parts and joining them again gives the ranking back."""
    made = ranking(rows)
    order = list(range(len(rows)))
    random.shuffle(order)
    parts = [made.take(np.array(order[start::2], dtype=np.int64)) for start in (0, 1)]
    whole = joined(parts, made.questions, 10)
    assert whole.same_order(made)
    assert whole.scores.tobytes() == made.scores.tobytes()
    assert (whole.offsets.dtype, whole.positions.dtype) == (np.int64, np.int32)


def test_order_and_digest_see_positions_and_not_scores(ranking):
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
