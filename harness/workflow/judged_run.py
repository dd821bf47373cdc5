"""A judged run's files, and the tables that the page makes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import DEV, HELDOUT, Labels, Questions
from harness.errors import HarnessError
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import NAMES, Measure, parse_measure
from harness.evaluation.scores import Scores
from harness.evaluation.slices import in_slice, slice_names
from harness.evaluation.statistics.paired_tests import holm
from harness.reporting import words
from harness.workflow import runfiles

_NAMED = 20  # questions named in a list before it is cut


class JudgedRun:
    """A judged run's files, read once."""

    def __init__(self, folder: Path, document: Mapping[str, Any], alpha_k: float) -> None:
        self.questions, self.partitions = runfiles.read_questions(folder)
        self.labels: Labels = runfiles.read_labels(folder)
        self.scores: dict[str, Scores] = runfiles.read_scores(folder, self.questions)
        self.rates = {"alpha": alpha_k, "rho": document["rho_plan"], "procedure": document["procedure"]}

    def members(self, part: str | None, slice_name: str) -> NDArray[np.bool_]:
        """Questions of a slice, in one part or in both, bool (n_questions)."""
        chosen = in_slice(slice_name, self.questions, self.labels, self.partitions)
        if part is not None:
            chosen = chosen & np.array([name == part for name in self.questions.part], dtype=bool)
        return chosen

    def heldout_slices(self) -> list[str]:
        """Slices that have a held-out question."""
        places = np.flatnonzero(self.members(HELDOUT, "all"))
        questions: Questions = self.questions.take(places)
        return slice_names(questions, self.labels.take(places), self.partitions)

    def compare(self, measure: Measure, slice_name: str) -> Comparison:
        """Candidate against baseline on the held-out questions of a slice, at the look's error rate.

        Raises:
            UsageProblem: no question of the slice has a score.
        """
        return compare(
            self.scores["baseline"], self.scores["candidate"], measure, clusters=self.questions.clusters,
            members=self.members(HELDOUT, slice_name), slice_name=slice_name, **self.rates,
        )  # fmt: skip


def slice_rows(document: Mapping[str, Any], run: JudgedRun, measure: Measure) -> list[dict[str, Any]]:
    """One measure in every slice; the slices that no clause names are one exploratory family."""
    registered = _registered(document)
    rows = [row for name in run.heldout_slices() if (row := _row(run, measure, name, registered))]
    return _with_holm(rows)


def credit_rows(document: Mapping[str, Any], run: JudgedRun) -> list[dict[str, Any]]:
    """Every clause's measure under both credit rules; those that no clause names are one exploratory family."""
    registered = _registered(document)
    pairs = [(credit, name) for measure, name in registered for credit in (measure, measure.other_credit())]
    return _with_holm([row for pair in dict.fromkeys(pairs) if (row := _row(run, *pair, registered))])


def _registered(document: Mapping[str, Any]) -> list[tuple[Measure, str]]:
    return [(parse_measure(part["measure"]), part["slice"]) for part in (*document["primary"], *document["guards"])]


def _with_holm(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with p-values that account for how many exploratory rows were looked at."""
    family = {f"{row['measure']} {row['slice']}": row["p"] for row in rows if not row["registered"] and row["p"]}
    adjusted = holm(family)
    return [row | {"p_holm": adjusted.get(f"{row['measure']} {row['slice']}")} for row in rows]


def _row(
    run: JudgedRun, measure: Measure, slice_name: str, registered: list[tuple[Measure, str]]
) -> dict[str, Any] | None:
    try:
        compared = run.compare(measure, slice_name)
    except HarnessError:
        return None  # a slice without any scored question has no row
    paired, interval = compared.paired, compared.interval
    return {
        "registered": (measure, slice_name) in registered, "p": compared.p_of_no_difference(),
        "measure": str(measure), "slice": slice_name, "n": paired.n, "clusters": len(paired.sizes),
        "baseline": compared.baseline, "candidate": compared.candidate, "estimate": compared.estimate,
        "lower": interval.lower if interval else None, "upper": interval.upper if interval else None,
        "wins": paired.wins, "losses": paired.defeats, "ties": paired.ties,
    }  # fmt: skip


def measure_rows(run: JudgedRun) -> list[dict[str, Any]]:
    """Every measure's means on held-out, dev and both."""
    return [_measure_row(run, measure) for measure in _in_order(run.scores["baseline"].values)]


def _measure_row(run: JudgedRun, measure: Measure) -> dict[str, Any]:
    cells = []
    for part in (HELDOUT, DEV, None):
        members = run.members(part, "all")
        (baseline, n), (candidate, _) = (run.scores[role].mean(measure, members) for role in runfiles.ROLES)
        cells.append({"baseline": baseline, "candidate": candidate, "n": n})
    return {"measure": str(measure), "cells": cells}


def _in_order(measures: Iterable[Measure]) -> list[Measure]:
    """Measures as people read them, the two credit rules of one measure side by side."""
    return sorted(measures, key=lambda m: (m.k, ("R", *NAMES).index(m.name), m.credit != "raw", str(m)))


def exclusions(run: JudgedRun) -> list[dict[str, Any]]:
    """Which questions no mean counts, why, and under which measures; measures with the same list share a row."""
    shared: dict[tuple[str, ...], list[str]] = {}
    for measure in _in_order(run.scores["baseline"].values):
        left_out = tuple(run.scores["baseline"].unavailable[measure])
        if left_out:
            shared.setdefault(left_out, []).append(str(measure))
    every = len(run.scores["baseline"].values)
    return [
        {
            "n": len(questions),
            "measures": "every measure" if len(measures) == every else ", ".join(measures),
            "questions": ", ".join(questions[:_NAMED]) + (", …" if len(questions) > _NAMED else ""),
        }
        for questions, measures in shared.items()
    ]


def cost_words(budgets: Mapping[str, Any]) -> str:
    """What equal k hides: how much more or less text the candidate gives to the reader."""
    before, after = (budgets[role]["tokens"] for role in runfiles.ROLES)
    change = after / before - 1 if before else 0.0
    if abs(change) < 0.005:
        return "Both systems give the reader the same amount of text."
    return f"The candidate gives the reader {100 * abs(change):.0f} % {'more' if change > 0 else 'less'} text."


def layer_words(layers: Mapping[str, float]) -> str:
    """From which layers a system's documents came."""
    ordered = sorted(layers.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {words.percent(share)} %" for name, share in ordered)
