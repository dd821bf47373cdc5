import numpy as np
import pytest

from harness.evaluation.measure import parse_measure
from harness.evaluation.slices import in_slice

# evidence as published, questions without any counting 0: the convention of the published figures
PUBLISHED = "(evidence=published,empty=0)"
CATEGORIES = {"multi-hop": 155, "temporal": 231, "open-domain": 34, "single-hop": 688, "adversarial": 369}
SIZES = {"multi-hop": 282, "temporal": 321, "open-domain": 96, "single-hop": 841, "adversarial": 446}
CONVERSATIONS = [158, 79, 138, 191, 189, 113, 139, 182, 143, 145]


def test_edges_find_evidence_for_the_published_share_of_questions(evaluated, locomo):
    """BM25 over raw edges finds evidence for 1,477 of 1,986 questions at ten edges, in every part as published."""
    measure = parse_measure(f"Success{PUBLISHED}@10")
    scores = evaluated(locomo, str(measure), version="bm25-edges", layers=("raw",))
    values = scores.values[measure]
    assert (values.sum(), len(values)) == (1477, 1986)
    assert scores.mean(measure)[0] == 0.743705941591138

    def part(name):
        return in_slice(name, locomo.questions, locomo.labels, locomo.partitions)

    assert {name: values[part(name)].sum() for name in CATEGORIES} == CATEGORIES
    assert {name: part(name).sum() for name in SIZES} == SIZES
    assert [values[part(f"conversation:{name}")].sum() for name in locomo.partitions] == CONVERSATIONS


def test_repaired_evidence_finds_two_more_of_four_fewer(evaluated, locomo):
    """With mended ids and empty evidence left out, 1,479 of 1,982 questions have evidence among ten edges."""
    measure = parse_measure("Success@10")
    scores = evaluated(locomo, "Success@10", version="bm25-edges", layers=("raw",))
    assert np.nansum(scores.values[measure]) == 1479
    assert scores.mean(measure)[1] == 1982
    assert scores.exclusions(measure) == {"no evidence": 4}


@pytest.mark.parametrize(("k", "found", "complete", "fraction"), [(20, 1607, 1420, 0.7598), (50, 1738, 1534, 0.8217)])
def test_deeper_cuts_over_edges(evaluated, locomo, k, found, complete, fraction):
    """At 20 and 50 edges the counts of any and of all evidence, and the mean share, are the known ones."""
    names = [f"{name}{PUBLISHED}@{k}" for name in ("Success", "AllSuccess", "R")]
    scores = evaluated(locomo, *names, version="bm25-edges", layers=("raw",))
    success, every, recall = (scores.values[parse_measure(name)] for name in names)
    assert (success.sum(), every.sum()) == (found, complete)
    assert round(recall.mean(), 4) == fraction


@pytest.mark.parametrize(
    ("version", "choices", "found"),
    [
        ("bm25", {}, 1176),
        ("bm25", {"tie_rule": "id-text"}, 1177),
        ("bm25", {"template": "bare/1"}, 1150),
        ("bm25-edges", {"tie_rule": "id-text"}, 1477),
    ],
    ids=["chunks", "ties by id text", "no session prefix", "edges, ties by id text"],
)
def test_variants_of_the_raw_layer(evaluated, locomo, version, choices, found):
    """The tie rule is told apart over chunks and not over edges, and the session prefix is worth 26 questions."""
    name = f"Success{PUBLISHED}@10"
    scores = evaluated(locomo, name, version=version, layers=("raw",), **choices)
    assert scores.values[parse_measure(name)].sum() == found


@pytest.mark.parametrize(("k", "percent"), [(20, 66.4), (50, 74.2)])
def test_deeper_cuts_over_chunks(evaluated, locomo, k, percent):
    """Over chunks evidence is found for two thirds of the questions at 20 and three quarters at 50."""
    measure = parse_measure(f"Success{PUBLISHED}@{k}")
    assert round(100 * evaluated(locomo, str(measure), layers=("raw",)).mean(measure)[0], 1) == percent


@pytest.mark.parametrize(
    ("layers", "credit", "dev", "heldout"),
    [
        (("raw",), "raw", 57.2, 54.4),
        (("raw",), "source", 57.2, 54.4),
        (("raw", "distill"), "raw", 48.0, 45.8),
        (("raw", "distill"), "source", 64.1, 61.9),
    ],
)
def test_recall_on_dev_and_held_out_conversations(evaluated, locomo, layers, credit, dev, heldout):
    """R@10 of BM25 over one layer and over two, under both credit rules, on conv-26 and on the nine others."""
    measure = parse_measure(f"R(credit={credit})@10")
    scores = evaluated(locomo, str(measure), layers=layers)
    first = np.array([part == "dev" for part in locomo.questions.part])
    (on_dev, n_dev), (on_heldout, n_heldout) = scores.mean(measure, first), scores.mean(measure, ~first)
    assert (round(100 * on_dev, 1), round(100 * on_heldout, 1)) == (dev, heldout)
    assert (n_dev, n_heldout) == (197, 1785)


def test_ties_inside_the_list_and_across_the_cut(ranked, locomo):
    """Over raw edges 37 questions tie across ranks 10 and 11, and 171 have a tie inside the first ten."""
    ranking, _ = ranked(locomo, "bm25-edges", layers=("raw",))
    inside = across = 0
    for begin, end in zip(ranking.offsets[:-1], ranking.offsets[1:], strict=True):
        # exact equality: one pair of edges differs in its last bits only, and is no tie
        scores = ranking.scores[begin:end][:11]
        equal = scores[1:] == scores[:-1]
        inside += bool(equal[:9].any())
        across += len(equal) == 10 and bool(equal[9])
    assert (inside, across) == (171, 37)
