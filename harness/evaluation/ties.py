"""What equal scores hide: the least, expected and greatest value of a measure over all orders of tied documents.

Exact, after McSherry & Najork (2008), extended to documents that are credited with several pieces of evidence or
share them. Every order of equally scored documents is equally likely; groups of ties are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import Labels
from harness.evaluation.measure import Measure
from harness.evaluation.scores import Credit, Hits, evidence_under, hits_of, score
from harness.evaluation.tie_values import Block, value_range
from harness.retrieval.ranking import Ranking


@dataclass(frozen=True)
class Cut:
    """How often ties matter at a cut-off; read from scores alone, without a label.

    Attributes:
        inside: questions with a tie among the first k documents.
        across: questions with a tie between ranks k and k + 1.
        between: those of them whose tied documents are of several kinds; None where kinds were not given.
        open: questions whose ranking ends inside the group at the cut, so that more of it may be missing.
    """

    inside: int
    across: int
    between: int | None
    open: int


@dataclass(frozen=True)
class Range:
    """A measure over all orders of ties: means over the questions with a score, in [0, 1], higher is better.

    Attributes:
        ranked: the mean of the order that the ranking has.
        least, expected, greatest: None where they cannot be told exactly.
        n: questions with a score.
        moved: questions whose score depends on the order of ties.
        unavailable: why the three are None, else empty.
    """

    ranked: float | None
    least: float | None
    expected: float | None
    greatest: float | None
    n: int
    moved: int
    unavailable: str = ""


@dataclass(frozen=True)
class TieReport:
    """Ties of one ranking.

    Attributes:
        questions: how many there are.
        cuts: cut-off → how often ties matter there.
        ranges: measure → its values over all orders of ties.
    """

    questions: int
    cuts: Mapping[int, Cut]
    ranges: Mapping[Measure, Range]

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for records and pages."""
        return {
            "questions": self.questions,
            "cuts": {str(k): asdict(cut) for k, cut in self.cuts.items()},
            "ranges": {str(measure): asdict(found) for measure, found in self.ranges.items()},
        }


def tie_report(
    ranking: Ranking,
    credit: Credit,
    labels: Labels,
    measures: Sequence[Measure],
    kinds: Mapping[int, str] | None = None,
) -> TieReport:
    """Report the ties of a ranking.

    Args:
        ranking: documents by question, with scores, deeper than every cut-off: a group of ties that reaches the
            last place asked for may go on below it, and then no exact value can be given.
        credit: which chunks each document earns credit for.
        labels: for the same questions in the same order.
        measures: what to report.
        kinds: document position → what tells documents apart, such as their layer.

    Raises:
        UsageProblem: as for `harness.evaluation.scores.score`.
    """
    scores = score(ranking, labels, credit, measures)
    groups = _Groups.of(ranking)
    cuts = {k: groups.cut(k, kinds) for k in sorted({measure.k for measure in measures})}
    blocks: dict[tuple[str, str], dict[int, list[Block]]] = {}
    ranges = {}
    for measure in measures:
        evidence, total = evidence_under(labels, measure)
        key = (measure.credit, measure.evidence)
        if key not in blocks:
            deepest = max(other.k for other in measures if (other.credit, other.evidence) == key)
            blocks[key] = groups.blocks(hits_of(ranking, credit.under(measure.credit), evidence), deepest)
        ranked, open_cut = scores.values[measure], groups.open_at(measure.k)
        ranges[measure] = _range(measure, ranking.questions, ranked, total, blocks[key], open_cut)
    return TieReport(len(ranking), cuts, ranges)


def _range(
    measure: Measure,
    questions: Sequence[str],
    ranked: NDArray[np.float64],
    total: NDArray[np.int64],
    blocks: Mapping[int, list[Block]],
    open_cut: NDArray[np.bool_],
) -> Range:
    scored = ~np.isnan(ranked)
    n, moved = int(scored.sum()), 0
    if not n:
        return Range(None, None, None, None, 0, 0, "no question has a score")
    mean = float(ranked[scored].mean())
    wanted = scored & (total > 0)
    if (open_cut & wanted).any():
        many = f"in {int((open_cut & wanted).sum())} of {n} questions the ranking ends inside the group at the cut"
        return Range(mean, None, None, None, n, 0, f"{many}, and more equal scores may follow")
    table = np.stack([ranked, ranked, ranked])
    for question, found in blocks.items():
        # where no tied document is credited with anything, the order that the ranking has stands for all
        if wanted[question] and any(block.start < measure.k and block.size > 1 for block in found):
            values = value_range(measure.name, measure.k, found, int(total[question]))
            if values is None:
                why = f"{questions[question]}: too many documents with shared evidence are tied to try all orders"
                return Range(mean, None, None, None, n, 0, why)
            table[:, question] = values
            moved += values[2] - values[0] > 1e-12
    least, expected, greatest = (float(row[scored].mean()) for row in table)
    return Range(mean, least, expected, greatest, n, moved)


@dataclass(frozen=True)
class _Groups:
    """The groups of equal scores, for every retrieved document.

    Attributes:
        ranking: what they are groups of.
        owner, rank: int64, its question and 0-based rank.
        start, size: int64, first rank of its group, and the group's documents.
    """

    ranking: Ranking
    owner: NDArray[np.int64]
    rank: NDArray[np.int64]
    start: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def of(cls, ranking: Ranking) -> _Groups:
        lengths = np.diff(ranking.offsets)
        owner = np.repeat(np.arange(len(ranking)), lengths)
        rank = np.arange(len(owner)) - np.repeat(ranking.offsets[:-1], lengths)
        first = np.ones(len(owner), dtype=bool)
        # equal as float64, as the ranking itself compares
        first[1:] = (owner[1:] != owner[:-1]) | (ranking.scores[1:] != ranking.scores[:-1])
        begins = np.flatnonzero(first)
        group = np.cumsum(first) - 1
        sizes = np.diff(np.append(begins, len(owner)))
        return cls(ranking, owner, rank, rank[begins][group], sizes[group])

    def open_at(self, k: int) -> NDArray[np.bool_]:
        """Questions whose ranking may have been cut inside the group that holds rank k, bool (n_questions)."""
        lengths = np.diff(self.ranking.offsets)
        found = np.zeros(len(self.ranking), dtype=bool)
        at = self.rank == k - 1
        ends = (self.start + self.size)[at] == lengths[self.owner[at]]
        found[self.owner[at]] = ends & (lengths[self.owner[at]] >= self.ranking.depth)
        return found

    def cut(self, k: int, kinds: Mapping[int, str] | None) -> Cut:
        """The label-free figures at cut-off ``k``."""
        tied_with_previous = (self.rank > self.start) & (self.rank < k)
        crossing = (self.start < k) & (self.start + self.size > k)
        between = None
        if kinds is not None:
            seen: dict[int, set[str]] = {}
            for question, position in zip(
                self.owner[crossing].tolist(), self.ranking.positions[crossing].tolist(), strict=True
            ):
                seen.setdefault(question, set()).add(kinds[position])
            between = sum(len(found) > 1 for found in seen.values())
        return Cut(
            len(np.unique(self.owner[tied_with_previous])),
            len(np.unique(self.owner[crossing])),
            between,
            int(self.open_at(k).sum()),
        )

    def blocks(self, hits: Hits, k: int) -> dict[int, list[Block]]:
        """Question → the groups that begin above rank ``k`` and hold credited documents, best first.

        Only questions in which one of them is a tie.
        """
        place = self.ranking.offsets[hits.question] + hits.rank
        start, size = self.start[place], self.size[place]
        chosen = start < k
        tied = np.unique(hits.question[chosen & (size > 1)])
        chosen &= np.isin(hits.question, tied)
        columns = (hits.question, start, size, hits.rank, hits.chunk)
        rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
        return {question: list(_gathered(found)) for question, found in _by_question(rows).items()}


def _by_question(rows: Iterator[tuple[int, ...]]) -> dict[int, list[tuple[int, ...]]]:
    found: dict[int, list[tuple[int, ...]]] = {}
    for question, *rest in rows:
        found.setdefault(question, []).append(tuple(rest))
    return found


def _gathered(rows: Sequence[tuple[int, ...]]) -> Iterator[Block]:
    """The groups of one question, with each credited document's evidence as a set of bits."""
    bits: dict[int, int] = {}
    masks: dict[tuple[int, int], dict[int, int]] = {}
    for start, size, rank, chunk in rows:
        bit = bits.setdefault(chunk, 1 << len(bits))
        documents = masks.setdefault((start, size), {})
        documents[rank] = documents.get(rank, 0) | bit
    for (start, size), documents in masks.items():
        yield Block(start, size, tuple(documents.values()))
