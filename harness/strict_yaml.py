"""A small, strict YAML: a document means what a person reads in it, or it is refused.

The syntax comes from PyYAML's scanner and parser, event by event. Values are resolved here, so that none of
YAML 1.1's surprises (``no`` as false, ``1:30`` as 90) gets in; no tag is ever constructed.
"""

from __future__ import annotations

import errno
import os
import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import yaml

from harness.errors import EnvironmentProblem, UsageProblem

_Path = tuple[str | int, ...]
MAX_DEPTH = 32
MAX_NODES = 100_000
MAX_DIGITS = 18  # before the point: fits a signed 64-bit integer
MAX_PLACES = 12

_WORDS = {"": None, "null": None, "true": True, "false": False}
_ACCEPTED = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")

# What some reader of YAML takes for something other than text. No two neighbouring parts can match the same
# character, so that a megabyte of digits costs linear time.
_ANY_NUMBER = r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9][0-9_]*)?"
_NUMBER = re.compile(_ANY_NUMBER)
_PERCENT = re.compile(rf"({_ANY_NUMBER})\s*%")
_NOT_TEXT = {
    "a number to base 2, 8 or 16": re.compile(r"[-+]?0(?:[xX][0-9a-fA-F_]+|[oO][0-7_]+|[bB][01_]+)"),
    "a number to base 60": re.compile(r"[-+]?[0-9][0-9_]*(?::[0-9_]+)+(?:\.[0-9_]*)?"),
    "a date": re.compile(r"[0-9]{4}(?:-[0-9]{1,2}){2}(?:(?:[Tt]| +)[0-9]{1,2}:[0-9]{2}[-+:.0-9Zz ]*)?"),
    "not a finite number": re.compile(r"[-+]?\.?(?:nan|inf(?:inity)?)", re.IGNORECASE),
}
_MISSPELT = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_MISSPELT |= {"true": "true", "false": "false", "null": "null", "~": "null"}

_INVISIBLE = {
    "control or separator character": r"\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029",
    "bidirectional control": r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069",
    "surrogate or noncharacter": r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff",
    # ranges in place of Unicode categories: those grow from one Python to the next, a refusal must not
    "zero-width or invisible character": r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200d"
    r"\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0000-\U000e0fff",
}
_FORBIDDEN = re.compile("|".join(f"([{characters}])" for characters in _INVISIBLE.values()))

# PyYAML's complaint: what a person would call it, and the mend
_SYNTAX = {
    "found ':'": ("a colon without a key", "write a key before the colon"),
    "expected ':'": ("a key is not followed by a colon", "write `key: value`, with a colon and a blank"),
    "mapping values are": ("a colon stands where no key can be", 'align the line, or quote the text: "a: b"'),
    "expected <block end>": ("the line does not fit what is above it", "align it with its neighbours"),
    "expected ',' or": ("a bracket is not closed, or a comma is missing", "add the comma or the bracket"),
    "found unexpected": ("a quoted text is not closed", "add the closing quotation mark"),
    "unknown escape": ("a backslash means nothing here", "double it, or use single quotes: 'a\\b'"),
    "'\\t' that cannot start": ("a tab stands between words of the syntax", "write a blank in its place"),
    "that cannot start": ("plain text cannot begin with this character", 'quote the text: "@name"'),
    "": ("this is not YAML", "correct the line, or quote the text"),
}
# about something opened and never closed: the line of the opening says more than the end of the file
_OPENED = ("while scanning a simple key", "while scanning a quoted scalar", "while parsing a flow")


@dataclass(frozen=True)
class Loaded:
    """A document's plain value, the line of each of its parts, and its bytes as they were read."""

    value: dict[str, Any]
    lines: Mapping[_Path, int]  # path of every key and list item → 1-based line; () is the whole document
    raw: bytes


def load_strict(path: Path, *, max_bytes: int = 1_000_000) -> Loaded:
    """Read a document from a regular file.

    Raises:
        UsageProblem: no such file, no regular file, a link, too large, or a content that is refused.
        EnvironmentProblem: the file exists and cannot be read.
    """
    where = str(path)
    # O_NOFOLLOW: no link can slip in between the check and the opening
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        if path.is_symlink():
            raise OSError(errno.ELOOP, "symbolic link")
        if path.exists() and not path.is_file():  # opening a named pipe would wait for ever
            _refuse(where, "this is a folder, a pipe or a device", "a regular file", "name a YAML file")
        with os.fdopen(os.open(path, flags), "rb") as handle:
            raw = handle.read(max_bytes + 1)
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: a NUL in the name
        _refuse(where, "there is no such file", "the path of a YAML file", "check the path")
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            what = "the document is a symbolic link, which can be pointed at another text at any time"
            _refuse(where, what, "a regular file", "copy the text to this path in place of the link")
        fix = "make the file readable for this user, and check the disk"
        raise EnvironmentProblem(f"cannot read the file: {problem.strerror}", where=where, fix=fix) from None
    if len(raw) > max_bytes:
        _refuse(where, "the file is too large", f"at most {max_bytes} bytes", "shorten the document")
    return parse_strict(raw, where)


def parse_strict(raw: bytes, where: str) -> Loaded:
    """Parse a document, or raise a UsageProblem with its line, what was allowed and the mend."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        what = f"byte 0x{raw[problem.start]:02X} is not UTF-8"
        _refuse(f"{where}:{line}", what, "UTF-8", "save the file as UTF-8")
    # one reading for every editor: neither the mark nor the kind of line end reaches the parser
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    for number, content in enumerate(text.split("\n"), start=1):
        _check_characters(content, f"{where}:{number}")
        if tab := re.match(" *\t", content):
            what = f"the line is indented with a tab (column {tab.end()})"
            _refuse(f"{where}:{number}", what, "blanks", "write blanks in place of the tab")
    builder = _Builder(text, where)
    return Loaded(builder.document(), builder.lines, raw)


def line_of(loaded: Loaded, path: _Path) -> int:
    """The 1-based line of ``path``, or of its nearest ancestor that the document holds."""
    while path not in loaded.lines:
        path = path[:-1]
    return loaded.lines[path]


def _refuse(where: str, what: str, allowed: str, fix: str) -> NoReturn:
    raise UsageProblem(what, where=where, allowed=allowed, fix=fix) from None


def _check_characters(text: str, where: str, place: str = "") -> None:
    """Refuse characters that nobody can see, and text whose look does not settle its code points."""
    if found := _FORBIDDEN.search(text):
        kind, name = list(_INVISIBLE)[(found.lastindex or 1) - 1], f"U+{ord(found[0]):04X}"
        at = place or f"column {found.start() + 1}"
        fix = "end lines with LF or CRLF" if found[0] == "\r" else f"delete {name} ({at})"
        _refuse(where, f"{kind} {name} ({at})", "visible text, blanks and line ends", fix)
    if not unicodedata.is_normalized("NFC", text):
        mended = unicodedata.normalize("NFC", text)
        index = next(i for i, (old, new) in enumerate(zip(text, mended, strict=False)) if old != new)
        at, name = place or f"column {index + 1}", f"U+{ord(mended[index]):04X}"
        what = f"the text is not in Unicode's composed form, NFC ({at})"
        _refuse(where, what, "text in NFC", f"type {mended[index]} ({name}) anew, as one character")


def _forbid(what: str, begin: str) -> Callable[[Any], None]:
    def fetch(scanner: Any) -> None:
        fix = f'delete it or write its value out; quote text that begins so: "{begin}name"'
        _refuse(f"{scanner.name}:{scanner.line + 1}", f"{what} ({begin}) is not allowed", "plain YAML", fix)

    return fetch


class _Syntax(yaml.BaseLoader):
    """PyYAML's scanner and parser, less everything that reaches beyond the place where it stands."""

    fetch_directive = _forbid("a directive", "%")
    fetch_anchor = _forbid("an anchor", "&")
    fetch_alias = _forbid("an alias", "*")
    fetch_tag = _forbid("a tag", "!")


def _refuse_syntax(problem: yaml.MarkedYAMLError, where: str) -> NoReturn:
    complaint = problem.problem or "it cannot be parsed"
    what, fix = next(words for fragment, words in _SYNTAX.items() if fragment in complaint)
    line = problem.problem_mark.line + 1 if problem.problem_mark else 1
    begin = problem.context_mark
    if begin and begin.line + 1 < line and (problem.context or "").startswith(_OPENED):
        what, line = f"{what}; noticed on line {line}", begin.line + 1
    _refuse(f"{where}:{line}", f"{what} ({complaint})", "YAML mappings, lists and text", fix)


class _Builder:
    """Builds the plain value from events; MAX_DEPTH bounds the recursion."""

    def __init__(self, text: str, where: str) -> None:
        self.where, self.at, self.line, self.nodes = where, f"{where}:1", 1, 0
        self.lines: dict[_Path, int] = {}
        self.syntax = _Syntax(text)
        self.syntax.name = where

    def document(self) -> dict[str, Any]:
        self._next()  # the start of the stream
        if not isinstance(self._next(), yaml.DocumentStartEvent):
            _refuse(self.at, "the document is empty", "a mapping", "write lines of `key: value`")
        if not isinstance(top := self._next(), yaml.MappingStartEvent):
            _refuse(self.at, "the document is not a mapping", "a mapping", "write lines of `key: value`")
        value: dict[str, Any] = self._node(top, ())
        self._next()  # the end of the document
        if not isinstance(self._next(), yaml.StreamEndEvent):
            _refuse(self.at, "a second document begins here", "one document", "delete `---` and the rest")
        return value

    def _next(self) -> yaml.Event:
        """The next event, which begins on line ``self.line``."""
        try:
            event: yaml.Event = self.syntax.get_event()  # type: ignore[no-untyped-call]
        except yaml.MarkedYAMLError as problem:
            _refuse_syntax(problem, self.where)
        except (ValueError, OverflowError):  # what chr() says to an escape such as "\UFFFFFFFF"
            at = f"{self.where}:{self.syntax.line + 1}"
            _refuse(at, "an escape names no character", "Unicode", "write the character itself")
        self.line = event.start_mark.line + 1 if event.start_mark else self.line
        self.at = f"{self.where}:{self.line}"
        return event

    def _node(self, event: yaml.Event, path: _Path) -> Any:
        self.lines.setdefault(path, self.line)  # a key has set the line of its value
        self.nodes += 1
        if self.nodes > MAX_NODES:
            _refuse(self.at, "the document has too many parts", f"at most {MAX_NODES}", "shorten it")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event, self.at)
        if len(path) >= MAX_DEPTH:
            _refuse(self.at, "the nesting is too deep", f"{MAX_DEPTH} levels", "flatten it")
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(event := self._next(), yaml.SequenceEndEvent):
                items.append(self._node(event, (*path, len(items))))
            return items
        mapping: dict[str, Any] = {}
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            key = self._key(event, path, mapping)
            mapping[key] = self._node(self._next(), (*path, key))
        return mapping

    def _key(self, event: yaml.Event, path: _Path, mapping: dict[str, Any]) -> str:
        self.nodes += 1
        if not isinstance(event, yaml.ScalarEvent):
            _refuse(self.at, "a key is a list or a mapping", "text as keys", "write `key: value`")
        if event.value == "<<" and event.style is None:
            _refuse(self.at, "a merge key (<<) is not allowed", "plain keys", "write the merged keys out")
        key = _scalar(event, self.at)
        if not isinstance(key, str):
            fix = f'quote it: "{event.value}"' if event.value else "write a key before the colon"
            _refuse(self.at, "a key is not text", "text as keys", fix)
        if key in mapping:
            fix = f"delete one of the two (the first is on line {self.lines[*path, key]})"
            _refuse(self.at, f"the key '{key:.60}' stands here a second time", "each key once", fix)
        self.lines[*path, key] = self.line
        return key


def _scalar(event: yaml.ScalarEvent, at: str) -> Any:
    """Quoted and block text as it is; plain text as the one value that all readers give it, or a refusal."""
    text = event.value
    if event.style is not None:
        _check_characters(text, at, "in quoted text, by an escape")
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _ACCEPTED.fullmatch(text) and _fits(text):
        return Decimal(text) if "." in text else int(text)
    what, better = _surprise(text)
    if what:
        shown = text[:60].replace("\n", " ")  # plain text can go over several lines, a message cannot
        instead = f"write {better} instead of {shown}, or " if better else ""
        allowed = "text, true, false, null, whole numbers, decimals such as 0.02"
        _refuse(at, f"{shown} is {what}", allowed, f'{instead}quote it: "{shown}"')
    return text


def _fits(number: str) -> bool:
    whole, _, places = number.lstrip("-").partition(".")
    return len(whole) <= MAX_DIGITS and len(places) <= MAX_PLACES


def _surprise(text: str) -> tuple[str, str]:
    """What ``text`` is to some readers of YAML and not to others, and a better spelling if there is one."""
    if better := _MISSPELT.get(text.lower()):
        return "a word that some readers of YAML take for another value", better
    if _ACCEPTED.fullmatch(text):
        rounded = f"{Decimal(text[:60]):.{MAX_PLACES}f}"
        what = f"longer than {MAX_DIGITS} digits or {MAX_PLACES} decimal places"
        return what, rounded if "." in text and _fits(rounded) else ""
    if found := _PERCENT.fullmatch(text):
        return "a percentage", _digits_alone(found[1], shift=-2)
    if _NUMBER.fullmatch(text):
        return "a spelling of a number that readers of YAML take differently", _digits_alone(text)
    return next(((what, "") for what, pattern in _NOT_TEXT.items() if pattern.fullmatch(text)), ("", ""))


def _digits_alone(number: str, shift: int = 0) -> str:
    mantissa, _, exponent = number.lower().replace("_", "").partition("e")
    if len(number) > 40 or abs(int(exponent or 0)) > 30:  # never write out 1e999999999
        return ""
    plain = format(Decimal(f"{mantissa}e{int(exponent or 0) + shift}"), "f")
    return plain if _fits(plain) else ""
