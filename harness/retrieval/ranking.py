"""The ranking: one total order of documents for each question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.digest import digest_rows


@dataclass(frozen=True)
class Ranking:
    """Ranked documents of every question as flat arrays.

    Documents are chunks or edges by their position in the benchmark. The order is total: score descending,
    then the tie rule; nothing downstream sorts again.

    Attributes:
        questions: question ids.
        offsets: int64 (n_questions + 1); question i holds ``positions[offsets[i]:offsets[i + 1]]``.
        positions: int32, best first; -1 never appears, nor does a document twice for one question.
        scores: float64, higher is better, never increasing within a question.
        depth: the most documents that were asked for.
    """

    questions: tuple[str, ...]
    offsets: NDArray[np.int64]
    positions: NDArray[np.int32]
    scores: NDArray[np.float64]
    depth: int

    def __len__(self) -> int:
        return len(self.questions)

    def row(self, index: int) -> list[int]:
        """Documents of question ``index``, best first."""
        found: list[int] = self.positions[self.offsets[index] : self.offsets[index + 1]].tolist()
        return found

    def rows(self) -> Iterator[tuple[str, list[int]]]:
        """Question id and documents, question by question."""
        for index, question in enumerate(self.questions):
            yield question, self.row(index)

    def cut(self, k: int) -> Ranking:
        """The first ``k`` documents of every question."""
        return replace(self.shortened(np.full(len(self), k)), depth=min(k, self.depth))

    def shortened(self, lengths: NDArray[np.int64]) -> Ranking:
        """The first ``lengths[i]`` documents of question ``i``, int64 (n_questions), still of this depth."""
        present = np.diff(self.offsets)
        keep = np.arange(len(self.positions)) - np.repeat(self.offsets[:-1], present) < np.repeat(lengths, present)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.minimum(present, lengths))])
        return replace(self, offsets=offsets, positions=self.positions[keep], scores=self.scores[keep])

    def to_depth(self, depth: int) -> Ranking:
        """The first ``depth`` documents of every question, as if no more had been asked for."""
        return replace(self.cut(depth), depth=depth)

    def take(self, indices: NDArray[np.int64]) -> Ranking:
        """The rankings of the questions at ``indices``, in that order."""
        rows = [slice(int(self.offsets[i]), int(self.offsets[i + 1])) for i in indices]
        lengths = np.array([row.stop - row.start for row in rows], dtype=np.int64)
        pick = np.concatenate([np.arange(row.start, row.stop) for row in rows] or [np.zeros(0, np.int64)])
        return Ranking(
            tuple(self.questions[int(i)] for i in indices),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            self.positions[pick],
            self.scores[pick],
            self.depth,
        )

    def same_order(self, other: Ranking) -> bool:
        """Whether both rank the same documents in the same order for the same questions."""
        return self.questions == other.questions and list(self.rows()) == list(other.rows())

    def digest(self) -> str:
        """Digest of questions and positions; scores are left out, their last bits differ between processors."""
        return digest_rows("ranking/1", ([question, found] for question, found in self.rows()))


def joined(parts: Sequence[Ranking], questions: Sequence[str], depth: int) -> Ranking:
    """Rankings of disjoint question sets as one, in the order of ``questions``."""
    place: dict[str, tuple[Ranking, int]] = {}
    for part in parts:
        for index, question in enumerate(part.questions):
            place[question] = (part, index)
    lengths, positions, scores = [], [], []
    for question in questions:
        part, index = place[question]
        span = slice(int(part.offsets[index]), int(part.offsets[index + 1]))
        positions.append(part.positions[span])
        scores.append(part.scores[span])
        lengths.append(span.stop - span.start)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(lengths, dtype=np.int64))])
    empty_positions, empty_scores = np.zeros(0, np.int32), np.zeros(0, np.float64)
    return Ranking(
        tuple(questions),
        offsets.astype(np.int64),
        np.concatenate(positions or [empty_positions]),
        np.concatenate(scores or [empty_scores]),
        depth,
    )
