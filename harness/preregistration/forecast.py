"""What the one run may say, before it is made: simulated from what dev showed, on the real sizes of the held-out set.

The rule of `harness.preregistration.rule` is applied to drawn experiments. Correlation within conversations is as
high as the document plans for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from harness.evaluation.measure import Measure
from harness.evaluation.statistics.batch import Batch, lies_above, lies_below
from harness.evaluation.statistics.bounds import POWER
from harness.evaluation.statistics.planning import detectable, shrunk, standard_error, upper_limit
from harness.evaluation.statistics.population import Population, Stratum, population, stratum
from harness.preregistration.document import Clause, Preregistration
from harness.preregistration.evidence import Evidence, Rehearsal, cluster_sizes, slice_sizes

LEVEL = 0.8
"""Coverage that a predicted interval is meant to have."""

_SEED = 20260101
_COUNT, _LEAST_COUNT, _SEARCH_COUNT, _CELLS = 4000, 500, 1000, 20_000_000
_NODES = (0.1, 0.3, 0.5, 0.7, 0.9)  # the middles of five equally likely fifths
_FEWEST = 5  # dev questions of a category below which all of dev stands for it


@dataclass(frozen=True)
class Scenario:
    """What the run would say if one truth held.

    Attributes:
        name: the truth in words.
        clause: index of the clause that it is about.
        difference: the true mean difference under that clause, as a fraction of the measure.
        passes, rollbacks: how often the verdict is PASS and ROLLBACK; otherwise it is INCONCLUSIVE.
    """

    name: str
    clause: int
    difference: float
    passes: float
    rollbacks: float

    @property
    def undecided(self) -> float:
        """How often the verdict is INCONCLUSIVE."""
        return max(0.0, 1.0 - self.passes - self.rollbacks)


@dataclass(frozen=True)
class Forecast:
    """What may come of a document's run.

    Attributes:
        gain: dev gain under the first primary, shrunk for the trials that it was picked from.
        low, high: where the held-out estimate should lie, with probability `LEVEL`.
        hoped: the verdicts if the gain is the middle of what the authors expect, or else ``gain``.
        hopeful: the verdicts if it is the most that they expect, or else the most that dev leaves plausible.
        likely: the verdicts over all gains that dev leaves plausible.
        scenarios: the verdicts at named truths.
        boundary: for every clause, how often it holds if its true difference is exactly its threshold.
        deviations: for every clause, standard deviation of one question's difference, as it is planned with.
        detectable: for every clause, the true difference with which it holds with 80 % power, by simulation; None
            if none up to 1 does.
        count: experiments drawn for each.
    """

    gain: float
    low: float
    high: float
    hoped: Scenario
    hopeful: Scenario
    likely: Scenario
    scenarios: tuple[Scenario, ...]
    boundary: tuple[float, ...]
    deviations: tuple[float, ...]
    detectable: tuple[float | None, ...]
    count: int

    def as_mapping(self) -> dict[str, Any]:
        """What a lock records of it: the predictions that are scored after the run."""
        return {
            "gain": self.gain, "low": self.low, "high": self.high, "level": LEVEL, "pass": self.likely.passes,
            "rollback": self.likely.rollbacks, "inconclusive": self.likely.undecided,
        }  # fmt: skip


def forecast(document: Preregistration, evidence: Evidence) -> Forecast | None:
    """Simulate the run of a document; None without dev results, or where some clause cannot be tested or measured."""
    plan, rehearsal = plan_of(document, evidence), evidence.rehearsal
    if plan is None or rehearsal is None:
        return None
    sizes = [cluster_sizes(evidence.manifest, clause.measure, clause.slice) for clause in document.clauses]
    deviations = tuple(plan.deviation(index) for index in range(len(sizes)))
    rho = float(document.model.rho_plan)
    reachable = tuple(
        plan.detectable(index, detectable(deviations[index], found, evidence.alpha_k, rho))
        for index, found in enumerate(sizes)
    )
    seen, dev_sizes = rehearsal.seen(0), rehearsal.sizes(0)
    dev_error = standard_error(deviations[0], dev_sizes, rho)
    gain = shrunk(float(seen.mean()), dev_error, document.model.candidate.trials or 1)
    half = float(ndtri((1 + LEVEL) / 2)) * math.hypot(dev_error, standard_error(deviations[0], sizes[0], rho))
    fifths = [plan.scenario("", 0, gain + float(ndtri(share)) * dev_error) for share in _NODES]
    likely = Scenario(
        "what dev leaves plausible", 0, gain,
        float(np.mean([item.passes for item in fifths])), float(np.mean([item.rollbacks for item in fifths])),
    )  # fmt: skip
    expect = document.model.expect
    hoped = plan.scenario("what is hoped for", 0, float(expect.low + expect.high) / 2 if expect else gain)
    hopeful = plan.scenario("the most that is hoped for", 0, float(expect.high)) if expect else fifths[-1]
    return Forecast(
        gain, gain - half, gain + half, hoped, hopeful, likely, tuple(_scenarios(document, plan, gain, reachable[0])),
        tuple(plan.boundary(index) for index in range(len(sizes))), deviations, reachable, plan.count,
    )  # fmt: skip


def plan_of(document: Preregistration, evidence: Evidence) -> Plan | None:
    """What can be simulated of a document, before its forecast; None as for `forecast`."""
    rehearsal = evidence.rehearsal
    if rehearsal is None or not len(rehearsal.seen(0)):
        return None
    if any(len(cluster_sizes(evidence.manifest, c.measure, c.slice)) < 2 for c in document.clauses):
        return None
    parts = _strata(document, evidence, rehearsal)
    return Plan(document, evidence.alpha_k, parts, _count(parts))


def _scenarios(document: Preregistration, plan: Plan, gain: float, reachable: float | None) -> list[Scenario]:
    found = [
        plan.scenario("no change under the first primary", 0, 0.0),
        plan.scenario("the dev gain, shrunk", 0, gain),
    ]
    if reachable is not None:
        found.append(plan.scenario("what the first primary finds with 80 % power", 0, reachable))
    for index, clause in enumerate(document.clauses):
        if clause.pass_above < 0:
            name = f"the margin of the {clause.kind} lost, {clause.slice}"
            found.append(plan.scenario(name, index, float(clause.pass_above)))
    return found


@dataclass(frozen=True)
class Plan:
    """A document's rule over drawn experiments."""

    document: Preregistration
    alpha_k: float
    strata: Sequence[Stratum]
    count: int

    def _population(self, clause: int, difference: float) -> Population:
        return population(self.strata, float(self.document.model.rho_plan), clause, difference)

    def deviation(self, clause: int) -> float:
        """Standard deviation of one question's difference under a clause, as it is planned with."""
        _, _, variance = Population(tuple(self.strata)).moments(clause)
        return math.sqrt(max(0.0, variance))

    def scenario(self, name: str, clause: int, difference: float) -> Scenario:
        """The verdicts if the true difference under a clause is ``difference``, or as near to it as can be."""
        truth = self._population(clause, difference)
        batches = truth.draw(self.count, np.random.default_rng(_SEED))
        passes, rollbacks = self._verdicts(batches)
        return Scenario(name, clause, truth.moments(clause)[0], float(passes.mean()), float(rollbacks.mean()))

    def boundary(self, clause: int) -> float:
        """How often a clause holds by itself at its threshold."""
        return self.power(clause, float(self.document.clauses[clause].pass_above), self.count)

    def detectable(self, clause: int, guess: float) -> float | None:
        """The smallest true difference with which a clause holds by itself with 80 % power, to a hundredth of it."""
        low = float(self.document.clauses[clause].pass_above)
        high = min(0.99, low + 3 * guess)
        if self.power(clause, high, _SEARCH_COUNT) < POWER:
            return None
        for _ in range(9):
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(clause, middle, _SEARCH_COUNT) >= POWER else (middle, high)
        return high

    def power(self, clause: int, difference: float, count: int = _COUNT) -> float:
        """How often a clause holds by itself if its true difference is ``difference``."""
        counted = [part.only(clause) for part in self.strata if clause in part.clauses]
        truth = population(counted, float(self.document.model.rho_plan), 0, difference)
        (drawn,) = truth.draw(min(count, self.count), np.random.default_rng(_SEED))
        return float(self._holds(self.document.clauses[clause], drawn).mean())

    def _verdicts(self, batches: Sequence[Batch]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        clauses = self.document.clauses
        passes = np.logical_and.reduce([self._holds(c, batch) for c, batch in zip(clauses, batches, strict=True)])
        falls = np.logical_or.reduce([self._falls(c, batch) for c, batch in zip(clauses, batches, strict=True)])
        return passes, falls & ~passes

    def _holds(self, clause: Clause, batch: Batch) -> NDArray[np.bool_]:
        written = self.document.model
        if written.decide_on == "estimate":
            return np.asarray(batch.estimates > float(clause.pass_above))
        return lies_above(batch, float(clause.pass_above), self.alpha_k, float(written.rho_plan), written.procedure)

    def _falls(self, clause: Clause, batch: Batch) -> NDArray[np.bool_]:
        written, line = self.document.model, float(clause.rollback_below)
        if written.decide_on == "estimate":
            return np.asarray(batch.estimates < line)
        share = self.alpha_k / len(self.document.clauses)
        return lies_below(batch, line, share, float(written.rho_plan), written.procedure)


def _count(parts: Sequence[Stratum]) -> int:
    """As many experiments as can be drawn while a person waits."""
    cells = sum(len(part.sizes) * len(part.chances) for part in parts)
    return max(_LEAST_COUNT, min(_COUNT, _CELLS // cells))


def _strata(document: Preregistration, evidence: Evidence, rehearsal: Rehearsal) -> list[Stratum]:
    """The held-out questions in kinds that the clauses tell apart, each with what dev showed of that kind."""
    manifest, clauses = evidence.manifest, document.clauses
    clusters = list(manifest["slices"]["heldout"]["all"])
    categories = set(rehearsal.categories)
    apart = {clause.slice for clause in clauses} & categories
    if any(clause.measure.adversarial == "out" for clause in clauses):
        apart |= {"adversarial"} & categories
    spread = upper_limit(1.0, max(2, len(rehearsal.seen(0)))) ** 2
    everything = [index for index, clause in enumerate(clauses) if clause.slice == "all"]

    def part(members: Sequence[bool], counted: Sequence[int], sizes: NDArray[np.int64]) -> Stratum:
        chosen = np.array(members, dtype=bool)
        if chosen.sum() < _FEWEST:
            chosen = np.ones(len(chosen), dtype=bool)
        # half a question of all dev, shared out: small kinds would otherwise be thought to lose more
        unseen = 0.5 * float(chosen.mean())
        return stratum(rehearsal.deltas[chosen], counted, sizes, spread, unseen)

    found, rest = [], None
    if everything:
        rest = _sizes(manifest, clauses[everything[0]].measure, "all", clusters)
    for name in sorted(apart):
        counted = [i for i, clause in enumerate(clauses) if _counts(clause, name)]
        if not counted:
            continue
        sizes = _sizes(manifest, clauses[counted[0]].measure, name, clusters)
        if rest is not None and not set(everything).isdisjoint(counted):
            rest = np.maximum(rest - sizes, 0)
        found.append(part([category == name for category in rehearsal.categories], counted, sizes))
    if rest is not None and rest.sum():
        found.append(part([category not in apart for category in rehearsal.categories], everything, rest))
    for index, clause in enumerate(clauses):
        if clause.slice not in categories | {"all"}:  # a flag, which lies across the categories
            sizes = _sizes(manifest, clause.measure, clause.slice, clusters)
            found.append(part([clause.slice in flags for flags in rehearsal.flags], [index], sizes))
    return found


def _counts(clause: Clause, category: str) -> bool:
    if category == "adversarial" and clause.measure.adversarial == "out":
        return False
    return clause.slice in ("all", category)


def _sizes(manifest: Any, measure: Measure, name: str, clusters: Sequence[str]) -> NDArray[np.int64]:
    found = slice_sizes(manifest, measure, name) or {}
    return np.array([found.get(cluster, 0) for cluster in clusters], dtype=np.int64)
