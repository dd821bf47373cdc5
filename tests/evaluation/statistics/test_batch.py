"""Many comparisons at once decide as each of them by itself."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.evaluation.statistics.batch import Batch, lies_above, lies_below
from harness.evaluation.statistics.bounds import CORRECTIONS, cluster_error, lower_bound, pair, upper_bound

STEPS = np.array([-1.0, -0.5, 0.0, 0.0, 0.0, 0.0, 1 / 3, 1.0])


def drawn(sizes: list[int], seed: int, count: int = 5) -> tuple[Batch, list[np.ndarray], np.ndarray]:
    """A batch of random comparisons, the differences of each, and their clusters."""
    random = np.random.default_rng(seed)
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    rows = [random.choice(STEPS, len(clusters)) for _ in range(count)]
    pairs = [pair(row, clusters) for row in rows]
    batch = Batch(
        np.array(sizes), np.array([p.sums for p in pairs]), np.array([p.gains for p in pairs]),
        np.array([p.losses for p in pairs]),
    )  # fmt: skip
    return batch, rows, clusters


@given(
    st.lists(st.integers(1, 30), min_size=5, max_size=9), st.integers(0, 10**6), st.sampled_from([0.2, 0.03, 0.0076]),
    st.sampled_from([0.0, 0.01, 0.1]), st.sampled_from([-0.2, -0.05, 0.0, 0.03]), st.sampled_from(sorted(CORRECTIONS)),
)  # fmt: skip
def test_decisions_are_those_of_the_bounds(sizes, seed, alpha, rho, threshold, procedure):
    """A comparison lies above a threshold where its lower bound does, and below where its upper bound does."""
    batch, rows, clusters = drawn(sizes, seed)
    pairs = [pair(row, clusters) for row in rows]
    assume(all(p.testable for p in pairs))
    lower = np.array([lower_bound(p, alpha, rho, procedure) for p in pairs])
    upper = np.array([upper_bound(p, alpha, rho, procedure) for p in pairs])
    assume((np.abs(lower - threshold) > 1e-7).all() and (np.abs(upper - threshold) > 1e-7).all())
    assert (lies_above(batch, threshold, alpha, rho, procedure) == (lower > threshold)).all()
    assert (lies_below(batch, threshold, alpha, rho, procedure) == (upper < threshold)).all()
    assert batch.cluster_errors() == pytest.approx([cluster_error(p) for p in pairs], abs=1e-12)


@pytest.mark.parametrize("sizes", [[100, 100, 100, 100], [500, 1, 1, 1, 1, 1, 1], [7]])
def test_what_cannot_be_tested_is_never_decided(sizes):
    """With fewer than five effective clusters nothing lies above or below anything."""
    n = sum(sizes)
    won = Batch(np.array(sizes), np.array([sizes], dtype=float), np.array([float(n)]), np.zeros(1))
    assert not lies_above(won, -0.5, 0.05, 0.01).any()
    assert not lies_below(won.mirrored(), 0.5, 0.05, 0.01).any()
    assert won.estimates.tolist() == [1.0]
