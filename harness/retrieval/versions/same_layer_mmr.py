"""`same-layer-mmr`: bm25, whose first documents are re-ordered so that items of one layer do not repeat each other."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from harness.benchmarks.columns import LAYERS, Questions
from harness.retrieval.diversity import diversify
from harness.retrieval.documents import ReadModel, document_layers
from harness.retrieval.embedding.cache import Counting
from harness.retrieval.ranking import Ranking
from harness.retrieval.semantic import EmbeddingParameters, pin_embedding, prepare_vectors, vectors_of
from harness.retrieval.version import Engine, Stage, Store, Version
from harness.retrieval.versions.bm25 import LexicalParameters, TemplateParameters, rank_lexical


class DiversityParameters(EmbeddingParameters, TemplateParameters):
    """Parameters of the re-ordering."""

    lambda_mult: float = Field(0.7, ge=0, le=1, description="1 is relevance alone, 0 diversity alone")
    pool: int = Field(50, ge=1, le=1000, description="documents from the top that are re-ordered, 1 to 1000")


class MMRParameters(DiversityParameters, LexicalParameters):
    """Parameters of BM25 and of the re-ordering."""


def _diversified(
    earlier: Ranking,
    store: Store,
    questions: Questions,  # noqa: ARG001 - every stage is handed them
    parameters: DiversityParameters,
    read_model: ReadModel,
) -> Ranking:
    vectors, place = vectors_of(
        store, earlier.cut(parameters.pool).positions.tolist(), parameters,
        read_model=read_model, template=parameters.template,
    )  # fmt: skip
    layers = document_layers(store.corpus, store.edges, read_model)
    return diversify(
        earlier, vectors=vectors, place=place, layers=layers, lambda_mult=parameters.lambda_mult, pool=parameters.pool
    )


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    # the whole pool, or the depth that is asked for would decide which documents compete
    deep = max(depth, parameters.pool)
    lexical = rank_lexical(store, questions, parameters, deep, engine, read_model="chunk", tie_rule="ordinal")
    return _diversified(lexical, store, questions, parameters, "chunk").to_depth(depth)


def _prepare(store: Store, questions: Questions, parameters: Any, read_model: ReadModel, counting: Counting) -> None:
    # behind another version, whatever that one ranked
    present = [name for number, name in enumerate(LAYERS) if (store.corpus.layer == number).any()]
    prepare_vectors(
        store, questions, parameters, counting,
        read_model=read_model, layers=getattr(parameters, "layers", present), template=parameters.template,
        compares_questions=False,
    )  # fmt: skip


VERSION = Version(
    name="same-layer-mmr",
    summary="bm25, re-ordered so that among items of one layer those that repeat a better one go down",
    source="Carbonell & Goldstein (1998), with the redundancy taken within a layer",
    touches="the order of the first documents (pool); nothing comes in and nothing leaves below them",
    cost="that of bm25, and a cosine for each pair of documents in the pool",
    read_model="chunk",
    deterministic=True,
    parameters=MMRParameters,
    rank=_rank,
    stage=Stage(DiversityParameters, lambda parameters, depth: max(depth, parameters.pool), _diversified),
    pin=pin_embedding,
    prepare=_prepare,
    requires=("redundancy",),
    guarded=("temporal", "multi-hop"),
    example="retrieval.lambda_mult=0.5",
)
