"""What is searched: LoCoMo, and stores drawn from a fixed seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.locomo import import_locomo
from harness.retrieval.documents import Documents, build_documents
from harness.retrieval.tokenizer import ascii_words_cjk_bigrams

WORDS = 20_000  # in a drawn store, the r-th as frequent as 1 / r
LENGTHS = (5, 36)  # tokens of a drawn document, uniform, the second excluded
ASKED = 8  # tokens of a drawn question


@dataclass(frozen=True)
class Work:
    """A store and what is asked of it.

    Attributes:
        documents: in tie order, with partitions.
        questions: ids.
        tokens: one token list a question.
        partition: int32 (n_questions), never decreasing.
        depth: documents wanted for a question.
    """

    documents: Documents
    questions: tuple[str, ...]
    tokens: Sequence[list[str]]
    partition: NDArray[np.int32]
    depth: int

    def parts(self) -> list[tuple[slice, slice]]:
        """Documents and questions of every partition that is asked."""
        found = []
        for number in np.unique(self.partition):
            documents = np.searchsorted(self.documents.partition, [number, number + 1])
            questions = np.searchsorted(self.partition, [number, number + 1])
            found.append((slice(*documents.tolist()), slice(*questions.tolist())))
        return found

    def head(self, n: int) -> Work:
        """The first ``n`` questions."""
        return Work(self.documents, self.questions[:n], self.tokens[:n], self.partition[:n], self.depth)


def locomo(path: Path, depth: int, layers: tuple[str, ...]) -> Work:
    """The conversations of LoCoMo with all its questions."""
    benchmark = import_locomo(path)
    documents = build_documents(
        benchmark.corpus, benchmark.edges, read_model="chunk", layers=layers, template="session-prefix/1",
        tokenizer="ascii-words-cjk-bigrams/1",
    )  # fmt: skip
    tokens = [ascii_words_cjk_bigrams(text) for text in benchmark.questions.texts]
    return Work(documents, benchmark.questions.ids, tokens, benchmark.questions.partition, depth)


def drawn(partitions: int, size: int, questions: int, depth: int) -> Work:
    """Documents and questions of words by Zipf's law.

    Args:
        partitions, size: how many there are, and the documents in each.
        questions: asked of each partition.
        depth: documents wanted for a question.
    """
    random = np.random.default_rng(20)
    share = np.cumsum(1.0 / np.arange(1, WORDS + 1))
    names = [f"w{rank}" for rank in range(WORDS)]
    n = partitions * size
    lengths = random.integers(*LENGTHS, n)

    def words(count: int) -> list[str]:
        return [names[rank] for rank in np.searchsorted(share, random.random(count) * share[-1]).tolist()]

    flat, ends = words(int(lengths.sum())), np.cumsum(lengths).tolist()
    rows = [flat[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
    asked = words(partitions * questions * ASKED)
    tokens = [asked[begin : begin + ASKED] for begin in range(0, len(asked), ASKED)]
    numbers = np.arange(partitions, dtype=np.int32)
    documents = Documents(np.arange(n, dtype=np.int32), np.repeat(numbers, size), rows)
    return Work(documents, tuple(f"q{i}" for i in range(len(tokens))), tokens, np.repeat(numbers, questions), depth)
