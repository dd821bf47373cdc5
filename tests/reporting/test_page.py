from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import pytest
from jinja2 import UndefinedError

from harness.reporting.page import HTML, MARKDOWN, render

Report = Callable[..., dict[str, Any]]

STATES = ["PASS", "ROLLBACK", "INCONCLUSIVE", "INADMISSIBLE"]
VOID = {"meta", "br", "hr"}
PLOTTED = {"id", "role", "aria-labelledby", "width", "height", "x", "y", "x1", "x2", "y1", "y2", "cx", "cy", "r",
           "text-anchor"}  # fmt: skip


class Page(HTMLParser):
    """Tags, attributes and text of a page, and whether every tag is closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag."""
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close a tag, which must be the last one opened."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect the text."""
        self.text += data


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_page_in_both_forms(state: str, report: Report) -> None:
    """The verdict's word, its reason and its consequence come first."""
    pages = render(report(state))
    assert set(pages) == {HTML, MARKDOWN}
    assert pages[MARKDOWN].startswith(f"# {state}: Raw turns alone\n")
    for text in (Page(pages[HTML]).text, pages[MARKDOWN]):
        for said in ("Every primary cleared its threshold", report(state)["consequence"], "Distilled items crowd out"):
            assert said in text
        assert "harness verify raw-only" in text


@pytest.mark.parametrize("state", STATES)
def test_the_page_loads_nothing(state: str, report: Report) -> None:
    """Neither scripts nor styles, fonts nor images from elsewhere: it can be mailed and opened offline."""
    page = render(report(state))[HTML]
    found = Page(page)
    assert found.open == []
    assert not found.tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    assert found.attributes <= {"lang", "charset", "name", "content", "class", "title", *PLOTTED}
    assert not re.search(r"https?:|//|url\(|@import", page)


@pytest.mark.parametrize("state", STATES)
def test_the_same_report_gives_the_same_bytes(state: str, report: Report) -> None:
    """A page can be compared with the ledger by its digest."""
    assert render(report(state)) == render(report(state))


HOSTILE = [
    "<script>alert(1)</script>",
    "</title><img src=x onerror=alert(1)>",
    "a | b | c",
    "`code` and ``` fences",
    "![pixel](http://example.org/x.png) [link](javascript:x)",
    "first\n\n# second\n| x |",
    "back\\| slash",
    "{{ 7 * 7 }} {% raw %}",
    "\"quoted\" & 'single'",
]


def hostile(text: str, report: Report) -> dict[str, Any]:
    """A report with the text wherever an author or a data file can put it."""
    changed = report(
        title=text, hypothesis=text, rationale=text, authors=[text], straw=text, outside_looks=[text],
        acknowledged=[text], record=[("benchmark", text)],
        baseline={"words": text, "because": text}, candidate={"words": text, "trials": 1},
    )  # fmt: skip
    for rows in ("clauses", "credits", "slices"):
        changed[rows] = [{**row, "slice": text} for row in changed[rows]]
    changed["clauses"][0] |= {"promise": text, "outcome": text}
    changed["exclusions"] = [{"n": 1, "measures": "R@10", "questions": text}]
    return changed


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_html(text: str, report: Report) -> None:
    """No author can add a tag, an attribute or code, and what they wrote is what is read."""
    plain, found = Page(render(report())[HTML]), Page(render(hostile(text, report))[HTML])
    assert found.open == []
    assert found.tags == plain.tags
    assert found.attributes == plain.attributes
    assert found.text.count(text) >= 15


def columns(row: str) -> int:
    """How many cells a table row of Markdown has: a bar counts unless an odd number of backslashes is before it."""
    return len(re.sub(r"\\.", "", row).strip("|").split("|"))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_markdown(text: str, report: Report) -> None:
    """No author can add a line, a table cell, a tag, a code span, a link or an image."""
    plain, page = (
        render(value)[MARKDOWN].split("\n") for value in (report(straw="x", acknowledged=["x"]), hostile(text, report))
    )
    assert len(page) == len(plain)
    for before, after in zip(plain, page, strict=True):
        assert re.match(r"[#|`*-]*", after)[0] == re.match(r"[#|`*-]*", before)[0]  # type: ignore[index]
        if before.startswith("|"):
            assert columns(after) == columns(before)
    whole = re.sub(r"\\.", "", "\n".join(page))
    assert "<" not in whole.replace("p (pass)", "").replace("< 0.0001", "")
    assert not re.search(r"\]\(", whole)
    assert whole.count("`") == 6  # the one fenced block


def test_a_markdown_table_is_a_table(report: Report) -> None:
    """Every row has as many cells as its head."""
    tables = re.findall(r"(?m)(?:^\|.*\n)+", render(report())[MARKDOWN])
    assert len(tables) == 7
    for table in tables:
        assert len({columns(row) for row in table.splitlines()}) == 1, table


def test_an_inadmissible_run_shows_no_estimate(report: Report) -> None:
    """Nothing that could be quoted as a result, even if it had been computed."""
    for text in render(report("INADMISSIBLE")).values():
        body = text.partition("</style>")[2] or text
        assert "nothing valid was measured" in body
        assert "<svg" not in body
        assert "Both credit rules" not in body
        assert "Slices" not in body
        # but the author's own prediction, which is no result
        assert re.findall(r"[+-]\d+\.\d+", body) == ["+1.0", "+8.0"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"straw": "for a paper"}, "A straw comparison"),
        ({"unequal": "we pay for it"}, "Unequal read budgets"),
        ({"exposed": True}, "Reused: error rate not controlled."),
        ({"estimate_rule": {"pass_at_zero": 0.31, "rollback_at_zero": 0.5}}, "PASS 31.0 % and ROLLBACK 50.0 %"),
        ({"acknowledged": ["reason: we know"]}, "we know"),
        ({"look": 2}, "Look 2 at these held-out questions"),
    ],
)
def test_what_weakens_a_verdict_is_said(changes: dict[str, Any], said: str, report: Report) -> None:
    """In both forms where it holds, and in neither where it does not."""
    for before, after in zip(render(report()).values(), render(report(**changes)).values(), strict=True):
        assert said in re.sub(r"</?strong>|\*\*", "", after)
        assert said not in re.sub(r"</?strong>|\*\*", "", before)


def test_the_caption_says_what_decides(report: Report) -> None:
    """Under bounds the bar, under bare estimates the dot; never both."""
    rule = {"pass_at_zero": 0.31, "rollback_at_zero": 0.5}
    by_bounds, by_estimate = (render(report(estimate_rule=each))[HTML] for each in (None, rule))
    assert "holds if its whole bar lies" in by_bounds
    assert "holds if its dot lies" in by_estimate
    assert "dot lies" not in by_bounds
    assert "bar lies" not in by_estimate


def test_every_heading_of_the_clauses_is_explained(report: Report) -> None:
    """Whoever points at a heading reads what it means; the note below the table says it too."""
    page = render(report())[HTML]
    for name in ("lower", "upper", "upper for rollback", "must exceed", "rollback below", "p (pass)", "p (rollback)"):
        assert re.search(rf'<th title="[^"]+">{re.escape(name)}</th>', page), name
    assert "Upper for rollback: " in page


@pytest.mark.parametrize(("trials", "said"), [(1, "picked from 1 dev trial\n"), (3, "picked from 3 dev trials\n")])
def test_the_number_of_trials_is_said(trials: int, said: str, report: Report) -> None:
    """A candidate that was picked from many is told apart from one that was not."""
    candidate = {"words": "bm25", "trials": trials}
    assert said in render(report(candidate=candidate))[MARKDOWN]
    unknown = render(report(candidate={"words": "bm25", "trials": None}))
    assert not any("picked from" in text for text in unknown.values())


def test_bounds_that_do_not_exist_are_dashes(report: Report) -> None:
    """Never 0, never None."""
    for text in render(report()).values():
        assert "None" not in text
        assert "–" in text


def test_a_value_that_is_missing_is_a_fault(report: Report) -> None:
    """A page is never written with a silent gap."""
    value = report()
    del value["hypothesis"]
    with pytest.raises(UndefinedError, match="hypothesis"):
        render(value)
