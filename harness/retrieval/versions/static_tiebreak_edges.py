"""`static-tiebreak-edges`: BM25 over edges whose exact ties are ordered by the edges' own confidence."""

from __future__ import annotations

from typing import Any

from harness.benchmarks.columns import Questions
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Engine, Store, Version
from harness.retrieval.versions.bm25 import LexicalParameters, rank_lexical
from harness.retrieval.versions.static_tiebreak import REFUSES, TOUCHES


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    return rank_lexical(store, questions, parameters, depth, engine, read_model="edge", tie_rule="confidence")


VERSION = Version(
    name="static-tiebreak-edges",
    summary="bm25-edges with exact ties ordered by the edges' own confidence, highest first, then by ingestion",
    source="Robertson & Zaragoza (2009), with a lexicographic tie-break",
    touches=TOUCHES,
    cost="that of bm25-edges",
    read_model="edge",
    deterministic=True,
    parameters=LexicalParameters,
    rank=_rank,
    example="retrieval.k1=0.9",
    scores_as="bm25-edges",
    refuses=REFUSES,
)
