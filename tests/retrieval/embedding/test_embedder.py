import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.retrieval.embedding.embedder import unit_rows
from harness.retrieval.embedding.models import MODELS, embedder


def test_rows_have_unit_length():
    """Rows of any size become float32 of length 1; a zero row stays zero; the input is left alone."""
    given = np.array([[3.0, 4.0], [0.0, 0.0], [1e300, 1e300], [1e-300, 0.0]])
    before = given.copy()
    rows = unit_rows(given, 4, "test")
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 0, 1, 1], atol=1e-6)
    np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(wrong):
    """NaN and infinity are refused with the row where they stand."""
    given = np.ones((3, 2))
    given[1, 1] = wrong
    with pytest.raises(UsageProblem, match="1 of 3 vectors hold NaN or infinity, first in row 1"):
        unit_rows(given, 3, "model")


@pytest.mark.parametrize("shape", [(2, 3), (3,), (3, 0), (3, 4)])
def test_other_shapes_are_refused(shape):
    """Too few rows, no rows at all, no columns, or the wrong width."""
    with pytest.raises(UsageProblem, match="vectors of shape"):
        unit_rows(np.ones(shape), 3, "model", 3)


def test_an_unknown_model_is_refused_with_the_nearest_one():
    """A misspelt name gets a hint and the names that there are."""
    with pytest.raises(UsageProblem, match="no embedding model 'wordlama'") as caught:
        embedder("wordlama")
    assert caught.value.fix == "did you mean 'wordllama'?"
    assert caught.value.allowed == ", ".join(MODELS)
