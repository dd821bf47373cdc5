import json

import pytest

from harness.verifier.chain import read_chain, read_payload, witness_problem
from harness.verifier.reading import DamageError


def problems_of(ledger):
    """Problems of a written ledger."""
    return read_chain(ledger.folder).problems


def rewrite(path, change):
    """Edit an entry in place and keep it canonical."""
    entry = json.loads(path.read_bytes())
    change(entry)
    raw = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    path.write_bytes(raw.encode() + b"\n")


def test_a_straight_chain_is_sound(new_ledger):
    """Entries in a row give one tip, and their payloads can be read again."""
    digests = [new_ledger.append("note", {"text": f"é{i}"}) for i in range(4)]
    chain = read_chain(new_ledger.folder)
    assert chain.problems == []
    assert chain.tips() == digests[-1:]
    assert [entry.sequence for entry in chain.entries.values()] == [1, 2, 3, 4]
    assert read_payload(chain, chain.entries[digests[2]]) == {"text": "é2"}


def test_merged_branches_are_sound(new_ledger):
    """Two tips are valid, and the next entry names both and follows the longer branch."""
    root = new_ledger.append("note", {})
    left = new_ledger.append("note", {"side": "left"}, parents=[root])
    right = new_ledger.append("note", {"side": "right"}, parents=[root])
    longer = new_ledger.append("note", {"side": "right again"}, parents=[right])
    assert read_chain(new_ledger.folder).tips() == sorted([left, longer])
    merge = new_ledger.append("note", {})
    chain = read_chain(new_ledger.folder)
    assert chain.problems == []
    assert chain.entries[merge].sequence == 4
    assert chain.closure([merge]) == {root, left, right, longer, merge}
    assert chain.closure([longer]) == {root, right, longer}
    assert chain.descendants(right) == {right, longer, merge}


@pytest.mark.parametrize("present", [True, False])
def test_no_entries_are_a_problem(new_ledger, present):
    """An empty or missing ledger is never sound."""
    folder = new_ledger.folder if present else new_ledger.folder / "gone"
    assert len(read_chain(folder).problems) == 1


def test_other_files_are_passed_over(new_ledger):
    """A leftover of a cut-off append and a note beside the entries do no harm."""
    new_ledger.append("note", {})
    (new_ledger.folder / ".000002-partial.json").write_bytes(b"{")
    (new_ledger.folder / "README").write_text("hello")
    assert problems_of(new_ledger) == []


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"", "the line does not end|not JSON"),
        (b'{"format":1,', ":1: not JSON"),
        (b"[]\n", "a list instead of an object"),
        (b'{"a":NaN}\n', ":1: NaN is not a JSON number"),
        (b'{"a":-Infinity}\n', "-Infinity is not a JSON number"),
        (b'{"a":1e999}\n', "beyond the range"),
        (b'{"a":' + b"9" * 5000 + b"}\n", "an integer of 5000 characters"),
        (b'{"a":1,"a":1}\n', "occurs twice"),
        (b"\xff\n", "not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":"\\ud800"}\n', "no canonical JSON form"),
        (b'{"b":1,"a":1}\n', "not canonical JSON"),
        (b'{"a":1}\n', "missing or unknown keys"),
        (b'\xef\xbb\xbf{"a":1}\n', "not JSON"),
        (b'{"a":1}\r\n', "not canonical JSON"),
        (b"null\n", "null instead of an object"),
    ],
)
def test_damaged_bytes_are_one_problem_with_the_place(new_ledger, raw, expected):
    """Whatever an entry file holds, reading collects one problem that names it."""
    new_ledger.append("note", {})
    name = "000002-0123456789abcdef.json"
    (new_ledger.folder / name).write_bytes(raw)
    (problem,) = problems_of(new_ledger)
    assert problem.startswith(name)
    assert any(part in problem for part in expected.split("|"))


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"format": True},
        {"sequence": 0},
        {"sequence": "1"},
        {"sequence": 2},
        {"parents": ["zz"]},
        {"parents": {}},
        {"parents": ["f" * 64, "e" * 64]},
        {"parents": ["f" * 64]},
        {"kind": 5},
        {"time": "2026-11-30T22:10:00"},
        {"time": "yesterday"},
        {"time": None},
        {"git": {"commit": "xyz", "dirty": None}},
        {"git": {"commit": None}},
        {"git": {"commit": None, "dirty": 1}},
        {"git": None},
        {"environment": None},
        {"environment": "sha256:12"},
        {"payload": []},
        {"extra": 1},
    ],
)
def test_a_wrong_field_is_a_problem_even_under_the_right_name(new_ledger, changes):
    """An entry whose digest is right still has to have the form of an entry."""
    if isinstance(changes.get("sequence"), str):
        digest = new_ledger.append("note", {})
        rewrite(new_ledger.path(digest), lambda entry: entry.update(changes))
    else:
        new_ledger.append("note", {}, override=changes)
    assert problems_of(new_ledger) != []


def test_unknown_git_state_is_allowed(new_ledger):
    """Outside a repository commit and dirtiness are unknown."""
    new_ledger.append("note", {}, override={"git": {"commit": None, "dirty": None}})
    assert problems_of(new_ledger) == []


def test_an_edited_entry_no_longer_fits_its_name(new_ledger):
    """Changing a value shows at the entry itself and at its children."""
    first = new_ledger.append("note", {"alpha": 0.05})
    new_ledger.append("note", {})
    rewrite(new_ledger.path(first), lambda entry: entry["payload"].update(alpha=0.5))
    problems = problems_of(new_ledger)
    assert "edited or renamed" in problems[0]
    assert "its parent" in problems[1]


def test_a_deleted_entry_leaves_a_child_without_parent(new_ledger):
    """Removing an entry from the middle shows by name."""
    digests = [new_ledger.append("note", {"i": i}) for i in range(3)]
    new_ledger.path(digests[1]).unlink()
    (problem,) = problems_of(new_ledger)
    assert problem.endswith(f"its parent {digests[1][:16]} is missing")


def test_a_sequence_that_skips_is_a_problem(new_ledger):
    """Sequences count up from the parents' greatest."""
    root = new_ledger.append("note", {})
    new_ledger.sequence[root] = 4
    new_ledger.append("note", {}, parents=[])
    other = new_ledger.append("note", {"i": 1}, parents=[], override={"sequence": 7})
    assert [problem for problem in problems_of(new_ledger) if "sequence 7 instead of 1" in problem]
    assert new_ledger.path(other).exists()


def test_a_linked_entry_is_refused(new_ledger, tmp_path):
    """An entry whose content lies elsewhere is not in the ledger."""
    path = new_ledger.path(new_ledger.append("note", {}))
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert "not a regular file" in problems_of(new_ledger)[0]


def test_a_payload_is_read_against_its_digest(new_ledger):
    """A file exchanged after the check is noticed when its payload is read."""
    digest = new_ledger.append("note", {"i": 1})
    chain = read_chain(new_ledger.folder)
    rewrite(new_ledger.path(digest), lambda entry: entry["payload"].update(i=2))
    with pytest.raises(DamageError, match="edited or renamed"):
        read_payload(chain, chain.entries[digest])


def test_every_earlier_head_is_contained_in_a_grown_ledger(new_ledger):
    """A head taken at any time, on either side of a merge, stays contained for ever."""
    heads = []
    root = new_ledger.append("note", {})
    heads.append(new_ledger.head())
    new_ledger.append("note", {"side": 1}, parents=[root])
    heads.append(new_ledger.head())
    new_ledger.append("note", {"side": 2}, parents=[root])
    heads.append(new_ledger.head())
    new_ledger.append("note", {})
    heads.append(new_ledger.head())
    chain = read_chain(new_ledger.folder)
    assert [witness_problem(chain, head, "w") for head in heads] == [None] * 4


@pytest.mark.parametrize(
    "witness",
    [
        None,
        [],
        {},
        {"count": 0, "tips": []},
        {"count": 1, "tips": []},
        {"count": 1, "tips": ["f" * 64]},
        {"count": 2, "tips": ["root"]},
        {"count": True, "tips": ["root"]},
        {"count": "1", "tips": ["root"]},
        {"count": 1, "tips": "root"},
        {"count": 1, "tips": ["root", "root"]},
        {"count": 1, "tips": [1]},
    ],
)
def test_a_witness_that_is_not_contained_or_says_nothing_is_a_problem(new_ledger, witness):
    """Missing entries, wrong counts and empty or malformed witnesses are all named."""
    root = new_ledger.append("note", {})
    new_ledger.append("note", {})
    if isinstance(witness, dict) and isinstance(witness.get("tips"), list):
        witness = witness | {"tips": [root if tip == "root" else tip for tip in witness["tips"]]}
    assert witness_problem(read_chain(new_ledger.folder), witness, "the page").startswith("the page")


def test_deleting_the_last_entry_shows_only_against_a_witness(new_ledger):
    """A shortened chain is sound in itself; the head written down before is not contained."""
    new_ledger.append("note", {})
    last = new_ledger.append("note", {"verdict": "ROLLBACK"})
    head = new_ledger.head()
    new_ledger.path(last).unlink()
    chain = read_chain(new_ledger.folder)
    assert chain.problems == []
    assert "no longer has" in witness_problem(chain, head, "w")
