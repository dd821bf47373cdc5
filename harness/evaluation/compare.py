"""Two systems' scores on the same questions, aligned by question id: one honest comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageProblem
from harness.evaluation.measure import Measure
from harness.evaluation.scores import Scores, check_same_questions
from harness.evaluation.statistics.bounds import (
    PROCEDURE,
    Paired,
    lower_bound,
    p_above,
    p_below,
    pair,
    upper_bound,
)
from harness.evaluation.statistics.planning import detectable


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
        clusters: the cluster of each of them.
        deltas: float64 (n), candidate minus baseline, positive is better.
        baseline, candidate: mean scores over these questions.
        paired: sufficient description of the deltas in their clusters.
        alpha: one-sided error rate of each bound.
        rho: within-cluster correlation up to which the error rate is promised.
        procedure: the bounds' name.
        interval: the bounds; None where there are too few effective clusters.
        mde: the true difference found with 80 % power; None where nothing can be tested.
    """

    measure: Measure
    slice: str
    questions: tuple[str, ...]
    clusters: tuple[str, ...]
    deltas: NDArray[np.float64]
    baseline: float
    candidate: float
    paired: Paired
    alpha: float
    rho: float
    procedure: str
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

    def p_of_no_difference(self) -> float | None:
        """Two-sided p-value: twice the more cautious lens on the side of the estimate; None where nothing is tested."""
        if self.interval is None:
            return None
        sides = (side(self.paired, 0.0, self.rho, self.procedure) for side in (p_above, p_below))
        return min(1.0, 2 * min(sides))

    def without(self, cluster: str) -> Comparison | None:
        """The same comparison without the questions of one cluster; None where none is left."""
        keep = np.array([name != cluster for name in self.clusters], dtype=bool)
        if not keep.any():
            return None
        kept = [index for index, chosen in enumerate(keep.tolist()) if chosen]
        clusters = tuple(self.clusters[index] for index in kept)
        # the means of the two systems are not known without their scores, and nothing reads them here
        rest = _compared(self.deltas[keep], clusters, self.alpha, self.rho, self.procedure)
        questions = tuple(self.questions[index] for index in kept)
        return replace(self, questions=questions, clusters=clusters, deltas=self.deltas[keep], **rest)

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
    procedure: str = PROCEDURE,
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
        procedure: the bounds' name, one of `harness.evaluation.statistics.bounds.CORRECTIONS`.
        members: bool (n_questions), the slice; all questions by default.
        slice_name: the slice's name.

    Raises:
        UsageProblem: question sets differ, no question of the slice has a score, or a question has no cluster.
    """
    check_same_questions(candidate.questions, baseline.questions)
    _check_clusters(baseline.questions, clusters)
    left, right = baseline.values[measure], candidate.values[measure]
    chosen = ~np.isnan(left) & ~np.isnan(right)
    if members is not None:
        chosen &= members
    places = np.flatnonzero(chosen)
    if not len(places):
        what = f"no question of the slice {slice_name!r} has a score under {measure}"
        raise UsageProblem(what, fix="choose another slice or evidence convention")
    deltas = right[places] - left[places]
    names = tuple(clusters[i] for i in places.tolist())
    return Comparison(
        measure=measure,
        slice=slice_name,
        questions=tuple(baseline.questions[i] for i in places),
        clusters=names,
        deltas=deltas,
        baseline=float(left[places].mean()),
        candidate=float(right[places].mean()),
        alpha=alpha,
        rho=rho,
        procedure=procedure,
        **_compared(deltas, names, alpha, rho, procedure),
    )


def _check_clusters(questions: Sequence[str], clusters: Sequence[str]) -> None:
    if len(clusters) != len(questions):
        what = f"{len(questions)} questions and {len(clusters)} clusters"
        raise UsageProblem(what, allowed="one cluster for every question")
    bare = next((question for question, cluster in zip(questions, clusters, strict=True) if not cluster), None)
    if bare is not None:
        fix = "name its cluster; a question by itself is its own"
        raise UsageProblem(f"the question {bare!r} has no cluster", fix=fix)


def _compared(
    deltas: NDArray[np.float64], clusters: Sequence[str], alpha: float, rho: float, procedure: str
) -> dict[str, Any]:
    """What follows from the differences: their description, the bounds, and what could have been seen."""
    paired = pair(deltas, np.unique(np.array(clusters), return_inverse=True)[1])
    if not paired.testable:
        return {"paired": paired, "interval": None, "mde": None}
    lower, upper = (bound(paired, alpha, rho, procedure) for bound in (lower_bound, upper_bound))
    mde = detectable(paired.deviation, paired.sizes, alpha, rho)
    return {"paired": paired, "interval": Interval(lower, upper), "mde": mde}
