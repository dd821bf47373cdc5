"""The files of a full run: sealed rankings, then evidence and scores; all of it text that anyone can read."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness.benchmarks.columns import Groups, Labels, Questions
from harness.digest import canonical_json
from harness.errors import IntegrityProblem
from harness.evaluation.measure import Measure, parse_measure
from harness.evaluation.scores import NO_EVIDENCE, Scores
from harness.ledger import durable
from harness.retrieval.documents import Described
from harness.retrieval.ranking import Ranking

ROLES = ("baseline", "candidate")
QUESTIONS, EVIDENCE, SCORES = "questions.jsonl", "evidence.jsonl", "scores.json"
BUDGET, ENVIRONMENT = "budget.json", "environment.json"


def ranking_file(role: str) -> str:
    """Name of a role's ranking file."""
    return f"ranking-{role}.jsonl"


def documents_file(role: str) -> str:
    """Name of the file that describes a role's ranked documents."""
    return f"documents-{role}.jsonl"


SEALED = (QUESTIONS, *(name(role) for role in ROLES for name in (ranking_file, documents_file)))
JUDGED = (EVIDENCE, SCORES)


def sha256(path: Path) -> str:
    """SHA-256 in hex of a run file.

    Raises:
        IntegrityProblem: the file is missing.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        raise IntegrityProblem("a file of the run is missing", where=str(path), fix="restore it from git") from None


def check_files(folder: Path, recorded: Mapping[str, str]) -> None:
    """Compare run files with the digests that the ledger recorded.

    Raises:
        IntegrityProblem: one was changed or is missing.
    """
    for name, digest in recorded.items():
        if sha256(folder / name) != digest:
            what = "the file is not what was recorded"
            raise IntegrityProblem(what, where=str(folder / name), fix="restore it from git")


def _write_lines(path: Path, rows: Iterable[Any]) -> None:
    durable.replace(path, b"".join(canonical_json(row).encode() + b"\n" for row in rows))


def _read_lines(path: Path) -> list[Any]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        what = f"a file of the run cannot be read ({type(error).__name__})"
        raise IntegrityProblem(what, where=str(path), fix="restore it from git") from None


def write_questions(folder: Path, questions: Questions, partitions: tuple[str, ...]) -> None:
    """Write ids, partitions, clusters and parts; no text, no label."""
    columns = (questions.ids, questions.partition.tolist(), questions.clusters, questions.part)
    _write_lines(
        folder / QUESTIONS,
        ([name, partitions[number], cluster, part] for name, number, cluster, part in zip(*columns, strict=True)),
    )


def write_ranking(folder: Path, role: str, ranking: Ranking, documents: Mapping[int, Described]) -> None:
    """Write a ranking's positions, and what each ranked document gives to a reader."""
    _write_lines(folder / ranking_file(role), ([question, found] for question, found in ranking.rows()))
    _write_lines(
        folder / documents_file(role),
        ([position, d.layer, d.tokens, list(d.chunks), list(d.sources)] for position, d in documents.items()),
    )


def write_evidence(folder: Path, labels: Labels) -> None:
    """Write the judged evidence as corpus positions, so that measures can be verified without the benchmark."""
    counts = labels.n_published.tolist()
    _write_lines(
        folder / EVIDENCE,
        (
            [
                name,
                labels.categories[i],
                list(labels.flags[i]),
                labels.repaired.row(i),
                labels.published.row(i),
                counts[i],
                *([] if labels.overlay is None else [labels.overlay.row(i)]),
            ]
            for i, name in enumerate(labels.ids)
        ),
    )


def write_scores(folder: Path, scores: Mapping[str, Scores]) -> None:
    """Write every score of both roles, null where unavailable."""
    measures = {
        str(measure): {
            role: [None if np.isnan(value) else value for value in scores[role].values[measure].tolist()]
            for role in ROLES
        }
        for measure in scores[ROLES[0]].values
    }
    durable.replace(folder / SCORES, canonical_json({"measures": measures}).encode() + b"\n")


def read_questions(folder: Path) -> tuple[Questions, tuple[str, ...]]:
    """The run's questions (without texts) and its partitions."""
    rows = _read_lines(folder / QUESTIONS)
    partitions = tuple(dict.fromkeys(row[1] for row in rows))
    number = {name: index for index, name in enumerate(partitions)}
    questions = Questions(
        tuple(row[0] for row in rows), ("",) * len(rows), np.array([number[row[1]] for row in rows], np.int32),
        tuple(row[2] for row in rows), tuple(row[3] for row in rows), np.arange(len(rows), dtype=np.int32),
    )  # fmt: skip
    return questions, partitions


def read_ranking(folder: Path, role: str, depth: int) -> tuple[Ranking, dict[int, Described]]:
    """A sealed ranking (its scores are not recorded and read as 0) and its documents."""
    rows = _read_lines(folder / ranking_file(role))
    groups = Groups.of([row[1] for row in rows])
    ranking = Ranking(tuple(row[0] for row in rows), groups.offsets, groups.values, np.zeros(len(groups.values)), depth)
    documents = {
        row[0]: Described(row[1], row[2], tuple(row[3]), tuple(row[4]))
        for row in _read_lines(folder / documents_file(role))
    }
    return ranking, documents


def read_labels(folder: Path) -> Labels:
    """The judged labels, without answers."""
    rows = _read_lines(folder / EVIDENCE)
    return Labels(
        tuple(row[0] for row in rows), tuple(row[1] for row in rows), ("",) * len(rows),
        tuple(tuple(row[2]) for row in rows), Groups.of([row[3] for row in rows]),
        Groups.of([row[4] for row in rows]), np.array([row[5] for row in rows], np.int32),
        Groups.of([row[6] for row in rows]) if all(len(row) > 6 for row in rows) else None,
    )  # fmt: skip


def read_scores(folder: Path, questions: Questions) -> dict[str, Scores]:
    """The recorded scores by role."""
    table = json.loads((folder / SCORES).read_text(encoding="utf-8"))["measures"]
    parsed: dict[str, Measure] = {name: parse_measure(name) for name in table}
    found = {}
    for role in ROLES:
        values = {m: np.array([np.nan if v is None else v for v in table[name][role]]) for name, m in parsed.items()}
        missing = {
            measure: {questions.ids[i]: NO_EVIDENCE for i in np.flatnonzero(np.isnan(column))}
            for measure, column in values.items()
        }
        found[role] = Scores(questions.ids, values, missing)
    return found


@dataclass(frozen=True)
class Sealed:
    """What the judge reads of a run: label-free, and exactly what was sealed."""

    questions: Questions
    partitions: tuple[str, ...]
    rankings: Mapping[str, Ranking]
    documents: Mapping[str, Mapping[int, Described]]


def read_sealed(folder: Path, depth: int) -> Sealed:
    """Questions and both rankings of a run."""
    questions, partitions = read_questions(folder)
    read = {role: read_ranking(folder, role, depth) for role in ROLES}
    return Sealed(
        questions,
        partitions,
        {role: pair[0] for role, pair in read.items()},
        {role: pair[1] for role, pair in read.items()},
    )
