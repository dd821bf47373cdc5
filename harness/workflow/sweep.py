"""A sweep: many dev runs, launched by Hydra, resumed by content, reported whole."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.digest import digest_json
from harness.errors import EnvironmentProblem, UsageProblem
from harness.ledger import durable
from harness.workflow.compose import Composer
from harness.workflow.dev import DevRun, finished_run, open_bench
from harness.workflow.dev_result import shrunk_gain
from harness.workflow.misconfigured import as_problem
from harness.workflow.progress import SILENT, Progress
from harness.workflow.sweep_space import Space, Trial
from harness.workflow.trial import read_status, run_trial, status_file
from harness.workflow.workspace import Workspace

SUMMARY = "sweep.json"
_JOBS = "jobs"  # Hydra's own folder; nothing in it is ours
_WAIT_SECONDS = 7 * 24 * 3600.0
_WATCH_SECONDS = 0.25

# a configuration that names another class here would run whatever it names
_LAUNCHERS = ("hydra._internal.core_plugins.", "hydra_plugins.")


@dataclass(frozen=True)
class Outcome:
    """What became of one trial: a run, or an error in plain words."""

    trial: Trial
    content: str
    run: DevRun | None
    error: dict[str, Any] | None


@dataclass(frozen=True)
class Sweep:
    """A sweep that ran to its end.

    Attributes:
        name: digest of what was tried: the same trials are the same sweep.
        title: what a person calls it.
        space: the trials and the measure that orders them.
        outcomes: one a trial, finished ones first, best first; then the failed ones.
        reused: trials that an earlier run had finished.
        folder: where the summary lies.
        elsewhere: dev questions that are held out elsewhere; see `harness.workflow.dev.Bench`.
    """

    name: str
    title: str
    space: Space
    outcomes: tuple[Outcome, ...]
    reused: int
    folder: Path
    elsewhere: int = 0

    @property
    def finished(self) -> list[DevRun]:
        """The runs, best first."""
        return [outcome.run for outcome in self.outcomes if outcome.run]

    @property
    def failed(self) -> list[Outcome]:
        """The trials that failed, in their order."""
        return [outcome for outcome in self.outcomes if outcome.run is None]


def run_sweep(
    workspace: Workspace, composer: Composer, space: Space, title: str = "", progress: Progress = SILENT
) -> Sweep:
    """Make every trial that was not made before, and bring them all together.

    Raises:
        UsageProblem: the trials name several benchmarks, or one that is not imported.
        EnvironmentProblem: the runs folder cannot be written.
    """
    _hydra_settings(composer, space, workspace.runs)  # a launcher that is not there is found before any work
    bench = open_bench(workspace, _one_benchmark(space.trials))
    contents = {trial.number: bench.content(trial.config) for trial in space.trials}
    name = digest_json("sweep/1", sorted(set(contents.values()))).removeprefix("sha256:")[:12]
    folder = workspace.runs / "sweeps" / name
    settings = _hydra_settings(composer, space, folder / _JOBS)
    durable.make_folder(folder)
    # of two sweeps over the same trials the second waits, and then finds everything made
    with durable.exclusive(folder / ".running", wait=_WAIT_SECONDS):
        durable.sweep(folder)
        shutil.rmtree(folder / _JOBS, ignore_errors=True)  # of a launcher that was killed
        pending = _pending(workspace, space, contents)
        for trial in pending:
            status_file(folder, contents[trial.number]).unlink(missing_ok=True)
        trouble = ""
        if pending:
            awaited = [contents[trial.number] for trial in pending]
            task = functools.partial(
                run_trial,
                root=str(workspace.root.resolve()),
                folder=str(folder.resolve()),
                contents=awaited,
                driver=os.getpid(),
            )
            with _watched(folder, awaited, len(set(contents.values())) - len(pending), progress):
                trouble = _launch(composer, settings, pending, task)
        outcomes = _outcomes(workspace, space, contents, folder, trouble)
        reused = len(set(contents.values())) - len(pending)
        sweep = Sweep(name, title, space, tuple(outcomes), reused, folder, bench.elsewhere)
        durable.replace(folder / SUMMARY, (json.dumps(summary(sweep), indent=1, ensure_ascii=False) + "\n").encode())
        for trial in space.trials:
            status_file(folder, contents[trial.number]).unlink(missing_ok=True)
    return sweep


def _one_benchmark(trials: Sequence[Trial]) -> str:
    found = sorted({trial.config.benchmark for trial in trials})
    if len(found) > 1:
        what = f"a sweep is over one benchmark, not over {', '.join(found)}"
        raise UsageProblem(what, fix="make a sweep for each: scores on different questions have no common order")
    return found[0]


def _pending(workspace: Workspace, space: Space, contents: dict[int, str]) -> list[Trial]:
    """Trials that nobody has finished, each content once."""
    seen: set[str] = set()
    pending = []
    for trial in space.trials:
        content = contents[trial.number]
        if content not in seen and finished_run(workspace, content) is None:
            pending.append(trial)
        seen.add(content)
    return pending


def _hydra_settings(composer: Composer, space: Space, jobs: Path) -> Any:
    """Hydra's own configuration of the sweep, with the launcher that was chosen.

    Raises:
        UsageProblem: no such launcher is installed, or configuration names code to run.
    """
    from hydra.types import RunMode

    place = str(jobs.resolve()).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    own = [
        f'hydra.sweep.dir="{place}"',
        "hydra.sweep.subdir=${hydra.job.num}",
        "hydra.output_subdir=null",
        "hydra.job.chdir=false",
        "hydra/job_logging=none",
        "hydra/hydra_logging=none",
    ]
    try:
        config = composer.hydra.compose_config(
            config_name="config",
            overrides=[*composer.search, *own, *space.launcher],
            run_mode=RunMode.MULTIRUN,
            with_log_configuration=False,
        )
        target = str(config.hydra.launcher.get("_target_"))
    except Exception as error:  # noqa: BLE001 - whatever stops Hydra here was typed
        raise as_problem(error, space.launcher) from None
    if not target.startswith(_LAUNCHERS) or config.hydra.callbacks:
        what = "configuration may choose among the installed launchers, and may not name code to run"
        raise UsageProblem(what, where="hydra.launcher", fix="remove _target_ and callbacks from conf/")
    return config


def _launch(composer: Composer, settings: Any, pending: Sequence[Trial], task: Callable[[Any], None]) -> str:
    """Let Hydra's launcher make the trials; what it complains of itself is returned."""
    from hydra._internal.callbacks import Callbacks
    from hydra.core.plugins import Plugins
    from hydra.types import HydraContext

    context = HydraContext(config_loader=composer.hydra.config_loader, callbacks=Callbacks())
    try:
        launcher = Plugins.instance().instantiate_launcher(hydra_context=context, task_function=task, config=settings)
        # launchers print; stdout is for results
        with contextlib.redirect_stdout(sys.stderr):
            launcher.launch([list(trial.overrides) for trial in pending], initial_job_idx=0)
    except Exception as error:  # noqa: BLE001 - a launcher that breaks must not hide what the trials made
        reason = next(iter(str(error).strip().splitlines()), "no reason given")
        return f"{type(error).__name__}: {reason}"
    finally:
        shutil.rmtree(settings.hydra.sweep.dir, ignore_errors=True)
    return ""


@contextlib.contextmanager
def _watched(folder: Path, contents: Sequence[str], done: int, progress: Progress) -> Iterator[None]:
    """Show how many trials have ended, whichever process made them."""
    over = threading.Event()
    with progress.counting("sweep", done + len(contents), "trials", done=done) as advance:

        def watch() -> None:
            waiting = {status_file(folder, content) for content in contents}
            last = False
            while waiting and not last:
                last = over.wait(_WATCH_SECONDS)
                ended = {path for path in waiting if path.exists()}
                waiting -= ended
                if ended:
                    advance(len(ended))

        watcher = threading.Thread(target=watch, name="sweep-progress", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def _outcomes(
    workspace: Workspace, space: Space, contents: dict[int, str], folder: Path, trouble: str
) -> list[Outcome]:
    """Every trial's end: finished ones best first, then the failed ones in their order."""
    found = []
    for trial in space.trials:
        content = contents[trial.number]
        run, error = finished_run(workspace, content), None
        if run is None:
            lost = f"the launcher stopped before it was made ({trouble or 'no reason given'})"
            status = read_status(folder, content) or {}
            error = status.get("error") or {"what": lost, "exit_code": EnvironmentProblem.exit_code}
        found.append(Outcome(trial, content, run, error))

    def place(outcome: Outcome) -> tuple[bool, float, int]:
        mean = mean_of(outcome.run.result, str(space.by)) if outcome.run else None
        return outcome.run is None, -mean if mean is not None else 1.0, outcome.trial.number

    return sorted(found, key=place)


def mean_of(result: dict[str, Any], measure: str) -> float | None:
    """A candidate's mean over all dev questions."""
    mean = result["slices"]["candidate"]["all"][measure]["mean"]
    return None if mean is None else float(mean)


def summary(sweep: Sweep) -> dict[str, Any]:
    """The sweep as plain values."""
    by = str(sweep.space.by)
    trials = [_trial(outcome, sweep.space) for outcome in sweep.outcomes if outcome.run]
    compared = [row for trial in trials[:1] for row in trial["comparisons"] if row["slice"] == "all"]
    return {
        "format": 1,
        "sweep": sweep.name,
        "title": sweep.title,
        "by": by,
        "other": str(sweep.space.by.other_credit()),
        "varied": list(sweep.space.varied),
        "reused": sweep.reused,
        "trials": trials,
        "shrunk": shrunk_gain(compared[0], len(trials)) if compared else None,
        "failures": [
            {"trial": outcome.trial.number, "choices": choices(outcome.trial, sweep.space), "error": outcome.error}
            for outcome in sweep.failed
        ],
    }


def choices(trial: Trial, space: Space) -> dict[str, str]:
    """What distinguishes a trial: varied key → its value."""
    pairs = (override.partition("=") for override in trial.overrides)
    return {key: value for key, _, value in pairs if key in space.varied}


def _trial(outcome: Outcome, space: Space) -> dict[str, Any]:
    assert outcome.run is not None
    result, by, other = outcome.run.result, str(space.by), str(space.by.other_credit())
    return {
        "trial": outcome.trial.number,
        "choices": choices(outcome.trial, space),
        "run": outcome.run.folder.name,
        "content": outcome.content,
        "version": result["version"],
        "parameters": result["parameters"],
        "mean": mean_of(result, by),
        "n": result["slices"]["candidate"]["all"][by]["n"],
        "comparisons": [row for row in result["comparisons"] if row["measure"] == by],
        "other_mean": mean_of(result, other),
        "other": next((row for row in result["comparisons"] if (row["measure"], row["slice"]) == (other, "all")), None),
        "budget": result["budget"]["candidate"],
    }
