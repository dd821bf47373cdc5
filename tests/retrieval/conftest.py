"""What several tests of retrieval share."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import settings

from harness.retrieval.ranking import Ranking

# a busy machine is no failure
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def _ranking(rows: Sequence[Sequence[int]], depth: int = 10, names: Sequence[str] = ()) -> Ranking:
    """A ranking of questions q0, q1, … with scores that never increase and sometimes tie."""
    lengths = [len(row) for row in rows]
    return Ranking(
        tuple(names or (f"q{i}" for i in range(len(rows)))),
        np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(lengths, dtype=np.int64))]),
        np.array([position for row in rows for position in row], dtype=np.int32),
        np.array([9.0 - rank // 2 for row in rows for rank in range(len(row))]),
        depth,
    )


@pytest.fixture(scope="session")
def ranking() -> Callable[..., Ranking]:
    """Builds rankings."""
    return _ranking
