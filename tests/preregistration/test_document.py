from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import UsageProblem
from harness.evaluation.measure import parse_measure
from harness.preregistration.document import Preregistration, from_canonical, from_mapping, load_document
from harness.retrieval.registry import select

Read = Callable[[str], Preregistration]

BM25 = {
    "layers": ["raw", "distill"],
    "template": "session-prefix/1",
    "tokenizer": "ascii-words-cjk-bigrams/1",
    "k1": 1.2,
    "b": 0.75,
    "tie_rule": "ordinal",
}


def test_fifteen_lines_are_enough(minimal: str, read: Read) -> None:
    """Everything that is left out has its documented default in the canonical document."""
    assert len(minimal.splitlines()) == 15
    assert read(minimal).canonical == {
        "format": 1,
        "id": "raw-only",
        "title": "Raw turns alone",
        "authors": ["Ada Example"],
        "hypothesis": "Distilled items crowd out the turns that they repeat.",
        "rationale": "Two points are worth building the index anew.",
        "due": None,
        "benchmark": {"name": "locomo", "digest": None},
        "baseline": {"version": "bm25", "parameters": BM25, "fingerprint": None},
        "candidate": {
            "version": "bm25",
            "parameters": BM25 | {"layers": ["raw"]},
            "fingerprint": None,
            "frozen": "experiments/raw-only/frozen.yaml",
            "trials": None,
        },
        "straw": None,
        "budget": {"k": 10, "unit": "chunks"},
        "claim": {"kind": "superior", "pass_above": 0.02, "rollback_below": 0},
        "primary": [{"measure": "R@10", "slice": "all"}],
        "guards": [],
        "alpha": 0.05,
        "rho_plan": 0.01,
        "procedure": "cluster-t+tango/2",
        "expect": None,
        "outside_looks": [],
        "decide_on": "bounds",
    }


def test_clauses_are_the_primaries_and_then_the_guards(minimal: str, read: Read) -> None:
    """A guard passes above minus its drop and is rolled back below the same."""
    guards = "guards:\n- {measure: R@10, slice: temporal, drop: 0.03}\n- {measure: RR@5, drop: 0.01}\n"
    document = read(minimal.replace("primary: R@10", "primary: [R@10, nDCG@20]") + guards)
    found = [
        (clause.kind, str(clause.measure), clause.slice, float(clause.pass_above), float(clause.rollback_below))
        for clause in document.clauses
    ]
    assert found == [
        ("primary", "R@10", "all", 0.02, 0.0),
        ("primary", "nDCG@20", "all", 0.02, 0.0),
        ("guard", "R@10", "temporal", -0.03, -0.03),
        ("guard", "RR@5", "all", -0.01, -0.01),
    ]
    assert document.clauses == document.primaries + document.guards
    assert document.measures() == [parse_measure(name) for name in ("R@10", "nDCG@20", "RR@5")]
    assert document.depth == document.k == 20


def test_the_two_systems_have_every_parameter(minimal: str, read: Read) -> None:
    """What is judged is a version with all of its parameters, not a name."""
    document = read(minimal)
    assert document.baseline == select("bm25")
    assert document.candidate == select("bm25", {"layers": ["raw"]})


@pytest.mark.parametrize("said", ["tokens:200", "{tokens: 200}", "{unequal: the edges are what is new}"])
def test_versions_of_two_read_models_are_compared_where_the_budget_says_how(
    said: str, minimal: str, read: Read
) -> None:
    """By as many tokens, or for a reason on record; both survive the way through the ledger."""
    text = minimal.replace("baseline: bm25\n", "baseline: bm25-edges\nstraw: to see\n")
    document = read(text.replace("authors:", f"budget: {said}\nauthors:"))
    assert document.tokens == (200 if "tokens" in said else None)
    budget = {"tokens": 200} if "tokens" in said else {"unequal": "the edges are what is new"}
    assert document.canonical["budget"] == {"k": 10, "unit": "edges", **budget}
    assert from_canonical(document.canonical).digest == document.digest


GUARD = "{measure: R@10, slice: temporal, drop: 0.03}"

# what is written instead of what, the line that is named, and words of the refusal
REFUSALS = {
    "misspelt key": ("title:", "titel:", 3, "unknown key 'titel'", "did you mean 'title'?"),
    "unknown key": ("title:", "colour: red\ntitle:", 3, "unknown key 'colour'", "allowed: format, id, title"),
    "misspelt key in a part": ("superior:", "superiour:", 14, "'claim.superiour'", "did you mean 'superior'?"),
    "misspelt key in a guard": (GUARD, GUARD.replace("drop", "dorp"), 17, "'guards.0.dorp'", "did you mean 'drop'?"),
    "key of the candidate only": ("bm25\ncand", "{version: bm25, trials: 3}\ncand", 8, "unknown key 'baseline.trials'"),
    "duplicate key": ("authors:", "id: x\nauthors:", 4, "'id' stands here a second time", "first is on line 2"),
    "no": ("Ada Example", "no", 4, "no is a word", "quote it"),
    "exponent": ("superior: 0.02", "superior: 1e-3", 14, "1e-3 is a spelling", "write 0.001"),
    "percent": ("superior: 0.02", "superior: 2%", 14, "2% is a percentage", "write 0.02"),
    "points": ("superior: 0.02", "superior: 3", 14, "3 is not a fraction", "write 0.03 for 3 points"),
    "points in a guard": ("0.03}", "3}", 17, "guards.0.drop: 3 is not a fraction", "write 0.03 for 3 points"),
    "quoted number": ("superior: 0.02", "superior: '0.02'", 14, "must be a decimal fraction", "not '0.02'"),
    "negative drop": ("0.03}", "-0.03}", 17, "largest tolerated drop is a positive fraction"),
    "no drop": (", drop: 0.03", "", 17, "'guards.0.drop' is missing", "add drop"),
    "rollback above the gain": ("0.02\n", "0.02\n  rollback: 0.03\n", 13, "rollback 0.03 lies above", "both PASS"),
    "both claims": ("0.02\n", "0.02\n  non_inferior: 0.01\n", 13, "either superior or non_inferior"),
    "no claim": ("\n  superior: 0.02", " {}", 13, "either superior or non_inferior"),
    "signed gain": ("superior: 0.02", "superior: -0.02", 13, "written without a sign"),
    "unequal units": ("baseline: bm25", "baseline: bm25-edges", 9, "baseline reads edges and the candidate chunks"),
    "tokens in words": (
        "authors:",
        "budget: tokens:many\nauthors:",
        4,
        "the budget 'tokens:many'",
        "tokens:2000",
    ),
    "no tokens": ("authors:", "budget: {tokens: 0}\nauthors:", 4, "budget.tokens: must be 1 or more"),
    "no reason": ("authors:", "budget: {unequal: ''}\nauthors:", 4, "budget.unequal: must be text of 1 or more"),
    "budget in another unit": ("authors:", "budget:\n  k: 10\n  unit: edges\nauthors:", 6, "counts edges", "chunks"),
    "k below a cut-off": ("authors:", "budget:\n  k: 9\nauthors:", 5, "cut at 10 and the budget is 9", "at least 10"),
    "k of 0": ("authors:", "budget: {k: 0}\nauthors:", 4, "budget.k: must be 1 or more"),
    "unknown unit": (
        "authors:",
        "budget: {k: 10, unit: pages}\nauthors:",
        4,
        "budget.unit: must be 'chunks' or 'edges'",
    ),
    "primary twice": ("primary: R@10", "primary: [R@10, R(credit=raw)@10]", 15, "R@10 in all stands twice"),
    "guard twice": (GUARD, f"{GUARD}\n- {GUARD}", 16, "guard R@10 in temporal stands twice", "remove one"),
    "no primary": ("primary: R@10", "primary: []", 15, "primary: must be a list of 1 or more"),
    "misspelt measure": ("primary: R@10", "primary: ndcg@10", 15, "no measure 'ndcg'", "did you mean 'nDCG'?"),
    "measure without a cut-off": ("primary: R@10", "primary: R", 15, "'R' is not a measure", "NAME@k"),
    "misspelt convention": ("{measure: R", "{measure: R(credt=raw)", 17, "no convention 'credt'", "mean 'credit'?"),
    "bad id": ("id: raw-only", "id: Raw_Only", 2, "id: must be lower-case letters"),
    "number as id": ("id: raw-only", "id: 12", 2, "id: must be text (given: 12)"),
    "unknown version": ("baseline: bm25", "baseline: bm52", 8, "no retrieval version 'bm52'", "did you mean 'bm25'?"),
    "unknown parameter": ("layers:", "layer:", 9, "bm25 has no parameter 'layer'", "did you mean 'layers'?"),
    "unknown layer": ("[raw]", "[rwa]", 9, "no such choice 'rwa'", "did you mean 'raw'?"),
    "parameter out of range": ("layers: [raw]", "k1: 11", 9, "k1 of bm25: must be 10 or less (given: 11)"),
    "another format": ("format: 1", "format: 2", 1, "format 2", "allowed: format: 1"),
    "missing key": ("rationale: Two points are worth building the index anew.\n", "", 1, "'rationale' is missing"),
    "missing format": ("format: 1\n", "", 1, "'format' is missing"),
    "empty text": ("Raw turns alone", "''", 3, "title: must be text of 1 or more characters"),
    "nothing": ("title: Raw turns alone", "title:", 3, "title: must be text (given: nothing)"),
    "day that is none": ("authors:", "due: '2027-02-30'\nauthors:", 4, "'2027-02-30' is not a day"),
    "day in another spelling": ("authors:", "due: 2027-W01-1\nauthors:", 4, "write it as '2027-01-31'"),
    "alpha too great": ("authors:", "alpha: 0.5\nauthors:", 4, "alpha: must be 0.2 or less (given: 0.5)"),
    "alpha of 0": ("authors:", "alpha: 0\nauthors:", 4, "alpha: must be 0.0001 or more (given: 0)"),
    "alpha in points": ("authors:", "alpha: 5\nauthors:", 4, "write 0.05 for 5 points"),
    "negative correlation": ("authors:", "rho_plan: -0.01\nauthors:", 4, "rho_plan: must be 0 or more"),
    "unknown procedure": (
        "authors:",
        "procedure: t/1\nauthors:",
        4,
        "no procedure 't/1'; there are cluster-t+tango/1, cluster-t+tango/2",
    ),
    "unknown rule": ("authors:", "decide_on: mean\nauthors:", 4, "decide_on: must be 'bounds' or 'estimate'"),
    "prediction upside down": ("authors:", "expect: {low: 0.2, high: 0.1}\nauthors:", 4, "low lies above high"),
    "no trials": ("  frozen:", "  trials: 0\n  frozen:", 12, "candidate.trials: must be 1 or more"),
    "bad digest": ("locomo", "{name: locomo, digest: abc}", 7, "benchmark.digest: string should match"),
    "guards that are no list": ("guards:\n- ", "guards: ", 16, "guards: must be a list"),
}


@pytest.mark.parametrize(("old", "new", "line", "words"), [
    pytest.param(old, new, line, words, id=name) for name, (old, new, line, *words) in REFUSALS.items()
])  # fmt: skip
def test_what_cannot_be_accepted_is_refused_with_its_line(
    old: str, new: str, line: int, words: list[str], minimal: str, read: Read
) -> None:
    """Every refusal names file and line, says what is wrong there, and mends it where it can."""
    text = f"{minimal}guards:\n- {GUARD}\n"
    read(text)
    assert old in text
    with pytest.raises(UsageProblem) as caught:
        read(text.replace(old, new, 1))
    assert caught.value.where == f"doc.yaml:{line}"
    for word in words:
        assert word in str(caught.value)


def test_a_file_is_called_after_the_id(minimal: str, tmp_path: Path) -> None:
    """The id is what ledger and command line know, so the file may not have another name."""
    right, wrong = tmp_path / "raw-only.yaml", tmp_path / "raw.yaml"
    for path in (right, wrong):
        path.write_text(minimal)
    assert load_document(right).id == "raw-only"
    with pytest.raises(UsageProblem, match=r"the id is 'raw-only' and the file is called 'raw\.yaml'") as caught:
        load_document(wrong)
    assert caught.value.where == f"{wrong}:2"
    assert "raw-only.yaml" in caught.value.fix
    assert "id: raw" in caught.value.fix


def test_a_mapping_without_a_file_is_refused_by_its_name() -> None:
    """Where there are no lines, the message names what was being read."""
    with pytest.raises(UsageProblem) as caught:
        from_mapping({"format": 1}, "preregistration x")
    assert caught.value.where == "preregistration x"
