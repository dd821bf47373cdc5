from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.columns import DEV, Benchmark
from harness.benchmarks.near_duplicates import NEAR, near_duplicates, words_of

TEN = "one two three four five six seven eight nine ten"


@pytest.mark.parametrize(
    ("dev", "heldout", "similarity"),
    [
        ("When did Ada move?", "When did Ada move?", 1.0),
        ("When did Ada move?", "  when DID ada — move", 1.0),
        ("When did Ada move?", "did Ada move, when? Move!", 1.0),
        (TEN, f"{TEN} eleven", 10 / 11),
        (f"{TEN} eleven", TEN, 10 / 11),
        ("a b c d e f g h i", "a b c d e f g h i j", 0.9),
        ("Straße", "STRASSE", 1.0),
        ("ﬁne ①", "fine 1", 1.0),
        ("é", "e\u0301", 1.0),
        ("?!", "?!", 1.0),
        ("", " ", 1.0),
        ("他何时搬到北京的那个新家", "他何时搬到北京的那个新家呢", 12 / 13),
    ],
)
def test_what_is_nearly_the_same_is_found(dev: str, heldout: str, similarity: float) -> None:
    """Case, punctuation, order, repetition and the form of characters do not hide it, nor does a word in ten."""
    assert list(near_duplicates([dev], [heldout])) == [(0, 0, pytest.approx(similarity))]


@pytest.mark.parametrize(
    ("dev", "heldout"),
    [
        (TEN, TEN.replace("ten", "eleven")),
        ("When did Ada move?", "When did Bo move?"),
        ("?!", "!?"),
        ("a b", "a b c"),
        ("他何时搬到北京", "他何时搬到上海"),
        ("", "a"),
    ],
)
def test_what_asks_for_something_else_is_not(dev: str, heldout: str) -> None:
    """One word replaced among ten or fewer may change everything."""
    assert list(near_duplicates([dev], [heldout])) == []


def test_pairs_come_by_place() -> None:
    """By held-out text, then by dev text; equal texts give every pair."""
    found = list(near_duplicates(["b", "A", "a"], ["x", "a", "b", "a!"]))
    assert found == [(1, 1, 1.0), (2, 1, 1.0), (0, 2, 1.0), (1, 3, 1.0), (2, 3, 1.0)]


def test_held_out_texts_are_read_one_at_a_time() -> None:
    """They may be more than memory holds: a pair is given before the next text is asked for."""
    asked = []

    def texts() -> Iterator[str]:
        for text in ("a", "b"):
            asked.append(text)
            yield text

    assert next(near_duplicates(["a"], texts())) == (0, 0, 1.0)
    assert asked == ["a"]


texts = st.lists(st.lists(st.sampled_from("abcdefghijklmn"), max_size=14).map(" ".join), max_size=8)


@given(texts, texts, st.sampled_from([0.2, 0.5, 0.75, NEAR, 1.0]))
def test_none_is_missed_and_none_invented(dev: list[str], heldout: list[str], threshold: float) -> None:
    """The look-up by rare words finds what comparing every text with every other one finds."""
    expected = []
    for place, text in enumerate(heldout):
        for index, other in enumerate(dev):
            one, two = words_of(text), words_of(other)
            similarity = len(one & two) / len(one | two)
            if similarity >= threshold - 1e-9:
                expected.append((index, place, similarity))
    assert list(near_duplicates(dev, heldout, threshold)) == expected


def test_locomo_has_none(locomo: Benchmark) -> None:
    """No question of the nine held-out conversations is nearly one of the dev conversation, nor is a chunk."""
    questions, corpus = locomo.questions, locomo.corpus
    dev = [part == DEV for part in questions.part]
    partitions = {int(number) for number, here in zip(questions.partition, dev, strict=True) if here}
    for texts, here in (
        (questions.texts, dev),
        (corpus.texts, [int(number) in partitions for number in corpus.partition]),
    ):
        mine = [text for text, is_dev in zip(texts, here, strict=True) if is_dev]
        others = [text for text, is_dev in zip(texts, here, strict=True) if not is_dev]
        assert (len(mine), len(others)) in ((199, 1787), (622, 8073))
        assert list(near_duplicates(mine, others)) == []
