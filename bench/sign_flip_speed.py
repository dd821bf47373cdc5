"""How fast 100,000 sign-flip draws are: by the clusters' sums as we do it, and by a loop over all questions.

The loop is what a textbook writes: for each draw, the signs of whole clusters are flipped question by question and
the mean is taken again. Both draw; nothing is counted exactly. Times are the best of the rounds, in one run on one
thread, and the ratio is that of this machine now.

python bench/sign_flip_speed.py
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from harness.evaluation.statistics.bounds import pair
from harness.evaluation.statistics.paired_tests import sign_flip

DRAWS, LOOPED = 100_000, 2_000  # the loop is timed on fewer draws, and scaled


def by_loop(differences: np.ndarray, clusters: np.ndarray, draws: int) -> float:
    """The share of draws whose mean lies at least as far from 0, one draw at a time."""
    random = np.random.default_rng(1)
    observed, reached = abs(differences.mean()), 0
    for _ in range(draws):
        signs = random.choice([-1.0, 1.0], size=clusters.max() + 1)
        reached += abs((differences * signs[clusters]).mean()) >= observed - 1e-12
    return (reached + 1) / (draws + 1)


def main() -> None:
    """Print both times and their ratio, for conversations and for single questions."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of which the best counts (5)")
    rounds = parser.parse_args().rounds
    random = np.random.default_rng(20)
    for name, groups, size in (("40 conversations of 50", 40, 50), ("500 single questions", 500, 1)):
        clusters = np.repeat(np.arange(groups), size)
        differences = random.choice([-1.0, 0.0, 1.0], size=len(clusters), p=[0.05, 0.88, 0.07])
        paired = pair(differences, clusters)
        ours, loop = [], []
        for _ in range(rounds):
            begin = time.perf_counter()
            found = sign_flip(paired.sums, DRAWS, exact_up_to=0)
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            looped = by_loop(differences, clusters, LOOPED)
            loop.append((time.perf_counter() - begin) * DRAWS / LOOPED)
        assert found is not None
        print(
            f"{name}: {1000 * min(ours):.1f} ms for {DRAWS:,} draws, {min(loop) / min(ours):.0f} times faster than the "
            f"loop (p {found.p:.4f}; of the loop's {LOOPED:,} draws {looped:.4f})"
        )


if __name__ == "__main__":
    main()
