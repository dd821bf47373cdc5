from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.plot import clause_plot, slice_plot

Clause = Callable[..., dict[str, Any]]
NO_BOUNDS = dict.fromkeys(("lower", "upper", "upper_rollback"))


@pytest.fixture
def row(clause: Clause) -> Clause:
    """A clause as the page has it."""
    return lambda **changes: clause(standing="holds") | changes


def elements(plot: str, name: str) -> list[dict[str, str]]:
    """The attributes of every element whose class contains the word."""
    return [dict(item.attrib) for item in ElementTree.fromstring(plot).iter() if name in item.get("class", "").split()]


def place(text: str) -> float:
    """A place in per cent."""
    assert re.fullmatch(r"-?\d+\.\d\d%", text)
    return float(text[:-1])


def scale(plot: str) -> Callable[[float], float]:
    """Points to per cent, from the plot's own ticks."""
    ticks = [
        (float(item.text), place(item.attrib["x"]))
        for item in ElementTree.fromstring(plot).iter("text")
        if item.get("class") == "axis" and item.text != "change in points" and item.text is not None
    ]
    (first, first_at), (last, last_at) = ticks[0], ticks[-1]
    return lambda points: first_at + (points - first) * (last_at - first_at) / (last - first)


def test_every_value_stands_where_the_axis_says(row: Clause) -> None:
    """Estimate, both bounds, the bound for rollback and both thresholds, in points."""
    plot = clause_plot([row()])
    at = scale(plot)
    (dot,), (reach,) = elements(plot, "dot"), elements(plot, "reach")
    bar = elements(plot, "bar")[0]
    holds, fell = elements(plot, "edge")
    for found, points in (
        (dot["cx"], 8.59), (bar["x1"], 6.11), (bar["x2"], 11.07), (reach["x2"], 11.59), (holds["x1"], 2.0),
        (fell["x1"], 0.0),
    ):  # fmt: skip
        assert place(found) == pytest.approx(at(points), abs=0.02)


def test_a_field_lies_beyond_its_threshold(row: Clause) -> None:
    """The field of what holds reaches from the threshold to the right end, that of what fell from the left end."""
    plot = clause_plot([row()])
    holds, fell = elements(plot, "region")
    edges = elements(plot, "edge")
    assert holds["x"] == edges[0]["x1"]
    assert place(holds["x"]) + place(holds["width"]) == pytest.approx(100, abs=0.02)
    assert (fell["x"], fell["width"]) == ("0.00%", edges[1]["x1"])


def test_every_row_is_described(row: Clause) -> None:
    """A title and a description of the whole, and a title for each row, which say what is drawn."""
    plot = clause_plot([row(), row(kind="guard", slice="temporal", standing="open", **NO_BOUNDS)])
    root = ElementTree.fromstring(plot)
    described = root.get("aria-labelledby", "").split()
    assert [item.get("id") for item in root[:2]] == described
    titles = [item.text or "" for item in root.iter("title")][1:]
    assert titles == [
        "primary R@10, all: +8.6, bounds +6.1 to +11.1, must exceed +2.0, rollback below +0.0, holds",
        "guard R@10, temporal: +8.6, no bounds, must exceed +2.0, rollback below +0.0, open",
    ]
    assert all(title in (root[1].text or "") for title in titles)


def test_a_clause_that_was_not_testable_has_a_dot_and_no_bar(row: Clause) -> None:
    """What has no bounds shows none."""
    plot = clause_plot([row(**NO_BOUNDS)])
    assert len(elements(plot, "dot")) == 1
    assert elements(plot, "bar") == elements(plot, "reach") == []
    assert "no bounds" in plot


def test_nothing_that_differs_is_no_wide_scale() -> None:
    """Where every value is 0 the axis still has its zero, in the middle."""
    slices = [{"slice": "all", "n": 9, "estimate": 0.0, "lower": 0.0, "upper": 0.0}]
    plot = slice_plot("R@10", slices)
    (zero,) = elements(plot, "zero")
    assert place(zero["x1"]) == pytest.approx(50)
    assert place(elements(plot, "dot")[0]["cx"]) == pytest.approx(50)


def test_thirty_clauses_with_long_names(row: Clause) -> None:
    """Each has its own row, a name is cut where it would run out, and is whole in the title."""
    name = "conversation:" + "x" * 80
    plot = clause_plot([row(slice=name)] * 30)
    dots = elements(plot, "dot")
    assert len({dot["cy"] for dot in dots}) == 30
    assert max(float(dot["cy"]) for dot in dots) < float(ElementTree.fromstring(plot).get("height", "0"))
    drawn = [item.text or "" for item in ElementTree.fromstring(plot).iter("text") if item.get("class") == "name"]
    assert all(len(text) == 64 and text.endswith("…") for text in drawn)
    assert f"primary R@10, {name}: " in plot


values = st.floats(-1, 1)


@given(st.lists(st.tuples(values, values, values), min_size=1, max_size=6))
def test_whatever_is_measured_lies_in_the_picture(rows: list[tuple[float, float, float]]) -> None:
    """Every mark is inside, zero is shown, ticks are labelled in order, and the bytes are the same each time."""
    slices = [
        {"slice": "s", "n": 3, "estimate": middle, "lower": low, "upper": high}
        for low, middle, high in map(sorted, rows)
    ]
    plot = slice_plot("R@10", slices)
    assert plot == slice_plot("R@10", slices)
    for item in ElementTree.fromstring(plot).iter():
        for key in ("x1", "x2", "cx"):
            if key in item.attrib:
                assert 0 <= place(item.attrib[key]) <= 100
    labels = [item.text for item in ElementTree.fromstring(plot).iter("text") if item.get("class") == "axis"][:-1]
    assert "0" in labels
    assert 2 <= len(labels) <= 12
    numbers = [float(label or "") for label in labels]
    assert numbers == sorted(set(numbers))


def test_hostile_names_stay_text(row: Clause) -> None:
    """No name can add an element or an attribute."""
    name = "\"/><script>alert(1)</script>&'"
    plot = clause_plot([row(slice=name)])
    found = ElementTree.fromstring(plot)
    assert {item.tag for item in found.iter()} == {"svg", "title", "desc", "g", "rect", "line", "circle", "text"}
    assert name in "".join(found.itertext())
