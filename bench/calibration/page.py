"""The study's table and plots, as they stand in the docs, from results.json.

python -m bench.calibration.page            # docs/statistics.md (between its marks) and docs/images/
python -m bench.calibration.page --print    # the table only
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from harness.evaluation.statistics.bounds import CORRECTIONS, PROCEDURE
from harness.reporting.curves import Curve, draw_curves

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
BEGIN, END = "<!-- made by bench/calibration/page.py from here -->", "<!-- to here -->"
Row = dict[str, Any]


def read_results(path: Path = HERE / "results.json") -> dict[str, Any]:
    """What the study wrote, with the procedures by name."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for row in results["cells"]:
        for side in ("above", "below") if row["testable"] else ():
            row[side] = dict(zip(results["grid"]["procedures"], row[side], strict=True))
    return results


def chosen(results: dict[str, Any], what: str, keep: Callable[[Row], bool] | None = None) -> list[Row]:
    """Testable cells of one part of the grid."""
    found = [row for row in results["cells"] if row["what"] == what and row["testable"]]
    return [row for row in found if keep is None or keep(row)]


def rates(rows: Iterable[Row], name: str, place: int = 0, side: str = "above") -> list[float]:
    """How often a procedure decided, cell by cell."""
    return [row[side][name][place] / row["replications"] for row in rows]


def limit(alpha: float, replications: int) -> float:
    """The error rate and two Monte-Carlo errors."""
    return alpha + 2 * float((alpha * (1 - alpha) / replications) ** 0.5)


def table(results: dict[str, Any]) -> str:
    """All tables of the study, as Markdown."""
    return "\n".join([*_acceptance(results), "", *_rivals(results)])


def _acceptance(results: dict[str, Any]) -> Iterable[str]:
    grid = results["grid"]
    rows = chosen(results, "boundary", lambda row: row["rho"] <= grid["rho_plan"])
    few = sum(row["n"] < 50 for row in rows)
    yield (
        f"**Error rates that are promised**: {len(rows)} cells with a true correlation of at most "
        f"{grid['rho_plan']:g} ({few} of them with fewer than 50 questions), {rows[0]['replications']:,} experiments "
        "each, the true difference exactly at the threshold. A cell exceeds if its rate is more than two Monte-Carlo "
        "errors above α."
    )
    yield ""
    yield "| procedure | α | worst false PASS | worst false ROLLBACK | median of both | cells that exceed |"
    yield "|---|---|---|---|---|---|"
    for name in CORRECTIONS:
        for place, alpha in enumerate(grid["alphas"]):
            above, below = rates(rows, name, place), rates(rows, name, place, "below")
            most = limit(alpha, rows[0]["replications"])
            exceeds = sum(rate > most for rate in (*above, *below))
            cells = (max(above), max(below), median([*above, *below]))
            figures = " | ".join(_percent(value) for value in cells)
            yield f"| `{name}` | {_percent(alpha)} | {figures} | {exceeds} of {2 * len(rows)} |"


def _rivals(results: dict[str, Any]) -> Iterable[str]:
    grid = results["grid"]
    yield (
        f"**Against rivals**, α = {_percent(grid['alphas'][0])}: the worst false PASS of any cell by true correlation; "
        "the worst where one conversation carries all the harm, as much as the margin allows, at hand (the largest of "
        "those measured) or drawn (one in G of all there are, so that none may have been measured); the mean power "
        "where an oracle, who knows the true variance, has 80 %; and how often both bounds hold the truth, at least."
    )
    yield ""
    correlations = sorted({row["rho"] for row in chosen(results, "boundary")})
    head = " | ".join(f"ρ = {rho:g}" for rho in correlations)
    yield f"| procedure | {head} | harm at hand | harm drawn | power | coverage |"
    yield f"|---|{'---|' * len(correlations)}---|---|---|---|"
    harm, power = chosen(results, "harm"), chosen(results, "power")
    for name in grid["procedures"]:
        worst = [max(rates(chosen(results, "boundary", lambda row, r=rho: row["rho"] == r), name))
                 for rho in correlations]  # fmt: skip
        found = rates(power, name)
        planned = chosen(results, "boundary", lambda row: row["rho"] <= grid["rho_plan"])
        outside = [a + b for a, b in zip(rates(planned, name), rates(planned, name, side="below"), strict=True)]
        harms = [max(rates([row for row in harm if row["kind"] == kind], name)) for kind in ("at hand", "drawn")]
        figures = [*worst, *harms, sum(found) / len(found), 1 - max(outside)]
        yield f"| {name} | {' | '.join(_percent(value) for value in figures)} |"


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %" if value < 0.1 else f"{100 * value:.0f} %"


def plots(results: dict[str, Any]) -> dict[str, str]:
    """File name → SVG."""
    grid = results["grid"]
    alpha = grid["alphas"][0]
    correlations = sorted({row["rho"] for row in chosen(results, "boundary")})
    by_rho = {rho: chosen(results, "boundary", lambda row, r=rho: row["rho"] == r) for rho in correlations}
    shown = [PROCEDURE, "cluster-t", "Tango, effective counts", "Tango", "sign-flip by cluster", "cluster bootstrap"]
    worst = [
        Curve(name, correlations, [max(rates(by_rho[rho], name)) for rho in correlations], "o-", name == PROCEDURE)
        for name in shown
    ]
    shapes = list(dict.fromkeys(row["shape"] for row in chosen(results, "boundary")))
    planned = chosen(results, "boundary", lambda row: row["rho"] <= grid["rho_plan"])
    beyond = chosen(results, "boundary", lambda row: row["rho"] > grid["rho_plan"])
    spread = [
        _by_shape(f"worst, true correlation above {grid['rho_plan']:g}", beyond, shapes, max, "^"),
        _by_shape(f"median, true correlation up to {grid['rho_plan']:g}", planned, shapes, median, "s"),
        _by_shape(f"worst, true correlation up to {grid['rho_plan']:g}", planned, shapes, max, "o", strong=True),
    ]
    power = chosen(results, "power")
    found = [
        Curve(name, range(len(shapes)), [_mean(rates([r for r in power if r["shape"] == shape], name))
                                         for shape in shapes], "o-", name == PROCEDURE)
        for name in (PROCEDURE, "cluster-t", "Tango, effective counts")
    ]  # fmt: skip
    return {
        "calibration-correlation.svg": draw_curves(
            worst, title="Worst false PASS of any cell", x_label="true correlation within conversations",
            y_label="false PASS", lines=[(alpha, f"α = {alpha:g}")], y_limits=(0, 1.02),
        ),
        "calibration-shapes.svg": draw_curves(
            spread, title=f"False PASS of {PROCEDURE} by shape", x_label="", y_label="false PASS",
            lines=[(alpha, f"α = {alpha:g}")], x_names=shapes,
        ),
        "calibration-power.svg": draw_curves(
            found, title="Power where an oracle has 80 %", x_label="", y_label="mean power",
            lines=[(0.8, "oracle")], x_names=shapes, y_limits=(0, 1),
        ),
    }  # fmt: skip


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _by_shape(
    name: str,
    rows: list[Row],
    shapes: list[str],
    of: Callable[[list[float]], float],
    mark: str,
    *,
    strong: bool = False,
) -> Curve:
    """One figure of all cells of a shape, for every shape that has any."""
    found = {shape: rates([row for row in rows if row["shape"] == shape], PROCEDURE) for shape in shapes}
    values = [(place, of(found[shape])) for place, shape in enumerate(shapes) if found[shape]]
    return Curve(name, [place for place, _ in values], [value for _, value in values], mark, strong)


def main() -> None:
    """Write the page's parts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--print", action="store_true", help="print the table and write nothing")
    results = read_results()
    if parser.parse_args().print:
        print(table(results))
        return
    page = DOCS / "statistics.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    page.write_text(f"{before}{BEGIN}\n\n{table(results)}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    for name, drawn in plots(results).items():
        (DOCS / "images" / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
