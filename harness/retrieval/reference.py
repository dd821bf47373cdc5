"""BM25 on the rank_bm25 library: slow, short, and what our own engine is held against."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from rank_bm25 import BM25Okapi

from harness.retrieval.documents import Documents
from harness.retrieval.lexical import top_k
from harness.retrieval.ranking import Ranking


class ReferenceBM25(BM25Okapi):  # type: ignore[misc] # rank_bm25 ships no types
    """BM25Okapi with an idf that never turns negative, instead of its epsilon floor."""

    def _calc_idf(self, nd: Mapping[str, int]) -> None:
        for term, containing in nd.items():
            self.idf[term] = math.log((self.corpus_size - containing + 0.5) / (containing + 0.5) + 1)

    def get_scores(self, query: Sequence[str]) -> NDArray[np.float64]:
        """The score of every document, float64 (n); a term that a document lacks adds nothing."""
        if self.k1 and self.b < 1:
            return np.asarray(super().get_scores(query), dtype=np.float64)
        # with k1 = 0, or b = 1 and an empty document, the library divides zero by zero where a term is absent
        scores = np.zeros(self.corpus_size)
        with np.errstate(invalid="ignore"):
            for term in query:
                scores += np.nan_to_num(super().get_scores([term]))
        return scores


def search(
    documents: Documents,
    questions: Sequence[str],
    tokens: Sequence[Sequence[str]],
    partition: NDArray[np.int32],
    *,
    depth: int,
    k1: float,
    b: float,
) -> Ranking:
    """Rank as `harness.retrieval.lexical` does, one question and one partition at a time."""
    rows: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = [
        (np.zeros(0, np.int64), np.zeros(0, np.float64)) for _ in questions
    ]
    for number in np.unique(partition):
        members = np.flatnonzero(documents.partition == number)
        corpus = [list(documents.tokens[i]) for i in members.tolist()]
        if not any(corpus):
            continue
        engine = ReferenceBM25(corpus, k1=k1, b=b, epsilon=0)
        for question in np.flatnonzero(partition == number).tolist():
            scores = engine.get_scores(list(tokens[question]))
            _, columns, values = top_k(scores[None, :], depth)
            rows[question] = (members[columns], values)
    lengths = np.array([len(found) for found, _ in rows], dtype=np.int64)
    return Ranking(
        tuple(questions),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        documents.positions[np.concatenate([found for found, _ in rows] or [np.zeros(0, np.int64)])],
        np.concatenate([values for _, values in rows] or [np.zeros(0)]),
        depth,
    )
