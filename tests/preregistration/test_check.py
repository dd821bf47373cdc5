from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from harness.evaluation.measure import parse_measure
from harness.evaluation.statistics.looks import alpha_of_look
from harness.preregistration.check import FINE, NOTED, REFUSED, Evidence, Finding, check, refusals, slice_sizes
from harness.preregistration.document import Preregistration
from harness.retrieval.registry import select

Promise = Callable[..., Preregistration]
Sizes = dict[str, int] | None

DIGEST, OTHER = "sha256:" + "1" * 64, "sha256:" + "2" * 64
NOW = {"baseline": "sha256:" + "3" * 64, "candidate": "sha256:" + "4" * 64}

# sizes of the nine held-out conversations of LoCoMo: everything, and the temporal questions
CONVERSATIONS = [f"conv-{number}" for number in (30, 41, 42, 43, 44, 47, 48, 49, 50)]
EVERYTHING = (105, 193, 260, 242, 158, 190, 239, 196, 204)
TEMPORAL = (26, 27, 40, 26, 24, 34, 42, 33, 32)


def cells(sizes: tuple[int, ...]) -> dict[str, list[int]]:
    """The same number of questions under each convention."""
    return {name: [size] * 4 for name, size in zip(CONVERSATIONS, sizes, strict=False) if size}


@pytest.fixture
def manifest() -> dict[str, Any]:
    """A manifest with the slice sizes of LoCoMo's held-out part, and two slices that cannot be tested."""
    heldout = {
        "all": cells(EVERYTHING),
        "temporal": cells(TEMPORAL),
        "adversarial": cells((30, 30, 50, 50, 40, 40, 60, 50, 49)),
        "open-domain": {name: [9, 8, 7, 6] for name in CONVERSATIONS},
        "concentrated": cells((100, 1, 1, 1, 1, 1, 1, 1, 1)),
        "image_dependent": cells((9, 9, 9)),
    }
    return {"digests": {"digest": DIGEST}, "slices": {"heldout": heldout, "dev": {}}}


@pytest.fixture
def evidence(manifest: dict[str, Any]) -> Evidence:
    """Everything as it should be before the first look of the minimal document."""
    candidate = select("bm25", {"layers": ["raw"]}).identity()
    return Evidence(
        manifest=manifest,
        look=1,
        alpha_k=alpha_of_look(0.05, 1),
        in_force=select("bm25").identity(),
        fingerprints=NOW,
        frozen={
            **candidate,
            "benchmark": {"name": "locomo", "digest": DIGEST},
            "fingerprint": NOW["candidate"],
            "measures": {"R@10": 0.5, "nDCG@10": 0.4},
        },
    )


def the(findings: list[Finding], subject: str) -> Finding:
    """The one finding about a subject."""
    (found,) = [finding for finding in findings if finding.subject == subject]
    return found


def test_a_good_document_is_fine_throughout(promise: Promise, evidence: Evidence) -> None:
    """Each part says what was found, and nothing stands in the way of the lock."""
    findings = check(promise([("temporal", "0.03")]), evidence)
    assert [(finding.kind, finding.subject) for finding in findings] == [
        (FINE, "benchmark"),
        (FINE, "systems"),
        (FINE, "rehearsal"),
        (FINE, "primary R@10 in all"),
        (FINE, "guard R@10 in temporal"),
    ]
    assert refusals(findings, None) == []
    assert "284 questions in 9 clusters; without a single loss" in findings[-1].says
    assert "-1.6 points against -3.0; one question is 0.35 points" in findings[-1].says


@pytest.mark.parametrize(
    ("drop", "kind"), [("0.001", REFUSED), ("0.016", REFUSED), ("0.0161", FINE), ("0.017", FINE), ("0.9", FINE)]
)
def test_a_guard_cannot_promise_more_than_its_slice_can_show(
    drop: str, kind: str, promise: Promise, evidence: Evidence
) -> None:
    """284 temporal questions of which not one is lost show no better than -1.6 points at the first look."""
    found = the(check(promise([("temporal", drop)]), evidence), "guard R@10 in temporal")
    assert found.kind == kind
    assert "the lower bound" in found.says
    assert "-1.6 points" in found.says
    assert found.says.startswith("PASS is unreachable") == (kind == REFUSED)


@pytest.mark.parametrize("look", [1, 2, 3, 10])
def test_the_mend_of_an_unreachable_guard_is_accepted(look: int, promise: Promise, evidence: Evidence) -> None:
    """The drop that is proposed can be promised, and it grows with the looks that are spent."""
    later = dataclasses.replace(evidence, look=look, alpha_k=alpha_of_look(0.05, look))
    refused = the(check(promise([("temporal", "0.001")]), later), "guard R@10 in temporal")
    match = re.fullmatch(r"tolerate (0\.\d+), or choose a larger slice", refused.fix)
    assert match
    assert the(check(promise([("temporal", match[1])]), later), refused.subject).kind == FINE
    less = str(Decimal(match[1]) - Decimal("0.002"))
    assert the(check(promise([("temporal", less)]), later), refused.subject).kind == REFUSED


def test_a_gain_that_no_result_could_show_is_refused(promise: Promise, evidence: Evidence) -> None:
    """With every question won the bound stays below 1, so a claim above it can never pass; its mend can."""

    def claimed(gain: str) -> Finding:
        document = promise(claim={"superior": Decimal(gain)}, primary={"measure": "R@10", "slice": "open-domain"})
        return the(check(document, evidence), "primary R@10 in open-domain")

    refused = claimed("0.99")
    assert refused.kind == REFUSED
    assert "with every question won" in refused.says
    match = re.fullmatch(r"claim a gain of (0\.\d+) or less, or choose a larger slice", refused.fix)
    assert match
    assert claimed(match[1]).kind == FINE
    assert claimed("0.02").kind == FINE


@pytest.mark.parametrize(("margin", "kind"), [("0.002", REFUSED), ("0.02", FINE)])
def test_a_margin_below_the_floor_is_refused(margin: str, kind: str, promise: Promise, evidence: Evidence) -> None:
    """Non-inferiority within a margin that unchanged rankings could not show is no promise."""
    document = promise(claim={"non_inferior": Decimal(margin)})
    assert the(check(document, evidence), "primary R@10 in all").kind == kind


@pytest.mark.parametrize(
    ("name", "slice_name", "size"),
    [
        ("R@10", "open-domain", 8),
        ("R(evidence=published)@10", "open-domain", 7),
        ("R(evidence=overlay)@10", "open-domain", 6),
        ("R(empty=0)@10", "open-domain", 9),
        ("R(evidence=published,empty=1)@10", "open-domain", 9),
        ("R(adversarial=out)@10", "open-domain", 8),
        ("R@10", "all", 105),
        ("R(adversarial=out)@10", "all", 75),
        ("R(adversarial=out)@10", "conversation:conv-30", 75),
        ("R@10", "conversation:conv-30", 105),
    ],
)
def test_slice_sizes_follow_the_convention(name: str, slice_name: str, size: int, manifest: dict[str, Any]) -> None:
    """What has a score depends on which evidence counts and on what becomes of empty and adversarial questions."""
    sizes = slice_sizes(manifest, parse_measure(name), slice_name)
    assert sizes is not None
    assert sizes["conv-30"] == size
    assert len(sizes) == (1 if ":" in slice_name else 9)


@pytest.mark.parametrize(
    ("name", "slice_name", "sizes"),
    [
        ("R(adversarial=out)@10", "adversarial", {}),
        ("R@10", "no such slice", None),
        ("R@10", "conversation:conv-26", None),
    ],
)
def test_slices_without_a_score(name: str, slice_name: str, sizes: Sizes, manifest: dict[str, Any]) -> None:
    """A slice that is emptied by a convention is not the same as one that does not exist."""
    assert slice_sizes(manifest, parse_measure(name), slice_name) == sizes


def test_clusters_without_a_scored_question_do_not_count(manifest: dict[str, Any]) -> None:
    """A conversation whose questions all lack evidence adds no cluster."""
    manifest["slices"]["heldout"]["temporal"]["conv-30"] = [5, 0, 5, 0]
    assert "conv-30" not in (slice_sizes(manifest, parse_measure("R@10"), "temporal") or {})


@pytest.mark.parametrize(
    ("slice_name", "words", "fix"),
    [
        ("temporl", "no held-out question of a slice 'temporl'", "did you mean 'temporal'?"),
        ("conversation:conv-26", "no held-out question", ""),
        ("conversation:conv-30", "105 questions in 1 clusters count as 1.0 equal", "more conversations"),
        ("image_dependent", "27 questions in 3 clusters count as 3.0 equal clusters; below 5", "more conversations"),
        ("concentrated", "108 questions in 9 clusters count as 1.2 equal clusters", "more conversations"),
    ],
)
def test_a_slice_that_cannot_be_tested_is_refused(
    slice_name: str, words: str, fix: str, promise: Promise, evidence: Evidence
) -> None:
    """It does not exist, or its questions lie in too few conversations."""
    found = the(check(promise([(slice_name, "0.1")]), evidence), f"guard R@10 in {slice_name}")
    assert found.kind == REFUSED
    assert words in found.says
    assert fix in found.fix


def test_every_question_out_by_convention_is_refused(promise: Promise, evidence: Evidence) -> None:
    """A primary on adversarial questions that leaves them out has nothing to read."""
    document = promise(primary={"measure": "R(adversarial=out)@10", "slice": "adversarial"})
    assert the(check(document, evidence), "primary R(adversarial=out)@10 in adversarial").kind == REFUSED


def test_estimates_need_neither_clusters_nor_a_floor(promise: Promise, evidence: Evidence) -> None:
    """Where bare estimates decide, no bound is spoken of."""
    document = promise([("conversation:conv-30", "0.001")], decide_on="estimate")
    found = the(check(document, evidence), "guard R@10 in conversation:conv-30")
    assert found.kind == FINE
    assert "bound" not in found.says


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (None, "no dress rehearsal"),
        ({"version": "bm25-edges"}, "another version or of other parameters"),
        ({"parameters": select("bm25").settings()}, "another version or of other parameters"),
        ({"parameters": None}, "another version or of other parameters"),
        ({"benchmark": {"name": "locomo", "digest": OTHER}}, "comes from another benchmark"),
        ({"benchmark": {}}, "comes from another benchmark"),
        ({"fingerprint": OTHER}, "no longer behaves as it did in its dev run"),
        ({"fingerprint": None}, "no longer behaves as it did in its dev run"),
        ({"measures": {"nDCG@10": 0.4}}, "never produced on dev: R@10"),
        ({"measures": {}}, "never produced on dev: R@10"),
    ],
)
def test_a_missing_or_foreign_rehearsal_is_refused(
    change: dict[str, Any] | None, words: str, promise: Promise, evidence: Evidence
) -> None:
    """The frozen dev result is of this candidate as it behaves now, on this benchmark, with every measure."""
    frozen = None if change is None else {**(evidence.frozen or {}), **change}
    found = the(check(promise(), dataclasses.replace(evidence, frozen=frozen)), "rehearsal")
    assert found.kind == REFUSED
    assert words in found.says
    assert "harness freeze" in found.fix


def test_every_measure_that_is_missing_on_dev_is_named(promise: Promise, evidence: Evidence) -> None:
    """Primaries and guards alike, once each, and as what to type."""
    document = promise(primary=["nDCG@10", "R(credit=source)@10", "RR@10"])
    found = the(check(document, evidence), "rehearsal")
    assert "never produced on dev: R(credit=source)@10, RR@10" in found.says
    assert "measures=[R(credit=source)@10,RR@10]" in found.fix


def test_a_baseline_that_is_not_in_force_needs_a_reason(promise: Promise, evidence: Evidence) -> None:
    """An easy opponent is refused until it is declared, and is noted then."""
    baseline = {"version": "bm25", "parameters": {"k1": Decimal("0.1")}}
    refused = the(check(promise(baseline=baseline), evidence), "baseline")
    assert refused.kind == REFUSED
    assert "not the version in force, bm25 (" in refused.says
    assert "k1=1.2" in refused.says
    assert "straw: <reason>" in refused.fix
    declared = check(promise(baseline=baseline, straw="for a paper"), evidence)
    assert the(declared, "baseline") == Finding(NOTED, "baseline", "a straw comparison, declared: for a paper")
    assert refusals(declared, None) == []


def test_a_system_is_not_compared_with_itself(promise: Promise, evidence: Evidence) -> None:
    """Neither under its defaults nor with them written out."""
    for parameters in ({}, {"layers": ["distill", "raw"], "b": Decimal("0.75")}):
        document = promise(candidate={"version": "bm25", "parameters": parameters})
        found = the(check(document, evidence), "systems")
        assert found.kind == REFUSED
        assert "the same version with the same parameters" in found.says


@pytest.mark.parametrize("role", ["baseline", "candidate"])
def test_a_system_that_behaves_otherwise_than_written_is_refused(
    role: str, promise: Promise, evidence: Evidence
) -> None:
    """A fingerprint in the document pins behaviour, and the right one is fine."""
    parameters = {"layers": ["raw"]} if role == "candidate" else {}
    for fingerprint, kinds in ((OTHER, [REFUSED]), (NOW[role], [])):
        document = promise(**{role: {"version": "bm25", "parameters": parameters, "fingerprint": fingerprint}})
        assert [f.kind for f in check(document, evidence) if f.subject == role] == kinds


@pytest.mark.parametrize(("digest", "kind"), [(None, FINE), (DIGEST, FINE), (OTHER, REFUSED)])
def test_a_pinned_benchmark_is_the_imported_one(
    digest: str | None, kind: str, promise: Promise, evidence: Evidence
) -> None:
    """A document that names a digest is not judged on another file of the same name."""
    found = the(check(promise(benchmark={"name": "locomo", "digest": digest}), evidence), "benchmark")
    assert found.kind == kind
    assert DIGEST[:19] in found.says


@pytest.mark.parametrize(
    ("keys", "named"),
    [
        ({"title": "TODO"}, "title"),
        ({"hypothesis": " TODO\n"}, "hypothesis"),
        ({"rationale": "TODO", "authors": ["Ada", "TODO"]}, "rationale, authors"),
    ],
)
def test_words_that_are_still_to_be_written_are_refused(
    keys: dict[str, Any], named: str, promise: Promise, evidence: Evidence
) -> None:
    """A draft says where its author has yet to think."""
    found = the(check(promise(**keys), evidence), "words")
    assert (found.kind, found.says) == (REFUSED, f"still to be written: {named}")


def test_a_sentence_about_a_todo_is_no_todo(promise: Promise, evidence: Evidence) -> None:
    """Only the bare word is."""
    assert refusals(check(promise(title="A TODO list in memory"), evidence), None) == []


def test_a_later_look_is_noted_with_its_price(promise: Promise, evidence: Evidence) -> None:
    """What each bound is taken at stands beside what was written."""
    later = dataclasses.replace(evidence, look=2, alpha_k=alpha_of_look(0.05, 2))
    found = the(check(promise(), later), "looks")
    assert found.kind == NOTED
    assert "look 2" in found.says
    assert "0.0076 instead of 0.05" in found.says


@pytest.mark.parametrize(
    ("acknowledged", "standing"), [(None, ["hard", "soft"]), ("", ["hard", "soft"]), ("we know", ["hard"])]
)
def test_a_reason_on_record_lifts_only_what_may_be_lifted(acknowledged: str | None, standing: list[str]) -> None:
    """A refusal stands unless it may be acknowledged and there is a reason; notes never stand in the way."""
    findings = [
        Finding(REFUSED, "hard", "says"),
        Finding(REFUSED, "soft", "says", may_acknowledge=True),
        Finding(NOTED, "note", "says"),
        Finding(FINE, "fine", "says"),
    ]
    assert [finding.subject for finding in refusals(findings, acknowledged)] == standing
