"""The worst false PASS on questions by themselves, every outcome counted instead of drawn.

With n independent questions a comparison is its numbers of wins and losses, and all of them can be listed.

    python -m bench.calibration.exact
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from bench.calibration.study import read_grid
from harness.evaluation.statistics.batch import Batch, lies_above
from harness.evaluation.statistics.bounds import CORRECTIONS

SIZES = (24, 36, 50, 75, 100, 150, 200, 300, 400)
THRESHOLDS = (0, -0.005, -0.01, -0.015, -0.02, -0.025, -0.03, -0.04, -0.05, 0.01, 0.02, 0.03, 0.05)
SHARES = (0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.075, 0.1, 0.125, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8)


def outcomes(n: int) -> tuple[Batch, NDArray[np.float64], NDArray[np.float64]]:
    """Every number of wins and losses among ``n`` questions: as comparisons, and both numbers."""
    wins, losses = np.meshgrid(np.arange(n + 1.0), np.arange(n + 1.0), indexing="ij")
    possible = wins + losses <= n
    wins, losses = wins[possible], losses[possible]
    return _batch(wins, losses, n), wins, losses


def _batch(wins: NDArray[np.float64], losses: NDArray[np.float64], n: int) -> Batch:
    place = np.arange(n)
    sums = (place < wins[:, None]).astype(np.float64) - (place >= n - losses[:, None])
    return Batch(np.ones(n, dtype=np.int64), sums, wins, losses)


def chances(
    wins: NDArray[np.float64], losses: NDArray[np.float64], n: int, mean: float, share: float
) -> NDArray[np.float64] | None:
    """How likely each outcome is if a share of the questions differs with a given mean; None if that cannot be."""
    up, down = (share + mean) / 2, (share - mean) / 2
    if min(up, down) < -1e-12 or share > 1:
        return None
    up, down = max(up, 0.0), max(down, 0.0)
    ways = gammaln(n + 1) - gammaln(wins + 1) - gammaln(losses + 1) - gammaln(n - wins - losses + 1)
    found: NDArray[np.float64] = np.exp(
        ways + xlogy(wins, up) + xlogy(losses, down) + xlogy(n - wins - losses, 1 - up - down)
    )
    return found


def worst(n: int, alphas: list[float]) -> dict[tuple[str, float], float]:
    """Procedure and error rate → the most often that a true difference at the threshold passes."""
    batch, wins, losses = outcomes(n)
    found = dict.fromkeys(((name, alpha) for name in CORRECTIONS for alpha in alphas), 0.0)
    for threshold in THRESHOLDS:
        shares = {max(share, abs(threshold)) for share in SHARES}
        laws = [law for share in sorted(shares) if (law := chances(wins, losses, n, threshold, share)) is not None]
        for name, alpha in found:
            passed = lies_above(batch, threshold, alpha, 0.0, name)
            found[name, alpha] = max(found[name, alpha], *(float(law[passed].sum()) for law in laws))
    return found


def main() -> None:
    """Print the worst false PASS for each number of questions."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    alphas = read_grid()["alphas"]
    greatest: dict[tuple[str, float], float] = {}
    for n in SIZES:
        for key, rate in worst(n, alphas).items():
            greatest[key] = max(rate, greatest.get(key, 0.0))
            print(f"n = {n:4}  {key[0]}  α = {key[1]:<6g}  {100 * rate:.2f} %", flush=True)
    for (name, alpha), rate in greatest.items():
        print(f"all       {name}  α = {alpha:<6g}  {100 * rate:.2f} %")


if __name__ == "__main__":
    main()
