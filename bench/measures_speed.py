"""How fast 1,986 rankings of 100 documents are scored: ours, pytrec_eval and ir_measures, in one run on one thread.

Rankings and judgments are drawn from a fixed seed. Everyone computes Success, R, RR and nDCG at 10 for every
question; the other libraries get the dictionaries that they ask for, made outside the clock. Times are the best
of the rounds, and the ratios are those of this machine now.

    python bench/measures_speed.py
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import ir_measures
import numpy as np
import pytrec_eval

from harness.benchmarks.columns import Groups, Labels
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Credit, score
from harness.retrieval.documents import Described
from harness.retrieval.ranking import Ranking

QUESTIONS, DEPTH, CHUNKS = 1986, 100, 600
NAMES = ("Success@10", "R@10", "RR@10", "nDCG@10")


def drawn() -> tuple[Ranking, Labels, Credit]:
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


def best(work: Callable[[], object], rounds: int) -> float:
    """The shortest of some rounds, in seconds."""
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def main() -> None:
    """Print one line a library: milliseconds, times slower than ours, and the mean of nDCG@10 as a check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which the best counts (5)")
    rounds = parser.parse_args().rounds
    ranking, labels, credit = drawn()
    measures = [parse_measure(name) for name in NAMES]
    run = {q: {f"c{p}": float(DEPTH - rank) for rank, p in enumerate(row)} for q, row in ranking.rows()}
    qrels = {q: {f"c{p}": 1 for p in labels.repaired.row(index)} for index, q in enumerate(labels.ids)}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"success.10", "recall.10", "recip_rank", "ndcg_cut.10"})
    theirs = [ir_measures.parse_measure(name) for name in NAMES]
    work: dict[str, tuple[Callable[[], object], float]] = {
        "ours": (lambda: score(ranking, labels, credit, measures),
                 float(score(ranking, labels, credit, measures).values[measures[-1]].mean())),
        "pytrec_eval": (lambda: evaluator.evaluate(run),
                        float(np.mean([row["ndcg_cut_10"] for row in evaluator.evaluate(run).values()]))),
        "ir_measures": (lambda: list(ir_measures.iter_calc(theirs, qrels, run)),
                        ir_measures.calc_aggregate([theirs[-1]], qrels, run)[theirs[-1]]),
    }  # fmt: skip
    print(f"{QUESTIONS:,} questions × {DEPTH} documents, {', '.join(NAMES)}")
    print(f"{'library':12} {'ms':>8} {'x ours':>8} {'mean nDCG@10':>14}")
    ours = 0.0
    for name, (function, mean) in work.items():
        seconds = best(function, rounds)
        ours = ours or seconds
        print(f"{name:12} {1000 * seconds:8.1f} {seconds / ours:8.1f} {mean:14.10f}")


if __name__ == "__main__":
    main()
