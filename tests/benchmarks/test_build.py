from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.build import Builder
from harness.benchmarks.columns import Benchmark


def built(*sessions: str) -> Benchmark:
    """A benchmark of one partition; each session is a text of speakers, one letter a turn."""
    builder = Builder("b")
    builder.begin_partition("p")
    for number, speakers in enumerate(sessions, start=1):
        turns = [(f"D{number}:{place}", name, "t", "") for place, name in enumerate(speakers, start=1)]
        builder.add_session(turns, session=number, start=1000 * number)
    return builder.finish({})


def pairs(benchmark: Benchmark) -> list[tuple[int, int]]:
    """Edges as pairs of corpus positions."""
    edges = benchmark.edges
    return list(zip(edges.source.tolist(), edges.target.tolist(), strict=True))


@pytest.mark.parametrize(
    ("sessions", "edges"),
    [
        (("",), []),
        (("a",), []),
        (("aaa",), []),
        (("ab",), [(0, 1)]),
        (("aba",), [(0, 1), (1, 2)]),
        (("aab",), [(1, 2)]),
        (("abb",), [(0, 1), (0, 2)]),
        (("abbaa",), [(0, 1), (0, 2), (2, 3), (2, 4)]),
        (("abc",), [(0, 1), (1, 2)]),
        (("abca",), [(0, 1), (1, 2), (2, 3)]),
        (("abcc",), [(0, 1), (1, 2), (1, 3)]),
        (("ab", "ba"), [(0, 1), (2, 3)]),
        (("a", "b"), []),
    ],
)
def test_adjacency_joins_the_nearest_earlier_turn_of_another_speaker(
    sessions: tuple[str, ...], edges: list[tuple[int, int]]
) -> None:
    """An edge leads from the nearest earlier turn of another speaker of the same session to each turn."""
    benchmark = built(*sessions)
    assert pairs(benchmark) == edges
    assert set(benchmark.edges.relation) <= {"followed_by"}
    assert set(benchmark.edges.discovered_by) <= {"adjacency"}


@given(st.lists(st.text("abc", max_size=12), max_size=4))
def test_adjacency_agrees_with_its_definition(sessions: list[str]) -> None:
    """Every turn that has an earlier turn of another speaker in its session gets exactly one edge."""
    benchmark, expected, first = built(*sessions), [], 0
    for speakers in sessions:
        for place, name in enumerate(speakers):
            earlier = [other for other in range(place) if speakers[other] != name]
            expected += [(first + earlier[-1], first + place)] if earlier else []
        first += len(speakers)
    assert pairs(benchmark) == expected


def test_turns_are_a_second_apart() -> None:
    """A turn's time is its session's start plus its 0-based index in seconds."""
    assert built("aba", "b").corpus.time.tolist() == [1000, 1001, 1002, 2000]


def test_an_item_has_a_self_edge_of_its_own_confidence() -> None:
    """A distilled item is found in an edge store by an edge from itself to itself."""
    builder = Builder("b")
    builder.begin_partition("p")
    turn = builder.add_chunk("t", "said", layer="raw", confidence=0.4)
    item = builder.add_item("f", "fact", layer="distill", confidence=0.7, sources=[turn])
    benchmark = builder.finish({})
    assert (turn, item) == (0, 1)
    assert pairs(benchmark) == [(1, 1)]
    assert benchmark.edges.relation == ("distilled",)
    assert benchmark.edges.confidence.tolist() == [0.7]
    assert benchmark.corpus.sources.rows() == [[], [0]]
    assert benchmark.corpus.time.tolist() == [-1, -1]


def test_evidence_is_distinct_and_flags_are_sorted() -> None:
    """A piece of evidence counts once, in the order given; flags do not depend on the order they came in."""
    builder = Builder("b")
    builder.begin_partition("p")
    builder.add_question(
        "p/q0", "?", dev=True, category="c", answer="", flags=["z", "a"], repaired=[2, 0, 2], published=[1, 1],
        n_published=3, cluster="p",
    )  # fmt: skip
    labels = builder.finish({}).labels
    assert labels.repaired.rows() == [[2, 0]]
    assert labels.published.rows() == [[1]]
    assert labels.n_published.tolist() == [3]
    assert labels.flags == (("a", "z"),)


def test_nothing_added_gives_empty_columns_of_the_right_types() -> None:
    """A benchmark with nothing in it has empty columns, and digests all the same."""
    benchmark = Builder("b").finish({})
    assert len(benchmark.corpus) == len(benchmark.edges) == len(benchmark.questions) == len(benchmark.labels) == 0
    assert benchmark.corpus.confidence.dtype == np.float64
    assert benchmark.edges.source.dtype == np.int32
    assert benchmark.digests()["digest"].startswith("sha256:")
