"""A document's clauses on the dev questions: both systems ranked, scored and compared before the lock."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from harness.benchmarks.library import Library
from harness.errors import UsageProblem
from harness.evaluation.budget import read_budget
from harness.evaluation.reach import Reach, reach_of_pool, reach_of_ties
from harness.evaluation.scores import Credit, Scores, score
from harness.evaluation.slices import in_slice
from harness.preregistration.document import Clause, Preregistration
from harness.preregistration.evidence import Rehearsal
from harness.retrieval.documents import describe
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Store
from harness.workflow.measured import as_read

_DEPTH = 1000  # as deep as groups of ties and pools are followed


def rehearse(document: Preregistration, library: Library) -> Rehearsal | None:
    """Rank the dev questions under both systems of a document; no held-out label is opened.

    Returns:
        None where the benchmark has no dev questions.
    """
    questions, labels = library.dev
    if not len(questions):
        return None
    store = Store(library.corpus, library.edges)
    depth = max(document.k, _DEPTH)
    deep, read, credit, scores, tokens = {}, {}, {}, {}, []
    for role, system in (("baseline", document.baseline), ("candidate", document.candidate)):
        deep[role] = system.rank(store, questions, depth)
        read[role] = as_read(system, deep[role].cut(document.k), store, document.tokens)
        documents = describe(deep[role].positions.tolist(), store.corpus, store.edges, system.read_model)
        credit[role] = Credit.of(documents)
        scores[role] = score(read[role], labels, credit[role], document.measures())
        tokens.append(read_budget(read[role], document.k, store.corpus, documents).tokens)
    partitions = tuple(library.manifest["partitions"])
    members = []
    for clause in document.clauses:
        try:
            members.append(in_slice(clause.slice, questions, labels, partitions))
        except UsageProblem:
            members.append(np.zeros(len(questions), dtype=bool))  # no dev question lies in it
    ties_only = document.baseline.scoring() == document.candidate.scoring()

    def reach(clause: Clause, among: np.ndarray) -> Reach | None:
        if document.tokens:
            return None  # what another order could bring depends on what would fit then
        if ties_only:
            return reach_of_ties(deep["baseline"], credit["baseline"], labels, clause.measure, among)
        before = scores["baseline"].values[clause.measure]
        return reach_of_pool(deep["candidate"], credit["candidate"], labels, clause.measure, among, before)

    pairs = list(zip(document.clauses, members, strict=True))
    return Rehearsal(
        deltas=np.column_stack([_deltas(scores, clause) for clause in document.clauses]),
        members=np.column_stack(members),
        clusters=questions.clusters,
        categories=labels.categories,
        flags=labels.flags,
        baseline=tuple(scores["baseline"].mean(clause.measure, among)[0] for clause, among in pairs),
        reach=tuple(reach(clause, among) for clause, among in pairs),
        moved=_moved(read["baseline"], read["candidate"]),
        tokens=(tokens[0], tokens[1]),
    )


def _moved(baseline: Ranking, candidate: Ranking) -> int:
    return sum(before != after for before, after in zip(baseline.rows(), candidate.rows(), strict=True))


def _deltas(scores: Mapping[str, Scores], clause: Clause) -> np.ndarray:
    return np.asarray(scores["candidate"].values[clause.measure] - scores["baseline"].values[clause.measure])
