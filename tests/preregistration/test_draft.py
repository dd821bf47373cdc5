from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.preregistration.document import Preregistration, from_mapping
from harness.preregistration.draft import TODO, Draft, render_draft
from harness.retrieval.registry import select
from harness.strict_yaml import parse_strict
from harness.workflow.freeze import to_yaml_line

DIGEST = "sha256:" + "0" * 64

ODD = {
    "quotes": """it's "raw" only""",
    "colon": "raw: alone",
    "comment": "raw # alone",
    "a word that is no text": "no",
    "a number": "12",
    "a date": "2027-03-01",
    "dashes": "- raw",
    "brackets": "{raw} [alone], more",
    "unicode": "Δ naïve 数据 😀",
    "two lines": "first\nsecond",
    "paragraphs": "first\n\n second\n",
    "long": "raw turns " * 50,
    "blanks": "  raw  ",
    "percent": "%raw @alone `x` & *y !z | >",
    "backslash": "a\\nb\t.",
    "template": "{{ raw }} {draft} %s",
}


def as_json(value: Any) -> str:
    """JSON is YAML, and quotes every text."""
    return json.dumps(value, ensure_ascii=False)


def draft(**changes: Any) -> Draft:
    """A draft with everything but words."""
    known: dict[str, Any] = {
        "identifier": "raw-only",
        "benchmark": {"name": "locomo", "digest": DIGEST},
        "baseline": {**select("bm25").identity(), "fingerprint": DIGEST},
        "candidate": {**select("bm25", {"layers": ["raw"]}).identity(), "fingerprint": DIGEST, "trials": 3},
        "frozen": "experiments/raw-only/frozen.yaml",
        "primary": ["R@10"],
        "claim": ("superior", "0.02"),
        "guards": [("temporal", "0.03")],
    }
    return Draft(**(known | changes))


def accepted(text: str) -> Preregistration:
    """The draft as the strict loader and the document's model read it."""
    loaded = parse_strict(text.encode(), "doc.yaml")
    return from_mapping(loaded.value, "doc.yaml", loaded)


@pytest.mark.parametrize("dump", [to_yaml_line, as_json])
def test_a_draft_is_a_document_with_words_to_be_written(dump: Callable[[Any], str]) -> None:
    """Facts are filled in and pinned; title, hypothesis, rationale and authors are the author's."""
    document = accepted(render_draft(draft(), dump))
    written = document.model
    assert [written.title, written.hypothesis, written.rationale, *written.authors] == [TODO] * 4
    assert written.benchmark.model_dump() == {"name": "locomo", "digest": DIGEST}
    assert document.baseline == select("bm25")
    assert document.candidate == select("bm25", {"layers": ["raw"]})
    assert written.baseline.fingerprint == written.candidate.fingerprint == DIGEST
    assert (written.candidate.frozen, written.candidate.trials) == ("experiments/raw-only/frozen.yaml", 3)
    clauses = [(c.kind, str(c.measure), c.slice, str(c.pass_above)) for c in document.clauses]
    assert clauses == [("primary", "R@10", "all", "0.02"), ("guard", "R@10", "temporal", "-0.03")]


def test_a_draft_of_the_other_claim_with_several_primaries() -> None:
    """A margin, no guard, and measures with conventions."""
    text = render_draft(
        draft(
            claim=("non_inferior", "0.01"),
            primary=["R(credit=source,evidence=published)@10", "RR@5"],
            guards=[],
            rollback="-0.01",
        ),
        to_yaml_line,
    )
    document = accepted(text)
    assert document.canonical["claim"] == {"kind": "non_inferior", "pass_above": -0.01, "rollback_below": -0.01}
    assert [str(clause.measure) for clause in document.clauses] == ["R(credit=source,evidence=published)@10", "RR@5"]
    assert "guards" not in text


@pytest.mark.parametrize("dump", [to_yaml_line, as_json])
@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_odd_words_are_kept_as_they_are(text: str, dump: Callable[[Any], str]) -> None:
    """What an author types on the command line cannot change the document around it."""
    odd = draft(title=text, hypothesis=text, rationale=text, authors=[text, "Bo"], frozen=text)
    written = accepted(render_draft(odd, dump)).model
    found = [written.title, written.hypothesis, written.rationale, written.authors[0], written.candidate.frozen]
    assert found == [text] * 5
    assert written.authors[1] == "Bo"


@pytest.mark.parametrize("identifier", ["no", "12", "1e5", "2027-03-01", "null", "0x1", "0"])
def test_an_id_that_yaml_would_read_otherwise_is_quoted(identifier: str) -> None:
    """Every id that is allowed can be drafted."""
    assert accepted(render_draft(draft(identifier=identifier), as_json)).id == identifier


@settings(max_examples=50, deadline=None)
@given(st.text(alphabet="ab \n:#'\"{}[],&*!|>%@`\\-?0né", min_size=1), st.text(alphabet="no1e-:{}'\"# ", min_size=1))
def test_any_words_and_slices_are_kept(text: str, slice_name: str) -> None:
    """YAML's own indicators in any order."""
    document = accepted(render_draft(draft(hypothesis=text, guards=[(slice_name, "0.03")]), as_json))
    assert document.model.hypothesis == text
    assert document.guards[0].slice == slice_name
