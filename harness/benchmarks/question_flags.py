"""The flag that a question's words alone decide: it is laid over labels wherever they are read, and in no digest."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from harness.benchmarks.columns import EXACT, Corpus, Labels, Questions

_MONTHS = frozenset(
    ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
     "december")
)  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")  # noqa: RUF001 - both apostrophes are written
_SENTENCE = re.compile(r"(?<=[.?!])\s+")


def is_exact(question: str, speakers: Iterable[str] = ()) -> bool:
    """Whether a question holds a digit, a month, or a capitalised word within a sentence.

    Such a question wants the very word, which fusion with meaning may lose.

    Args:
        question: the text.
        speakers: whose names do not count: in their own conversation they tell nothing apart.
    """
    if any(character.isdigit() for character in question):
        return True
    known = {word.casefold() for name in speakers for word in _WORD.findall(name)} | {"i"}
    for sentence in _SENTENCE.split(question.strip()):
        for place, found in enumerate(_WORD.finditer(sentence)):
            word = re.split("['’]", found[0])[0]  # noqa: RUF001 - Ann's is Ann, and I'm is I
            if not word[0].isupper() or word.casefold() in known:
                continue
            if place or (word.casefold() in _MONTHS - {"may", "march"}):
                return True
    return False


def with_exact(labels: Labels, questions: Questions, corpus: Corpus) -> Labels:
    """Labels with the flag on the exact ones of their questions, which stand in the same order."""
    speakers = _speakers(corpus)
    exact = [
        is_exact(text, speakers.get(partition, ()))
        for text, partition in zip(questions.texts, questions.partition.tolist(), strict=True)
    ]
    flags = tuple(
        tuple(sorted({*given, EXACT} if mine else set(given) - {EXACT}))
        for given, mine in zip(labels.flags, exact, strict=True)
    )
    return replace(labels, flags=flags)


def _speakers(corpus: Corpus) -> dict[int, frozenset[str]]:
    """Who speaks in each partition."""
    names = np.array(corpus.speakers, dtype=object)
    bounds = np.flatnonzero(np.diff(corpus.partition, prepend=-1, append=-1))
    return {int(corpus.partition[first]): frozenset(names[first:last]) for first, last in pairwise(bounds.tolist())}
