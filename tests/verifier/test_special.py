import math
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from harness.verifier.special import (
    normal_cdf,
    normal_quantile,
    student_t_cdf,
    student_t_quantile,
    student_t_upper_tail,
)

FREEDOM = [1, 2, 3, 4, 5, 7, 8, 9, 10, 29, 30, 99, 100, 499, 1000, 2501, 4998, 5000]
PROBABILITIES = [1e-8, 1e-4, 0.003, 0.0304, 0.05, 0.2, 0.26, 0.4, 0.4999]


def exact_area(t: float, df: int) -> Decimal:
    """P(0 < T < t) for even df by the finite sum of Abramowitz & Stegun 26.7.4, in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        square = Decimal(t) ** 2
        cosine = Decimal(df) / (Decimal(df) + square)
        sine = (square / (Decimal(df) + square)).sqrt()
        term = total = Decimal(1)
        for j in range(1, df // 2):
            term *= cosine * (2 * j - 1) / (2 * j)
            total += term
        return sine * total / 2


@pytest.mark.parametrize("df", [2, 4, 8, 30, 100, 1000, 4998, 5000])
@pytest.mark.parametrize("t", [1e-6, 0.3, 1.2, 1.7, 1.8, 2.5, 6.0, 12.0])
def test_tail_and_cdf_match_the_exact_finite_sum(t, df):
    """Tail and cdf agree with an exact sum to 1e-11 of their own size, in the far tail too."""
    area = exact_area(t, df)
    assert student_t_upper_tail(t, df) == pytest.approx(float(Decimal("0.5") - area), rel=1e-11)
    assert student_t_cdf(t, df) == pytest.approx(float(Decimal("0.5") + area), rel=1e-12)
    assert student_t_cdf(-t, df) == student_t_upper_tail(t, df)


@pytest.mark.parametrize("t", [1e-9, 0.1, 1.0, 1.5, 40.0, 1e6, 1e12, 1e200])
def test_one_degree_of_freedom_is_the_cauchy_distribution(t):
    """At one degree of freedom the tail is atan(1/t)/pi, also where t squared would overflow."""
    assert student_t_upper_tail(t, 1) == pytest.approx(math.atan2(1.0, t) / math.pi, rel=1e-12)


@pytest.mark.parametrize("df", FREEDOM)
def test_cdf_and_quantile_match_scipy(df):
    """Both agree with scipy over the whole range of degrees of freedom."""
    for p in PROBABILITIES:
        t = student_t_quantile(1 - p, df)
        assert t == pytest.approx(stats.t.ppf(1 - p, df), rel=1e-10)
        assert student_t_upper_tail(t, df) == pytest.approx(stats.t.sf(t, df), rel=1e-10)


@pytest.mark.parametrize("df", [2, 10, 200, 5000])
@pytest.mark.parametrize("p", PROBABILITIES)
def test_quantile_inverts_the_exact_sum(p, df):
    """The exact area at the quantile is the area that was asked for."""
    t = -student_t_quantile(p, df)
    area = exact_area(t, df)
    if p < 0.25:
        assert float(Decimal("0.5") - area) == pytest.approx(p, rel=1e-11)
    else:
        assert float(area) == pytest.approx(0.5 - p, rel=1e-11)


@given(st.floats(1e-12, 1 - 1e-12), st.integers(1, 5000))
def test_quantile_is_odd_around_one_half_and_inverted_by_the_cdf(p, df):
    """cdf(quantile(p)) is p, whatever the degrees of freedom."""
    t = student_t_quantile(p, df)
    assert student_t_cdf(t, df) == pytest.approx(p, rel=1e-11)
    assert (t > 0) == (p > 0.5) or t == 0


@pytest.mark.parametrize(("p", "df"), [(0.0, 3), (1.0, 3), (math.nan, 3), (0.5, 0)])
def test_a_quantile_out_of_range_is_refused(p, df):
    """No quantile is invented for a probability or degrees of freedom that have none."""
    with pytest.raises(ValueError, match="no t quantile"):
        student_t_quantile(p, df)


def test_centre_and_infinities():
    """The distribution is symmetric and complete."""
    assert student_t_quantile(0.5, 7) == 0.0
    assert student_t_cdf(0.0, 7) == 0.5
    assert student_t_cdf(math.inf, 7) == 1.0
    assert student_t_upper_tail(math.inf, 7) == 0.0


@given(st.floats(-37, 8))
def test_normal_cdf_matches_scipy(x):
    """The normal cdf keeps its relative accuracy in the lower tail."""
    assert normal_cdf(x) == pytest.approx(special.ndtr(x), rel=1e-12)


@given(st.floats(1e-15, 1 - 1e-15))
def test_normal_quantile_matches_scipy(p):
    """The normal quantile agrees with scipy."""
    assert normal_quantile(p) == pytest.approx(special.ndtri(p), rel=1e-12, abs=1e-15)
