from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from harness.benchmarks import synthetic as module
from harness.benchmarks.columns import LAYERS, Benchmark
from harness.benchmarks.synthetic import import_synthetic
from harness.errors import IntegrityProblem

DIGESTS = {
    "corpus": "7fd0bae7906cb3df3332f7f393d8d8898d26622389f5be4e8d468a965e98432a",
    "edges": "bdcaf2d5238911aa6613bf98c376f25c3ac5855eb8fff263724f2624e5b5f5ff",
    "dev_questions": "508e55d2e14065ae6436d98fc023aacb485729190f6c7d1454b60ad68e1ab2d9",
    "dev_labels": "43052bcc96a00035e118182916e67df17ddb0dbb4359568287016376d45906db",
    "heldout_questions": "3fc7ebaf6370769afabc348dd7f807beddec9d7556035c2d5cf9dbe3f151d98a",
    "heldout_labels": "148105d37603972b7a0cfb6ffc921477293ab0687dad871019828361490e7704",
    "digest": "9b0492d2879a8b74adad988f28de86baef451e343f53a56d768c7810ac6704ee",
}


def test_digests_are_pinned(synthetic: Benchmark) -> None:
    """The content digests, on which behaviour fingerprints rest, never change."""
    assert synthetic.digests() == {name: f"sha256:{value}" for name, value in DIGESTS.items()}


def test_counts_are_pinned(synthetic: Benchmark) -> None:
    """Layers, edges, categories and parts are as many as ever."""
    layers = Counter(LAYERS[code] for code in synthetic.corpus.layer.tolist())
    assert layers == {"raw": 2283, "distill": 715, "summary": 78}
    assert Counter(synthetic.edges.relation) == {"followed_by": 2205, "distilled": 793, "caused": 60}
    assert Counter(synthetic.questions.part) == {"dev": 58, "heldout": 508}
    assert Counter(synthetic.labels.categories) == {
        "single-hop": 243, "adversarial": 125, "temporal": 90, "multi-hop": 79, "open-domain": 29,
    }  # fmt: skip
    assert synthetic.repairs == ()


def test_first_conversation_is_for_development(synthetic: Benchmark) -> None:
    """The first conversation's questions are dev, all others are held out."""
    dev = {c for c, part in zip(synthetic.questions.clusters, synthetic.questions.part, strict=True) if part == "dev"}
    assert dev == {synthetic.partitions[0]} == {"syn-01"}


def test_unanswerable_questions_are_flagged_to_abstain(synthetic: Benchmark) -> None:
    """A question without an answer has the empty gold and the flag to abstain, and no other has."""
    for category, answer, flags in zip(
        synthetic.labels.categories, synthetic.labels.answers, synthetic.labels.flags, strict=True
    ):
        assert (category == "adversarial") == (answer == "") == ("abstain" in flags)


def test_causal_edges_have_their_own_confidence(synthetic: Benchmark) -> None:
    """Causal edges join two turns of one conversation and keep the confidence of the data."""
    edges, corpus = synthetic.edges, synthetic.corpus
    causal = [place for place, relation in enumerate(edges.relation) if relation == "caused"]
    for place in causal:
        ends = [int(edges.source[place]), int(edges.target[place])]
        assert corpus.layer[ends].tolist() == [0, 0]
        assert len(set(corpus.partition[ends].tolist())) == 1
        assert corpus.session[ends[0]] < corpus.session[ends[1]]
    assert len(set(edges.confidence[causal].tolist())) > 1


def test_partitions_never_decrease_and_layers_follow_one_another(synthetic: Benchmark) -> None:
    """A conversation's chunks stand together: turns, then facts, then summaries."""
    order = list(zip(synthetic.corpus.partition.tolist(), synthetic.corpus.layer.tolist(), strict=True))
    assert order == sorted(order)


def test_a_changed_data_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A data file with one other word is not the released benchmark."""
    original = json.loads(gzip.decompress((Path(module.__file__).parent / "data" / module.DATA_FILE).read_bytes()))
    original["conversations"][3]["sessions"][0]["turns"][0]["text"] += "!"
    (tmp_path / module.DATA_FILE).write_bytes(gzip.compress(json.dumps(original).encode()))
    monkeypatch.setattr(module.resources, "files", lambda _: tmp_path)
    with pytest.raises(IntegrityProblem, match="was changed"):
        import_synthetic("changed")


DAMAGED = {"empty": b"", "not gzip": b"not gzip", "cut": gzip.compress(b"[1,"), "no text": gzip.compress(b"\xff")}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_data_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> None:
    """A data file that cannot be unpacked or parsed is told as a damaged installation."""
    (tmp_path / module.DATA_FILE).write_bytes(content)
    monkeypatch.setattr(module.resources, "files", lambda _: tmp_path)
    with pytest.raises(IntegrityProblem, match="was changed"):
        import_synthetic("damaged")


def test_a_missing_data_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """An installation without the data file is told as damaged."""
    monkeypatch.setattr(module.resources, "files", lambda _: tmp_path)
    with pytest.raises(IntegrityProblem):
        import_synthetic("missing")
