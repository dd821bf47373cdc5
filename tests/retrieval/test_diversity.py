import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.retrieval.diversity import diversify
from harness.retrieval.embedding.embedder import unit_rows
from harness.retrieval.ranking import Ranking

RAW, DISTILL = 0, 1


def ranked(scores, positions=None) -> Ranking:
    """One question's ranking."""
    n = len(scores)
    return Ranking(
        ("q0",), np.array([0, n]), np.arange(n, dtype=np.int32) if positions is None else positions,
        np.array(scores, dtype=np.float64), n,
    )  # fmt: skip


def re_ordered(scores, vectors, layers=None, *, lambda_mult=0.5, pool=100) -> Ranking:
    """The ranking of these scores, re-ordered."""
    vectors = np.array(vectors, dtype=np.float64)
    n = len(vectors)
    return diversify(
        ranked(scores), vectors=unit_rows(vectors, n, "test"), place=np.arange(n),
        layers=np.array(layers or [RAW] * n, dtype=np.int8), lambda_mult=lambda_mult, pool=pool,
    )  # fmt: skip


def test_a_repetition_goes_down():
    """The double of the first goes below what is less relevant and new."""
    assert re_ordered([3, 2.9, 1], [[1, 0], [1, 0], [0, 1]]).row(0) == [0, 2, 1]


def test_only_items_of_one_layer_push_each_other_down():
    """The same double stays where it is if it lies in another layer."""
    assert re_ordered([3, 2.9, 1], [[1, 0], [1, 0], [0, 1]], [RAW, DISTILL, RAW]).row(0) == [0, 1, 2]


def test_the_penalty_is_the_greatest_over_all_that_were_taken():
    """The double of the first is penalised in full when something new was taken in between."""
    found = re_ordered([4, 3, 2, 1], [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 0, 1]], lambda_mult=0.3)
    assert found.row(0) == [0, 1, 3, 2]


def test_with_lambda_one_nothing_moves():
    """Relevance alone is the input order, ties included."""
    random = np.random.default_rng(0)
    scores = np.sort(random.integers(0, 5, size=40))[::-1].astype(float)
    assert re_ordered(scores, random.normal(size=(40, 6)), lambda_mult=1.0).row(0) == list(range(40))


def test_with_lambda_zero_the_most_relevant_is_still_first():
    """Diversity alone begins with the first document and then takes what is least like it."""
    found = re_ordered([3, 2, 1], [[1, 0], [0.9, 0.1], [0, 1]], lambda_mult=0.0)
    assert found.row(0) == [0, 2, 1]


def test_what_is_unlike_gets_no_bonus():
    """A negative cosine counts as 0, as if nothing of the layer had been taken."""
    found = re_ordered([3, 2, 1], [[1, 0], [0, 1], [-1, 0]], lambda_mult=0.5)
    assert found.row(0) == [0, 1, 2]


def test_equal_scores_are_equally_relevant():
    """A pool of one score has relevance 1 throughout: only redundancy orders it, then the input order."""
    found = re_ordered([2, 2, 2, 2], [[1, 0], [1, 0], [0, 1], [0, 1]], lambda_mult=0.9)
    assert found.row(0) == [0, 2, 1, 3]
    assert found.scores[0] == pytest.approx(0.9)


def test_what_lies_below_the_pool_follows_as_it_was():
    """Documents below the pool keep their order and distances, under the last of the pool."""
    found = re_ordered([5, 4, 3, 2.5, 2.5], [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]], pool=3, lambda_mult=0.1)
    assert found.row(0) == [0, 2, 1, 3, 4]
    assert found.scores[3] == found.scores[4]
    assert found.scores[2] - found.scores[3] == pytest.approx(1.5)


@given(st.data())
def test_it_is_a_permutation_with_falling_scores(data):
    """Nothing is lost or doubled, scores never increase, and it is what choosing one by one gives."""
    n = data.draw(st.integers(1, 12))
    seed = data.draw(st.integers(0, 2**16))
    random = np.random.default_rng(seed)
    vectors = unit_rows(random.integers(-1, 2, size=(n, 3)).astype(float), n, "test")
    layers = random.integers(0, 2, size=n)
    scores = np.sort(random.integers(0, 4, size=n))[::-1].astype(float)
    balance, pool = data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0])), data.draw(st.integers(1, 14))
    found = re_ordered(scores, vectors, layers.tolist(), lambda_mult=balance, pool=pool)
    assert sorted(found.row(0)) == list(range(n))
    assert (np.diff(found.scores) <= 0).all()
    assert found.row(0)[: min(n, pool)] == one_by_one(scores, vectors, layers, balance, min(n, pool))


def one_by_one(scores, vectors, layers, balance, pool):
    """Maximal marginal relevance as it is written down, in plain Python."""
    scores = scores[:pool]
    spread = scores[0] - scores[-1]
    relevance = [(score - scores[-1]) / spread if spread else 1.0 for score in scores]
    taken = [0]
    while len(taken) < pool:

        def worth(item):
            same = [
                float(vectors[item].astype(float) @ vectors[t].astype(float))
                for t in taken
                if layers[t] == layers[item]
            ]
            return round(balance * relevance[item] - (1 - balance) * max([0.0, *(round(one, 6) for one in same)]), 12)

        left = [item for item in range(pool) if item not in taken]
        taken.append(max(left, key=lambda item: (worth(item), -item)))
    return taken
