"""``harness ui``: look at the mirrored runs in MLflow's own pages."""

from __future__ import annotations

import argparse
import sys

from harness.cli.console import Console, flush_output
from harness.cli.parsing import Commands, command
from harness.errors import UsageProblem


def add(commands: Commands) -> None:
    """Add the command."""
    parser = command(
        commands, "ui", run, "show the mirrored runs in MLflow's pages, on this machine only, until Ctrl-C",
        epilog="with MLFLOW_TRACKING_URI set to a server, it prints that server's address and ends",
    )  # fmt: skip
    parser.add_argument("--port", type=int, metavar="N", help="where to listen on 127.0.0.1 (default: a free port)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Serve until interrupted."""
    from harness.tracking.address import address
    from harness.tracking.store import check
    from harness.tracking.ui import serving
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    store = address(workspace.store)
    if store.database is None:
        console.result({"url": store.shown}, [f"MLflow is at {store.shown} (MLFLOW_TRACKING_URI)"])
        return 0
    if not store.database.is_file():
        fix = "harness dev and harness full make it; harness mirror --all fills it with what was recorded before"
        raise UsageProblem("there is no MLflow store yet", where=store.shown, fix=fix)
    check(store, writing=False)
    console.progress("starting MLflow's server; the first time takes half a minute")
    try:
        with serving(store.uri, store.database.parent, options.port) as server:
            console.result({"url": server.url}, [f"MLflow shows {store.shown} at {server.url}; Ctrl-C ends it"])
            flush_output(sys.stdout)  # whoever reads this through a pipe waits for it
            server.wait()
    except KeyboardInterrupt:
        console.note("stopped")
    return 0
