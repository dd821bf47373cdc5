"""One-sided bounds, p-values and the smallest detectable effect of a mean difference.

Two lenses, of which the more cautious counts: a cluster-robust t interval, which sees differences between
groups of questions, and Tango's (1998) score interval for paired proportions on counts shrunk by a design
effect, which keeps a width when few or no questions change. Tango's constrained estimate is written here in
a form without cancellation: its discriminant is ((2n-b-c)d-(b-c))^2 + 4bc(1-d^2), a sum of two terms that
are never negative, and negative differences are evaluated with the two samples swapped. The second procedure
moves the observed difference a quarter of a question away from the side that is claimed, since questions come in
whole numbers (Laud 2017).
"""

import math
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from .special import normal_cdf, normal_quantile, student_t_cdf, student_t_quantile, student_t_upper_tail

FEWEST_CLUSTERS = 5
"""Effective clusters that a cluster-robust statement needs (Carter, Schnepel & Steigerwald 2017)."""

NO_SPREAD = 1e-12
"""A standard error up to this is rounding noise of a true zero; one question's change is far above it."""

PLANNED_POWER = 0.8

CORRECTIONS = {"cluster-t+tango/1": 0.0, "cluster-t+tango/2": 0.25}
"""Procedures, each with the questions by which it corrects the observed difference."""


class Sample(NamedTuple):
    """What the bounds need to know about the differences of one slice.

    Attributes:
        n: Questions.
        clusters: Distinct clusters.
        effective_clusters: (sum of sizes)^2 / sum of squared sizes.
        testable: Whether there are enough effective clusters; the other functions may be called only then.
        mean: Mean difference over questions, candidate minus baseline.
        gains: Sum of the positive differences.
        losses: Sum of the sizes of the negative differences.
        error: Cluster-robust standard error of the mean; NaN for one cluster.
        deviation: Standard deviation of the differences with n - 1; NaN for one question.
        design_effect: Factor, at least 1, by which planned correlation within clusters shrinks the counts.
        correction: Questions by which the observed difference is corrected in the score.
    """

    n: int
    clusters: int
    effective_clusters: float
    testable: bool
    mean: float
    gains: float
    losses: float
    error: float
    deviation: float
    design_effect: float
    correction: float


def summarise(
    differences: Sequence[float], clusters: Sequence[Hashable], rho: float, correction: float = 0.0
) -> Sample:
    """Summarise aligned differences and cluster labels.

    Args:
        differences: Candidate minus baseline per question, each in [-1, 1], at least one.
        clusters: The cluster of each question.
        rho: Correlation within clusters for which the counts are shrunk.
        correction: Of the procedure, in questions.
    """
    n = len(differences)
    groups: dict[Hashable, list[float]] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        groups.setdefault(cluster, []).append(difference)
    squares = sum(len(group) ** 2 for group in groups.values())
    mean = math.fsum(differences) / n
    count = len(groups)
    error = math.nan
    if count > 1:
        between = math.fsum(math.fsum(d - mean for d in group) ** 2 for group in groups.values())
        error = math.sqrt(count / (count - 1) * between) / n
    deviation = math.nan
    if n > 1:
        deviation = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (n - 1))
    return Sample(
        n=n,
        clusters=count,
        effective_clusters=n * n / squares,
        testable=n * n >= FEWEST_CLUSTERS * squares,  # in integers: five equal clusters are exactly enough
        mean=mean,
        gains=math.fsum(d for d in differences if d > 0),
        losses=math.fsum(-d for d in differences if d < 0),
        error=error,
        deviation=deviation,
        # mean size times (1 + CV^2) is the sum of squared sizes over the number of questions
        design_effect=max(1.0, 1.0 + (squares / n - 1.0) * rho),
        correction=correction,
    )


def lower_bound(sample: Sample, alpha: float) -> float:
    """The smaller of the two one-sided lower bounds at ``alpha`` < 1/2; no difference lies below -1."""
    by_clusters = sample.mean - _margin(sample, alpha)
    return max(-1.0, min(by_clusters, tango_lower(*_counts(sample), alpha, _shift(sample))))


def upper_bound(sample: Sample, alpha: float) -> float:
    """The greater of the two one-sided upper bounds at ``alpha`` < 1/2; no difference lies above 1."""
    by_clusters = sample.mean + _margin(sample, alpha)
    return min(1.0, max(by_clusters, tango_upper(*_counts(sample), alpha, _shift(sample))))


def p_not_above(sample: Sample, threshold: float) -> float:
    """One-sided p-value, the greater of two, of a true difference of at most ``threshold``."""
    score = tango_score(*_counts(sample), threshold, -_shift(sample))
    return max(_cluster_p(sample, threshold, student_t_upper_tail, sample.mean > threshold), normal_cdf(-score))


def p_not_below(sample: Sample, threshold: float) -> float:
    """One-sided p-value, the greater of two, of a true difference of at least ``threshold``."""
    score = tango_score(*_counts(sample), threshold, _shift(sample))
    return max(_cluster_p(sample, threshold, student_t_cdf, sample.mean < threshold), normal_cdf(score))


def detectable_effect(sample: Sample, alpha: float) -> float:
    """The true gain beyond a threshold that is found with 80 % power, given the observed spread."""
    df = sample.clusters - 1
    quantiles = student_t_quantile(1.0 - alpha, df) + student_t_quantile(PLANNED_POWER, df)
    return quantiles * sample.deviation * math.sqrt(sample.design_effect / sample.n)


def tango_score(b: float, c: float, n: float, difference: float, shift: float = 0.0) -> float:
    """Tango's score statistic of a true ``difference`` in [-1, 1]; falls as the difference grows.

    Args:
        b: Effective gains.
        c: Effective losses, b + c <= n.
        n: Effective questions.
        difference: The hypothesised difference.
        shift: Effective questions added to the observed difference.
    """
    if difference < 0.0:
        return -tango_score(c, b, n, -difference, -shift)
    numerator = b - c - n * difference + shift
    linear = -b - c + (2.0 * n - b + c) * difference
    constant = -c * difference * (1.0 - difference)
    # the discriminant as a sum without cancellation, see the module's text
    root = math.sqrt(
        ((2.0 * n - b - c) * difference - (b - c)) ** 2 + 4.0 * b * c * max(0.0, 1.0 - difference * difference)
    )
    # of two equal forms the one without cancellation
    q = (root - linear) / (4.0 * n) if linear <= 0.0 else -2.0 * constant / (linear + root)
    variance = n * (2.0 * q + difference * (1.0 - difference))
    if variance <= 0.0:
        return 0.0 if abs(numerator) <= NO_SPREAD * n else math.copysign(math.inf, numerator)
    return numerator / math.sqrt(variance)


def tango_lower(b: float, c: float, n: float, alpha: float, correction: float = 0.0) -> float:
    """The difference below the estimate whose corrected score is the upper ``alpha`` point; -1 if there is none."""
    critical = normal_quantile(1.0 - alpha)
    low, high = -1.0, (b - c) / n
    if tango_score(b, c, n, low, -correction) <= critical:
        return -1.0
    while True:  # halving: the score is monotone, and 60 steps reach the last bit of any difference that matters
        middle = 0.5 * (low + high)
        if high - low <= 1e-16 or middle in (low, high):
            return middle
        if tango_score(b, c, n, middle, -correction) > critical:
            low = middle
        else:
            high = middle


def tango_upper(b: float, c: float, n: float, alpha: float, correction: float = 0.0) -> float:
    """The difference above the estimate whose corrected score is the lower ``alpha`` point; 1 if there is none."""
    return -tango_lower(c, b, n, alpha, correction)


def _counts(sample: Sample) -> tuple[float, float, float]:
    shrink = sample.design_effect
    return sample.gains / shrink, sample.losses / shrink, sample.n / shrink


def _shift(sample: Sample) -> float:
    return sample.correction / sample.design_effect


def _margin(sample: Sample, alpha: float) -> float:
    if sample.error <= NO_SPREAD:
        return 0.0
    return student_t_quantile(1.0 - alpha, sample.clusters - 1) * sample.error


def _cluster_p(sample: Sample, threshold: float, tail: Callable[[float, int], float], good: bool) -> float:
    distance = sample.mean - threshold
    if sample.error <= NO_SPREAD:
        if abs(distance) <= NO_SPREAD:
            return 0.5
        return 0.0 if good else 1.0
    return tail(distance / sample.error, sample.clusters - 1)
