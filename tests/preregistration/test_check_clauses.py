"""The check of single clauses: slices, their sizes, and what can be reached in them."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from harness.evaluation.measure import parse_measure
from harness.evaluation.statistics.looks import alpha_of_look
from harness.preregistration.check import check
from harness.preregistration.document import Preregistration
from harness.preregistration.evidence import FINE, REFUSED, Evidence, Finding, slice_sizes

Promise = Callable[..., Preregistration]
Sizes = dict[str, int] | None


def the(findings: list[Finding], subject: str) -> Finding:
    """The one finding about a subject."""
    (found,) = [finding for finding in findings if finding.subject == subject]
    return found


@pytest.mark.parametrize(
    ("drop", "kind"), [("0.001", REFUSED), ("0.0177", REFUSED), ("0.0178", FINE), ("0.018", FINE), ("0.9", FINE)]
)
def test_a_guard_cannot_promise_more_than_its_slice_can_show(
    drop: str, kind: str, promise: Promise, evidence: Evidence
) -> None:
    """284 temporal questions of which not one is lost show no better than -1.8 points at the first look."""
    found = the(check(promise([("temporal", drop)]), evidence), "guard R@10 in temporal")
    assert found.kind == kind
    assert "the lower bound" in found.says
    assert "-1.8 points" in found.says
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
        ("conversation:conv-30", "105 questions in 1 cluster count as 1.0 equal", "more conversations"),
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
