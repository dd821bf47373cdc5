"""Every version over five hundred haystacks, which is another shape than ten conversations."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.longmemeval_import import SMALL, TYPES, write
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.longmemeval import import_longmemeval
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Credit, score
from harness.retrieval import files
from harness.retrieval.documents import describe
from harness.retrieval.ranking_files import write_trec
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import Store

RECIPE = "format: 1\nstages: [{version: rrf}, {version: same-layer-mmr}, {version: static-tiebreak}]\n"


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """Five hundred questions of the real types, each with a small haystack."""
    path = tmp_path_factory.mktemp("longmemeval") / "longmemeval.json"
    write(path, SMALL)
    return import_longmemeval(path)


def test_the_split_and_the_clusters_are_sensible(generated: Benchmark) -> None:
    """A tenth of each type is for development, and questions without common evidence stand alone."""
    assert Counter(generated.labels.categories) == TYPES
    dev = Counter(
        kind
        for kind, part in zip(generated.labels.categories, generated.questions.part, strict=True)
        if part == "dev"
    )  # fmt: skip
    assert dev == {kind: count // 10 + (count % 10 > 5) for kind, count in TYPES.items()}
    assert len(set(generated.questions.clusters)) == 500
    assert len(generated.partitions) == 500
    # nothing answers what is to be abstained from
    assert sum(not row for row in generated.labels.repaired.rows()) == 30


@pytest.mark.parametrize("name", VERSIONS)
def test_every_version_ranks_all_of_it(
    name: str, generated: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question gets documents of its own haystack, best first, and finds most of its evidence there."""
    store = Store(generated.corpus, generated.edges)
    monkeypatch.setattr(files, "_below", [tmp_path])
    choices: dict[str, Any] = {}
    if name == "composed":
        (tmp_path / "v2.yaml").write_text(RECIPE, encoding="utf-8")
        choices = {"recipe": "v2.yaml"}
    elif name == "external":
        honest = select("bm25").rank(store, generated.questions, 10)
        write_trec(honest, generated.corpus.ids, tmp_path / "run.trec")
        choices = {"run": "run.trec"}
    system = select(name, choices)
    ranking = system.rank(store, generated.questions, 10)
    assert ranking.questions == generated.questions.ids
    owner = np.repeat(generated.questions.partition, np.diff(ranking.offsets))
    of = generated.corpus.partition
    found = of[generated.edges.source[ranking.positions]] if system.read_model == "edge" else of[ranking.positions]
    np.testing.assert_array_equal(found, owner)
    documents = describe(ranking.positions.tolist(), store.corpus, store.edges, system.read_model)
    measure = parse_measure("recall_any@10")
    scores = score(ranking, generated.labels, Credit.of(documents), [measure])
    mean, n = scores.mean(measure)
    assert n == 470
    assert mean is not None
    assert mean > 0.9
