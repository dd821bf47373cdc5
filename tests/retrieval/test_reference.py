from dataclasses import replace
from itertools import combinations

import bm25s
import numpy as np
import pytest

from harness.benchmarks.columns import LAYERS as LAYERS_OF_CORPUS
from harness.benchmarks.columns import Benchmark
from harness.retrieval.documents import build_documents
from harness.retrieval.lexical import build_index
from harness.retrieval.ranking import Ranking
from harness.retrieval.reference import ReferenceBM25
from harness.retrieval.registry import select
from harness.retrieval.template import TEMPLATES
from harness.retrieval.tokenizer import ascii_words_cjk_bigrams
from harness.retrieval.version import Engine, Store

LAYERS = [("raw",), ("raw", "distill"), ("raw", "distill", "summary")]
VERSIONS = ["bm25", "bm25-edges", "static-tiebreak", "static-tiebreak-edges"]
PRESENT = ("raw", "distill", "summary")
SUBSETS = [chosen for size in (1, 2, 3) for chosen in combinations(PRESENT, size)]


def rank(benchmark: Benchmark, version: str, engine: Engine = "numpy", every: int = 1, **parameters: object) -> Ranking:
    """Rank every n-th question of a benchmark to depth 100."""
    questions = benchmark.questions.take(np.arange(0, len(benchmark.questions), every))
    return select(version, parameters).rank(Store(benchmark.corpus, benchmark.edges), questions, 100, engine)


def assert_same(ours: Ranking, theirs: Ranking) -> None:
    """The same positions to the last tie, and the same scores to the last bit."""
    assert ours.same_order(theirs)
    assert ours.scores.tobytes() == theirs.scores.tobytes()
    assert len(ours.positions) > 10 * len(ours)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("layers", LAYERS, ids="+".join)
def test_engines_agree_on_the_synthetic_benchmark(synthetic, version, layers):
    """Both engines rank every synthetic question alike."""
    assert_same(rank(synthetic, version, layers=layers), rank(synthetic, version, "rank_bm25", layers=layers))


@pytest.mark.parametrize(
    ("version", "layers", "every"),
    [
        *((version, layers, 2 if len(layers) == 1 else 5) for version in VERSIONS[:2] for layers in LAYERS),
        *((version, LAYERS[1], 5) for version in VERSIONS[2:]),
    ],
    ids=str,
)
def test_engines_agree_on_locomo(locomo, version, layers, every):
    """Both engines rank LoCoMo alike: every second question over the raw layer, every fifth over more layers."""
    ours, theirs = (rank(locomo, version, engine, every, layers=layers) for engine in ("numpy", "rank_bm25"))
    assert_same(ours, theirs)


@pytest.mark.parametrize("name", ["synthetic", "locomo"])
@pytest.mark.parametrize("layers", SUBSETS, ids="+".join)
def test_every_choice_of_layers_and_template_ranks(request, name, layers):
    """Each set of layers under each template ranks chunks of these layers only, on both engines alike."""
    whole = request.getfixturevalue(name)
    # one conversation will do: the stores of the others are built the same way
    asked = np.flatnonzero(whole.questions.partition == whole.questions.partition[0])[::12]
    benchmark = replace(whole, questions=whole.questions.take(asked))
    wanted = {LAYERS_OF_CORPUS.index(layer) for layer in layers}
    for template in TEMPLATES:
        ours, theirs = (
            rank(benchmark, "bm25", engine, layers=layers, template=template) for engine in ("numpy", "rank_bm25")
        )
        assert ours.same_order(theirs)
        assert set(benchmark.corpus.layer[ours.positions].tolist()) == wanted


@pytest.mark.parametrize("choices", [{"tie_rule": "id-text"}, {"k1": 0.9, "b": 0.4}, {"k1": 0}, {"b": 1}, {"b": 0}])
def test_engines_agree_under_other_parameters(synthetic, choices):
    """Both engines rank alike under another tie rule and at the ends of the parameters' ranges."""
    ours = rank(synthetic, "bm25", every=5, **choices)
    assert_same(ours, rank(synthetic, "bm25", "rank_bm25", every=5, **choices))


@pytest.mark.parametrize(("k1", "b"), [(0.0, 0.75), (1.2, 1.0), (0.0, 1.0)])
def test_the_reference_knows_no_undefined_score(k1, b):
    """A term that a document lacks adds nothing where the library's own formula divides zero by zero."""
    engine = ReferenceBM25([["a"], ["b", "c"], []], k1=k1, b=b, epsilon=0)
    scores = engine.get_scores(["a", "b", "x"])
    assert np.isfinite(scores).all()
    assert (scores > 0).tolist() == [True, True, False]


def test_chunk_ids_carry_no_meaning(synthetic):
    """Renaming every chunk changes nothing under the ordinal rule, and does under the rule id-text."""
    corpus = synthetic.corpus
    names = tuple(f"c{(len(corpus) - i) * 7919 % 100003:06d}" for i in range(len(corpus)))
    renamed = replace(synthetic, corpus=replace(corpus, ids=names))
    for version in VERSIONS:
        assert_same(rank(synthetic, version), rank(renamed, version))
    by_text = [rank(which, "bm25", tie_rule="id-text") for which in (synthetic, renamed)]
    assert not by_text[0].same_order(by_text[1])


def test_questions_of_one_partition_rank_alike_alone(synthetic):
    """Asking one conversation's questions alone gives what asking everything gives."""
    whole = rank(synthetic, "bm25-edges")
    chosen = np.flatnonzero(synthetic.questions.partition == 3)
    store = Store(synthetic.corpus, synthetic.edges)
    alone = select("bm25-edges").rank(store, synthetic.questions.take(chosen), 100)
    assert_same(alone, whole.take(chosen))


@pytest.mark.parametrize("read_model", ["chunk", "edge"])
def test_scores_are_those_of_another_library(synthetic, read_model):
    """Scores are 2.2 times those of bm25s's variant without the factor k1 + 1, in every third store."""
    documents = build_documents(
        synthetic.corpus, synthetic.edges, read_model=read_model, layers=["raw", "distill"],
        template="session-prefix/1", tokenizer="ascii-words-cjk-bigrams/1",
    )  # fmt: skip
    questions = synthetic.questions
    tokens = [ascii_words_cjk_bigrams(text) for text in questions.texts]
    ranking = build_index(documents, k1=1.2, b=0.75).search(questions.ids, tokens, questions.partition, len(documents))
    for number in np.unique(questions.partition)[::3]:
        members = np.flatnonzero(documents.partition == number)
        engine = bm25s.BM25(method="lucene", k1=1.2, b=0.75, dtype="float64")
        engine.index([list(documents.tokens[i]) for i in members], show_progress=False)
        for question in np.flatnonzero(questions.partition == number):
            known = [token for token in tokens[question] if token in engine.vocab_dict]
            theirs = dict(zip(documents.positions[members].tolist(), 2.2 * engine.get_scores(known), strict=True))
            found = ranking.row(int(question))
            ours = ranking.scores[ranking.offsets[question] : ranking.offsets[question + 1]]
            assert ours == pytest.approx([theirs[position] for position in found], rel=1e-12)
            assert len(found) == sum(score > 0 for score in theirs.values())
