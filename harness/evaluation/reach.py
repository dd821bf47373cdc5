"""The reach of a lever: the most that a change could gain if an oracle, who knows the evidence, pulled it.

A lever that cannot reach a gain cannot be shown to have it. Reach is read on dev, where labels may be looked at; it
bounds what is there, and says nothing about how much of it a real method gets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import Labels
from harness.evaluation.formulas import discounts
from harness.evaluation.measure import Measure
from harness.evaluation.scores import Credit, evidence_under, find_evidence, hits_of, score
from harness.evaluation.ties import tie_report
from harness.retrieval.ranking import Ranking

TIES, POOL = "ties", "pool"


@dataclass(frozen=True)
class Reach:
    """What an oracle could make of a ranking under one measure.

    Attributes:
        lever: ``ties`` (only the order of exact ties moves) or ``pool`` (what was retrieved is put in the best order).
        depth: documents a question that the oracle may choose from.
        ranked: mean of what is to be improved on, in [0, 1].
        best: mean under the oracle, in [0, 1]; never below what any order of these documents gives.
        n: questions with a score.
        moved: questions that the oracle improves.
    """

    lever: str
    depth: int
    ranked: float
    best: float
    n: int
    moved: int

    @property
    def gain(self) -> float:
        """The most that can be gained, as a fraction of the measure."""
        return max(0.0, self.best - self.ranked)


def reach_of_ties(
    ranking: Ranking, credit: Credit, labels: Labels, measure: Measure, among: NDArray[np.bool_] | None = None
) -> Reach | None:
    """The reach of a tie-break: the best order of documents with exactly equal scores.

    Args:
        ranking: deeper than the cut-off, so that groups of ties are seen whole.
        credit: which chunks each document earns credit for.
        labels: for the same questions in the same order.
        measure: what is gained.
        among: bool (n_questions), the questions that count; all by default.

    Returns:
        None where no question has a score, or a group of ties is too large or goes on below the ranking.
    """
    if among is not None:
        ranking, labels = _only(ranking, labels, among)
    if not len(ranking):
        return None
    found = tie_report(ranking, credit, labels, [measure]).ranges[measure]
    if found.ranked is None or found.greatest is None:
        return None
    return Reach(TIES, ranking.depth, found.ranked, found.greatest, found.n, found.moved)


def reach_of_pool(
    ranking: Ranking,
    credit: Credit,
    labels: Labels,
    measure: Measure,
    among: NDArray[np.bool_] | None = None,
    improves_on: NDArray[np.float64] | None = None,
) -> Reach | None:
    """The reach of a re-ranking: everything in the ranking put in the best order, whatever its scores.

    An upper bound where one document is credited with several pieces of evidence, exact where with one.

    Args:
        ranking: the pool, best first; its depth is how far the lever reaches down.
        credit, labels, measure, among: as for `reach_of_ties`.
        improves_on: float64 (n_questions), another system's scores under the measure; the ranking's own by default.

    Returns:
        None where no question has a score.
    """
    if among is not None:
        ranking, labels = _only(ranking, labels, among)
        improves_on = None if improves_on is None else improves_on[among]
    if not len(ranking):
        return None
    ranked = score(ranking, labels, credit, [measure]).values[measure] if improves_on is None else improves_on
    scored = ~np.isnan(ranked)
    if not scored.any():
        return None
    evidence, total = evidence_under(labels, measure)
    hits = hits_of(ranking, credit.under(measure.credit), evidence)
    found = np.bincount(find_evidence(hits, total).question, minlength=len(ranking))
    one_each = len(np.unique(np.stack([hits.question, hits.rank]), axis=1).T) == len(hits.question)
    best = np.where(total > 0, _best(measure, found, total, one_each=one_each), ranked)
    mean = float(best[scored].mean())
    moved = int((best[scored] > ranked[scored] + 1e-12).sum())
    return Reach(POOL, ranking.depth, float(ranked[scored].mean()), mean, int(scored.sum()), moved)


def _best(
    measure: Measure, found: NDArray[np.int64], total: NDArray[np.int64], *, one_each: bool
) -> NDArray[np.float64]:
    """A measure for each question if its findable evidence stood first."""
    k, total = measure.k, np.maximum(total, 1)
    first = np.minimum(found, k) if one_each else found
    if measure.name == "R":
        share: NDArray[np.float64] = first / total
        return share
    if measure.name == "AllSuccess":
        return (first >= total).astype(np.float64)
    if measure.name in ("Success", "RR"):
        return (found > 0).astype(np.float64)
    finders = np.minimum(found, k)
    if measure.name in ("nDCG", "ndcg_any"):
        ideal = np.concatenate([np.zeros(1), np.cumsum(discounts(measure.name, k))])
        gained: NDArray[np.float64] = ideal[finders] / ideal[np.minimum(total, k)]
        return gained
    summed: NDArray[np.float64] = finders / (k if measure.name == "P" else total)
    return summed


def _only(ranking: Ranking, labels: Labels, among: NDArray[np.bool_]) -> tuple[Ranking, Labels]:
    places = np.flatnonzero(among)
    return ranking.take(places), labels.take(places)
