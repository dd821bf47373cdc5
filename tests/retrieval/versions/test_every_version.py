"""What holds for every version, whatever it does."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.columns import Benchmark
from harness.errors import UsageProblem
from harness.retrieval.ranking import Ranking
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import Configured, Store

V2 = {"stages": [
    {"version": "rrf", "parameters": {"k": 10}},
    {"version": "same-layer-mmr", "parameters": {"pool": 30}},
    {"version": "static-tiebreak"},
]}  # fmt: skip
CHOICES: dict[str, list[dict[str, Any]]] = {
    **{name: [{}] for name, version in VERSIONS.items() if not version.needs},
    "same-layer-mmr": [{}, {"lambda_mult": 0.0, "pool": 7}],
    "rrf": [{}, {"depth": 5, "dense_weight": 0.5, "k": 0}],
    "composed": [V2, {"stages": [{"version": "bm25-edges"}, {"version": "rrf"}, {"version": "static-tiebreak"}]}],
}
SYSTEMS = [
    pytest.param(name, chosen, id=f"{name}-{i}") for name, all_ in CHOICES.items() for i, chosen in enumerate(all_)
]


def pytest_generate_tests(metafunc):
    """Hand every version to whoever asks for one."""
    if "named" in metafunc.fixturenames:
        metafunc.parametrize(("named", "chosen"), SYSTEMS)


def rank(system: Configured, benchmark: Benchmark, depth: int = 100) -> Ranking:
    """What this version finds for every question of a benchmark."""
    return system.rank(Store(benchmark.corpus, benchmark.edges), benchmark.questions, depth)


def test_a_shorter_ranking_is_a_prefix(synthetic, named, chosen):
    """The first 1, 5 and 40 documents are the first of the first 100, whatever depth is asked for."""
    system = select(named, chosen)
    whole = rank(system, synthetic)
    for depth in (1, 5, 40):
        assert rank(system, synthetic, depth).same_order(whole.cut(depth))


def test_rankings_are_total_orders(synthetic, named, chosen):
    """No document twice, none missing from its store, scores finite and never increasing."""
    found = rank(select(named, chosen), synthetic)
    assert np.isfinite(found.scores).all()
    for index in range(len(found)):
        row = found.row(index)
        assert len(set(row)) == len(row)
        assert (np.diff(found.scores[found.offsets[index] : found.offsets[index + 1]]) <= 0).all()
    assert found.positions.min() >= 0


def test_neither_the_batch_nor_the_order_of_questions_counts(synthetic, named, chosen):
    """Each question alone, and all of them backwards, have the rankings that they have together."""
    system, store = select(named, chosen), Store(synthetic.corpus, synthetic.edges)
    together = rank(system, synthetic, 20)
    backwards = np.arange(len(synthetic.questions))[::-1].astype(np.int64)
    assert system.rank(store, synthetic.questions.take(backwards), 20).same_order(together.take(backwards))
    for place in (0, 7, len(synthetic.questions) - 1):
        one = np.array([place], dtype=np.int64)
        assert system.rank(store, synthetic.questions.take(one), 20).same_order(together.take(one))


def test_ids_mean_nothing(synthetic, named, chosen):
    """With every chunk and question renamed, rankings are the same by position."""
    system = select(named, chosen)
    n, m = len(synthetic.corpus), len(synthetic.questions)
    renamed = replace(
        synthetic,
        corpus=replace(synthetic.corpus, ids=tuple(f"{(i * 7919) % n:05}" for i in range(n))),
        questions=replace(synthetic.questions, ids=tuple(f"{(i * 31) % m:04}" for i in range(m))),
    )
    assert [row for _, row in rank(system, renamed).rows()] == [row for _, row in rank(system, synthetic).rows()]


def test_the_engine_does_not_count(synthetic, named, chosen):
    """Where words are counted by the reference engine, rankings are the same."""
    system, store = select(named, chosen), Store(synthetic.corpus, synthetic.edges)
    few = synthetic.questions.take(np.arange(0, len(synthetic.questions), 9))
    assert system.rank(store, few, 50, "rank_bm25").same_order(system.rank(store, few, 50))


def test_ranking_after_preparing_is_the_same(synthetic, named, chosen):
    """What is computed in advance changes nothing."""
    system, store = select(named, chosen), Store(synthetic.corpus, synthetic.edges)
    before = rank(system, synthetic)
    system.prepare(store, synthetic.questions, _Silent)
    assert rank(system, synthetic).same_order(before)


class _Silent:
    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> Any:
        return lambda _: None

    def __exit__(self, *_: object) -> None:
        pass


def test_the_settings_of_a_version_make_it_again(named, chosen):
    """What is frozen of a system selects the same system."""
    system = select(named, chosen)
    assert select(named, system.settings()) == system


@pytest.mark.parametrize("name", [name for name, version in VERSIONS.items() if version.needs])
def test_a_version_that_needs_something_says_so(name):
    """Without it, the error names it and an example of how to give it."""
    with pytest.raises(UsageProblem, match=f"{name} needs") as caught:
        select(name)
    assert caught.value.fix == f"add {VERSIONS[name].example}"


def test_a_weight_on_confidence_is_refused_with_the_reason(named, chosen):
    """No version takes a parameter that would let confidence weigh."""
    with pytest.raises(UsageProblem, match="confidence"):
        select(named, {**chosen, "confidence_weight": 0.5})
