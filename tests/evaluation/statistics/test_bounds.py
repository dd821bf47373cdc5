import itertools
import math
import statistics
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from harness.evaluation.statistics.bounds import (
    CORRECTIONS,
    Paired,
    best_lower_bound,
    cluster_error,
    lower_bound,
    mirrored,
    p_above,
    p_below,
    pair,
    tango_statistic,
    upper_bound,
)
from harness.evaluation.statistics.looks import alpha_of_look
from harness.evaluation.statistics.planning import detectable

steps = st.sampled_from([-1.0, -0.5, -0.2, 0.0, 0.0, 0.0, 0.25, 1 / 3, 1.0])
samples = st.lists(st.tuples(steps, st.integers(0, 7)), min_size=8, max_size=80)
PLAIN = "cluster-t+tango/1"
procedures = st.sampled_from(sorted(CORRECTIONS))
alphas = st.sampled_from([0.2, 0.1, 0.05, 0.03, 0.0076])
rhos = st.sampled_from([0.0, 0.005, 0.01, 0.05, 0.3])


def paired(values: Sequence[tuple[float, int]]) -> Paired:
    """Differences with their clusters."""
    return pair(np.array([d for d, _ in values]), np.array([g for _, g in values], dtype=np.int64))


def by_likelihood(b: float, c: float, n: float, delta: float) -> float:
    """Tango's statistic by definition: the probability of a loss maximises the likelihood at a difference of delta."""

    def loss(q: float) -> float:
        cells = [(b, q + delta), (c, q), (n - b - c, 1 - 2 * q - delta)]
        return -sum(count * math.log(max(p, 1e-300)) for count, p in cells if count > 0)

    bounds = (max(0.0, -delta), (1 - delta) / 2)
    q = optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x
    return (b - c - n * delta) / math.sqrt(n * (2 * q + delta - delta**2))


def tango_interval(b: float, c: float, n: float, alpha: float) -> tuple[float, float]:
    """Both one-sided score bounds, by a root finder on the likelihood's own statistic."""
    z, estimate = stats.norm.ppf(1 - alpha), (b - c) / n
    edge = 1 - 1e-9

    def root(target: float, low: float, high: float) -> float:
        return optimize.brentq(lambda delta: by_likelihood(b, c, n, delta) - target, low, high, xtol=1e-12)

    lower = -1.0 if by_likelihood(b, c, n, -edge) < z else root(z, -edge, estimate)
    upper = 1.0 if by_likelihood(b, c, n, edge) > -z else root(-z, estimate, edge)
    return lower, upper


def score_only(b: int, c: int, n: int) -> Paired:
    """The same counts in clusters whose sums are all equal, so that only the score bound has width."""
    return Paired(n, np.full(6, n / 6), np.full(6, (b - c) / 6), float(b), float(c), b, c, n - b - c, 0.5)


@settings(max_examples=60)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 60), st.floats(-0.9, 0.9))
def test_statistic_is_that_of_the_constrained_likelihood(b, c, rest, delta):
    """The closed form equals the score statistic with the nuisance probability found numerically."""
    expected = by_likelihood(b, c, b + c + rest, delta)
    assert tango_statistic(b, c, b + c + rest, delta) == pytest.approx(expected, abs=2e-4, rel=2e-4)


@pytest.mark.parametrize(
    ("b", "c", "n"), [(9, 4, 60), (0, 3, 40), (5, 0, 40), (30, 20, 200), (1, 1, 30), (25, 30, 60), (2, 9, 12)]
)
@pytest.mark.parametrize("alpha", [0.025, 0.05, 0.2])
def test_bounds_are_those_of_a_root_finder(b, c, n, alpha):
    """Where clusters add no width, both bounds solve the score equation to eight digits."""
    lower, upper = tango_interval(b, c, n, alpha)
    assert lower_bound(score_only(b, c, n), alpha, 0.0, PLAIN) == pytest.approx(lower, abs=1e-5)
    assert upper_bound(score_only(b, c, n), alpha, 0.0, PLAIN) == pytest.approx(upper, abs=1e-5)


def test_a_published_interval():
    """Seven losses and one gain in 21 pairs (Bentur et al. 2009) give the published score interval -0.517 to -0.026."""
    found = score_only(1, 7, 21)
    bounds = lower_bound(found, 0.025, 0.0, PLAIN), upper_bound(found, 0.025, 0.0, PLAIN)
    assert bounds == pytest.approx((-0.517, -0.026), abs=5e-4)


@given(st.integers(0, 12), st.integers(0, 12), st.integers(1, 60), st.floats(-0.99, 0.99))
def test_statistic_changes_sign_under_exchange(b, c, rest, delta):
    """Exchanging baseline and candidate turns the statistic's sign."""
    n = b + c + rest
    assert tango_statistic(b, c, n, delta) == pytest.approx(-tango_statistic(c, b, n, -delta), abs=1e-9, rel=1e-9)


@given(samples, alphas)
def test_the_cluster_bound_by_hand(values, alpha):
    """With a correlation of nothing the lower bound is the smaller of a hand-made cluster t and the score bound."""
    found = paired(values)
    groups = sorted({g for _, g in values})
    assume(len(groups) >= 2)
    n, mean = len(values), math.fsum(d for d, _ in values) / len(values)
    residuals = [math.fsum(d - mean for d, g in values if g == group) for group in groups]
    error = math.sqrt(len(groups) / (len(groups) - 1) * math.fsum(r * r for r in residuals)) / n
    assert cluster_error(found) == pytest.approx(error, abs=1e-12)
    assert found.estimate == pytest.approx(mean, abs=1e-12)
    by_t = mean - stats.t.ppf(1 - alpha, len(groups) - 1) * error
    by_score = lower_bound(score_only_like(found), alpha, 0.0)
    assert lower_bound(found, alpha, 0.0) == pytest.approx(max(-1.0, min(by_t, by_score)), abs=1e-9)


def score_only_like(found: Paired) -> Paired:
    """The same gains and losses without any difference between clusters."""
    share = np.full(6, found.n / 6)
    return Paired(
        found.n, share, share * found.estimate, found.gains, found.losses, found.wins, found.defeats, found.ties,
        found.deviation,
    )  # fmt: skip


@given(samples)
def test_description_of_differences(values):
    """Counts, sums and sizes describe the differences completely."""
    found = paired(values)
    assert (found.wins, found.defeats, found.ties) == tuple(
        sum(s(d) for d, _ in values) for s in (lambda d: d > 0, lambda d: d < 0, lambda d: d == 0)
    )
    assert found.gains - found.losses == pytest.approx(found.sums.sum(), abs=1e-9)
    assert found.sizes.sum() == found.n == len(values)
    assert found.deviation == pytest.approx(statistics.stdev(d for d, _ in values), abs=1e-12)


@pytest.mark.parametrize("bad", [[], [math.nan], [1.5], [-math.inf]])
def test_differences_that_are_none_are_refused(bad):
    """No questions, NaN and differences outside [-1, 1] cannot be described."""
    with pytest.raises(ValueError, match=r"no questions|finite"):
        pair(np.array(bad, dtype=float), np.zeros(len(bad), np.int64))


@given(samples, alphas, rhos, st.sampled_from([-0.2, -0.02, 0.0, 0.03, 0.3]))
def test_exchanging_the_systems_mirrors_everything(values, alpha, rho, threshold):
    """Upper and lower bounds, and both p-values, change places when baseline and candidate do."""
    found, mirror = paired(values), paired([(-d, g) for d, g in values])
    assume(len(found.sizes) >= 2)
    assert upper_bound(found, alpha, rho) == pytest.approx(-lower_bound(mirror, alpha, rho), abs=1e-12)
    assert p_below(found, threshold, rho) == pytest.approx(p_above(mirror, -threshold, rho), abs=1e-12)
    assert lower_bound(found, alpha, rho) - 1e-12 <= found.estimate <= upper_bound(found, alpha, rho) + 1e-12


@given(samples)
def test_the_mirror_describes_the_exchanged_systems(values):
    """Mirroring a description gives that of the differences with their signs changed, counts included."""
    mirror, expected = mirrored(paired(values)), paired([(-d, g) for d, g in values])
    counts = [(one.n, one.wins, one.defeats, one.ties) for one in (mirror, expected)]
    assert counts[0] == counts[1]
    sums = [[one.gains, one.losses, one.deviation, *one.sums] for one in (mirror, expected)]
    assert sums[0] == pytest.approx(sums[1], abs=1e-12)


@given(samples, alphas, rhos, st.floats(-0.9, 0.9), procedures)
def test_bounds_and_p_values_decide_alike(values, alpha, rho, threshold, procedure):
    """A lower bound lies above a threshold exactly where the p-value lies below alpha."""
    found = paired(values)
    assume(len(found.sizes) >= 2)
    lower = lower_bound(found, alpha, rho, procedure)
    assume(abs(lower - threshold) > 1e-7)
    assert (lower > threshold) == (p_above(found, threshold, rho, procedure) < alpha)


@given(samples, rhos)
def test_a_smaller_error_rate_widens_the_bound(values, rho):
    """The lower bound never rises as alpha falls, and the upper never falls."""
    found = paired(values)
    assume(len(found.sizes) >= 2)
    lower = [lower_bound(found, alpha, rho) for alpha in (0.2, 0.05, 0.01, 0.001)]
    upper = [upper_bound(found, alpha, rho) for alpha in (0.2, 0.05, 0.01, 0.001)]
    assert lower == sorted(lower, reverse=True)
    assert upper == sorted(upper)
    assert lower[-1] < lower[0] or lower[0] == -1


@given(samples, alphas)
def test_more_correlation_widens_the_bound(values, alpha):
    """The lower bound never rises as the correlation that is allowed for grows."""
    found = paired(values)
    assume(len(found.sizes) >= 2)
    lower = [lower_bound(found, alpha, rho) for rho in (0.0, 0.01, 0.05, 0.3)]
    assert all(later <= earlier + 1e-12 for earlier, later in itertools.pairwise(lower))


@given(st.lists(st.integers(1, 40), min_size=2, max_size=9), alphas, rhos)
def test_identical_systems_differ_by_nothing(sizes, alpha, rho):
    """Without any difference the estimate is 0, the two-sided p is 1, and the bounds are the floor and its mirror."""
    still = pair(np.zeros(sum(sizes)), np.repeat(np.arange(len(sizes)), sizes))
    assert still.estimate == 0
    assert p_above(still, 0.0, rho) == p_below(still, 0.0, rho) == 1
    assert min(1.0, 2 * min(p_above(still, 0.0, rho, PLAIN), p_below(still, 0.0, rho, PLAIN))) == 1
    floor = best_lower_bound(np.array(sizes), alpha, rho)
    assert lower_bound(still, alpha, rho) == floor == -upper_bound(still, alpha, rho)
    # with no loss at all the score equation is solved by -z² / (n + z²)
    design, z = still.design_effect(rho), stats.norm.ppf(1 - alpha)
    n = sum(sizes) / design
    plain = best_lower_bound(np.array(sizes), alpha, rho, PLAIN)
    assert plain == pytest.approx(-(z**2) / (n + z**2), abs=1e-9)
    # and corrected, by the loss x at which n x less a quarter of a question is z standard errors of x
    if floor > -1:
        assert -floor * n - 0.25 / design == pytest.approx(z * math.sqrt(-floor * (1 + floor) * n), abs=1e-6)
    assert floor <= plain


def test_design_and_detectable_effect_by_hand():
    """Clusters of 10 and 30 with a correlation of .01 inflate the variance by 1.24, and the rest follows."""
    found = pair(np.tile([0.5, -0.5], 20), np.repeat([0, 1], [10, 30]))
    assert found.design_effect(0.01) == pytest.approx(1 + (20 * (1 + 0.25) - 1) * 0.01)
    assert found.design_effect(0.0) == 1
    assert found.effective_clusters == pytest.approx(40**2 / (10**2 + 30**2))
    assert not found.testable
    assert pair(np.zeros(15), np.repeat(np.arange(5), 3)).testable
    t = stats.t.ppf([0.95, 0.8], 1)
    deviation = math.sqrt(40 * 0.25 / 39)
    expected = t.sum() * deviation * math.sqrt(1.24 / 40)
    assert detectable(found.deviation, found.sizes, 0.05, 0.01) == pytest.approx(expected, rel=1e-9)


def test_floor_of_the_temporal_guard_on_locomo(locomo):
    """The 284 held-out temporal questions cannot show better than a loss of 1.8 points at the first look."""
    columns = zip(locomo.questions.part, locomo.labels.categories, locomo.questions.clusters, strict=True)
    chosen = [cluster for part, category, cluster in columns if (part, category) == ("heldout", "temporal")]
    sizes = np.unique(chosen, return_counts=True)[1]
    assert (sizes.sum(), len(sizes)) == (284, 9)
    assert round(100 * best_lower_bound(sizes, alpha_of_look(0.05, 1), 0.01), 1) == -1.8
    assert round(100 * best_lower_bound(sizes, alpha_of_look(0.05, 1), 0.01, PLAIN), 1) == -1.6


def passes(draws: np.ndarray, clusters: np.ndarray, threshold: float, rho: float) -> float:
    """The share of simulated experiments whose lower bound at 5 % lies above a threshold."""
    return float(np.mean([lower_bound(pair(d, clusters), 0.05, rho) > threshold for d in draws]))


def test_losses_only_at_the_margin_never_pass_where_t_alone_would():
    """81 questions that each lose with probability one point pass by t alone in 44 % of cases, and never here."""
    random = np.random.default_rng(20240501)
    draws = -(random.random((600, 81)) < 0.01).astype(float)
    assert np.mean((draws == 0).all(axis=1)) == pytest.approx(0.99**81, abs=0.06)
    assert passes(draws, np.repeat(np.arange(9), 9), -0.01, 0.01) == 0


@pytest.mark.parametrize(("gain", "low", "high"), [(0.0, 0.005, 0.075), (0.077, 0.7, 0.85)])
def test_rate_of_false_and_of_true_passes(gain, low, high):
    """With the correlation allowed for, no difference passes in about 5 % and the detectable one in about 80 %."""
    random = np.random.default_rng(1998)
    n_draws, groups, size, rho = 1200, 10, 100, 0.01
    # wins and losses a fifth each: variance 0.4, of which the share rho lies between clusters
    shift = random.normal(0, math.sqrt(rho * 0.4), (n_draws, groups, 1)).repeat(size, 2).reshape(n_draws, -1)
    win, loss = 0.2 + (gain + shift) / 2, 0.2 - (gain + shift) / 2
    uniform = random.random(win.shape)
    draws = (uniform < win).astype(float) - (uniform > 1 - loss)
    if gain:
        found = [pair(d, np.repeat(np.arange(groups), size)) for d in draws[:50]]
        effects = [detectable(one.deviation, one.sizes, 0.05, rho) for one in found]
        assert np.mean(effects) == pytest.approx(gain, abs=0.001)
    assert low <= passes(draws, np.repeat(np.arange(groups), size), 0.0, rho) <= high


@pytest.mark.parametrize(
    ("values", "alpha", "rho", "words"),
    [([(1.0, 0), (0.0, 0)], 0.05, 0.01, "one cluster"), ([(1.0, 0)], 0.05, 0.0, "one cluster"),
     ([(1.0, 0), (0.0, 1)], 0.0, 0.0, "alpha 0.0"), ([(1.0, 0), (0.0, 1)], 0.5, 0.0, "alpha 0.5"),
     ([(1.0, 0), (0.0, 1)], -0.1, 0.0, "alpha -0.1"), ([(1.0, 0), (0.0, 1)], math.nan, 0.0, "alpha nan"),
     ([(1.0, 0), (0.0, 1)], 0.05, -0.01, "rho -0.01"), ([(1.0, 0), (0.0, 1)], 0.05, math.nan, "rho nan")],
)  # fmt: skip
def test_what_cannot_be_bounded_raises(values, alpha, rho, words):
    """One cluster, and rates that are none, raise instead of giving NaN."""
    for bound in (lower_bound, upper_bound):
        with pytest.raises(ValueError, match=words):
            bound(paired(values), alpha, rho)
    if "alpha" not in words:
        with pytest.raises(ValueError, match=words):
            p_above(paired(values), 0.0, rho)
