"""Texts with ids of their own, a document or a question a line: JSON objects, or id, tab, text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.benchmarks.lines import Seen, read_lines, text_lines
from harness.benchmarks.source import need, need_id
from harness.errors import UsageProblem

JSON_LINES, TAB_LINES = (".jsonl", ".json", ".ndjson"), (".tsv", ".txt")
"""Endings of file names by form."""

Text = tuple[int, str, str]
"""The line's number, the id, the text."""

_LISTED = 8  # fields of an object that an error names


@dataclass(frozen=True)
class Fields:
    """Which fields of a JSON object hold what.

    Attributes:
        ids, texts: names of which exactly one must be there.
        titled: a name of `texts` before which ``title`` is put, where there is one; "" for none.
    """

    ids: tuple[str, ...] = ("_id",)
    texts: tuple[str, ...] = ("text",)
    titled: str = ""


def json_texts(path: Path, expected: str, fields: Fields, seen: Seen | None = None) -> Iterator[Text]:
    """Texts from JSON objects, in the order of the file.

    Args:
        path, expected, seen: as in `harness.benchmarks.lines.read_lines`.
        fields: which fields to read; others are ignored.

    Raises:
        UsageProblem: as `read_lines`; a field that is missing, there under two names, or no text; an id with a blank.
    """
    for number, value in read_lines(path, expected, seen):
        where = f"{path}:{number}"
        name = _one_of(fields.ids, value, where, "id")
        identifier = need_id(value[name], where, name)
        name = _one_of(fields.texts, value, where, "text")
        text: str = need(value[name], str, where, name)
        yield number, identifier, _titled(value, text, where) if name == fields.titled else text


def tab_texts(path: Path, expected: str, seen: Seen | None = None) -> Iterator[Text]:
    """Texts from lines of id, tab, text, in the order of the file; nothing is quoted, and there is no header.

    Args:
        path, expected, seen: as in `harness.benchmarks.lines.text_lines`.

    Raises:
        UsageProblem: as `text_lines`; a line without a tab or with several, or an id with a blank.
    """
    for number, line in text_lines(path, expected, seen):
        where = f"{path}:{number}"
        columns = line.rstrip("\r\n").split("\t")
        if len(columns) != 2:
            said = f"{len(columns)} column{'s' if len(columns) > 1 else ''}"
            raise UsageProblem(said, where=where, allowed=f"id, tab, text, a line each ({expected})")
        yield number, need_id(columns[0], where, "the id"), columns[1]


def texts_of(path: Path, expected: str, fields: Fields, seen: Seen | None = None) -> Iterator[Text]:
    """Texts in the form that the ending of the file's name says.

    Raises:
        UsageProblem: another ending, or as `json_texts` and `tab_texts`.
    """
    if path.suffix.lower() in JSON_LINES:
        return json_texts(path, expected, fields, seen)
    if path.suffix.lower() in TAB_LINES:
        return tab_texts(path, expected, seen)
    allowed = f"JSON lines ({', '.join(JSON_LINES)}), or id, tab, text ({', '.join(TAB_LINES)})"
    raise UsageProblem("its name does not say its form", where=str(path), allowed=allowed, fix="rename the file")


def _one_of(names: Sequence[str], value: dict[str, Any], where: str, what: str) -> str:
    present = [name for name in names if name in value]
    if len(present) == 1:
        return present[0]
    allowed = f"one field of {', '.join(names)}" if len(names) > 1 else f"the field {names[0]}"
    if present:
        said = f"{what} under {len(present)} names: {', '.join(present)}"
    else:
        fields = [repr(name) for name in list(value)[:_LISTED]] + ["…"] * (len(value) > _LISTED)
        said = f"no field for the {what}; there {'are' if fields else 'is'} {', '.join(fields) or 'none at all'}"
    raise UsageProblem(said, where=where, allowed=allowed, fix="mend the line")


def _titled(value: dict[str, Any], text: str, where: str) -> str:
    title = value.get("title")
    if title is None:
        return text
    need(title, str, where, "title")
    return f"{title} {text}" if title.strip() else text
