"""Interval plots as inline SVG: no scripts, no fonts, no styles but the page's own, the same bytes every time.

Places across are percentages and sizes of letters are not, so that a plot is as readable on a narrow window as on
a wide one. Whatever it shows stands in a table beside it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from harness.reporting import words

_ROW, _AXIS = 44, 44
"""Heights in pixels: of a row with its name, and of the axis."""

_EDGE = 0.04
"""Share of the scale at either end that has no tick: its label would be cut."""

_LEAST = 0.005
"""Half of the narrowest scale: where nothing differs, an axis in hundredths of a point would look like a result."""

_LONGEST = 64
"""Characters of a name that are drawn; the whole name is in the row's title, and in the table."""


@dataclass(frozen=True)
class _Row:
    """One interval; differences are fractions of the measure, positive is better; None where there is none."""

    name: str
    estimate: float
    lower: float | None
    upper: float | None
    upper_rollback: float | None = None
    pass_above: float | None = None
    rollback_below: float | None = None
    standing: str = ""

    def marks(self) -> list[float]:
        """Every place on the scale that must be seen."""
        shown = (self.estimate, self.lower, self.upper, self.upper_rollback, self.pass_above, self.rollback_below)
        return [value for value in shown if value is not None]


def clause_plot(clauses: Sequence[Mapping[str, Any]]) -> Markup:
    """Primaries and guards, each with its estimate, its bounds and its two thresholds.

    Args:
        clauses: as a verdict holds them, with ``standing``.
    """
    shown = ("estimate", "lower", "upper", "upper_rollback", "pass_above", "rollback_below", "standing")
    rows = [
        _Row(f"{clause['kind']} {clause['measure']}, {clause['slice']}", **{key: clause[key] for key in shown})
        for clause in clauses
    ]
    return _plot("clauses", "Estimates and bounds of the clauses, with what each had promised", rows)


def slice_plot(measure: str, slices: Sequence[Mapping[str, Any]]) -> Markup:
    """One measure in every slice, each with its estimate and its bounds.

    Args:
        measure: its name.
        slices: rows with ``slice``, ``n``, ``estimate``, ``lower`` and ``upper``.
    """
    shown = ("estimate", "lower", "upper")
    rows = [_Row(f"{row['slice']} (n = {row['n']})", **{key: row[key] for key in shown}) for row in slices]
    return _plot("slices", f"Estimates and bounds of {measure} in the slices", rows)


def _plot(name: str, title: str, rows: Sequence[_Row]) -> Markup:
    scale = _Scale.over(value for row in rows for value in row.marks())
    height = _ROW * len(rows) + _AXIS
    described = "; ".join(_words(row) for row in rows)
    parts = [
        Markup('<svg class="plot" role="img" width="100%" height="{}" aria-labelledby="{}-title {}-desc">').format(
            height, name, name
        ),
        Markup('<title id="{}-title">{}</title>').format(name, title),
        Markup('<desc id="{}-desc">Change in points. {}.</desc>').format(name, described),
        *(_tick(scale, value, _ROW * len(rows)) for value in scale.ticks()),
        *(_row(scale, row, _ROW * place) for place, row in enumerate(rows)),
        Markup('<text class="axis" x="50%" y="{}" text-anchor="middle">change in points</text>').format(height - 6),
        Markup("</svg>"),
    ]
    return Markup("\n").join(parts)


@dataclass(frozen=True)
class _Scale:
    """From a difference to a place across the plot."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Iterable[float]) -> _Scale:
        """A scale on which all values and 0 lie, with some room at both ends."""
        shown = [0.0, *values]
        low, high = min(shown), max(shown)
        room = max(0.05 * (high - low), _LEAST - (high - low) / 2)
        return cls(low - room, high + room)

    def at(self, value: float) -> str:
        """The place in per cent; rounded, so that a last bit cannot change the page."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * share:.2f}%"

    def between(self, first: float, last: float) -> str:
        """The distance of two places in per cent."""
        return f"{100 * (last - first) / (self.high - self.low):.2f}%"

    def ticks(self) -> list[float]:
        """A few round values, 0 among them."""
        rough = (self.high - self.low) / 5
        unit = 10.0 ** math.floor(math.log10(rough))
        step = next(size * unit for size in (1, 2, 5, 10) if size * unit >= rough * (1 - 1e-9))
        edge = _EDGE * (self.high - self.low)
        first, last = math.ceil((self.low + edge) / step), math.floor((self.high - edge) / step)
        return [round(n * step, 10) for n in range(min(first, 0), max(last, 0) + 1)]


def _tick(scale: _Scale, value: float, height: int) -> Markup:
    digits = 0 if abs(100 * value - round(100 * value)) < 1e-9 else 1
    text = words.points(value, digits) if value else "0"
    return Markup(
        '<line class="{}" x1="{}" x2="{}" y1="0" y2="{}"/>'
        '<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>'
    ).format("grid" if value else "zero", scale.at(value), scale.at(value), height, scale.at(value), height + 16, text)


def _row(scale: _Scale, row: _Row, top: int) -> Markup:
    middle = top + 30
    name = row.name if len(row.name) <= _LONGEST else f"{row.name[: _LONGEST - 1]}…"
    parts = [
        Markup("<g><title>{}</title>").format(_words(row)),
        *_regions(scale, row, middle),
        *_bars(scale, row, middle),
        Markup('<circle class="dot {}" cx="{}" cy="{}" r="{}"/>').format(
            row.standing, scale.at(row.estimate), middle, 5 if row.lower is not None else 4
        ),
        Markup('<text class="name" x="0" y="{}">{}</text>').format(top + 15, name),
        Markup('<text class="value" x="100%" y="{}" text-anchor="end">{}</text>').format(top + 15, _numbers(row)),
        Markup("</g>"),
    ]
    return Markup("").join(parts)


def _regions(scale: _Scale, row: _Row, middle: int) -> Iterable[Markup]:
    """Where the interval would have to lie, whole, for the clause to hold and to fall."""
    for name, edge, first, last in (
        ("holds", row.pass_above, row.pass_above, scale.high),
        ("fell", row.rollback_below, scale.low, row.rollback_below),
    ):
        if edge is not None and first is not None and last is not None:
            yield Markup(
                '<rect class="region {}" x="{}" width="{}" y="{}" height="16"/>'
                '<line class="edge {}" x1="{}" x2="{}" y1="{}" y2="{}"/>'
            ).format(
                name, scale.at(first), scale.between(first, last), middle - 8,
                name, scale.at(edge), scale.at(edge), middle - 8, middle + 8,
            )  # fmt: skip


def _bars(scale: _Scale, row: _Row, middle: int) -> Iterable[Markup]:
    if row.lower is None or row.upper is None:
        return
    line = Markup('<line class="{}" x1="{}" x2="{}" y1="{}" y2="{}"/>')
    if row.upper_rollback is not None:
        yield line.format("reach", scale.at(row.upper), scale.at(row.upper_rollback), middle, middle)
    yield line.format("bar", scale.at(row.lower), scale.at(row.upper), middle, middle)
    for end in (row.lower, row.upper):
        yield line.format("bar", scale.at(end), scale.at(end), middle - 4, middle + 4)


def _numbers(row: _Row) -> str:
    if row.lower is None:
        return f"{words.points(row.estimate)}, no bounds"
    return f"{words.points(row.estimate)} [{words.points(row.lower)}, {words.points(row.upper)}]"


def _words(row: _Row) -> str:
    """A row as a sentence, for a screen reader and for whoever points at it."""
    text = f"{row.name}: {words.points(row.estimate)}, "
    text += "no bounds" if row.lower is None else f"bounds {words.points(row.lower)} to {words.points(row.upper)}"
    if row.pass_above is not None and row.rollback_below is not None:
        text += f", must exceed {words.points(row.pass_above)}, rollback below {words.points(row.rollback_below)}"
    return f"{text}, {row.standing}" if row.standing else text
