"""100,000 resamples of 1,982 paired differences: ours, scipy.stats, and the loops that a textbook writes.

The sign-flip test stands beside every verdict. The cluster bootstrap is a rival in `bench.calibration`; the harness
itself has none. Both need sums of clusters only, whatever the number of questions; a loop goes over all questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bench.calibration.procedures import bootstrap_means, bootstrap_weights
from bench.speed.timing import Contender, Task
from harness.evaluation.statistics.bounds import pair
from harness.evaluation.statistics.paired_tests import sign_flip

N, DRAWS, LOOPED = 1982, 100_000, 2_000  # a loop is timed on fewer draws, and scaled
CONVERSATIONS = 40
BATCH = 10_000  # draws that scipy holds at once, as ours does
QUANTILE = 0.05

Floats = NDArray[np.float64]


def tasks() -> Iterator[Task]:
    """Sign-flips of single questions and of conversations, and the bootstrap of conversations."""
    for clusters, what in ((N, "single questions"), (CONVERSATIONS, f"{CONVERSATIONS} conversations")):
        yield _task(f"sign-flip test, {what}", clusters, _sign_flips)
    yield _task(f"cluster bootstrap, {CONVERSATIONS} conversations", CONVERSATIONS, _bootstraps)


def _task(title: str, groups: int, contenders: Callable[[Floats, NDArray[np.int64]], list[Contender]]) -> Task:
    random = np.random.default_rng(20)
    clusters = np.sort(np.arange(N) % groups)
    differences = random.choice([-1.0, 0.0, 1.0], size=N, p=[0.05, 0.88, 0.07])
    facts = {"n": N, "clusters": groups, "draws": DRAWS}
    return Task(f"resampling: {title}, n={N:,}, {DRAWS:,} draws", facts, contenders(differences, clusters))


def _sign_flips(differences: Floats, clusters: NDArray[np.int64]) -> list[Contender]:
    sums = pair(differences, clusters).sums

    def ours(_: Any) -> float:
        found = sign_flip(sums, DRAWS, exact_up_to=0)
        assert found is not None
        return found.p

    def by_scipy(_: Any) -> float:
        moved = sums[sums != 0]  # clusters without a sum have no sign
        found = stats.permutation_test(
            (moved,), _total, permutation_type="samples", vectorized=True, n_resamples=DRAWS, batch=BATCH,
            rng=np.random.default_rng(1),
        )  # fmt: skip
        return float(found.pvalue)

    def by_loop(_: Any) -> float:
        random = np.random.default_rng(1)
        observed, reached = abs(differences.mean()), 0
        for _draw in range(LOOPED):
            signs = random.choice([-1.0, 1.0], size=clusters[-1] + 1)
            reached += abs((differences * signs[clusters]).mean()) >= observed - 1e-12
        return float((reached + 1) / (LOOPED + 1))

    def told(p: float) -> str:
        return f"p {p:.4f}"

    return [
        Contender("ours", None, ours, told),
        Contender("scipy.stats", None, by_scipy, told),
        Contender("numpy loop", None, by_loop, told, LOOPED / DRAWS),
    ]


def _bootstraps(differences: Floats, clusters: NDArray[np.int64]) -> list[Contender]:
    sums, sizes = pair(differences, clusters).sums, np.bincount(clusters)

    def draw() -> Floats:
        return bootstrap_weights(len(sizes), DRAWS)  # once for all comparisons of the study that have these clusters

    def ours(weights: Floats) -> float:
        return float(np.quantile(bootstrap_means(sums[None, :], sizes, weights), QUANTILE))

    def by_scipy(_: Any) -> float:
        found = stats.bootstrap(
            (sums, sizes.astype(np.float64)), _ratio, paired=True, vectorized=True, n_resamples=DRAWS, batch=BATCH,
            method="percentile", confidence_level=1 - 2 * QUANTILE, rng=np.random.default_rng(1),
        )  # fmt: skip
        return float(found.confidence_interval.low)

    def by_loop(_: Any) -> float:
        random = np.random.default_rng(1)
        rows = [differences[clusters == number] for number in range(len(sizes))]
        means = [
            np.concatenate([rows[number] for number in random.integers(0, len(rows), len(rows))]).mean()
            for _draw in range(LOOPED)
        ]
        return float(np.quantile(means, QUANTILE))

    def told(bound: float) -> str:
        return f"5 % quantile {100 * bound:.2f} points"

    return [
        Contender("ours (the study's)", draw, ours, told),
        Contender("scipy.stats", None, by_scipy, told),
        Contender("numpy loop", None, by_loop, told, LOOPED / DRAWS),
    ]


def _total(sums: Floats, axis: int = -1) -> Any:
    return sums.sum(axis=axis)


def _ratio(sums: Floats, sizes: Floats, axis: int = -1) -> Any:
    return sums.sum(axis=axis) / sizes.sum(axis=axis)
