"""What can be found before a run: power, sizes, limits, and what a dev gain is worth."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.power import TTestPower

from harness.evaluation.statistics.looks import alpha_left, alpha_of_look
from harness.evaluation.statistics.planning import (
    clusters_needed,
    detectable,
    mean_of_largest,
    power_of,
    questions_needed,
    shrunk,
    standard_error,
    upper_limit,
)

SIZES = np.array([105, 193, 260, 242, 158, 190, 239, 196, 202])


@pytest.mark.parametrize(("count", "mean"), [(1, 0.0), (2, 0.56419), (5, 1.16296), (24, 1.94767), (100, 2.50759)])
def test_mean_of_the_largest_is_as_tabulated(count, mean):
    """Harter's (1961) table of normal order statistics."""
    assert mean_of_largest(count) == pytest.approx(mean, abs=2e-5)


def test_shrinking_follows_the_trials():
    """One trial is taken at its word, many less and less, no gain is shrunk into a loss, and no loss grows."""
    gains = [shrunk(0.05, 0.02, trials) for trials in (1, 2, 10, 24, 10_000)]
    assert gains[0] == 0.05
    assert gains == sorted(gains, reverse=True)
    assert gains[1] == pytest.approx(0.05 - 0.56419 * 0.02, abs=1e-6)
    assert gains[-1] == 0
    assert shrunk(-0.01, 0.02, 5) == -0.01


def test_the_best_of_equal_trials_is_shrunk_to_what_they_are():
    """Of 20 equal systems of gain .1, the picked one looks better by what the shrinking takes off again."""
    random = np.random.default_rng(3)
    best = (0.1 + 0.02 * random.standard_normal((4000, 20))).max(axis=1)
    assert best.mean() > 0.13
    assert np.mean([shrunk(gain, 0.02, 20) for gain in best]) == pytest.approx(0.1, abs=0.001)


@given(st.floats(0.001, 0.3), st.floats(0.05, 0.6), st.sampled_from([0.0, 0.01, 0.05]))
def test_power_and_detectable_gain_are_one_formula(gain, deviation, rho):
    """The gain that is found with a given power has that power."""
    power = power_of(gain, deviation, SIZES, 0.03, rho)
    if 0.06 < power < 0.98:
        assert detectable(deviation, SIZES, 0.03, rho, power) == pytest.approx(gain, rel=1e-6)


def test_power_is_nearly_that_of_a_t_test():
    """With every question by itself the formula is within a point of statsmodels' exact power of the t-test."""
    sizes = np.ones(300, dtype=np.int64)
    exact = TTestPower().power(0.15, 300, 0.05, alternative="larger")
    assert power_of(0.15, 1.0, sizes, 0.05, 0.0) == pytest.approx(exact, abs=0.01)


def test_detectable_effect_by_hand():
    """Clusters of 10 and 30 with a correlation of .01 inflate the variance by 1.24, and the rest follows."""
    t = stats.t.ppf([0.95, 0.8], 1)
    found = detectable(0.5, np.array([10, 30]), 0.05, 0.01)
    assert found == pytest.approx(t.sum() * 0.5 * math.sqrt(1.24 / 40), rel=1e-9)


@pytest.mark.parametrize(("n", "factor"), [(2, 3.947), (5, 1.558), (197, 1.046)])
def test_upper_limit_of_a_spread(n, factor):
    """The 80 % limit is √((n - 1) / χ²) at the lower fifth of χ² with n - 1 degrees of freedom; none below two."""
    assert upper_limit(1.0, n) == pytest.approx(factor, abs=1e-3)
    assert upper_limit(1.0, 1) == upper_limit(1.0, 0) == math.inf


@pytest.mark.parametrize("rho", [0.0, 0.01])
def test_what_is_needed_is_enough_and_one_less_is_not(rho):
    """The questions and conversations asked for find the gain, and one conversation less misses it."""
    gain = 0.04
    count = clusters_needed(gain, 0.3, 198, 0.03, rho)
    assert count is not None
    assert detectable(0.3, np.full(count, 198), 0.03, rho) <= gain < detectable(0.3, np.full(count - 1, 198), 0.03, rho)
    many = questions_needed(0.1, 0.3, SIZES, 0.03, rho)
    assert many is not None
    assert detectable(0.3, SIZES * (many / SIZES.sum()), 0.03, rho) <= 0.1 + 1e-9


def test_no_number_of_questions_makes_up_for_conversations():
    """What conversations differ by stays, however much each is asked; that is said, and not a large number."""
    assert questions_needed(0.03, 0.3, SIZES, 0.03, 0.02) is None
    assert clusters_needed(1e-6, 0.5, 10, 0.05, 0.0) is None
    assert standard_error(0.3, SIZES * 1000, 0.02) > 0.01


def test_alpha_that_is_left():
    """What the looks spend and what is left add up to all of it, and something is always left."""
    spent = sum(alpha_of_look(0.05, look) for look in (1, 2, 3))
    assert alpha_left(0.05, 3) == pytest.approx(0.05 - spent)
    assert alpha_left(0.05, 0) == 0.05
    assert alpha_left(0.05, 1000) > 0
    with pytest.raises(ValueError, match="from 0"):
        alpha_left(0.05, -1)
