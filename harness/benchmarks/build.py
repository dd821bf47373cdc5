"""Collects chunks, edges and questions in order of ingestion and packs them into columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from harness.benchmarks.columns import (
    DEV,
    HELDOUT,
    LAYERS,
    Benchmark,
    Corpus,
    Edges,
    Groups,
    Labels,
    Questions,
    Repair,
)

# Static confidences, written once at ingest and never changed afterwards: a confidence that moved with use
# would make rankings depend on the order of the questions.
CONFIDENCE_RAW = 0.4
CONFIDENCE_SUMMARY = 0.6
CONFIDENCE_DISTILLED = 0.7

FOLLOWED_BY = "followed_by"
"""The adjacency relation; stores that call it ``caused`` import under this name."""

DISTILLED = "distilled"


@dataclass
class Builder:
    """Mutable while an importer runs; `finish` makes the immutable `Benchmark`."""

    name: str
    partitions: list[str] = field(default_factory=list)
    chunks: list[tuple[Any, ...]] = field(default_factory=list)
    edges: list[tuple[int, int, str, str, float]] = field(default_factory=list)
    questions: list[tuple[str, str, int, str, str]] = field(default_factory=list)
    labels: list[tuple[Any, ...]] = field(default_factory=list)
    repairs: list[Repair] = field(default_factory=list)
    positions: dict[str, int] = field(default_factory=dict)

    def begin_partition(self, name: str) -> int:
        """Start the next partition; everything added from now on belongs to it."""
        self.partitions.append(name)
        return len(self.partitions) - 1

    def note(self, record: str, fault: str, action: str, count: int = 1) -> None:
        """Add a line to the repair report; one that stands for nothing is left out."""
        if count:
            self.repairs.append(Repair(record, fault, action, count))

    def add_chunk(
        self,
        identifier: str,
        text: str,
        *,
        layer: str,
        confidence: float,
        session: int = 0,
        time: int = -1,
        speaker: str = "",
        caption: str = "",
        sources: Sequence[int] = (),
    ) -> int:
        """Add a chunk to the current partition and return its corpus position."""
        position = len(self.chunks)
        self.positions[identifier] = position
        self.chunks.append(
            (identifier, text, speaker, caption, LAYERS.index(layer), confidence, session, time,
             len(self.partitions) - 1, tuple(sources))
        )  # fmt: skip
        return position

    def add_item(self, identifier: str, text: str, *, layer: str, confidence: float, **rest: Any) -> int:
        """Add a distilled item or summary with its self edge, by which an edge store can find it."""
        position = self.add_chunk(identifier, text, layer=layer, confidence=confidence, **rest)
        self.add_edge(position, position, DISTILLED, "import", confidence)
        return position

    def set_sources(self, sources: Mapping[str, Sequence[str]]) -> None:
        """Say which chunks these were written from, by id; all of them are there."""
        for identifier, ids in sources.items():
            place = self.positions[identifier]
            self.chunks[place] = (*self.chunks[place][:-1], tuple(self.positions[one] for one in ids))

    def add_edge(self, source: int, target: int, relation: str, discovered_by: str, confidence: float) -> None:
        """Add a directed edge between two corpus positions."""
        self.edges.append((source, target, relation, discovered_by, confidence))

    def add_session(self, turns: Sequence[tuple[str, str, str, str]], *, session: int, start: int) -> None:
        """Add a session's turns (id, speaker, text, caption) and their adjacency edges.

        A turn's time is the session's start plus its 0-based index in seconds. Its adjacency edge comes from
        the nearest earlier turn of another speaker in the same session.
        """
        last_by_speaker: dict[str, int] = {}
        for index, (identifier, speaker, text, caption) in enumerate(turns):
            position = self.add_chunk(
                identifier, text, layer="raw", confidence=CONFIDENCE_RAW, session=session, time=start + index,
                speaker=speaker, caption=caption,
            )  # fmt: skip
            earlier = [place for name, place in last_by_speaker.items() if name != speaker]
            if earlier:
                self.add_edge(max(earlier), position, FOLLOWED_BY, "adjacency", CONFIDENCE_RAW)
            last_by_speaker[speaker] = position

    def add_question(
        self,
        identifier: str,
        text: str,
        *,
        dev: bool,
        category: str,
        answer: str,
        flags: Sequence[str],
        repaired: Sequence[int],
        published: Sequence[int],
        n_published: int,
        cluster: str,
        partition: int | None = None,
    ) -> None:
        """Add a question with its labels; of the current partition unless another is named."""
        part = DEV if dev else HELDOUT
        place = len(self.partitions) - 1 if partition is None else partition
        self.questions.append((identifier, text, place, cluster, part))
        self.labels.append(
            (identifier, category, answer, tuple(sorted(flags)), list(dict.fromkeys(repaired)),
             list(dict.fromkeys(published)), n_published)
        )  # fmt: skip

    def finish(self, source: dict[str, Any]) -> Benchmark:
        """Pack everything into columns."""
        return Benchmark(
            self.name,
            tuple(self.partitions),
            self._corpus(),
            self._edges(),
            self._questions(),
            self._labels(),
            source,
            tuple(self.repairs),
        )

    def _corpus(self) -> Corpus:
        columns = _columns(self.chunks, 10)
        ids, texts, speakers, captions, layer, confidence, session, time, partition, sources = columns
        return Corpus(
            tuple(ids), tuple(texts), tuple(speakers), tuple(captions), np.array(layer, np.int8),
            np.array(confidence, np.float64), np.array(session, np.int32), np.array(time, np.int64),
            np.array(partition, np.int32), Groups.of(sources),
        )  # fmt: skip

    def _edges(self) -> Edges:
        source, target, relation, by, confidence = _columns(self.edges, 5)
        return Edges(
            np.array(source, np.int32), np.array(target, np.int32), tuple(relation), tuple(by),
            np.array(confidence, np.float64),
        )  # fmt: skip

    def _questions(self) -> Questions:
        ids, texts, partition, clusters, part = _columns(self.questions, 5)
        return Questions(
            tuple(ids), tuple(texts), np.array(partition, np.int32), tuple(clusters), tuple(part),
            np.arange(len(ids), dtype=np.int32),
        )  # fmt: skip

    def _labels(self) -> Labels:
        ids, categories, answers, flags, repaired, published, n_published = _columns(self.labels, 7)
        return Labels(
            tuple(ids), tuple(categories), tuple(answers), tuple(flags), Groups.of(repaired),
            Groups.of(published), np.array(n_published, np.int32),
        )  # fmt: skip


def _columns(rows: Sequence[Sequence[Any]], width: int) -> list[list[Any]]:
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
