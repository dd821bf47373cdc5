from dataclasses import replace
from itertools import permutations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.columns import LAYERS, Groups, Labels
from harness.errors import UsageProblem
from harness.evaluation.measure import NAMES, Measure, parse_measure
from harness.evaluation.scores import Credit, score
from harness.evaluation.ties import tie_report
from harness.retrieval.documents import Described, describe
from harness.retrieval.ranking import Ranking
from harness.retrieval.registry import select
from harness.retrieval.version import Store

DEEP = 1000


def ranking_of(scores, order=None, depth=DEEP):
    """One question whose documents 0, 1, … have these scores, which never increase, in an order of one's own."""
    positions = np.array(range(len(scores)) if order is None else order, dtype=np.int32)
    return Ranking(("q0",), np.array([0, len(scores)]), positions, np.array(scores, dtype=float), depth)


def labels_of(wanted, dangling=0):
    """Labels of one question."""
    groups = Groups.of([sorted(wanted)])
    count = np.array([len(wanted) + dangling], dtype=np.int32)
    return Labels(("q0",), ("temporal",), ("",), ((),), groups, groups, count)


def credit_of(credited):
    """What documents 0, 1, … are credited with, under both rules."""
    return Credit.of({i: Described("raw", 1, tuple(chunks), tuple(chunks)) for i, chunks in enumerate(credited)})


def tie_orders(scores):
    """Every order of documents that keeps the scores in order."""
    places = {value: [i for i, other in enumerate(scores) if other == value] for value in scores}
    for choice in product(*(permutations(group) for group in places.values())):
        yield [document for group in choice for document in group]


@st.composite
def cases(draw):
    """Up to seven documents in a few groups of ties, credited with up to three of four chunks each."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda found: sum(found) <= 7))
    scores = [-float(group) for group, size in enumerate(sizes) for _ in range(size)]
    chunks = st.lists(st.integers(0, 3), unique=True, max_size=3)
    credited = draw(st.lists(chunks, min_size=len(scores), max_size=len(scores)))
    wanted = draw(st.sets(st.integers(0, 4), min_size=1))
    return scores, credited, wanted


@settings(max_examples=120)
@given(cases(), st.integers(1, 8), st.integers(0, 1))
def test_equals_trying_every_order(case, k, dangling):
    """Least, expected and greatest are those of all orders of ties, tried one by one, for every measure."""
    scores, credited, wanted = case
    labels, credit = labels_of(wanted, dangling), credit_of(credited)
    measures = [Measure(name, k, evidence="published") for name in NAMES]
    report = tie_report(ranking_of(scores), credit, labels, measures)
    tried = [score(ranking_of(scores, order), labels, credit, measures).values for order in tie_orders(scores)]
    for measure in measures:
        values = [float(values[measure][0]) for values in tried]
        found = report.ranges[measure]
        expected = (min(values), np.mean(values), max(values))
        assert (found.least, found.expected, found.greatest) == pytest.approx(expected, abs=1e-12), str(measure)
        assert found.moved == (max(values) - min(values) > 1e-12)
        assert found.unavailable == ""


@given(cases(), st.integers(1, 8))
def test_counts_ties_inside_and_across_the_cut(case, k):
    """Without a label: is there a tie among the first k, and is one cut at k."""
    scores, credited, wanted = case
    report = tie_report(ranking_of(scores), credit_of(credited), labels_of(wanted), [Measure("R", k)])
    head = scores[:k]
    cut = report.cuts[k]
    assert cut.inside == (len(set(head)) < len(head))
    assert cut.across == (k < len(scores) and scores[k - 1] == scores[k])
    assert (cut.between, cut.open) == (None, 0)


def test_the_kinds_of_documents_tied_across_the_cut():
    """A tie across the cut is one between kinds if its group holds several."""
    credit, labels, measures = credit_of([[0]] * 4), labels_of({0}), [Measure("R", 2)]
    for kinds, between in (("aabb", 1), ("abbb", 0)):
        cut = tie_report(ranking_of([2, 1, 1, 1]), credit, labels, measures, dict(enumerate(kinds))).cuts[2]
        assert (cut.across, cut.between) == (1, between)


def test_a_group_that_may_go_on_below_the_ranking_gives_no_exact_value():
    """Where the ranking ends, as deep as asked for, inside the group at the cut, nothing is made up."""
    credit, labels = credit_of([[0], [1], [2]]), labels_of({1})
    at_two, at_one = Measure("R", 2), Measure("R", 1)
    for depth, answers in ((3, False), (4, True)):  # with fewer documents than asked for there are no more
        report = tie_report(ranking_of([2, 1, 1], depth=depth), credit, labels, [at_two, at_one])
        found = report.ranges[at_two]
        assert (found.expected == pytest.approx(0.5), found.unavailable == "") == (answers, answers)
        assert found.ranked == 1.0
        assert report.cuts[2].open == (not answers)
        assert report.ranges[at_one].expected == 0.0
    assert (
        "the ranking ends inside the group at the cut"
        in tie_report(ranking_of([2, 1, 1], depth=3), credit, labels, [at_two]).ranges[at_two].unavailable
    )


def test_too_many_orders_are_said_and_not_guessed():
    """Twenty tied documents with different evidence in common are beyond an exact answer, twenty alike are not."""
    chain = [[i, i + 1] for i in range(20)]
    measure = Measure("AP", 10)
    found = tie_report(ranking_of([1.0] * 20), credit_of(chain), labels_of(range(21)), [measure]).ranges[measure]
    assert (found.least, found.expected, found.greatest) == (None, None, None)
    assert "q0: too many documents with shared evidence" in found.unavailable
    alike = tie_report(ranking_of([1.0] * 20), credit_of([[0]] * 20), labels_of({0}), [measure]).ranges[measure]
    assert (alike.least, alike.expected, alike.greatest) == (1.0, 1.0, 1.0)


def test_a_known_figure_of_large_ties():
    """One relevant document among a hundred equal ones: P@10 of 1/100, RR of the harmonic mean (McSherry & Najork)."""
    credit, labels = credit_of([[0], *[[]] * 99]), labels_of({0})
    ranges = tie_report(ranking_of([1.0] * 100), credit, labels, [Measure("P", 10), Measure("RR", 10)]).ranges
    precision, reciprocal = ranges.values()
    assert (precision.least, precision.expected, precision.greatest) == pytest.approx((0, 0.01, 0.1))
    assert reciprocal.expected == pytest.approx(sum(1 / rank for rank in range(1, 11)) / 100)


def test_many_relevant_documents_of_one_tie():
    """Fifty of two hundred equal documents: P and AP of the closed forms (McSherry & Najork), however many orders."""
    n, relevant, k = 200, 50, 10
    credit = credit_of([[i] if i < relevant else [] for i in range(n)])
    measures = [Measure(name, k) for name in ("P", "R", "AP", "AllSuccess")]
    ranges = tie_report(ranking_of([1.0] * n), credit, labels_of(range(relevant)), measures).ranges
    precision, recall, average, every = ((r.least, r.expected, r.greatest) for r in ranges.values())
    assert precision == pytest.approx((0, relevant / n, 1))
    assert recall == pytest.approx((0, k / n, k / relevant))
    expected = sum((1 + (rank - 1) * (relevant - 1) / (n - 1)) / (n * rank) for rank in range(1, k + 1))
    assert average == pytest.approx((0, expected, k / relevant))
    assert every == (0, 0, 0)


def test_like_clusters_of_shared_evidence():
    """Twenty pieces of evidence that two documents each bring: a piece is found unless both its documents come late."""
    pieces, n, k = 20, 60, 10
    credit = credit_of([[i // 2] if i < 2 * pieces else [] for i in range(n)])
    found = tie_report(ranking_of([1.0] * n), credit, labels_of(range(pieces)), [Measure("R", k)]).ranges[
        Measure("R", k)
    ]
    expected = 1 - comb(n - 2, k) / comb(n, k)
    assert (found.least, found.expected, found.greatest) == pytest.approx((0, expected, k / pieces))


def test_questions_without_a_score_are_in_no_mean():
    """A question without evidence is left out, or counts as the measure says, and moves nothing."""
    ranking = Ranking(("q0", "q1"), np.array([0, 2, 4]), np.array([0, 1, 0, 1], np.int32), np.ones(4), DEEP)
    groups = Groups.of([[0], []])
    labels = Labels(
        ("q0", "q1"), ("a", "adversarial"), ("", ""), ((), ()), groups, groups, groups.counts().astype(np.int32)
    )
    measures = [parse_measure(name) for name in ("R@1", "R(empty=1)@1", "R(empty=1,adversarial=out)@1")]
    ranges = tie_report(ranking, credit_of([[0], [1]]), labels, measures).ranges
    assert [(found.n, found.least, found.moved) for found in ranges.values()] == [(1, 0, 1), (2, 0.5, 1), (1, 0, 1)]
    assert [found.expected for found in ranges.values()] == pytest.approx([0.5, 0.75, 0.5])
    nothing = replace(labels, repaired=Groups.of([[], []]))
    found = tie_report(ranking, credit_of([[0], [1]]), nothing, [Measure("R", 1)]).ranges[Measure("R", 1)]
    assert (found.ranked, found.expected, found.n, found.unavailable) == (None, None, 0, "no question has a score")


def test_plain_values(synthetic):
    """As a mapping the report holds names and numbers only, and the order that the ranking has lies in the range."""
    report = _bm25(synthetic, ["R@10", "AP(credit=source)@5"])
    value = report.as_mapping()
    assert list(value["ranges"]) == ["R@10", "AP(credit=source)@5"]
    assert list(value["cuts"]) == ["5", "10"]
    for found in value["ranges"].values():
        assert found["least"] <= found["ranked"] <= found["greatest"]
        assert found["least"] <= found["expected"] <= found["greatest"]


def test_a_shallow_ranking_is_refused():
    """A ranking that does not reach the cut-off is refused, as for scores."""
    with pytest.raises(UsageProblem, match="depth 5"):
        tie_report(ranking_of([1.0], depth=5), credit_of([[0]]), labels_of({0}), [Measure("R", 10)])


def _bm25(benchmark, names):
    system = select("bm25", {})
    ranking = system.rank(Store(benchmark.corpus, benchmark.edges), benchmark.questions, DEEP)
    documents = describe(ranking.positions.tolist(), benchmark.corpus, benchmark.edges, system.read_model)
    kinds = {position: LAYERS[benchmark.corpus.layer[position]] for position in documents}
    measures = [parse_measure(name) for name in names]
    return tie_report(ranking, Credit.of(documents), benchmark.labels, measures, kinds)
