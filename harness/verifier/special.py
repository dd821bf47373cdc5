"""Normal and Student t distributions from the standard library alone.

The t distribution is the regularised incomplete beta function, evaluated by its continued fraction (DLMF
8.17.22; Lentz 1976) on the side of the argument where that converges fast. The factor in front is built
from a product over the degrees of freedom and ``log1p``, not from differences of ``lgamma``, which alone
would cost five digits at 5,000 degrees of freedom. Relative error: below 1e-11 for 1 to 5,000 degrees of
freedom, in the tails too.
"""

import math
from functools import lru_cache
from statistics import NormalDist

_STANDARD = NormalDist()
_TERMS = 5000
_TINY = 1e-300


def normal_cdf(x: float) -> float:
    """P(Z <= x); through erfc, because 1 + erf would lose the lower tail to cancellation."""
    return 0.5 * math.erfc(-x / math.sqrt(2.0))


def normal_quantile(p: float) -> float:
    """The x with P(Z <= x) = p, 0 < p < 1 (Wichura 1988, AS 241, as the standard library implements it)."""
    return _STANDARD.inv_cdf(p)


def student_t_cdf(t: float, df: int) -> float:
    """P(T <= t) for ``df`` >= 1 degrees of freedom."""
    return student_t_upper_tail(-t, df)


def student_t_upper_tail(t: float, df: int) -> float:
    """P(T > t) for ``df`` >= 1 degrees of freedom, with full relative accuracy for large t."""
    centre, tail = _halves(abs(t), df)
    return tail if t >= 0 else 0.5 + centre


def student_t_quantile(p: float, df: int) -> float:
    """The t with P(T <= t) = p, 0 < p < 1, by Newton steps in log t kept inside a shrinking bracket.

    Raises:
        ValueError: If ``p`` or ``df`` is out of range.
    """
    if not 0.0 < p < 1.0 or df < 1:
        raise ValueError(f"no t quantile for p = {p!r}, df = {df!r}")
    if p == 0.5:
        return 0.0
    alpha = min(p, 1.0 - p)
    return math.copysign(_solve(alpha, df), p - 0.5)


def _solve(alpha: float, df: int) -> float:
    """The positive t whose upper tail is ``alpha`` < 1/2.

    Near the centre the area from 0 to t is matched instead of the tail: there the tail hardly depends on t.
    """
    by_centre = alpha > 0.25
    target = 0.5 - alpha if by_centre else alpha
    low, high = 0.0, math.inf
    t = max(-normal_quantile(alpha), 1e-8)
    for _ in range(200):
        centre, tail = _halves(t, df)
        area = centre if by_centre else tail
        excess = math.inf if area == 0.0 else math.log(area / target) * (1.0 if by_centre else -1.0)
        if excess > 0.0:
            high = t
        else:
            low = t
        step = excess * area / (t * _density(t, df)) if area > 0.0 else math.inf
        following = t * math.exp(-max(-50.0, min(50.0, step)))
        if not low <= following <= high:
            following = 2.0 * t if math.isinf(high) else 0.5 * (low + high)
        if abs(following - t) <= 2.3e-16 * t:
            return following
        t = following
    return t


def _halves(t: float, df: int) -> tuple[float, float]:
    """Area from 0 to t and area beyond t, t >= 0: one by the fraction, the other as its complement."""
    if t == 0.0:
        return 0.0, 0.5
    if math.isinf(t):
        return 0.5, 0.0
    a = 0.5 * df
    u = t / math.sqrt(df)
    length = math.hypot(1.0, u)
    logarithm = 0.5 * math.log1p(u * u) if u < 1e8 else math.log(u)
    front = u / length * math.exp(-df * logarithm) * _gamma_ratio(df) / math.sqrt(math.pi)
    if t * t < 3.0 * df / (df + 2.0):
        centre = front * _continued_fraction(0.5, a, (u / length) ** 2)
        return centre, 0.5 - centre
    tail = front / df * _continued_fraction(a, 0.5, 1.0 / length / length)
    return 0.5 - tail, tail


def _density(t: float, df: int) -> float:
    u = t / math.sqrt(df)
    logarithm = 0.5 * math.log1p(u * u) if u < 1e8 else math.log(u)
    return _gamma_ratio(df) / math.sqrt(df * math.pi) * math.exp(-(df + 1.0) * logarithm)


@lru_cache(maxsize=256)
def _gamma_ratio(df: int) -> float:
    """Gamma((df + 1) / 2) / Gamma(df / 2), by the recurrence r(v + 2) = r(v) (v + 1) / v."""
    ratio = 1.0 / math.sqrt(math.pi) if df % 2 else math.sqrt(math.pi) / 2.0
    for v in range(1 if df % 2 else 2, df, 2):
        ratio *= (v + 1.0) / v
    return ratio


def _continued_fraction(a: float, b: float, x: float) -> float:
    """The fraction of DLMF 8.17.22 by the modified Lentz algorithm; fast for x < (a + 1) / (a + b + 2)."""
    c = 1.0
    d = 1.0 / _away_from_zero(1.0 - (a + b) * x / (a + 1.0))
    value = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        change = 1.0
        for numerator in (even, odd):
            d = 1.0 / _away_from_zero(1.0 + numerator * d)
            c = _away_from_zero(1.0 + numerator / c)
            change *= c * d
        value *= change
        if abs(change - 1.0) < 1e-16:
            break
    return value


def _away_from_zero(x: float) -> float:
    return x if abs(x) > _TINY else _TINY
