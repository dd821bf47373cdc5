from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.build import Builder
from harness.benchmarks.columns import Benchmark
from harness.errors import UsageProblem
from harness.retrieval.documents import Documents, build_documents, chunk_tokens, describe, document_names
from harness.retrieval.template import session_prefix


def tiny() -> Benchmark:
    """Two partitions: twelve turns, one fact, one summary and a cross-layer edge; then two turns."""
    builder = Builder("tiny")
    builder.begin_partition("p")
    turns = [(f"p/D1:{i}", "Ann" if i % 2 else "Bo", f"word{i}", "") for i in range(1, 13)]
    builder.add_session(turns, session=1, start=0)
    fact = builder.add_item("p/o", "the fact", layer="distill", confidence=0.7, sources=[1, 2])
    builder.add_item("p/s", "sum up", layer="summary", confidence=0.6)
    builder.add_edge(0, fact, "supports", "import", 0.5)
    builder.begin_partition("a")
    builder.add_session([("a/D1:1", "Cy", "last", ""), ("a/D1:2", "Di", "word1", "")], session=1, start=0)
    return builder.finish({})


def build(layers: Sequence[str], read_model: Any = "chunk", **choices: Any) -> Documents:
    """The documents of the tiny store with bare text."""
    store = tiny()
    return build_documents(
        store.corpus, store.edges, read_model=read_model, layers=layers, template="bare/1",
        tokenizer="ascii-words-cjk-bigrams/1", **choices,
    )  # fmt: skip


def test_chunks_stand_in_order_of_ingestion():
    """Over the chunk read model every chunk of the layers is a document, in corpus order."""
    documents = build(["raw"])
    assert documents.positions.tolist() == [*range(12), 14, 15]
    assert documents.partition.tolist() == [0] * 12 + [1] * 2
    assert documents.tokens[0] == ["ann", "word1"]
    assert len(documents) == 14


@pytest.mark.parametrize(
    ("layers", "positions"),
    [(["distill"], [12]), (["summary"], [13]), (["distill", "summary"], [12, 13]), (["summary", "distill"], [12, 13])],
)
def test_only_the_layers_asked_for_are_indexed(layers, positions):
    """Layers select chunks, and the order in which they are named does not matter."""
    assert build(layers).positions.tolist() == positions


def test_an_edge_reads_as_one_end_and_then_the_other():
    """Over the edge read model a document's tokens are those of its source followed by its target's."""
    documents = build(["raw"], "edge")
    assert documents.positions.tolist() == [*range(11), 14]
    assert documents.tokens[0] == ["ann", "word1", "bo", "word2"]
    assert documents.partition.tolist() == [0] * 11 + [1]


@pytest.mark.parametrize("read_model", ["chunk", "edge"])
def test_equal_tokens_are_one_object(read_model):
    """A word that stands in many documents is in memory once."""
    words = [word for tokens in build(["raw"], read_model).tokens for word in tokens]
    assert len({id(word) for word in words}) == len(set(words)) < len(words)


def test_a_self_edge_doubles_its_text():
    """The self edge of a distilled item holds the item's tokens twice."""
    documents = build(["distill"], "edge")
    assert documents.positions.tolist() == [11]
    assert documents.tokens == [["fact", "fact"]]


def test_an_edge_needs_both_ends_in_the_store():
    """An edge between layers appears only where both layers are in."""
    crossing = 13
    assert crossing not in build(["raw"], "edge").positions
    assert crossing not in build(["distill"], "edge").positions
    assert build(["raw", "distill"], "edge").positions.tolist() == [*range(12), crossing, 14]


@pytest.mark.parametrize("read_model", ["chunk", "edge"])
@pytest.mark.parametrize("tie_rule", ["ordinal", "id-text"])
@pytest.mark.parametrize("number", [0, 1])
def test_building_one_partition_gives_what_building_all_gives(read_model, tie_rule, number):
    """The documents of a partition are the same whether or not the others are built."""
    every = build(["raw", "distill"], read_model, tie_rule=tie_rule)
    one = build(["raw", "distill"], read_model, tie_rule=tie_rule, partitions=np.array([number], np.int32))
    chosen = np.flatnonzero(every.partition == number)
    assert one.positions.tolist() == every.positions[chosen].tolist()
    assert one.tokens == [every.tokens[i] for i in chosen]


def test_ids_compared_as_text_put_turn_ten_before_turn_two():
    """Under the rule id-text D1:10 precedes D1:2, which the ordinal rule never does."""
    names = tiny().corpus.ids
    by_text = [names[p] for p in build(["raw"], tie_rule="id-text").positions]
    assert by_text[:5] == ["p/D1:1", "p/D1:10", "p/D1:11", "p/D1:12", "p/D1:2"]
    by_ordinal = [names[p] for p in build(["raw"]).positions]
    assert by_ordinal.index("p/D1:2") < by_ordinal.index("p/D1:10")


def test_ids_compared_as_text_prefer_a_layer_by_its_name():
    """Under the rule id-text an id that sorts first wins whatever its layer, and partitions stay together."""
    documents = build(["raw", "distill", "summary"], tie_rule="id-text")
    assert [tiny().corpus.ids[p] for p in documents.positions[-4:]] == ["p/o", "p/s", "a/D1:1", "a/D1:2"]
    assert (np.diff(documents.partition) >= 0).all()


def test_edges_compared_as_text_follow_both_ends():
    """Under the rule id-text edges are ordered by the text of source and target."""
    names = document_names(tiny().corpus, tiny().edges, "edge")
    ordered = [names[p] for p in build(["raw"], "edge", tie_rule="id-text").positions[:11]]
    assert ordered == sorted(ordered)
    # "-" sorts before every digit, so D1:1 comes before D1:10
    assert ordered[:2] == ["p/D1:1->p/D1:2", "p/D1:10->p/D1:11"]


def test_a_store_without_such_documents_is_refused_with_what_it_has():
    """Asking for layers of which the benchmark has none names the layers that it has."""
    with pytest.raises(UsageProblem, match="no chunk in the layer negation") as caught:
        build(["negation"])
    assert caught.value.allowed == "layers of this benchmark: raw, distill, summary"


def test_a_layer_that_a_store_lacks_is_an_empty_one():
    """A version of all layers works on a store of turns alone, so that one version in force serves every benchmark."""
    assert build(["raw", "negation"]).positions.tolist() == build(["raw"]).positions.tolist()


def test_names_have_no_blanks_and_cover_every_position():
    """A run file names chunks by id and edges by both ends."""
    store = tiny()
    assert document_names(store.corpus, store.edges, "chunk") == list(store.corpus.ids)
    edges = document_names(store.corpus, store.edges, "edge")
    assert edges[0] == "p/D1:1->p/D1:2"
    assert edges[11] == "p/o->p/o"
    assert len(edges) == len(store.edges)


def test_a_chunk_gives_itself_and_a_distilled_one_traces_to_its_sources():
    """Described chunks stand in ascending order, each once, with the turns that they were written from."""
    store = tiny()
    found = describe([12, 3, 12, 13], store.corpus, store.edges, "chunk")
    assert list(found) == [3, 12, 13]
    assert (found[3].layer, found[3].chunks, found[3].sources) == ("raw", (3,), (3,))
    assert (found[12].layer, found[12].chunks, found[12].sources) == ("distill", (12,), (1, 2))
    assert (found[13].layer, found[13].chunks, found[13].sources) == ("summary", (13,), (13,))
    assert found[12].tokens == 2


def test_an_edge_gives_both_ends_and_a_self_edge_one():
    """Described edges give their distinct ends, pay for each once, and trace each end to its sources."""
    store = tiny()
    found = describe([1, 11, 13], store.corpus, store.edges, "edge")
    assert (found[1].chunks, found[1].sources) == ((1, 2), (1, 2))
    assert (found[11].chunks, found[11].sources, found[11].layer) == ((12,), (1, 2), "distill")
    assert (found[13].chunks, found[13].sources, found[13].layer) == ((0, 12), (0, 1, 2), "raw")
    sizes = chunk_tokens(store.corpus, [1, 2, 12])
    assert found[1].tokens == sizes[1] + sizes[2]
    assert found[11].tokens == sizes[12] == 2


def test_a_turn_is_paid_for_with_its_prefix_and_stop_words():
    """Sizes count what a reader sees: session, date, speaker and every word."""
    store = tiny()
    assert session_prefix(store.corpus, 0) == "[session_1 1970-01-01 00:00] Ann: word1"
    words = ["session", "1", "1970", "01", "01", "00", "00", "Ann", "word1"]
    assert chunk_tokens(store.corpus, [0]) == {0: len(words)}


def test_locomo_has_its_known_stores(locomo):
    """LoCoMo gives 5,882 turns, 5,610 adjacency edges and one self edge for every other chunk."""
    corpus, edges = locomo.corpus, locomo.edges
    choices = {"template": "bare/1", "tokenizer": "ascii-words-cjk-bigrams/1"}
    turns = build_documents(corpus, edges, read_model="chunk", layers=["raw"], **choices)
    adjacent = build_documents(corpus, edges, read_model="edge", layers=["raw"], **choices)
    assert (len(turns), len(adjacent)) == (5882, 5610)
    others = len(corpus) - 5882
    layers = ["raw", "distill", "summary"]
    assert len(build_documents(corpus, edges, read_model="edge", layers=layers, **choices)) == 5610 + others
