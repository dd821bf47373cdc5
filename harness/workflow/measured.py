"""Rankings of one benchmark part, scored: what dev runs, full runs and reproductions have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.benchmarks.columns import Labels, Questions
from harness.evaluation.budget import read_budget, within_tokens
from harness.evaluation.measure import Measure
from harness.evaluation.scores import Credit, Scores, score
from harness.evaluation.slices import in_slice, slice_names
from harness.evaluation.ties import TieReport, tie_report
from harness.retrieval.documents import Described, describe
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Configured, Store


@dataclass(frozen=True)
class Measured:
    """One system's ranking over labelled questions, with its scores."""

    system: Configured
    store: Store
    partitions: tuple[str, ...]
    questions: Questions
    labels: Labels
    ranking: Ranking
    scores: Scores
    documents: dict[int, Described]
    ties: TieReport | None = None

    def slice_means(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Slice → measure → mean and n; a slice without a score under a measure says n = 0 and no mean."""
        table: dict[str, dict[str, dict[str, Any]]] = {}
        for name in slice_names(self.questions, self.labels, self.partitions):
            members = in_slice(name, self.questions, self.labels, self.partitions)
            cells = {str(measure): self.scores.mean(measure, members) for measure in self.scores.values}
            table[name] = {measure: {"mean": mean, "n": n} for measure, (mean, n) in cells.items()}
        return table

    def budget(self, k: int) -> dict[str, Any]:
        """Read budget at cut-off ``k`` as plain values."""
        spent = read_budget(self.ranking, k, self.store.corpus, self.documents)
        return {"unit": self.system.unit, **spent.as_mapping()}

    def exclusions(self) -> dict[str, dict[str, int]]:
        """Measure → reason → how many questions it leaves out."""
        return {str(m): counts for m in self.scores.values if (counts := self.scores.exclusions(m))}


def measure_ranking(
    system: Configured,
    ranking: Ranking,
    store: Store,
    partitions: Sequence[str],
    questions: Questions,
    labels: Labels,
    measures: Sequence[Measure],
) -> Measured:
    """Score a ranking of exactly these questions."""
    documents = describe(ranking.positions.tolist(), store.corpus, store.edges, system.read_model)
    scores = score(ranking, labels, Credit.of(documents), measures)
    return Measured(system, store, tuple(partitions), questions, labels, ranking, scores, documents)


def as_read(system: Configured, ranking: Ranking, store: Store, tokens: int | None) -> Ranking:
    """What of a system's ranking fits into a budget of tokens; all of it where there is none."""
    if tokens is None:
        return ranking
    documents = describe(ranking.positions.tolist(), store.corpus, store.edges, system.read_model)
    return within_tokens(ranking, tokens, store.corpus, documents)


def ties_of(measured: Measured, deep: Ranking) -> TieReport:
    """What equal scores hide, read from the same system's deeper ranking."""
    store, system = measured.store, measured.system
    documents = describe(deep.positions.tolist(), store.corpus, store.edges, system.read_model)
    layers = {position: document.layer for position, document in documents.items()}
    return tie_report(deep, Credit.of(documents), measured.labels, list(measured.scores.values), layers)


def own_clusters(questions: Questions) -> list[str]:
    """Every question as its own cluster: for intervals within one conversation."""
    return [str(index) for index in np.arange(len(questions))]
