from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.columns import Benchmark
from harness.errors import UsageProblem
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import Store
from harness.workflow.progress import SILENT
from harness.workflow.ranking import batches, rank_counted


class Heard:
    """Progress that remembers what it was told."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def __call__(self, what: str, /) -> None:
        """Not called here."""
        raise AssertionError(what)

    @contextlib.contextmanager
    def counting(self, what: str, total: int, unit: str, *, done: int = 0) -> Iterator[Callable[[int], None]]:
        """Remember the steps."""
        assert (what, total, unit, done) == ("ranking", 566, "questions", 0)
        yield self.steps.append


@pytest.mark.parametrize("name", [name for name, version in VERSIONS.items() if not version.needs])
def test_a_few_partitions_at_a_time_give_the_same_bytes(synthetic: Benchmark, name: str) -> None:
    """Questions, order, scores to the last bit and types are those of ranking everything at once."""
    system, store, heard = select(name), Store(synthetic.corpus, synthetic.edges), Heard()
    whole = system.rank(store, synthetic.questions, 100)
    counted = rank_counted(system, store, synthetic.questions, 100, heard, "ranking")
    assert (counted.questions, counted.depth) == (whole.questions, whole.depth)
    for mine, theirs in (
        (counted.offsets, whole.offsets), (counted.positions, whole.positions), (counted.scores, whole.scores)
    ):  # fmt: skip
        assert mine.dtype == theirs.dtype
        assert mine.tobytes() == theirs.tobytes()
    assert len(heard.steps) == 10
    assert sum(heard.steps) == 566


def test_partitions_with_nothing_to_search_stop_nothing(synthetic: Benchmark) -> None:
    """A layer that only some partitions have is searched there; a layer that none has is refused as ever."""
    corpus = synthetic.corpus
    keep = np.flatnonzero((corpus.partition == 0) | (corpus.layer == 0))
    assert set(np.unique(corpus.layer[keep])) > {0}
    system = select("bm25", {"layers": ("distill",)})
    thinned = _only(synthetic, keep)
    whole = system.rank(thinned, synthetic.questions, 10)
    assert rank_counted(system, thinned, synthetic.questions, 10, SILENT, "x").digest() == whole.digest()
    nothing = select("bm25", {"layers": ("negation",)})
    with pytest.raises(UsageProblem, match="negation"):
        rank_counted(nothing, thinned, synthetic.questions, 10, SILENT, "x")


def _only(benchmark: Benchmark, keep: np.ndarray) -> Store:
    """A store in which all other chunks are of a layer that nobody searches."""
    layer = np.full_like(benchmark.corpus.layer, 2)
    layer[keep] = benchmark.corpus.layer[keep]
    return Store(dataclasses.replace(benchmark.corpus, layer=layer), benchmark.edges)


@given(st.lists(st.integers(0, 60), max_size=300), st.integers(1, 25))
def test_batches_divide_questions_and_no_partition(partition: list[int], steps: int) -> None:
    """Every question is in one batch, every partition in one, and there are no more than asked for."""
    column = np.array(partition, dtype=np.int32)
    found = batches(column, steps)
    assert sorted(int(place) for part in found for place in part) == list(range(len(partition)))
    assert len(found) <= steps + 1
    owners = [set(column[part].tolist()) for part in found]
    assert sum(map(len, owners)) == len(set(partition))


def test_batches_are_about_equal() -> None:
    """Of many small partitions each batch gets its share."""
    sizes = [len(part) for part in batches(np.repeat(np.arange(500, dtype=np.int32), 3), 20)]
    assert len(sizes) == 20
    assert max(sizes) - min(sizes) <= 6
