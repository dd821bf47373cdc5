import numpy as np
import pytest

from harness.benchmarks.build import Builder
from harness.benchmarks.columns import Benchmark
from harness.errors import UsageProblem
from harness.evaluation.budget import parse_tokens, read_budget, within_tokens
from harness.retrieval.documents import describe
from harness.retrieval.ranking import Ranking


def tiny() -> Benchmark:
    """Three turns of 9, 10 and 11 tokens with two adjacency edges, and a fact of 2 with its self edge."""
    builder = Builder("tiny")
    builder.begin_partition("p")
    turns = [("D1:1", "Ann", "one", ""), ("D1:2", "Bo", "one two", ""), ("D1:3", "Ann", "the two three", "")]
    builder.add_session(turns, session=1, start=0)
    builder.add_item("o", "a fact", layer="distill", confidence=0.7, sources=[0])
    return builder.finish({})


def listed(*rows: list[int]) -> Ranking:
    """A ranking of as many questions."""
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    positions = np.array([position for row in rows for position in row], dtype=np.int32)
    return Ranking(tuple(f"q{i}" for i in range(len(rows))), offsets, positions, np.zeros(len(positions)), 10)


def test_means_over_chunks_by_hand():
    """Documents, chunks, tokens and layer shares of the first two chunks a question are worked out by hand."""
    store, ranking = tiny(), listed([0, 3, 2], [1], [], [2, 0])
    found = read_budget(
        ranking, 2, store.corpus, describe(ranking.positions.tolist(), store.corpus, store.edges, "chunk")
    )
    assert (found.documents, found.chunks) == (5 / 4, 5 / 4)
    assert found.tokens == (9 + 2 + 10 + 11 + 9) / 4
    assert found.layers == {"raw": 4 / 5, "distill": 1 / 5}
    assert found.empty == 1
    assert found.as_mapping()["layers"] == found.layers


def test_an_endpoint_shared_by_two_edges_is_read_once():
    """Edges 0-1 and 1-2 give three chunks and a self edge one, and each is paid for once."""
    store, ranking = tiny(), listed([0, 1, 2], [1])
    found = read_budget(
        ranking, 10, store.corpus, describe(ranking.positions.tolist(), store.corpus, store.edges, "edge")
    )
    assert (found.documents, found.chunks) == (2.0, 3.0)
    assert found.tokens == (9 + 10 + 11 + 2 + 10 + 11) / 2
    assert found.layers == {"raw": 5 / 6, "distill": 1 / 6}


@pytest.mark.parametrize("rows", [[], [[]]], ids=["no question", "nothing retrieved"])
def test_nothing_read_costs_nothing(rows):
    """Without questions or without documents every mean is 0 and no layer has a share."""
    found = read_budget(listed(*rows), 10, tiny().corpus, {})
    assert (found.documents, found.chunks, found.tokens, found.layers) == (0, 0, 0, {})
    assert found.empty == len(rows)


@pytest.mark.parametrize("version", ["bm25", "bm25-edges"])
def test_layer_shares_add_up_to_one(ranked, synthetic, version):
    """On a whole benchmark the shares of the layers add up to 1 and ten documents is the most a question reads."""
    ranking, documents = ranked(synthetic, version, layers=("raw", "distill", "summary"))
    found = read_budget(ranking, 10, synthetic.corpus, documents)
    assert sum(found.layers.values()) == pytest.approx(1, abs=1e-12)
    assert set(found.layers) == {"raw", "distill", "summary"}
    assert found.documents <= 10
    assert found.chunks <= found.documents * (2 if version == "bm25-edges" else 1)


def test_a_deeper_cut_reads_more(ranked, synthetic):
    """Every part of the budget grows with the cut-off."""
    ranking, documents = ranked(synthetic)
    shallow, deep = (read_budget(ranking, k, synthetic.corpus, documents) for k in (5, 20))
    assert shallow.documents < deep.documents
    assert shallow.chunks < deep.chunks
    assert shallow.tokens < deep.tokens


def read_within(tokens: int, unit: str, *rows: list[int]) -> list[list[int]]:
    """What fits, question by question."""
    store, ranking = tiny(), listed(*rows)
    documents = describe(ranking.positions.tolist(), store.corpus, store.edges, unit)
    read = within_tokens(ranking, tokens, store.corpus, documents)
    assert (read.questions, read.depth) == (ranking.questions, ranking.depth)
    return [row for _, row in read.rows()]


@pytest.mark.parametrize(
    ("tokens", "left"),
    [(2, [[], [], [3]]), (9, [[0], [], [3]]), (11, [[0, 3], [2], [3]]), (22, [[0, 3, 2], [2, 3], [3, 2, 0]])],
)
def test_documents_are_read_while_they_fit(tokens, left):
    """Turns of 9, 10 and 11 tokens and a fact of 2: nothing behind the first that does not fit is read."""
    assert read_within(tokens, "chunk", [0, 3, 2], [2, 3], [3, 2, 0]) == left


def test_what_was_read_already_costs_nothing():
    """Edges 0-1 and 1-2 share a turn, so that both fit into the tokens of three turns."""
    assert read_within(9 + 10 + 11, "edge", [0, 1, 2]) == [[0, 1]]
    assert read_within(9 + 10 + 11 - 1, "edge", [0, 1, 2]) == [[0]]


@pytest.mark.parametrize(
    "text",
    ["2000", "tokens", "tokens:", "tokens:0", "tokens:-1", "tokens:1e3", "token:5", "tokens: 5", "tokens:\uff15",
     "tokens:10000001", "chunks:10", "tokens:" + "9" * 5000],
)  # fmt: skip
def test_a_budget_in_another_spelling_is_refused(text):
    """Only ``tokens:`` and a whole number above 0."""
    with pytest.raises(UsageProblem, match="the budget"):
        parse_tokens(text)
    assert parse_tokens("tokens:2000") == 2000
