from __future__ import annotations

from typing import Any

import pytest

RECIPE = """\
format: 1
stages:
  - {version: rrf, parameters: {k: 10}}
  - {version: same-layer-mmr}
"""


def test_a_recipe_is_composed_tried_and_promised(ready: Any) -> None:
    """From the file to a document that names its stages and guards the slices of each of them."""
    (ready.root / "v2.yaml").write_text(RECIPE, encoding="utf-8")
    done = ready.run("dev", "--retrieval-version", "composed", "retrieval.recipe=v2.yaml")
    assert done.code == 0, done.err
    assert done.out.startswith("composed on the dev questions of synthetic")
    assert ready.run("freeze", "latest", "--name", "v2").code == 0
    assert ready.run("prereg", "new", "v2", "--from", "experiments/v2/frozen.yaml").code == 0
    text = ready.document("v2").read_text("utf-8")
    assert "{version: rrf" in text
    for name in ("exact", "temporal", "multi-hop"):
        assert f"slice: {name}, drop: 0.03" in text


def test_a_guard_of_ones_own_takes_the_place_of_the_usual_one(ready: Any) -> None:
    """The slice that is guarded by default keeps the drop that was asked for, and stands once."""
    assert ready.run("dev", "--retrieval-version", "rrf").code == 0
    assert ready.run("freeze", "latest", "--name", "rrf").code == 0
    done = ready.run("prereg", "new", "rrf", "--from", "experiments/rrf/frozen.yaml", "--guard", "exact:0.1")
    assert done.code == 0, done.err
    text = ready.document("rrf").read_text("utf-8")
    assert text.count("slice: exact") == 1
    assert "slice: exact, drop: 0.1" in text


@pytest.mark.parametrize("version", ["composed", "external"])
def test_a_version_that_needs_something_says_what(version: str, ready: Any, refused: Any) -> None:
    """Alone it means nothing; the error names what to add."""
    refused(ready, 2, "dev", "--retrieval-version", version, says=(f"{version} needs", "fix: add retrieval."))


def test_another_system_s_run_file_is_compared(ready: Any) -> None:
    """A TREC run that an own dev run wrote comes back as a system of its own, and changes nothing."""
    assert ready.run("dev", "--retrieval-version", "bm25").code == 0
    (run,) = ready.root.glob("runs/dev/*/candidate.trec")
    done = ready.run("dev", "--retrieval-version", "external", f"retrieval.run={run}", "--json")
    assert done.code == 0, done.err
    row = next(row for row in done.json["comparisons"] if row["slice"] == "all")
    assert (row["wins"], row["losses"]) == (0, 0)


@pytest.mark.parametrize("experiment", ["rrf", "mmr"])
def test_a_sweep_ships_along(experiment: str, ready: Any) -> None:
    """It runs by name where the workspace has none of its own, and shows both credits, layers and slices."""
    done = ready.run(
        "dev", "--experiment", experiment, "retrieval.depth=50" if experiment == "rrf" else "retrieval.pool=20"
    )
    assert done.code == 0, done.err
    for words in ("best first by R(credit=source)@10", "both credit rules", "distill", "exact (n "):
        assert words in done.out


def test_an_own_sweep_of_the_name_wins(ready: Any) -> None:
    """A file of the workspace stands before the shipped one."""
    own = ready.root / "experiments/rrf/sweep.yaml"
    own.parent.mkdir()
    own.write_text("title: mine\nfixed: {retrieval: rrf}\nsweep: {retrieval.k: [10, 60]}\n", encoding="utf-8")
    done = ready.run("dev", "--experiment", "rrf")
    assert "2 trials of rrf, 2 finished" in done.out


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("rrf", ["Cormack", "guarded by default: slice exact", "0 to 10000", "fingerprint with these defaults"]),
        ("same-layer-mmr", ["Carbonell", "slice temporal and slice multi-hop", "the record of: redundancy"]),
        ("composed", ["means nothing without recipe or stages"]),
        ("external", ["means nothing without", "not deterministic"]),
    ],
)
def test_a_version_is_explained(version: str, says: list[str], ready: Any) -> None:
    """What it does, where it comes from, its parameters with their ranges, what it touches and costs."""
    done = ready.run("versions", "show", version)
    assert done.code == 0
    for words in (*says, "source: ", "may change: ", "cost of a question: ", "try it: harness dev"):
        assert words in done.out, words
