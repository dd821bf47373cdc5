"""The ranking: one total order of documents for each question, and its way in and out as TREC files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.digest import digest_rows
from harness.errors import UsageProblem


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
        rank = np.arange(len(self.positions)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))
        keep = rank < k
        counts = np.minimum(np.diff(self.offsets), k)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        return Ranking(self.questions, offsets, self.positions[keep], self.scores[keep], min(k, self.depth))

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


def write_trec(ranking: Ranking, documents: Sequence[str], path: Path, tag: str = "harness") -> None:
    """Write a TREC run file.

    The score column is derived from the rank and strictly decreasing, because distinct float64 scores can
    become equal in an evaluator that holds float32, and would then be ordered by document name.

    Args:
        ranking: what to write.
        documents: a name for each document position, without blanks.
        path: the file.
        tag: the run's name, the last column.
    """
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        for question, found in ranking.rows():
            for rank, position in enumerate(found, start=1):
                score = len(found) + 1 - rank
                handle.write(f"{question} Q0 {documents[position]} {rank} {score} {tag}\n")


def read_trec(path: Path, documents: Mapping[str, int], questions: Sequence[str]) -> Ranking:
    """Read a TREC run file; rows are ordered by score, then by their order in the file.

    Args:
        path: lines of ``question Q0 document rank score tag``.
        documents: name → position.
        questions: the question ids in order; a question without rows has an empty ranking.

    Raises:
        UsageProblem: a malformed line, an unknown question or document, a document twice for one question,
            or a score that is not a finite number; each names the line.
    """
    known = set(questions)
    rows: dict[str, list[tuple[float, int]]] = {question: [] for question in questions}
    seen: set[tuple[str, int]] = set()
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise UsageProblem("no such run file", where=str(path), fix="give the path of a TREC run file") from None
    except (UnicodeDecodeError, IsADirectoryError):
        raise UsageProblem("not a text file", where=str(path), allowed="a TREC run file in UTF-8") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        question, position, score = _parse_line(line, where, documents, known)
        if (question, position) in seen:
            raise UsageProblem(f"document {line.split()[2]!r} twice for question {question!r}", where=where,
                               allowed="each document once", fix="remove one of the lines")  # fmt: skip
        seen.add((question, position))
        rows[question].append((score, position))
    ordered = [sorted(found, key=lambda pair: -pair[0]) for found in rows.values()]
    lengths = np.array([len(found) for found in ordered], dtype=np.int64)
    return Ranking(
        tuple(questions),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        np.array([position for found in ordered for _, position in found], dtype=np.int32),
        np.array([score for found in ordered for score, _ in found], dtype=np.float64),
        int(lengths.max(initial=0)),
    )


def _parse_line(line: str, where: str, documents: Mapping[str, int], known: set[str]) -> tuple[str, int, float]:
    fields = line.split()
    if len(fields) != 6:
        raise UsageProblem(f"{len(fields)} columns", where=where, allowed="question Q0 document rank score tag")
    question, _, document, _, text, _ = fields
    if question not in known:
        example = next(iter(sorted(known)), "none")
        raise UsageProblem(f"unknown question {question!r}", where=where, allowed=f"ids such as {example}")
    if document not in documents:
        example = next(iter(documents), "none")
        raise UsageProblem(f"unknown document {document!r}", where=where, allowed=f"ids such as {example}")
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise UsageProblem(f"score {text!r}", where=where, allowed="a finite number")
    return question, documents[document], score
