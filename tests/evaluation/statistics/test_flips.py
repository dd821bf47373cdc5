"""The least number of flips that moves a bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evaluation.statistics.bounds import lower_bound, pair, upper_bound
from harness.evaluation.statistics.flips import flipped, least_flips

samples = st.lists(st.tuples(st.sampled_from([-1.0, 0.0, 0.0, 1.0]), st.integers(0, 6)), min_size=12, max_size=60)


@given(samples, st.integers(0, 60), st.sampled_from([-1, 1]), st.booleans())
def test_a_flip_is_worth_one_question(values, count, sign, apart):
    """Every flip moves the sum by one, wins and losses stay within the questions, and clusters within their size."""
    found = pair(np.array([d for d, _ in values]), np.array([g for _, g in values]))
    count = min(count, found.ties)
    moved = flipped(found, count, sign, apart=apart)
    assert moved.sums.sum() == pytest.approx(found.sums.sum() + sign * count, abs=1e-6)
    assert moved.gains - moved.losses == pytest.approx(moved.sums.sum(), abs=1e-6)
    assert moved.gains + moved.losses <= found.n + 1e-9


def test_the_least_number_is_the_least():
    """With one flip less the bound is still on its side, with that number it is not."""
    values = np.array(([1.0] * 4 + [0.0] * 16) * 8)
    found = pair(values, np.repeat(np.arange(8), 20))

    def gone(paired) -> bool:
        return lower_bound(paired, 0.05, 0.01) <= 0

    count = least_flips(found, -1, gone, apart=True)
    assert count is not None
    assert count > 1
    assert gone(flipped(found, count, -1, apart=True))
    assert not gone(flipped(found, count - 1, -1, apart=True))


def test_flips_that_drive_clusters_apart_do_more():
    """A PASS falls to fewer losses if they all lie in one conversation."""
    found = pair(np.array(([1.0] * 4 + [0.0] * 16) * 8), np.repeat(np.arange(8), 20))

    def gone(paired) -> bool:
        return lower_bound(paired, 0.05, 0.01) <= 0

    apart, together = (least_flips(found, -1, gone, apart=way) for way in (True, False))
    assert apart is not None
    assert together is not None
    assert apart < together


def test_a_condition_that_no_flip_reaches():
    """There is no number, and no made-up one."""
    found = pair(np.zeros(40), np.repeat(np.arange(8), 5))
    assert least_flips(found, 1, lambda paired: upper_bound(paired, 0.05, 0.0) > 2, apart=True) is None
