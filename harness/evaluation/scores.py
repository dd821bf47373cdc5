"""Per-question scores of a ranking under any number of measures, computed from ranks of its one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import Groups, Labels
from harness.benchmarks.overlay import evidence_of
from harness.errors import UsageProblem
from harness.evaluation.formulas import FORMULAS, FloatArray, Found
from harness.evaluation.measure import Measure
from harness.retrieval.documents import Described
from harness.retrieval.ranking import Ranking

NO_EVIDENCE, NOT_ADVERSARIAL = "no evidence", "adversarial questions are out"


@dataclass(frozen=True)
class Scores:
    """Scores of one system.

    Attributes:
        questions: question ids.
        values: measure → float64 (n_questions), NaN where unavailable, else in [0, 1], higher is better.
        unavailable: measure → {question id: why}; the exclusion ledger.
    """

    questions: tuple[str, ...]
    values: Mapping[Measure, FloatArray]
    unavailable: Mapping[Measure, Mapping[str, str]]

    def mean(self, measure: Measure, among: NDArray[np.bool_] | None = None) -> tuple[float | None, int]:
        """Mean over available scores, and their number; None where there is none (never 0, never NaN)."""
        values = self.values[measure]
        chosen = values[~np.isnan(values) & (True if among is None else among)]
        return (float(chosen.mean()) if len(chosen) else None), len(chosen)

    def exclusions(self, measure: Measure) -> dict[str, int]:
        """How many questions are left out, by reason."""
        return dict(sorted(Counter(self.unavailable[measure].values()).items()))


@dataclass(frozen=True)
class Credit:
    """Which chunks a document earns credit for, under both rules, for every document position."""

    raw: Groups
    source: Groups

    @classmethod
    def of(cls, documents: Mapping[int, Described]) -> Credit:
        """The credits of described documents; positions that were never ranked earn nothing."""
        size = max(documents, default=-1) + 1
        rows = [documents.get(position) for position in range(size)]
        return cls(
            Groups.of([row.chunks if row else () for row in rows]),
            Groups.of([row.sources if row else () for row in rows]),
        )

    def under(self, rule: str) -> Groups:
        """The credits under ``raw`` or ``source``."""
        return self.source if rule == "source" else self.raw


@dataclass(frozen=True)
class Hits:
    """Every piece of evidence that any document of a ranking is credited with, found before or not.

    Attributes:
        question, rank, chunk: int64, in the order of the ranking; rank is 0-based.
    """

    question: NDArray[np.int64]
    rank: NDArray[np.int64]
    chunk: NDArray[np.int64]


def hits_of(ranking: Ranking, credit: Groups, evidence: Groups, k: int | None = None) -> Hits:
    """Which documents are credited with which evidence.

    Args:
        ranking: documents by question.
        credit: document position → chunks that it earns credit for.
        evidence: question → chunks, aligned with the ranking.
        k: only the first k documents of every question; all by default.
    """
    lengths = np.diff(ranking.offsets) if k is None else np.minimum(np.diff(ranking.offsets), k)
    places = _spans(ranking.offsets[:-1], lengths)
    positions = ranking.positions[places]
    sizes = credit.counts()[positions]
    # one number for question and chunk, so that one search settles both
    n_chunks = 1 + int(max(credit.values.max(initial=0), evidence.values.max(initial=0)))
    firsts = np.arange(len(ranking)) * n_chunks
    credited = np.repeat(np.repeat(firsts, lengths), sizes)
    credited += credit.values[_spans(credit.offsets[positions], sizes)]
    wanted = np.sort(np.repeat(firsts, evidence.counts()) + evidence.values)
    # -1 equals no number: it stands where the search ends behind the last
    hit = np.flatnonzero(np.append(wanted, -1)[np.searchsorted(wanted, credited)] == credited)
    question, chunk = np.divmod(credited[hit], n_chunks)
    return Hits(question, np.repeat(places, sizes)[hit] - ranking.offsets[question], chunk)


def _spans(begins: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers from ``begins[i]`` to ``begins[i] + lengths[i] - 1``, for one i after the other, int64."""
    numbers = np.repeat(begins + lengths - np.cumsum(lengths), lengths)
    numbers += np.arange(len(numbers))
    return numbers


def find_evidence(hits: Hits, total: NDArray[np.int64]) -> Found:
    """Where each piece of evidence is first found.

    Args:
        hits: what the ranking's documents are credited with.
        total: int64, pieces of evidence a question, those that cannot be found included.
    """
    # unique() returns the first place of every (question, chunk), and places are in rank order
    keys = hits.question * (int(hits.chunk.max(initial=0)) + 1) + hits.chunk
    first = np.unique(keys, return_index=True)[1]
    question, rank = hits.question[first], hits.rank[first]
    order = np.lexsort((rank, question))
    return Found(question[order], rank[order], total)


def score(ranking: Ranking, labels: Labels, credit: Credit, measures: Sequence[Measure]) -> Scores:
    """Score a ranking.

    Args:
        ranking: documents by question; its depth must reach every measure's cut-off.
        labels: for the same questions in the same order.
        credit: which chunks each document earns credit for.
        measures: what to compute.

    Raises:
        UsageProblem: question sets differ, or the ranking is too shallow for a measure.
    """
    check_same_questions(ranking.questions, labels.ids)
    # what stands below the deepest cut-off earns nothing under any measure
    deepest = max((measure.k for measure in measures), default=0)
    cache: dict[tuple[str, str], Found] = {}
    values: dict[Measure, FloatArray] = {}
    unavailable: dict[Measure, dict[str, str]] = {}
    adversarial = np.array([category == "adversarial" for category in labels.categories], dtype=bool)
    for measure in measures:
        if measure.k > ranking.depth:
            what = f"{measure} needs {measure.k} documents a question and the ranking was made to depth {ranking.depth}"
            raise UsageProblem(what, fix=f"rank to depth {measure.k} or choose a smaller cut-off")
        key = (measure.credit, measure.evidence)
        if key not in cache:
            evidence, total = evidence_under(labels, measure)
            cache[key] = find_evidence(hits_of(ranking, credit.under(measure.credit), evidence, deepest), total)
        found = cache[key]
        value = FORMULAS[measure.name](found, measure.k)
        value[found.total == 0] = np.nan if measure.empty == "skip" else float(measure.empty)
        why = {labels.ids[i]: NO_EVIDENCE for i in np.flatnonzero(np.isnan(value))}
        if measure.adversarial == "out":
            value[adversarial] = np.nan
            why.update({labels.ids[i]: NOT_ADVERSARIAL for i in np.flatnonzero(adversarial)})
        values[measure], unavailable[measure] = value, why
    return Scores(ranking.questions, values, unavailable)


def evidence_under(labels: Labels, measure: Measure) -> tuple[Groups, NDArray[np.int64]]:
    """Question → evidence under a measure's convention, and int64, the pieces there are, findable or not."""
    evidence = evidence_of(labels, measure.evidence)
    if measure.evidence == "published":
        return evidence, labels.n_published.astype(np.int64)
    return evidence, evidence.counts()


def check_same_questions(ranked: Sequence[str], judged: Sequence[str]) -> None:
    """Refuse to score or compare different question sets, with examples from both sides.

    Raises:
        UsageProblem: the ids, or their order, differ.
    """
    if tuple(ranked) == tuple(judged):
        return
    left, right = set(ranked), set(judged)
    only_left, only_right = sorted(left - right)[:3], sorted(right - left)[:3]
    if not only_left and not only_right:
        raise UsageProblem("the questions stand in another order", allowed="one frozen question order")
    counts = f"{len(left - right)} only ranked {only_left}, {len(right - left)} only judged {only_right}"
    what = f"question sets differ: {counts}"
    raise UsageProblem(what, allowed="one frozen question set", fix="use rankings and labels of the same benchmark")
