"""BM25 over precomputed postings, with statistics local to each partition.

Robertson & Zaragoza (2009), with idf = ln((N - n + 0.5) / (n + 0.5) + 1), which is positive for every term, so
that a matching document outranks one that does not match, in the smallest memory too.

The order is the same as that of `harness.retrieval.reference`, to the last tie: every float64 operation is done
in the same sequence there and here, and IEEE 754 does the rest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise, repeat

import numpy as np
from numpy.typing import NDArray

from harness.retrieval.documents import Documents
from harness.retrieval.ranking import Ranking
from harness.retrieval.top_k import top_k as top_k  # the reference engine takes it from here

# score cells (questions × documents) held at once: 1 MB of float64, so that a block stays in a processor's cache
_BLOCK_CELLS = 128_000
# tokens of the partitions that are indexed together: enough to sort, and little beside the whole of a large store
_BLOCK_TOKENS = 1_000_000


@dataclass(frozen=True)
class LexicalIndex:
    """Postings of every (partition, term) pair, sorted by pair and then by document.

    Attributes:
        documents: what is indexed, in tie order.
        vocabulary: term → number.
        pairs: int64, sorted ``partition * len(vocabulary) + term``.
        starts: int64 (n_pairs + 1), where a pair's postings begin.
        posting_places: int64, the document's place within its partition.
        posting_weights: float64, the term's contribution to that document's score.
        bounds: int64 (n_partitions + 1), where a partition's documents begin.
    """

    documents: Documents
    vocabulary: dict[str, int]
    pairs: NDArray[np.int64]
    starts: NDArray[np.int64]
    posting_places: NDArray[np.int64]
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
        known = np.flatnonzero(partition < len(self.bounds) - 1)
        sizes = np.zeros(len(questions), dtype=np.int64)
        sizes[known] = self.bounds[partition[known] + 1] - self.bounds[partition[known]]
        # the largest partitions first: a block is as wide as its first question needs, whatever partitions are in it
        order = np.argsort(-sizes, kind="stable")[: np.count_nonzero(sizes)]
        asked = self._look_up([tokens[i] for i in order.tolist()], partition[order])
        lengths = np.zeros(len(order), dtype=np.int64)
        found: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
        begin = 0
        while begin < len(order):
            width = int(sizes[order[begin]])
            end = min(len(order), begin + max(1, _BLOCK_CELLS // width))
            rows, places, scores = top_k(self._scores(asked, begin, end, width), depth)
            lengths[begin:end] = np.bincount(rows, minlength=end - begin)
            found.append((places, scores))
            begin = end
        return self._collect(tuple(questions), order, partition[order], lengths, found, depth)

    def _look_up(self, tokens: Sequence[Sequence[str]], partition: NDArray[np.int32]) -> _Asked:
        owner, terms = _flatten(tokens, self.vocabulary)
        keys = partition[owner].astype(np.int64) * len(self.vocabulary) + terms
        pair = np.searchsorted(self.pairs, keys)
        held = pair < len(self.pairs)
        held[held] = self.pairs[pair[held]] == keys[held]
        owner, pair = owner[held], pair[held]
        starts = self.starts[pair]
        offsets = np.searchsorted(owner, np.arange(len(tokens) + 1))
        return _Asked(offsets, owner, starts, self.starts[pair + 1] - starts)

    def _scores(self, asked: _Asked, begin: int, end: int, width: int) -> NDArray[np.float64]:
        """Scores of the questions from ``begin`` to ``end``, float64 (end - begin, width), 0 beyond a partition."""
        chosen = slice(int(asked.offsets[begin]), int(asked.offsets[end]))
        starts, counts = asked.starts[chosen], asked.counts[chosen]
        if end - begin == 1 and len(starts):
            # the postings of one question as they lie, without the cost of numbering them
            spans = [slice(first, first + size) for first, size in zip(starts.tolist(), counts.tolist(), strict=True)]
            cells = np.concatenate([self.posting_places[span] for span in spans])
            weights = np.concatenate([self.posting_weights[span] for span in spans])
        else:
            ends = np.cumsum(counts)
            postings = np.arange(int(ends[-1]) if len(ends) else 0)
            postings += np.repeat(starts - (ends - counts), counts)
            cells = np.repeat((asked.owner[chosen] - begin) * width, counts)
            cells += self.posting_places[postings]
            weights = self.posting_weights[postings]
        # bincount adds in the order of its input, which is the order of the question's tokens
        scores = np.bincount(cells, weights, minlength=(end - begin) * width)
        return scores.astype(np.float64, copy=False).reshape(end - begin, width)

    def _collect(
        self,
        questions: tuple[str, ...],
        order: NDArray[np.int64],
        partition: NDArray[np.int32],
        lengths: NDArray[np.int64],
        found: list[tuple[NDArray[np.int64], NDArray[np.float64]]],
        depth: int,
    ) -> Ranking:
        """The rows of ``order``, one after the other in ``found``, put where their questions stand."""
        counts = np.zeros(len(questions), dtype=np.int64)
        counts[order] = lengths
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
        if not found:
            return Ranking(questions, offsets, np.zeros(0, np.int32), np.zeros(0, np.float64), depth)
        places, scores = (np.concatenate(column) for column in zip(*found, strict=True))
        documents = places + np.repeat(self.bounds[partition], lengths)
        target = np.arange(len(places)) + np.repeat(offsets[order] - (np.cumsum(lengths) - lengths), lengths)
        positions, values = np.empty(len(places), self.documents.positions.dtype), np.empty_like(scores)
        positions[target], values[target] = self.documents.positions[documents], scores
        return Ranking(questions, offsets, positions, values, depth)


@dataclass(frozen=True)
class _Asked:
    """Where the postings of every question's tokens lie.

    Attributes:
        offsets: int64 (n_questions + 1), where a question's tokens begin.
        owner: int64, index of the token's question, never decreasing.
        starts, counts: int64, a token's first posting and how many there are.
    """

    offsets: NDArray[np.int64]
    owner: NDArray[np.int64]
    starts: NDArray[np.int64]
    counts: NDArray[np.int64]


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
    terms = np.fromiter(map(numbering.__getitem__, flat), dtype=np.int32, count=int(lengths.sum()))
    n_terms = max(1, len(numbering))
    n_partitions = int(documents.partition.max(initial=-1)) + 1
    bounds = np.searchsorted(documents.partition, np.arange(n_partitions + 1)).astype(np.int64)
    sizes = np.diff(bounds)
    totals = np.bincount(documents.partition, weights=lengths, minlength=n_partitions)
    average = totals / np.maximum(sizes, 1)
    # a partition of empty documents has no postings, so that any divisor will do
    discount = k1 * (1 - b + b * lengths / np.where(average > 0, average, 1)[documents.partition])
    # as long as there could be postings; the end that stays unused is never touched and takes no memory
    places, weights = np.empty(len(terms), np.int64), np.empty(len(terms))
    n_postings, pairs, counts = 0, [], []
    for block, within in _blocks(bounds, lengths):
        pair, document, frequency = _postings(documents.partition[block], lengths[block], terms[within], n_terms)
        document += block.start
        # pairs are sorted already: a new one begins wherever the value changes
        starts = _run_starts(pair)
        pairs.append(pair[starts[:-1]])
        counts.append(np.diff(starts))
        idf = inverse_document_frequency(sizes[pairs[-1] // n_terms], counts[-1])
        new = slice(n_postings, n_postings + len(document))
        n_postings = new.stop
        places[new] = document - bounds[documents.partition[document]]
        weights[new] = np.repeat(idf, counts[-1]) * (frequency * (k1 + 1) / (frequency + discount[document]))
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(counts))])
    return LexicalIndex(
        documents, dict(numbering), np.concatenate(pairs), starts, places[:n_postings], weights[:n_postings], bounds
    )


def _blocks(bounds: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Documents and tokens of whole partitions that are indexed together, one block at least."""
    tokens = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    firsts = np.unique(tokens[bounds] // _BLOCK_TOKENS, return_index=True)[1]
    for begin, end in pairwise([*bounds[firsts].tolist(), len(lengths)]):
        yield slice(begin, end), slice(int(tokens[begin]), int(tokens[end]))


def _postings(
    partition: NDArray[np.int32], lengths: NDArray[np.int64], terms: NDArray[np.int32], n_terms: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Pair, document and frequency of every distinct (document, term), int64, by pair and then by document."""
    n_documents = max(1, len(lengths))
    # one number for partition, term and document, in that order of weight
    keys = np.repeat((partition.astype(np.int64) * n_terms) * n_documents + np.arange(len(lengths)), lengths)
    keys += terms.astype(np.int64) * n_documents
    keys.sort()
    starts = _run_starts(keys)
    pair, document = np.divmod(keys[starts[:-1]], n_documents)
    return pair, document, np.diff(starts)


def _run_starts(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each run of equal values begins, and the length of all, int64 (n_runs + 1)."""
    if not len(values):
        return np.zeros(1, np.int64)
    return np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1], [True]]))


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


def _flatten(
    tokens: Sequence[Sequence[str]], vocabulary: dict[str, int]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Owner and term number of every known token, in order."""
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    flat = chain.from_iterable(tokens)
    terms = np.fromiter(map(vocabulary.get, flat, repeat(-1)), dtype=np.int64, count=int(lengths.sum()))
    owner = np.repeat(np.arange(len(tokens)), lengths)
    return owner[terms >= 0], terms[terms >= 0]
