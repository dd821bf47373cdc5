"""`bm25-edges`: BM25 over edges; a retrieved edge gives its two ends to the reader."""

from __future__ import annotations

from typing import Any

from harness.benchmarks.columns import Questions
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Engine, Store, Version
from harness.retrieval.versions.bm25 import BM25Parameters, rank_lexical


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    return rank_lexical(store, questions, parameters, depth, engine, read_model="edge", tie_rule=parameters.tie_rule)


VERSION = Version(
    name="bm25-edges",
    summary="BM25 over edges: a document is the text of both ends, and a hit gives both chunks to the reader",
    source="Robertson & Zaragoza (2009)",
    touches="everything: it is the first ranking",
    cost="one pass over the postings of the question's words; about twice the text of bm25",
    read_model="edge",
    deterministic=True,
    parameters=BM25Parameters,
    rank=_rank,
    example="retrieval.k1=0.9",
)
