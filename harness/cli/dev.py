"""``harness dev`` and ``harness freeze``: work on the dev conversation."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command
from harness.errors import UsageProblem


def add(commands: Commands) -> None:
    """Add the commands."""
    parser = command(
        commands, "dev", run_dev, "rank and score the dev questions, with one version or a whole sweep",
        takes_rest=True, exits=(3,), epilog=_EPILOG,
    )  # fmt: skip
    parser.add_argument("--retrieval-version", metavar="V", help="same as the override retrieval=V; V,W with -m")
    parser.add_argument("-m", "--multirun", action="store_true", help="sweep over every combination of the values")
    parser.add_argument("--experiment", metavar="NAME", help="sweep as experiments/NAME/sweep.yaml says")
    parser.add_argument("--by", metavar="MEASURE", help="what orders a sweep's table (default: R at the cut-off k)")
    parser.add_argument("overrides", nargs="*", metavar="KEY=VALUE", help="changes to the configuration")
    parser = command(commands, "freeze", run_freeze, "freeze a dev run's parameters as an experiment", exits=(3,))
    parser.add_argument("dev_run", metavar="RUN", help="name or folder of a dev run, or latest")
    parser.add_argument("--name", required=True, help="the experiment's name: experiments/NAME/frozen.yaml")


_EPILOG = """\
overrides follow Hydra: retrieval.k1=0.9 'retrieval.layers=[raw]' k=20 benchmark=synthetic
a sweep:                -m --retrieval-version bm25 retrieval.k1=0.6,0.9,1.2 'retrieval.layers=[raw],[raw,distill]'
in several processes:   -m ... hydra/launcher=joblib hydra.launcher.n_jobs=2"""


def run_dev(options: argparse.Namespace, console: Console) -> int:
    """Make a dev run, or a sweep of them, and print its table."""
    from harness.workflow.workspace import open_workspace

    flags = [word for word in options.rest if word.startswith("-")]
    if flags:
        raise UsageProblem(f"unknown flag {flags[0]}", where="harness dev", fix="harness dev --help")
    options.overrides = [*options.overrides, *options.rest]
    workspace = open_workspace(options.workspace)
    if options.multirun or options.experiment:
        from harness.cli.sweeps import sweep

        return sweep(workspace, options, console)
    if options.by:
        raise UsageProblem("--by orders the table of a sweep", where="harness dev", fix="add -m, or leave it out")
    return _one_run(workspace, options, console)


def _one_run(workspace: Any, options: argparse.Namespace, console: Console) -> int:
    from harness.benchmarks.library import names
    from harness.workflow.compose import compose_dev
    from harness.workflow.dev import dev_run, open_bench
    from harness.workflow.dev_records import run_record
    from harness.workflow.mirroring import send

    present = names(workspace.data)
    config = compose_dev(options.retrieval_version, options.overrides, present, workspace.root / "conf")
    bench = open_bench(workspace, config.benchmark)
    note_elsewhere(bench.elsewhere, console)
    run = dev_run(bench, config, console.progress)
    console.progress("mirroring to MLflow")
    sent = send(workspace, [run_record(run)], console.progress)
    if sent.note:
        console.note(sent.note)
    result = run.result
    console.result(
        result, [*dev_table(result), "", f"run: {run.folder}", f"next: harness freeze {result['run']} --name NAME"]
    )
    return 0


def note_elsewhere(questions: int, console: Console) -> None:
    """Say that dev work saw what is held out in another place."""
    if questions:
        console.note(f"{questions} of these dev questions are held out elsewhere: recorded as an outside look at them")


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
        note = "the version in force reads another unit: compare at equal reading, with budget=tokens:N and a large k"
        if result["in_force"]:
            note = "no dev question has a score: there is nothing to compare"
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
    return [*head, *table(header, rows, text_columns=2), "", *budget, *_ties(result), *left_out]


def _ties(result: dict[str, Any]) -> list[str]:
    """How far the first measure depends on an order among equal scores that nobody chose."""
    from harness.reporting.words import percent

    report = result["ties"].get("candidate")
    if report is None:
        return [f"read as far as it fits into {result['tokens']} tokens a question; what equal scores hide is not told"]
    cut = report["cuts"].get(str(result["k"]))
    measure = result["comparisons"][0]["measure"]
    spread = report["ranges"][measure]
    if cut is None or not cut["inside"] + cut["across"]:
        return []
    line = f"equal scores: {cut['inside']} questions within the first {result['k']}, {cut['across']} across the cut"
    if spread["least"] is None:
        return [f"{line}; {spread['unavailable']}"]
    values = (percent(spread[name]) for name in ("least", "expected", "greatest"))
    return [
        f"{line}; {measure} over their orders: least {next(values)}, expected {next(values)}, greatest {next(values)}"
    ]


def _differences(force: dict[str, Any], this: dict[str, Any]) -> str:
    """What distinguishes two systems: ``layers [raw, distill] → [raw]``, or the version and what is its own."""
    before = {"version": force["version"], **force["parameters"]}
    after = {"version": this["version"], **this["parameters"]}
    words = [
        f"{key} {_shown(before[key])} → {_shown(value)}"
        for key, value in after.items()
        if key in before and before[key] != value
    ]
    words += [f"{key} {_shown(value)}" for key, value in after.items() if key not in before and value not in (None, "")]
    return ", ".join(words) or "nothing"


def _shown(value: Any) -> str:
    if isinstance(value, dict):  # a stage of a composition: what it is called says enough here
        return str(value["version"])
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, str) and value.startswith("sha256:"):
        return f"{value[:15]}…"
    return "none" if value in (None, "") else str(value)


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
    frozen = freeze(workspace, read_dev_run(workspace, options.dev_run), options.name)
    name = frozen.path.relative_to(workspace.root)
    lines = [f"frozen: {name}", *_near_lines(frozen.near), f"next: harness prereg new {options.name} --from {name}"]
    console.result({"frozen": str(name), "near_duplicates": frozen.near}, lines)
    return 0


def _near_lines(near: Mapping[str, list[tuple[str, str]]]) -> list[str]:
    """What dev and held-out texts have in common, with a few examples by id."""
    lines = []
    for kind, pairs in near.items():
        if pairs:
            some = ", ".join(f"{dev} ~ {heldout}" for dev, heldout in pairs[:3]) + (", …" if len(pairs) > 3 else "")
            lines.append(f"nearly the same in dev and held-out: {len(pairs)} pairs of {kind} ({some})")
    return lines or ["no question or chunk of dev is nearly the same as a held-out one"]
