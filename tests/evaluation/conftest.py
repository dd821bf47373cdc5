from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import settings

from harness.benchmarks.columns import Benchmark
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Credit, Scores, score
from harness.retrieval.documents import Described, describe
from harness.retrieval.ranking import Ranking
from harness.retrieval.registry import select
from harness.retrieval.version import Store

# a busy machine is no failure
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

Ranked = tuple[Ranking, dict[int, Described]]


@cache
def _ranked(benchmark: int, version: str, parameters: tuple[tuple[str, Any], ...]) -> Ranked:
    found = _BENCHMARKS[benchmark]
    configured = select(version, dict(parameters))
    ranking = configured.rank(Store(found.corpus, found.edges), found.questions, 100)
    return ranking, describe(ranking.positions.tolist(), found.corpus, found.edges, configured.read_model)


# benchmarks hold arrays and cannot be hashed; rankings of one benchmark are shared between tests
_BENCHMARKS: dict[int, Benchmark] = {}


@pytest.fixture(scope="session")
def ranked() -> Callable[..., Ranked]:
    """Rank all questions of a benchmark to depth 100 and describe what was retrieved; each ranking is made once."""

    def make(benchmark: Benchmark, version: str = "bm25", **parameters: Any) -> Ranked:
        _BENCHMARKS[id(benchmark)] = benchmark
        return _ranked(id(benchmark), version, tuple(sorted(parameters.items())))

    return make


@pytest.fixture(scope="session")
def evaluated(ranked: Callable[..., Ranked]) -> Callable[..., Scores]:
    """Scores of a version on a benchmark under measures by name."""

    def make(benchmark: Benchmark, *names: str, version: str = "bm25", **parameters: Any) -> Scores:
        ranking, documents = ranked(benchmark, version, **parameters)
        return score(ranking, benchmark.labels, Credit.of(documents), [parse_measure(name) for name in names])

    return make
