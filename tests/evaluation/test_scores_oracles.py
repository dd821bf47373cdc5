from collections.abc import Mapping, Sequence

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.columns import Groups, Labels
from harness.evaluation.measure import Measure, parse_measure
from harness.evaluation.scores import Credit, Scores, score
from harness.retrieval.documents import Described
from harness.retrieval.ranking import Ranking

CUTS = (1, 3, 10, 100)
NAMES = ("Success", "R", "RR", "nDCG", "P", "AP")
Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]


def run_of(ranking: Ranking) -> Run:
    """A run with scores derived from ranks, strictly decreasing, so that no evaluator has a tie to break."""
    return {
        question: {f"c{position}": float(len(row) - rank) for rank, position in enumerate(row)}
        for question, row in ranking.rows()
    }


def qrels_of(labels: Labels, evidence: str) -> Qrels:
    """Judged chunks; ids that were published and match nothing are documents that nobody retrieves."""
    qrels = {}
    for index, question in enumerate(labels.ids):
        groups = labels.published if evidence == "published" else labels.repaired
        judged = {f"c{position}": 1 for position in groups.row(index)}
        if evidence == "published":
            dangling = int(labels.n_published[index]) - len(judged)
            judged |= {f"nowhere{number}": 1 for number in range(dangling)}
        if judged:
            qrels[question] = judged
    return qrels


def by_pytrec_eval(run: Run, qrels: Qrels) -> Mapping[tuple[str, int], Mapping[str, float]]:
    """Every measure by pytrec_eval; its reciprocal rank has no cut-off, so the run is cut instead."""
    spelled = {"Success": "success", "R": "recall", "nDCG": "ndcg_cut", "P": "P", "AP": "map_cut"}
    cuts = ",".join(map(str, CUTS))
    results = pytrec_eval.RelevanceEvaluator(qrels, {f"{name}.{cuts}" for name in spelled.values()}).evaluate(run)
    found = {
        (name, k): {question: values[f"{theirs}_{k}"] for question, values in results.items()}
        for name, theirs in spelled.items() for k in CUTS
    }  # fmt: skip
    for k in CUTS:
        head = {question: dict(list(row.items())[:k]) for question, row in run.items()}
        results = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(head)
        found["RR", k] = {question: values["recip_rank"] for question, values in results.items()}
    return found


def by_ir_measures(run: Run, qrels: Qrels) -> Mapping[tuple[str, int], Mapping[str, float]]:
    """Every measure by ir_measures, whatever provider it chooses."""
    wanted = {ir_measures.parse_measure(f"{name}@{k}"): (name, k) for name in NAMES for k in CUTS}
    found: dict[tuple[str, int], dict[str, float]] = {key: {} for key in wanted.values()}
    for metric in ir_measures.iter_calc(list(wanted), qrels, run):
        found[wanted[metric.measure]][metric.query_id] = metric.value
    return found


def assert_agrees(scores: Scores, ranking: Ranking, labels: Labels, evidence: str) -> None:
    """Our scores are those of both oracles, question by question, and unavailable where nothing is judged."""
    run, qrels = run_of(ranking), qrels_of(labels, evidence)
    for oracle in (by_pytrec_eval, by_ir_measures):
        theirs = oracle(run, qrels)
        for (name, k), values in theirs.items():
            ours = dict(zip(scores.questions, scores.values[Measure(name, k, evidence=evidence)].tolist(), strict=True))
            expected = [values.get(question, 0.0) if question in qrels else np.nan for question in ours]
            np.testing.assert_allclose(
                list(ours.values()), expected, rtol=0, atol=1e-9, err_msg=f"{oracle.__name__} {name}@{k}"
            )


def measures(evidence: str) -> list[Measure]:
    """What the oracles know, in our spelling."""
    return [Measure(name, k, evidence=evidence) for name in NAMES for k in CUTS]


questions = st.lists(
    st.tuples(st.permutations(range(14)), st.integers(0, 14), st.sets(st.integers(0, 16), max_size=6)),
    min_size=1,
    max_size=12,
)


def drawn(cases: Sequence[tuple[Sequence[int], int, set[int]]]) -> tuple[Ranking, Labels]:
    """A ranking and labels of random questions; some have nothing retrieved, some nothing judged."""
    rows = [list(order[:length]) for order, length, _ in cases]
    judged = Groups.of([sorted(wanted) for _, _, wanted in cases])
    ids = tuple(f"q{index}" for index in range(len(cases)))
    n = len(cases)
    labels = Labels(ids, ("temporal",) * n, ("",) * n, ((),) * n, judged, judged, judged.counts().astype(np.int32))
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    positions = np.array([position for row in rows for position in row], dtype=np.int32)
    return Ranking(ids, offsets, positions, -np.arange(len(positions), dtype=float), 100), labels


@settings(max_examples=25)
@given(questions)
def test_random_runs_score_as_the_oracles_say(cases):
    """On random runs and judgments every measure equals pytrec_eval's and ir_measures' value."""
    ranking, labels = drawn(cases)
    chunks = {position: Described("raw", 1, (position,), (position,)) for position in range(14)}
    scores = score(ranking, labels, Credit.of(chunks), measures("repaired"))
    assert_agrees(scores, ranking, labels, "repaired")


@pytest.mark.parametrize("name", ["synthetic", "locomo"])
@pytest.mark.parametrize("evidence", ["repaired", "published"])
def test_real_runs_score_as_the_oracles_say(request, ranked, evaluated, name, evidence):
    """On whole benchmarks every measure equals the oracles' value under both evidence conventions."""
    benchmark = request.getfixturevalue(name)
    scores = evaluated(benchmark, *map(str, measures(evidence)))
    assert_agrees(scores, ranked(benchmark)[0], benchmark.labels, evidence)


def test_all_success_is_recall_of_one(evaluated, synthetic):
    """AllSuccess, which the oracles lack, is 1 exactly where recall is 1."""
    scores = evaluated(synthetic, "AllSuccess@10", "R@10")
    every, recall = (scores.values[parse_measure(name)] for name in ("AllSuccess@10", "R@10"))
    np.testing.assert_array_equal(np.where(np.isnan(recall), np.nan, recall == 1), every)
    assert 0 < np.nanmean(every) < np.nanmean(recall) < 1
