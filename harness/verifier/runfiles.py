"""The files of a full run: questions, rankings, described documents, evidence, scores."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from .measures import Document, Evidence
from .reading import (
    DamageError,
    hexadecimal,
    integer,
    items,
    json_lines,
    mapping,
    number,
    parse,
    read_bytes,
    show,
    text,
)

ROLES = ("baseline", "candidate")
SEALED = (
    "questions.jsonl",
    "ranking-baseline.jsonl",
    "ranking-candidate.jsonl",
    "documents-baseline.jsonl",
    "documents-candidate.jsonl",
    "budget.json",
    "environment.json",
)
JUDGED = ("evidence.jsonl", "scores.json")


class Question(NamedTuple):
    """One line of questions.jsonl."""

    name: str
    partition: str
    cluster: str
    heldout: bool


class Run(NamedTuple):
    """A sealed run. Rankings are aligned with the questions; documents are by position, per role."""

    questions: Sequence[Question]
    rankings: Mapping[str, Sequence[Sequence[int]]]
    documents: Mapping[str, Mapping[int, Document]]
    depth: int


Scores = Mapping[str, Mapping[str, Sequence[float | None]]]
"""Per measure and role, one value per question, in the order of the questions."""


def read_listed(folder: Path, names: Sequence[str], digests: object, where: str) -> tuple[dict[str, bytes], list[str]]:
    """Read the named files and compare each with its listed SHA-256.

    Returns:
        The bytes of the files that could be read, also where they differ from the list, so that a reader
            can name the damaged line; and the problems.
    """
    contents: dict[str, bytes] = {}
    problems: list[str] = []
    try:
        listed = mapping(digests, where)
        if listed.keys() != set(names):
            raise DamageError(f"{where}: lists {len(listed)} files instead of {', '.join(names)}")
        expected = {name: hexadecimal(listed[name], f"{where}: {name}") for name in names}
    except DamageError as error:
        return {}, [str(error)]
    for name in names:
        try:
            contents[name] = read_bytes(folder / name, name)
        except DamageError as error:
            problems.append(str(error))
            continue
        actual = hashlib.sha256(contents[name]).hexdigest()
        if actual != expected[name]:
            problems.append(f"{name}: sha256 {actual[:16]}..., {expected[name][:16]}... is recorded")
    return contents, problems


def parse_run(contents: Mapping[str, bytes], count: int, depth: int) -> Run:
    """Parse the sealed files and check that they fit together.

    Args:
        contents: Bytes by file name.
        count: The sealed number of questions.
        depth: The sealed length of the longest ranking.

    Raises:
        DamageError: At the first line that breaks the format.
    """
    questions = parse_questions(contents["questions.jsonl"], "questions.jsonl")
    if len(questions) != count:
        raise DamageError(f"questions.jsonl: {len(questions)} questions, {count} are sealed")
    rankings: dict[str, Sequence[Sequence[int]]] = {}
    documents: dict[str, Mapping[int, Document]] = {}
    for role in ROLES:
        listing = f"documents-{role}.jsonl"
        documents[role] = parse_documents(contents[listing], listing)
        name = f"ranking-{role}.jsonl"
        rankings[role] = parse_rankings(contents[name], name, questions, depth)
        for line, ranking in enumerate(rankings[role], start=1):
            for document in ranking:
                if document not in documents[role]:
                    raise DamageError(f"{name}:{line}: document {document} is not described in {listing}")
    return Run(questions, rankings, documents, depth)


def parse_questions(raw: bytes, name: str) -> list[Question]:
    """Parse questions.jsonl: distinct questions, of which at least one is held out."""
    questions: list[Question] = []
    seen: set[str] = set()
    for where, value in json_lines(raw, name):
        question, partition, cluster, split = (text(part, where) for part in items(value, where, 4))
        if split not in ("dev", "heldout"):
            raise DamageError(f"{where}: split {show(split)} instead of 'dev' or 'heldout'")
        if question in seen:
            raise DamageError(f"{where}: question {show(question)} occurs twice")
        seen.add(question)
        questions.append(Question(question, partition, cluster, split == "heldout"))
    if not any(question.heldout for question in questions):
        raise DamageError(f"{name}: no held-out question")
    return questions


def parse_rankings(raw: bytes, name: str, questions: Sequence[Question], depth: int) -> list[tuple[int, ...]]:
    """Parse a ranking file: the questions in their order, at most ``depth`` documents, none twice."""
    rankings: list[tuple[int, ...]] = []
    for where, value in json_lines(raw, name):
        question, listed = items(value, where, 2)
        _check_order(question, questions, len(rankings), where)
        ranking = tuple(integer(document, where) for document in items(listed, where))
        if len(ranking) > depth:
            raise DamageError(f"{where}: {len(ranking)} documents, at most {depth} are sealed")
        if len(set(ranking)) != len(ranking):
            raise DamageError(f"{where}: a document is ranked twice")
        rankings.append(ranking)
    _check_count(len(rankings), questions, name)
    return rankings


def parse_documents(raw: bytes, name: str) -> dict[int, Document]:
    """Parse a file of described documents, in ascending order."""
    documents: dict[int, Document] = {}
    last = -1
    for where, value in json_lines(raw, name):
        document, _layer, tokens, chunks, sources = items(value, where, 5)
        position = integer(document, where)
        if position <= last:
            raise DamageError(f"{where}: document {position} after {last}, the order is not ascending")
        last = position
        integer(tokens, f"{where}: tokens")
        documents[position] = Document(_positions(chunks, where), _positions(sources, where))
    return documents


def parse_evidence(raw: bytes, name: str, questions: Sequence[Question]) -> list[Evidence]:
    """Parse evidence.jsonl, aligned with the questions."""
    evidence: list[Evidence] = []
    for where, value in json_lines(raw, name):
        fields = items(value, where)
        if len(fields) not in (6, 7):
            raise DamageError(f"{where}: {len(fields)} items instead of 6, or 7 with an overlay")
        question, category, flags, repaired, published, count = fields[:6]
        _check_order(question, questions, len(evidence), where)
        existing = frozenset(_positions(published, where))
        evidence.append(
            Evidence(
                category=text(category, where),
                flags=frozenset(text(flag, where) for flag in items(flags, where)),
                repaired=frozenset(_positions(repaired, where)),
                published=existing,
                n_published=integer(count, f"{where}: count of published labels", least=len(existing)),
                overlay=frozenset(_positions(fields[6], where)) if len(fields) == 7 else None,
            )
        )
    _check_count(len(evidence), questions, name)
    return evidence


def parse_scores(raw: bytes, name: str, questions: Sequence[Question]) -> Scores:
    """Parse scores.json: at least one measure, both roles, one value in [0, 1] or null per question."""
    whole = mapping(parse(raw, name), f"{name}:1")
    if whole.keys() != {"measures"}:
        raise DamageError(f"{name}:1: keys other than 'measures'")
    measures = mapping(whole["measures"], f"{name}:1: measures")
    if not measures:
        raise DamageError(f"{name}:1: no measure")
    scores: dict[str, dict[str, list[float | None]]] = {}
    for measure, value in measures.items():
        where = f"{name}:1: {show(measure)}"
        columns = mapping(value, where)
        if columns.keys() != set(ROLES):
            raise DamageError(f"{where}: roles other than {' and '.join(ROLES)}")
        scores[measure] = {
            role: [
                None if score is None else number(score, f"{where}, {role}, {show(question.name)}", 0.0, 1.0)
                for score, question in zip(
                    items(columns[role], f"{where}, {role}", len(questions)), questions, strict=True
                )
            ]
            for role in ROLES
        }
    return scores


def _positions(value: object, where: str) -> tuple[int, ...]:
    return tuple(integer(position, where) for position in items(value, where))


def _check_order(question: object, questions: Sequence[Question], index: int, where: str) -> None:
    """Compare by name at each line: files aligned by position alone could be shifted without a trace."""
    expected = questions[index].name if index < len(questions) else None
    if question != expected:
        raise DamageError(f"{where}: question {show(question)}, {show(expected)} stands there in questions.jsonl")


def _check_count(count: int, questions: Sequence[Question], name: str) -> None:
    if count != len(questions):
        raise DamageError(f"{name}: {count} questions instead of {len(questions)}")
