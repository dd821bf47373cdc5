"""Measures of drawn rankings: ours, pytrec_eval-terrier and ir_measures.

Everyone computes Success, R, RR and nDCG at one cut-off for every question. The other libraries get the dictionaries
that they ask for, made outside the clock; they sort each ranking by its scores, ours comes sorted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.speed.timing import Absent, Contender, Task, absent_modules, module
from harness.benchmarks.columns import Groups, Labels
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Credit, score
from harness.retrieval.documents import Described
from harness.retrieval.ranking import Ranking

QUESTIONS, DEPTH, CHUNKS = 1986, 100, 600
_TREC = {"Success": "success", "R": "recall", "nDCG": "ndcg_cut"}  # its recip_rank has no cut-off


def task(k: int) -> Task:
    """Four measures, cut at ``k``, of 1,986 rankings of 100 documents."""
    ranking, labels, credit = _drawn()
    names = [f"{name}@{k}" for name in ("Success", "R", "RR", "nDCG")]
    measures = [parse_measure(name) for name in names]
    ours = score(ranking, labels, credit, measures)
    expected = {name: ours.values[measure] for name, measure in zip(names, measures, strict=True)}
    run = {q: {f"c{p}": float(DEPTH - rank) for rank, p in enumerate(row)} for q, row in ranking.rows()}
    judged = {q: {f"c{p}": 1 for p in labels.repaired.row(index)} for index, q in enumerate(labels.ids)}
    place = {question: index for index, question in enumerate(labels.ids)}

    def difference(values: dict[str, dict[str, float]]) -> str:
        most = max(
            abs(value - float(expected[name][place[question]]))
            for name, row in values.items()
            for question, value in row.items()
        )
        return f"{len(values)} measures, largest difference from ours {most:.0e}"

    def by_trec() -> Contender:
        evaluator = module("pytrec_eval").RelevanceEvaluator(
            judged, {"recip_rank", *(f"{name}.{k}" for name in _TREC.values())}
        )

        def check(found: Any) -> str:
            keys = {f"{name}@{k}": f"{theirs}_{k}" for name, theirs in _TREC.items()}
            return difference({name: {q: row[key] for q, row in found.items()} for name, key in keys.items()})

        return Contender("pytrec_eval-terrier", None, lambda _: evaluator.evaluate(run), check)

    def by_ir_measures() -> Contender:
        library = module("ir_measures")
        wanted = [library.parse_measure(name) for name in names]

        def check(found: Any) -> str:
            values: dict[str, dict[str, float]] = {name: {} for name in names}
            for one in found:
                values[str(one.measure)][one.query_id] = one.value
            return difference(values)

        return Contender("ir_measures", None, lambda _: list(library.iter_calc(wanted, judged, run)), check)

    others: list[Contender | Absent] = [
        Absent(name, f"{missing} is not installed") if (missing := absent_modules(needed)) else make()
        for name, needed, make in (
            ("pytrec_eval-terrier", "pytrec_eval", by_trec), ("ir_measures", "ir_measures", by_ir_measures),
        )
    ]  # fmt: skip
    first = Contender("ours", None, lambda _: score(ranking, labels, credit, measures), lambda _: "")
    facts = {"questions": QUESTIONS, "depth": DEPTH, "measures": names}
    return Task(f"measures: {QUESTIONS:,} rankings × {DEPTH}, {', '.join(names)}", facts, [first, *others])


def _drawn() -> tuple[Ranking, Labels, Credit]:
    """Rankings of distinct chunks with one to four judged chunks a question."""
    random = np.random.default_rng(20)
    rows = [random.permutation(CHUNKS)[:DEPTH] for _ in range(QUESTIONS)]
    judged = Groups.of([random.choice(CHUNKS, random.integers(1, 5), replace=False).tolist() for _ in rows])
    ids = tuple(f"q{index}" for index in range(QUESTIONS))
    offsets = np.arange(0, QUESTIONS * DEPTH + 1, DEPTH, dtype=np.int64)
    scores = np.tile(np.arange(DEPTH, 0, -1, dtype=np.float64), QUESTIONS)
    ranking = Ranking(ids, offsets, np.concatenate(rows).astype(np.int32), scores, DEPTH)
    n = QUESTIONS
    labels = Labels(ids, ("all",) * n, ("",) * n, ((),) * n, judged, judged, judged.counts().astype(np.int32))
    chunks = {position: Described("raw", 1, (position,), (position,)) for position in range(CHUNKS)}
    return ranking, labels, Credit.of(chunks)
