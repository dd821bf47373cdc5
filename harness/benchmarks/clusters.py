"""Which questions may go right or wrong together, where no benchmark says it."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path

from harness.errors import UsageProblem

OWN, PREFIX = "question", "prefix"


def clusters_of(given: str, questions: Sequence[str]) -> list[str]:
    """The cluster of each question.

    Args:
        given: ``question`` (each its own), ``prefix`` (the id up to its last slash), or a file of question, tab,
            cluster.
        questions: ids.

    Raises:
        UsageProblem: ids without a slash, or a file that is malformed or leaves a question out.
    """
    if given == OWN:
        return list(questions)
    if given == PREFIX:
        bare = next((question for question in questions if "/" not in question), None)
        if bare is not None:
            raise UsageProblem(
                f"the question id {bare!r} has no slash", where="--clusters prefix", allowed="ids such as conv-26/q0",
                fix="give a file of question, tab, cluster",
            )  # fmt: skip
        return [question.rpartition("/")[0] for question in questions]
    return _of_file(Path(given), questions)


def connected(questions: Sequence[str], shared: Sequence[Iterable[Hashable]]) -> list[str]:
    """The cluster of each question, where questions that share anything are one cluster.

    Args:
        questions: ids.
        shared: for each question, whatever may also be another's.

    Returns:
        The least id of each cluster, whatever the order of the questions.
    """
    parent = list(range(len(questions)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    owner: dict[Hashable, int] = {}
    for index, keys in enumerate(shared):
        for key in keys:
            first = root(owner.setdefault(key, index))
            parent[root(index)] = first
    least: dict[int, str] = {}
    for index, question in enumerate(questions):
        place = root(index)
        least[place] = min(question, least.get(place, question))
    return [least[root(index)] for index in range(len(questions))]


def _of_file(path: Path, questions: Sequence[str]) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError):
        allowed = f"{PREFIX}, or a readable file of question, tab, cluster"
        raise UsageProblem("cannot be read as a file of clusters", where=str(path), allowed=allowed) from None
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        question, _, cluster = (part.strip() for part in line.partition("\t"))
        where = f"{path}:{number}"
        if not (question and cluster) or "\t" in cluster:
            raise UsageProblem(f"{line!r}", where=where, allowed="question, tab, cluster")
        if question in found:
            raise UsageProblem(f"question {question!r} twice", where=where, allowed="each question once")
        found[question] = cluster
    missing = [question for question in questions if question not in found]
    if missing:
        what = f"{len(missing)} of {len(questions)} questions have no cluster, such as {missing[0]!r}"
        raise UsageProblem(what, where=str(path), fix="add a line for each question of the qrels")
    return [found[question] for question in questions]
