"""Dev work: rank and score the dev questions only, beside the version in force."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from harness.benchmarks.columns import Labels, Questions
from harness.benchmarks.library import Library
from harness.benchmarks.seal import seal_heldout
from harness.digest import canonical_json
from harness.errors import HarnessError, UsageProblem
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import Measure
from harness.evaluation.slices import in_slice
from harness.ledger import durable
from harness.retrieval.documents import document_names
from harness.retrieval.fingerprint import fingerprint
from harness.retrieval.ranking import write_trec
from harness.retrieval.version import Configured, Store
from harness.tracking.names import slice_metric
from harness.workflow.compose import DevConfig
from harness.workflow.measured import Measured, measure_ranking, own_clusters
from harness.workflow.systems import in_force, standard_measures
from harness.workflow.workspace import Workspace, check_writable, git_state, now

RESULT = "result.json"
EXPERIMENT = "dev"
ALPHA, RHO = 0.05, 0.01
_FROM_RESULT = {"run", "benchmark", "version", "parameters", "fingerprint", "k", "questions", "slices"}  # is frozen


@dataclass(frozen=True)
class DevRun:
    """A finished dev run: its folder and what was written there."""

    folder: Path
    result: dict[str, Any]


def dev_run(
    workspace: Workspace,
    config: DevConfig,
    progress: Callable[[str], None] = lambda _: None,
    *,
    sealed: bool = True,
) -> DevRun:
    """Make one dev run.

    Args:
        workspace: the workspace.
        config: what to run.
        progress: told what is being done.
        sealed: refuse, for the rest of this process, to open held-out files. Only a caller that goes on to a
            full run in the same process (the demonstration) leaves it out.

    Raises:
        UsageProblem: the benchmark is not imported.
        EnvironmentProblem: the runs folder cannot be written; found before any work.
    """
    check_writable(workspace.dev_runs)
    library = workspace.benchmark(config.benchmark)
    if sealed:
        sources = [library.origin] if library.origin else []
        seal_heldout(workspace.dev_runs / "refused-opens.log", sources)
    force, because = in_force(workspace.entries(), library.digests["digest"])
    started = time.perf_counter()
    progress("ranking the dev questions")
    systems = {"candidate": config.system}
    if force.unit == config.system.unit:
        systems["baseline"] = force
    store = Store(library.corpus, library.edges)
    measured = {role: _measure(library, store, system, config) for role, system in systems.items()}
    seconds = time.perf_counter() - started
    folder = _new_folder(workspace)
    result = _result(config, library, measured, because, folder.name) | {
        "git": git_state(workspace.root),
        "time": now(),
    }
    candidate = measured["candidate"]
    names = document_names(store.corpus, store.edges, config.system.read_model)
    write_trec(candidate.ranking, names, folder / "candidate.trec", config.system.name)
    progress("logging to MLflow")
    result["mlflow_run"] = _log(workspace, result, seconds)
    durable.replace(folder / RESULT, (json.dumps(result, indent=1, ensure_ascii=False) + "\n").encode())
    return DevRun(folder, result)


def _measure(library: Library, store: Store, system: Configured, config: DevConfig) -> Measured:
    questions, labels = library.dev
    ranking = system.rank(store, questions, _depth(config), config.engine)
    measures = standard_measures(config.k, config.measures)
    return measure_ranking(system, ranking, store, library.manifest["partitions"], questions, labels, measures)


def _depth(config: DevConfig) -> int:
    return max(config.k, *(measure.k for measure in config.measures), 0)


def _new_folder(workspace: Workspace) -> Path:
    # the time alone has one-second resolution, and two runs of one second must not share a folder
    name = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"
    folder = workspace.dev_runs / name
    folder.mkdir(parents=True, exist_ok=False)
    return folder


def _result(
    config: DevConfig, library: Library, measured: dict[str, Measured], because: str, name: str
) -> dict[str, Any]:
    candidate = measured["candidate"]
    comparable = "baseline" in measured
    return {
        "format": 1,
        "run": name,
        "benchmark": {"name": library.name, "digest": library.digests["digest"]},
        "overrides": list(config.overrides),
        **config.system.identity(),
        "fingerprint": fingerprint(config.system),
        "k": config.k,
        "unit": config.system.unit,
        "questions": len(candidate.questions),
        "in_force": {**measured["baseline"].system.identity(), "because": because} if comparable else None,
        "slices": {role: m.slice_means() for role, m in measured.items()},
        "comparisons": dev_comparisons(measured) if comparable else [],
        "budget": {role: m.budget(config.k) for role, m in measured.items()},
        "exclusions": candidate.exclusions(),
        "interval": interval_words(candidate.questions),
    }


def interval_words(questions: Questions) -> str:
    """What the intervals of a dev table are intervals of."""
    clusters = len(set(questions.clusters))
    where = "one conversation" if clusters == 1 else f"{clusters} conversations"
    return f"per question, within {where}; says nothing about other conversations"


def dev_comparisons(measured: dict[str, Measured]) -> list[dict[str, Any]]:
    """Candidate against the version in force, for every measure over all dev questions and every category."""
    candidate, baseline = measured["candidate"], measured["baseline"]
    categories = sorted(set(candidate.labels.categories))
    rows = []
    for measure in candidate.scores.values:
        for name in ("all", *categories):
            compared = _compare(baseline, candidate, measure, name)
            if compared is not None:
                rows.append(_comparison_row(compared))
    return rows


def _compare(baseline: Measured, candidate: Measured, measure: Measure, name: str) -> Comparison | None:
    questions, labels = candidate.questions, candidate.labels
    try:
        return compare(
            baseline.scores, candidate.scores, measure, clusters=own_clusters(questions), alpha=ALPHA, rho=RHO,
            members=_members(name, questions, labels, candidate.partitions), slice_name=name,
        )  # fmt: skip
    except HarnessError:
        return None  # a category without any scored question has no row


def _members(name: str, questions: Questions, labels: Labels, partitions: tuple[str, ...]) -> Any:
    return in_slice(name, questions, labels, partitions)


def _comparison_row(compared: Comparison) -> dict[str, Any]:
    paired, interval = compared.paired, compared.interval
    won, lost = compared.flips()
    return {
        "measure": str(compared.measure),
        "slice": compared.slice,
        "n": paired.n,
        "baseline": compared.baseline,
        "candidate": compared.candidate,
        "estimate": compared.estimate,
        "lower": interval.lower if interval else None,
        "upper": interval.upper if interval else None,
        "wins": paired.wins,
        "losses": paired.defeats,
        "ties": paired.ties,
        "one_question": compared.one_flip,
        "won": won,
        "lost": lost,
    }


def _log(workspace: Workspace, result: dict[str, Any], seconds: float) -> str:
    from harness.tracking.mirror import Record, mirror

    metrics = {"seconds": seconds}
    for role, slices in result["slices"].items():
        for name, cells in slices.items():
            for measure, cell in cells.items():
                if cell["mean"] is not None:
                    metrics[slice_metric("dev", name, role, measure)] = cell["mean"]
    params = {key: canonical_json(value) for key, value in result["parameters"].items()}
    record = Record(
        experiment=EXPERIMENT,
        name=result["run"],
        params={"version": result["version"], "benchmark": result["benchmark"]["name"], **params},
        metrics=metrics,
        tags={"harness.run": result["run"], "harness.fingerprint": result["fingerprint"]},
    )
    return mirror(workspace.store, record)


def read_dev_run(workspace: Workspace, name: str) -> DevRun:
    """A dev run by its name, by its folder, or ``latest``.

    Raises:
        UsageProblem: there is no such run.
    """
    # by the time of writing: two runs of one second have names in no order
    written = sorted(workspace.dev_runs.glob(f"*/{RESULT}"), key=lambda path: path.stat().st_mtime_ns)
    finished = [path.parent for path in written]
    named = [path for path in finished if name in (path.name, str(path)) or Path(name).resolve() == path]
    folder = next(iter(finished[-1:] if name == "latest" else named), None)
    if folder is None:
        allowed = ", ".join(path.name for path in finished[-5:]) or "none was made yet"
        raise UsageProblem(f"no dev run {name!r}", allowed=allowed, fix="harness dev --retrieval-version V")
    try:
        result = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except ValueError:
        result = None
    if not isinstance(result, dict) or not result.keys() >= _FROM_RESULT:
        fix = "make the run again with harness dev"
        raise UsageProblem("the dev run's result is damaged", where=str(folder / RESULT), fix=fix)
    return DevRun(folder, result)
