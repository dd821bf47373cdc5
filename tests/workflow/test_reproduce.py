from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark

RECIPE = """\
format: 1
name: own
title: "Hits of BM25 over raw turns on the synthetic benchmark"
source: "a test"
benchmark: {{importer: synthetic, expects: nothing, corpus: "{corpus}"}}
runs:
  - title: raw turns
    version: bm25
    parameters: {{layers: [raw]}}
    measure: Success@10
    hits: {hits}
    questions: {questions}
tolerance: 0
nearly: 2
"""


@pytest.fixture
def recipe(tmp_path: Path, synthetic: Benchmark) -> Any:
    """Writes a recipe on the synthetic benchmark and returns its path."""

    def write(hits: int, questions: int = 557, corpus: str | None = None) -> str:
        path = tmp_path / "own.yaml"
        digest = corpus or synthetic.digests()["corpus"]
        path.write_text(RECIPE.format(corpus=digest, hits=hits, questions=questions), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def truth(desk: Any, recipe: Any) -> tuple[int, int]:
    """Hits and questions as they are."""
    found = desk.run("reproduce", recipe(0), "--json").json["lines"][0]["found"]
    return int(found[0]), int(found[1])


def test_the_reviewed_figure_comes_out(desk: Any, locomo_file: Path) -> None:
    """BM25 on LoCoMo gives the published counts to the question, as published, as repaired, and for both tie rules."""
    done = desk.run("reproduce", "locomo-reviewed-bm25", "--data", str(locomo_file), "--json")
    assert (done.code, done.json["outcome"]) == (0, "OK"), done.err
    found = [tuple(line["found"]) for line in done.json["lines"] if line["slice"] == "all"]
    assert found == [(1477, 1986), (1479, 1982), (1176, 1986), (1177, 1986)]
    by_slice = {line["slice"]: tuple(line["found"]) for line in done.json["lines"]}
    assert (by_slice["temporal"], by_slice["conversation:conv-26"]) == ((231, 321), (158, 199))
    assert all(line["outcome"] == "OK" for line in done.json["lines"])
    assert "not recorded" in done.json["record"]
    assert list(desk.root.iterdir()) == []


def test_a_reproduction_in_a_workspace_is_an_outside_look(locked: Any, recipe: Any, truth: tuple[int, int]) -> None:
    """Where there is a ledger the reproduction goes on record, and costs no document a look."""
    done = locked.run("reproduce", recipe(*truth))
    assert done.code == 0
    assert "OK  recorded in the ledger as an outside look" in done.out
    assert locked.payload("outside_look")["outcome"] == "OK"
    assert locked.run("full", "raw-only").code == 0
    assert locked.run("verify", "raw-only").code == 0


@pytest.mark.parametrize(
    ("away", "outcome", "code"), [(0, "OK", 0), (1, "OKish", 0), (-2, "OKish", 0), (3, "FAIL", 5), (-9, "FAIL", 5)]
)
def test_how_far_a_figure_may_be_away(
    desk: Any, recipe: Any, truth: tuple[int, int], away: int, outcome: str, code: int
) -> None:
    """Exact is OK, within `nearly` OKish, beyond it FAIL with exit code 5."""
    hits, questions = truth
    done = desk.run("reproduce", recipe(hits + away, questions), "--json")
    assert (done.json["outcome"], done.code) == (outcome, code)


def test_another_number_of_questions_never_compares(desk: Any, recipe: Any, truth: tuple[int, int]) -> None:
    """The same hits among other questions are another figure: FAIL."""
    done = desk.run("reproduce", recipe(truth[0], truth[1] + 1))
    assert done.code == 5
    assert "FAIL" in done.out


def test_another_corpus_is_refused_first(locked: Any, recipe: Any) -> None:
    """A corpus with another fingerprint than the recipe's is refused (5) before anything is ranked or recorded."""
    before = locked.tree()
    done = locked.run("reproduce", recipe(1, corpus="sha256:" + "0" * 64))
    assert (done.code, done.out) == (5, "")
    assert "the corpus is not the recipe's" in done.err
    assert "raw turns" not in done.err
    assert locked.tree() == before


def test_both_engines_reproduce_the_same(desk: Any, recipe: Any, truth: tuple[int, int]) -> None:
    """The reference engine gives the same counts."""
    done = desk.run("reproduce", recipe(*truth), "--engine", "rank_bm25", "--json")
    assert (done.code, done.json["outcome"]) == (0, "OK")


def test_what_reproduce_refuses(desk: Any, recipe: Any, tmp_path: Path) -> None:
    """An unknown recipe, missing data and a recipe that cannot be read are refused (2) with what would do."""
    assert "locomo-reviewed-bm25" in desk.run("reproduce").out
    for words, says in (
        (("locomo-reviewed-bm52",), "did you mean 'locomo-reviewed-bm25'?"),
        (("locomo-reviewed-bm25",), "--data FILE"),
        (("locomo-reviewed-bm25", "--data", "none.json"), "no such file"),
        ((str(tmp_path / "none.yaml"),), "none.yaml"),
    ):
        done = desk.run("reproduce", *words)
        assert (done.code, says in done.err) == (2, True), done.err
    path = Path(recipe(1))
    good = path.read_text(encoding="utf-8")
    for old, new in (("hits: 1", "hits: many"), ("nearly: 2", "near: 2"), ("version: bm25", "version: bm26"),
                     ("importer: synthetic", "importer: other"), ("Success@10", "Success@"), ("runs:", "walks:"),
                     (good, "")):  # fmt: skip
        path.write_text(good.replace(old, new), encoding="utf-8")
        done = desk.run("reproduce", str(path))
        assert (done.code, done.out) == (2, ""), (new, done.err)
        assert "internal error" not in done.err
    assert json.loads(desk.run("reproduce", "--json").out) == ["locomo-reviewed-bm25"]
