"""Renders the verdict page as self-contained HTML and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from harness.reporting import beside_words, words
from harness.reporting.plot import clause_plot, slice_plot

HTML, MARKDOWN = "report.html", "report.md"


def render(report: Mapping[str, Any]) -> dict[str, str]:
    """The page in both forms, by file name; the same report gives the same bytes.

    Args:
        report: what the page shows, plain values only (see `harness.workflow.publish`).
    """
    environment = Environment(
        loader=PackageLoader("harness.reporting"),
        autoescape=select_autoescape(("html.j2",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "points": words.points,
        "percent": words.percent,
        "p": words.p_value,
        "cell": _cell,
        "clause_lines": beside_words.clause_lines,
        "fragility_lines": beside_words.fragility_lines,
        "prediction_lines": beside_words.prediction_lines,
    }
    environment.globals |= {"clause_plot": clause_plot, "slice_plot": slice_plot}
    return {
        HTML: environment.get_template("verdict.html.j2").render(report),
        MARKDOWN: environment.get_template("verdict.md.j2").render(report),
    }


# a backslash first of all, or the author's own would undo ours; "](" would make a link, or an image to load
_ESCAPES = (("\\", "\\\\"), ("<", "&lt;"), ("|", "\\|"), ("`", "\\`"), ("](", "]\\("))


def _cell(text: str) -> str:
    """Text on one line that cannot break out of a Markdown table or become a tag, code, a link or an image."""
    escaped = " ".join(text.split())
    for special, harmless in _ESCAPES:
        escaped = escaped.replace(special, harmless)
    return escaped
