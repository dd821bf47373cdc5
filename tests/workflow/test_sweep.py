"""Sweeps: launched by Hydra, resumed by content, reported whole."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

GRID = ("dev", "-m", "--retrieval-version", "bm25", "retrieval.k1=0.6,1.2", "retrieval.layers=[raw],[raw,distill]")

LOGGING = """\
# @package _global_
retrieval: {{version: bm25}}
hydra: {{job_logging: {{version: 1, handlers: {{h: {{"()": os.mkdir, path: "{target}"}}}}, root: {{handlers: [h]}}}}}}
"""


def finished(desk: Any) -> list[str]:
    """Names of the finished dev runs."""
    return sorted(path.parent.name for path in (desk.root / "runs" / "dev").glob("*/result.json"))


def rows(value: dict[str, Any]) -> list[dict[str, Any]]:
    """A sweep's table without what differs from run to run."""
    return [{key: trial[key] for key in trial if key != "run"} for trial in value["trials"]]


def tidy(desk: Any) -> None:
    """Nothing unfinished lies about."""
    assert [p for p in (desk.root / "runs").rglob("*") if p.name.startswith((".partial-", ".tmp-", "trial-"))] == []
    assert [p.name for p in (desk.root / "runs" / "sweeps").glob("*/jobs")] == []


def test_the_table_is_best_first_and_never_only_a_mean(ready: Any) -> None:
    """Every trial has its mean, n, interval, wins, losses and slices against the version in force, best first."""
    value = ready.run(*GRID, "--json").json
    means = [trial["mean"] for trial in value["trials"]]
    assert means == sorted(means, reverse=True)
    assert len(means) == 4
    assert value["failures"] == []
    assert value["by"] == "R@10"
    for trial in value["trials"]:
        row = next(row for row in trial["comparisons"] if row["slice"] == "all")
        assert row["lower"] <= row["estimate"] <= row["upper"]
        assert row["wins"] + row["losses"] + row["ties"] == row["n"] == trial["n"]
        assert {row["slice"] for row in trial["comparisons"]} > {"all", "temporal"}
    assert len(finished(ready)) == 4
    tidy(ready)


def test_the_printed_table_warns_of_its_own_order(ready: Any) -> None:
    """People read how many trials there were, that the best is partly luck, and what to type next."""
    done = ready.run(*GRID)
    assert done.code == 0
    assert done.out.startswith("4 trials, 4 finished\n")
    assert "best first by R@10" in done.out
    assert "The best of 4 looks better than it is" in done.out
    assert "change by slice" in done.out
    best = ready.run(*GRID, "--json").json["trials"][0]["run"]
    assert f"next: harness freeze {best} --name NAME" in done.out


def test_every_failure_is_reported_and_the_others_finish(ready: Any) -> None:
    """Trials that fail are all named with their reason; the exit code is that of the first."""
    done = ready.run("dev", "-m", "retrieval.layers=[raw],[negation],[distill]", "retrieval.k1=0.9,1.2", "--json")
    assert done.code == 2
    assert len(done.json["trials"]) == 4
    assert [failure["choices"]["retrieval.layers"] for failure in done.json["failures"]] == ["[negation]"] * 2
    for failure in done.json["failures"]:
        assert "negation" in failure["error"]["what"]
        assert "raw" in failure["error"]["allowed"]
    tidy(ready)


def test_a_finished_sweep_makes_nothing_again(ready: Any) -> None:
    """The same sweep again, or one that overlaps, makes only what is not there, by content and not by name."""
    first = ready.run(*GRID, "--json").json
    made = finished(ready)
    again = ready.run(*GRID, "--json").json
    assert finished(ready) == made
    assert again["reused"] == 4
    assert again["trials"] == first["trials"]
    wider = ready.run("dev", "-m", "retrieval.k1=0.6,0.9,1.2", "retrieval.layers=[raw],[raw,distill]", "--json").json
    assert wider["reused"] == 4
    assert len(finished(ready)) == 6


def test_what_a_kill_after_the_last_trial_left_is_cleared(ready: Any) -> None:
    """The same sweep finds every trial made, and still clears the launcher's folder and the lock of a dead run."""
    assert ready.run(*GRID).code == 0
    (folder,) = (ready.root / "runs" / "sweeps").iterdir()
    (folder / "jobs" / "0").mkdir(parents=True)
    (ready.root / "runs" / "dev" / ".partial-0123456789abcdef.lock").touch()
    assert ready.run(*GRID).code == 0
    tidy(ready)


def test_a_single_run_counts_as_a_trial_that_was_made(ready: Any) -> None:
    """What was tried by hand is not tried again by a sweep over it."""
    single = ready.run("dev", "retrieval.k1=0.6", "retrieval.layers=[raw]", "--json").json
    value = ready.run(*GRID, "--json").json
    assert value["reused"] == 1
    assert single["run"] in {trial["run"] for trial in value["trials"]}


def test_another_measure_is_another_trial(ready: Any) -> None:
    """A run that did not report the measure asked for is made again, with it."""
    ready.run(*GRID)
    value = ready.run(*GRID, "measures=[nDCG@5]", "--by", "nDCG@5", "--json").json
    assert value["reused"] == 0
    assert value["by"] == "nDCG@5"


def test_a_damaged_result_is_made_again(ready: Any) -> None:
    """A result that cannot be read is no result: its trial is made again."""
    ready.run(*GRID)
    victim = ready.root / "runs" / "dev" / finished(ready)[0] / "result.json"
    victim.write_text("{", encoding="utf-8")
    value = ready.run(*GRID, "--json").json
    assert value["reused"] == 3
    assert len(value["trials"]) == 4


def test_both_launchers_give_the_same_table(ready: Any, tmp_path: Path) -> None:
    """Trials made in several processes have the same results, contents and order as one after the other."""
    here = ready.process(*GRID, "--json")
    other = tmp_path / "other"
    shutil.copytree(ready.root, other)
    shutil.rmtree(other / "runs")
    several = [*GRID, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "--json", "--workspace", str(other)]
    there = ready.process(*several)
    assert (here.code, there.code) == (0, 0), there.err
    assert rows(here.json) == rows(there.json)
    assert list((other / "runs" / "dev").glob(".*")) == []


@pytest.mark.parametrize("name", ["with blanks", "ümlaut é", "br[ack]ets (x)", "do$llar", "quo'te", 'dou"ble', "a=b,c"])
def test_a_workspace_may_lie_anywhere(ready: Any, tmp_path: Path, name: str) -> None:
    """Blanks, accents and signs that Hydra's grammar knows do no harm in a folder's name."""
    root = tmp_path / name
    shutil.copytree(ready.root, root)
    done = dataclasses.replace(ready, root=root).run("dev", "-m", "retrieval.k1=0.9,1.2", "--json")
    assert done.code == 0, done.err
    assert len(list((root / "runs" / "dev").glob("*/result.json"))) == 2


def test_sweeps_of_one_second_do_not_meet(ready: Any) -> None:
    """Two different sweeps and twice the same, started together, each finish, and no trial is lost or overwritten."""
    words = [["retrieval.k1=0.6,0.9"], ["retrieval.k1=0.6,0.9"], ["retrieval.k1=1.2,1.5"]]
    started = [ready.start("dev", "-m", *word, "--json") for word in words]
    ended = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], [err for _, err in ended]
    tables = [json.loads(out) for out, _ in ended]
    assert tables[0]["trials"] == tables[1]["trials"]
    assert sorted((tables[0]["reused"], tables[1]["reused"])) == [0, 2]
    assert len(finished(ready)) == 4
    tidy(ready)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    for _ in range(1200):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it never came about")


WIDE = ("dev", "-m", "retrieval.k1=range(0.1,1.7,0.1)")


@pytest.mark.parametrize(
    ("launcher", "number"), [("joblib", signal.SIGKILL), ("basic", signal.SIGTERM), ("joblib", signal.SIGINT)]
)
def test_an_interrupted_sweep_goes_on(ready: Any, launcher: str, number: int) -> None:
    """Killed, ended or interrupted in the middle, the same command makes what is missing and nothing twice."""
    words = [*WIDE, f"hydra/launcher={launcher}", "--json"]
    process = ready.start(*words)
    wait_for(lambda: len(finished(ready)) >= 3)
    process.send_signal(number)
    process.communicate(timeout=60)
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    if number == signal.SIGKILL:  # workers notice that their parent is gone
        time.sleep(0.5)
    made = finished(ready)
    assert 3 <= len(made) < 16
    done = ready.process(*words)
    assert done.code == 0, done.err
    assert len(done.json["trials"]) == 16
    assert set(made) <= set(finished(ready))
    assert done.json["reused"] >= len(made)
    wait_for(lambda: not list((ready.root / "runs" / "dev").glob(".*")))
    tidy(ready)


def test_a_worker_that_dies_is_reported_and_the_sweep_resumes(ready: Any) -> None:
    """A worker process that the system ends takes no trial with it silently: what it did not make is named."""
    words = [*WIDE, "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "--json"]
    process = ready.start(*words)
    wait_for(lambda: len(finished(ready)) >= 3)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8").split()
    workers = [int(pid) for pid in children if b"loky" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    assert workers
    os.kill(workers[-1], signal.SIGKILL)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 4, err
    failures = json.loads(out)["failures"]
    assert failures
    assert all("stopped before it was made" in failure["error"]["what"] for failure in failures)
    assert len(ready.process(*words).json["trials"]) == 16


def test_configuration_that_names_code_is_refused(ready: Any) -> None:
    """A launcher of the workspace's own that names a class is refused before anything is made."""
    own = ready.root / "conf" / "hydra" / "launcher"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text("_target_: os.system\ncommand: touch hacked\n", encoding="utf-8")
    done = ready.run("dev", "-m", "k=10", "hydra/launcher=mine")
    assert done.code == 2
    assert "may not name code" in done.err
    assert not (ready.root / "hacked").exists()
    assert finished(ready) == []


@pytest.mark.parametrize("launcher", ["basic", "joblib"])
def test_a_configuration_that_logs_with_code_is_refused(ready: Any, launcher: str) -> None:
    """Python's logging calls what its configuration names, and a worker sets it up before the seal."""
    own = ready.root / "conf" / "retrieval"
    own.mkdir(parents=True)
    (own / "mine.yaml").write_text(LOGGING.format(target=ready.root / "hacked"), encoding="utf-8")
    done = ready.run("dev", "-m", "retrieval=mine", f"hydra/launcher={launcher}")
    assert done.code == 2
    assert "could name code to run" in done.err
    assert not (ready.root / "hacked").exists()


@pytest.mark.parametrize("override", ["~hydra/launcher", "hydra/launcher=null"])
def test_no_launcher_at_all_is_refused(ready: Any, override: str) -> None:
    """It is a mistake of the command line (2)."""
    assert ready.run("dev", "-m", override, "k=6").code == 2


@pytest.mark.parametrize(
    ("launcher", "fix"),
    [("submitit_slurm", "pip install 'retrieval-harness[submitit]'"), ("jobblib", "did you mean 'joblib'?")],
)
def test_a_launcher_that_is_not_there_is_named_with_its_mend(ready: Any, launcher: str, fix: str) -> None:
    """The extra that installs it, or the name that was meant."""
    done = ready.run("dev", "-m", "retrieval.k1=0.6,1.2", f"hydra/launcher={launcher}")
    assert done.code == 2
    assert fix in done.err
    assert "ray_cluster" in done.err


def test_a_ray_cluster_that_runs_already_makes_the_trials(ready: Any) -> None:
    """The launcher that ships with the harness joins it, without a setting that Ray refuses."""
    pytest.importorskip("hydra_plugins.hydra_ray_launcher", reason="hydra-ray-launcher is not installed")
    ray = str(Path(sys.executable).with_name("ray"))
    start = [ray, "start", "--head", "--port=0", "--include-dashboard=false", "--disable-usage-stats"]
    with tempfile.TemporaryDirectory() as place:  # short: sockets lie in it
        subprocess.run([*start, f"--temp-dir={place}"], check=True, capture_output=True)
        try:
            done = ready.process(*GRID, "hydra/launcher=ray_cluster", "--json")
        finally:
            subprocess.run([ray, "stop"], check=True, capture_output=True)
    assert done.code == 0, done.err
    assert len(done.json["trials"]) == 4


def test_what_leads_nowhere_leaves_nothing(ready: Any) -> None:
    """A sweep that is refused has written nothing."""
    before = ready.tree()
    for words in (["k=10,20"], ["retrieval.k1=99,1"], ["hydra/launcher=submitit"], ["benchmark.name=other"]):
        assert ready.run("dev", "-m", *words).code == 2
    assert ready.run("dev", "--experiment", "nothing").code == 2
    assert ready.run("dev", "-m", "--nonsense", "k=1").code == 2
    assert ready.tree() == before


def test_flags_and_overrides_come_in_any_order(ready: Any) -> None:
    """Flags after overrides, and overrides after flags, mean the same."""
    first = ready.run("dev", "k=5", "-m", "retrieval.k1=0.9,1.2", "--json", "retrieval.b=0.5").json
    second = ready.run("dev", "retrieval.b=0.5", "retrieval.k1=0.9,1.2", "--json", "k=5", "-m").json
    assert rows(first) == [row | {"trial": row["trial"]} for row in rows(second)]


def test_sweep_syntax_without_the_flag_is_refused(ready: Any) -> None:
    """Several values without -m are refused with that mend, for versions too."""
    for words in (["retrieval.k1=0.9,1.2"], ["--retrieval-version", "bm25,bm25-edges"], ["k=range(1,3)"]):
        done = ready.run("dev", *words)
        assert done.code == 2
        assert "add -m" in done.err


def test_freezing_records_how_many_there_were(ready: Any) -> None:
    """The frozen result says out of how many different trials it was picked, repeats not counted."""
    value = ready.run(*GRID, "--json").json
    ready.run("dev", "retrieval.k1=0.6", "retrieval.layers=[raw]")  # made before
    ready.run("dev", "retrieval.k1=2.0", "retrieval.layers=[raw]")
    assert ready.run("freeze", value["trials"][0]["run"], "--name", "best").code == 0
    text = (ready.root / "experiments" / "best" / "frozen.yaml").read_text(encoding="utf-8")
    assert "trials: 5\n" in text
