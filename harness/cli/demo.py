"""``harness demo``: the whole way on the synthetic benchmark."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from pathlib import Path

from harness.cli.console import Console
from harness.cli.parsing import Commands, command


def add(commands: Commands) -> None:
    """Add the command."""
    summary = "go the whole way once, on the synthetic benchmark, in a new workspace"
    parser = command(commands, "demo", run, summary, exits=(3,), in_workspace=False)
    where = "an empty or new folder (default: a temporary one)"
    parser.add_argument("--into", "--workspace", dest="into", type=Path, metavar="DIR", help=where)


def run(options: argparse.Namespace, console: Console) -> int:
    """Go the whole way, then say where everything is."""
    from harness.cli.dev import dev_table
    from harness.cli.verdicts import print_verdict
    from harness.reporting.page import HTML
    from harness.workflow.demo import demo

    name = "harness" if shutil.which("harness") else str(Path(sys.argv[0]).resolve())
    shown = demo(options.into, console.progress)
    root, identifier = shown.workspace.root, shown.identifier
    if not console.as_json:
        console.result(
            None, ["", "On dev:", *(f"  {line}" for line in dev_table(shown.dev.result)), "", "The verdict:"]
        )
    print_verdict(shown.workspace, identifier, console)
    if not console.as_json:
        folder = shown.workspace.full_run(identifier)
        console.result(
            None,
            [
                "",
                "The data is synthetic and made so that this passes: it shows the way and says nothing of retrieval.",
                f"workspace  {root}",
                f"document   {shown.workspace.document(identifier)}",
                f"ledger     {shown.workspace.ledger.root}",
                f"page       {folder / HTML}",
                f"MLflow     {shown.workspace.store}",
                "",
                "What to type next:",
                f"  cd {shlex.quote(str(root))}",
                f"  {name} verify {identifier}",
                f"  {name} versions in-force",
                f"  {name} data fetch locomo   # then the same way on real data: see the README's tour",
            ],
        )
    return 0
