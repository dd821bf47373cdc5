"""`rrf`: reciprocal rank fusion of BM25 with a dense list over the same chunks."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from harness.benchmarks.columns import Questions
from harness.retrieval.documents import ReadModel
from harness.retrieval.embedding.cache import Counting
from harness.retrieval.fusion import fuse
from harness.retrieval.ranking import Ranking
from harness.retrieval.semantic import EmbeddingParameters, pin_embedding, prepare_vectors, search_by_meaning
from harness.retrieval.version import Engine, Stage, Store, Version
from harness.retrieval.versions.bm25 import LexicalParameters, StoreParameters, TemplateParameters, rank_lexical


class FusionParameters(EmbeddingParameters, TemplateParameters, StoreParameters):
    """Parameters of the fusion with a dense list."""

    k: int = Field(60, ge=0, le=10_000, description="0 to 10000; the larger, the less the first ranks count more")
    depth: int = Field(100, ge=1, le=10_000, description="documents of each list that are fused, 1 to 10000")
    dense_weight: float = Field(1.0, ge=0, le=100, description="weight of the dense list, that of BM25 being 1")


class RRFParameters(FusionParameters, LexicalParameters):
    """Parameters of both lists and of their fusion."""


def _with_dense(
    earlier: Ranking, store: Store, questions: Questions, parameters: FusionParameters, read_model: ReadModel
) -> Ranking:
    dense = search_by_meaning(
        store,
        questions,
        parameters,
        read_model=read_model,
        layers=parameters.layers,
        template=parameters.template,
        depth=parameters.depth,
    )
    lists = [earlier.cut(parameters.depth), dense]
    # both whole: how many of the fused are wanted may not decide which documents are fused
    return fuse(lists, k=parameters.k, weights=(1.0, parameters.dense_weight), depth=2 * parameters.depth)


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    lexical = rank_lexical(
        store, questions, parameters, parameters.depth, engine, read_model="chunk", tie_rule="ordinal"
    )
    return _with_dense(lexical, store, questions, parameters, "chunk").to_depth(depth)


def _prepare(store: Store, questions: Questions, parameters: Any, read_model: ReadModel, counting: Counting) -> None:
    prepare_vectors(
        store, questions, parameters, counting,
        read_model=read_model, layers=parameters.layers, template=parameters.template,
        compares_questions=True,
    )  # fmt: skip


VERSION = Version(
    name="rrf",
    summary="bm25 and nearness of meaning, fused by rank: each list adds 1 / (k + rank) for what it holds",
    source="Cormack, Clarke & Büttcher (2009)",
    touches="everything that either list holds: what only meaning finds comes in, what only words find goes down",
    cost="that of bm25, one embedding and one cosine a document; each distinct text is embedded once and kept",
    read_model="chunk",
    deterministic=True,
    parameters=RRFParameters,
    rank=_rank,
    stage=Stage(FusionParameters, lambda parameters, _: parameters.depth, _with_dense),
    pin=pin_embedding,
    prepare=_prepare,
    guarded=("exact",),
    example="retrieval.k=10",
)
