from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.benchmarks.columns import DEV, HELDOUT, Benchmark, Groups, Labels, Questions, part_indices

ROWS = st.lists(st.lists(st.integers(0, 2**31 - 1), max_size=4), max_size=8)


def plain(column: Any) -> Any:
    """A column as plain values, for comparing."""
    if column is None:
        return None
    return column.rows() if isinstance(column, Groups) else list(column)


def same(one: Questions | Labels, other: Questions | Labels) -> bool:
    """Whether two tables hold the same values."""
    return all(plain(getattr(one, f.name)) == plain(getattr(other, f.name)) for f in fields(one))


@given(ROWS)
def test_groups_hold_the_rows_they_were_made_of(rows: list[list[int]]) -> None:
    """Packed rows come out as they went in, with their counts."""
    groups = Groups.of(rows)
    assert groups.rows() == rows
    assert len(groups) == len(rows)
    assert groups.counts().tolist() == [len(row) for row in rows]


@given(ROWS, ROWS)
def test_groups_join_in_order(one: list[list[int]], other: list[list[int]]) -> None:
    """Joined rows are the one's rows and then the other's."""
    assert Groups.of(one).joined(Groups.of(other)).rows() == one + other


@given(ROWS, st.data())
def test_groups_take_rows_in_any_order(rows: list[list[int]], data: st.DataObject) -> None:
    """Taking picks rows by place, repeats included."""
    places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=6)) if rows else []
    taken = Groups.of(rows).take(np.array(places, dtype=np.int64))
    assert taken.rows() == [rows[place] for place in places]


def test_parts_divide_the_questions(synthetic: Benchmark) -> None:
    """Every question is in one part, and the parts together are the whole in its own order."""
    questions, labels = synthetic.questions, synthetic.labels
    dev, heldout = part_indices(questions, DEV), part_indices(questions, HELDOUT)
    assert len(dev) + len(heldout) == len(questions)
    assert set(questions.take(dev).part) == {DEV}
    merged = questions.take(heldout).merged(questions.take(dev))
    assert same(merged, questions)
    assert same(labels.take(heldout).aligned(labels.take(dev), merged.ids), labels)


def test_labels_are_aligned_by_id_and_not_by_place(synthetic: Benchmark) -> None:
    """Labels in another order than the questions are put in the questions' order."""
    labels = synthetic.labels
    backwards = labels.take(np.arange(len(labels), dtype=np.int64)[::-1])
    front = backwards.take(np.arange(100, dtype=np.int64))
    back = backwards.take(np.arange(100, len(labels), dtype=np.int64))
    assert same(front.aligned(back, labels.ids), labels)


def _edited(column: Any, rows: int) -> Any:
    """The column with its last row changed, or made where there was none."""
    if column is None:
        return Groups.of([[0]] * rows)
    if isinstance(column, Groups):
        changed_rows = column.rows()
        changed_rows[-1] = [0] if changed_rows[-1] != [0] else [1]
        return Groups.of(changed_rows)
    if isinstance(column, tuple):
        last = column[-1]
        return (*column[:-1], (*last, "x") if isinstance(last, tuple) else f"{last}x")
    changed = column.copy()
    changed[-1] += -0.1 if column.dtype == np.float64 else (-1 if column[-1] > 0 else 1)
    return changed


COLUMNS = [
    (table, name)
    for table, names in {
        "corpus": "ids texts speakers captions layer confidence session time partition sources",
        "edges": "source target relation discovered_by confidence",
        "questions": "ids texts partition clusters ordinal",
        "labels": "ids categories answers flags repaired published n_published overlay",
    }.items()
    for name in names.split()
]


def test_the_table_of_columns_is_whole(synthetic: Benchmark) -> None:
    """The next test forgets no column but the part, which says where a question is counted."""
    known = {(table, field.name) for table in ("corpus", "edges", "questions", "labels")
             for field in fields(getattr(synthetic, table))}  # fmt: skip
    assert known == {*COLUMNS, ("questions", "part")}


@pytest.mark.parametrize(("table", "name"), COLUMNS)
def test_every_column_is_in_the_digest(synthetic: Benchmark, table: str, name: str) -> None:
    """A change of one value of any column changes the digest of its table and of the whole."""
    before = synthetic.digests()
    whole = getattr(synthetic, table)
    column = _edited(getattr(whole, name), len(whole))
    after = replace(synthetic, **{table: replace(getattr(synthetic, table), **{name: column})}).digests()
    part = table if table in before else f"heldout_{table}"
    assert after[part] != before[part]
    assert after["digest"] != before["digest"]


def test_a_question_that_changes_parts_changes_both(synthetic: Benchmark) -> None:
    """Moving one held-out question to development changes the digests of both parts."""
    parts = (*synthetic.questions.part[:-1], DEV)
    moved = replace(synthetic, questions=replace(synthetic.questions, part=parts)).digests()
    differ = {name for name, value in synthetic.digests().items() if moved[name] != value}
    assert differ == {"dev_questions", "dev_labels", "heldout_questions", "heldout_labels", "digest"}


def test_name_and_partitions_are_in_the_digest(synthetic: Benchmark) -> None:
    """Another name or another partition's name is another benchmark; source and report are not in it."""
    before = synthetic.digests()["digest"]
    assert replace(synthetic, name="other").digests()["digest"] != before
    partitions = ("other", *synthetic.partitions[1:])
    assert replace(synthetic, partitions=partitions).digests()["digest"] != before
    assert replace(synthetic, source={}, repairs=()).digests()["digest"] == before
