"""``harness hook``: what a git hook refuses to commit."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path
from typing import Any

from harness.cli.console import Console
from harness.cli.parsing import Commands, command, group
from harness.errors import IntegrityProblem, UsageProblem

_SUMMARIES = {
    "retrieval": "refuse to commit retrieval code that is frozen while a document is open",
    "documents": "refuse to commit a changed locked document, ledger entry or judged run",
    "ledger": "refuse to commit a ledger that does not hold together or has lost something",
}


def add(commands: Commands) -> None:
    """Add the commands."""
    hook = group(commands, "hook", "for git hooks: refuse what may not be committed")
    for name, summary in _SUMMARIES.items():
        parser = command(hook, name, run, summary, exits=(3,))
        help_files = "ignored: the whole index is read, for nobody passes the names of deleted files"
        parser.add_argument("files", nargs="*", metavar="FILE", help=help_files)
        if name == "retrieval":
            parser.add_argument("--package", metavar="DIR", help="its folder in the repository (harness/retrieval)")
        parser.set_defaults(hook=name)


def run(options: argparse.Namespace, console: Console) -> int:
    """Run one hook."""
    from harness.workflow.hooks import HOOKS, PACKAGE
    from harness.workflow.staged import read_staged
    from harness.workflow.workspace import open_workspace

    more: dict[str, Any] = {}
    if options.hook == "retrieval":
        more["package"] = options.package or PACKAGE
        with contextlib.suppress(UsageProblem):  # the repository's own workspaces count in any case
            more["beside"] = open_workspace(options.workspace)
    refusals = HOOKS[options.hook](read_staged(Path.cwd()), **more)
    lines = []
    for refusal in refusals:
        lines += [f"{console.paint('refused')} {refusal.where}: {refusal.what}", f"  fix: {refusal.fix}"]
    value = {"hook": options.hook, "refused": [refusal._asdict() for refusal in refusals]}
    console.result(value, lines or ["nothing is refused"])
    return IntegrityProblem.exit_code if refusals else 0
