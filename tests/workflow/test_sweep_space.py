"""What a sweep tries, and what is refused before anything starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import UsageProblem
from harness.workflow.compose import Composer, composing, prepared
from harness.workflow.sweep_space import MAX_TRIALS, Space, as_overrides, plan, read_sweep_file
from harness.workflow.workspace import Workspace, init_workspace


@pytest.fixture(scope="module")
def composer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Composer]:
    """Hydra on the shipped configuration."""
    with composing(tmp_path_factory.mktemp("own") / "conf") as made:
        yield made


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """An empty workspace."""
    return init_workspace(tmp_path)[0]


def space(composer: Composer, *overrides: str, version: str | None = "bm25", by: str | None = None) -> Space:
    """A planned sweep over the synthetic benchmark."""
    return plan(composer, prepared(version, list(overrides), ["synthetic"]), by)


def test_every_combination_is_a_trial(composer: Composer) -> None:
    """Two values of one key and three of another make six trials, the last key changing fastest."""
    planned = space(composer, "retrieval.k1=0.9,1.2", "retrieval.layers=[raw],[raw,distill],[distill]")
    settings = [trial.config.system.settings() for trial in planned.trials]
    assert [(s["k1"], s["layers"]) for s in settings] == [
        (k1, layers) for k1 in (0.9, 1.2) for layers in (["raw"], ["raw", "distill"], ["distill"])
    ]
    assert [trial.number for trial in planned.trials] == [1, 2, 3, 4, 5, 6]
    assert planned.varied == ("retrieval.k1", "retrieval.layers")


def test_versions_can_be_swept_over_like_anything_else(composer: Composer) -> None:
    """A comma list of versions makes one trial a version."""
    planned = space(composer, "measures=[R@10]", version="bm25,bm25-edges")
    assert [trial.config.system.name for trial in planned.trials] == ["bm25", "bm25-edges"]


def test_ranges_are_sweeps_too(composer: Composer) -> None:
    """Hydra's range() and choice() are read as the values that they stand for."""
    planned = space(composer, "k=range(10,31,10)", "retrieval.b=choice(0.5,0.75)", "measures=[R@5]", by="R@5")
    assert [trial.config.k for trial in planned.trials] == [10, 10, 20, 20, 30, 30]


def test_the_last_of_two_values_for_one_key_wins(composer: Composer) -> None:
    """A key given twice counts as given the second time, so that the command line overrules a sweep file."""
    planned = space(composer, "retrieval.k1=0.6,0.9", "retrieval.k1=1.5", "hydra/launcher=basic", "hydra/launcher=x")
    assert [trial.config.system.settings()["k1"] for trial in planned.trials] == [1.5]
    assert planned.launcher == ("hydra/launcher=x",)


def test_all_trials_that_cannot_be_made_are_named_at_once(composer: Composer) -> None:
    """Nothing starts if a single trial is wrong, and the message names every one that is."""
    with pytest.raises(UsageProblem, match=r"2 of 6 trials.*k1=99.*k1=99.*nothing was started") as caught:
        space(composer, "retrieval.k1=0.9,99,1.2", "retrieval.b=0.5,0.75")
    assert "0 to 10" in caught.value.allowed


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("retrieval.k1=interval(0,1)", "interval"),
        ("retrieval.k1=1_0,2", "read as the number 10"),
        ("retrieval.k1=0.9,,1", "cannot be composed"),
        ("hydra.sweep.dir=/elsewhere", "program's own"),
        ("hydra.run.dir=/elsewhere", "program's own"),
        ("hydra/sweeper=optuna", "program's own"),
        ("hydra.launcher._target_=os.system", "may not name code"),
        ("+retrieval._target_=os.system", "may not name code"),
        ("benchmark.split=dev,full", "dev questions only"),
        ("retrieval=bm25,bm26", "contradict"),
        ("k=10,ten", "must be a whole number"),
        ("k=-1,10", "must be 1 or more"),
        ("k=1e5,10", "must be a whole number"),
        ("+new=1,2", "no key .new."),
        ("retrieval.k1=range(0,1,0)", "no step"),
        ("retrieval.k1=range(0,1000000000)", "too many values"),
        ("notanoverride", "not an override"),
    ],
)
def test_refusals(composer: Composer, override: str, message: str) -> None:
    """What cannot be swept over is refused with the reason."""
    with pytest.raises(UsageProblem, match=message):
        space(composer, override)


def test_a_sweep_without_end_is_refused(composer: Composer) -> None:
    """The number of trials is bounded, and said."""
    with pytest.raises(UsageProblem, match=f"{MAX_TRIALS + 1} trials"):
        space(composer, f"k=range(1,{MAX_TRIALS + 2})")


def test_trials_of_different_depth_need_a_common_measure(composer: Composer) -> None:
    """R@10 and R@20 have no common order; a measure that all report has."""
    with pytest.raises(UsageProblem, match="no measure in common") as caught:
        space(composer, "k=10,20")
    assert "measures=[R@10]" in caught.value.fix
    assert str(space(composer, "k=10,20", "measures=[nDCG@5]").by) == "nDCG@5"
    with pytest.raises(UsageProblem, match="not every trial reports R@10"):
        space(composer, "k=10,20", by="R@10")


def test_a_sweep_file_says_the_same_as_overrides(composer: Composer, workspace: Workspace) -> None:
    """A file with fixed and swept values plans the same trials as its words on the command line."""
    folder = workspace.experiments / "grid"
    folder.mkdir()
    (folder / "sweep.yaml").write_text(
        "title: saturation\nfixed:\n  k: 20\n  retrieval: bm25\n  measures: ['R(credit=source)@10']\n"
        "sweep:\n  retrieval.k1: [0.6, 1.20]\n  retrieval.layers: [[raw], [raw, distill]]\n"
        "launcher: joblib\nby: R(credit=source)@10\n",
        encoding="utf-8",
    )
    file = read_sweep_file(workspace, "grid")
    planned = plan(composer, prepared(None, as_overrides(file), ["synthetic"]), file.by)
    typed = space(
        composer, "k=20", "retrieval.k1=0.6,1.2", "retrieval.layers=[raw],[raw,distill]",
        "measures=[R(credit=source)@10]", by="R(credit=source)@10",
    )  # fmt: skip
    assert [t.config.system for t in planned.trials] == [t.config.system for t in typed.trials]
    assert {t.config.k for t in planned.trials} == {20}
    assert planned.by == typed.by
    assert planned.launcher == ("hydra/launcher=joblib",)


@pytest.mark.parametrize(
    ("text", "message", "fix"),
    [
        ("swep:\n  k: [1]\n", "no key 'swep'", "'sweep'"),
        ("sweep:\n  k: 10\n", "sweep.k", ""),
        ("sweep: {k: [1, 2]}\nlauncher: 3\n", "launcher", ""),
        ("k: [1, 1e5]\n", "1e5", ""),
        ("sweep: {hydra/launcher: [basic, joblib]}\n", "launcher: joblib", ""),
        ("fixed: {hydra/launcher: joblib}\n", "launcher: joblib", ""),
        ("sweep: {retrieval.k1: []}\n", "no value to try", ""),
    ],
)
def test_a_sweep_file_is_read_strictly(workspace: Workspace, text: str, message: str, fix: str) -> None:
    """Unknown keys, wrong types and YAML's surprises are refused, with the file named."""
    folder = workspace.experiments / "grid"
    folder.mkdir()
    (folder / "sweep.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageProblem, match=message) as caught:
        read_sweep_file(workspace, "grid")
    assert "sweep.yaml" in caught.value.where
    assert fix in caught.value.fix


def test_a_missing_sweep_file_is_answered_with_those_there_are(workspace: Workspace) -> None:
    """A misspelt experiment gets the nearest one."""
    (workspace.experiments / "grid").mkdir()
    (workspace.experiments / "grid" / "sweep.yaml").write_text("sweep: {k: [1, 2]}\n", encoding="utf-8")
    with pytest.raises(UsageProblem, match="no sweep\\.yaml") as caught:
        read_sweep_file(workspace, "gird")
    assert caught.value.allowed == "grid, mmr, rrf"  # the last two ship along
    assert "'grid'" in caught.value.fix
