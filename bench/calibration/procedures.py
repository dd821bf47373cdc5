"""The procedures that can decide, and their rivals: does the lower bound lie above a threshold?

Every rival is a function of (batch, threshold, alpha, rho_plan), and answers bool (n_comparisons).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from harness.evaluation.statistics import bounds
from harness.evaluation.statistics.batch import Batch, lies_above

Decisions = NDArray[np.bool_]
Procedure = Callable[[Batch, float, float, float], Decisions]

RESAMPLES = 999


def tango(batch: Batch, threshold: float, alpha: float, rho: float) -> Decisions:
    """Tango's score bound on counts divided by the design effect at ``rho``."""
    design = bounds.design_effect(batch.sizes, rho)
    scores = bounds.tango_statistics(batch.gains / design, batch.losses / design, batch.n / design, threshold)
    return np.asarray(scores > float(ndtri(1 - alpha)))


def plain_tango(batch: Batch, threshold: float, alpha: float, rho: float) -> Decisions:  # noqa: ARG001
    """Tango's score bound as published: every question counts as independent."""
    return tango(batch, threshold, alpha, 0.0)


def cluster_t(batch: Batch, threshold: float, alpha: float, rho: float) -> Decisions:  # noqa: ARG001
    """Cluster-robust t with the G/(G - 1) correction and G - 1 degrees of freedom."""
    quantile = float(stdtrit(len(batch.sizes) - 1, 1 - alpha))
    return np.asarray(batch.estimates - quantile * batch.cluster_errors() > threshold)


def cluster_t_cr2(batch: Batch, threshold: float, alpha: float, rho: float) -> Decisions:  # noqa: ARG001
    """Cluster-robust t with the CR2 correction and degrees of freedom of Bell & McCaffrey (2002)."""
    shares = batch.sizes / batch.n
    residuals = batch.sums - batch.sizes * batch.estimates[:, None]
    errors = np.sqrt((residuals**2 / (1 - shares)).sum(axis=1)) / batch.n
    # the variance estimate is a quadratic form in independent cluster sums, of variance n_g each under the null
    columns = (np.diag(np.ones(len(shares))) - shares[:, None]) * np.sqrt(batch.sizes)[None, :]
    form = columns.T @ np.diag(1 / (1 - shares)) @ columns
    freedom = float(np.trace(form) ** 2 / np.trace(form @ form))
    return np.asarray(batch.estimates - float(stdtrit(freedom, 1 - alpha)) * errors > threshold)


def sign_flip(batch: Batch, threshold: float, alpha: float, rho: float) -> Decisions:  # noqa: ARG001
    """Signs of the cluster sums around the threshold flipped: all ways up to ten clusters, else 999 drawn ones."""
    distances = batch.sums - batch.sizes * threshold
    signs = _signs(len(batch.sizes))
    observed = distances.sum(axis=1)
    reached = (distances @ signs >= observed[:, None] - 1e-9).sum(axis=1)
    drawn = len(batch.sizes) > 10
    return np.asarray((reached + drawn) / (signs.shape[1] + drawn) <= alpha)


@cache
def _signs(clusters: int) -> NDArray[np.float64]:
    if clusters > 10:
        return np.random.default_rng(1).choice([-1.0, 1.0], size=(clusters, RESAMPLES))
    return np.array([[1.0 if number >> bit & 1 else -1.0 for number in range(2**clusters)] for bit in range(clusters)])


def cluster_bootstrap(batch: Batch, threshold: float, alpha: float, rho: float) -> Decisions:  # noqa: ARG001
    """Clusters drawn with replacement 999 times; the α-quantile of the means (Efron's percentile bound)."""
    means = bootstrap_means(batch.sums, batch.sizes, _weights(len(batch.sizes)))
    return np.asarray((means <= threshold).mean(axis=1) < alpha)


def bootstrap_means(
    sums: NDArray[np.float64], sizes: NDArray[np.int64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Means of every resample, float64 (n_comparisons, n_resamples), from how often it holds each cluster."""
    means: NDArray[np.float64] = (sums @ weights) / (sizes @ weights)
    return means


def bootstrap_weights(clusters: int, resamples: int) -> NDArray[np.float64]:
    """How often each cluster is drawn in each resample, float64 (n_clusters, n_resamples)."""
    chances = np.full(clusters, 1 / clusters)
    return np.random.default_rng(2).multinomial(clusters, chances, size=resamples).T.astype(np.float64)


@cache
def _weights(clusters: int) -> NDArray[np.float64]:
    return bootstrap_weights(clusters, RESAMPLES)


PROCEDURES: Mapping[str, Procedure] = {
    **{name: partial(lies_above, procedure=name) for name in bounds.CORRECTIONS},
    "cluster-t": cluster_t,
    "cluster-t, CR2": cluster_t_cr2,
    "Tango, effective counts": tango,
    "Tango": plain_tango,
    "sign-flip by cluster": sign_flip,
    "cluster bootstrap": cluster_bootstrap,
}


SLOW = ("sign-flip by cluster", "cluster bootstrap")
"""Rivals that are held against the first error rate only."""


def is_testable(sizes: NDArray[np.int64]) -> bool:
    """Whether the product would answer at all."""
    return bool(sizes.sum() ** 2 / (sizes**2).sum() >= bounds.MIN_EFFECTIVE_CLUSTERS)
