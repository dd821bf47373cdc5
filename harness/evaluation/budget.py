"""What a reader pays for: documents, chunks and tokens, which layers they come from, and what fits into a budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from harness.benchmarks.columns import LAYERS, Corpus
from harness.errors import UsageProblem
from harness.retrieval.documents import Described, chunk_tokens
from harness.retrieval.ranking import Ranking


@dataclass(frozen=True)
class Budget:
    """The read budget of a ranking's first k documents, means over all its questions.

    Attributes:
        documents: documents a question (chunks or edges).
        chunks: distinct chunks that they give to the reader.
        tokens: size of those chunks.
        layers: share of the chunks that comes from each layer present, adding up to 1.
        empty: questions for which nothing was retrieved.
    """

    documents: float
    chunks: float
    tokens: float
    layers: dict[str, float]
    empty: int

    def as_mapping(self) -> dict[str, Any]:
        """Plain values, for records and pages."""
        return asdict(self)


def read_budget(ranking: Ranking, k: int, corpus: Corpus, documents: Mapping[int, Described]) -> Budget:
    """Measure the read budget at cut-off ``k``.

    Args:
        ranking: documents by question.
        k: cut-off.
        corpus: where chunks get their size and layer from.
        documents: what each ranked document gives to the reader.
    """
    chunks_of = [
        list(dict.fromkeys(chunk for document in row[:k] for chunk in documents[document].chunks))
        for _, row in ranking.rows()
    ]
    sizes = chunk_tokens(corpus, {chunk for chunks in chunks_of for chunk in chunks})
    layers = Counter(LAYERS[corpus.layer[chunk]] for chunks in chunks_of for chunk in chunks)
    n, total = max(1, len(ranking)), max(1, layers.total())
    return Budget(
        documents=sum(min(k, len(row)) for _, row in ranking.rows()) / n,
        chunks=layers.total() / n,
        tokens=sum(sizes[chunk] for chunks in chunks_of for chunk in chunks) / n,
        layers={name: layers[name] / total for name in LAYERS if layers[name]},
        empty=sum(not chunks for chunks in chunks_of),
    )


_UNIT = "tokens:"
_MOST = 10_000_000


def parse_tokens(text: str, where: str = "") -> int:
    """The tokens of a budget that is written ``tokens:2000``.

    Raises:
        UsageProblem: it is written in another way.
    """
    number = text.removeprefix(_UNIT)
    if not text.startswith(_UNIT) or not number.isascii() or not number.isdigit() or not 0 < int(number[:9]) <= _MOST:
        allowed = f"{_UNIT}2000, with a whole number from 1 to {_MOST}; a number of documents is k"
        raise UsageProblem(f"the budget {text!r}", where=where, allowed=allowed)
    return int(number)


def within_tokens(ranking: Ranking, tokens: int, corpus: Corpus, documents: Mapping[int, Described]) -> Ranking:
    """What a reader with a budget of tokens reads: documents in order, until the next one would not fit.

    A chunk that was read already costs nothing. A reader does not look behind a document that is too long, so that a
    ranking is not rewarded for what it puts there.

    Args:
        ranking: documents by question.
        tokens: the budget of one question.
        corpus, documents: as for `read_budget`.
    """
    sizes = chunk_tokens(corpus, {chunk for document in documents.values() for chunk in document.chunks})
    lengths = []
    for _, row in ranking.rows():
        read: set[int] = set()
        spent = length = 0
        for document in row:
            fresh = set(documents[document].chunks) - read
            spent += sum(sizes[chunk] for chunk in fresh)
            if spent > tokens:
                break
            read |= fresh
            length += 1
        lengths.append(length)
    return ranking.shortened(np.array(lengths, dtype=np.int64))
