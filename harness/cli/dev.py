"""``harness dev`` and ``harness freeze``: work on the dev conversation."""

from __future__ import annotations

import argparse
from typing import Any

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command
from harness.errors import UsageProblem


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = command(
        commands, "dev", run_dev, "rank and score the dev questions with one version", takes_rest=True,
        epilog="overrides follow Hydra: retrieval.k1=0.9 'retrieval.layers=[raw]' k=20 benchmark=synthetic",
    )  # fmt: skip
    parser.add_argument("--retrieval-version", metavar="V", help="same as the override retrieval=V")
    parser.add_argument("-m", "--multirun", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="changes to the configuration")
    parser = command(commands, "freeze", run_freeze, "freeze a dev run's parameters as an experiment")
    parser.add_argument("dev_run", metavar="RUN", help="name or folder of a dev run, or latest")
    parser.add_argument("--name", required=True, help="the experiment's name: experiments/NAME/frozen.yaml")


def run_dev(options: argparse.Namespace, console: Console) -> int:
    """Make a dev run and print its table."""
    from harness.benchmarks.library import names
    from harness.workflow.compose import compose_dev
    from harness.workflow.dev import dev_run
    from harness.workflow.workspace import open_workspace

    flags = [word for word in options.rest if word.startswith("-")]
    if options.multirun or "," in (options.retrieval_version or ""):
        what = "sweeps are not there yet: harness dev makes one run of one version"
        raise UsageProblem(
            what, where="-m" if options.multirun else "--retrieval-version", fix="run harness dev once for every choice"
        )
    if flags:
        raise UsageProblem(f"unknown flag {flags[0]}", where="harness dev", fix="harness dev --help")
    workspace = open_workspace(options.workspace)
    config = compose_dev(
        options.retrieval_version, [*options.overrides, *options.rest], names(workspace.data), workspace.root / "conf"
    )
    run = dev_run(workspace, config, console.progress)
    result = run.result
    console.result(
        result, [*dev_table(result), "", f"run: {run.folder}", f"next: harness freeze {result['run']} --name NAME"]
    )
    return 0


def dev_table(result: dict[str, Any]) -> list[str]:
    """A dev result as lines: never only a mean."""
    from harness.reporting.words import percent, points

    head = [
        f"{result['version']} on the dev questions of {result['benchmark']['name']} ({result['questions']} questions), "
        f"k = {result['k']} {result['unit']}"
    ]
    if not result["comparisons"]:
        slices = result["slices"]["candidate"]
        rows = [[m, percent(cell["mean"]), str(cell["n"])] for m, cell in slices["all"].items()]
        note = "the version in force reads another unit, so there is nothing to compare with"
        return [*head, note, "", *table(["measure", "mean", "n"], rows)]
    force = result["in_force"]
    head += [
        f"against the version in force, {force['version']}: {force['because']}",
        f"differs in: {_differences(force, result)}",
        f"intervals: {result['interval']}",
        "",
    ]
    shown = [
        row
        for row in result["comparisons"]
        if row["slice"] == "all" or row["measure"] == result["comparisons"][0]["measure"]
    ]
    rows = [
        [row["measure"], row["slice"], str(row["n"]), percent(row["baseline"]), percent(row["candidate"]),
         points(row["estimate"]), f"{points(row['lower'])} … {points(row['upper'])}",
         f"{row['wins']}/{row['losses']}/{row['ties']}", f"{100 * row['one_question']:.2f}"]
        for row in shown
    ]  # fmt: skip
    header = ["measure", "slice", "n", "in force", "this", "change", "interval", "won/lost/tied", "one question"]
    budget = [f"read budget of {role}: {_budget(spent)}" for role, spent in result["budget"].items()]
    left_out = [
        f"left out of {measure}: {n} ({why})"
        for measure, reasons in result["exclusions"].items()
        for why, n in reasons.items()
        if measure == result["comparisons"][0]["measure"]
    ]
    return [*head, *table(header, rows, text_columns=2), "", *budget, *left_out]


def _differences(force: dict[str, Any], this: dict[str, Any]) -> str:
    """What distinguishes two systems: ``layers [raw, distill] → [raw]``."""
    before = {"version": force["version"], **force["parameters"]}
    after = {"version": this["version"], **this["parameters"]}
    changed = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
    return ", ".join(f"{key} {_shown(before.get(key))} → {_shown(after.get(key))}" for key in changed) or "nothing"


def _shown(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _budget(spent: dict[str, Any]) -> str:
    from harness.reporting.words import percent

    layers = ", ".join(f"{name} {percent(share)} %" for name, share in spent["layers"].items())
    return (
        f"{spent['documents']:.1f} {spent['unit']}, {spent['chunks']:.1f} chunks, {spent['tokens']:.0f} tokens "
        f"a question ({layers})"
    )


def run_freeze(options: argparse.Namespace, console: Console) -> int:
    """Freeze a dev run."""
    from harness.workflow.dev import read_dev_run
    from harness.workflow.freeze import freeze
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    path = freeze(workspace, read_dev_run(workspace, options.dev_run), options.name)
    name = path.relative_to(workspace.root)
    lines = [f"frozen: {name}", f"next: harness prereg new {options.name} --from {name}"]
    console.result({"frozen": str(name)}, lines)
    return 0
