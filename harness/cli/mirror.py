"""``harness mirror``: bring to MLflow what waits, or write a verdict there again."""

from __future__ import annotations

import argparse

from harness.cli.console import Console
from harness.cli.parsing import Commands, command
from harness.errors import EnvironmentProblem, UsageProblem


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "mirror", run, "bring to MLflow what waits in the outbox, and verdicts that are named",
        exits=(3,), epilog="MLFLOW_TRACKING_URI=http://HOST:PORT mirrors to a server instead of runs/mlflow.db",
    )  # fmt: skip
    parser.add_argument("id", nargs="?", metavar="ID", help="a judged document: make MLflow show its verdict again")
    parser.add_argument("--all", action="store_true", help="every judged document")


def run(options: argparse.Namespace, console: Console) -> int:
    """Mirror, and say what was mirrored and what still waits."""
    from harness.tracking.address import address
    from harness.workflow.mirroring import send
    from harness.workflow.publish import judged, judged_documents, verdict_record
    from harness.workflow.workspace import open_workspace

    if options.id and options.all:
        raise UsageProblem("--all mirrors every verdict", where="harness mirror", fix="leave out --all, or the id")
    workspace = open_workspace(options.workspace)
    address(workspace.store)  # a wrong address is a mistake here, and no reason to wait
    named = [workspace.document(options.id).stem] if options.id else judged_documents(workspace) if options.all else []
    records = [verdict_record(workspace, judged(workspace, identifier)) for identifier in named]
    sent = send(workspace, records, console.progress, seconds=float("inf"))
    lines = [f"in MLflow at {sent.where}: {', '.join(sent.mirrored)}"] if sent.mirrored else []
    lines += [f"still waiting: {name}: {why}" for name, why in sent.waiting.items()]
    value = {"where": sent.where, "mirrored": list(sent.mirrored), "waiting": sent.waiting}
    console.result(value, lines or ["nothing waits"])
    return EnvironmentProblem.exit_code if sent.waiting else 0
