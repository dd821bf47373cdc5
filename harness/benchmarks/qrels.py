"""Qrels, in TREC's form and in BEIR's: which documents are relevant to which questions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.benchmarks.source import need_id
from harness.errors import EnvironmentProblem, UsageProblem

HEADER = ("query-id", "corpus-id", "score")
"""The first line of BEIR's judgments."""

_FORM, _TSV_FORM = "question 0 document grade", "question, tab, document, tab, grade"
_GRADES = "a whole number; above 0 is relevant"
_Row = tuple[int, str, str, str]  # the line's number, question, document, grade
_GRADE = re.compile(r"-?[0-9]{1,9}")


@dataclass(frozen=True)
class Qrels:
    """Judgments by question.

    Attributes:
        relevant: question → documents with a grade above 0; empty where all were judged irrelevant.
        judged: judgments in all.
        graded: judgments with a grade above 1, which count as relevant and no more.
    """

    relevant: Mapping[str, tuple[str, ...]]
    judged: int
    graded: int

    @property
    def without_evidence(self) -> list[str]:
        """Questions without a relevant document."""
        return [question for question, documents in self.relevant.items() if not documents]


def read_qrels(path: Path) -> Qrels:
    """Read a qrels file.

    Args:
        path: lines of ``question 0 document grade``; a grade above 0 is relevant. The second column is not used.

    Raises:
        UsageProblem: no such file, no judgment in it, a malformed line, a grade that is not a whole number, or a
            document judged twice for one question; each names the line.
        EnvironmentProblem: the file may not be read.
    """
    return _gathered(path, _trec_rows(path), _FORM)


def read_tsv_qrels(path: Path) -> Qrels:
    """Read judgments in BEIR's form.

    Args:
        path: lines of question, tab, document, tab, grade, with or without BEIR's header; a grade above 0 is relevant.

    Raises:
        UsageProblem, EnvironmentProblem: as `read_qrels`; also another header, or an id with a blank.
    """
    return _gathered(path, _tsv_rows(path), _TSV_FORM)


def _trec_rows(path: Path) -> Iterator[_Row]:
    for number, line in _lines(path):
        question, _, document, grade = _columns(line.split(), 4, f"{path}:{number}", _FORM)
        yield number, question, document, grade


def _tsv_rows(path: Path) -> Iterator[_Row]:
    for place, (number, line) in enumerate(_lines(path)):
        where = f"{path}:{number}"
        if "\t" not in line:
            raise UsageProblem("no tab in it", where=where, allowed=_TSV_FORM)
        question, document, grade = _columns(line.split("\t"), 3, where, _TSV_FORM)
        if place == 0 and (question, document, grade) == HEADER:
            continue
        if place == 0 and not _GRADE.fullmatch(grade):
            allowed = f"{' tab '.join(HEADER)}, or no header and in the third column {_GRADES}"
            raise UsageProblem(f"the header {line!r}", where=where, allowed=allowed)
        yield number, need_id(question, where, HEADER[0]), need_id(document, where, HEADER[1]), grade


def _columns(fields: list[str], wanted: int, where: str, form: str) -> list[str]:
    if len(fields) != wanted:
        raise UsageProblem(f"{len(fields)} columns", where=where, allowed=form)
    return fields


def _gathered(path: Path, rows: Iterable[_Row], form: str) -> Qrels:
    relevant: dict[str, list[str]] = {}
    first: dict[tuple[str, str], int] = {}
    graded = 0
    for number, question, document, grade in rows:
        where = f"{path}:{number}"
        if not _GRADE.fullmatch(grade):
            raise UsageProblem(f"grade {grade!r}", where=where, allowed=_GRADES)
        earlier = first.setdefault((question, document), number)
        if earlier != number:
            what = f"document {document!r} is judged twice for question {question!r}, first in line {earlier}"
            raise UsageProblem(what, where=where, allowed="each document once", fix="remove one of them")
        found = relevant.setdefault(question, [])
        if int(grade) > 0:
            found.append(document)
        graded += int(grade) > 1
    if not first:
        raise UsageProblem("no judgment in it", where=str(path), allowed=f"lines of {form}")
    return Qrels({question: tuple(found) for question, found in relevant.items()}, len(first), graded)


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines that are not blank, with their numbers."""
    where = str(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # with or without a byte order mark
        return [(number, line) for number, line in enumerate(lines, start=1) if line.strip()]
    except FileNotFoundError:
        raise UsageProblem("no such qrels file", where=where, fix="give the path of a qrels file") from None
    except PermissionError:
        raise EnvironmentProblem("cannot be read", where=where, fix="grant read permission") from None
    except (UnicodeDecodeError, OSError):
        raise UsageProblem("not a qrels file, or a damaged one", where=where, allowed="text in UTF-8") from None
