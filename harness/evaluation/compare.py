"""Two systems' scores on the same questions, aligned by question id: one honest comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageProblem
from harness.evaluation.measure import Measure
from harness.evaluation.scores import Scores, check_same_questions
from harness.evaluation.statistics.bounds import (
    Paired,
    lower_bound,
    minimum_detectable,
    pair,
    upper_bound,
)


@dataclass(frozen=True)
class Interval:
    """A pair of one-sided bounds, each at the same error rate; None where nothing can be tested."""

    lower: float
    upper: float


@dataclass(frozen=True)
class Comparison:
    """Candidate against baseline under one measure, in one slice.

    Attributes:
        measure, slice: what was compared.
        questions: ids of the questions that both systems have a score for.
        deltas: float64 (n), candidate minus baseline, positive is better.
        baseline, candidate: mean scores over these questions.
        paired: sufficient description of the deltas in their clusters.
        alpha: one-sided error rate of each bound.
        rho: within-cluster correlation up to which the error rate is promised.
        interval: the bounds; None where there are too few effective clusters.
        mde: the true difference found with 80 % power; None where nothing can be tested.
    """

    measure: Measure
    slice: str
    questions: tuple[str, ...]
    deltas: NDArray[np.float64]
    baseline: float
    candidate: float
    paired: Paired
    alpha: float
    rho: float
    interval: Interval | None
    mde: float | None

    @property
    def estimate(self) -> float:
        """Mean difference."""
        return self.paired.estimate

    @property
    def one_flip(self) -> float:
        """What one question, flipped from 0 to 1, adds to the mean."""
        return 1 / self.paired.n

    def flips(self) -> tuple[list[str], list[str]]:
        """Ids of the questions won and lost."""
        won = [self.questions[i] for i in np.flatnonzero(self.deltas > 1e-12)]
        lost = [self.questions[i] for i in np.flatnonzero(self.deltas < -1e-12)]
        return won, lost


def compare(
    baseline: Scores,
    candidate: Scores,
    measure: Measure,
    *,
    clusters: Sequence[str],
    alpha: float,
    rho: float,
    members: NDArray[np.bool_] | None = None,
    slice_name: str = "all",
) -> Comparison:
    """Compare two systems.

    Args:
        baseline, candidate: scores on the same questions in the same order.
        measure: one that both were scored under.
        clusters: the cluster of each question, by name; every question its own name where they are independent.
        alpha: one-sided error rate of each bound.
        rho: within-cluster correlation up to which the error rate is promised.
        members: bool (n_questions), the slice; all questions by default.
        slice_name: the slice's name.

    Raises:
        UsageProblem: question sets differ, or no question of the slice has a score.
    """
    check_same_questions(candidate.questions, baseline.questions)
    left, right = baseline.values[measure], candidate.values[measure]
    chosen = ~np.isnan(left) & ~np.isnan(right)
    if members is not None:
        chosen &= members
    places = np.flatnonzero(chosen)
    if not len(places):
        what = f"no question of the slice {slice_name!r} has a score under {measure}"
        raise UsageProblem(what, fix="choose another slice or evidence convention")
    deltas = right[places] - left[places]
    names = np.array([clusters[i] for i in places.tolist()])
    paired = pair(deltas, np.unique(names, return_inverse=True)[1])
    interval = None
    if paired.testable:
        interval = Interval(lower_bound(paired, alpha, rho), upper_bound(paired, alpha, rho))
    return Comparison(
        measure=measure,
        slice=slice_name,
        questions=tuple(baseline.questions[i] for i in places),
        deltas=deltas,
        baseline=float(left[places].mean()),
        candidate=float(right[places].mean()),
        paired=paired,
        alpha=alpha,
        rho=rho,
        interval=interval,
        mde=minimum_detectable(paired, alpha, rho) if paired.testable else None,
    )
