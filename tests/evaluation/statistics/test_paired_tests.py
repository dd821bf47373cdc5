"""Tests beside the verdict, against published examples, by hand, and against statsmodels and scipy."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from harness.evaluation.statistics.bounds import pair
from harness.evaluation.statistics.paired_tests import (
    holm,
    mcnemar_exact,
    mcnemar_mid_p,
    paired_t,
    sign_flip,
)

counts = st.integers(0, 60)


def test_published_mcnemar_example():
    """One gain and seven losses (Bentur et al. 2009) give the exact and mid-p of Fagerland et al. 2013: .070, .039."""
    assert mcnemar_exact(1, 7) == pytest.approx(0.0703, abs=5e-5)
    assert mcnemar_mid_p(1, 7) == pytest.approx(0.0391, abs=5e-5)


@given(counts, counts)
def test_mcnemar_agrees_with_statsmodels(wins, losses):
    """The exact two-sided p is that of another library; the mid-p is smaller, and both are symmetric and never 0."""
    exact, mid = mcnemar_exact(wins, losses), mcnemar_mid_p(wins, losses)
    if wins + losses:
        assert exact == pytest.approx(float(mcnemar([[5, wins], [losses, 5]], exact=True).pvalue), rel=1e-9)
    assert (exact, mid) == pytest.approx((mcnemar_exact(losses, wins), mcnemar_mid_p(losses, wins)))
    assert 0 < mid <= exact <= 1


@given(st.integers(0, 12), st.integers(0, 12))
def test_mid_p_by_hand(wins, losses):
    """Half of the probability of what was seen is taken off each tail."""
    n = wins + losses
    if not n:
        return
    at, beyond = stats.binom.pmf(wins, n, 0.5), stats.binom.cdf(min(wins, losses) - 1, n, 0.5)
    expected = 1 - 0.5 * at if wins == losses else 2 * (beyond + 0.5 * at)
    assert mcnemar_mid_p(wins, losses) == pytest.approx(float(expected))


def test_nothing_differs():
    """Identical systems have p = 1 where a test can say so, and no p where it cannot; never NaN."""
    still = pair(np.zeros(20), np.repeat(np.arange(5), 4))
    assert mcnemar_exact(0, 0) == mcnemar_mid_p(0, 0) == 1
    assert paired_t(still) is None
    assert sign_flip(still.sums) is None


@pytest.mark.parametrize("values", [[0.5], [0.25, 0.25, 0.25], [-1.0, -1.0]])
def test_t_has_nothing_to_go_on_without_spread(values):
    """One question, or a difference that is the same everywhere, cannot be tested by t."""
    assert paired_t(pair(np.array(values), np.arange(len(values)))) is None


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 1 / 3, 1.0]), min_size=2, max_size=40))
def test_t_agrees_with_scipy(values):
    """The p-value is that of a one-sample t-test of the differences."""
    found = paired_t(pair(np.array(values), np.arange(len(values))))
    if len(set(values)) == 1:
        assert found is None
    else:
        assert found == pytest.approx(float(stats.ttest_1samp(values, 0).pvalue), abs=1e-9)


@given(st.lists(st.sampled_from([-3.0, -1.5, -0.5, 0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=9))
def test_sign_flip_counts_every_way(sums):
    """The p-value is the share of all ways of choosing signs with a sum at least as far from 0."""
    found = sign_flip(np.array(sums))
    sizes = [abs(s) for s in sums if s]
    if not sizes:
        assert found is None
        return
    ways = [
        abs(sum(s * size for s, size in zip(signs, sizes, strict=True))) >= abs(sum(sums)) - 1e-9
        for signs in itertools.product((1, -1), repeat=len(sizes))
    ]
    assert found is not None
    assert (found.p, found.exact, found.clusters) == (pytest.approx(np.mean(ways)), True, len(sizes))
    assert found.p >= found.least == 2.0 ** (1 - len(sizes))


def test_flipped_signs_of_single_questions_are_a_sign_test():
    """With every question by itself, and nothing but wins and losses, it is McNemar's test, counted or drawn."""
    sums = np.array([1.0] * 20 + [-1.0] * 11)
    counted, drawn = sign_flip(sums), sign_flip(sums, exact_up_to=5)
    assert counted is not None
    assert drawn is not None
    assert counted.p == pytest.approx(mcnemar_exact(20, 11), rel=1e-12)
    assert not drawn.exact
    # five standard errors of 100,000 draws
    assert drawn.p == pytest.approx(counted.p, abs=5 * math.sqrt(counted.p / 100_000))


def test_drawn_signs_are_the_same_on_every_call_and_never_give_0():
    """A p-value that changes from call to call is none, and so is one of 0."""
    sums = np.ones(300)
    first, second = sign_flip(sums), sign_flip(sums)
    assert first == second
    assert first is not None
    assert first.p == first.least == 1 / 100_001


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=12))
def test_holm_agrees_with_statsmodels(values):
    """The adjusted p-values are those of another library, under the names that were given."""
    family = {f"row {place}": value for place, value in enumerate(values)}
    expected = multipletests(values, method="holm")[1]
    assert list(holm(family).values()) == pytest.approx(list(expected), rel=1e-9)
    assert list(holm(family)) == list(family)


def test_published_holm_example():
    """.01, .02, .03 and .04 are adjusted to .04, .06, .06 and .06 by the sequentially rejective rule."""
    assert holm({"b": 0.02, "a": 0.01, "d": 0.04, "c": 0.03}) == pytest.approx(
        {"b": 0.06, "a": 0.04, "d": 0.06, "c": 0.06}
    )
    assert holm({}) == {}
