"""What a measure makes of the ranks at which evidence was found: one function for each name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Found:
    """Every piece of evidence that a ranking found, at the rank of the first document that has it.

    Attributes:
        question: int64, index of the question, never decreasing.
        rank: int64, 0-based, never decreasing within a question.
        total: int64 (n_questions), pieces of evidence there are.
    """

    question: NDArray[np.int64]
    rank: NDArray[np.int64]
    total: NDArray[np.int64]


def success(found: Found, k: int) -> FloatArray:
    """1 where anything was found in the first k documents."""
    return (_count(found, k) > 0).astype(np.float64)


def all_success(found: Found, k: int) -> FloatArray:
    """1 where all evidence was found in the first k documents."""
    complete: NDArray[np.bool_] = _count(found, k) == found.total
    return complete.astype(np.float64)


def recall(found: Found, k: int) -> FloatArray:
    """Share of the evidence found in the first k documents."""
    share: FloatArray = _count(found, k) / np.maximum(found.total, 1)
    return share


def reciprocal_rank(found: Found, k: int) -> FloatArray:
    """1 / rank of the first document, of the first k, that finds something; 0 if none does."""
    value = np.zeros(len(found.total))
    question, first = np.unique(found.question, return_index=True)
    rank = found.rank[first]
    value[question] = np.where(rank < k, 1.0 / (rank + 1), 0.0)
    return value


def ndcg(found: Found, k: int) -> FloatArray:
    """Discounted gain over the best possible (Järvelin & Kekäläinen 2002), base 2, binary gain a document.

    A document gains once if it finds anything new. The ideal ranking finds one piece of evidence at each of
    its first ranks, so the value never exceeds 1.
    """
    return _discounted(found, discounts("nDCG", k))


def ndcg_any(found: Found, k: int) -> FloatArray:
    """As `ndcg`, with the discount of LongMemEval's own evaluation (Wu et al. 2025): the first two ranks weigh 1."""
    return _discounted(found, discounts("ndcg_any", k))


def discounts(name: str, k: int) -> FloatArray:
    """What a gain at each of the first k ranks weighs under ``nDCG`` or ``ndcg_any``, float64 (k)."""
    rank = np.arange(1, k + 1)
    weights: FloatArray = 1.0 / np.log2(np.maximum(rank, 2) if name == "ndcg_any" else rank + 1)
    return weights


def _discounted(found: Found, weights: FloatArray) -> FloatArray:
    k = len(weights)
    question, rank, _ = _finders(found, k)
    gained = np.bincount(question, weights[rank], minlength=len(found.total))
    ideal = np.concatenate([np.zeros(1), np.cumsum(weights)])
    value: FloatArray = gained / np.maximum(ideal[np.minimum(found.total, k)], 1.0)
    return value


def precision(found: Found, k: int) -> FloatArray:
    """Share of the first k documents that find something new; k is the divisor however few were retrieved."""
    share: FloatArray = np.bincount(_finders(found, k)[0], minlength=len(found.total)) / k
    return share


def average_precision(found: Found, k: int) -> FloatArray:
    """Precision at each document of the first k that finds something new, summed, over the pieces of evidence.

    Cut as trec_eval's ``map_cut`` (Buckley & Voorhees): evidence that is not found counts as a precision of 0.
    """
    question, rank, nth = _finders(found, k)
    summed = np.bincount(question, nth / (rank + 1), minlength=len(found.total))
    value: FloatArray = summed / np.maximum(found.total, 1)
    return value


def _finders(found: Found, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Question and rank of each document of the first k that finds something new, and the how manieth it is."""
    width = int(found.rank.max(initial=0)) + 1
    documents = np.unique(found.question * width + found.rank)
    question, rank = documents // width, documents % width
    question, rank = question[rank < k], rank[rank < k]
    nth = np.arange(len(question)) - np.searchsorted(question, question) + 1
    return question, rank, nth


def _count(found: Found, k: int) -> NDArray[np.int64]:
    return np.bincount(found.question[found.rank < k], minlength=len(found.total))


FORMULAS = {
    "Success": success,
    "AllSuccess": all_success,
    "R": recall,
    "RR": reciprocal_rank,
    "nDCG": ndcg,
    "P": precision,
    "AP": average_precision,
    "ndcg_any": ndcg_any,
}
