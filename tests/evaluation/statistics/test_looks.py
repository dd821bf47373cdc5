import math

import pytest

from harness.evaluation.statistics.looks import alpha_of_look


@pytest.mark.parametrize(("look", "expected"), [(1, 0.0303963551), (2, 0.0075990888), (3, 0.0033773728)])
def test_shares_of_five_per_cent(look, expected):
    """The first looks spend three fifths, three twentieths and a fifteenth of the error rate."""
    assert alpha_of_look(0.05, look) == pytest.approx(expected, abs=1e-10)


def test_any_number_of_looks_spends_the_error_rate_and_no_more():
    """The shares add up to alpha in the limit and stay below it at every look."""
    n = 200_000
    total = math.fsum(alpha_of_look(0.05, look) for look in range(1, n + 1))
    assert total < 0.05
    # what the remaining looks would spend lies between the integrals from n + 1 and from n
    rest = 0.05 - total
    assert 0.05 * 6 / math.pi**2 / (n + 1) < rest < 0.05 * 6 / math.pi**2 / n


def test_shares_fall_with_every_look():
    """Each look gets less than the one before it."""
    shares = [alpha_of_look(0.05, look) for look in range(1, 50)]
    assert shares == sorted(set(shares), reverse=True)


@pytest.mark.parametrize("look", [0, -1])
def test_there_is_no_look_before_the_first(look):
    """Looks are counted from 1."""
    with pytest.raises(ValueError, match="counted from 1"):
        alpha_of_look(0.05, look)
