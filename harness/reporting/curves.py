"""Curves as SVG, drawn by matplotlib: text stays text, and the same curves give the same bytes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "curves",
    "font.family": "sans-serif",
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Curve:
    """One line.

    Attributes:
        name: what the legend calls it; empty for none.
        x, y: places, of one length; shares of 1 on a percent axis.
        style: a matplotlib format, such as ``o-``.
        strong: whether it stands out.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    style: str = "-"
    strong: bool = False


def draw_curves(
    curves: Sequence[Curve],
    *,
    title: str,
    x_label: str,
    y_label: str,
    lines: Sequence[tuple[float, str]] = (),
    y_limits: tuple[float, float] | None = None,
    x_names: Sequence[str] = (),
    percent: bool = True,
) -> str:
    """Curves on one pair of axes.

    Args:
        curves: what is drawn; the strong ones last, so that they lie on top.
        title, x_label, y_label: words.
        lines: horizontal lines that matter, with their names.
        y_limits: lowest and highest value shown; by default what there is.
        x_names: names of the places 0, 1, … instead of numbers.
        percent: whether the y axis is written in per cent.

    Returns:
        The SVG.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import PercentFormatter

    with rc_context(_STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=(8, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.add_subplot()
        for curve in sorted(curves, key=lambda curve: curve.strong):
            weight = 2.4 if curve.strong else 1.2
            axes.plot(curve.x, curve.y, curve.style, label=curve.name or None, linewidth=weight, markersize=4)
        for value, name in lines:
            axes.axhline(value, color="#b91c1c", linewidth=1, linestyle="--", label=name)
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        if y_limits:
            axes.set_ylim(*y_limits)
        if x_names:
            axes.set_xticks(range(len(x_names)), x_names, rotation=40, ha="right", fontsize=9)
        if percent:
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        if any(curve.name for curve in curves) or lines:
            axes.legend(loc="best", fontsize=9)
        drawn = io.StringIO()
        figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    # matplotlib leaves blanks at line ends
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"
