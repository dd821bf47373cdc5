import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from harness.retrieval import lexical, reference
from harness.retrieval.documents import Documents
from harness.retrieval.lexical import build_index, inverse_document_frequency
from harness.retrieval.ranking import Ranking
from harness.retrieval.top_k import top_k


@dataclass(frozen=True)
class Case:
    """A store, what is asked of it, and the parameters."""

    documents: Documents
    tokens: tuple[tuple[str, ...], ...]
    partition: NDArray[np.int32]
    depth: int = 3
    k1: float = 1.2
    b: float = 0.75

    @property
    def questions(self) -> tuple[str, ...]:
        """Ids of the questions."""
        return tuple(f"q{index}" for index in range(len(self.tokens)))

    def ranked(self, depth: int | None = None) -> Ranking:
        """Our own engine's ranking."""
        index = build_index(self.documents, k1=self.k1, b=self.b)
        return index.search(self.questions, self.tokens, self.partition, depth or self.depth)

    def by_reference(self) -> Ranking:
        """The reference engine's ranking."""
        return reference.search(
            self.documents, self.questions, self.tokens, self.partition, depth=self.depth, k1=self.k1, b=self.b
        )


def case(store: Sequence[Sequence[str]], asked: Sequence[str], **rest: float) -> Case:
    """A case from partitions of documents written as words, all questions asked of the first partition."""
    rows = [tuple(text.split()) for part in store for text in part]
    partition = np.repeat(np.arange(len(store), dtype=np.int32), [len(part) for part in store])
    documents = Documents(np.arange(len(rows), dtype=np.int32), partition, rows)
    return Case(documents, tuple(tuple(q.split()) for q in asked), np.zeros(len(asked), np.int32), **rest)  # type: ignore[arg-type]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Small stores over four words, so that ties, repeats and empty documents are the rule."""
    words = st.lists(st.sampled_from("abcd"), max_size=5).map(tuple)
    partitions = draw(st.lists(st.lists(words, max_size=7), min_size=1, max_size=4))
    rows = [row for part in partitions for row in part]
    partition = np.repeat(np.arange(len(partitions), dtype=np.int32), [len(part) for part in partitions])
    # document positions are anything: an id-text rule permutes them
    positions = np.array(draw(st.permutations(range(len(rows)))), dtype=np.int32)
    asked = draw(st.lists(st.lists(st.sampled_from("abcdxx"), max_size=6).map(tuple), max_size=6))
    whose = draw(st.lists(st.integers(0, len(partitions)), min_size=len(asked), max_size=len(asked)))
    return Case(
        Documents(positions, partition, rows), tuple(asked), np.array(whose, dtype=np.int32), draw(st.integers(1, 9)),
        draw(st.sampled_from([0.0, 0.5, 1.2, 10.0])), draw(st.sampled_from([0.0, 0.4, 0.75, 1.0])),
    )  # fmt: skip


def same(left: Ranking, right: Ranking) -> bool:
    """Whether order and scores are the same to the last bit."""
    return left.same_order(right) and left.scores.tobytes() == right.scores.tobytes()


@settings(max_examples=200)
@given(cases())
def test_same_order_and_scores_as_the_reference(given_case):
    """Both engines give the same positions to the last tie and the same scores to the last bit."""
    ours, theirs = given_case.ranked(), given_case.by_reference()
    assert list(ours.rows()) == list(theirs.rows())
    assert same(ours, theirs)


@settings(max_examples=50)
@given(cases())
def test_scores_follow_the_published_formula(given_case):
    """Every score is the sum over question tokens that the formula gives, worked out document by document."""
    ranking = given_case.ranked(depth=100)
    store, k1, b = given_case.documents, given_case.k1, given_case.b
    rows = dict(zip(store.positions.tolist(), store.tokens, strict=True))
    for index, tokens in enumerate(given_case.tokens):
        mine = [store.tokens[i] for i in np.flatnonzero(store.partition == given_case.partition[index])]
        average = sum(map(len, mine)) / max(1, len(mine))

        def expected(row, tokens=tokens, mine=mine, average=average):
            total = 0.0
            for token in tokens:
                if tf := row.count(token):
                    n = sum(token in other for other in mine)
                    idf = math.log((len(mine) - n + 0.5) / (n + 0.5) + 1)
                    total += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(row) / average))
            return total

        found = ranking.row(index)
        scores = ranking.scores[ranking.offsets[index] : ranking.offsets[index + 1]]
        assert scores == pytest.approx([expected(rows[position]) for position in found], rel=1e-12)
        # idf is positive for every term, so whatever shares a token is found and nothing else is
        assert len(found) == sum(bool(set(row) & set(tokens)) for row in mine)


@settings(max_examples=50)
@given(cases())
def test_only_positive_scores_each_document_once_best_first(given_case):
    """Scores are positive and never increase, ties stand in the order of the documents, nothing stands twice."""
    ranking = given_case.ranked()
    place = {position: i for i, position in enumerate(given_case.documents.positions.tolist())}
    for index in range(len(ranking)):
        span = slice(int(ranking.offsets[index]), int(ranking.offsets[index + 1]))
        keys = [(-s, place[p]) for s, p in zip(ranking.scores[span], ranking.row(index), strict=True)]
        assert keys == sorted(set(keys))
        assert all(score < 0 for score, _ in keys)
        assert len(keys) <= given_case.depth


@settings(max_examples=50)
@given(cases())
def test_a_shorter_list_is_the_head_of_a_longer_one(given_case):
    """The top k is a prefix of the top k + 1, and equals the longer ranking cut."""
    longer = given_case.ranked(given_case.depth + 1)
    assert same(given_case.ranked(), longer.cut(given_case.depth))


@settings(max_examples=50)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_questions_changes_nothing(given_case, random):
    """Asking in another order gives every question the same ranking."""
    order = list(range(len(given_case.tokens)))
    random.shuffle(order)
    index = build_index(given_case.documents, k1=given_case.k1, b=given_case.b)
    shuffled = index.search(
        [given_case.questions[i] for i in order], [given_case.tokens[i] for i in order],
        given_case.partition[order], given_case.depth,
    )  # fmt: skip
    assert same(shuffled, given_case.ranked().take(np.array(order, dtype=np.int64)))


@settings(max_examples=50)
@given(cases())
def test_a_question_alone_is_ranked_as_among_others(given_case):
    """A prebuilt index that is asked one question at a time gives what it gives for all of them at once."""
    index = build_index(given_case.documents, k1=given_case.k1, b=given_case.b)
    whole = given_case.ranked()
    for i in range(len(given_case.tokens)):
        place = np.array([i])
        alone = index.search(
            [given_case.questions[i]], [given_case.tokens[i]], given_case.partition[place], given_case.depth
        )
        assert same(alone, whole.take(place))


@pytest.mark.parametrize("tokens", [1, 1_000_000])
def test_partitions_of_very_different_size_share_blocks(monkeypatch, tokens):
    """Partitions of 1 to 9,000 documents, indexed one by one or together, rank as on the reference engine."""
    monkeypatch.setattr(lexical, "_BLOCK_TOKENS", tokens)
    random = np.random.default_rng(3)
    sizes = [9000, 1, 0, 40, 300]
    rows = [tuple(f"w{word}" for word in random.zipf(1.5, 4) if word < 50) for _ in range(sum(sizes))]
    partition = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    asked = tuple(tuple(f"w{word}" for word in random.zipf(1.5, 5)) for _ in range(60))
    store = Documents(np.arange(len(rows), dtype=np.int32), partition, rows)
    mixed = Case(store, asked, random.integers(0, len(sizes) + 1, 60).astype(np.int32), depth=20)
    assert same(mixed.ranked(), mixed.by_reference())


@settings(max_examples=50)
@given(cases(), st.integers(1, 20), st.integers(1, 20))
def test_the_size_of_blocks_changes_nothing(given_case, cells, tokens):
    """However many score cells are held and tokens indexed at once, the ranking is the same."""
    whole = given_case.ranked()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical, "_BLOCK_CELLS", cells)
        patch.setattr(lexical, "_BLOCK_TOKENS", tokens)
        assert same(given_case.ranked(), whole)


@settings(max_examples=50)
@given(cases())
def test_partitions_are_independent(given_case):
    """A partition's statistics and ranking are the same with and without the other partitions."""
    whole = given_case.ranked()
    for number in np.unique(given_case.partition):
        inside = np.flatnonzero(given_case.documents.partition == number)
        alone = Documents(
            given_case.documents.positions[inside], given_case.documents.partition[inside],
            [given_case.documents.tokens[i] for i in inside],
        )  # fmt: skip
        asked = np.flatnonzero(given_case.partition == number)
        index = build_index(alone, k1=given_case.k1, b=given_case.b)
        ranking = index.search(
            [given_case.questions[i] for i in asked], [given_case.tokens[i] for i in asked],
            given_case.partition[asked], given_case.depth,
        )  # fmt: skip
        assert same(ranking, whole.take(asked))


@pytest.mark.parametrize(
    ("given_case", "expected"),
    [
        (case([["a b", "b c"]], [""]), [[]]),
        (case([["a b", "b c"]], ["x y"]), [[]]),
        (case([["a b"]], ["a", "b a", "c"]), [[0], [0], []]),
        (case([["a", "a", "a"]], ["a"], depth=2), [[0, 1]]),
        (case([["a b", "a", "a a"]], ["a"]), [[2, 1, 0]]),
        (case([["", "a", ""]], ["a"], depth=9), [[1]]),
        (case([["", ""]], ["a"]), [[]]),
        (case([["a", "b", "a"]], ["a"], depth=100), [[0, 2]]),
        (case([["a b", "b a", "c"]], ["a b"], depth=1), [[0]]),
        (case([[], ["a"]], ["a"]), [[]]),
        (case([["a c c", "b d d", "c"]], ["a b b"]), [[1, 0]]),
        (case([["a"]], []), []),
    ],
    ids=[
        "no token left", "unknown terms", "one document", "term everywhere", "shorter and more often wins",
        "empty documents", "only empty documents", "deeper than the corpus", "tie across the cut",
        "empty partition", "a repeated question token counts again", "no question",
    ],
)  # fmt: skip
def test_rankings_by_hand(given_case, expected):
    """Edge cases come out as worked out by hand, on both engines."""
    assert [row for _, row in given_case.ranked().rows()] == expected
    assert same(given_case.by_reference(), given_case.ranked())


def test_one_global_index_would_rank_otherwise():
    """Statistics are the partition's own: a word that is rare here counts as rare whatever the others hold."""
    alone = case([["rare common", "common x", "common"]], ["common rare"])
    crowded = case([["rare common", "common x", "common"], ["rare"] * 50], ["common rare"])
    assert same(alone.ranked(), crowded.ranked())
    pooled = case([["rare common", "common x", "common", *["rare"] * 50]], ["common rare"])
    assert pooled.ranked().row(0) != alone.ranked().row(0)


def test_idf_is_positive_and_falls_with_document_frequency():
    """The idf of a term is ln((N - n + 0.5) / (n + 0.5) + 1), above 0 even where every document has it."""
    values = inverse_document_frequency(np.full(10, 10), np.arange(1, 11))
    assert values.tolist() == [math.log((10 - n + 0.5) / (n + 0.5) + 1) for n in range(1, 11)]
    assert (np.diff(values) < 0).all()
    assert values[-1] > 0


def sorted_in_full(rows: NDArray[np.float64], depth: int) -> list[tuple[int, int, float]]:
    """What `top_k` must find: each row's positive entries by score and column, from Python's own sort."""
    expected = []
    for index, row in enumerate(rows.tolist()):
        order = sorted((column for column in range(len(row)) if row[column] > 0), key=lambda c: (-row[c], c))
        expected += [(index, column, row[column]) for column in order[:depth]]
    return expected


def found_by_top_k(rows: NDArray[np.float64], depth: int) -> list[tuple[int, int, float]]:
    """The columns of `top_k` as tuples."""
    return list(zip(*(column.tolist() for column in top_k(rows, depth)), strict=True))


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 1.5, 2.0]), min_size=5, max_size=5), min_size=1, max_size=4),
    st.integers(1, 7),
)
def test_top_k_equals_a_full_sort(rows, depth):
    """Selecting the best entries of a row gives what sorting the whole row gives."""
    assert found_by_top_k(np.array(rows), depth) == sorted_in_full(np.array(rows), depth)


@pytest.mark.parametrize("height", [1, 3])
@pytest.mark.parametrize("width", [1, 2, 63, 600, 8191, 8192, 20_011])
@pytest.mark.parametrize("depth", [1, 10, 128, 129, 700])
def test_top_k_of_any_shape_settles_ties_by_column(height, width, depth):
    """Narrow rows, wide rows and a single row, cut in the middle of ties, come out as from a full sort."""
    random = np.random.default_rng(height * width + depth)
    rows = random.integers(0, 6, (height, width)) * 1.1
    rows[0] = random.random(width) * (random.random(width) < 0.3)
    assert found_by_top_k(rows, depth) == sorted_in_full(rows, depth)


@pytest.mark.parametrize("depth", [1, 2, 5, 300, 400])
def test_top_k_tells_scores_apart_that_differ_in_the_last_bit(depth):
    """Scores one rounding apart are no tie: the higher one comes first wherever it stands, at the cut too."""
    random = np.random.default_rng(7)
    rows = 1.0 + random.integers(0, 3, (20, 400)) * 2.0**-52
    rows[:, 50:] *= random.random((20, 350)) < 0.9
    assert found_by_top_k(rows, depth) == sorted_in_full(rows, depth)
