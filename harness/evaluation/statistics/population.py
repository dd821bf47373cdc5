"""Draws whole experiments from what dev showed: what may happen on held-out questions if the truth were so and so.

A question's differences under all clauses are drawn together, from those seen on dev in its stratum (its category).
A true mean difference is set, and conversations are made to differ, by one device: exponential tilting, which makes
gains likelier and losses rarer, or the other way round. It invents no difference that nobody has seen, but for one
won and one lost question of half a weight each in all of dev.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from harness.evaluation.statistics.batch import Batch

FloatArray = NDArray[np.float64]

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_MOST_TILT = 60.0
_CELLS = 6_000_000  # probabilities held at once


@dataclass(frozen=True)
class Stratum:
    """Questions that are alike, and the differences that one of them can show.

    Attributes:
        sizes: int64 (n_clusters), held-out questions of this kind in each cluster.
        clauses: indices of the clauses that count them.
        values: float64 (n_atoms, n_clauses), differences under every clause, 0 under those that do not count them.
        chances: float64 (n_atoms), how likely each is; they add up to 1.
    """

    sizes: NDArray[np.int64]
    clauses: tuple[int, ...]
    values: FloatArray
    chances: FloatArray

    @property
    def direction(self) -> FloatArray:
        """What tilting acts on: the mean difference over the clauses that count the question, float64 (n_atoms)."""
        direction: FloatArray = self.values[:, list(self.clauses)].mean(axis=1)
        return direction

    def only(self, clause: int) -> Stratum:
        """The same questions under one clause alone, which then has index 0; equal differences become one atom."""
        values, number = np.unique(self.values[:, [clause]], axis=0, return_inverse=True)
        chances: FloatArray = np.bincount(number.ravel(), weights=self.chances).astype(np.float64)
        return Stratum(self.sizes, (0,), values, chances)

    def tilted(self, by: FloatArray | float) -> FloatArray:
        """Chances tilted by each of ``by``: float64 of its shape, with n_atoms as last dimension."""
        weights = np.exp(np.multiply.outer(np.asarray(by), self.direction)) * self.chances
        tilted: FloatArray = weights / weights.sum(axis=-1, keepdims=True)
        return tilted


def stratum(
    differences: FloatArray, clauses: Sequence[int], sizes: NDArray[np.int64], spread: float = 1.0, unseen: float = 0.5
) -> Stratum:
    """A stratum from dev questions.

    Args:
        differences: float64 (n_questions, n_clauses), seen on dev, NaN where a question has no score.
        clauses: indices of the clauses that count questions of this stratum.
        sizes: int64 (n_clusters), held-out questions of this kind in each cluster.
        spread: factor, at least 1, by which questions that differ are made more frequent: dev is a small sample.
        unseen: weight, in questions, of one won and of one lost question that dev need not have shown.
    """
    unit = np.zeros(differences.shape[1])
    unit[list(clauses)] = 1.0
    scored = differences[~np.isnan(differences[:, list(clauses)]).all(axis=1)]
    seen = np.nan_to_num(scored) * unit
    values, number = np.unique(np.vstack([seen, unit, -unit, 0 * unit]).round(12), axis=0, return_inverse=True)
    weights = np.bincount(number.ravel()[: len(seen)], minlength=len(values)).astype(np.float64)
    moving = np.abs(values).sum(axis=1) > 0
    share = weights[moving].sum() / max(len(seen), 1)
    if share > 0:
        more = min(spread, 1 / share)
        weights[moving] *= more
        weights[~moving] *= (1 - share * more) / (1 - share) if share < 1 else 1.0
    for row in (unit, -unit):
        weights[(values == row).all(axis=1)] += unseen
    return Stratum(sizes, tuple(clauses), values, weights / weights.sum())


@dataclass(frozen=True)
class _Drawn:
    """Sums float64 (n_experiments, n_clusters, n_clauses); gains and losses float64 (n_experiments, n_clauses)."""

    sums: FloatArray
    gains: FloatArray
    losses: FloatArray


@dataclass(frozen=True)
class Population:
    """Strata with the tilts that give a true mean difference and a correlation.

    Attributes:
        strata: what is drawn from, all over the same clusters.
        shift: tilt of all questions alike.
        swing: how strongly an effect of the cluster, standard normal, tilts all of its questions.
    """

    strata: tuple[Stratum, ...]
    shift: float = 0.0
    swing: float = 0.0

    def moments(self, clause: int) -> tuple[float, float, float]:
        """Mean difference under a clause, its variance among clusters, and among questions, clusters included."""
        counted = [part for part in self.strata if clause in part.clauses]
        shares = np.array([part.sizes.sum() for part in counted], dtype=np.float64)
        shares /= shares.sum()
        tilted = [part.tilted(self.shift + self.swing * _NODES) for part in counted]
        means = sum(w * (c @ part.values[:, clause]) for w, c, part in zip(shares, tilted, counted, strict=True))
        squares = sum(w * (c @ part.values[:, clause] ** 2) for w, c, part in zip(shares, tilted, counted, strict=True))
        mean = float(_WEIGHTS @ means)
        return mean, float(_WEIGHTS @ means**2) - mean**2, float(_WEIGHTS @ squares) - mean**2

    def draw(self, count: int, random: np.random.Generator) -> list[Batch]:
        """Draw ``count`` experiments: one batch a clause, over the clusters in which it counts a question."""
        n_clauses, groups = self.strata[0].values.shape[1], len(self.strata[0].sizes)
        effects = random.standard_normal((count, groups))
        sums = np.zeros((n_clauses, count, groups))
        gains, losses = np.zeros((2, n_clauses, count))
        sizes = np.zeros((n_clauses, groups), dtype=np.int64)
        for part in self.strata:
            sizes[list(part.clauses)] += part.sizes
            here = np.flatnonzero(part.sizes)
            step = max(1, _CELLS // (max(1, len(here)) * len(part.chances)))
            for first in range(0, count, step):
                rows = slice(first, first + step)
                drawn = self._draw(part, part.sizes[here], effects[rows][:, here], random)
                sums[:, rows, here] += np.moveaxis(drawn.sums, 2, 0)
                gains[:, rows] += drawn.gains.T
                losses[:, rows] += drawn.losses.T
        present = sizes > 0
        return [Batch(sizes[c][present[c]], sums[c][:, present[c]], gains[c], losses[c]) for c in range(n_clauses)]

    def _draw(
        self, part: Stratum, sizes: NDArray[np.int64], effects: FloatArray, random: np.random.Generator
    ) -> _Drawn:
        """Differences of one stratum's questions, by cluster."""
        up, down = np.clip(part.values, 0, None), np.clip(-part.values, 0, None)
        if self.swing == 0 and sizes.max(initial=0) <= 1:
            # single questions have no cluster to share, so that each is one pick of the same atoms
            picked = random.choice(len(part.chances), size=effects.shape, p=part.tilted(self.shift))
            return _Drawn(part.values[picked], up[picked].sum(axis=1), down[picked].sum(axis=1))
        chances = part.tilted(self.shift + self.swing * effects)
        counts = random.multinomial(np.broadcast_to(sizes, chances.shape[:-1]), chances)
        totals = counts.sum(axis=1)
        return _Drawn(counts @ part.values, totals @ up, totals @ down)


def population(strata: Sequence[Stratum], rho: float, clause: int, mean: float) -> Population:
    """A population whose mean difference under one clause is ``mean``, or as near to it as these questions come.

    Args:
        strata: what dev showed, all over the same clusters.
        rho: within-cluster correlation of the differences under the clause.
        clause: index of the clause.
        mean: its true mean difference.
    """
    found = Population(tuple(strata))
    clustered = rho > 0 and max(part.sizes.max() for part in strata) > 1
    for _ in range(3):  # the shift changes how strongly clusters must swing, and the other way round, a little
        found = _shifted(found, clause, mean)
        if not clustered:
            return found
        found = _swung(found, clause, rho)
    return _shifted(found, clause, mean)


def _shifted(found: Population, clause: int, mean: float) -> Population:
    shift = _halve(-_MOST_TILT, lambda value: replace(found, shift=value).moments(clause)[0] < mean)
    return replace(found, shift=shift)


def _swung(found: Population, clause: int, rho: float) -> Population:
    def is_below(value: float) -> bool:
        _, among, whole = replace(found, swing=value).moments(clause)
        return among < rho * whole

    return replace(found, swing=_halve(0.0, is_below))


def _halve(low: float, is_below: Callable[[float], bool]) -> float:
    high = _MOST_TILT
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
