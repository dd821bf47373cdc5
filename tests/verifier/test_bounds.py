import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from harness.verifier.bounds import (
    detectable_effect,
    lower_bound,
    p_not_above,
    p_not_below,
    summarise,
    tango_lower,
    tango_score,
    tango_upper,
    upper_bound,
)

differences = st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.25, 1 / 3, 1.0]), min_size=12, max_size=60)


def grouped(values, size=2):
    """Clusters of a fixed size, in order."""
    return [index // size for index in range(len(values))]


def by_likelihood(b, c, n, delta):
    """Tango's statistic by definition: the nuisance probability maximises the constrained likelihood."""

    def loss(q):
        cells = [(b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta)]
        return -sum(count * math.log(max(p, 1e-300)) for count, p in cells if count)

    low, high = max(0.0, -delta), (1 - delta) / 2
    q = optimize.minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))


@pytest.mark.parametrize(("b", "c", "n"), [(10, 4, 60), (3, 9, 40), (1, 1, 30), (7.5, 2.25, 33.3)])
@pytest.mark.parametrize("delta", [-0.6, -0.2, -0.03, 0.01, 0.2, 0.7])
def test_the_score_uses_the_constrained_maximum_of_the_likelihood(b, c, n, delta):
    """The closed form equals a numerical maximisation of the likelihood that Tango starts from."""
    assert tango_score(b, c, n, delta) == pytest.approx(by_likelihood(b, c, n, delta), rel=1e-6)


def test_published_interval():
    """The interval of Fagerland, Lydersen & Laake (2014), airway hyper-responsiveness, 1 to 7 of 21."""
    assert round(tango_lower(1, 7, 21, 0.025), 3) == -0.517
    assert round(tango_upper(1, 7, 21, 0.025), 3) == -0.026


@pytest.mark.parametrize("n", [1.0, 24.0, 284.0])
@pytest.mark.parametrize("alpha", [0.05, 0.0304, 0.001])
def test_without_any_change_the_bound_is_z2_over_n_plus_z2(n, alpha):
    """No gain and no loss still leave a width, which has a closed form."""
    z2 = stats.norm.isf(alpha) ** 2
    assert tango_lower(0, 0, n, alpha) == pytest.approx(-z2 / (n + z2), abs=1e-12)
    assert tango_upper(0, 0, n, alpha) == pytest.approx(z2 / (n + z2), abs=1e-12)


def test_everything_won_or_lost_ends_at_the_edge_of_the_range():
    """An estimate at the end of the range has the end as its bound on that side."""
    assert tango_upper(20, 0, 20, 0.05) == 1.0
    assert tango_lower(0, 20, 20, 0.05) == -1.0
    z2 = stats.norm.isf(0.05) ** 2
    assert tango_lower(20, 0, 20, 0.05) == pytest.approx((20 - z2) / (20 + z2), abs=1e-12)


def test_score_conventions():
    """Zero over zero is zero; a difference that the counts rule out is infinitely far."""
    assert tango_score(0, 0, 50, 0.0) == 0.0
    assert tango_score(20, 0, 20, 1.0) == 0.0
    assert tango_score(3, 2, 20, 1.0) == -math.inf
    assert tango_score(3, 2, 20, -1.0) == math.inf


@given(st.floats(0, 20), st.floats(0, 20), st.floats(0, 40), st.floats(-0.999, 0.999))
def test_the_score_is_antisymmetric_and_its_sign_tells_the_side(b, c, rest, delta):
    """Swapping the samples swaps the sign, and the score is positive below the estimate."""
    n = b + c + rest + 1
    score = tango_score(b, c, n, delta)
    assert score == pytest.approx(-tango_score(c, b, n, -delta), rel=1e-12, abs=1e-12)
    if abs((b - c) / n - delta) > 1e-9:
        assert (score > 0) == (delta < (b - c) / n)


@given(st.integers(0, 15), st.integers(0, 15), st.integers(1, 60), st.sampled_from([0.05, 0.03, 0.004]))
def test_bounds_are_where_the_score_test_turns(b, c, rest, alpha):
    """Inverting the score at a bound gives the error rate back: bound and p-value are dual."""
    n = b + c + rest
    low, high = tango_lower(b, c, n, alpha), tango_upper(b, c, n, alpha)
    assert -1 < low < (b - c) / n < high < 1
    assert stats.norm.sf(tango_score(b, c, n, low)) == pytest.approx(alpha, rel=1e-9)
    assert stats.norm.cdf(tango_score(b, c, n, high)) == pytest.approx(alpha, rel=1e-9)


def test_cluster_robust_error_by_hand():
    """Two questions in each of six clusters, worked on paper."""
    values = [1, 0, 0, 0, 1, 1, 0, -1, 0, 0, 0, 0]
    sample = summarise([float(v) for v in values], grouped(values), rho=0.1)
    # mean 1/6; cluster sums 1, 0, 2, -1, 0, 0, each less 2/6: squares sum to 6 - 4/6 = 16/3
    assert sample.mean == pytest.approx(1 / 6)
    assert sample.error == pytest.approx(math.sqrt(6 / 5 * 16 / 3) / 12)
    assert (sample.n, sample.clusters, sample.effective_clusters) == (12, 6, 6.0)
    assert (sample.gains, sample.losses) == (3.0, 1.0)
    assert sample.deviation == pytest.approx(np.std(values, ddof=1))
    assert sample.design_effect == pytest.approx(1.1)  # 1 + (2 - 1) * 0.1


def test_unequal_clusters_raise_the_design_effect_and_lower_the_effective_number():
    """Sizes 6, 2, 2, 1, 1: mean size 2.4, squared sizes 46."""
    clusters = [0] * 6 + [1, 1, 2, 2, 3, 4]
    sample = summarise([0.5] * 12, clusters, rho=0.02)
    assert sample.effective_clusters == pytest.approx(144 / 46)
    assert sample.design_effect == pytest.approx(1 + (46 / 12 - 1) * 0.02)
    assert not sample.testable


@pytest.mark.parametrize(("clusters", "testable"), [(5, True), (4, False)])
def test_exactly_five_effective_clusters_are_enough(clusters, testable):
    """Equal clusters count in full, whatever their size."""
    labels = [label for label in range(clusters) for _ in range(7)]
    assert summarise([0.0] * len(labels), labels, 0.01).testable is testable


def test_singletons_have_no_design_effect():
    """Ungrouped questions are independent, and the cluster-robust error is the plain one."""
    values = [0.0, 1.0, 0.5, 0.0, -0.5, 0.0, 1.0]
    sample = summarise(values, range(7), rho=0.05)
    assert sample.design_effect == 1.0
    assert sample.error == pytest.approx(stats.sem(values))


@settings(max_examples=60)
@given(differences, st.sampled_from([0.05, 0.0304, 0.0076]))
def test_each_bound_is_the_more_cautious_of_the_two(values, alpha):
    """The lower bound is the lower of both lenses, and no difference lies beyond -1; the upper likewise."""
    sample = summarise(values, grouped(values), rho=0.01)
    df, shrink = sample.clusters - 1, sample.design_effect
    margin = stats.t.isf(alpha, df) * sample.error
    counts = (sample.gains / shrink, sample.losses / shrink, sample.n / shrink)
    lows = [sample.mean - margin, tango_lower(*counts, alpha)]
    highs = [sample.mean + margin, tango_upper(*counts, alpha)]
    assert lower_bound(sample, alpha) == pytest.approx(max(-1, min(lows)), abs=1e-10)
    assert upper_bound(sample, alpha) == pytest.approx(min(1, max(highs)), abs=1e-10)


@settings(max_examples=60)
@given(differences, st.floats(-0.3, 0.3))
def test_swapping_the_systems_mirrors_everything(values, threshold):
    """Baseline and candidate exchanged give the mirrored bounds and the other p-value."""
    forth = summarise(values, grouped(values), rho=0.01)
    back = summarise([-value for value in values], grouped(values), rho=0.01)
    assert lower_bound(forth, 0.03) == pytest.approx(-upper_bound(back, 0.03), abs=1e-12)
    assert p_not_above(forth, threshold) == pytest.approx(p_not_below(back, -threshold), abs=1e-12)


@settings(max_examples=60)
@given(differences, st.sampled_from([0.05, 0.02]))
def test_the_p_value_at_the_bound_is_the_error_rate(values, alpha):
    """A threshold at the lower bound is rejected exactly at the bound's own error rate."""
    sample = summarise(values, grouped(values), rho=0.01)
    low, high = lower_bound(sample, alpha), upper_bound(sample, alpha)
    if sample.error > 0 and low > -1 and high < 1:
        assert p_not_above(sample, low) == pytest.approx(alpha, abs=1e-8)
        assert p_not_below(sample, high) == pytest.approx(alpha, abs=1e-8)


def test_identical_systems_decide_nothing():
    """No change at all: difference zero, p one half at zero, bounds around it."""
    sample = summarise([0.0] * 30, grouped([0] * 30), rho=0.01)
    assert sample.mean == 0.0
    assert p_not_above(sample, 0.0) == p_not_below(sample, 0.0) == 0.5
    assert lower_bound(sample, 0.05) < 0 < upper_bound(sample, 0.05)


def test_no_spread_between_clusters_leaves_the_bound_to_the_score():
    """One gain in every cluster: the t interval has no width, and p is the score's alone."""
    sample = summarise([1.0, 0.0] * 10, grouped([0] * 20), rho=0.0)
    assert sample.error == 0.0
    assert lower_bound(sample, 0.05) == tango_lower(10, 0, 20, 0.05)
    assert p_not_above(sample, 0.1) == pytest.approx(stats.norm.sf(tango_score(10, 0, 20, 0.1)))
    assert p_not_above(sample, 0.9) == 1.0
    assert p_not_above(sample, 0.5) == 0.5


def test_detectable_effect_by_scipy():
    """The smallest detectable effect is a sum of two t quantiles times the shrunk error."""
    values = [1.0, 0.0, 0.0, -1.0, 0.5, 0.0] * 4
    sample = summarise(values, grouped(values, 3), rho=0.05)
    expected = (stats.t.isf(0.03, 7) + stats.t.ppf(0.8, 7)) * np.std(values, ddof=1) * math.sqrt(1.1 / 24)
    assert detectable_effect(sample, 0.03) == pytest.approx(expected, rel=1e-10)
