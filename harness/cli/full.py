"""``harness full``: the one run."""

from __future__ import annotations

import argparse

from harness.cli.console import Console
from harness.cli.parsing import Commands, command
from harness.errors import UsageProblem


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "full", run, "make the one full run of a locked document, and judge it", takes_rest=True,
        exits=(3, 10, 11, 12, 20), epilog="stopped anywhere, the same command goes on",
    )  # fmt: skip
    parser.add_argument("id", help="the document's id")
    parser.add_argument("--retrieval-version", metavar="V", help="accepted where it agrees with the locked document")
    parser.add_argument("-m", "--multirun", action="store_true", help=argparse.SUPPRESS)


def run(options: argparse.Namespace, console: Console) -> int:
    """Make or finish the full run."""
    from harness.cli.verdicts import print_verdict
    from harness.ledger.state import life
    from harness.preregistration.rule import EXIT_OF_STATE
    from harness.workflow.full import full_run
    from harness.workflow.workspace import open_workspace

    if options.multirun or options.rest:
        given = "-m" if options.multirun else " ".join(options.rest)
        what = "a full run takes neither sweeps nor overrides: it runs what was locked, once"
        raise UsageProblem(
            what, where=f"harness full … {given}", allowed="harness full ID", fix="sweep with harness dev"
        )
    workspace = open_workspace(options.workspace)
    identifier = workspace.document(options.id).stem
    if options.retrieval_version:
        lock = life(workspace.entries(), identifier).lock
        locked = lock.payload["document"]["candidate"]["version"] if lock else options.retrieval_version
        if options.retrieval_version != locked:
            what = f"the locked candidate is {locked}, not {options.retrieval_version}"
            raise UsageProblem(what, fix="leave --retrieval-version out")
    entry = full_run(workspace, identifier, console.progress)
    print_verdict(workspace, identifier, console)
    return EXIT_OF_STATE[str(entry.payload["state"])]
