import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.verifier.measures import Document, Evidence, Measure, parse_measure, question_score
from harness.verifier.reading import DamageError

KINDS = ("Success", "AllSuccess", "R", "RR", "nDCG", "P", "AP", "ndcg_any")

# chunks 0-9 raw; 10, 11 distilled from (0, 1) and (2,); 20, 21 edges between (0, 3) and (3, 4)
DOCUMENTS = {position: Document((position,), (position,)) for position in range(10)} | {
    10: Document((10,), (0, 1)),
    11: Document((11,), (2,)),
    20: Document((0, 3), (0, 3)),
    21: Document((3, 4), (3, 4)),
}


def evidence(repaired=(), published=(), n_published=None, category="temporal"):
    """Evidence of one question."""
    count = len(published) if n_published is None else n_published
    return Evidence(category, frozenset(), frozenset(repaired), frozenset(published), count)


def score(name, ranking, facts):
    """The score of one question under a named measure."""
    return question_score(parse_measure(name), ranking, DOCUMENTS, facts)


@pytest.mark.parametrize(
    ("name", "ranking", "repaired", "expected"),
    [
        ("Success@3", [5, 6, 1], [1, 2], 1.0),
        ("Success@2", [5, 6, 1], [1, 2], 0.0),
        ("AllSuccess@3", [1, 6, 2], [1, 2], 1.0),
        ("AllSuccess@2", [1, 6, 2], [1, 2], 0.0),
        ("R@3", [5, 6, 1], [1, 2], 0.5),
        ("R@3", [20, 6, 7], [0, 3, 4], 2 / 3),
        ("R@10", [20, 21, 0], [0, 3, 4], 1.0),
        ("RR@10", [5, 6, 1, 2], [1, 2], 1 / 3),
        ("RR@2", [5, 6, 1, 2], [1, 2], 0.0),
        ("RR@10", [], [1], 0.0),
        ("nDCG@10", [5, 1, 2], [1, 2], (1 / math.log2(3) + 1 / 2) / (1 + 1 / math.log2(3))),
        # an edge that finds two at once gains as one document, and the document after it finds nothing new
        ("nDCG@10", [20, 0, 3], [0, 3], 1 / (1 + 1 / math.log2(3))),
        ("nDCG@10", [5, 20, 21], [0, 3, 4], (1 / math.log2(3) + 1 / 2) / (1.5 + 1 / math.log2(3))),
        ("nDCG@1", [1, 2], [1, 2], 1.0),
        ("ndcg_any@4", [5, 1, 6, 2], [1, 2], 0.75),
        ("ndcg_any@4", [1, 2], [1, 2], 1.0),
        ("P@4", [5, 1, 2], [1, 2], 1 / 2),
        ("P@2", [20, 0, 3], [0, 3], 1 / 2),
        ("AP@10", [5, 1, 6, 2], [1, 2, 3], (1 / 2 + 2 / 4) / 3),
        ("AP@3", [5, 1, 6, 2], [1, 2, 3], (1 / 2) / 3),
        ("AP@10", [20, 0, 21], [0, 3, 4], (1 + 2 / 3) / 3),
    ],
)
def test_values_by_hand(name, ranking, repaired, expected):
    """Each measure gives the value worked out on paper."""
    assert score(name, ranking, evidence(repaired)) == pytest.approx(expected, abs=1e-15)


def test_source_credit_traces_distilled_chunks_back():
    """A distilled chunk counts as the raw chunks it came from only where the measure says so."""
    facts = evidence([0, 1, 2])
    assert score("R@2", [10, 11], facts) == 0.0
    assert score("R(credit=source)@2", [10, 11], facts) == 1.0
    assert score("RR(credit=source)@2", [5, 11], facts) == 0.5
    assert score("R(credit=source)@2", [10, 0], facts) == pytest.approx(2 / 3)
    assert score("R@1", [10], evidence([10])) == 1.0


def test_published_evidence_counts_labels_that_point_nowhere():
    """Published labels that do not exist lower the recall and make complete success impossible."""
    facts = evidence(repaired=[1], published=[1, 2], n_published=3)
    assert score("R(evidence=published)@5", [1, 2], facts) == pytest.approx(2 / 3)
    assert score("AllSuccess(evidence=published)@5", [1, 2], facts) == 0.0
    assert score("AllSuccess@5", [1, 2], facts) == 1.0
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert score("nDCG(evidence=published)@5", [1, 2], facts) == pytest.approx((1 + 1 / math.log2(3)) / ideal)
    assert score("Success(evidence=published)@5", [1], evidence([1], [], n_published=1)) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_questions_without_evidence_follow_the_convention(kind):
    """Without evidence a question is left out, or counts as zero or as one, as the name says."""
    facts = evidence()
    assert score(f"{kind}@5", [1, 2], facts) is None
    assert score(f"{kind}(empty=0)@5", [1, 2], facts) == 0.0
    assert score(f"{kind}(empty=1)@5", [1, 2], facts) == 1.0
    assert score(f"{kind}(evidence=published,empty=1)@5", [1], evidence([1])) == 1.0


def test_adversarial_questions_can_be_left_out():
    """Leaving adversarial questions out comes before any convention about missing evidence."""
    facts = evidence([1], category="adversarial")
    assert score("R@5", [1], facts) == 1.0
    assert score("R(adversarial=out)@5", [1], facts) is None
    assert score("R(empty=1,adversarial=out)@5", [1], evidence(category="adversarial")) is None
    assert score("R(adversarial=out)@5", [1], evidence([1])) == 1.0


def test_names_are_parsed_into_their_options():
    """A canonical name says everything that is not a default."""
    assert parse_measure("nDCG@10") == Measure("nDCG", 10, "raw", "repaired", "skip", "in")
    assert parse_measure("RR(credit=source,evidence=published,empty=0,adversarial=out)@7") == Measure(
        "RR", 7, "source", "published", "0", "out"
    )


@pytest.mark.parametrize(
    "name",
    [
        "R@0",
        "R@010",
        "R",
        "R@",
        "r@10",
        "R()@10",
        "R@10 ",
        "R@10\n",
        "R@-1",
        "R@9999999",
        "R(credit=raw)@10",
        "R(empty=0,credit=source)@10",
        "R(credit=source,credit=source)@10",
        "R(credit=both)@10",
        "R(rel=1)@10",
        "R(credit)@10",
        "R@\u0661",
    ],
)
def test_names_that_are_not_canonical_are_refused(name):
    """One measure has one name: defaults spelled out, another order, and anything unknown are errors."""
    with pytest.raises(DamageError, match="measure"):
        parse_measure(name)


rankings = st.lists(st.integers(0, 9), unique=True, max_size=10)
wanted = st.sets(st.integers(0, 9), min_size=1)


@given(rankings, wanted, st.integers(1, 12))
def test_plain_chunks_agree_with_ir_measures(ranking, relevant, k):
    """With one chunk per document the measures are those of the field."""
    qrels = [ir_measures.Qrel("q", str(chunk), 1) for chunk in relevant]
    run = [ir_measures.ScoredDoc("q", str(chunk), -float(rank)) for rank, chunk in enumerate(ranking)]
    for name in ("Success", "R", "RR", "nDCG", "P", "AP"):
        # the oracle has no cut-off for RR: the run itself is cut
        run = run[:k]
        measure = ir_measures.parse_measure("RR" if name == "RR" else f"{name}@{k}")
        expected = ir_measures.pytrec_eval.calc_aggregate([measure], qrels, run)[measure] if run else 0.0
        assert score(f"{name}@{k}", ranking, evidence(relevant)) == pytest.approx(expected, abs=1e-4)


@given(rankings, wanted, st.integers(1, 12))
def test_measures_stay_in_range_and_are_ordered(ranking, relevant, k):
    """Complete success implies full recall, any recall implies success, and nothing leaves [0, 1]."""
    values = {kind: score(f"{kind}@{k}", ranking, evidence(relevant)) for kind in KINDS}
    assert all(0 <= value <= 1 + 1e-12 for value in values.values())
    assert values["AllSuccess"] <= values["R"] <= values["Success"]
    assert values["AP"] <= values["R"]
    assert (values["P"] > 0) == (values["AP"] > 0) == (values["RR"] > 0)
    assert (values["RR"] > 0) == (values["nDCG"] > 0) == (values["Success"] == 1)


@given(rankings, wanted, st.integers(1, 11))
def test_reading_further_never_lowers_recall(ranking, relevant, k):
    """The first k are a prefix of the first k + 1."""
    for kind in ("Success", "AllSuccess", "R", "RR", "AP"):
        assert score(f"{kind}@{k}", ranking, evidence(relevant)) <= score(
            f"{kind}@{k + 1}", ranking, evidence(relevant)
        )


@given(st.lists(st.sampled_from(sorted(DOCUMENTS)), unique=True), st.sets(st.integers(0, 11), min_size=1))
def test_recall_is_the_union_of_what_was_credited(ranking, relevant):
    """However documents overlap, recall counts each wanted chunk once."""
    union = {chunk for document in ranking[:5] for chunk in DOCUMENTS[document].sources}
    expected = len(union & relevant) / len(relevant)
    assert score("R(credit=source)@5", ranking, evidence(relevant)) == pytest.approx(expected)
    assert 0 <= score("nDCG(credit=source)@5", ranking, evidence(relevant)) <= 1 + 1e-12
