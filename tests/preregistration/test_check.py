from __future__ import annotations

import dataclasses
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from harness.evaluation.statistics.looks import alpha_of_look
from harness.preregistration.check import check, refusals
from harness.preregistration.document import Preregistration
from harness.preregistration.evidence import FINE, NOTED, REFUSED, Evidence, Finding
from harness.retrieval.registry import select

Promise = Callable[..., Preregistration]

OTHER = "sha256:" + "2" * 64


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
    assert "-1.8 points against -3.0; one question is 0.35 points" in findings[-1].says


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


TIES = [
    ({}, {"version": "static-tiebreak"}),
    ({"version": "static-tiebreak"}, {}),
    ({}, {"parameters": {"tie_rule": "id-text"}}),
]


@pytest.mark.parametrize(("baseline", "candidate"), TIES)
def test_a_tie_break_cannot_be_superior(
    baseline: dict[str, Any], candidate: dict[str, Any], promise: Promise, evidence: Evidence
) -> None:
    """Systems that differ in exact ties only may claim that nothing is lost; a gain takes an acknowledgement."""
    systems: dict[str, Any] = {"baseline": {"version": "bm25"} | baseline, "candidate": {"version": "bm25"} | candidate}
    refused = the(check(promise(**systems), evidence), "ties")
    assert (refused.kind, refused.may_acknowledge) == (REFUSED, True)
    assert "the order of exact ties only" in refused.says
    assert "superiority cannot pass" in refused.says
    assert refused.fix.startswith("claim non_inferior")
    noted = the(check(promise(**systems, claim={"non_inferior": Decimal("0.007")}), evidence), "ties")
    assert noted.kind == NOTED
    assert "the one claim that can be decided" in noted.says


@pytest.mark.parametrize("parameters", [{"k1": Decimal(1)}, {"layers": ["raw"]}])
def test_a_tie_break_with_another_parameter_is_another_system(
    parameters: dict[str, Any], promise: Promise, evidence: Evidence
) -> None:
    """A candidate whose scores differ as well is not held to be a tie-break."""
    document = promise(candidate={"version": "static-tiebreak", "parameters": parameters})
    assert [found for found in check(document, evidence) if found.subject == "ties"] == []


@pytest.mark.parametrize("role", ["baseline", "candidate"])
def test_a_system_that_behaves_otherwise_than_written_is_refused(
    role: str, promise: Promise, evidence: Evidence
) -> None:
    """A fingerprint in the document pins behaviour, and the right one is fine."""
    parameters = {"layers": ["raw"]} if role == "candidate" else {}
    for fingerprint, kinds in ((OTHER, [REFUSED]), (evidence.fingerprints[role], [])):
        document = promise(**{role: {"version": "bm25", "parameters": parameters, "fingerprint": fingerprint}})
        assert [f.kind for f in check(document, evidence) if f.subject == role] == kinds


def test_a_pinned_benchmark_is_the_imported_one(promise: Promise, evidence: Evidence) -> None:
    """A document that names a digest is not judged on another file of the same name."""
    present = evidence.manifest["digests"]["digest"]
    for digest, kind in ((None, FINE), (present, FINE), (OTHER, REFUSED)):
        found = the(check(promise(benchmark={"name": "locomo", "digest": digest}), evidence), "benchmark")
        assert found.kind == kind
        assert present[:19] in found.says


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


@pytest.mark.parametrize(
    ("tokens", "words"),
    [((200.0, 262.0), "31 % more text (262 tokens a question against 200)"), ((200.0, 150.0), "25 % less text")],
)
def test_more_or_less_text_at_equal_k_is_noted(
    tokens: tuple[float, float], words: str, promise: Promise, rehearsed: Callable[..., Evidence]
) -> None:
    """A gain may be no more than a larger context, and a budget of tokens holds it equal."""
    document = promise()
    rehearsal = rehearsed(document).rehearsal
    assert rehearsal is not None

    def found(read: tuple[float, float] | None, document: Preregistration, **frozen: int) -> list[Finding]:
        seen = dataclasses.replace(rehearsal, tokens=read)
        known = rehearsed(document)
        known = dataclasses.replace(known, rehearsal=seen, frozen={**(known.frozen or {}), **frozen})
        return [finding for finding in check(document, known) if finding.subject == "budget"]

    (finding,) = found(tokens, document)
    assert (finding.kind, finding.fix) == (NOTED, "budget: tokens:200 holds it equal")
    assert words in finding.says
    for silent in ((200.0, 205.0), (0.0, 0.0), None):
        assert found(silent, document) == []
    assert found(tokens, promise(budget="tokens:200"), tokens=200) == []


def test_a_declared_unequal_budget_is_noted(promise: Promise, evidence: Evidence) -> None:
    """The reason stands in the check, as it will on the page."""
    finding = the(check(promise(budget={"unequal": "we pay for it"}), evidence), "budget")
    assert (finding.kind, finding.says) == (NOTED, "the read budgets are unequal, declared: we pay for it")


def test_the_dev_run_had_the_budget_of_the_document(promise: Promise, evidence: Evidence) -> None:
    """What was rehearsed with another budget was not rehearsed."""
    finding = the(check(promise(budget="tokens:200"), evidence), "budget")
    assert (finding.kind, finding.may_acknowledge) == (REFUSED, False)
    assert "the dev run read no budget of tokens and the document says 200" in finding.says


def test_the_slices_that_a_version_is_known_to_hurt_are_guarded(promise: Promise, evidence: Evidence) -> None:
    """Leaving such a guard out takes a reason on record; a slice that the benchmark lacks needs none."""
    candidate = {"version": "same-layer-mmr"}

    def found(guards: list[tuple[str, str]]) -> list[Finding]:
        return [one for one in check(promise(guards, candidate=candidate), evidence) if one.subject == "guards"]

    (finding,) = found([("multi-hop", "0.03")])
    assert (finding.kind, finding.may_acknowledge) == (REFUSED, True)
    assert "same-layer-mmr is known to lose in the slice temporal" in finding.says
    assert "guards: {measure: R@10, slice: temporal, drop: 0.03}" in finding.fix
    assert found([("multi-hop", "0.03"), ("temporal", "0.05")]) == []
    del evidence.manifest["slices"]["heldout"]["temporal"]
    assert found([("multi-hop", "0.03")]) == []


def test_a_version_that_asks_for_a_probe_says_so(promise: Promise, evidence: Evidence) -> None:
    """Without the record of a redundancy probe the lock takes a reason."""
    finding = the(check(promise(candidate={"version": "same-layer-mmr"}), evidence), "redundancy")
    assert (finding.kind, finding.may_acknowledge) == (REFUSED, True)
    assert "same-layer-mmr asks for the record of a redundancy probe" in finding.says


def test_fewer_trials_than_were_made_cannot_be_admitted(promise: Promise, evidence: Evidence) -> None:
    """The page says how many the candidate was picked from, so that the document says no less than its frozen file."""
    candidate = {"version": "bm25", "parameters": {"layers": ["raw"]}, "frozen": "experiments/raw-only/frozen.yaml"}
    evidence = dataclasses.replace(evidence, frozen={**(evidence.frozen or {}), "trials": 45})
    for written in ({}, {"trials": 1}, {"trials": 44}):
        finding = the(check(promise(candidate=candidate | written), evidence), "trials")
        assert (finding.kind, finding.may_acknowledge, finding.fix) == (REFUSED, False, "write trials: 45")
    for written in ({"trials": 45}, {"trials": 100}):
        assert not [one for one in check(promise(candidate=candidate | written), evidence) if one.subject == "trials"]
