"""The whole way in one go: import, dev, freeze, preregister, lock, run, judge."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness.benchmarks.library import save
from harness.benchmarks.synthetic import import_synthetic
from harness.errors import UsageProblem
from harness.workflow.compose import compose_dev
from harness.workflow.dev import DevRun, dev_run, open_bench
from harness.workflow.dev_records import run_record
from harness.workflow.drafting import new_document
from harness.workflow.freeze import freeze
from harness.workflow.full import full_run
from harness.workflow.lock import lock_document
from harness.workflow.mirroring import send
from harness.workflow.progress import Progress
from harness.workflow.workspace import Workspace, init_workspace

IDENTIFIER = "raw-turns-only"


@dataclass(frozen=True)
class Demo:
    """Where the demonstration happened and what it made."""

    workspace: Workspace
    identifier: str
    dev: DevRun


def demo(into: Path | None, progress: Progress) -> Demo:
    """Go the whole way on the synthetic benchmark.

    Args:
        into: an empty or new folder; by default a temporary one, which is kept.
        progress: told what is being done.

    Raises:
        UsageProblem: the folder is not empty.
    """
    if into is not None and into.exists() and any(into.iterdir()):
        raise UsageProblem("the folder is not empty", where=str(into), fix="choose a new one")
    root = into or Path(tempfile.mkdtemp(prefix="harness-demo-"))
    workspace, _ = init_workspace(root)
    progress(f"workspace {root}")
    progress("importing the synthetic benchmark")
    save(import_synthetic(), workspace.data / "synthetic")
    own = workspace.root / "conf"
    config = compose_dev("bm25", ["retrieval.layers=[raw]"], ["synthetic"], own)
    progress("dev: bm25 over raw turns, against bm25 over raw turns and distilled facts")
    run = dev_run(open_bench(workspace, config.benchmark, sealed=False), config, progress)
    send(workspace, [run_record(run)], progress)
    progress("freezing the dev result")
    frozen = freeze(workspace, run, IDENTIFIER).path
    progress("writing and locking the preregistration")
    new_document(
        workspace,
        IDENTIFIER,
        str(frozen.relative_to(workspace.root)),
        primary=["R@10"],
        superior="0.02",
        non_inferior=None,
        guards=["temporal:0.06"],
        words={
            "title": "Search raw turns only",
            "hypothesis": "Distilled facts repeat their turns and crowd other evidence out of the top ten.",
            "rationale": "Two points pay for the change; six points lost on temporal questions would undo it.",
        },
        authors=["harness demo"],
    )
    lock_document(workspace, IDENTIFIER)
    full_run(workspace, IDENTIFIER, progress)
    return Demo(workspace, IDENTIFIER, run)
