"""Rankings in and out of files: TREC runs, which any evaluator reads, and Parquet, which keeps the scores."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from harness.digest import canonical_json
from harness.errors import EnvironmentProblem, UsageProblem
from harness.retrieval.ranking import Ranking

COLUMNS = {"question": "text", "document": "text", "rank": "whole numbers", "score": "numbers"}
"""The columns of a Parquet ranking."""

_METADATA = b"harness.ranking"
# float() also takes 1_0, nan, inf and the digits of every script
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def write_trec(ranking: Ranking, documents: Sequence[str], path: Path, tag: str = "harness") -> None:
    """Write a TREC run file.

    The score column is derived from the rank and strictly decreasing, because distinct float64 scores can
    become equal in an evaluator that holds float32, and would then be ordered by document name.

    Args:
        ranking: what to write.
        documents: a name for each document position, without blanks.
        path: the file.
        tag: the run's name, the last column.
    """
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        for question, found in ranking.rows():
            for rank, position in enumerate(found, start=1):
                score = len(found) + 1 - rank
                handle.write(f"{question} Q0 {documents[position]} {rank} {score} {tag}\n")


class Names(dict[str, int]):
    """Document names of files that come without a corpus: every name is known, and a new one gets the next position."""

    def __contains__(self, name: object) -> bool:
        return True

    def __missing__(self, name: str) -> int:
        self[name] = len(self)
        return self[name]


def read_trec(path: Path, documents: Mapping[str, int], questions: Sequence[str] | None) -> Ranking:
    """Read a TREC run file; rows are ordered by score, then by their order in the file.

    Args:
        path: lines of ``question Q0 document rank score tag``.
        documents: name → position.
        questions: the question ids in order; a question without rows has an empty ranking. None: those that the
            file names.

    Raises:
        UsageProblem: a malformed line, an unknown question or document, a document twice for one question,
            or a score that is not a finite number; each names the line.
        EnvironmentProblem: the file may not be read.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # with or without a byte order mark
    except (UnicodeDecodeError, OSError) as error:
        _refuse(error, path, "a TREC run file in UTF-8")
    rows = _Rows(documents, questions)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        fields = line.split()
        if len(fields) != 6:
            raise UsageProblem(f"{len(fields)} columns", where=where, allowed="question Q0 document rank score tag")
        question, _, document, _, score, _ = fields
        rows.add(where, question, document, float(score) if _NUMBER.fullmatch(score) else math.nan, score)
    for found in rows.found.values():
        found.sort(key=lambda pair: -pair[0])
    return rows.ranking(0)


def write_parquet(ranking: Ranking, documents: Sequence[str], path: Path, tag: str = "harness") -> None:
    """Write a ranking as a Parquet table with the scores as they are; the same ranking gives the same bytes.

    Columns: question, document (text), rank (int32, from 1), score (float64, higher is better), one row a
    retrieved document, question by question, best first. The metadata ``harness.ranking`` holds tag, depth and
    every question id, so that a question without results differs from one that was never asked.

    Args:
        ranking: what to write.
        documents: a name for each document position.
        path: the file.
        tag: the run's name.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    lengths = np.diff(ranking.offsets)
    owner = np.repeat(np.arange(len(ranking)), lengths)
    about = {"format": 1, "tag": tag, "depth": ranking.depth, "questions": list(ranking.questions)}
    table = pa.table(
        {
            "question": pa.array([ranking.questions[i] for i in owner.tolist()], pa.string()),
            "document": pa.array([documents[p] for p in ranking.positions.tolist()], pa.string()),
            "rank": (np.arange(len(owner)) - ranking.offsets[owner] + 1).astype(np.int32),
            "score": ranking.scores,
        }
    ).replace_schema_metadata({_METADATA: canonical_json(about).encode()})
    # opened here, so that the audit hook of dev work sees the file
    with path.open("wb") as handle:
        pq.write_table(table, handle, compression="zstd", write_page_checksum=True)


def read_parquet(path: Path, documents: Mapping[str, int], questions: Sequence[str] | None) -> Ranking:
    """Read a Parquet ranking; the rank column is the order, and the score must never increase along it.

    Args:
        path: a table with the columns of `write_parquet`, rows in any order; the metadata may be missing.
        documents: name → position.
        questions: the question ids in order; one without rows has an empty ranking, if the file says that it was
            asked or says nothing. None: those that the file names.

    Raises:
        UsageProblem: no such table, a question that was not asked, an unknown question or document, a document
            twice for one question, a score that is not a finite number, or ranks that are not 1, 2, 3, … by
            falling score; rows are named by their number, from 1.
        EnvironmentProblem: the file may not be read.
    """
    table, about = _read_table(path)
    rows = _Rows(documents, questions)
    asked = about.get("questions")
    for question in asked or ():
        rows.known(str(path), question)
    missing = set() if questions is None or asked is None else set(questions).difference(asked)
    if missing:
        what = f"{len(missing)} of {len(rows.found)} questions were not asked, such as {min(missing)!r}"
        raise UsageProblem(what, where=str(path), fix="rank the same questions")
    columns = [table[name].to_pylist() for name in COLUMNS]
    # stable, and the ranks of one question come out ascending whatever the order of the file
    for index in sorted(range(table.num_rows), key=columns[2].__getitem__):
        question, document, rank, score = (column[index] for column in columns)
        where = f"{path}, row {index + 1}"
        rows.add(where, question, document, score, str(score))
        found = rows.found[question]
        if rank != len(found):
            what = f"rank {rank} for question {question!r} where {len(found)} comes next"
            raise UsageProblem(what, where=where, allowed="ranks 1, 2, 3, … of each question, each once")
        if rank > 1 and score > found[-2][0]:
            what = f"rank {rank} of question {question!r} has a higher score than rank {rank - 1}"
            raise UsageProblem(what, where=where, allowed="scores that never increase with the rank")
    return rows.ranking(int(about.get("depth", 0)))


class _Rows:
    """Rows of a file, gathered by question and checked one by one."""

    def __init__(self, documents: Mapping[str, int], questions: Sequence[str] | None) -> None:
        self.documents = documents
        self.open = questions is None
        self.found: dict[str, list[tuple[float, int]]] = {question: [] for question in questions or ()}
        self._seen: set[tuple[str, int]] = set()

    def known(self, where: str, question: str) -> None:
        if self.open:
            self.found.setdefault(question, [])
        if question not in self.found:
            example = min(self.found, default="none")
            raise UsageProblem(f"unknown question {question!r}", where=where, allowed=f"ids such as {example}")

    def add(self, where: str, question: str, document: str, score: float, written: str) -> None:
        self.known(where, question)
        if document not in self.documents:
            example = next(iter(self.documents), "none")
            raise UsageProblem(f"unknown document {document!r}", where=where, allowed=f"ids such as {example}")
        if not math.isfinite(score):
            raise UsageProblem(f"score {written!r}", where=where, allowed="a finite number")
        position = self.documents[document]
        if (question, position) in self._seen:
            what = f"document {document!r} twice for question {question!r}"
            raise UsageProblem(what, where=where, allowed="each document once", fix="remove one of them")
        self._seen.add((question, position))
        self.found[question].append((score, position))

    def ranking(self, depth: int) -> Ranking:
        """What was gathered; at least as deep as the longest list."""
        lengths = np.array([len(found) for found in self.found.values()], dtype=np.int64)
        flat = [pair for found in self.found.values() for pair in found]
        return Ranking(
            tuple(self.found),
            np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
            np.array([position for _, position in flat], dtype=np.int32),
            np.array([score for score, _ in flat], dtype=np.float64),
            max(depth, int(lengths.max(initial=0))),
        )


def _read_table(path: Path) -> tuple[Any, dict[str, Any]]:
    """A ``pyarrow.Table`` with the right columns and no nulls, and its metadata."""
    import pyarrow as pa

    from harness.benchmarks.store import read_table

    allowed = "a Parquet file"
    try:
        # opened here, so that the audit hook of dev work sees the file
        with path.open("rb") as handle:
            table = read_table(handle)
        about = _about((table.schema.metadata or {}).get(_METADATA))
    except (pa.ArrowException, OSError, ValueError) as error:
        _refuse(error, path, allowed)
    if sorted(table.column_names) != sorted(COLUMNS):
        what = f"columns {', '.join(table.column_names) or 'none'}"
        raise UsageProblem(what, where=str(path), allowed=", ".join(COLUMNS))
    fits = {"text": (pa.types.is_string, pa.types.is_large_string), "whole numbers": (pa.types.is_integer,),
            "numbers": (pa.types.is_floating,)}  # fmt: skip
    for name, kind in COLUMNS.items():
        column = table[name]
        of = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
        if not any(fit(of) for fit in fits[kind]):
            raise UsageProblem(f"the column {name} holds {column.type}", where=str(path), allowed=kind)
        if column.null_count:
            what = f"the column {name} has {column.null_count} empty cells"
            raise UsageProblem(what, where=str(path), allowed=kind)
    return table, about


def _about(written: bytes | None) -> dict[str, Any]:
    """Our metadata, or nothing where another tool wrote the file; a ValueError if it is not as we write it."""
    if written is None:
        return {}
    about = json.loads(written)
    known = isinstance(about, dict) and about.get("format") == 1 and isinstance(about.get("depth"), int)
    asked = about.get("questions") if known else None
    if not isinstance(asked, list) or not all(isinstance(question, str) for question in asked):
        raise ValueError(_METADATA.decode())
    return dict(about)


def _refuse(error: Exception, path: Path, allowed: str) -> NoReturn:
    """A file that cannot be read, as one of our problems."""
    where = str(path)
    if isinstance(error, FileNotFoundError):
        raise UsageProblem("no such run file", where=where, fix="give the path of a run file") from None
    if isinstance(error, PermissionError):
        raise EnvironmentProblem("cannot be read", where=where, fix="grant read permission") from None
    raise UsageProblem("not a run file, or a damaged one", where=where, allowed=allowed) from None
