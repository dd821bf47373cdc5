"""The rule and the standard-library verifier, two implementations of one text, on generated data."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from harness.evaluation.compare import compare
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Scores
from harness.evaluation.statistics import bounds
from harness.evaluation.statistics.bounds import CORRECTIONS
from harness.preregistration.document import from_mapping
from harness.preregistration.rule import judge
from harness.verifier import bounds as verified
from harness.verifier.decision import clause_differences, clauses, decide
from harness.verifier.measures import Evidence
from harness.verifier.runfiles import Question

MEASURES = ("R@10", "nDCG@10")
CATEGORIES = ("temporal", "multi-hop")

THRESHOLD = st.sampled_from([0, 1, 200, 1000, 3000]).map(lambda n: Decimal(n).scaleb(-4))
CLAIMS = st.one_of(
    st.builds(lambda a: {"superior": a}, THRESHOLD),
    st.builds(lambda a, b: {"superior": a, "rollback": -b}, THRESHOLD, THRESHOLD),
    st.builds(lambda a: {"non_inferior": a}, THRESHOLD.filter(bool)),
)
# few distinct scores, so that ties, one-sided changes and bounds on a threshold are common
SCORE = st.sampled_from([None, 0.0, 0.25, 1 / 3, 0.5, 1.0])
TENDENCY = st.sampled_from(["as it is", "never worse", "never better", "unchanged", "unchanged but one"])


@st.composite
def experiments(draw: st.DrawFn) -> dict[str, Any]:
    """Questions in conversations of unequal sizes, their scores under both systems, and a document."""
    sizes = draw(
        st.lists(st.integers(5, 8), min_size=8, max_size=9) | st.lists(st.integers(1, 9), min_size=4, max_size=7)
    )
    clusters = [f"c{number}" for number, size in enumerate(sizes) for _ in range(size)]
    n = len(clusters)
    column = st.lists(SCORE, min_size=n, max_size=n)
    scores = {}
    for name in MEASURES:
        before, after = draw(column), draw(column)
        tendency = draw(TENDENCY)
        if tendency.startswith("unchanged"):
            after = [*before[:-1], after[-1]] if tendency.endswith("one") else before
        elif tendency.startswith("never"):
            known = [None not in pair for pair in zip(before, after, strict=True)]
            worst, best = (
                [pick(a, b) if both else None for a, b, both in zip(before, after, known, strict=True)]
                for pick in (min, max)
            )
            before, after = (worst, best) if tendency == "never worse" else (best, worst)
        scores[name] = {"baseline": before, "candidate": after}
    guards = draw(st.lists(st.sampled_from(CATEGORIES), max_size=2, unique=True))
    document = {
        "format": 1, "id": "a", "title": "t", "authors": "x", "hypothesis": "h", "rationale": "r",
        "benchmark": "locomo", "baseline": "bm25",
        "candidate": {"version": "bm25", "parameters": {"layers": ["raw"]}},
        "claim": draw(CLAIMS),
        "primary": list(MEASURES[: draw(st.integers(1, 2))]),
        "guards": [
            {"measure": "R@10", "slice": name, "drop": draw(THRESHOLD.filter(bool))} for name in guards
        ],
        "rho_plan": draw(st.sampled_from([Decimal(0), Decimal("0.01"), Decimal("0.3")])),
        "procedure": draw(st.sampled_from(sorted(CORRECTIONS))),
        "decide_on": draw(st.sampled_from(["bounds", "bounds", "estimate"])),
    }  # fmt: skip
    return {
        "clusters": clusters,
        "categories": [CATEGORIES[number % 2] for number in range(n)],
        "scores": scores,
        "document": document,
        "alpha": draw(st.sampled_from([0.2, 0.05, 0.05 * 6 / math.pi**2, 0.0001])),
    }


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(experiments())
def test_rule_and_verifier_agree(made: dict[str, Any]) -> None:
    """Every field of every clause within 1e-9, and the same state for the same reason."""
    document, alpha, clusters = from_mapping(made["document"], "doc.yaml"), made["alpha"], made["clusters"]
    names = tuple(f"q{number}" for number in range(len(clusters)))
    measures = {name: parse_measure(name) for name in MEASURES}
    systems = {
        role: Scores(
            names,
            {measures[name]: np.array(made["scores"][name][role], dtype=np.float64) for name in MEASURES},
            {measure: {} for measure in measures.values()},
        )
        for role in ("baseline", "candidate")
    }
    members = {name: np.array([c == name for c in made["categories"]], dtype=bool) for name in CATEGORIES}
    members["all"] = np.ones(len(names), dtype=bool)
    for clause in document.clauses:
        both = ~np.isnan(systems["baseline"].values[clause.measure] + systems["candidate"].values[clause.measure])
        assume((both & members[clause.slice]).any())
    comparisons = [
        compare(
            systems["baseline"], systems["candidate"], clause.measure,
            clusters=clusters, alpha=alpha, rho=float(document.model.rho_plan), procedure=document.model.procedure,
            members=members[clause.slice], slice_name=clause.slice,
        )
        for clause in document.clauses
    ]  # fmt: skip
    verdict = judge(document, comparisons, 1, alpha)

    questions = [Question(name, cluster, cluster, True) for name, cluster in zip(names, clusters, strict=True)]
    evidence = [Evidence(category, frozenset(), frozenset(), frozenset(), 0) for category in made["categories"]]
    recomputed = clauses(document.canonical, questions, evidence, made["scores"], alpha)
    for recorded, computed in zip(verdict.as_mapping()["clauses"], recomputed, strict=True):
        assert clause_differences(recorded, computed, "clause") == []
    assert decide(recomputed, document.canonical["decide_on"]) == (verdict.state, verdict.reason)


@pytest.mark.parametrize("procedure", sorted(CORRECTIONS))
def test_bounds_end_where_differences_do(procedure: str) -> None:
    """Clusters that disagree at a tiny error rate have a t bound beyond -1 and 1; both implementations stop there."""
    differences, clusters = [1.0] * 6 + [-1.0] * 6, [number // 2 for number in range(12)]
    paired = bounds.pair(np.array(differences), np.array(clusters))
    sample = verified.summarise(differences, clusters, 0.0, CORRECTIONS[procedure])
    assert bounds.lower_bound(paired, 0.0001, 0.0, procedure) == verified.lower_bound(sample, 0.0001) == -1
    assert bounds.upper_bound(paired, 0.0001, 0.0, procedure) == verified.upper_bound(sample, 0.0001) == 1
