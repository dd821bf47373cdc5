import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.verifier import reading
from harness.verifier.reading import DamageError, canonical, json_lines, parse, read_bytes, show

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**15), 10**15)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_canonical_json_is_read_back_as_it_was(value):
    """Every value survives, and its canonical form is a fixed point."""
    try:
        raw = canonical(value)
    except DamageError:
        return  # a key with a lone surrogate has no UTF-8 form
    again = parse(raw, "f")
    assert again == value
    assert canonical(again) == raw


@given(st.binary(max_size=60))
def test_arbitrary_bytes_parse_or_are_damage(raw):
    """No bytes lead to anything but a value or the one typed error."""
    try:
        value = parse(raw, "f")
    except DamageError:
        return
    assert json.loads(raw) == value


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b'{"a": 1,\n "b": NaN}', "f:2: NaN"),
        (b'{"a": 1,\n "b": }', "f:2: not JSON"),
        (b'\n\n{"a": 1,\n "a": 2}', "f:3: the key 'a' occurs twice"),
        (b'{"a":\n"\xff"}', "f:2: not UTF-8"),
    ],
)
def test_the_line_is_named_in_files_of_several_lines(raw, place):
    """The place of a fault is its own line, not the first."""
    with pytest.raises(DamageError, match=place):
        parse(raw, "f")


@pytest.mark.parametrize(
    ("raw", "place"),
    [
        (b"", "f:1: empty file"),
        (b"1\n2", "f:2: the last line does not end"),
        (b"1\n[2", "f:2: not JSON"),
        (b"1\n\n2\n", "f:2: not JSON"),
        (b"1\n 2\n", "f:2: not canonical JSON"),
        (b'1\n"\\ud800"\n', "f:2: no canonical JSON form"),
    ],
)
def test_json_lines_name_the_damaged_line(raw, place):
    """Cut, empty and respelled lines are refused by number."""
    with pytest.raises(DamageError, match=place):
        list(json_lines(raw, "f"))


def test_only_regular_files_of_bounded_size_are_read(tmp_path):
    """Folders, links, missing and oversized files are refused by name."""
    (tmp_path / "big").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "big")
    assert read_bytes(tmp_path / "big", "big") == b"12345"
    for name, message in [("big", "5 bytes, at most 4"), ("link", "regular"), ("gone", "missing")]:
        with pytest.raises(DamageError, match=rf"^{name}: .*{message}"):
            read_bytes(tmp_path / name, name, limit=4)
    with pytest.raises(DamageError, match="regular"):
        read_bytes(tmp_path, "folder")


@pytest.mark.parametrize(
    ("narrow", "good", "bad"),
    [
        ("integer", [0, 7], [True, 1.0, -1, "1", None]),
        ("number", [0, 1, -1.0, 0.5], [True, 1.1, "0", None, []]),
        ("text", [""], [1, None]),
        ("truth", [True, False], [0, 1, None]),
        ("mapping", [{}], [[], None]),
        ("items", [[]], [{}, "ab"]),
        ("hexadecimal", ["a1" * 32], ["A1" * 32, "a1" * 31, "a1" * 32 + "\n", 5]),
    ],
)
def test_narrowing_takes_exactly_its_own_type(narrow, good, bad):
    """A wrong type is damage with the place, and true is no number."""
    function = getattr(reading, narrow)
    for value in good:
        assert function(value, "here") == value
    for value in bad:
        with pytest.raises(DamageError, match=r"^here: "):
            function(value, "here")


def test_values_are_shown_on_one_short_line_without_control_characters():
    """Hostile text cannot move the cursor, forge a line or flood the page."""
    shown = show("\x1b[2J\nPASS\u202e" + "x" * 500)
    assert shown.isprintable()
    assert len(shown) <= 80
    assert show(None) == "null"
    assert show([[1]]) == "a list"
