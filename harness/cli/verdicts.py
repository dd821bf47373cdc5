"""``harness verdict``, ``report`` and ``verify``: read a verdict and check it."""

from __future__ import annotations

import argparse
from typing import Any

from harness.cli.console import Console
from harness.cli.parsing import Commands, command
from harness.errors import IntegrityProblem


def add(commands: Commands) -> None:
    """Add the commands."""
    for name, run, summary, exits in (
        ("verdict", run_verdict, "print a verdict, and exit with its code", (3, 10, 11, 20)),
        ("report", run_report, "write the verdict page again, as HTML and Markdown", (3,)),
        ("verify", run_verify, "check offline that nobody moved the bar", (3,)),
    ):
        parser = command(commands, name, run, summary, exits=exits)
        parser.add_argument("id", help="the document's id")


def run_verdict(options: argparse.Namespace, console: Console) -> int:
    """Print a verdict."""
    from harness.preregistration.rule import EXIT_OF_STATE
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    identifier = workspace.document(options.id).stem
    return EXIT_OF_STATE[print_verdict(workspace, identifier, console)]


def print_verdict(workspace: Any, identifier: str, console: Console) -> str:
    """Print a verdict with everything a delta must carry, and return its state."""
    from harness.reporting import words
    from harness.reporting.beside_words import fragility_lines, prediction_lines
    from harness.reporting.page import HTML
    from harness.workflow.publish import assemble, judged
    from harness.workflow.systems import in_force

    present = judged(workspace, identifier)
    assert present.lock is not None
    assert present.verdict is not None
    report = assemble(workspace, present)
    page = workspace.full_run(identifier) / HTML
    lines = [f"{console.paint(report['state'])}: {words.reason_words(present.verdict.payload['reason'])}", ""]
    for row in report["clauses"]:
        lines.append(f"{console.paint(row['standing'], row['standing'].ljust(6))}{row['kind']}: {row['promise']}")
        lines.append(f"      {row['outcome']}; {row['flip_words']}")
    others = [row for row in report["credits"] if not row["registered"]]
    lines += [
        f"      exploratory, other credit: {row['measure']} in {row['slice']} {words.points(row['estimate'])} points, "
        f"bounds {words.points(row['lower'])} to {words.points(row['upper'])}; {row['n']} questions in "
        f"{row['clusters']} clusters, {row['wins']} won, {row['losses']} lost, {row['ties']} tied"
        for row in others
    ]
    if report["beside"]:
        lines += ["", *fragility_lines(report["beside"]["fragility"]), *prediction_lines(report["predicted"])]
    reused = ["reused: error rate not controlled"] if report["exposed"] else []
    if report["state"] == "PASS":
        _, because = in_force(workspace.entries(), present.lock.payload["benchmark"]["digest"])
        if not because.startswith(f"{identifier} passed"):
            report["consequence"] = f"The candidate became the version in force; since replaced: {because}."
    lines += ["", f"look {report['look']}, α = {report['alpha_k']:.4f}", *reused, report["consequence"]]
    lines += [f"page: {page}", f"next: harness verify {identifier}"]
    value = {"id": identifier, **present.verdict.payload, "entry": present.verdict.hash, "page": str(page)}
    value |= {"beside": report["beside"], "predicted": report["predicted"]}
    console.result(value, lines)
    return str(report["state"])


def run_report(options: argparse.Namespace, console: Console) -> int:
    """Write the page again."""
    from harness.workflow.publish import write_report
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    files = [str(path) for path in write_report(workspace, workspace.document(options.id).stem)]
    console.result({"files": files}, files)
    return 0


def run_verify(options: argparse.Namespace, console: Console) -> int:
    """Run every named check."""
    from harness.workflow.verify import COPIES, stands, verify_run
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    identifier = workspace.document(options.id).stem
    checks = verify_run(workspace, identifier)
    good = stands(checks)
    width = max(len(check.name) for check in checks)
    lines = [
        f"{check.name.ljust(width)}  {console.paint(check.status, check.status.ljust(6))}  {check.reason}"
        for check in checks
    ]
    not_run = [check.name for check in checks if check.status == "NOTRUN"]
    summary = "the verdict stands" if good else "the verdict does not stand"
    if good and any(check.name in COPIES and check.status == "FAIL" for check in checks):
        summary += f", but its copy in MLflow does not show it: harness mirror {identifier}"
    lines += ["", summary + (f"; not run: {', '.join(not_run)}" if good and not_run else "")]
    lines += ["not covered: report.html and report.md, which harness report writes again from what was verified"]
    console.result({"id": identifier, "stands": good, "checks": [check._asdict() for check in checks]}, lines)
    return 0 if good else IntegrityProblem.exit_code
