"""A judged collection: one store that every question searches, and judgments that name documents by their ids."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from harness.benchmarks.build import CONFIDENCE_RAW, Builder
from harness.benchmarks.clusters import OWN, clusters_of
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.lines import Seen
from harness.benchmarks.qrels import Qrels
from harness.benchmarks.split import draw, draw_dev
from harness.benchmarks.texts import Text
from harness.errors import UsageProblem

STORE = "all"
"""The one partition."""

CATEGORY = "uncategorised"
"""The category of every question: neither form has any, and ``all`` is the name of the slice with everything."""

SHARE = 5
"""One question of so many is drawn for development, where no judgments are set apart for it."""

_SHOWN = 3  # ids that an error shows from each side


@dataclass(frozen=True)
class Judgments:
    """The judgments of one part, and the file that they are from."""

    path: Path
    qrels: Qrels
    sha256: str

    @classmethod
    def of(cls, path: Path, read: Callable[[Path], Qrels]) -> Judgments:
        """Read a file of judgments."""
        qrels = read(path)
        return cls(path, qrels, hashlib.sha256(path.read_bytes()).hexdigest())


@dataclass(frozen=True)
class Split:
    """How questions come to be for development or held out.

    Attributes:
        heldout: whose questions are held out.
        dev: whose questions are for development; None to draw from those of ``heldout``.
        wanted: how many questions for development; None for all of ``dev``, or a fifth of ``heldout``.
        clusters: what questions share, as `harness.benchmarks.clusters.clusters_of` takes it.
    """

    heldout: Judgments
    dev: Judgments | None = None
    wanted: int | None = None
    clusters: str = OWN


class Collection:
    """Takes documents, then questions, then judgments; `finish` makes the benchmark."""

    def __init__(self, name: str) -> None:
        self._builder = Builder(name)
        self._builder.begin_partition(STORE)
        self._questions: dict[str, str] = {}
        self._corpus, self._asked = Path(), Path()
        self._files: dict[str, Any] = {}

    def add_documents(self, path: Path, texts: Iterable[Text], seen: Seen) -> None:
        """Add every document, in the order of the file; equal texts under different ids are kept.

        Raises:
            UsageProblem: an id twice.
        """
        builder, lines = self._builder, array("q")
        for number, identifier, text in texts:
            earlier = builder.positions.get(identifier)
            if earlier is not None:
                raise _twice("document", identifier, path, number, lines[earlier])
            lines.append(number)
            builder.add_chunk(identifier, text, layer="raw", confidence=CONFIDENCE_RAW)
            if not text.strip():
                builder.note(identifier, "document without text", "kept; there is nothing to find in it")
        self._corpus = path
        self._files["corpus"] = {"name": path.name, "sha256": seen.sha256, "bytes": seen.bytes}

    def add_questions(self, path: Path, texts: Iterable[Text], seen: Seen) -> None:
        """Add every question; those that nobody judged are left out later.

        Raises:
            UsageProblem: an id twice.
        """
        lines: dict[str, int] = {}
        for number, identifier, text in texts:
            earlier = lines.setdefault(identifier, number)
            if earlier != number:
                raise _twice("question", identifier, path, number, earlier)
            self._questions[identifier] = text
        self._asked = path
        self._files["questions"] = {"name": path.name, "sha256": seen.sha256, "bytes": seen.bytes}

    def finish(self, split: Split, source: dict[str, Any]) -> Benchmark:
        """Judge the questions, part them, and pack everything into columns.

        Args:
            split: the judgments, and who gets which.
            source: what to say of the source beside the digests of the files.

        Raises:
            UsageProblem: no question or no relevant document of some judgments is there, nothing is left for
                development or to be held out, or a question has no cluster.
        """
        heldout = self._judged(split.heldout)
        dev = self._judged(split.dev) if split.dev else {}
        for question in [question for question in dev if question in heldout]:
            del dev[question]
            self._builder.note(question, "question judged in both parts", "held out, and not for development")
        judged = heldout | dev
        asked = [question for question in self._questions if question in judged]
        unjudged = len(self._questions) - len(asked)
        self._builder.note(self._asked.name, "question that nobody judged", "left out", unjudged)
        cluster = dict(zip(asked, clusters_of(split.clusters, asked), strict=True))
        tried = [question for question in asked if question in dev]
        promised = [question for question in asked if question in heldout]
        if split.dev is None:
            kept = self._drawn(split, promised, cluster)
        else:
            kept = self._own(split, split.dev, tried, promised, cluster)
        for question in asked:
            if question in kept or question in heldout:
                self._add(question, judged[question], cluster[question], dev=question in kept)
        for role, judgments in (("heldout", split.heldout), ("dev", split.dev)):
            if judgments is not None:
                self._files[role] = {"name": judgments.path.name, "sha256": judgments.sha256}
                action = "counts as relevant and no more"
                self._builder.note(judgments.path.name, "grade above 1", action, judgments.qrels.graded)
        return self._builder.finish({**source, "files": self._files})

    def _judged(self, judgments: Judgments) -> dict[str, tuple[str, ...]]:
        """Relevant documents of the questions that are there, by id, those included that are not there."""
        path, relevant = judgments.path, judgments.qrels.relevant
        found = {question: documents for question, documents in relevant.items() if question in self._questions}
        if not found:
            raise _apart("question", path, relevant, self._asked, self._questions)
        wanted = [document for documents in found.values() for document in documents]
        if not wanted:
            allowed = "a grade above 0 for at least one question"
            raise UsageProblem("no document is relevant to any question", where=str(path), allowed=allowed)
        if not any(document in self._builder.positions for document in wanted):
            raise _apart("document", path, wanted, self._corpus, self._builder.positions)
        for question in relevant:
            if question not in found:
                self._builder.note(question, "judged question that is not there", f"left out, of {path.name}")
        return found

    def _drawn(self, split: Split, heldout: Sequence[str], cluster: Mapping[str, str]) -> frozenset[str]:
        """Questions drawn for development from those that would be held out."""
        wanted = max(1, len(heldout) // SHARE) if split.wanted is None else split.wanted
        clusters = [cluster[question] for question in heldout]
        chosen = draw_dev(clusters, [CATEGORY] * len(heldout), wanted, str(split.heldout.path))
        return frozenset(question for question in heldout if cluster[question] in chosen)

    def _own(
        self, split: Split, of: Judgments, dev: Sequence[str], heldout: Sequence[str], cluster: Mapping[str, str]
    ) -> frozenset[str]:
        """Questions for development with judgments of their own; none shares a cluster with one that is held out."""
        taken = {cluster[question] for question in heldout}
        alone = [question for question in dev if cluster[question] not in taken]
        for question in dev:
            if cluster[question] in taken:
                self._builder.note(question, "dev question in a cluster of held-out questions", "left out")
        where = str(of.path)
        if not alone:
            allowed = f"at least one question that {split.heldout.path.name} does not hold out"
            raise UsageProblem("no question is left for development", where=where, allowed=allowed)
        wanted = len(alone) if split.wanted is None else split.wanted
        if wanted < 1:
            what = f"{wanted} questions for development"
            raise UsageProblem(what, where=where, allowed="at least one", fix="--dev N")
        drawn = draw([cluster[question] for question in alone], [CATEGORY] * len(alone), wanted)
        kept = frozenset(question for question in alone if cluster[question] in drawn)
        self._builder.note(of.path.name, "dev question that was not drawn", "left out", len(alone) - len(kept))
        return kept

    def _add(self, question: str, documents: Sequence[str], cluster: str, *, dev: bool) -> None:
        builder, text = self._builder, self._questions[question]
        # by position, so that the order of the judgments makes no difference
        found = sorted(builder.positions[document] for document in documents if document in builder.positions)
        for document in documents:
            if document not in builder.positions:
                action = f"dropped: {document}; evidence as published counts it"
                builder.note(question, "relevant document that is not in the corpus", action)
        if not documents:
            builder.note(question, "question without a relevant document", "kept; the measure says how it counts")
        if not text.strip():
            builder.note(question, "question without text", "kept; it asks for nothing")
        builder.add_question(
            question, text, dev=dev, category=CATEGORY, answer="", flags=(), repaired=found, published=found,
            n_published=len(documents), cluster=cluster,
        )  # fmt: skip


def _twice(what: str, identifier: str, path: Path, number: int, earlier: int) -> UsageProblem:
    said = f"the {what} {identifier!r} stands twice, first in line {earlier}"
    return UsageProblem(said, where=f"{path}:{number}", allowed="each id once", fix="remove or rename one of them")


def _apart(what: str, path: Path, judged: Iterable[str], other: Path, there: Iterable[str]) -> UsageProblem:
    """The error for judgments of another collection, with ids from both sides."""
    mine, theirs = (", ".join(map(repr, islice(ids, _SHOWN))) for ids in (judged, there))
    said = f"no {what} in common with {other.name}: {path.name} has {mine}; {other.name} has {theirs}"
    return UsageProblem(said, where=str(path), allowed=f"judgments of the {what}s of {other}", fix="check the ids")
