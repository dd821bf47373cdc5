"""TREC qrels: which documents are relevant to which questions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import EnvironmentProblem, UsageProblem

_FORM = "question 0 document grade"
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
    relevant: dict[str, list[str]] = {}
    first: dict[tuple[str, str], int] = {}
    graded = 0
    for number, line in enumerate(_lines(path), start=1):
        fields = line.split()
        if not fields:
            continue
        where = f"{path}:{number}"
        if len(fields) != 4:
            raise UsageProblem(f"{len(fields)} columns", where=where, allowed=_FORM)
        question, _, document, grade = fields
        if not _GRADE.fullmatch(grade):
            raise UsageProblem(f"grade {grade!r}", where=where, allowed="a whole number; above 0 is relevant")
        earlier = first.setdefault((question, document), number)
        if earlier != number:
            what = f"document {document!r} is judged twice for question {question!r}, first in line {earlier}"
            raise UsageProblem(what, where=where, allowed="each document once", fix="remove one of them")
        found = relevant.setdefault(question, [])
        if int(grade) > 0:
            found.append(document)
        graded += int(grade) > 1
    if not first:
        raise UsageProblem("no judgment in it", where=str(path), allowed=f"lines of {_FORM}")
    return Qrels({question: tuple(found) for question, found in relevant.items()}, len(first), graded)


def _lines(path: Path) -> list[str]:
    where = str(path)
    try:
        return path.read_text(encoding="utf-8-sig").splitlines()  # with or without a byte order mark
    except FileNotFoundError:
        raise UsageProblem("no such qrels file", where=where, fix="give the path of a qrels file") from None
    except PermissionError:
        raise EnvironmentProblem("cannot be read", where=where, fix="grant read permission") from None
    except (UnicodeDecodeError, OSError):
        raise UsageProblem("not a qrels file, or a damaged one", where=where, allowed="text in UTF-8") from None
