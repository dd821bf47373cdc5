"""What a dev run found, as plain values: means by slice, comparisons with the version in force, read budget."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.benchmarks.columns import EXACT, Questions
from harness.benchmarks.library import Library
from harness.errors import HarnessError
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import Measure
from harness.evaluation.slices import in_slice
from harness.evaluation.statistics.planning import shrunk, standard_error
from harness.retrieval.fingerprint import fingerprint
from harness.workflow.compose import DevConfig
from harness.workflow.measured import Measured, own_clusters

ALPHA, RHO = 0.05, 0.01


def dev_result(config: DevConfig, library: Library, measured: dict[str, Measured], because: str) -> dict[str, Any]:
    """What a dev run says of itself, as plain values."""
    candidate = measured["candidate"]
    comparable = "baseline" in measured
    return {
        "format": 1,
        "benchmark": {"name": library.name, "digest": library.digests["digest"]},
        "overrides": list(config.overrides),
        **config.system.identity(),
        "fingerprint": fingerprint(config.system),
        "k": config.k,
        **config.budget(),
        "unit": config.system.unit,
        "questions": len(candidate.questions),
        "in_force": {**measured["baseline"].system.identity(), "because": because} if comparable else None,
        "slices": {role: m.slice_means() for role, m in measured.items()},
        "comparisons": dev_comparisons(measured) if comparable else [],
        "budget": {role: m.budget(config.k) for role, m in measured.items()},
        "ties": {role: m.ties.as_mapping() for role, m in measured.items() if m.ties},
        "exclusions": candidate.exclusions(),
        "interval": interval_words(candidate.questions),
    }


def interval_words(questions: Questions) -> str:
    """What the intervals of a dev table are intervals of."""
    clusters = len(set(questions.clusters))
    if clusters == len(questions) > 1:
        return "per question, each on its own; says nothing about questions of another kind"
    where = "one conversation" if clusters == 1 else f"{clusters} conversations"
    return f"per question, within {where}; says nothing about other conversations"


def dev_comparisons(measured: dict[str, Measured]) -> list[dict[str, Any]]:
    """Candidate against the version in force, for every measure: all dev questions, each category, the exact."""
    candidate, baseline = measured["candidate"], measured["baseline"]
    slices = sorted(set(candidate.labels.categories))
    slices += [EXACT] if any(EXACT in flags for flags in candidate.labels.flags) else []
    rows = []
    for measure in candidate.scores.values:
        for name in ("all", *slices):
            compared = _compare(baseline, candidate, measure, name)
            if compared is not None:
                rows.append(_comparison_row(compared))
    return rows


def shrunk_gain(row: dict[str, Any], trials: int) -> float:
    """The gain of a picked trial, shrunk for how many it was picked from; correlation in its conversation included."""
    error = standard_error(row["deviation"], np.array([row["n"]]), RHO)
    return shrunk(row["estimate"], error, trials)


def _compare(baseline: Measured, candidate: Measured, measure: Measure, name: str) -> Comparison | None:
    questions, labels = candidate.questions, candidate.labels
    try:
        return compare(
            baseline.scores, candidate.scores, measure, clusters=own_clusters(questions), alpha=ALPHA, rho=RHO,
            members=in_slice(name, questions, labels, candidate.partitions), slice_name=name,
        )  # fmt: skip
    except HarnessError:
        return None  # a category without any scored question has no row


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
        "deviation": paired.deviation,
        "lower": interval.lower if interval else None,
        "upper": interval.upper if interval else None,
        "wins": paired.wins,
        "losses": paired.defeats,
        "ties": paired.ties,
        "one_question": compared.one_flip,
        "won": won,
        "lost": lost,
    }
