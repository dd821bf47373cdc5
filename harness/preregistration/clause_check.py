"""Can one clause be decided: is there enough to test, can it be cleared, can it ever bind, what would it find?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.errors import did_you_mean
from harness.evaluation.reach import TIES, Reach
from harness.evaluation.statistics.bounds import MIN_EFFECTIVE_CLUSTERS, Paired, best_lower_bound, lower_bound
from harness.evaluation.statistics.planning import detectable
from harness.preregistration.document import Clause, Preregistration
from harness.preregistration.evidence import FINE, NOTED, REFUSED, Evidence, Finding, cluster_sizes
from harness.preregistration.forecast import Forecast
from harness.preregistration.rule import TOLERANCE

CORRELATIONS = (0.0, 0.01, 0.02)
"""Within-conversation correlations for which detectable gains are shown; dev cannot tell which is true."""


def check_clauses(document: Preregistration, evidence: Evidence, planned: Forecast | None) -> list[Finding]:
    """Every finding on single clauses, in document order."""
    found: list[Finding] = []
    for index in range(len(document.clauses)):
        found += _Clause(document, index, evidence, planned).findings()
    return found


def subject_of(clause: Clause) -> str:
    """What a finding on a clause is about."""
    return f"{clause.kind} {clause.measure} in {clause.slice}"


def counted(number: int, name: str) -> str:
    """``9 clusters``, ``1 cluster``."""
    return f"{number} {name}{'' if number == 1 else 's'}"


def points(value: float, digits: int = 1) -> str:
    """A difference in signed points."""
    return f"{round(100 * value, digits) + 0.0:+.{digits}f}"


@dataclass(frozen=True)
class _Clause:
    """One clause of a document, with everything that is known about it."""

    document: Preregistration
    index: int
    evidence: Evidence
    planned: Forecast | None

    @property
    def clause(self) -> Clause:
        return self.document.clauses[self.index]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return cluster_sizes(self.evidence.manifest, self.clause.measure, self.clause.slice)

    @property
    def rho(self) -> float:
        return float(self.document.model.rho_plan)

    def say(self, kind: str, says: str, fix: str = "", *, may_acknowledge: bool = False) -> Finding:
        return Finding(kind, subject_of(self.clause), says, fix, may_acknowledge)

    def findings(self) -> list[Finding]:
        clause, sizes = self.clause, self.sizes
        if not len(sizes):
            known = sorted(self.evidence.manifest["slices"].get("heldout", {}))
            says = f"no held-out question of a slice {clause.slice!r} has a score; slices: {', '.join(known)}"
            why = "none of its questions has evidence that this measure counts" if clause.slice in known else ""
            return [self.say(REFUSED, says, why or did_you_mean(clause.slice, known))]
        n = int(sizes.sum())
        effective = float(n**2 / (sizes**2).sum())
        if effective < MIN_EFFECTIVE_CLUSTERS and self.document.model.decide_on == "bounds":
            says = (
                f"{n} questions in {counted(len(sizes), 'cluster')} count as {effective:.1f} equal clusters; "
                f"below {MIN_EFFECTIVE_CLUSTERS:g} nothing can be tested"
            )
            return [self.say(REFUSED, says, "choose a slice that more conversations have")]
        size = f"{n} questions in {len(sizes)} clusters"
        one = f"one question is {100 / n:.2f} points"
        dead = self._dead()
        if self.document.model.decide_on == "estimate":
            return [*dead, self.say(FINE, f"{size}; decided on the estimate alone; {one}")]
        best, story = self._best()
        if best <= float(clause.pass_above) + TOLERANCE:
            says = (
                f"PASS is unreachable: {story} the lower bound on {n} questions would be "
                f"{points(best)} points, and {points(float(clause.pass_above))} must be cleared"
            )
            return [*dead, self.say(REFUSED, says, self._attainable(best), may_acknowledge=True)]
        beyond = self._beyond_reach()
        if beyond:
            return [*dead, *beyond]
        against = f"{points(best)} points against {points(float(clause.pass_above))}"
        fine = self.say(FINE, f"{size}; {story} the lower bound would be {against}; {one}")
        return [*dead, fine, *self._finds(), *self._boundary()]

    def _best(self) -> tuple[float, str]:
        alpha, procedure = self.evidence.alpha_k, self.document.model.procedure
        if self.clause.pass_above >= 0:
            return lower_bound(_won(self.sizes, 1.0), alpha, self.rho, procedure), "with every question won"
        return best_lower_bound(self.sizes, alpha, self.rho, procedure), "without a single loss"

    def _attainable(self, best: float) -> str:
        # rounded to the safe side, so that the figure given is one that is accepted
        gain, drop = math.floor(1000 * best - 1e-3) / 1000, math.ceil(1e-3 - 1000 * best) / 1000
        if self.clause.pass_above >= 0 and gain > 0:
            return f"claim a gain of {gain:.3f} or less, or choose a larger slice"
        if self.clause.pass_above < 0 and drop < 1:
            return f"tolerate {drop:.3f}, or choose a larger slice"
        return "choose a larger slice"

    def _beyond_reach(self) -> list[Finding]:
        """A gain that the lever does not have: what an oracle would reach, against what must be seen."""
        reach = self.evidence.rehearsal.reach[self.index] if self.evidence.rehearsal else None
        if reach is None or self.clause.pass_above < 0:
            return []
        needed = self._least_gain()
        if reach.gain >= needed:
            return []
        says = (
            f"PASS is out of reach: {lever_words(reach)} would gain {points(reach.gain, 2)} points on dev "
            f"({moved_words(reach)}), and a held-out gain of {points(needed, 2)} points without a "
            f"single loss is the least that could clear {points(float(self.clause.pass_above))}"
        )
        fix = "claim non_inferior: the largest loss that you would tolerate"
        if reach.lever != TIES:
            fix = "claim less, or another measure"
        return [self.say(REFUSED, says, fix, may_acknowledge=True)]

    def _least_gain(self) -> float:
        """The smallest gain that clears the threshold if nothing is lost and all conversations gain alike."""
        low, high = 0.0, 1.0
        alpha, procedure, threshold = self.evidence.alpha_k, self.document.model.procedure, self.clause.pass_above
        for _ in range(40):
            middle = (low + high) / 2
            cleared = lower_bound(_won(self.sizes, middle), alpha, self.rho, procedure) > float(threshold)
            low, high = (low, middle) if cleared else (middle, high)
        return high

    def _dead(self) -> list[Finding]:
        """What can never decide anything: a loss larger than all there is to lose, a guard that the claim implies."""
        found = []
        clause = self.clause
        baseline = self.evidence.rehearsal.baseline[self.index] if self.evidence.rehearsal else None
        if baseline is not None and clause.pass_above < 0 and -float(clause.pass_above) >= baseline:
            says = (
                f"it can never fall: the baseline has {100 * baseline:.1f} points on dev, and "
                f"{100 * -float(clause.pass_above):.1f} may be lost"
            )
            found.append(self.say(REFUSED, says, "tolerate a loss that can happen", may_acknowledge=True))
        elif baseline is not None and -float(clause.rollback_below) >= baseline:
            says = f"ROLLBACK can never be reached: the baseline has {100 * baseline:.1f} points on dev to lose"
            found.append(self.say(NOTED, says))
        if baseline is not None and clause.pass_above > 0 and float(clause.pass_above) >= 1 - baseline:
            says = f"PASS asks for more than is missing: the baseline has {100 * baseline:.1f} points of 100 on dev"
            found.append(self.say(REFUSED, says, "claim less", may_acknowledge=True))
        for other in self.document.clauses[: self.index]:
            if (other.measure, other.slice) == (clause.measure, clause.slice) and clause.kind == "guard":
                says = f"it can never decide a PASS: the {other.kind} on the same questions asks for as much or more"
                if other.pass_above >= clause.pass_above:
                    found.append(self.say(NOTED, says))
        return found

    def _finds(self) -> list[Finding]:
        """What true difference the clause finds, for several correlations."""
        if self.planned is None:
            return []
        deviation, alpha = self.planned.deviations[self.index], self.evidence.alpha_k
        above = float(self.clause.pass_above)
        needs = self.planned.detectable[self.index]
        others = ", ".join(
            f"{points(above + detectable(deviation, self.sizes, alpha, rho))} at {rho:g}"
            for rho in sorted({*CORRELATIONS, self.rho})
        )
        found = f"if the true change is {points(needs)} points or more" if needs is not None else "with no true change"
        says = (
            f"holds with 80 % power {found}, simulated at ρ = {self.rho:g}; by the formula {others}; one question "
            f"varies by σ = {deviation:.2f}, the upper limit from dev"
        )
        return [self.say(FINE, says)]

    def _boundary(self) -> list[Finding]:
        """How often the clause holds though the truth is exactly its threshold; that must not exceed the error rate."""
        if self.planned is None:
            return []
        rate, alpha, count = self.planned.boundary[self.index], self.evidence.alpha_k, self.planned.count
        says = (
            f"with a true change of exactly {points(float(self.clause.pass_above))} points it holds in "
            f"{100 * rate:.1f} % of {count} simulated runs; {100 * alpha:.3g} % are allowed"
        )
        # three Monte-Carlo errors: the clauses of a document are many, and their rates are held against it one by one
        if rate <= alpha + 3 * math.sqrt(alpha * (1 - alpha) / count):
            return [self.say(FINE, says)]
        return [self.say(REFUSED, says, "choose a larger slice, or a higher rho_plan", may_acknowledge=True)]


def lever_words(reach: Reach) -> str:
    """What an oracle would do with a lever."""
    if reach.lever == TIES:
        return "the best order of all exact ties"
    return f"the best order of the first {reach.depth} documents"


def moved_words(reach: Reach) -> str:
    """How many questions a lever touches."""
    verb = "depends" if reach.moved == 1 else "depend"
    return f"{reach.moved} of {reach.n} questions {f'{verb} on it' if reach.lever == TIES else 'could be better'}"


def _won(sizes: NDArray[np.int64], share: float) -> Paired:
    """A comparison in which the same share of questions is won in every cluster, and none is lost."""
    n = int(sizes.sum())
    won = share * n
    sums: NDArray[np.float64] = sizes * np.float64(share)
    return Paired(n, sizes, sums, won, 0.0, round(won), 0, n - round(won), 0.0)
