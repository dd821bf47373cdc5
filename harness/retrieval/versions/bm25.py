"""`bm25`: BM25 over chunks, the baseline."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from pydantic import Field, field_validator

from harness.benchmarks.columns import LAYERS, Questions
from harness.errors import did_you_mean
from harness.retrieval.documents import ReadModel, TieRule, build_documents
from harness.retrieval.lexical import build_index
from harness.retrieval.ranking import Ranking
from harness.retrieval.template import TEMPLATES
from harness.retrieval.tokenizer import TOKENIZERS
from harness.retrieval.version import Engine, Parameters, Store, Version


class TemplateParameters(Parameters):
    """How a chunk is worded."""

    template: str = Field("session-prefix/1", description=", ".join(TEMPLATES))

    @field_validator("template")
    @classmethod
    def _known_template(cls, name: str) -> str:
        return _one_of(name, TEMPLATES)


class StoreParameters(Parameters):
    """Which part of a store is searched."""

    layers: tuple[str, ...] = Field(("raw", "distill"), description=f"one or more of {', '.join(LAYERS)}")

    @field_validator("layers")
    @classmethod
    def _known_layers(cls, layers: tuple[str, ...]) -> tuple[str, ...]:
        for name in layers:
            _one_of(name, LAYERS)
        if not layers or len(set(layers)) != len(layers):
            raise ValueError("must name each layer once, and at least one")
        # one order, so that [distill, raw] and [raw, distill] are one identity
        return tuple(name for name in LAYERS if name in layers)


class LexicalParameters(TemplateParameters, StoreParameters):
    """Parameters of BM25 over any read model, whatever settles its ties."""

    tokenizer: str = Field("ascii-words-cjk-bigrams/1", description=", ".join(TOKENIZERS))
    k1: float = Field(1.2, ge=0, le=10, description="saturation of repeated terms, 0 to 10")
    b: float = Field(0.75, ge=0, le=1, description="discount of long documents, 0 to 1")

    @field_validator("tokenizer")
    @classmethod
    def _known_tokenizer(cls, name: str) -> str:
        return _one_of(name, TOKENIZERS)


class BM25Parameters(LexicalParameters):
    """Parameters of BM25 with a choice of what settles ties."""

    tie_rule: Literal["ordinal", "id-text"] = Field("ordinal", description="ordinal (order of ingestion) or id-text")


def _one_of(name: str, known: Any) -> str:
    if name not in known:
        hint = did_you_mean(name, known)
        raise ValueError(f"no such choice {name!r}" + (f", {hint}" if hint else ""))
    return name


def rank_lexical(
    store: Store,
    questions: Questions,
    parameters: LexicalParameters,
    depth: int,
    engine: Engine,
    *,
    read_model: ReadModel,
    tie_rule: TieRule,
) -> Ranking:
    """BM25 over one read model, on either engine."""
    documents = build_documents(
        store.corpus,
        store.edges,
        read_model=read_model,
        layers=parameters.layers,
        template=parameters.template,
        tokenizer=parameters.tokenizer,
        tie_rule=tie_rule,
        partitions=np.unique(questions.partition),
    )
    tokens = [TOKENIZERS[parameters.tokenizer](text) for text in questions.texts]
    if engine == "rank_bm25":
        from harness.retrieval.reference import search

        return search(
            documents, questions.ids, tokens, questions.partition, depth=depth, k1=parameters.k1, b=parameters.b
        )
    index = build_index(documents, k1=parameters.k1, b=parameters.b)
    return index.search(questions.ids, tokens, questions.partition, depth)


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    return rank_lexical(store, questions, parameters, depth, engine, read_model="chunk", tie_rule=parameters.tie_rule)


VERSION = Version(
    name="bm25",
    summary="BM25 over chunks: words in common, rare words count more, long chunks are discounted",
    source="Robertson & Zaragoza (2009)",
    touches="everything: it is the first ranking",
    cost="one pass over the postings of the question's words",
    read_model="chunk",
    deterministic=True,
    parameters=BM25Parameters,
    rank=_rank,
    example="retrieval.k1=0.9",
)
