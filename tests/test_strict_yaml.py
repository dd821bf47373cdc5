"""The strict loader: a document means what it looks like, or it is refused with line and mend."""

import errno
import json
import os
import re
import string
import sys
import time
import unicodedata
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness import strict_yaml
from harness.errors import EnvironmentProblem, HarnessError, UsageProblem
from harness.strict_yaml import Loaded, line_of, load_strict, parse_strict


def parse(text: str) -> Any:
    """The value of a document."""
    return parse_strict(text.encode(), "doc.yaml").value


def refusal(raw: bytes | str) -> UsageProblem:
    """The refusal of a document, complete with its line, what was allowed and the mend."""
    with pytest.raises(UsageProblem) as caught:
        parse_strict(raw.encode() if isinstance(raw, str) else raw, "doc.yaml")
    problem = caught.value
    assert problem.what
    assert problem.allowed
    assert problem.fix
    assert re.fullmatch(r"doc\.yaml:[1-9][0-9]*", problem.where)
    assert "\n" not in problem.what
    return problem


# fmt: off
INVISIBLE = [
    "\u0000", "\u0007", "\u000b", "\u001b", "\u007f", "\u0080", "\u0085", "\u009f", "\u2028", "\u2029",
    "\u061c", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u00ad", "\u200b", "\u200c",
    "\u200d", "\u2060", "\ufeff", "\ufe0f", "\u180e", "\u3164", "\U000e0041", "\ufffe", "\ufdd0",
]
YES_NO = [
    "yes", "Yes", "YES", "no", "No", "NO", "nO", "on", "On", "ON", "off", "Off", "OFF", "y", "Y", "n", "N",
]
NOT_FINITE = [
    ".nan", ".NaN", ".NAN", "nan", "NaN", ".inf", "-.inf", "+.INF", "inf", "-Inf", "Infinity",
]
# fmt: on

SURPRISES = [
    *((word, f'quote it: "{word}"') for word in YES_NO),
    ("no", "write false instead of no"),
    ("on", "write true instead of on"),
    ("True", "write true instead of True"),
    ("TRUE", "write true instead of TRUE"),
    ("False", "write false instead of False"),
    ("FALSE", "write false instead of FALSE"),
    ("Null", "write null instead of Null"),
    ("NULL", "write null instead of NULL"),
    ("~", "write null instead of ~"),
    ("1:30", 'quote it: "1:30"'),
    ("12:30:45", 'quote it: "12:30:45"'),
    ("190:20:30.15", 'quote it: "190:20:30.15"'),
    ("1:99", 'quote it: "1:99"'),
    ("012", "write 12 instead of 012"),
    ("-012", "write -12 instead of -012"),
    ("00.5", "write 0.5 instead of 00.5"),
    ("09", 'quote it: "09"'),
    ("0o12", 'quote it: "0o12"'),
    ("0x1F", 'quote it: "0x1F"'),
    ("0X1f", 'quote it: "0X1f"'),
    ("0b1", 'quote it: "0b1"'),
    ("0x_", 'quote it: "0x_"'),
    ("1_000", "write 1000 instead of 1_000"),
    ("1_000.5", "write 1000.5 instead of 1_000.5"),
    ("2024-01-02", 'quote it: "2024-01-02"'),
    ("2024-1-2", 'quote it: "2024-1-2"'),
    ("2001-12-14t21:59:43.10-05:00", 'quote it: "2001-12-14t21:59:43.10-05:00"'),
    ("2001-12-14 21:59:43.10 -5", 'quote it: "2001-12-14 21:59:43.10 -5"'),
    ("2001-12-15T02:59:43Z", 'quote it: "2001-12-15T02:59:43Z"'),
    ("1e-3", "write 0.001 instead of 1e-3"),
    ("1E5", "write 100000 instead of 1E5"),
    ("1.5e3", "write 1500 instead of 1.5e3"),
    ("-2.5e-2", "write -0.025 instead of -2.5e-2"),
    ("1e999999999", 'quote it: "1e999999999"'),
    ("1e-13", 'quote it: "1e-13"'),
    (".5", "write 0.5 instead of .5"),
    ("-.5", "write -0.5 instead of -.5"),
    ("5.", "write 5 instead of 5."),
    ("+1", "write 1 instead of +1"),
    ("+0.5", "write 0.5 instead of +0.5"),
    *((word, f'quote it: "{word}"') for word in NOT_FINITE),
    ("2%", "write 0.02 instead of 2%"),
    ("2 %", "write 0.02 instead of 2 %"),
    ("2\u00a0%", "write 0.02 instead"),
    ("-0.5%", "write -0.005 instead of -0.5%"),
    ("+3%", "write 0.03 instead of +3%"),
    (".5%", "write 0.005 instead of .5%"),
    ("50%", "write 0.50 instead of 50%"),
    ("1234567890123456789", 'quote it: "1234567890123456789"'),
    ("-1234567890123456789", 'quote it: "-1234567890123456789"'),
    ("0.1234567890123", "write 0.123456789012 instead of 0.1234567890123"),
    ("1234567890123456789.5", 'quote it: "1234567890123456789.5"'),
]


@pytest.mark.parametrize(("text", "mend"), SURPRISES)
@pytest.mark.parametrize(
    ("before", "after"),
    [("a: 1\nb: ", "\n"), ("a: 1\nb: {c: [", "]}\n"), ("a:\n- ", "\nb: 2"), ("a: 1\nb:   ", "  # why\n")],
)
def test_a_plain_scalar_that_readers_of_yaml_take_differently_is_refused(
    text: str, mend: str, before: str, after: str
) -> None:
    """Line and mend are named, wherever the scalar stands."""
    problem = refusal(before + text + after)
    assert problem.where == "doc.yaml:2"
    assert mend in problem.fix
    assert text in problem.what
    assert problem.exit_code == 2


@pytest.mark.parametrize(("text", "mend"), SURPRISES)
def test_the_quoted_form_of_every_surprise_is_text(text: str, mend: str) -> None:
    """The mend works as it is written, in both kinds of quotes."""
    assert mend
    assert parse(f"a: \"{text}\"\nb: '{text}'\nc: |-\n  {text}\n") == dict.fromkeys("abc", text)


@pytest.mark.parametrize("text", [text for text, mend in SURPRISES if mend.startswith("write")])
def test_the_better_spelling_is_accepted(text: str) -> None:
    """What the mend tells the author to write can be loaded."""
    found = re.search(r"write (\S+) instead", refusal(f"a: {text}").fix)
    assert found
    parse(f"a: {found[1]}")


REFUSED_DOCUMENTS = {
    "empty": ("", 1, "write lines of `key: value`"),
    "blank": ("\n\n", 3, "write lines of `key: value`"),
    "comment only": ("# nothing\n", 2, "write lines of `key: value`"),
    "empty explicit document": ("---\n", 2, "write lines of `key: value`"),
    "top is a list": ("# x\n- a\n- b\n", 2, "write lines of `key: value`"),
    "top is text": ("just text\n", 1, "write lines of `key: value`"),
    "top is a flow list": ("[a]", 1, "write lines of `key: value`"),
    "duplicate key": ("a: 1\nb: 2\na: 1\n", 3, "the first is on line 1"),
    "duplicate key in another style": ("x:\n  a: 1\n  b: 2\n  'a': 1\n", 4, "the first is on line 2"),
    "duplicate key in flow": ('x: {a: 1,\n "a": 2}', 2, "the first is on line 1"),
    "number as key": ("a: 1\n1: x\n", 2, 'quote it: "1"'),
    "decimal as key": ("a: 1\n0.5: x\n", 2, 'quote it: "0.5"'),
    "boolean as key": ("a: 1\ntrue: x\n", 2, 'quote it: "true"'),
    "null as key": ("a: 1\nnull: x\n", 2, 'quote it: "null"'),
    "surprise as key": ("a: 1\non: x\n", 2, 'quote it: "on"'),
    "no key": (": x\n", 1, "write a key before the colon"),
    "empty key": ("a: 1\n?\n: x\n", 2, "write a key before the colon"),
    "empty key in flow": ("a: 1\nb: {? , c: x}\n", 2, "write a key before the colon"),
    "no key in flow": ("a: 1\nb: {: x}\n", 2, "write a key before the colon"),
    "list as key": ("a: 1\n[x, y]: 1\n", 2, "write `key: value`"),
    "mapping as key": ("a: 1\n? {x: y}\n: 1\n", 2, "write `key: value`"),
    "anchor": ("a: 1\nb: &name x\n", 2, "delete it or write its value out"),
    "anchored list": ("a: 1\nb: &name\n- x\n", 2, "delete it or write its value out"),
    "anchored key": ("a: 1\n&name b: x\n", 2, "delete it or write its value out"),
    "alias": ("a: 1\nb: *name\n", 2, 'quote text that begins so: "*name"'),
    "alias that looks like emphasis": ("a: 1\nb: *very* good\n", 2, 'quote text that begins so: "*name"'),
    "tag": ("a: 1\nb: !!str 1\n", 2, 'quote text that begins so: "!name"'),
    "dangerous tag": (
        "a: 1\nb: !!python/object/apply:os.system [id]\n",
        2,
        'quote text that begins so: "!name"',
    ),
    "own tag": ("a: 1\nb: !env HOME\n", 2, 'quote text that begins so: "!name"'),
    "lone tag": ("a: 1\nb: ! 1\n", 2, 'quote text that begins so: "!name"'),
    "merge key": ("a: 1\n<<: {b: 1}\n", 2, "write the merged keys out"),
    "several documents": ("a: 1\n---\nb: 1\n", 2, "delete `---`"),
    "several documents after an end": ("a: 1\n...\n---\nb: 1\n", 3, "delete `---`"),
    "empty second document": ("a: 1\n---\n", 2, "delete `---`"),
    "yaml directive": ("%YAML 1.1\n---\na: 1\n", 1, "delete it or write its value out"),
    "tag directive": ("%TAG ! tag:x,2000:\n---\na: 1\n", 1, "delete it or write its value out"),
    "unknown directive": ("# x\n%FOO bar\n---\na: 1\n", 2, "delete it or write its value out"),
    "not UTF-8": (b"a: 1\nb: caf\xe9\n", 2, "save the file as UTF-8"),
    "UTF-16": ("a: 1\n".encode("utf-16"), 1, "save the file as UTF-8"),
    "encoded surrogate": (b"a: 1\nb: \xed\xa0\x80\n", 2, "save the file as UTF-8"),
    "tab for indentation": ("a:\n\tb: 1\n", 2, "write blanks in place of the tab"),
    "tab after blanks": ("a:\n  \tb: 1\n", 2, "write blanks in place of the tab"),
    "tab in block text": ("a: |\n  x\n\ty\n", 3, "write blanks in place of the tab"),
    "tab after the colon": ("a: 1\nb:\tc\n", 2, "write a blank in its place"),
    "no colon": ("a: 1\nb\nc: 1\n", 2, "write `key: value`"),
    "colon in text": ("a: 1\nb: x: y\n", 2, 'quote the text: "a: b"'),
    "bad indentation": ("a:\n   b: 1\n  c: 1\n", 3, "align it"),
    "open bracket": ("a: 1\nb: [x,\n  y\nc: 1\n", 2, "add the comma or the bracket"),
    "missing comma": ("a: 1\nb: {c: 1,\n d: 2\n e: 3}\n", 2, "add the comma or the bracket"),
    "list on the line of its key": ("a: 1\nb: - x\n", 2, "correct the line"),
    "open quotes": ('a: 1\nb: "x\nc: 1\n', 2, "add the closing quotation mark"),
    "quotes open across a separator": ('a: 1\nb: "x\n---\ny"\n', 2, "add the closing quotation mark"),
    "unknown escape": ('a: 1\nb: "C:\\work"\n', 2, "use single quotes"),
    "escape beyond Unicode": ('a: 1\nb: "\\U7FFFFFFF"\n', 2, "write the character itself"),
    "escape far beyond Unicode": ('a: 1\nb: "\\UFFFFFFFF"\n', 2, "write the character itself"),
    "reserved first character": ("a: 1\nb: @name\n", 2, 'quote the text: "@name"'),
    "percent first": ("a: 1\nb: %5\n", 2, "quote the text"),
    "text after quotes": ('a: 1\nb: "x" y\n', 2, "align it"),
    "too deep in flow": ("a: 1\nb: " + "[" * 32 + "]" * 32, 2, "flatten it"),
    "far too deep in flow": ("a: 1\nb: " + "[" * 100_000, 2, "flatten it"),
    "far too deep in mappings": ("a: 1\nb: " + "{a: " * 100_000, 2, "flatten it"),
    "too deep in blocks": ("".join(f"{' ' * n}k:\n" for n in range(40)), 33, "flatten it"),
    "too deep in dashes": ("a: 1\nb:\n" + "- " * 100_000 + "x", 3, "flatten it"),
    "percentage over two lines": ("a: 2\n  %\n", 1, "write 0.02 instead of 2 %"),
}


@pytest.mark.parametrize(("raw", "line", "mend"), REFUSED_DOCUMENTS.values(), ids=REFUSED_DOCUMENTS.keys())
def test_a_document_is_refused_with_its_line_and_the_mend(raw: bytes | str, line: int, mend: str) -> None:
    """Every refusal names the line at fault and what to type."""
    problem = refusal(raw)
    assert f"doc.yaml:{line}:" in str(problem)
    assert mend in problem.fix


@pytest.mark.parametrize("character", INVISIBLE, ids=[f"U+{ord(c):04X}" for c in INVISIBLE])
@pytest.mark.parametrize("line", ["b: x{}y", "b: 'x{}'", "# xx {}", "b{}: 1"])
def test_an_invisible_character_is_named_with_its_column(character: str, line: str) -> None:
    """Neither text, quotes, comments nor keys hide a character that nobody sees."""
    column = line.index("{") + 1
    problem = refusal("a: 1\n" + line.format(character) + "\n")
    name = f"U+{ord(character):04X}"
    assert problem.where == "doc.yaml:2"
    assert f"{name} (column {column})" in problem.what
    assert problem.fix == f"delete {name} (column {column})"


@pytest.mark.parametrize("character", [*INVISIBLE, "\r", "\ud800"])
def test_an_escape_does_not_bring_in_what_is_refused_in_the_open(character: str) -> None:
    """Escapes in double quotes are checked by what they become."""
    problem = refusal(f'a: 1\nb: "x\\U{ord(character):08X}"\n')
    assert problem.where == "doc.yaml:2"
    assert f"U+{ord(character):04X}" in problem.what


def test_a_lone_carriage_return_is_refused() -> None:
    """A line end that other tools do not show could hide a key behind a comment."""
    problem = refusal("a: 1 # note\rb: 2\n")
    assert "U+000D (column 12)" in problem.what
    assert problem.fix == "end lines with LF or CRLF"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("b: cafe\u0301", "column 7"),
        ("b: 'cafe\u0301'", "column 8"),
        ("# cafe\u0301", "column 6"),
        ("cafe\u0301: 1", "column 4"),
        ('b: "cafe\\u0301"', "by an escape"),
    ],
)
def test_text_that_is_not_composed_is_refused(text: str, place: str) -> None:
    """Two spellings of one look would be two documents."""
    problem = refusal(f"a: 1\n{text}\n")
    assert problem.where == "doc.yaml:2"
    assert place in problem.what
    assert problem.fix == "type \u00e9 (U+00E9) anew, as one character"


def test_a_byte_order_mark_is_accepted_only_at_the_very_start() -> None:
    """The mark is dropped once, and columns count from after it."""
    assert parse("\ufeffa: 1\n") == {"a": 1}
    assert "U+FEFF (column 1)" in refusal("\ufeff\ufeffa: 1\n").what


ACCEPTED = {
    "integers": (
        "a: 0\nb: 7\nc: -12\nd: 123456789012345678",
        {"a": 0, "b": 7, "c": -12, "d": 123456789012345678},
    ),
    "decimals": (
        "a: 0.920\nb: -0.5\nc: 10.0",
        {"a": Decimal("0.92"), "b": Decimal("-0.5"), "c": Decimal(10)},
    ),
    "twelve places": ("a: 0.123456789012", {"a": Decimal("0.123456789012")}),
    "words": ("a: true\nb: false\nc: null\nd:", {"a": True, "b": False, "c": None, "d": None}),
    "quoted numbers": (
        "a: \"0.02\"\nb: '3'\nc: 'null'\nd: \"\"",
        {"a": "0.02", "b": "3", "c": "null", "d": ""},
    ),
    "plain text": (
        "a: R@10\nb: a b c\nc: conv-26\nd: bm25",
        {"a": "R@10", "b": "a b c", "c": "conv-26", "d": "bm25"},
    ),
    "versions": ("a: 1.2.3\nb: session-prefix/1\nc: v0", {"a": "1.2.3", "b": "session-prefix/1", "c": "v0"}),
    "near misses": (
        "a: yes please\nb: 12 %x\nc: 2024-01\nd: 10k\ne: 1-2\nf: not\ng: e5\nh: 0xyz\ni: -\u2212 5\nj: None",
        {"a": "yes please", "b": "12 %x", "c": "2024-01", "d": "10k", "e": "1-2", "f": "not", "g": "e5"}
        | {"h": "0xyz", "i": "-\u2212 5", "j": "None"},
    ),
    "date in a sentence": ("a: 2024-01-02 was a Tuesday", {"a": "2024-01-02 was a Tuesday"}),
    "urls": ("a: https://example.org/x#y", {"a": "https://example.org/x#y"}),
    "other scripts": ("a: Δ τ_roll naïve 数据 😀\nключ: да", {"a": "Δ τ_roll naïve 数据 😀", "ключ": "да"}),
    "escapes": ('a: "tab\\t, line\\n, \\u00e9, \\\\, \\""', {"a": 'tab\t, line\n, é, \\, "'}),
    "tab inside a line": ("a: 'x\ty'", {"a": "x\ty"}),
    "literal": ("a: |\n  x\n   y\n\n  z\nb: 1", {"a": "x\n y\n\nz\n", "b": 1}),
    "folded": ("a: >-\n  x\n  y\n\n  z\n", {"a": "x y\nz"}),
    "plain over two lines": ("a: x\n  y\nb: 1", {"a": "x y", "b": 1}),
    "special characters in block text": (
        "a: |\n  &x *y !z <<: %\n  --- no\n",
        {"a": "&x *y !z <<: %\n--- no\n"},
    ),
    "lists": (
        "a: [1, [x], {b: c}, ]\nd:\n- 1\n- - x\n- b: c",
        {"a": [1, ["x"], {"b": "c"}], "d": [1, ["x"], {"b": "c"}]},
    ),
    "empty collections": ("a: []\nb: {}", {"a": [], "b": {}}),
    "flow mapping at the top": ('{"a": 1, b: {c: x}}', {"a": 1, "b": {"c": "x"}}),
    "quoted keys": ('"1": a\n\'<<\': b\n"on": c\n? d\n: e', {"1": "a", "<<": "b", "on": "c", "d": "e"}),
    "document marks": ("---\na: 1\n...\n", {"a": 1}),
    "comments": ("# x\na: 1 # y\n\n# z\nb: x#y\n", {"a": 1, "b": "x#y"}),
    "deepest": ("a: " + "[" * 31 + "]" * 31, {"a": json.loads("[" * 31 + "]" * 31)}),
    "same key in two mappings": ("a: {x: 1}\nb: {x: 1}", {"a": {"x": 1}, "b": {"x": 1}}),
    "blank lines with blanks": ("a: 1\n   \nb: 2\n", {"a": 1, "b": 2}),
}


@pytest.mark.parametrize(("text", "value"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_plain_yaml_is_accepted(text: str, value: dict[str, Any]) -> None:
    """What is accepted has one plain value, and its types are exact."""
    found = parse(text)
    assert found == value
    assert typed(found) == typed(value)


def typed(value: Any) -> Any:
    """The shape of a value with its types: True, 1 and Decimal(1) are equal to Python, not to us."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else type(value)


DOCUMENT = """\
# a preregistration
format: 1
id: pr-2024-a
hypothesis: >
  prefixes help because
  speakers are named,

  mostly
why: |
  first
    second
title: "a \\
  b"
claim: {kind: superior, gain: 0.03}
guards:
  - measure: R@10
    drop: 0.03   # three points
  - {measure: 'nDCG@10', drop: 0.030}
plain: one
  two
empty:
"""


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "\ufeff" + text.replace("\n", "\r\n"),
        lambda text: re.sub(r"(?m)^(\w+:)", r"# note\n\n\1", text),
        lambda text: text.replace("# three points", ""),
        lambda text: text.replace("'nDCG@10'", "nDCG@10").replace("R@10", '"R@10"'),
        lambda text: text.replace("kind: superior, gain: 0.03", "gain: 0.03, kind: superior"),
        lambda text: text.replace("0.030", "0.03"),
        lambda text: "---\n" + text + "...\n",
        lambda text: "".join(f"{line}\r\n" if n % 2 else f"{line}\n" for n, line in enumerate(text.splitlines())),
    ],
)
def test_spelling_does_not_change_the_value(change: Any) -> None:
    """Line ends, byte-order mark, comments, key order and quoting style carry no meaning."""
    changed = change(DOCUMENT)
    assert changed != DOCUMENT
    assert parse(changed) == parse(DOCUMENT)


def test_the_raw_bytes_are_kept_as_they_were_read() -> None:
    """Byte-order mark and line ends stay in the copy beside the value."""
    raw = ("\ufeff" + DOCUMENT.replace("\n", "\r\n")).encode()
    assert parse_strict(raw, "doc.yaml").raw == raw


def test_every_key_and_item_has_its_line() -> None:
    """Later checks can name the line of any part, or of its nearest ancestor."""
    loaded = parse_strict(DOCUMENT.encode(), "doc.yaml")
    assert loaded.lines[("format",)] == 2
    assert loaded.lines[("claim", "gain")] == 14
    assert loaded.lines[("guards",)] == 15
    assert loaded.lines[("guards", 0)] == 16
    assert loaded.lines[("guards", 0, "drop")] == 17
    assert loaded.lines[("guards", 1, "measure")] == 18
    assert line_of(loaded, ("guards", 1, "slice", "x")) == 18
    assert line_of(loaded, ("guards", 7)) == 15
    assert line_of(loaded, ("nothing",)) == line_of(loaded, ()) == 2
    assert line_of(Loaded({}, {(): 1}, b""), ("x",)) == 1


def test_a_regular_file_is_loaded(tmp_path: Path) -> None:
    """The file's value, and its path in errors."""
    path = tmp_path / "doc.yaml"
    path.write_text("a: 1\nb: no\n")
    with pytest.raises(UsageProblem) as caught:
        load_strict(path)
    assert caught.value.where == f"{path}:2"
    path.write_text("a: 1\n")
    assert load_strict(path).value == {"a": 1}


def test_a_file_may_be_as_large_as_the_limit_and_no_larger(tmp_path: Path) -> None:
    """The limit is counted in bytes."""
    path = tmp_path / "doc.yaml"
    path.write_bytes(b"a: 12\n")
    assert load_strict(path, max_bytes=6).value == {"a": 12}
    with pytest.raises(UsageProblem, match=r"too large(?s:.*)at most 5 bytes(?s:.*)shorten"):
        load_strict(path, max_bytes=5)


def test_a_symbolic_link_is_refused_with_the_reason(tmp_path: Path) -> None:
    """Also when it points at a good document, and also when it points nowhere."""
    good, link = tmp_path / "good.yaml", tmp_path / "link.yaml"
    link.symlink_to(good)
    for text in (None, "a: 1\n"):
        if text:
            good.write_text(text)
        with pytest.raises(UsageProblem, match=r"symbolic link, which can be pointed(?s:.*)in place of the link"):
            load_strict(link)


def test_a_link_that_slips_in_before_the_opening_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The opening itself follows no link."""
    good, link = tmp_path / "good.yaml", tmp_path / "link.yaml"
    good.write_text("a: 1\n")
    link.symlink_to(good)
    monkeypatch.setattr(Path, "is_symlink", lambda _: False)
    with pytest.raises(UsageProblem, match="symbolic link"):
        load_strict(link)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A missing file, a file as folder, a folder, a pipe and an impossible name."""
    (tmp_path / "file").write_text("a: 1\n")
    os.mkfifo(tmp_path / "pipe")
    for name, reason in [
        ("missing.yaml", "no such file"),
        ("file/x.yaml", "no such file"),
        ("nul\0.yaml", "no such file"),
        (".", "a folder"),
        ("pipe", "a pipe"),
    ]:
        with pytest.raises(UsageProblem, match=reason) as caught:
            load_strict(tmp_path / name)
        assert caught.value.fix
        assert caught.value.where == str(tmp_path / name)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO])
def test_a_file_that_cannot_be_read_is_a_problem_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Permission and disk are not the document's fault."""
    path = tmp_path / "doc.yaml"
    path.write_text("a: 1\n")

    def refuse(*_: Any) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(EnvironmentProblem, match=os.strerror(number)) as caught:
        load_strict(path)
    assert "readable" in caught.value.fix


def test_large_documents_are_read_in_linear_time() -> None:
    """A long run of one character must not stall the check of a document."""
    start = time.monotonic()
    for text in ["1", "1_", "1:", "1.", "0x", "- ", "2024-01-02 ", "1 ", "e", "[", "? ", "'", "1e"]:
        for end in ["", "x", "%", "\n"]:
            with pytest.raises(UsageProblem):
                parse_strict(("a: " + text * (50_000 // len(text)) + end + "\n: ").encode(), "doc.yaml")
    assert time.monotonic() - start < 60


def test_a_document_of_too_many_parts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys, values and collections are counted, up to a limit that is lowered here to save time."""
    assert strict_yaml.MAX_NODES == 100_000
    monkeypatch.setattr(strict_yaml, "MAX_NODES", 10)
    text = "a: [x]\nb: {c: 1, d: 2}\n"  # 1 + 3 + 6 parts
    assert parse(text)
    problem = refusal(text + "e: 1\n")
    assert problem.where == "doc.yaml:3"
    assert problem.allowed == "at most 10"
    assert problem.fix == "shorten it"


def test_a_low_recursion_limit_is_enough() -> None:
    """The deepest document that is accepted needs a bounded stack, and a deeper one is refused before."""
    limit, depth = sys.getrecursionlimit(), 0
    frame = sys._getframe()
    while frame:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    try:
        sys.setrecursionlimit(depth + 100)
        parse("a: " + "[" * 31 + "]" * 31)
        refusal("a: " + "[" * 5_000)
    finally:
        sys.setrecursionlimit(limit)


def only_harness_errors(raw: bytes) -> None:
    """Either a mapping or a complete refusal."""
    try:
        value = parse_strict(raw, "doc.yaml").value
    except HarnessError:
        refusal(raw)
    else:
        assert isinstance(value, dict)


@settings(max_examples=500)
@given(st.binary(max_size=80) | st.text(max_size=80).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_random_bytes_never_raise_anything_but_a_harness_error(raw: bytes) -> None:
    """No traceback for bad input."""
    only_harness_errors(raw)


@settings(max_examples=1000)
@given(st.text(alphabet="ab1 \n:-[]{},?#&*!|>'\"%@`\\uUx~<.0e_+\r\t", max_size=60))
@example('"\\U0')
@example("a: |9\n x")
@example("]]]: [")
@example("? - ? - a\n: - b")
def test_random_syntax_never_raises_anything_but_a_harness_error(text: str) -> None:
    """YAML's own indicators in any order."""
    only_harness_errors(text.encode())


@settings(max_examples=500)
@given(st.data())
def test_random_mutations_never_raise_anything_but_a_harness_error(data: st.DataObject) -> None:
    """Deletions, insertions and repetitions in a valid document."""
    raw = DOCUMENT.encode()
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(start, min(len(raw), start + 12)))
        piece = data.draw(
            st.binary(max_size=4) | st.sampled_from([b"\n", b"\t", b": ", b"- ", b"&a ", raw[start:end] * 2])
        )
        raw = raw[:start] + piece + raw[end:]
    only_harness_errors(raw)


@settings(max_examples=2000)
@given(st.text(alphabet="0123456789+-._:eExXobynulf~TZ %aiNOY", min_size=1, max_size=12).map(str.strip).filter(bool))
@example("0x_")
@example("1e+5_0")
@example("=")
def test_what_is_accepted_as_text_is_text_to_yaml_1_1_and_to_yaml_1_2(text: str) -> None:
    """Neither PyYAML's resolver nor the core schema of YAML 1.2 reads our plain text as something else."""
    try:
        value = parse(f"a: {text}\n").get("a")
    except HarnessError:
        return
    top = yaml.compose(f"a: {text}\n", yaml.SafeLoader)
    assert isinstance(top, yaml.MappingNode)
    node = top.value[0][1]
    plain = isinstance(node, yaml.ScalarNode) and node.style is None
    if not (plain and isinstance(value, str)):
        return
    # '=' and '<<' are special to YAML 1.1 only as keys or by a tag
    assert node.tag.rpartition(":")[2] in ("str", "value", "merge")
    core = r"null|Null|NULL|~|[Tt]rue|TRUE|[Ff]alse|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"
    core += r"|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
    assert not re.fullmatch(core, value)


NUMBERS = st.integers(-(10**18) + 1, 10**18 - 1)
DECIMALS = st.tuples(st.integers(-(10**12), 10**12), st.integers(1, 12)).map(
    lambda pair: Decimal(pair[0]).scaleb(-pair[1])
)
TEXT = (
    st.text(alphabet=st.characters(exclude_categories=["Cc", "Cf", "Cs", "Cn", "Zl", "Zp"]), max_size=12)
    .map(
        lambda text: re.sub(
            "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]",
            "",
            text,
        )
    )
    .map(lambda text: unicodedata.normalize("NFC", text))
)
SCALARS = (
    st.none() | st.booleans() | NUMBERS | DECIMALS | TEXT | st.sampled_from(["no", "1:30", "1e-3", "a\tb\nc", "2%"])
)
KEYS = TEXT | st.text(alphabet=string.ascii_letters, min_size=1, max_size=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def quoted(text: str) -> str:
    """Double quotes: JSON's escapes are YAML's, but for the surrogate pairs that we switch off."""
    return json.dumps(text, ensure_ascii=False)


def scalar(value: Any) -> str:
    """A scalar in its plain or quoted form."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    return json.dumps(value)


def flow(value: Any) -> str:
    """Flow style, with explicit keys, since an implicit one must fit on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"? {quoted(key)} : {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def block(value: Any, indent: str = "") -> str:
    """Block style with the dash or the key on a line of its own before a nested collection."""
    if not (isinstance(value, dict | list) and value):
        return f"{indent}{flow(value)}\n"
    rows = value.items() if isinstance(value, dict) else ((None, item) for item in value)
    text = ""
    for key, item in rows:
        text += f"{indent}-\n" if key is None else f"{indent}{quoted(key)}:\n"
        text += block(item, indent + "  ")
    return text


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(KEYS, VALUES, max_size=5), st.sampled_from([flow, block]), st.sampled_from(["\n", "\r\n"]))
def test_every_plain_value_can_be_written_and_read_back(value: dict[str, Any], write: Any, end: str) -> None:
    """What a value means survives both styles and both line ends."""
    found = parse(write(value).replace("\n", end))
    assert found == value
    assert typed(found) == typed(value)
