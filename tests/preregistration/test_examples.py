from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.preregistration.check import check, refusals
from harness.preregistration.document import Preregistration, load_document
from harness.preregistration.evidence import NOTED, REFUSED, Evidence

FOLDER = Path(__file__).parents[2] / "examples" / "preregistrations"
EXAMPLES = sorted(FOLDER.glob("*.yaml"))


def rehearsed(document: Preregistration, evidence: Evidence) -> Evidence:
    """Everything as it should be for a document, after the dev run that its comments tell to make."""
    frozen = {
        **document.candidate.identity(),
        "benchmark": {"name": "locomo", "digest": evidence.manifest["digests"]["digest"]},
        "fingerprint": evidence.fingerprints["candidate"],
        "measures": {str(measure): 0.5 for measure in document.measures()},
    }
    return dataclasses.replace(evidence, frozen=frozen)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_lacks_its_author_and_nothing_else(
    path: Path, evidence: Evidence, read: Callable[[str], Preregistration]
) -> None:
    """Copied as it is, only who promises is missing at the first look at LoCoMo, and what the version asks for."""
    document = load_document(path)
    missing, *asked = refusals(check(document, rehearsed(document, evidence)), None)
    assert (missing.subject, missing.says) == ("words", "still to be written: authors")
    assert tuple(finding.subject for finding in asked) == document.candidate.requires
    signed = read(path.read_text(encoding="utf-8").replace("authors: TODO", "authors: Ada"))
    assert refusals(check(signed, rehearsed(signed, evidence)), "a reason") == []
    assert document.model.candidate.frozen == f"experiments/{path.stem}/frozen.yaml"


def test_there_is_one_for_each_idea_that_ships_along() -> None:
    """The documents that the guides name are there and promise what they say, each with its version's guards."""
    layers, fusion, diversity, ties = map(load_document, EXAMPLES)
    for document in (fusion, diversity):
        assert tuple(clause.slice for clause in document.guards) == document.candidate.guarded
    assert (fusion.id, diversity.id) == ("rrf", "same-layer-mmr")
    assert [(str(c.measure), c.slice, float(c.pass_above)) for c in layers.clauses] == [
        ("R@10", "all", 0.02), ("R@10", "temporal", -0.03),
    ]  # fmt: skip
    assert [(str(c.measure), c.slice, float(c.pass_above)) for c in ties.clauses] == [("Success@10", "all", -0.007)]
    assert (layers.id, ties.id) == ("bm25-layers", "static-tiebreak")


@pytest.mark.parametrize(
    ("name", "written", "instead", "subject", "says"),
    [
        ("static-tiebreak", "non_inferior: 0.007", "non_inferior: 0.006", "primary Success@10 in all", "unreachable"),
        ("static-tiebreak", "non_inferior: 0.007", "superior: 0", "ties", "superiority cannot pass"),
        ("bm25-layers", "drop: 0.03", "drop: 0.016", "guard R@10 in temporal", "unreachable"),
        ("rrf", "drop: 0.03", "drop: 0.011", "guard R(credit=source)@10 in exact", "unreachable"),
        (
            "same-layer-mmr",
            "slice: multi-hop, drop: 0.03",
            "slice: multi-hop, drop: 0.019",
            "guard R(credit=source)@10 in multi-hop",
            "unreachable",
        ),
    ],
)
def test_the_figures_in_the_comments_are_those_of_the_check(
    name: str, written: str, instead: str, subject: str, says: str,
    evidence: Evidence, read: Callable[[str], Preregistration],
) -> None:  # fmt: skip
    """A margin or drop below what a comment calls the least, or a gain where none can be shown, is refused."""
    text = (FOLDER / f"{name}.yaml").read_text(encoding="utf-8").replace("authors: TODO", "authors: Ada")
    assert written in text
    for changed, kinds in ((text, set()), (text.replace(written, instead), {REFUSED})):
        document = read(changed)
        found = [f for f in check(document, rehearsed(document, evidence)) if f.subject == subject and says in f.says]
        assert {f.kind for f in found if f.kind != NOTED} == kinds


def test_the_least_drop_in_the_comments_can_be_promised(
    evidence: Evidence, read: Callable[[str], Preregistration]
) -> None:
    """The drop of 0.018 that the example calls the least for temporal questions is accepted."""
    text = (FOLDER / "bm25-layers.yaml").read_text(encoding="utf-8").replace("authors: TODO", "authors: Ada")
    document = read(text.replace("drop: 0.03", "drop: 0.018"))
    assert refusals(check(document, rehearsed(document, evidence)), None) == []
