import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.benchmarks.columns import Groups, Labels
from harness.errors import UsageProblem
from harness.evaluation.measure import CONVENTIONS, NAMES, Measure, parse_measure
from harness.evaluation.scores import NO_EVIDENCE, NOT_ADVERSARIAL, Credit, Scores, check_same_questions, score
from harness.retrieval.documents import Described
from harness.retrieval.ranking import Ranking

# chunks 0-5 are turns, 6 was written from 0 and 1, 7 from 2; documents 10, 11, 12 are the edges 0-3, 3-4 and 6-2
DOCUMENTS = {position: Described("raw", 1, (position,), (position,)) for position in range(6)} | {
    6: Described("distill", 1, (6,), (0, 1)),
    7: Described("distill", 1, (7,), (2,)),
    10: Described("raw", 2, (0, 3), (0, 3)),
    11: Described("raw", 2, (3, 4), (3, 4)),
    12: Described("distill", 2, (6, 2), (0, 1, 2)),
}


def ranked(rows: Sequence[Sequence[int]], depth: int = 10) -> Ranking:
    """A ranking of questions that are numbered from 0."""
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    positions = np.array([position for row in rows for position in row], dtype=np.int32)
    return Ranking(
        tuple(f"q{i}" for i in range(len(rows))), offsets, positions, -np.arange(len(positions), dtype=float), depth
    )


def labelled(
    repaired: Sequence[Sequence[int]],
    published: Sequence[Sequence[int]] | None = None,
    n_published: Sequence[int] | None = None,
    categories: Sequence[str] | None = None,
) -> Labels:
    """Labels of questions q0, q1, …; as published they are as repaired unless said otherwise."""
    published = repaired if published is None else published
    n = len(repaired)
    return Labels(
        tuple(f"q{i}" for i in range(n)), tuple(categories or ["temporal"] * n), ("",) * n, ((),) * n,
        Groups.of(repaired), Groups.of(published), np.array(n_published or [len(row) for row in published], np.int32),
    )  # fmt: skip


def scored(rows: Sequence[Sequence[int]], labels: Labels, *names: str) -> tuple[Scores, list[list[float]]]:
    """Scores under measures by name, and their values as lists."""
    measures = [parse_measure(name) for name in names]
    scores = score(ranked(rows), labels, Credit.of(DOCUMENTS), measures)
    return scores, [scores.values[measure].tolist() for measure in measures]


SECOND, THIRD = 1 / math.log2(3), 1 / 2


@pytest.mark.parametrize(
    ("name", "row", "evidence", "expected"),
    [
        ("Success@3", [5, 4, 1], [1, 2], 1.0),
        ("Success@2", [5, 4, 1], [1, 2], 0.0),
        ("AllSuccess@3", [1, 4, 2], [1, 2], 1.0),
        ("AllSuccess@2", [1, 4, 2], [1, 2], 0.0),
        ("R@3", [5, 4, 1], [1, 2], 0.5),
        ("R@10", [], [1], 0.0),
        ("RR@3", [5, 4, 1, 2], [1, 2], 1 / 3),
        ("RR@2", [5, 4, 1, 2], [1, 2], 0.0),
        ("nDCG@10", [5, 1, 2], [1, 2], (SECOND + THIRD) / (1 + SECOND)),
        ("nDCG@2", [5, 1, 2], [1, 2, 3], SECOND / (1 + SECOND)),
        ("nDCG@1", [1], [1, 2], 1.0),
        ("P@4", [5, 1, 2], [1, 2], 1 / 2),
        ("P@1", [5, 1], [1], 0.0),
        ("AP@10", [5, 1, 4, 2], [1, 2, 3], (1 / 2 + 2 / 4) / 3),
        ("AP@3", [5, 1, 4, 2], [1, 2, 3], (1 / 2) / 3),
        # raw credit: what was written from a turn earns nothing for it
        ("R@10", [6, 7], [0, 1, 2], 0.0),
        ("R@10", [6, 7, 1], [0, 1, 2], 1 / 3),
        # source credit: a fact written from two turns finds both at once
        ("R(credit=source)@1", [6, 7], [0, 1, 2], 2 / 3),
        ("AllSuccess(credit=source)@2", [6, 7], [0, 1, 2], 1.0),
        ("RR(credit=source)@10", [5, 7, 2], [2], 0.5),
        # ... and a turn that was found through it gains nothing more
        ("R(credit=source)@10", [6, 0, 1], [0, 1, 2], 2 / 3),
        ("nDCG(credit=source)@10", [6, 0, 1], [0, 1], 1 / (1 + SECOND)),
        ("nDCG(credit=source)@10", [0, 6, 1], [0, 1], 1.0),
        ("nDCG(credit=source)@10", [0, 1, 6], [0, 1], 1.0),
        # edges: both ends count, a shared end counts once, ranks are those of edges
        ("R@1", [10], [0, 3], 1.0),
        ("R@2", [10, 11], [0, 3, 4], 1.0),
        ("RR@10", [5, 11], [4], 0.5),
        ("nDCG@10", [10, 11], [0, 3], 1 / (1 + SECOND)),
        ("nDCG@10", [10, 5, 11], [0, 3, 4], (1 + THIRD) / (1 + SECOND + THIRD)),
        ("nDCG@10", [11, 10], [3], 1.0),
        ("P@2", [10, 11], [0, 3], 1 / 2),
        ("AP@10", [10, 5, 11], [0, 3, 4], (1 + 2 / 3) / 3),
        ("R@10", [12], [0, 1, 2], 1 / 3),
        ("R(credit=source)@10", [12], [0, 1, 2], 1.0),
    ],
)
def test_values_by_hand(name, row, evidence, expected):
    """Each measure gives the value worked out on paper, over chunks, facts and edges."""
    _, [[value]] = scored([row], labelled([evidence]), name)
    assert value == pytest.approx(expected, abs=1e-15)


def test_published_ids_that_match_nothing_stay_in_the_count():
    """As published, an id that exists nowhere can never be found; as repaired it is mended or gone."""
    labels = labelled([[1, 2], [3], []], published=[[1], [], []], n_published=[2, 1, 0])
    _, values = scored(
        [[1, 2], [3], [4]], labels, "R@10", "R(evidence=published)@10", "AllSuccess(evidence=published)@10",
        "Success(evidence=published)@10", "nDCG(evidence=published)@10",
    )  # fmt: skip
    nan = math.nan
    np.testing.assert_array_equal(values[:4], [[1, 1, nan], [0.5, 0, nan], [0, 0, nan], [1, 0, nan]])
    assert values[4][:2] == pytest.approx([1 / (1 + SECOND), 0])


@pytest.mark.parametrize("name", NAMES)
def test_empty_evidence_follows_the_convention(name):
    """A question without evidence is left out, counts 0 or counts 1, under every measure."""
    labels = labelled([[], [1]])
    _, [skipped, zero, one] = scored([[1], [1]], labels, *(f"{name}(empty={c})@1" for c in ("skip", "0", "1")))
    assert math.isnan(skipped[0])
    assert (zero[0], one[0]) == (0.0, 1.0)
    assert skipped[1] == zero[1] == one[1] == 1.0


def test_adversarial_questions_count_unless_they_are_out():
    """Adversarial questions are scored by default and unavailable where the measure leaves them out."""
    labels = labelled([[1], [1], []], categories=["adversarial", "temporal", "adversarial"])
    scores, [inside, outside] = scored([[1], [2], []], labels, "R(empty=1)@10", "R(empty=1,adversarial=out)@10")
    assert inside == [1.0, 0.0, 1.0]
    assert [math.isnan(value) for value in outside] == [True, False, True]
    assert scores.exclusions(parse_measure("R(empty=1,adversarial=out)@10")) == {NOT_ADVERSARIAL: 2}


def test_every_unavailable_score_has_its_reason():
    """The exclusion ledger names each question without a score once, and no other."""
    labels = labelled([[], [1], [], [2]], categories=["temporal", "adversarial", "adversarial", "temporal"])
    names = ["R@10", "R(adversarial=out)@10", "R(empty=0)@10"]
    scores, values = scored([[1]] * 4, labels, *names)
    ledgers = [dict(scores.unavailable[parse_measure(name)]) for name in names]
    assert ledgers[0] == {"q0": NO_EVIDENCE, "q2": NO_EVIDENCE}
    assert ledgers[1] == {"q0": NO_EVIDENCE, "q1": NOT_ADVERSARIAL, "q2": NOT_ADVERSARIAL}
    assert ledgers[2] == {}
    for ledger, row in zip(ledgers, values, strict=True):
        assert set(ledger) == {f"q{i}" for i, value in enumerate(row) if math.isnan(value)}
    assert scores.exclusions(parse_measure("R(adversarial=out)@10")) == {NOT_ADVERSARIAL: 2, NO_EVIDENCE: 1}


def test_a_mean_counts_only_what_is_available():
    """Means leave out unavailable scores and say how many remain; with none there is no mean."""
    scores, _ = scored([[1], [2], []], labelled([[1], [1], []]), "R@10")
    measure = parse_measure("R@10")
    assert scores.mean(measure) == (0.5, 2)
    assert scores.mean(measure, np.array([True, False, True])) == (1.0, 1)
    assert scores.mean(measure, np.array([False, False, True])) == (None, 0)


def test_a_measure_deeper_than_the_ranking_is_refused():
    """A list made to depth 10 cannot be scored at 11, and the message says which measure asked."""
    with pytest.raises(UsageProblem, match=r"R@11 needs 11 documents .* depth 10"):
        scored([[1]], labelled([[1]]), "R@10", "R@11")


@pytest.mark.parametrize(
    ("left", "right", "what"),
    [
        (["a", "b"], ["a"], "1 only ranked ['b'], 0 only judged []"),
        (["a"], ["a", "c", "b"], "0 only ranked [], 2 only judged ['b', 'c']"),
        (["a", "b"], ["b", "a"], "the questions stand in another order"),
        (["a", "a"], ["a"], "the questions stand in another order"),
    ],
)
def test_different_question_sets_are_refused(left, right, what):
    """Missing, extra, repeated or reordered questions are refused with examples from both sides."""
    with pytest.raises(UsageProblem) as caught:
        check_same_questions(left, right)
    assert what in caught.value.what


def test_scoring_needs_labels_of_the_same_questions():
    """A ranking of other questions than were judged cannot be scored."""
    with pytest.raises(UsageProblem, match="question sets differ"):
        scored([[1], [2]], labelled([[1]]), "R@10")


def test_evidence_of_an_overlay_needs_an_overlay():
    """A measure on an overlay's evidence is refused where none was imported, and reads it where one was."""
    labels = labelled([[1]])
    with pytest.raises(UsageProblem, match="imported without an overlay"):
        scored([[2]], labels, "R(evidence=overlay)@10")
    _, values = scored([[2]], replace(labels, overlay=Groups.of([[2]])), "R@10", "R(evidence=overlay)@10")
    assert values == [[0.0], [1.0]]


documents = st.lists(st.sampled_from(sorted(DOCUMENTS)), unique=True, max_size=9)
evidence = st.lists(st.integers(0, 8), unique=True, max_size=4)
EVERY = [
    Measure(name, k, credit, kept, empty)
    for name in NAMES for k in (1, 2, 5, 10) for credit in CONVENTIONS["credit"]
    for kept in CONVENTIONS["evidence"] for empty in ("skip", "1")
]  # fmt: skip


def longmemeval(rank: int) -> float:
    """The weight of a rank in LongMemEval's own evaluation."""
    return 1.0 if rank == 1 else 1 / math.log2(rank)


def walked(measure: Measure, row: Sequence[int], wanted: Sequence[int], total: int) -> float:
    """The score of one question by walking down its ranking."""
    if not total:
        return math.nan if measure.empty == "skip" else float(measure.empty)
    found: set[int] = set()
    gains = []
    for rank, document in enumerate(row[: measure.k], start=1):
        described = DOCUMENTS[document]
        new = set(described.sources if measure.credit == "source" else described.chunks) & set(wanted) - found
        gains += [rank] if new else []
        found |= new
    best = range(1, min(total, measure.k) + 1)
    ideal = sum(1 / math.log2(i + 1) for i in best)
    values: Mapping[str, float] = {
        "Success": float(bool(found)), "AllSuccess": float(len(found) == total), "R": len(found) / total,
        "P": len(gains) / measure.k, "AP": sum((i + 1) / rank for i, rank in enumerate(gains)) / total,
        "RR": 1 / gains[0] if gains else 0.0, "nDCG": sum(1 / math.log2(rank + 1) for rank in gains) / ideal,
        "ndcg_any": sum(map(longmemeval, gains)) / sum(map(longmemeval, best)),
    }  # fmt: skip
    return values[measure.name]


@settings(max_examples=30)
@given(st.lists(st.tuples(documents, evidence, st.integers(0, 3)), min_size=1, max_size=5))
def test_equals_a_walk_down_the_ranking(cases):
    """Under every convention and read model the arrays give what a walk gives, within [0, 1]."""
    rows = [row for row, _, _ in cases]
    repaired = [found for _, found, _ in cases]
    published = [found[1:] for found in repaired]
    totals = [len(found) + dangling for found, (_, _, dangling) in zip(published, cases, strict=True)]
    overlaid = [sorted({*found[:1], extra + 1}) for found, (_, _, extra) in zip(repaired, cases, strict=True)]
    labels = replace(labelled(repaired, published, totals), overlay=Groups.of(overlaid))
    columns = {"repaired": repaired, "published": published, "overlay": overlaid}
    scores = score(ranked(rows), labels, Credit.of(DOCUMENTS), EVERY)
    for measure in EVERY:
        wanted = columns[measure.evidence]
        counts = totals if measure.evidence == "published" else [len(found) for found in wanted]
        expected = [walked(measure, *question) for question in zip(rows, wanted, counts, strict=True)]
        values = scores.values[measure]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)
        assert ((values >= 0) & (values <= 1) | np.isnan(values)).all()
    for credit in CONVENTIONS["credit"]:
        first, *same = (scores.values[Measure(name, 1, credit)] for name in ("RR", "Success", "P"))
        for values in same:
            np.testing.assert_array_equal(values, first)
