"""`static-tiebreak`: BM25 over chunks whose exact ties are ordered by the confidence written at ingest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from harness.benchmarks.columns import Questions
from harness.retrieval.documents import ReadModel, static_confidence
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import EVERYTHING, Engine, Parameters, Stage, Store, Version
from harness.retrieval.versions.bm25 import LexicalParameters, rank_lexical

_WEIGHS = (
    "confidence orders exact ties and weighs nothing; as a multiplier of the score, 0.4 for turns against 0.7 for "
    "distilled items, it takes R@10 on LoCoMo from 46 to 29 per cent"
)
_CHANGES = (
    "the confidence is the one written at ingest; one that changes afterwards makes a ranking depend on which "
    "questions were asked before"
)
REFUSES = {
    **dict.fromkeys(("weight", "boost", "multipl", "factor", "scale", "strength", "alpha", "lambda"), _WEIGHS),
    **dict.fromkeys(
        ("decay", "half_life", "recency", "learn", "updat", "dynamic", "adapt", "online", "feedback", "reinforce",
         "usage", "confidence"),
        _CHANGES,
    ),
    "tie": "it is a tie rule itself: confidence, highest first, then order of ingestion; bm25 has tie_rule",
}  # fmt: skip
"""Kinds of parameters that would make it another method, and why; for both read models."""

TOUCHES = (
    "the order of exact ties, and nothing else: its reach is nearly nothing, so only a claim of non-inferiority can "
    "be decided; where all documents have one confidence, as LoCoMo's turns have, nothing moves at all"
)


def _settled(
    earlier: Ranking,
    store: Store,
    questions: Questions,  # noqa: ARG001 - every stage is handed them
    parameters: Any,  # noqa: ARG001
    read_model: ReadModel,
) -> Ranking:
    """Exact ties of an earlier ranking in order of confidence, highest first, and then of ingestion."""
    confidence = static_confidence(store.corpus, store.edges, read_model)[earlier.positions]
    owner = np.repeat(np.arange(len(earlier)), np.diff(earlier.offsets))
    order = np.lexsort((earlier.positions, -confidence, -earlier.scores, owner))
    return replace(earlier, positions=earlier.positions[order])


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    return rank_lexical(store, questions, parameters, depth, engine, read_model="chunk", tie_rule="confidence")


VERSION = Version(
    name="static-tiebreak",
    summary="bm25 with exact ties ordered by the confidence written at ingest, highest first, then by ingestion",
    source="Robertson & Zaragoza (2009), with a lexicographic tie-break",
    touches=TOUCHES,
    cost="that of bm25",
    read_model="chunk",
    deterministic=True,
    parameters=LexicalParameters,
    rank=_rank,
    example="retrieval.k1=0.9",
    scores_as="bm25",
    refuses=REFUSES,
    # a group of equal scores may go on below any depth
    stage=Stage(Parameters, lambda _, __: EVERYTHING, _settled),
)
