"""Published runs of a real system, compared question by question: plain tests, and clustered ones beside them."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.evaluation.statistics.bounds import Paired, lower_bound, p_above, p_below, pair, upper_bound
from harness.evaluation.statistics.clustering import measured_correlation
from harness.evaluation.statistics.paired_tests import mcnemar_exact, mcnemar_mid_p, sign_flip

V3, E1, LENIENT, RRF = "v3_fix_20260805", "e1_v2_full", "e1_v2_full/rejudged_mem0", "semantic_rrf_v2"
Key = tuple[Any, ...]


@pytest.fixture(scope="module")
def answered(shared_data: Path) -> Path:
    """The folder of answered runs; skips where it is absent."""
    folder = shared_data / "causal-memory"
    if not folder.is_dir():
        pytest.skip("no answered runs at ../shared/data/causal-memory")
    return folder


def correct(files: list[Path], *fields: str) -> dict[Key, float]:
    """1 where a question was answered correctly; questions that repeat are told apart by how often they came before."""
    seen: Counter[Key] = Counter()
    found = {}
    for row in (json.loads(line) for path in files for line in path.read_text(encoding="utf-8").splitlines()):
        key = tuple(row[field] for field in fields)
        found[(*key, seen[key])] = float(row["verdict"] == "correct")
        seen[key] += 1
    return found


def locomo(folder: Path, run: str) -> dict[Key, float]:
    """A LoCoMo run, by conversation and question."""
    files = [next((folder / "locomo" / run).glob(f"*_conv{number}.jsonl")) for number in range(10)]
    return correct(files, "conv", "question", "category", "gold")


def compared(before: dict[Key, float], after: dict[Key, float]) -> Paired:
    """The differences, in clusters of the first part of their keys."""
    assert before.keys() == after.keys()
    keys = sorted(before, key=str)
    clusters = np.unique([str(key[0]) for key in keys], return_inverse=True)[1]
    return pair(np.array([after[key] - before[key] for key in keys]), clusters)


@pytest.mark.parametrize(
    ("before", "after", "lost", "won", "exact", "mid", "flip", "low", "high"),
    [
        (E1, RRF, 93, 109, 0.291, 0.261, 0.254, -1.3, 2.9),
        (V3, RRF, 57, 81, 0.0498, 0.0414, 0.0391, -0.5, 3.0),
        (V3, E1, 63, 71, 0.546, 0.491, 0.469, -1.3, 2.1),
        (E1, LENIENT, 5, 202, 0.0, 0.0, 0.00195, 8.1, 12.1),
    ],
)
def test_pairs_of_locomo_runs(answered, before, after, lost, won, exact, mid, flip, low, high):
    """Wins, losses and exact p are as known; the clustered interval stands beside them, and says less of .0498."""
    found = compared(locomo(answered, before), locomo(answered, after))
    assert (found.n, len(found.sizes), found.defeats, found.wins) == (1986, 10, lost, won)
    assert mcnemar_exact(won, lost) == pytest.approx(exact, abs=5e-4 if exact > 0.1 else 5e-5)
    assert mcnemar_mid_p(won, lost) == pytest.approx(mid, abs=5e-4)
    flipped = sign_flip(found.sums)
    assert flipped is not None
    assert (flipped.exact, flipped.p) == (True, pytest.approx(flip, abs=5e-4))
    bounds = [round(100 * bound(found, 0.05, 0.01), 1) for bound in (lower_bound, upper_bound)]
    assert bounds == [low, high]
    correlation = measured_correlation(found)
    assert correlation is not None
    assert -0.005 < correlation < 0.001


def test_a_p_below_five_per_cent_is_no_gain(answered):
    """81 won and 57 lost have an exact p of .0498; with conversations allowed for, nothing is shown."""
    found = compared(locomo(answered, V3), locomo(answered, RRF))
    assert mcnemar_exact(found.wins, found.defeats) < 0.05
    two_sided = 2 * min(p_above(found, 0.0, 0.01), p_below(found, 0.0, 0.01))
    assert two_sided == pytest.approx(0.248, abs=1e-3)


def test_two_runs_with_the_same_retrieval(answered):
    """Of 500 LongMemEval answers 3 were lost and 5 won though every question retrieved the same: noise of the model."""
    runs = [next((answered / "longmemeval" / run).glob("*.jsonl")) for run in ("e4_v2_full", "r3_distill_20260804")]
    found = compared(*(correct([run], "question_id") for run in runs))
    assert (found.n, len(found.sizes), found.defeats, found.wins) == (500, 500, 3, 5)
    assert mcnemar_exact(5, 3) == pytest.approx(0.727, abs=5e-4)
    assert lower_bound(found, 0.05, 0.01) < 0 < upper_bound(found, 0.05, 0.01)
    rows = [{row["question_id"]: row["retrieved_ids"] for row in map(json.loads, run.open(encoding="utf-8"))}
            for run in runs]  # fmt: skip
    assert rows[0] == rows[1]
