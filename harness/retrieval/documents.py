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
    """Which documents of one store a version searches, in the order that settles ties, and their tokens.

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


def choose_documents(
    corpus: Corpus,
    edges: Edges,
    *,
    read_model: ReadModel,
    layers: Sequence[str],
    tie_rule: TieRule = "ordinal",
    partitions: NDArray[np.int32] | None = None,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Positions and partitions of the documents that a version searches, int32 (n) each.

    Over the edge read model a document is an edge with both ends in the layers.

    Args:
        corpus, edges: the store.
        read_model, layers, tie_rule: as the version says.
        partitions: only these; statistics are local to a partition, so nothing else changes.

    Returns:
        In the order that settles ties; the partition never decreases.

    Raises:
        UsageProblem: the benchmark has nothing in any of these layers, or no static confidence to order by.
    """
    wanted = np.isin(corpus.layer, [LAYERS.index(name) for name in layers])
    if partitions is not None:
        wanted &= np.isin(corpus.partition, partitions)
    if read_model == "edge":
        positions = np.flatnonzero(wanted[edges.source] & wanted[edges.target])
        partition = corpus.partition[edges.source[positions]]
    else:
        positions = np.flatnonzero(wanted)
        partition = corpus.partition[positions]
    if not len(positions):
        present = [name for code, name in enumerate(LAYERS) if (corpus.layer == code).any()]
        what = f"no {read_model} in the layer {' or '.join(layers)}"
        allowed = f"layers of this benchmark: {', '.join(present)}"
        raise UsageProblem(what, allowed=allowed, fix="choose other layers")
    if tie_rule == "id-text":
        names = [document_name(corpus, edges, read_model, int(p)) for p in positions]
        order = np.array(sorted(range(len(names)), key=lambda i: (partition[i], names[i])), dtype=np.int64)
    elif tie_rule == "confidence":
        confidence = static_confidence(corpus, edges, read_model)
        # lexsort is stable, so that equal confidences stay in order of ingestion
        order = np.lexsort((-confidence[positions], partition))
    else:
        order = np.argsort(partition, kind="stable")
    return positions[order].astype(np.int32), partition[order].astype(np.int32)


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
    """The documents of `choose_documents` with their tokens.

    An edge has the tokens of one end and then of the other, so that a self edge doubles its text.
    """
    positions, partition = choose_documents(
        corpus, edges, read_model=read_model, layers=layers, tie_rule=tie_rule, partitions=partitions
    )
    render, tokenize = TEMPLATES[template], TOKENIZERS[tokenizer]
    # equal tokens are one object: else the tokens of a large store take gigabytes
    known: dict[str, str] = {}

    def tokens_of(chunk: int) -> list[str]:
        found = tokenize(render(corpus, chunk))
        return list(map(known.setdefault, found, found))

    if read_model == "chunk":
        return Documents(positions, partition, [tokens_of(p) for p in positions.tolist()])
    ends = list(zip(edges.source[positions].tolist(), edges.target[positions].tolist(), strict=True))
    tokens = {p: tokens_of(p) for p in {end for pair in ends for end in pair}}
    return Documents(positions, partition, [tokens[source] + tokens[target] for source, target in ends])


def document_texts(
    corpus: Corpus, edges: Edges, positions: Iterable[int], *, read_model: ReadModel, template: str
) -> list[str]:
    """The text of each document, one string: of a chunk, or of both ends of an edge."""
    render = TEMPLATES[template]
    if read_model == "chunk":
        return [render(corpus, position) for position in positions]
    ends = ((int(edges.source[position]), int(edges.target[position])) for position in positions)
    return [f"{render(corpus, source)}\n{render(corpus, target)}" for source, target in ends]


def static_confidence(corpus: Corpus, edges: Edges, read_model: ReadModel) -> NDArray[np.float64]:
    """The confidence of every document position, float64 from 0 to 1.

    Raises:
        UsageProblem: any of them is no such number; a fault must show on dev, not first in the partition where it lies.
    """
    confidence = edges.confidence if read_model == "edge" else corpus.confidence
    wrong = np.flatnonzero(~((confidence >= 0) & (confidence <= 1)))  # so that NaN is wrong too
    if len(wrong):
        what = f"{len(wrong)} of {len(confidence)} {read_model}s have no static confidence"
        example = f"{read_model} {wrong[0]} has {confidence[wrong[0]]}"
        allowed = f"one number from 0 to 1 for each {read_model}, written at ingest ({example})"
        raise UsageProblem(what, allowed=allowed, fix="mend the confidence and import again, or use bm25")
    return confidence


def document_name(corpus: Corpus, edges: Edges, read_model: ReadModel, position: int) -> str:
    """The name of one document: a chunk's id, or the ids of an edge's two ends."""
    if read_model == "chunk":
        return corpus.ids[position]
    return f"{corpus.ids[edges.source[position]]}->{corpus.ids[edges.target[position]]}"


def document_names(corpus: Corpus, edges: Edges, read_model: ReadModel) -> list[str]:
    """A name without blanks for every document position, for run files."""
    size = len(corpus) if read_model == "chunk" else len(edges)
    return [document_name(corpus, edges, read_model, position) for position in range(size)]


def document_layers(corpus: Corpus, edges: Edges, read_model: ReadModel) -> NDArray[np.int8]:
    """Index into `LAYERS` for every document position: a chunk's layer, or that of an edge's first end."""
    return corpus.layer if read_model == "chunk" else corpus.layer[edges.source]


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
