"""Tokenizers. Each is named and versioned, because a change of tokens is a change of retrieval."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from types import MappingProxyType

STOP_WORDS = frozenset(
    ("a", "an", "the", "to", "and", "or", "of", "in", "on", "for", "with", "is", "are", "was", "were", "be", "by",
     "at", "as", "it", "this", "that", "we", "i")
)  # fmt: skip

# `\w` is exactly str.isalnum() or the underscore, so the second branch is every other alphanumeric run
_RUN = re.compile(r"[A-Za-z0-9]+|[^\W_A-Za-z0-9]+")

Tokenizer = Callable[[str], list[str]]


def ascii_words_cjk_bigrams(text: str) -> list[str]:
    """Lower-cased ASCII words without stop words; other scripts as overlapping pairs of code points.

    A run of other alphanumeric code points of length n > 1 gives its n - 1 pairs, a single one stands alone.
    No stemming; an apostrophe ends a word, so "don't" gives "don" and "t"; digits are words.
    """
    if text.isascii():
        # all runs are words, so that the whole text is lower-cased at once; beyond ASCII that could change its length
        return [word for word in _RUN.findall(text.lower()) if word not in STOP_WORDS]
    tokens: list[str] = []
    for run in _RUN.findall(text):
        if run[0].isascii():
            word = run.lower()
            if word not in STOP_WORDS:
                tokens.append(word)
        elif len(run) == 1:
            tokens.append(run)
        else:
            tokens.extend(run[index : index + 2] for index in range(len(run) - 1))
    return tokens


def nfkc_casefold_words_cjk_bigrams(text: str) -> list[str]:
    """As `ascii_words_cjk_bigrams`, after Unicode NFKC normalisation and case folding."""
    return ascii_words_cjk_bigrams(unicodedata.normalize("NFKC", text).casefold())


TOKENIZERS: Mapping[str, Tokenizer] = MappingProxyType(
    {
        "ascii-words-cjk-bigrams/1": ascii_words_cjk_bigrams,
        "nfkc-casefold-words-cjk-bigrams/1": nfkc_casefold_words_cjk_bigrams,
    }
)


def count_tokens(text: str) -> int:
    """Size of a text as a read budget counts it: ASCII words, stop words included, and other code points."""
    return sum(1 if run[0].isascii() else len(run) for run in _RUN.findall(text))
