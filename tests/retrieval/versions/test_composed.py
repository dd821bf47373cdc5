from pathlib import Path

import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.retrieval import files
from harness.retrieval.fingerprint import fingerprint
from harness.retrieval.ranking_files import write_trec
from harness.retrieval.registry import select
from harness.retrieval.version import Store

V2 = """\
format: 1
about: what survived
stages:
  - version: rrf
    parameters: {k: 10}
  - version: same-layer-mmr
    parameters: {pool: 20}
  - version: static-tiebreak
"""


@pytest.fixture
def recipe(tmp_path, monkeypatch):
    """Writes a recipe into the workspace and gives its name."""
    monkeypatch.setattr(files, "_below", [tmp_path])

    def write(text: str, name: str = "v2.yaml") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


def test_a_recipe_is_its_stages(recipe):
    """What is chosen holds every stage with every parameter, and no name of a file."""
    system = select("composed", {"recipe": recipe(V2)})
    settings = system.settings()
    assert settings["recipe"] == ""
    assert [stage["version"] for stage in settings["stages"]] == ["rrf", "same-layer-mmr", "static-tiebreak"]
    assert settings["stages"][0]["parameters"]["k"] == 10
    assert settings["stages"][0]["parameters"]["embedding_digest"].startswith("sha256:")
    assert settings["stages"][1]["parameters"]["lambda_mult"] == 0.7


def test_a_recipe_that_moves_or_changes_later_changes_nothing(recipe):
    """The same stages are the same system, whatever the file was called; another parameter is another system."""
    one, two = select("composed", {"recipe": recipe(V2)}), select("composed", {"recipe": recipe(V2, "other.yaml")})
    three = select("composed", {"recipe": recipe(V2.replace("k: 10", "k: 11"))})
    assert one == two
    assert len({one.digest(), two.digest(), three.digest()}) == 2


def test_one_version_in_two_stages_is_the_version(recipe, synthetic):
    """A second stage after bm25 ranks as the version of that name does by itself."""
    store = Store(synthetic.corpus, synthetic.edges)
    for second, alone in (("static-tiebreak", "static-tiebreak"), ("rrf", "rrf"), ("same-layer-mmr", "same-layer-mmr")):
        text = f"format: 1\nstages: [{{version: bm25}}, {{version: {second}}}]\n"
        system = select("composed", {"recipe": recipe(text)})
        expected = select(alone).rank(store, synthetic.questions, 30)
        assert system.rank(store, synthetic.questions, 30).same_order(expected), second


def test_a_composition_asks_for_the_probes_of_its_stages(recipe):
    """With same-layer-mmr among its stages the lock asks for a redundancy record; without, for none."""
    without = "format: 1\nstages: [{version: bm25}, {version: static-tiebreak}]\n"
    assert select("composed", {"recipe": recipe(V2)}).requires == ("redundancy",)
    assert select("composed", {"recipe": recipe(without)}).requires == ()


def test_a_composition_reads_what_its_first_stage_reads(recipe):
    """Over edges it counts in edges."""
    text = "format: 1\nstages: [{version: bm25-edges}, {version: static-tiebreak}]\n"
    assert select("composed", {"recipe": recipe(text)}).unit == "edges"


def test_a_composition_over_another_system_is_as_certain_as_that_one(recipe, synthetic, tmp_path):
    """It is asked for all questions at once, is not taken to be deterministic, and goes by what it is given."""
    ranked = select("bm25").rank(Store(synthetic.corpus, synthetic.edges), synthetic.questions.take(np.arange(3)), 10)
    write_trec(ranked, synthetic.corpus.ids, tmp_path / "theirs.trec")
    text = "format: 1\nstages: [{version: external, parameters: {run: theirs.trec}}, {version: static-tiebreak}]\n"
    system, usual = select("composed", {"recipe": recipe(text)}), select("composed", {"recipe": recipe(V2)})
    assert (system.at_once, system.deterministic, usual.at_once, usual.deterministic) == (True, False, False, True)
    # the run lacks most questions of the benchmark that fingerprints are taken on
    before = fingerprint(system)
    write_trec(ranked.cut(5), synthetic.corpus.ids, tmp_path / "theirs.trec")
    assert fingerprint(select("composed", {"recipe": recipe(text)})) != before


WRONG = {
    "empty": ("", "recipe|empty|mapping"),
    "no format": ("stages: []\n", "this is no recipe"),
    "another format": ("format: 2\nstages: []\n", "this is no recipe"),
    "stages are no list": ("format: 1\nstages: bm25\n", "this is no recipe"),
    "an unknown key": ("format: 1\nstages: []\nweights: [1]\n", "no key 'weights'"),
    "no stage": ("format: 1\nstages: []\n", "nothing to compose"),
    "one stage": ("format: 1\nstages: [{version: bm25}]\n", "1 stages: there is nothing to compose"),
    "a stage that is a name": ("format: 1\nstages: [bm25, rrf]\n", "this is no stage"),
    "a stage with another key": ("format: 1\nstages: [{version: bm25, k: 3}, {version: rrf}]\n", "this is no stage"),
    "an unknown version": ("format: 1\nstages: [{version: bm52}, {version: rrf}]\n", "no retrieval version 'bm52'"),
    "an unknown second": ("format: 1\nstages: [{version: bm25}, {version: rff}]\n", "'rff' does not re-order"),
    "one that only ranks": ("format: 1\nstages: [{version: rrf}, {version: bm25}]\n", "'bm25' does not re-order"),
    "itself first": ("format: 1\nstages: [{version: composed}, {version: rrf}]\n", "'composed' does not re-order"),
    "itself later": ("format: 1\nstages: [{version: bm25}, {version: composed}]\n", "'composed' does not re-order"),
    "an unknown parameter": (
        "format: 1\nstages: [{version: bm25}, {version: rrf, parameters: {kk: 3}}]\n", "no parameter 'kk'",
    ),
    "a parameter out of range": (
        "format: 1\nstages: [{version: bm25}, {version: rrf, parameters: {k: -3}}]\n", "k of rrf",
    ),
    "a parameter without meaning there": (
        "format: 1\nstages: [{version: bm25}, {version: rrf, parameters: {k1: 0.9}}]\n", "no parameter 'k1'",
    ),
    "a weight on confidence": (
        "format: 1\nstages: [{version: bm25}, {version: static-tiebreak, parameters: {weight: 1}}]\n", "weighs nothing",
    ),
    "a key twice": ("format: 1\nformat: 1\nstages: []\n", "second time"),
    "no YAML": ("format: [1\n", "v2.yaml:"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_recipe_says_what_is_wrong_where(case, recipe):
    """The error names the fault, the file and, where it is in one, the stage."""
    text, says = WRONG[case]
    with pytest.raises(UsageProblem, match=says) as caught:
        select("composed", {"recipe": recipe(text)})
    assert "v2.yaml" in str(caught.value)


@pytest.mark.usefixtures("recipe")
def test_a_recipe_that_is_not_there_is_named():
    """The error names the file and where it was looked for."""
    with pytest.raises(UsageProblem, match=r"no such file: nowhere\.yaml"):
        select("composed", {"recipe": "nowhere.yaml"})


def test_the_shipped_recipe_is_one(monkeypatch):
    """The example that ships along composes what its name says."""
    monkeypatch.setattr(files, "_below", [Path(__file__).parents[3]])
    system = select("composed", {"recipe": "examples/recipes/v2.yaml"})
    assert [stage["version"] for stage in system.settings()["stages"]] == ["rrf", "same-layer-mmr", "static-tiebreak"]
