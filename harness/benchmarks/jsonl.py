"""A data set of one's own: a folder of ``corpus.jsonl``, ``questions.jsonl`` and, if there are any, ``edges.jsonl``."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.benchmarks.build import FOLLOWED_BY, Builder
from harness.benchmarks.columns import DEV, HELDOUT, Benchmark
from harness.benchmarks.jsonl_lines import CONFIDENCES, ChunkLine, EdgeLine, Findings, QuestionLine, lines_of
from harness.benchmarks.lines import Seen
from harness.benchmarks.near_duplicates import near_duplicates
from harness.benchmarks.split import draw_dev
from harness.errors import UsageProblem

CORPUS, QUESTIONS, EDGES = "corpus.jsonl", "questions.jsonl", "edges.jsonl"

SHARE = 5
"""One question of so many is drawn for development, where no line names a split."""

_SEARCHED = ("raw", "distill")  # by the version that is in force where nothing has passed yet
_EITHER = " or ".join(_SEARCHED)
_CAUSED = "caused"  # what some stores call the relation to the turn before
_SHOWN = 3  # faults in an error


@dataclass
class DataSet:
    """What was read of a folder, and what was found in it.

    Attributes:
        folder: where it lies.
        findings: faults and fields that are not read.
        chunks: partition → place and line, in the order of the file.
        questions, edges: place and line.
        files: file → digest and size.
    """

    folder: Path
    findings: Findings = field(default_factory=Findings)
    chunks: dict[str, list[tuple[str, ChunkLine]]] = field(default_factory=lambda: defaultdict(list))
    questions: list[tuple[str, QuestionLine]] = field(default_factory=list)
    edges: list[tuple[str, EdgeLine]] = field(default_factory=list)
    files: dict[str, Any] = field(default_factory=dict)

    def observations(self) -> list[str]:
        """What is worth knowing of a data set that can be imported, one sentence each."""
        split: dict[str | None, list[QuestionLine]] = defaultdict(list)
        for _, question in self.questions:
            split[question.split].append(question)
        found = [f"not read: {name!r}, lines that have it: {count}" for name, count in self.findings.unread.items()]
        bare = sum(not question.evidence for _, question in self.questions)
        if bare:
            found.append(f"without evidence: {bare} of {len(self.questions)} questions; most measures leave them out")
        if self.questions and None in split:
            try:
                self.drawn(None)
            except UsageProblem as problem:
                found.append(
                    f"a fifth cannot be drawn for development: {problem.what}; {problem.fix} when importing it"
                )
        clusters = {question.cluster or question.id for question in split[HELDOUT]}
        if split[HELDOUT] and len(clusters) < 5:  # as few as no bound is taken over
            found.append(f"held-out clusters: {len(clusters)}; fewer than five decide nothing")
        pairs = list(near_duplicates([one.text for one in split[DEV]], [one.text for one in split[HELDOUT]]))
        if pairs:
            first = f"{split[DEV][pairs[0].dev].id} ~ {split[HELDOUT][pairs[0].heldout].id}"
            found.append(f"held-out questions that are nearly one of dev: {len(pairs)}, such as {first}")
        forms = defaultdict(set)
        for _, chunk in self.all_chunks():
            forms[unicodedata.normalize("NFKC", chunk.id).casefold()].add(chunk.id)
        alike = [sorted(ids) for ids in forms.values() if len(ids) > 1]
        if alike:
            found.append(f"groups of ids that look alike: {len(alike)}, such as {', '.join(map(ascii, alike[0]))}")
        return found

    def drawn(self, dev: int | None) -> frozenset[str]:
        """The clusters that are drawn for development, where no line names a split.

        Raises:
            UsageProblem: none would be drawn, or nothing held out.
        """
        questions = [question for _, question in self.questions]
        clusters = [question.cluster or question.id for question in questions]
        wanted = max(1, len(questions) // SHARE) if dev is None else dev
        return draw_dev(clusters, [question.category for question in questions], wanted, str(self.folder))

    def all_chunks(self) -> list[tuple[str, ChunkLine]]:
        """Every chunk with its place, by partition."""
        return [chunk for chunks in self.chunks.values() for chunk in chunks]


def read_data_set(folder: Path, renamed: Mapping[str, str] | None = None) -> DataSet:
    """Read and check a folder; faults are collected and not raised.

    Args:
        folder: holds ``corpus.jsonl`` and ``questions.jsonl``, and may hold ``edges.jsonl``.
        renamed: ``partition``, ``split`` or ``cluster`` → the field that the files have for it.

    Raises:
        UsageProblem: a file is missing, empty, or no text in UTF-8.
        EnvironmentProblem: a file may not be read.
    """
    data, renamed = DataSet(folder), renamed or {}
    seen = {name: Seen() for name in (CORPUS, QUESTIONS, EDGES)}
    for where, chunk in lines_of(folder / CORPUS, ChunkLine, renamed, data.findings, seen[CORPUS]):
        data.chunks[chunk.partition].append((where, chunk))
    data.questions = list(lines_of(folder / QUESTIONS, QuestionLine, renamed, data.findings, seen[QUESTIONS]))
    if (folder / EDGES).exists():
        data.edges = list(lines_of(folder / EDGES, EdgeLine, renamed, data.findings, seen[EDGES]))
    data.files = {name: {"sha256": one.sha256, "bytes": one.bytes} for name, one in seen.items() if one.bytes}
    _check_together(data)
    return data


def import_jsonl(
    folder: Path, *, name: str = "mine", renamed: Mapping[str, str] | None = None, dev: int | None = None
) -> Benchmark:
    """Read a data set of one's own into columns.

    Args:
        folder, renamed: as in `read_data_set`.
        name: the benchmark's name in this workspace.
        dev: least number of questions to draw for development, where no line names a split; by default a fifth.

    Raises:
        UsageProblem: anything is wrong with it; the error names the first faults.
    """
    data = read_data_set(folder, renamed)
    faults = data.findings.faults
    if faults:
        more = f", and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        first = "; ".join(f"{fault.where}: {fault.what}" for fault in faults[:_SHOWN])
        fix = f"harness data check {folder} lists every one with its mend"
        raise UsageProblem(f"{first}{more}", where=str(folder), fix=fix)
    builder = Builder(name)
    for partition, chunks in data.chunks.items():
        builder.begin_partition(partition)
        for _, chunk in chunks:
            builder.add_chunk(
                chunk.id, chunk.text, layer=chunk.layer,
                confidence=CONFIDENCES[chunk.layer] if chunk.confidence is None else chunk.confidence,
                session=chunk.session, time=chunk.time, speaker=chunk.speaker, caption=chunk.caption,
            )  # fmt: skip
    # a source may stand below what was written from it
    builder.set_sources({chunk.id: chunk.sources for _, chunk in data.all_chunks() if chunk.sources})
    for _, edge in data.edges:
        adjacent = edge.discovered_by == "adjacency" and edge.relation == _CAUSED
        relation = FOLLOWED_BY if adjacent else edge.relation
        ends = builder.positions[edge.source], builder.positions[edge.target]
        builder.add_edge(*ends, relation, edge.discovered_by, edge.confidence)
    _add_questions(builder, data, dev)
    source = {"format": "jsonl", "variant": f"own data of {folder.name}", "license": "own data", "files": data.files}
    return builder.finish(source)


def _add_questions(builder: Builder, data: DataSet, dev: int | None) -> None:
    questions = [question for _, question in data.questions]
    clusters = [question.cluster or question.id for question in questions]
    if questions[0].split is None:
        chosen = data.drawn(dev)
    elif dev is not None:
        fix = "leave --dev out, or the split of every line"
        raise UsageProblem("the lines name their split already", where=str(data.folder / QUESTIONS), fix=fix)
    else:
        chosen = frozenset(one for one, question in zip(clusters, questions, strict=True) if question.split == DEV)
    number = {partition: index for index, partition in enumerate(builder.partitions)}
    for question, cluster in zip(questions, clusters, strict=True):
        evidence = [builder.positions[chunk] for chunk in question.evidence]
        builder.add_question(
            question.id, question.text, dev=cluster in chosen, category=question.category, answer=question.answer,
            flags=tuple(dict.fromkeys(question.flags)), repaired=evidence, published=evidence,
            n_published=len(set(evidence)), cluster=cluster, partition=number[question.partition],
        )  # fmt: skip


def _check_together(data: DataSet) -> None:
    """What no line shows by itself: ids that stand twice or nowhere, and a split that hangs together."""
    add = data.findings.add
    layers = {chunk.layer for _, chunk in data.all_chunks()}
    if layers and layers.isdisjoint(_SEARCHED):
        what = f"every chunk is in the layer {' or '.join(sorted(layers))}, and the shipped default searches {_EITHER}"
        add(str(data.folder / CORPUS), what, f"give what is to be found the layer {_EITHER}")
    chunks = _once(data.all_chunks(), data.findings, "chunk")
    _once(data.questions, data.findings, "question")

    def names(where: str, identifier: str, partition: str, what: str) -> None:
        if identifier not in chunks:
            add(where, f"{what} {identifier!r} is no chunk of {CORPUS}", "correct the id, or leave it out")
        elif chunks[identifier].partition != partition:
            there = chunks[identifier].partition
            add(
                where, f"{what} {identifier!r} lies in partition {there!r}, not in {partition!r}", "correct one of them"
            )

    for where, chunk in data.all_chunks():
        for source in chunk.sources:
            names(where, source, chunk.partition, "the source")
    for where, edge in data.edges:
        start = chunks.get(edge.source)
        names(where, edge.source, start.partition if start else "", "the source")
        names(where, edge.target, start.partition if start else "", "the target")
    for where, question in data.questions:
        if question.partition not in data.chunks:
            add(where, f"partition {question.partition!r} has no chunk", "correct the partition")
            continue
        for chunk_id in question.evidence:
            names(where, chunk_id, question.partition, "the evidence")
    _check_split(data)


def _once(lines: Sequence[tuple[str, Any]], findings: Findings, what: str) -> dict[str, Any]:
    """Lines by id; an id that stands twice is a fault."""
    found: dict[str, tuple[str, Any]] = {}
    for where, line in lines:
        earlier, first = found.setdefault(line.id, (where, line))
        if first is line:
            continue
        moved = getattr(line, "confidence", None) != getattr(first, "confidence", None)
        said = f"the {what} {line.id!r} stands twice, first at {earlier}"
        mend = "a confidence is written once, at ingest: keep the first" if moved else "rename or remove one of them"
        findings.add(where, said + (" with another confidence" if moved else ""), mend)
    return {identifier: line for identifier, (_, line) in found.items()}


def _check_split(data: DataSet) -> None:
    add = data.findings.add
    named = [question.split is not None for _, question in data.questions]
    if any(named) and not all(named):
        where = data.questions[named.index(False)][0]
        what = f"{named.count(False)} of {len(named)} questions have no split, the first here"
        add(where, what, 'write "split": "dev" or "heldout" in every line, or in none')
        return
    clusters = {question.cluster or where for where, question in data.questions}
    if len(clusters) == 1 and not any(named):
        what = "all questions are in one cluster, so that none can be held out beside those for development"
        add(str(data.folder / QUESTIONS), what, "give questions of several clusters")
    sides: dict[str, str] = {}
    for where, question in data.questions:
        if question.split and question.cluster and sides.setdefault(question.cluster, question.split) != question.split:
            what = f"the cluster {question.cluster!r} is for development and held out"
            add(where, what, "give all its questions one split")
    present = {question.split for _, question in data.questions}
    if any(named) and len(present) < 2:
        what = f"every question is in the split {present.pop()!r}"
        add(str(data.folder / QUESTIONS), what, "name both splits, or none: then a fifth is drawn for development")
