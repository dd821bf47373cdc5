"""The table of a sweep: every trial, best first, never only a mean; then what failed."""

from __future__ import annotations

import argparse
from typing import Any

from harness.cli.console import Console, table
from harness.cli.dev import note_elsewhere
from harness.errors import EnvironmentProblem


def sweep(workspace: Any, options: argparse.Namespace, console: Console) -> int:
    """Run a sweep and print its table; the exit code is that of the first trial that failed."""
    from harness.benchmarks.library import names
    from harness.workflow.compose import composing, prepared
    from harness.workflow.dev_records import sweep_records
    from harness.workflow.mirroring import send
    from harness.workflow.sweep import run_sweep, summary
    from harness.workflow.sweep_space import as_overrides, plan, read_sweep_file

    by, given, title = options.by, list(options.overrides), ""
    if options.experiment:
        file = read_sweep_file(workspace, options.experiment)
        # what is typed comes later, and so wins over what the file says
        given = [*_without(as_overrides(file), options), *given]
        by, title = by or file.by, options.experiment
    overrides = prepared(options.retrieval_version, given, names(workspace.data))
    with composing(workspace.root / "conf") as composer:
        space = plan(composer, overrides, by, console.progress)
        done = run_sweep(workspace, composer, space, title, console.progress)
    note_elsewhere(done.elsewhere, console)
    console.progress("mirroring to MLflow")
    sent = send(workspace, sweep_records(done), console.progress)
    if sent.note:
        console.note(sent.note)
    value = summary(done)
    console.result(value, sweep_lines(value, done.finished[0].result if done.finished else None, console))
    if done.failed:
        return int((done.failed[0].error or {}).get("exit_code", EnvironmentProblem.exit_code))
    return 0


def _without(overrides: list[str], options: argparse.Namespace) -> list[str]:
    """The file's overrides, less the version where the command line names one."""
    if options.retrieval_version is None:
        return overrides
    return [override for override in overrides if not override.startswith("retrieval=")]


def sweep_lines(value: dict[str, Any], best: dict[str, Any] | None, console: Console) -> list[str]:
    """A sweep for people."""
    trials, failures = value["trials"], value["failures"]
    total = len(trials) + len(failures)
    title = f" of {value['title']}" if value["title"] else ""
    head = f"{total} {'trial' if total == 1 else 'trials'}{title}, {len(trials)} finished"
    head += f" ({value['reused']} of them before)" if value["reused"] else ""
    lines = [f"{head}, {len(failures)} failed" if failures else head]
    if best is not None:
        lines += [
            f"benchmark {best['benchmark']['name']}, dev questions only; best first by {value['by']}",
            *_against(best),
            "",
            *_main_table(value),
            *_slice_table(value),
            *_reading_table(value),
            "",
            *_caution(trials, value["shrunk"]),
        ]
    for failure in failures:
        lines += ["", *_failure(failure, console)]
    if trials:
        lines += ["", f"next: harness freeze {trials[0]['run']} --name NAME   (or the run of another row)"]
    return lines


def _against(best: dict[str, Any]) -> list[str]:
    if best["in_force"] is None:
        return ["the version in force reads another unit, so there is nothing to compare with"]
    force = best["in_force"]
    return [
        f"against the version in force, {force['version']}: {force['because']}",
        f"intervals: {best['interval']}",
    ]


def _main_table(value: dict[str, Any]) -> list[str]:
    from harness.reporting.words import percent, points

    varied = value["varied"]
    header = ["trial", *(key.removeprefix("retrieval.") for key in varied), "run", "n", "in force", "this", "change",
              "interval", "won/lost/tied", "one question"]  # fmt: skip
    rows = []
    for trial in value["trials"]:
        row = next((row for row in trial["comparisons"] if row["slice"] == "all"), None)
        cells = [str(trial["trial"]), *(trial["choices"].get(key, "") for key in varied), trial["run"]]
        if row is None:
            rows.append([*cells, str(trial["n"]), "", percent(trial["mean"]), "", "", "", ""])
            continue
        rows.append(
            [*cells, str(row["n"]), percent(row["baseline"]), percent(row["candidate"]), points(row["estimate"]),
             f"{points(row['lower'])} … {points(row['upper'])}", f"{row['wins']}/{row['losses']}/{row['ties']}",
             f"{100 * row['one_question']:.2f}"]
        )  # fmt: skip
    return table(header, rows, text_columns=2 + len(varied))


def _slice_table(value: dict[str, Any]) -> list[str]:
    """Change by category: a gain on average may be a loss where it hurts."""
    from harness.reporting.words import points

    names = list(dict.fromkeys(row["slice"] for trial in value["trials"] for row in trial["comparisons"]))[1:]
    if not names:
        return []
    sizes = {row["slice"]: row["n"] for trial in value["trials"] for row in trial["comparisons"]}
    header = ["trial", *(f"{name} (n {sizes[name]})" for name in names)]
    rows = []
    for trial in value["trials"]:
        found = {row["slice"]: row for row in trial["comparisons"]}
        cells = [
            f"{points(row['estimate'])} ({row['wins']}/{row['losses']})" if (row := found.get(name)) else ""
            for name in names
        ]
        rows.append([str(trial["trial"]), *cells])
    return ["", f"change by slice, in points (won/lost), {value['by']}", "", *table(header, rows)]


def _reading_table(value: dict[str, Any]) -> list[str]:
    """Each trial under the other credit rule too, and what its reader gets: a gain may be no more than that."""
    from harness.reporting.words import percent, points

    layers = list(dict.fromkeys(name for trial in value["trials"] for name in trial["budget"]["layers"]))
    header = ["trial", value["by"], value["other"], "change", "won/lost/tied", "tokens", *layers]
    rows = []
    for trial in value["trials"]:
        row, spent = trial["other"], trial["budget"]
        change = [points(row["estimate"]), f"{row['wins']}/{row['losses']}/{row['ties']}"] if row else ["", ""]
        means = [percent(trial[key]) for key in ("mean", "other_mean")]
        shares = [f"{percent(spent['layers'].get(name, 0.0))} %" for name in layers]
        rows.append([str(trial["trial"]), *means, *change, f"{spent['tokens']:.0f}", *shares])
    what = "both credit rules (the change is under the second), and what is read"
    return ["", what, "", *table(header, rows)]


def _caution(trials: list[dict[str, Any]], shrunk: float | None) -> list[str]:
    """How far the order can be trusted."""
    from harness.reporting.words import points

    if len(trials) < 2:
        return []
    counts = (
        f" Shrunk for the {len(trials)}, its change counts as {points(shrunk)} points." if shrunk is not None else ""
    )
    lines = [
        f"The best of {len(trials)} looks better than it is: its lead is partly luck.{counts} Freezing records how "
        "many it was picked from."
    ]
    compared = [next((row for row in trial["comparisons"] if row["slice"] == "all"), None) for trial in trials]
    best = compared[0]
    if best is not None and best["lower"] is not None:
        close = sum(row is not None and row["candidate"] >= best["baseline"] + best["lower"] for row in compared)
        if close > 1:
            lines.append(
                f"{close} of {len(trials)} lie within the best one's own interval: the order among them says little."
            )
    return lines


def _failure(failure: dict[str, Any], console: Console) -> list[str]:
    error = failure["error"]
    chosen = ", ".join(f"{key}={value}" for key, value in failure["choices"].items()) or "the only one"
    lines = [f"{console.paint('FAIL', 'failed')}: trial {failure['trial']} ({chosen})", f"  {error['what']}"]
    return [*lines, *(f"  {name}: {error[name]}" for name in ("where", "allowed", "fix") if name in error)]
