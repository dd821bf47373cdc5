"""One trial of a sweep, in whatever process a launcher runs it."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from harness.digest import canonical_json
from harness.errors import HarnessError, IntegrityProblem, environment_problem
from harness.ledger import durable
from harness.retrieval import files
from harness.workflow.compose import validated
from harness.workflow.dev import Bench, dev_run, open_bench
from harness.workflow.workspace import Workspace

_WATCH_SECONDS = 0.5


@lru_cache(maxsize=1)
def _bench(root: str, name: str) -> Bench:
    files.look_below(Path(root))
    # a worker makes many trials; the seal is set here, before it opens anything
    return open_bench(Workspace(Path(root)), name)


@cache
def _end_with(driver: int) -> None:
    """End this process soon after the driver's: a worker would wait minutes for more work, with its files open."""
    if os.getppid() != driver:
        return  # the driver itself, or a worker that a cluster looks after

    def watch() -> None:
        while os.getppid() == driver:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="end-with-driver", daemon=True).start()


def run_trial(configuration: Any, *, root: str, folder: str, contents: Sequence[str], driver: int) -> None:
    """Make one trial and write what became of it; never raises, so that no launcher hides an error.

    Args:
        configuration: what Hydra composed for this job.
        root: the workspace, absolute.
        folder: where the trial says how it ended.
        contents: content digest of every job, in the launcher's order.
        driver: process that made the sweep.
    """
    from hydra.core.hydra_config import HydraConfig
    from omegaconf import OmegaConf

    _end_with(driver)
    settings = HydraConfig.get()
    content = contents[settings.job.num]
    try:
        value = OmegaConf.to_container(configuration, resolve=True)
        config = validated(value if isinstance(value, dict) else {}, list(settings.overrides.task))
        bench = _bench(root, config.benchmark)
        if bench.content(config) != content:
            raise IntegrityProblem("data or code changed while the sweep was running", fix="start the sweep again")
        status: dict[str, Any] = {"run": dev_run(bench, config).folder.name}
    except Exception as error:  # noqa: BLE001 - whatever it is, the sweep reports it and goes on
        status = {"error": _as_plain(error)}
    durable.replace(status_file(Path(folder), content), canonical_json(status).encode())


def _as_plain(error: Exception) -> dict[str, Any]:
    problem = error if isinstance(error, HarnessError) else environment_problem(error)
    if problem is None:
        return {"what": f"internal error: {type(error).__name__}: {error}", "exit_code": 1}
    parts = {"what": problem.what, "where": problem.where, "allowed": problem.allowed, "fix": problem.fix}
    return {name: text for name, text in parts.items() if text} | {"exit_code": problem.exit_code}


def status_file(folder: Path, content: str) -> Path:
    """Where a trial says how it ended."""
    return folder / f"trial-{content.removeprefix('sha256:')[:32]}.json"


def read_status(folder: Path, content: str) -> dict[str, Any] | None:
    """How a trial ended, or None if it did not."""
    try:
        return dict(json.loads(status_file(folder, content).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
