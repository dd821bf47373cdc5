"""``harness reproduce``: a published figure from its recipe."""

from __future__ import annotations

import argparse
from pathlib import Path

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command
from harness.errors import ReproductionFailed, UsageProblem


def add(commands: Commands) -> None:
    """Add the command."""
    summary = "reproduce a published figure from its recipe: OK, OKish or FAIL"
    parser = command(commands, "reproduce", run, summary, exits=(3, 5))
    parser.add_argument("name", nargs="?", help="a recipe's name, or a recipe of your own (FILE.yaml); none lists them")
    parser.add_argument("--data", type=Path, metavar="FILE", help="the benchmark's source file")
    parser.add_argument("--engine", choices=("numpy", "rank_bm25"), default="numpy", help="both give the same order")


def run(options: argparse.Namespace, console: Console) -> int:
    """Reproduce a figure, and put it on record as an outside look."""
    from harness.workflow.reproduce import FAIL, load_recipe, recipe_names, record_look, reproduce
    from harness.workflow.workspace import open_workspace

    if options.name is None:
        console.result(recipe_names(), recipe_names())
        return 0
    recipe = load_recipe(options.name)
    done = reproduce(recipe, options.data, console.progress, options.engine)
    lines, outcome = done.lines, done.outcome
    try:
        workspace = open_workspace(options.workspace)
    except UsageProblem:
        workspace = None
    record = record_look(workspace, recipe, done)
    shown = [
        [line.title if line.slice == "all" else f"  {line.slice}", _fraction(line.expected), _fraction(line.found),
         f"{100 * line.found[0] / max(1, line.found[1]):.2f} %", line.outcome]
        for line in lines
    ]  # fmt: skip
    value = {"recipe": recipe.name, "outcome": outcome, "lines": [vars(line) for line in lines], "record": record}
    text = [recipe.title, f"published: {recipe.source}", "", *table(["figure", "expected", "found", "", ""], shown), "",
            f"{console.paint(outcome)}  {record}"]  # fmt: skip
    console.result(value, text)
    return ReproductionFailed.exit_code if outcome == FAIL else 0


def _fraction(pair: tuple[int, int]) -> str:
    return f"{pair[0]}/{pair[1]}"
