"""Experiments drawn from what dev showed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.evaluation.statistics.bounds import design_effect
from harness.evaluation.statistics.population import population, stratum

SIZES = np.array([105, 193, 260, 242, 158, 190, 239, 196, 202])
SEEN = np.array([[1.0], [1.0], [1.0], [-1.0], [0.5], *[[0.0]] * 45])


def drawn(mean: float, rho: float, count: int = 3000, seed: int = 5):
    """Experiments with a true mean and correlation, from fifty dev questions."""
    found = population([stratum(SEEN, [0], SIZES)], rho, 0, mean)
    return found, found.draw(count, np.random.default_rng(seed))[0]


@settings(max_examples=20)
@given(st.floats(-0.1, 0.15), st.sampled_from([0.0, 0.01, 0.05]))
def test_the_truth_is_what_was_asked_for(mean, rho):
    """The mean of the population is the one that was set, whatever the correlation."""
    found, _ = drawn(mean, rho, count=1)
    assert found.moments(0)[0] == pytest.approx(mean, abs=1e-6)


@pytest.mark.parametrize("rho", [0.0, 0.01, 0.05])
@pytest.mark.parametrize("mean", [0.0, 0.04])
def test_estimates_scatter_as_the_design_effect_says(mean, rho):
    """The estimates have the true mean, and the variance that clusters of this correlation give."""
    found, batch = drawn(mean, rho)
    _, _, variance = found.moments(0)
    expected = np.sqrt(variance * design_effect(SIZES, rho) / SIZES.sum())
    assert batch.estimates.mean() == pytest.approx(mean, abs=5 * expected / np.sqrt(3000))
    assert batch.estimates.std() == pytest.approx(expected, rel=0.08)


def test_sums_gains_and_losses_belong_together():
    """Each experiment's cluster sums add up to its gains less its losses, and no cluster exceeds its questions."""
    _, batch = drawn(0.02, 0.01, count=50)
    assert batch.sums.sum(axis=1) == pytest.approx(batch.gains - batch.losses)
    assert (np.abs(batch.sums) <= SIZES).all()


def test_the_same_seed_draws_the_same_experiments():
    """A forecast may not change from call to call."""
    first, second = (drawn(0.02, 0.01, count=20)[1] for _ in range(2))
    assert (first.sums == second.sums).all()


def test_clauses_share_their_questions():
    """A slice's questions count under the whole as well, and a gain among them shows in both."""
    slice_sizes = SIZES // 5
    seen = np.array([[1.0, 1.0]] * 5 + [[0.0, 0.0]] * 20)
    parts = [stratum(seen, [0, 1], slice_sizes), stratum(np.zeros((30, 2)), [0], SIZES - slice_sizes)]
    whole, part = population(parts, 0.01, 1, 0.2).draw(400, np.random.default_rng(1))
    assert (whole.sizes == SIZES).all()
    assert (part.sizes == slice_sizes).all()
    assert part.estimates.mean() == pytest.approx(0.2, abs=0.01)
    assert np.corrcoef(whole.estimates, part.estimates)[0, 1] > 0.7


def test_nothing_seen_is_not_taken_for_nothing_there():
    """Fifty ties leave one lost and one won question of half a weight each, so that losses can happen."""
    found = stratum(np.zeros((50, 1)), [0], SIZES)
    assert found.values.ravel().tolist() == [-1.0, 0.0, 1.0]
    assert found.chances.tolist() == pytest.approx([0.5 / 51, 50 / 51, 0.5 / 51])


def test_spread_makes_differences_more_frequent_but_no_other():
    """A factor of two doubles the share of questions that differ and keeps how they differ."""
    plain, wide = stratum(SEEN, [0], SIZES, 1.0, 0.0), stratum(SEEN, [0], SIZES, 2.0, 0.0)
    moving = plain.values.ravel() != 0
    assert wide.chances[moving] == pytest.approx(2 * plain.chances[moving])
    assert stratum(np.ones((4, 1)), [0], SIZES, 3.0, 0.0).chances.sum() == pytest.approx(1.0)


def test_single_questions_need_no_correlation():
    """Where every question is its own cluster there is nothing to share, and the draw is a plain one."""
    found = population([stratum(SEEN, [0], np.ones(80, dtype=np.int64))], 0.05, 0, 0.0)
    assert found.swing == 0
    assert found.draw(10, np.random.default_rng(0))[0].sums.shape == (10, 80)


def test_one_clause_alone_is_the_same_population():
    """With the other clauses left out, a clause has the same differences, equally likely, in fewer atoms."""
    seen = np.array([[1.0, 0.5], [1.0, 0.25], [0.0, 0.5], [-1.0, 0.0], *[[0.0, 0.0]] * 16])
    both = stratum(seen, [0, 1], SIZES)
    for clause in (0, 1):
        alone = both.only(clause)
        assert alone.clauses == (0,)
        assert len(alone.chances) == len(set(both.values[:, clause].tolist()))
        for power in (1, 2):
            expected = both.chances @ both.values[:, clause] ** power
            assert alone.chances @ alone.values[:, 0] ** power == pytest.approx(expected)
