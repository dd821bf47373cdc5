"""BM25 over precomputed postings, with statistics local to each partition.

Robertson & Zaragoza (2009), with idf = ln((N - n + 0.5) / (n + 0.5) + 1), which is positive for every term, so
that a matching document outranks one that does not match, in the smallest memory too.

The order is the same as that of `harness.retrieval.reference`, to the last tie: every float64 operation is done
in the same sequence there and here, and IEEE 754 does the rest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count, repeat

import numpy as np
from numpy.typing import NDArray

from harness.retrieval.documents import Documents
from harness.retrieval.ranking import Ranking

# score cells (questions × documents) held at once: 32 MB of float64
_BLOCK_CELLS = 4_000_000

# the least positive float64: a document that matches nothing scores 0 and is not retrieved
_LEAST = math.ulp(0.0)


@dataclass(frozen=True)
class LexicalIndex:
    """Postings of every (partition, term) pair, sorted by pair and then by document.

    Attributes:
        documents: what is indexed, in tie order.
        vocabulary: term → number.
        pairs: int64, sorted ``partition * len(vocabulary) + term``.
        starts: int64 (n_pairs + 1), where a pair's postings begin.
        posting_documents: int64, index into ``documents``.
        posting_weights: float64, the term's contribution to that document's score.
        bounds: int64 (n_partitions + 1), where a partition's documents begin.
    """

    documents: Documents
    vocabulary: dict[str, int]
    pairs: NDArray[np.int64]
    starts: NDArray[np.int64]
    posting_documents: NDArray[np.int64]
    posting_weights: NDArray[np.float64]
    bounds: NDArray[np.int64]

    def search(
        self, questions: Sequence[str], tokens: Sequence[Sequence[str]], partition: NDArray[np.int32], depth: int
    ) -> Ranking:
        """Rank the documents of each question's partition.

        Args:
            questions: ids.
            tokens: one token list a question; a repeated token counts again.
            partition: int32 (n_questions).
            depth: the most documents to return; those with a score of 0 are never returned.
        """
        lengths = np.zeros(len(questions), dtype=np.int64)
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]] = []
        for number in np.unique(partition):
            members = np.flatnonzero(partition == number)
            size = int(self.bounds[number + 1] - self.bounds[number]) if number + 1 < len(self.bounds) else 0
            if not size:
                continue
            step = max(1, _BLOCK_CELLS // size)
            for begin in range(0, len(members), step):
                block = members[begin : begin + step]
                rows, documents, scores = self._search_block([tokens[i] for i in block], int(number), depth)
                lengths[block] = np.bincount(rows, minlength=len(block))
                found.append((block[rows], documents, scores))
        return self._collect(tuple(questions), lengths, found, depth)

    def _search_block(
        self, tokens: Sequence[Sequence[str]], number: int, depth: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        first, last = int(self.bounds[number]), int(self.bounds[number + 1])
        owner, terms = _flatten(tokens, self.vocabulary)
        keys = number * len(self.vocabulary) + terms
        place = np.searchsorted(self.pairs, keys)
        known = place < len(self.pairs)
        known[known] = self.pairs[place[known]] == keys[known]
        owner, place = owner[known], place[known]
        counts = self.starts[place + 1] - self.starts[place]
        ends = np.cumsum(counts)
        shift = np.repeat(self.starts[place] - (ends - counts), counts)
        postings = np.arange(int(ends[-1]) if len(ends) else 0) + shift
        cells = np.repeat(owner, counts) * (last - first) + self.posting_documents[postings] - first
        # bincount adds in the order of its input, which is the order of the question's tokens
        size = len(tokens) * (last - first)
        scores = np.bincount(cells, self.posting_weights[postings], minlength=size).astype(np.float64, copy=False)
        rows, documents, values = top_k(scores.reshape(len(tokens), last - first), depth)
        return rows, documents + first, values

    def _collect(
        self,
        questions: tuple[str, ...],
        lengths: NDArray[np.int64],
        found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]],
        depth: int,
    ) -> Ranking:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        if not found:
            return Ranking(questions, offsets, np.zeros(0, np.int32), np.zeros(0, np.float64), depth)
        owner, documents, scores = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(owner, kind="stable")
        return Ranking(questions, offsets, self.documents.positions[documents[order]], scores[order], depth)


def build_index(documents: Documents, *, k1: float, b: float) -> LexicalIndex:
    """Index documents.

    Args:
        documents: token lists with their partitions; a document without tokens is legal and never found.
        k1: how quickly repetitions of a term saturate.
        b: how strongly long documents are discounted, 0 to 1.
    """
    lengths = np.fromiter(map(len, documents.tokens), dtype=np.int64, count=len(documents))
    # a new term gets the next number; map and fromiter keep the loop out of Python's own bytecode
    numbering: defaultdict[str, int] = defaultdict(count().__next__)
    flat = chain.from_iterable(documents.tokens)
    terms = np.fromiter(map(numbering.__getitem__, flat), dtype=np.int64, count=int(lengths.sum()))
    vocabulary = dict(numbering)
    owner = np.repeat(np.arange(len(documents)), lengths)
    n_partitions = int(documents.partition.max(initial=-1)) + 1
    bounds = np.searchsorted(documents.partition, np.arange(n_partitions + 1)).astype(np.int64)
    pair_of_token = documents.partition[owner].astype(np.int64) * max(1, len(vocabulary)) + terms
    keys, frequency = np.unique(pair_of_token * max(1, len(documents)) + owner, return_counts=True)
    pair, document = np.divmod(keys, max(1, len(documents)))
    # pairs are sorted already: a new one begins wherever the value changes
    starts = (
        np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1], [True]])) if len(pair) else np.zeros(1, np.int64)
    )
    pairs = pair[starts[:-1]]
    sizes = np.diff(bounds)
    totals = np.bincount(documents.partition, weights=lengths, minlength=n_partitions)
    average = totals / np.maximum(sizes, 1)
    idf = inverse_document_frequency(sizes[pairs // max(1, len(vocabulary))], np.diff(starts))
    length_norm = 1 - b + b * lengths[document] / average[documents.partition[document]]
    weights = np.repeat(idf, np.diff(starts)) * (frequency * (k1 + 1) / (frequency + k1 * length_norm))
    return LexicalIndex(documents, vocabulary, pairs, starts, document, weights, bounds)


def inverse_document_frequency(size: NDArray[np.int64], containing: NDArray[np.int64]) -> NDArray[np.float64]:
    """``ln((N - n + 0.5) / (n + 0.5) + 1)`` for collection sizes N and document frequencies n, float64.

    By ``math.log``, one call a distinct pair: numpy's vectorised logarithm differs from it in the last bit on
    some processors, and the reference engine uses ``math.log``.
    """
    width = int(containing.max(initial=0)) + 1
    distinct, place = np.unique(size * width + containing, return_inverse=True)
    values = [
        math.log((n_all - n + 0.5) / (n + 0.5) + 1) for n_all, n in (divmod(key, width) for key in distinct.tolist())
    ]
    return np.array(values, dtype=np.float64)[place]


def top_k(scores: NDArray[np.float64], depth: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """The positive entries of each row, at most ``depth``, score descending and then by column.

    Returns:
        Rows (never decreasing), columns and scores, aligned.
    """
    height, width = scores.shape
    threshold = np.full((height, 1), _LEAST)
    if depth < width:
        # every column equal to the threshold stays in, so that the tie rule and not the partition decides
        kth = np.partition(scores, width - depth, axis=1)[:, width - depth : width - depth + 1]
        threshold = np.maximum(threshold, kth)
    cells = np.flatnonzero(scores >= threshold)
    rows, columns = np.divmod(cells, width)
    values = scores.ravel()[cells]
    # cells come row by row and column by column, and lexsort is stable: ties stay in column order
    order = np.lexsort((-values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    counts = np.bincount(rows, minlength=height)
    keep = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts) < depth
    return rows[keep], columns[keep], values[keep]


def _flatten(
    tokens: Sequence[Sequence[str]], vocabulary: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Owner and term number of every known token, in order."""
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    flat = chain.from_iterable(tokens)
    terms = np.fromiter(map(vocabulary.get, flat, repeat(-1)), dtype=np.int64, count=int(lengths.sum()))
    owner = np.repeat(np.arange(len(tokens)), lengths)
    return owner[terms >= 0], terms[terms >= 0]
