"""The columns of a benchmark, and their content digests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.groups import Groups as Groups  # columns are where readers look for it
from harness.benchmarks.groups import IntArray
from harness.benchmarks.near_duplicates import plain_words
from harness.digest import digest_json, digest_rows

LAYERS = ("raw", "distill", "summary", "negation")
"""Layers of a store: turns, facts written down from them, session summaries, notes that revoke an item."""

DEV, HELDOUT = "dev", "heldout"

EXACT = "exact"
"""Flag of a question about a name, a number or a month. Its words decide it, so that it is stored nowhere."""


@dataclass(frozen=True)
class Corpus:
    """Chunks in order of ingestion: a partition's raw turns by time, then distilled items, then summaries.

    Attributes:
        ids: one text id a chunk; no retriever sees it.
        texts, speakers, captions: what was said, by whom, and the caption of a shared image ("" where none).
        layer: int8, index into `LAYERS`.
        confidence: float64, the static confidence written at ingest, 0 to 1.
        session: int32, 1-based session number, 0 where there is none.
        time: int64, seconds since 1970 in UTC, -1 where unknown.
        partition: int32, index into the benchmark's partitions, never decreasing.
        sources: for each chunk the chunks that it was written from; empty for raw turns.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    speakers: tuple[str, ...]
    captions: tuple[str, ...]
    layer: NDArray[np.int8]
    confidence: NDArray[np.float64]
    session: IntArray
    time: NDArray[np.int64]
    partition: IntArray
    sources: Groups

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self) -> Iterator[list[Any]]:
        """One plain list a chunk, for digests; positions stand as ids."""
        columns = (self.layer.tolist(), self.confidence.tolist(), self.session.tolist(), self.time.tolist())
        partition = self.partition.tolist()
        for index, (layer, confidence, session, time) in enumerate(zip(*columns, strict=True)):
            sources = [self.ids[position] for position in self.sources.row(index)]
            yield [
                self.ids[index], self.texts[index], self.speakers[index], self.captions[index],
                LAYERS[layer], confidence, session, time, partition[index], sources,
            ]  # fmt: skip


@dataclass(frozen=True)
class Edges:
    """Directed edges between chunks, in order of ingestion.

    Attributes:
        source, target: int32, corpus positions; equal for a self edge.
        relation, discovered_by: what the edge means and what wrote it.
        confidence: float64, the edge's own static confidence.
    """

    source: IntArray
    target: IntArray
    relation: tuple[str, ...]
    discovered_by: tuple[str, ...]
    confidence: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.relation)

    def rows(self, ids: Sequence[str]) -> Iterator[list[Any]]:
        """One plain list an edge, for digests; positions stand as chunk ids."""
        ends = zip(self.source.tolist(), self.target.tolist(), strict=True)
        rest = zip(self.relation, self.discovered_by, self.confidence.tolist(), strict=True)
        for (source, target), (relation, by, confidence) in zip(ends, rest, strict=True):
            yield [ids[source], ids[target], relation, by, confidence]


@dataclass(frozen=True)
class Questions:
    """Questions without anything that was derived from a label.

    Attributes:
        ids: ordinal ids such as ``conv-26/q0``; the same text may be asked twice.
        texts: the questions.
        partition: int32, the partition that each one searches.
        clusters: the unit of independence, by name.
        part: ``dev`` or ``heldout``.
        ordinal: int32, the question's place in the whole benchmark, both parts together.
    """

    ids: tuple[str, ...]
    texts: tuple[str, ...]
    partition: IntArray
    clusters: tuple[str, ...]
    part: tuple[str, ...]
    ordinal: IntArray

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self) -> Iterator[list[Any]]:
        """One plain list a question, for digests."""
        places, ordinals = self.partition.tolist(), self.ordinal.tolist()
        columns = (self.ids, self.texts, places, self.clusters, self.part, ordinals)
        yield from (list(row) for row in zip(*columns, strict=True))

    def take(self, indices: NDArray[np.int64]) -> Questions:
        """The questions at ``indices``, in that order."""
        chosen = indices.tolist()

        def pick(column: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(column[index] for index in chosen)

        return Questions(
            pick(self.ids), pick(self.texts), self.partition[indices], pick(self.clusters), pick(self.part),
            self.ordinal[indices],
        )  # fmt: skip

    def merged(self, other: Questions) -> Questions:
        """These and ``other``'s questions together, in the order of the whole benchmark."""
        both = Questions(
            self.ids + other.ids, self.texts + other.texts,
            np.concatenate([self.partition, other.partition]), self.clusters + other.clusters,
            self.part + other.part, np.concatenate([self.ordinal, other.ordinal]),
        )  # fmt: skip
        return both.take(np.argsort(both.ordinal, kind="stable"))


@dataclass(frozen=True)
class Labels:
    """What was judged, aligned with `Questions` by id.

    Attributes:
        ids: question ids.
        categories: one category a question.
        answers: gold answer, "" where the right answer is to abstain.
        flags: names such as ``image_dependent`` or ``abstain``.
        repaired: evidence after repair, distinct corpus positions.
        published: evidence as published, the ids that exist exactly as written.
        n_published: int32, how many ids were published, those that match nothing included.
        overlay: evidence with an overlay's corrections, None where none was laid over.
    """

    ids: tuple[str, ...]
    categories: tuple[str, ...]
    answers: tuple[str, ...]
    flags: tuple[tuple[str, ...], ...]
    repaired: Groups
    published: Groups
    n_published: IntArray
    overlay: Groups | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, chunk_ids: Sequence[str]) -> Iterator[list[Any]]:
        """One plain list a question, for digests; evidence stands as chunk ids."""
        counts = self.n_published.tolist()
        for index, identifier in enumerate(self.ids):
            yield [
                identifier, self.categories[index], self.answers[index],
                [flag for flag in self.flags[index] if flag != EXACT],
                [chunk_ids[p] for p in self.repaired.row(index)],
                [chunk_ids[p] for p in self.published.row(index)], counts[index],
                *([] if self.overlay is None else [[chunk_ids[p] for p in self.overlay.row(index)]]),
            ]  # fmt: skip

    def aligned(self, other: Labels, ids: Sequence[str]) -> Labels:
        """These and ``other``'s labels together, in the order of the question ids ``ids``."""
        both = Labels(
            self.ids + other.ids, self.categories + other.categories, self.answers + other.answers,
            self.flags + other.flags, self.repaired.joined(other.repaired),
            self.published.joined(other.published),
            np.concatenate([self.n_published, other.n_published]),
            None if self.overlay is None or other.overlay is None else self.overlay.joined(other.overlay),
        )  # fmt: skip
        place = {identifier: index for index, identifier in enumerate(both.ids)}
        return both.take(np.array([place[identifier] for identifier in ids], dtype=np.int64))

    def take(self, indices: NDArray[np.int64]) -> Labels:
        """The labels at ``indices``, in that order."""
        chosen = indices.tolist()
        return Labels(
            tuple(self.ids[i] for i in chosen),
            tuple(self.categories[i] for i in chosen),
            tuple(self.answers[i] for i in chosen),
            tuple(self.flags[i] for i in chosen),
            self.repaired.take(indices),
            self.published.take(indices),
            self.n_published[indices],
            None if self.overlay is None else self.overlay.take(indices),
        )


@dataclass(frozen=True)
class Repair:
    """One thing that an importer found and what it did about it; ``count`` times, where one line stands for many."""

    record: str
    fault: str
    action: str
    count: int = 1


@dataclass(frozen=True)
class Benchmark:
    """A whole benchmark in memory, as an importer leaves it.

    Attributes:
        name: ``locomo``, ``synthetic`` or the user's own.
        partitions: names of the partitions; a question searches its own only.
        source: where it came from (file digests, variant), plain mapping.
        repairs: everything that was found and done, nothing is dropped silently.
    """

    name: str
    partitions: tuple[str, ...]
    corpus: Corpus
    edges: Edges
    questions: Questions
    labels: Labels
    source: dict[str, Any]
    repairs: tuple[Repair, ...]

    def digests(self) -> dict[str, str]:
        """Content digests of every part, and ``digest`` over them all."""
        parts = split_digests(self.corpus, self.edges, self.questions, self.labels)
        return parts | {"digest": benchmark_digest(self.name, self.partitions, parts)}


def part_indices(questions: Questions, part: str) -> NDArray[np.int64]:
    """Positions of the questions of one part, int64."""
    return np.flatnonzero(np.array([name == part for name in questions.part], dtype=bool))


def split_digests(corpus: Corpus, edges: Edges, questions: Questions, labels: Labels) -> dict[str, str]:
    """Digests of corpus, edges, and of the questions and labels of each part."""
    digests = {
        "corpus": digest_rows("corpus/1", corpus.rows()),
        "edges": digest_rows("edges/1", edges.rows(corpus.ids)),
    }
    for part in (DEV, HELDOUT):
        chosen = part_indices(questions, part)
        digests[f"{part}_questions"] = questions_digest(questions.take(chosen))
        digests[f"{part}_labels"] = labels_digest(labels.take(chosen), corpus.ids)
    return digests


def question_members(questions: Questions) -> frozenset[str]:
    """Short digests of the questions' words: what tells whether two question sets overlap, whatever their names.

    Case, blanks, punctuation and the forms of characters do not count: a question that was changed in them only is
    the same question.
    """
    plain = (" ".join(plain_words(text)) for text in questions.texts)
    return frozenset(hashlib.sha256(f"question/2\n{text}".encode()).hexdigest()[:16] for text in plain)


def questions_digest(questions: Questions) -> str:
    """Digest of question ids, texts, partitions, clusters and parts, in order."""
    return digest_rows("questions/1", questions.rows())


def labels_digest(labels: Labels, chunk_ids: Sequence[str]) -> str:
    """Digest of everything that was judged, in order."""
    return digest_rows("labels/1", labels.rows(chunk_ids))


def benchmark_digest(name: str, partitions: Sequence[str], parts: dict[str, str]) -> str:
    """The one digest that a preregistration names."""
    return digest_json("benchmark/1", {"name": name, "partitions": list(partitions), "parts": parts})
