"""Texts that two parts of a benchmark have in common, or nearly so: what was tuned on one is then known of the other.

Texts are compared as sets of words (Jaccard 1901). Two sets that are so alike must share one of their few rarest
words, so that only those are looked up (prefix filtering, Chaudhuri, Ganti & Kaushik 2006).
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

NEAR = 0.9
"""Least similarity: a text of ten different words with one word more or less (10/11), not with one replaced (9/11),
which may be the one that the question is about."""

# without blanks between words, each character of Chinese, Japanese and Korean counts as one
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_TOLERANCE = 1e-9  # 0.9 · n is not always what it is on paper


class Pair(NamedTuple):
    """Two texts that are alike.

    Attributes:
        dev, heldout: where they stand.
        similarity: Jaccard index of their words, 1.0 for equal sets.
    """

    dev: int
    heldout: int
    similarity: float


def near_duplicates(dev: Sequence[str], heldout: Iterable[str], threshold: float = NEAR) -> Iterator[Pair]:
    """Every pair of a dev text and a held-out text that are alike, by held-out text and then by dev text.

    Case, punctuation, the order of words and their repetition make no difference; a text without any word is alike
    to its equals only. Memory grows with the dev texts; held-out texts are read once, one at a time.

    Args:
        dev, heldout: texts.
        threshold: least similarity, above 0.
    """
    sets: dict[frozenset[str], list[int]] = defaultdict(list)
    for place, text in enumerate(dev):
        sets[words_of(text)].append(place)
    frequency = Counter(word for words in sets for word in words)
    rarest: dict[str, list[frozenset[str]]] = defaultdict(list)
    for words in sets:
        for word in _prefix(words, frequency, threshold):
            rarest[word].append(words)
    for place, text in enumerate(heldout):
        words = words_of(text)
        candidates = {other for word in _prefix(words, frequency, threshold) for other in rarest.get(word, ())}
        alike = ((other, _similarity(words, other)) for other in candidates)
        found = [
            Pair(index, place, similarity)
            for other, similarity in alike
            if similarity >= threshold - _TOLERANCE
            for index in sets[other]
        ]
        yield from sorted(found)


def plain_words(text: str) -> list[str]:
    """The words of a text in order, whatever its case and the forms of its characters; its all if it has none."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    return _WORD.findall(plain) or ["".join(plain.split())]


def words_of(text: str) -> frozenset[str]:
    """The different words of a text."""
    return frozenset(plain_words(text))


def _similarity(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def _prefix(words: frozenset[str], frequency: Counter[str], threshold: float) -> list[str]:
    """So many of a set's rarest words that one that is alike must have one of them among its own."""
    needed = max(1, math.ceil(threshold * len(words) - _TOLERANCE))
    return sorted(words, key=lambda word: (frequency[word], word))[: len(words) - needed + 1]
