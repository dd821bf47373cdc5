"""Correlation within clusters, single clusters, and losses that nobody saw."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.api import OLS

from harness.evaluation.statistics.bounds import cluster_error, pair
from harness.evaluation.statistics.clustering import measured_correlation, most_losses_unseen, without_each_cluster

# four judges on each of six targets (Shrout & Fleiss 1979, table 2), in tenths
SHROUT_FLEISS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]) / 10


def test_published_correlation():
    """The published one-way intraclass correlation of Shrout and Fleiss's ratings is .17."""
    found = measured_correlation(pair(SHROUT_FLEISS.ravel(), np.repeat(np.arange(6), 4)))
    assert found == pytest.approx(0.17, abs=0.005)


def test_correlation_of_drawn_clusters_is_found():
    """Clusters that were drawn with a correlation of .2 measure about .2, uneven as they are."""
    random = np.random.default_rng(7)
    sizes = random.integers(5, 60, 400)
    effects = np.repeat(random.normal(0, math.sqrt(0.2 * 0.01), 400), sizes)
    values = effects + random.normal(0, math.sqrt(0.8 * 0.01), sizes.sum())
    found = measured_correlation(pair(values, np.repeat(np.arange(400), sizes)))
    assert found == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize(
    ("values", "clusters"),
    [([0.5, 0.0, 1.0], [0, 0, 0]), ([0.5, 0.0, 1.0], [0, 1, 2]), ([0.0] * 6, [0, 0, 1, 1, 2, 2]), ([1.0], [0])],
)
def test_correlation_that_cannot_be_told(values, clusters):
    """One cluster, one question in each, or no variation at all: there is no number, and no NaN."""
    assert measured_correlation(pair(np.array(values), np.array(clusters))) is None


@given(st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), st.integers(0, 5)), min_size=4, max_size=50))
def test_cluster_error_is_that_of_a_regression_on_a_constant(values):
    """Statsmodels' cluster-robust standard error of the mean is ours."""
    differences, clusters = np.array([d for d, _ in values]), np.array([g for _, g in values])
    if len(set(clusters.tolist())) < 2:
        return
    fitted = OLS(differences, np.ones(len(differences))).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    assert cluster_error(pair(differences, clusters)) == pytest.approx(float(fitted.bse[0]), abs=1e-9)


def test_means_without_each_cluster_by_hand():
    """Each mean is over the questions of the other clusters, in the order of the clusters."""
    paired = pair(np.array([1.0, 1.0, 0.0, -1.0, 0.0, 0.0]), np.array([0, 0, 1, 1, 2, 2]))
    assert without_each_cluster(paired).tolist() == pytest.approx([-0.25, 0.5, 0.25])


def test_without_the_only_cluster_nothing_is_left():
    """A single cluster leaves no mean, which is marked and raises nothing."""
    assert np.isnan(without_each_cluster(pair(np.array([1.0, 0.0]), np.array([0, 0])))).all()


@pytest.mark.parametrize(("n", "most"), [(100, 0.0295), (30, 0.095), (1, 0.95)])
def test_rule_of_three(n, most):
    """No loss in n leaves up to about 3/n unseen (Hanley & Lippman-Hand 1983), exactly 1 - .05^(1/n)."""
    found = most_losses_unseen(n, 0.05)
    assert found == pytest.approx(most, abs=6e-4)
    assert (1 - found) ** n == pytest.approx(0.05)
