"""What a version indexes: chunks or edges of a store, as tokens, in ingestion order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import LAYERS, Corpus, Edges
from harness.errors import UsageProblem
from harness.retrieval.template import TEMPLATES
from harness.retrieval.tokenizer import TOKENIZERS, count_tokens

ReadModel = Literal["chunk", "edge"]
TieRule = Literal["ordinal", "id-text", "confidence"]
"""What orders exact ties: order of ingestion, ids as text, or static confidence (highest first, then ingestion)."""


@dataclass(frozen=True)
class Documents:
    """Token lists of the documents of one store.

    Attributes:
        positions: int32 (n), corpus or edge position of each document.
        partition: int32 (n), never decreasing.
        tokens: n token lists.
    """

    positions: NDArray[np.int32]
    partition: NDArray[np.int32]
    tokens: Sequence[Sequence[str]]

    def __len__(self) -> int:
        return len(self.positions)


def build_documents(
    corpus: Corpus,
    edges: Edges,
    *,
    read_model: ReadModel,
    layers: Sequence[str],
    template: str,
    tokenizer: str,
    tie_rule: TieRule = "ordinal",
    partitions: NDArray[np.int32] | None = None,
) -> Documents:
    """The documents that a version searches, in the order that settles ties.

    Over the edge read model a document is an edge with both ends in the store; its text is the text of one end
    and then of the other, so that a self edge doubles its text.

    Args:
        corpus, edges: the store.
        read_model, layers, template, tokenizer, tie_rule: as the version says.
        partitions: build only these; statistics are local to a partition, so nothing else changes.

    Raises:
        UsageProblem: the benchmark has nothing in one of these layers, or no static confidence to order by.
    """
    _refuse_absent_layers(corpus, layers)
    wanted = np.isin(corpus.layer, [LAYERS.index(name) for name in layers])
    if partitions is not None:
        wanted &= np.isin(corpus.partition, partitions)
    render, tokenize = TEMPLATES[template], TOKENIZERS[tokenizer]
    tokens = {int(p): tokenize(render(corpus, int(p))) for p in np.flatnonzero(wanted)}
    if read_model == "edge":
        positions = np.flatnonzero(wanted[edges.source] & wanted[edges.target])
        ends = list(zip(edges.source[positions].tolist(), edges.target[positions].tolist(), strict=True))
        rows = [tokens[source] + tokens[target] for source, target in ends]
        partition = corpus.partition[edges.source[positions]]
        names = [f"{corpus.ids[source]}->{corpus.ids[target]}" for source, target in ends]
    else:
        positions = np.flatnonzero(wanted)
        rows = [tokens[int(p)] for p in positions]
        partition = corpus.partition[positions]
        names = [corpus.ids[int(p)] for p in positions]
    if not len(positions):
        raise UsageProblem(f"no {read_model} in the layers {', '.join(layers)}", fix="choose other layers")
    if tie_rule == "id-text":
        order = np.array(sorted(range(len(names)), key=lambda i: (partition[i], names[i])), dtype=np.int64)
    elif tie_rule == "confidence":
        confidence = _static_confidence(edges.confidence if read_model == "edge" else corpus.confidence, read_model)
        # lexsort is stable, so that equal confidences stay in order of ingestion
        order = np.lexsort((-confidence[positions], partition))
    else:
        order = np.argsort(partition, kind="stable")
    return Documents(
        positions[order].astype(np.int32), partition[order].astype(np.int32), [rows[i] for i in order.tolist()]
    )


def _refuse_absent_layers(corpus: Corpus, layers: Sequence[str]) -> None:
    present = [name for code, name in enumerate(LAYERS) if (corpus.layer == code).any()]
    absent = [name for name in layers if name not in present]
    if absent:
        what = f"nothing in the layer {', '.join(absent)}"
        raise UsageProblem(what, allowed=f"layers of this benchmark: {', '.join(present)}", fix="choose other layers")


def _static_confidence(confidence: NDArray[np.float64], read_model: ReadModel) -> NDArray[np.float64]:
    """The whole column, checked: a fault must show on dev, not first in the partition where it lies."""
    wrong = np.flatnonzero(~((confidence >= 0) & (confidence <= 1)))  # so that NaN is wrong too
    if len(wrong):
        what = f"{len(wrong)} of {len(confidence)} {read_model}s have no static confidence"
        example = f"{read_model} {wrong[0]} has {confidence[wrong[0]]}"
        allowed = f"one number from 0 to 1 for each {read_model}, written at ingest ({example})"
        raise UsageProblem(what, allowed=allowed, fix="mend the confidence and import again, or use bm25")
    return confidence


def document_names(corpus: Corpus, edges: Edges, read_model: ReadModel) -> list[str]:
    """A name without blanks for every document position, for run files."""
    if read_model == "chunk":
        return list(corpus.ids)
    ends = zip(edges.source.tolist(), edges.target.tolist(), strict=True)
    return [f"{corpus.ids[source]}->{corpus.ids[target]}" for source, target in ends]


@dataclass(frozen=True)
class Described:
    """What one retrieved document gives to a reader.

    Attributes:
        layer: layer of its first chunk.
        tokens: size of its chunks.
        chunks: corpus positions: itself, or the two ends of an edge.
        sources: the same with every distilled chunk replaced by the chunks that it was written from.
    """

    layer: str
    tokens: int
    chunks: tuple[int, ...]
    sources: tuple[int, ...]


def describe(positions: Iterable[int], corpus: Corpus, edges: Edges, read_model: ReadModel) -> dict[int, Described]:
    """Describe documents, each once, in ascending order of position."""
    found = {}
    for position in sorted(set(positions)):
        ends: tuple[int, ...] = (position,)
        if read_model == "edge":
            ends = tuple(dict.fromkeys((int(edges.source[position]), int(edges.target[position]))))
        sources = tuple(dict.fromkeys(source for chunk in ends for source in (corpus.sources.row(chunk) or [chunk])))
        sizes = chunk_tokens(corpus, ends)
        found[position] = Described(LAYERS[corpus.layer[ends[0]]], sum(sizes.values()), ends, sources)
    return found


def chunk_tokens(corpus: Corpus, chunks: Iterable[int]) -> dict[int, int]:
    """Size of each of these chunks in tokens, as a reader would pay for it (stop words count)."""
    template = TEMPLATES["session-prefix/1"]
    return {chunk: count_tokens(template(corpus, chunk)) for chunk in chunks}
