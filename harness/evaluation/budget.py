"""What a reader pays for: documents, chunks and tokens, and which layers they come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from harness.benchmarks.columns import LAYERS, Corpus
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
