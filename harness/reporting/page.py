"""Renders the verdict page as self-contained HTML and as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from harness.reporting import words

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
        "bare": _bare,
        "cell": _cell,
    }
    return {
        HTML: environment.get_template("verdict.html.j2").render(report),
        MARKDOWN: environment.get_template("verdict.md.j2").render(report),
    }


def _bare(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def _cell(text: str) -> str:
    """Text that cannot break out of a Markdown table or become a tag."""
    return _bare(text).replace("|", "\\|").replace("<", "&lt;")
