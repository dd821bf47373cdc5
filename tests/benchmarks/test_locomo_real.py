from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.columns import LAYERS, Benchmark
from harness.benchmarks.locomo import CATEGORIES, import_locomo

Json = dict[str, Any]
AsFile = Callable[[Any], Path]
ImportValue = Callable[..., Benchmark]

REAL_FAULTS = {
    "several evidence ids in one string": 4,
    "stray evidence text": 1,
    "misspelt evidence id": 1,
    "padded evidence id": 1,
    "dangling evidence id": 2,
    "evidence id twice": 1,
    "empty evidence": 4,
    "the answer is a number": 6,
    "adversarial question without an answer": 444,
    "adversarial question with both answers": 2,
    "exact duplicate question": 11,
    "same question in another category": 1,
    "session date without a session": 16,
    "gold rests on an image only": 36,
    "several source ids in one string": 5,
}
REAL_DIGESTS = {
    "corpus": "6218118f64393e9549f8d9dd563db4a50ed03408f2be7ba84cc46b877c378ccf",
    "edges": "dde4319fde1434b2377f83a3753e3756716afc78ffab7f079d748068ed79b1f9",
    "dev_questions": "2c021ee102ba2265ddcbf0d1d3ef6217ea7a61f71f58476c78fba5a38eeb7047",
    "dev_labels": "db393c107342b801b2fbcf9a46cc2c26e48a908e09bd7efe1df1fe1fc9b5bfd5",
    "heldout_questions": "47977c52a962324e0913a821eb0d7dcc18c0741a0b77f744ae443b4c49f8e1d3",
    "heldout_labels": "1e80dfc675df862ebbb23e14970bf19000b0cc7f6ada423654e65ba0883e7996",
    "digest": "29c61f5084a8593466df8c448a3d192ecbecacbb7fe6f826b5fcea218ea1f635",
}
REAL_TURNS = {
    "conv-26": 419, "conv-30": 369, "conv-41": 663, "conv-42": 629, "conv-43": 680,
    "conv-44": 675, "conv-47": 689, "conv-48": 681, "conv-49": 509, "conv-50": 568,
}  # fmt: skip
REAL_QUESTIONS = {
    "conv-26": 199, "conv-30": 105, "conv-41": 193, "conv-42": 260, "conv-43": 242,
    "conv-44": 158, "conv-47": 190, "conv-48": 239, "conv-49": 196, "conv-50": 204,
}  # fmt: skip


def text_digest(text: str) -> str:
    """Stands for a text that the repository may not hold."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def faults(benchmark: Benchmark) -> Counter[str]:
    """How often each fault is in the repair report."""
    return Counter(repair.fault for repair in benchmark.repairs)


def test_every_fault_is_counted(locomo: Benchmark) -> None:
    """The repair report counts each known fault exactly, and nothing else."""
    assert faults(locomo) == REAL_FAULTS


@pytest.mark.parametrize(
    ("record", "repaired", "n_published", "n_matched"),
    [
        ("conv-26/q37", ["conv-26/D8:6", "conv-26/D9:17"], 1, 0),
        ("conv-49/q31", ["conv-49/D9:1", "conv-49/D4:4", "conv-49/D4:6"], 1, 0),
        ("conv-43/q18", ["conv-43/D11:26"], None, None),
        ("conv-50/q69", ["conv-50/D30:5"], None, None),
        ("conv-26/q30", [], 0, 0),
    ],
)
def test_named_faults_are_mended(
    locomo: Benchmark,
    record: str,
    repaired: list[str],
    n_published: int | None,
    n_matched: int | None,
) -> None:
    """The known faulty questions have the evidence that was meant, and their published ids unmended."""
    index = locomo.labels.ids.index(record)
    found = [locomo.corpus.ids[position] for position in locomo.labels.repaired.row(index)]
    assert set(repaired) <= set(found)
    if n_published is not None:
        assert found == repaired
        assert int(locomo.labels.n_published[index]) == n_published
        assert len(locomo.labels.published.row(index)) == n_matched


def test_counts_are_the_published_ones(locomo: Benchmark) -> None:
    """Conversations, turns, facts, summaries, questions and their parts are as many as published."""
    layers = Counter(LAYERS[code] for code in locomo.corpus.layer.tolist())
    assert layers == {"raw": 5882, "distill": 2541, "summary": 272}
    assert locomo.partitions == tuple(REAL_TURNS)
    assert len({(p, s) for p, s in zip(locomo.corpus.partition, locomo.corpus.session, strict=True)}) == 272
    raw = Counter(locomo.corpus.partition[locomo.corpus.layer == 0].tolist())
    assert [raw[place] for place in range(10)] == list(REAL_TURNS.values())
    assert Counter(locomo.questions.clusters) == REAL_QUESTIONS
    assert Counter(locomo.questions.part) == {"dev": 199, "heldout": 1787}


def test_categories_are_the_published_ones(locomo: Benchmark) -> None:
    """Each category keeps its number's name and its count."""
    assert CATEGORIES == {
        1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial",
    }  # fmt: skip
    counts = {"multi-hop": 282, "temporal": 321, "open-domain": 96, "single-hop": 841, "adversarial": 446}
    assert Counter(locomo.labels.categories) == counts


def test_flags_are_counted(locomo: Benchmark) -> None:
    """Abstention, both answers and dependence on an image are flags of the known numbers of questions."""
    counts = Counter(flag for flags in locomo.labels.flags for flag in flags)
    assert counts == {"abstain": 444, "both_answers": 2, "image_dependent": 36}


def test_first_nth_and_last_chunk_are_pinned(locomo: Benchmark) -> None:
    """Three chunks are what they were, in id, text, layer, session and time."""
    corpus = locomo.corpus
    assert len(corpus) == 8695
    assert [
        (corpus.ids[i], text_digest(corpus.texts[i]), corpus.layer[i], corpus.session[i], corpus.time[i])
        for i in (0, 1000, 8694)
    ] == [
        ("conv-26/D1:1", "6c1b58a978dc", 0, 1, 1683554160),
        ("conv-30/S2/o2", "9a8fa6b4c561", 1, 2, 1675002720),
        ("conv-50/S30/summary", "f64dedb93521", 2, 30, 1700218440),
    ]


def test_first_nth_and_last_question_are_pinned(locomo: Benchmark) -> None:
    """Three questions are what they were, in id, text, part, category, answer and evidence."""
    questions, labels, ids = locomo.questions, locomo.labels, locomo.corpus.ids
    assert [
        (
            questions.ids[i], text_digest(questions.texts[i]), questions.part[i], labels.categories[i],
            text_digest(labels.answers[i]), [ids[position] for position in labels.repaired.row(i)],
        )
        for i in (0, 1000, 1985)
    ] == [
        ("conv-26/q0", "db23cff11243", "dev", "temporal", "c5184f099fa4", ["conv-26/D1:3"]),
        ("conv-44/q1", "7ba8c132c0c6", "heldout", "temporal", "ee057295e4e7", ["conv-44/D1:2"]),
        ("conv-50/q203", "3db3762fe69c", "heldout", "adversarial", text_digest(""), ["conv-50/D30:15"]),
    ]  # fmt: skip


def test_edges_are_counted_and_pinned(locomo: Benchmark) -> None:
    """There are 5,610 adjacency edges and one self edge for each fact and summary."""
    assert Counter(locomo.edges.relation) == {"followed_by": 5610, "distilled": 2541 + 272}
    ends = [
        (locomo.corpus.ids[locomo.edges.source[i]], locomo.corpus.ids[locomo.edges.target[i]]) for i in (0, 4000, -1)
    ]
    assert ends == [
        ("conv-26/D1:1", "conv-26/D1:2"),
        ("conv-44/D2:8", "conv-44/D2:9"),
        ("conv-50/S30/summary", "conv-50/S30/summary"),
    ]


def test_every_question_but_four_has_evidence_after_repair(locomo: Benchmark) -> None:
    """Repair leaves 1,982 questions with evidence; every piece lies in the question's own conversation."""
    assert np.count_nonzero(locomo.labels.repaired.counts()) == 1982
    for index, place in enumerate(locomo.questions.partition.tolist()):
        evidence = locomo.labels.repaired.row(index)
        assert set(locomo.corpus.partition[evidence].tolist()) <= {place}
        assert set(locomo.corpus.layer[evidence].tolist()) <= {0}


def test_digests_are_pinned(locomo: Benchmark) -> None:
    """The content digests that preregistrations name never change."""
    assert locomo.digests() == {name: f"sha256:{value}" for name, value in REAL_DIGESTS.items()}


def test_source_names_the_variant_and_its_digests(locomo: Benchmark) -> None:
    """The published file is known by name, by its bytes and by its content."""
    assert locomo.source["variant"] == "snap-research/locomo@3eb6f2c"
    assert locomo.source["sha256"].startswith("79fa87e9")
    assert locomo.source["canonical_sha256"].startswith("93808652")
    assert locomo.source["bytes"] == 2805274


@pytest.mark.parametrize("dev", [("conv-30",), ("conv-26", "conv-50")])
def test_dev_conversations_can_be_chosen(locomo_file: Path, dev: tuple[str, ...]) -> None:
    """Exactly the chosen conversations' questions are for development; the corpus stays the same."""
    benchmark = import_locomo(locomo_file, dev=dev)
    pairs = set(zip(benchmark.questions.clusters, benchmark.questions.part, strict=True))
    assert {cluster for cluster, part in pairs if part == "dev"} == set(dev)
    assert len(pairs) == 10
    assert benchmark.digests()["corpus"] == f"sha256:{REAL_DIGESTS['corpus']}"
