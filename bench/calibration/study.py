"""How often the procedure is wrong: false PASS, false ROLLBACK, coverage and power over the committed grid.

python -m bench.calibration.study            # all of grid.yaml, to results.json
python -m bench.calibration.page             # the table and the plots in docs/ from results.json
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.calibration.generate import Law, draw, draw_harm, draw_rare_harm, law
from bench.calibration.procedures import PROCEDURES, SLOW, is_testable
from harness.evaluation.statistics.batch import Batch
from harness.evaluation.statistics.bounds import design_effect

HERE = Path(__file__).parent
_CHUNK = 4_000_000  # drawn counts held at once


@dataclass(frozen=True)
class Cell:
    """One place of the grid.

    Attributes:
        what: ``boundary`` (the true difference is the threshold), ``power`` or ``harm``.
        shape: name of the cluster sizes.
        rho: true within-cluster correlation.
        kind: name of the kind of differences.
        threshold: what a bound is held against.
        mean: the true difference.
    """

    what: str
    shape: str
    rho: float
    kind: str
    threshold: float
    mean: float


def read_grid(rho_plan: float | None = None) -> dict[str, Any]:
    """The grid, with shapes as arrays of sizes; with another planned correlation, that is the only true one."""
    grid: dict[str, Any] = yaml.safe_load((HERE / "grid.yaml").read_text(encoding="utf-8"))
    grid["shapes"] = {name: _sizes(parts) for name, parts in grid["shapes"].items()}
    return grid if rho_plan is None else grid | {"rho_plan": rho_plan, "correlations": [rho_plan]}


def _sizes(parts: list[Any]) -> NDArray[np.int64]:
    sizes: list[int] = []
    for part in parts:
        size, _, count = str(part).partition(" x ")
        sizes += [int(size)] * int(count or 1)
    return np.array(sizes, dtype=np.int64)


def cells(grid: dict[str, Any]) -> Iterator[Cell]:
    """Every cell, in a fixed order: its number seeds its draws."""
    for shape, sizes in grid["shapes"].items():
        for rho in grid["correlations"] if sizes.max() > 1 else [0]:
            for kind in grid["kinds"]:
                for threshold in grid["thresholds"]:
                    if law_of(grid, kind, threshold, threshold) is not None:
                        yield Cell("boundary", shape, rho, kind, threshold, threshold)
    for cell in [Cell("power", s, r, k, t, t) for s in grid["shapes"] for r in (0, 0.01)
                 for k in grid["power"]["kinds"] for t in grid["power"]["thresholds"]]:  # fmt: skip
        mean = _oracle_gain(grid, cell)
        if mean is not None and (cell.rho == 0 or grid["shapes"][cell.shape].max() > 1):
            yield Cell("power", cell.shape, cell.rho, cell.kind, cell.threshold, mean)
    for shape in grid["harm"]["shapes"]:
        sizes = grid["shapes"][shape]
        for threshold in grid["harm"]["thresholds"]:
            if -threshold * sizes.sum() <= sizes.max():
                yield Cell("harm", shape, 0.0, "at hand", threshold, threshold)
            if -threshold * len(sizes) <= 1:
                yield Cell("harm", shape, 0.0, "drawn", threshold, threshold)


def law_of(grid: dict[str, Any], kind: str, mean: float, threshold: float) -> Law | None:
    """The law of differences of a kind with a given mean; None where there is none."""
    part = grid["kinds"][kind]
    share = abs(threshold) if part["share"] == "least" else part["share"]
    return law(mean, share, part.get("sizes", [1.0])) if share > 0 else None


def _oracle_gain(grid: dict[str, Any], cell: Cell) -> float | None:
    """The mean at which a z test that knows the estimate's variance has the wanted power; None if there is none."""
    sizes = grid["shapes"][cell.shape]
    quantiles = float(ndtri(1 - grid["alphas"][0]) + ndtri(grid["power"]["oracle"]))
    mean = cell.threshold
    for _ in range(60):  # the variance depends on the mean a little
        found = law_of(grid, cell.kind, mean, cell.threshold)
        if found is None:
            return None
        mean = cell.threshold + quantiles * (found.variance * design_effect(sizes, cell.rho) / sizes.sum()) ** 0.5
    return mean if law_of(grid, cell.kind, mean, cell.threshold) is not None else None


def run_cell(grid: dict[str, Any], number: int, cell: Cell, replications: int) -> dict[str, Any]:
    """Simulate one cell: how many experiments lay above and below, for every procedure, at every error rate."""
    sizes = grid["shapes"][cell.shape]
    row: dict[str, Any] = {**asdict(cell), "n": int(sizes.sum()), "clusters": len(sizes)}
    row |= {"testable": is_testable(sizes), "replications": replications}
    if not row["testable"]:
        return row
    random = np.random.default_rng(np.random.SeedSequence([grid["seed"], number]))
    alphas = {name: grid["alphas"][: 1 if name in SLOW else None] for name in PROCEDURES}
    counts = {name: np.zeros((2, len(alphas[name])), dtype=int) for name in PROCEDURES}
    done = 0
    while done < replications:
        step = min(replications - done, max(200, _CHUNK // (len(sizes) * 7)))
        batch = _draw(grid, cell, sizes, step, random)
        mirror = batch.mirrored()
        for name, decide in PROCEDURES.items():
            for place, alpha in enumerate(alphas[name]):
                counts[name][:, place] += (
                    int(decide(batch, cell.threshold, alpha, grid["rho_plan"]).sum()),
                    int(decide(mirror, -cell.threshold, alpha, grid["rho_plan"]).sum()),
                )
        done += step
    row["above"], row["below"] = ([found[side].tolist() for found in counts.values()] for side in (0, 1))
    return row


def _draw(grid: dict[str, Any], cell: Cell, sizes: NDArray[np.int64], count: int, random: np.random.Generator) -> Batch:
    if cell.what == "harm" and cell.kind == "drawn":
        return draw_rare_harm(cell.mean, sizes, count, random)
    if cell.what == "harm":
        return draw_harm(cell.mean, sizes, int(sizes.argmax()), count, random)
    found = law_of(grid, cell.kind, cell.mean, cell.threshold)
    assert found is not None
    return draw(found, sizes, cell.rho, count, random)


def _work(rho_plan: float | None, job: tuple[int, Cell, int]) -> dict[str, Any]:
    return run_cell(read_grid(rho_plan), *job)


def _replications(grid: dict[str, Any], cell: Cell) -> int:
    promised = cell.what == "boundary" and cell.rho <= grid["rho_plan"]
    return int(grid["replications"]["promised" if promised else "other"])


def main() -> None:
    """Run the study and write its results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--replications", type=int, help="in every cell (as in grid.yaml)")
    parser.add_argument("--only", choices=("boundary", "power", "harm"), help="one part of the grid")
    parser.add_argument("--rho-plan", type=float, help="plan with this correlation, and simulate that one only")
    parser.add_argument("--out", type=Path, default=HERE / "results.json")
    options = parser.parse_args()
    grid = read_grid(options.rho_plan)
    jobs = [
        (number, cell, options.replications or _replications(grid, cell)) for number, cell in enumerate(cells(grid))
    ]
    jobs = [job for job in jobs if options.only in (None, job[1].what)]
    begun, rows = time.perf_counter(), []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for row in pool.map(partial(_work, options.rho_plan), jobs, chunksize=4):
            rows.append(row)
            if len(rows) % 100 == 0:
                print(f"{len(rows)} of {len(jobs)} cells, {time.perf_counter() - begun:.0f} s", flush=True)
    head = {key: grid[key] for key in ("seed", "alphas", "rho_plan")} | {"procedures": list(PROCEDURES)}
    body = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    options.out.write_text(f'{{"grid": {json.dumps(head)}, "cells": [\n{body}\n]}}\n', encoding="utf-8")
    print(f"{len(rows)} cells in {time.perf_counter() - begun:.0f} s: {options.out}")


if __name__ == "__main__":
    main()
