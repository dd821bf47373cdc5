import numpy as np
import pytest

from harness.retrieval.dense import cosines, search_dense
from harness.retrieval.embedding.embedder import unit_rows


def unit(rows: np.ndarray) -> np.ndarray:
    """The rows, each of length 1."""
    return unit_rows(rows, len(rows), "test")


def ranked(asked, vectors, depth, partition=None, of=None):
    """Search, with questions and documents all in one partition unless told otherwise."""
    n, m = len(vectors), len(asked)
    return search_dense(
        [f"q{i}" for i in range(m)], asked, np.zeros(m, np.int32) if partition is None else partition,
        np.arange(n, dtype=np.int32), np.zeros(n, np.int32) if of is None else of, vectors, depth,
    )  # fmt: skip


def by_hand(asked, vectors, depth):
    """Every cosine in float64, rounded, ties in the order of the documents."""
    like = np.round(vectors.astype(np.float64) @ asked.astype(np.float64), 6) + 0.0
    return np.lexsort((np.arange(len(vectors)), -like))[:depth].tolist()


@pytest.mark.parametrize(("n", "m", "width"), [(1, 1, 3), (40, 5, 8), (900, 30, 16), (3000, 25, 300)])
def test_the_search_is_exact(n, m, width):
    """For stores and batches on both sides of where faiss changes its path, the order is that of every cosine."""
    random = np.random.default_rng(n)
    vectors, asked = unit(random.normal(size=(n, width))), unit(random.normal(size=(m, width)))
    found = ranked(asked, vectors, 10)
    assert [found.row(i) for i in range(m)] == [by_hand(one, vectors, 10) for one in asked]


def test_equal_vectors_stay_in_the_order_of_the_documents():
    """More equal vectors than are fetched at first: the first ones are the first documents, none is missing."""
    random = np.random.default_rng(1)
    same = np.tile(random.normal(size=(1, 12)), (2000, 1))
    vectors = unit(np.concatenate([random.normal(size=(50, 12)), same]))
    found = ranked(vectors[60:61], vectors, 30)
    assert found.row(0) == by_hand(vectors[60], vectors, 30)
    assert found.row(0)[0] == 50
    assert found.row(0) == sorted(found.row(0))


def test_nothing_depends_on_the_batch_or_on_the_depth():
    """One question alone has the ranking that it has among many, and the first five are those of the first fifty."""
    random = np.random.default_rng(2)
    vectors, asked = unit(random.normal(size=(700, 64))), unit(random.normal(size=(300, 64)))
    together = ranked(asked, vectors, 50)
    for place in (0, 19, 20, 299):
        alone = ranked(asked[place : place + 1], vectors, 50)
        assert alone.row(0) == together.row(place)
        assert alone.scores.tolist() == together.scores[place * 50 : place * 50 + 50].tolist()
        assert ranked(asked[place : place + 1], vectors, 5).row(0) == together.row(place)[:5]


def test_a_question_searches_its_own_partition():
    """Documents of other partitions are never found; fewer than the depth are no more than there are."""
    vectors = unit(np.eye(5))
    found = ranked(vectors[[0, 0, 0]], vectors, 10, np.array([1, 0, 3], np.int32), np.array([0, 0, 1, 1, 1], np.int32))
    assert [sorted(found.row(i)) for i in range(3)] == [[2, 3, 4], [0, 1], []]
    assert -1 not in found.positions


def test_zero_rows_are_near_nothing():
    """A question without a vector finds nothing, and a document without one is never found."""
    vectors = unit(np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]))
    found = ranked(unit(np.array([[0.0, 0.0], [1.0, 1.0]])), vectors, 10)
    assert [found.row(0), found.row(1)] == [[], [0, 2]]


def test_a_cosine_is_never_above_one():
    """Vectors whose products come out as 1.0000001 in float32 have a cosine of 1."""
    random = np.random.default_rng(3)
    vectors = unit(random.normal(size=(200, 256)))
    like = cosines(vectors, vectors[:, None, :])
    assert set(like.ravel().tolist()) == {1.0}
