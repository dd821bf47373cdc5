from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.build import Builder
from harness.benchmarks.columns import Benchmark, Questions
from harness.errors import UsageProblem
from harness.retrieval.ranking import Ranking
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import Engine, Store

WITHIN = {"bm25": "static-tiebreak", "bm25-edges": "static-tiebreak-edges"}
ENGINES: list[Engine] = ["numpy", "rank_bm25"]


def rank(benchmark: Benchmark, version: str, depth: int = 10, engine: Engine = "numpy", **choices: Any) -> Ranking:
    """Rank every question of a benchmark."""
    return select(version, choices).rank(Store(benchmark.corpus, benchmark.edges), benchmark.questions, depth, engine)


def reordered(benchmark: Benchmark, version: str, depth: int, **choices: Any) -> list[list[int]]:
    """What the tie-break should give: the plain version's whole lists, sorted anew question by question, then cut."""
    whole = rank(benchmark, version, 10**6, **choices)
    confidence = (benchmark.edges if version == "bm25-edges" else benchmark.corpus).confidence
    rows = []
    for index in range(len(whole)):
        span = slice(int(whole.offsets[index]), int(whole.offsets[index + 1]))
        pairs = sorted(zip(whole.scores[span], whole.row(index), strict=True),
                       key=lambda pair: (-pair[0], -confidence[pair[1]], pair[1]))  # fmt: skip
        rows.append([position for _, position in pairs[:depth]])
    return rows


@pytest.mark.parametrize("depth", [1, 10, 100])
@pytest.mark.parametrize("plain", WITHIN)
def test_exact_ties_go_by_confidence_and_then_by_ingestion(synthetic, plain, depth):
    """The ranking is the plain one with every tie group in order of confidence before the cut; scores are the same."""
    found = rank(synthetic, WITHIN[plain], depth)
    assert [row for _, row in found.rows()] == reordered(synthetic, plain, depth)
    assert found.scores.tobytes() == rank(synthetic, plain, depth).scores.tobytes()


def tied(confidences: list[float]) -> Benchmark:
    """Distilled items of one text each and these confidences, with their self edges, in each of two partitions."""
    builder = Builder("tied")
    for name in ("p", "q"):
        builder.begin_partition(name)
        builder.add_session([(f"{name}/D1:1", "Ann", "other words here", "")], session=1, start=0)
        for index, confidence in enumerate(confidences):
            builder.add_item(f"{name}/o{index}", "same words", layer="distill", confidence=confidence)
    made = builder.finish({})
    asked = Questions(("p/q0",), ("same words",), np.zeros(1, np.int32), ("p",), ("dev",), np.zeros(1, np.int32))
    return replace(made, questions=asked)


@settings(max_examples=40)
@given(st.lists(st.sampled_from([0.0, 0.4, 0.7, 1.0]), min_size=1, max_size=6), st.integers(1, 7))
def test_a_tie_group_across_the_cut_is_settled_as_a_whole(confidences, depth):
    """Of equal documents the most confident come first, however few are asked for, on both engines and read models."""
    benchmark = tied(confidences)
    order = sorted(range(len(confidences)), key=lambda index: (-confidences[index], index))
    for version, first in (("static-tiebreak", 1), ("static-tiebreak-edges", 0)):
        for engine in ENGINES:
            found = rank(benchmark, version, depth, engine, layers=["distill"])
            assert found.row(0) == [first + index for index in order[:depth]]


def test_within_one_confidence_nothing_moves(synthetic):
    """Over turns alone, where every confidence is the same, the ranking is the plain one; over two layers it is not."""
    for layers, same in ((["raw"], True), (["raw", "distill"], False)):
        plain, broken = (rank(synthetic, version, 100, layers=layers) for version in ("bm25", "static-tiebreak"))
        assert plain.same_order(broken) == same


def test_its_reach_on_locomo(locomo):
    """Over turns and distilled items 33 top-10 orders and 7 sets of 1,982 questions change, and no evidence moves."""
    plain, broken = rank(locomo, "bm25"), rank(locomo, "static-tiebreak")
    evidence = [set(locomo.labels.repaired.row(index)) for index in range(len(plain))]
    pairs = [(plain.row(i), broken.row(i), wanted) for i, wanted in enumerate(evidence) if wanted]
    assert len(pairs) == 1982
    assert sum(before != after for before, after, _ in pairs) == 33
    assert sum(set(before) != set(after) for before, after, _ in pairs) == 7
    assert all(set(before) & wanted == set(after) & wanted for before, after, wanted in pairs)


@pytest.mark.parametrize("version", WITHIN.values())
@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), -0.1, 1.01])
def test_a_confidence_that_is_no_static_number_is_refused(wrong, version):
    """One chunk or edge without a number from 0 to 1 is refused, in whatever partition it lies."""
    benchmark = tied([0.4, 0.7])
    corpus, edges = benchmark.corpus, benchmark.edges
    chunks, links = corpus.confidence.copy(), edges.confidence.copy()
    chunks[-1] = links[-1] = wrong  # the question asks the other partition
    broken = replace(benchmark, corpus=replace(corpus, confidence=chunks), edges=replace(edges, confidence=links))
    with pytest.raises(UsageProblem, match="have no static confidence") as caught:
        rank(broken, version)
    assert "one number from 0 to 1" in caught.value.allowed
    assert "use bm25" in caught.value.fix
    assert rank(broken, version.replace("static-tiebreak", "bm25")).same_order(
        rank(benchmark, version.replace("static-tiebreak", "bm25"))
    )


@pytest.mark.parametrize("version", WITHIN.values())
@pytest.mark.parametrize(
    ("key", "reason"),
    [
        *((key, "as a multiplier of the score") for key in (
            "weight", "confidence_weight", "layer-weights", "boost", "raw_boost", "multiplier", "scale", "Weight")),
        *((key, "depends? on which questions were asked before|makes a ranking depend") for key in (
            "decay", "half_life", "half-life", "recency", "learned_confidence", "updated", "dynamic_confidence",
            "confidence")),
        ("tie_rule", "it is a tie rule itself"),
    ],
)  # fmt: skip
def test_what_would_make_it_another_method_is_refused_with_the_reason(version, key, reason):
    """A weight, a confidence that changes after ingest, and a second tie rule are refused as what they are."""
    with pytest.raises(UsageProblem, match=reason) as caught:
        select(version, {"k1": 1.2, key: 0.5}, where="doc.yaml:7")
    assert caught.value.what.startswith(f"{version} takes no {key!r}: ")
    assert (caught.value.where, caught.value.fix) == ("doc.yaml:7", f"leave {key} out")


def test_a_misspelt_parameter_is_still_only_misspelt():
    """What implies nothing is answered with the nearest parameter, and bm25 refuses nothing of a kind."""
    with pytest.raises(UsageProblem, match="has no parameter 'layer'") as caught:
        select("static-tiebreak", {"layer": ["raw"]})
    assert caught.value.fix == "did you mean 'layers'?"
    with pytest.raises(UsageProblem, match="bm25 has no parameter 'weight'"):
        select("bm25", {"weight": 1})


def test_it_says_what_it_can_reach():
    """A person is told that exact ties alone are touched and which claim can be decided."""
    for version in WITHIN.values():
        touches = VERSIONS[version].touches
        assert all(words in touches for words in ("exact ties", "nearly nothing", "non-inferiority"))


def test_equal_scores_are_known_by_what_decides_them():
    """A version and its tie-break agree in what decides scores, as two tie rules do; other parameters do not."""
    for plain, name in WITHIN.items():
        assert select(plain).scoring() == select(name).scoring() == select(plain, {"tie_rule": "id-text"}).scoring()
        assert select(plain).scoring() != select(name, {"k1": 1}).scoring()
    assert select("static-tiebreak").scoring() != select("static-tiebreak-edges").scoring()
