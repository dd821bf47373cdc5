"""How large an experiment has to be, from the gain that matters and the power that is wanted; or which margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageProblem
from harness.evaluation.statistics.bounds import best_lower_bound
from harness.evaluation.statistics.planning import clusters_needed, detectable, power_of, questions_needed
from harness.preregistration.clause_check import CORRELATIONS
from harness.preregistration.document import Preregistration, from_mapping
from harness.preregistration.draft import TODO
from harness.preregistration.evidence import cluster_sizes
from harness.preregistration.forecast import plan_of
from harness.reporting.curves import Curve, draw_curves
from harness.workflow.lock import evidence_of, read_frozen
from harness.workflow.workspace import Workspace

_STEPS = 60


@dataclass(frozen=True)
class Wanted:
    """What an experiment is to find.

    Attributes:
        gain: the true change that is to be found, as a fraction of the measure.
        threshold: what PASS must clear: the claimed gain, or the margin below 0.
        power: how often.
        measure, slice: under which measure, on which questions.
    """

    gain: Decimal
    threshold: Decimal
    power: float
    measure: str
    slice: str


@dataclass(frozen=True)
class Plan:
    """What it takes.

    Attributes:
        n: held-out questions that are there.
        sizes: int64 (n_clusters), by conversation.
        alpha_k, look: error rate and number of the next look.
        deviation: standard deviation of one question's difference, the upper limit from dev.
        seen: dev questions that it was seen on.
        simulated: how often the present questions find the gain, by simulation at the planned correlation.
        rho: that correlation.
        rows: for several correlations, what is found now, what questions and what conversations are needed, and the
            threshold that passes with this power.
    """

    wanted: Wanted
    n: int
    sizes: NDArray[np.int64]
    alpha_k: float
    look: int
    deviation: float
    seen: int
    simulated: float
    rho: float
    rows: Sequence[dict[str, Any]]

    def as_mapping(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "gain": float(self.wanted.gain), "threshold": float(self.wanted.threshold), "power": self.wanted.power,
            "measure": self.wanted.measure, "slice": self.wanted.slice, "n": self.n, "clusters": len(self.sizes),
            "alpha_k": self.alpha_k, "look": self.look, "deviation": self.deviation, "dev_questions": self.seen,
            "simulated_power": self.simulated, "rho_plan": self.rho, "by_correlation": list(self.rows),
        }  # fmt: skip

    def plot(self) -> str:
        """Power against the true change, one curve a correlation, as SVG."""
        threshold = float(self.wanted.threshold)
        farthest = max(2 * (float(self.wanted.gain) - threshold), 1.5 * self.rows[-1]["finds"] - threshold, 0.01)
        beyond = [farthest * step / _STEPS for step in range(_STEPS + 1)]
        curves = [
            Curve(
                f"ρ = {rho:g}", [100 * (threshold + gain) for gain in beyond],
                [power_of(gain, self.deviation, self.sizes, self.alpha_k, rho) for gain in beyond],
                strong=rho == self.rho,
            )
            for rho in CORRELATIONS
        ]  # fmt: skip
        what = f"{self.wanted.measure}, {self.n} questions in {len(self.sizes)} conversations"
        return draw_curves(
            curves, title=f"PASS above {100 * threshold:+.1f} points: {what}", x_label="true change, points",
            y_label="power", lines=[(self.wanted.power, "wanted")], y_limits=(0, 1.02),
        )  # fmt: skip


def plan(workspace: Workspace, frozen_name: str, wanted: Wanted) -> Plan:
    """What it takes to find a change with a frozen candidate; changes nothing.

    Raises:
        UsageProblem: the gain does not exceed the threshold, no such slice, or no dev question has a score.
    """
    if wanted.gain <= wanted.threshold:
        what = f"a true change of {wanted.gain} does not exceed {wanted.threshold}, which PASS must clear"
        raise UsageProblem(what, where="--gain", fix="care about a larger gain, or claim less with --superior")
    document = _document(workspace, frozen_name, wanted)
    evidence, _ = evidence_of(workspace, document)
    clause = document.clauses[0]
    sizes = cluster_sizes(evidence.manifest, clause.measure, clause.slice)
    if len(sizes) < 2:
        known = sorted(evidence.manifest["slices"].get("heldout", {}))
        what = f"no two conversations have a held-out question of the slice {wanted.slice!r} with a score"
        raise UsageProblem(what, where="--slice", allowed=", ".join(known))
    rehearsal = evidence.rehearsal
    planned = plan_of(document, evidence)
    if planned is None or rehearsal is None:
        raise UsageProblem("no dev question has a score under it", where=wanted.measure, fix="choose another measure")
    threshold, rho = float(wanted.threshold), float(document.model.rho_plan)
    beyond = float(wanted.gain) - threshold
    given = (planned.deviation(0), sizes, evidence.alpha_k)
    floor = best_lower_bound(sizes, evidence.alpha_k, rho, document.model.procedure)
    rows = [
        {
            "rho": rho_of_row,
            "finds": threshold + detectable(*given, rho_of_row, wanted.power),
            "threshold": _clearable(float(wanted.gain) - detectable(*given, rho_of_row, wanted.power), floor),
            "questions": questions_needed(beyond, *given, rho_of_row, wanted.power),
            "conversations": clusters_needed(
                beyond, given[0], float(sizes.mean()), evidence.alpha_k, rho_of_row, wanted.power
            ),
        }
        for rho_of_row in CORRELATIONS
    ]
    return Plan(
        wanted, int(sizes.sum()), sizes, evidence.alpha_k, evidence.look, given[0], len(rehearsal.seen(0)),
        planned.power(0, float(wanted.gain)), rho, rows,
    )  # fmt: skip


def _clearable(threshold: float, floor: float) -> float:
    """The threshold, or the floor: a margin that no run without a single loss could clear is no answer."""
    return threshold if threshold >= 0 else min(threshold, floor)


def _document(workspace: Workspace, frozen_name: str, wanted: Wanted) -> Preregistration:
    """The document that would be written: the frozen candidate against the version in force, one primary."""
    from harness.workflow.systems import in_force

    frozen = read_frozen(workspace, frozen_name)
    assert frozen is not None
    library = workspace.benchmark(str(frozen["benchmark"]["name"]))
    force, _ = in_force(workspace.entries(), library.digests["digest"])
    if {key: frozen[key] for key in ("version", "parameters")} == force.identity():
        what = "the frozen candidate is the version in force: nothing would differ"
        raise UsageProblem(what, where=frozen_name, fix="freeze another dev result, and plan with that")
    claim = {"superior": wanted.threshold} if wanted.threshold >= 0 else {"non_inferior": -wanted.threshold}
    written = {
        "format": 1, "id": "plan", "title": TODO, "authors": [TODO], "hypothesis": TODO, "rationale": TODO,
        "benchmark": library.name, "baseline": force.identity(),
        "candidate": {"version": frozen["version"], "parameters": frozen["parameters"], "trials": frozen["trials"]},
        "claim": claim, "primary": {"measure": wanted.measure, "slice": wanted.slice},
    }  # fmt: skip
    return from_mapping(written, "the plan")
