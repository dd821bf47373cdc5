from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.benchmarks.library import Library, read_manifest
from harness.errors import IntegrityProblem

CLAIM = "ab" * 32

OPENERS: dict[str, Callable[[Library], object]] = {
    "corpus.parquet": lambda library: library.corpus,
    "edges.parquet": lambda library: library.edges,
    "dev.parquet": lambda library: library.dev,
    "heldout-questions.parquet": lambda library: library.heldout_questions(),
    "heldout-labels.parquet": lambda library: library.heldout_labels(CLAIM),
    "manifest.json": lambda library: library.manifest,
}


@pytest.mark.parametrize("file", sorted(OPENERS))
@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other"])
def test_a_damaged_file_is_an_integrity_problem(saved: Library, file: str, damage: str) -> None:
    """A file that is gone, empty, cut or something else is named, with exit code 3."""
    path = saved.folder / file
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        path.write_bytes({"empty": b"", "cut": content[: len(content) // 2], "other": b"[1, 2]"}[damage])
    with pytest.raises(IntegrityProblem) as caught:
        OPENERS[file](saved)
    assert str(path) in caught.value.where
    assert caught.value.exit_code == 3


TABLES = sorted(name for name in OPENERS if name.endswith(".parquet"))


def _first(table: Any, name: str) -> Any:
    """The table with the first value of a column changed."""
    values = table[name].to_pylist()
    first = values[0]
    if isinstance(first, list):
        values[0] = [*first, "x"] if name == "flags" else [value for value in (0, 1, 2) if [value] != first][:1]
    elif isinstance(first, str):
        values[0] = first + "x"
    else:
        values[0] = first + 1
    return table.set_column(table.column_names.index(name), name, pa.array(values, table[name].type))


@pytest.mark.parametrize("file", TABLES)
def test_any_edited_value_is_found(saved: Library, file: str) -> None:
    """One changed value in any column of any file is an integrity problem."""
    path = saved.folder / file
    table = pq.read_table(path)
    for name in table.column_names:
        pq.write_table(_first(table, name), path)
        with pytest.raises(IntegrityProblem, match="is not what was imported"):
            OPENERS[file](Library(saved.folder))


@pytest.mark.parametrize("file", TABLES)
def test_other_columns_rows_or_types_are_found(saved: Library, file: str) -> None:
    """A missing column, a column of nulls or of text, or a missing, repeated or moved row is found."""
    path = saved.folder / file
    table = pq.read_table(path)
    edits = [table.slice(1), table.slice(0, 0), pa.concat_tables([table, table.slice(0, 1)])]
    edits.append(table.take(list(range(len(table)))[::-1]))
    for place, name in enumerate(table.column_names):
        edits.append(table.drop_columns([name]))
        edits.append(table.set_column(place, name, pa.nulls(len(table), table[name].type)))
        edits.append(table.set_column(place, name, pa.array(["x"] * len(table))))
        edits.append(table.set_column(place, name, pa.array([-1] * len(table))))
        edits.append(table.set_column(place, name, pa.array([10**6] * len(table))))
    harmless = 0
    for edit in edits:
        pq.write_table(edit, path)
        try:
            OPENERS[file](Library(saved.folder))
        except IntegrityProblem:
            continue
        harmless += 1
    assert harmless == 0


def test_a_rewritten_file_of_the_same_content_is_accepted(saved: Library) -> None:
    """Content counts, not bytes: a table rewritten with another compression opens."""
    for file in TABLES:
        path = saved.folder / file
        before = path.read_bytes()
        pq.write_table(pq.read_table(path), path, compression="none", row_group_size=3)
        assert path.read_bytes() != before
    library = Library(saved.folder)
    for opener in OPENERS.values():
        opener(library)


def _digest_of(part: str) -> Callable[[dict[str, Any]], object]:
    return lambda manifest: manifest["digests"].update({part: "sha256:" + "0" * 64})


MANIFEST_EDITS: dict[str, Callable[[dict[str, Any]], object]] = {
    "name": lambda manifest: manifest.update(name="other"),
    "partitions": lambda manifest: manifest["partitions"].reverse(),
    "corpus digest": _digest_of("corpus"),
    "whole digest": _digest_of("digest"),
    "digest left out": lambda manifest: manifest["digests"].pop("edges"),
    "no digests": lambda manifest: manifest.pop("digests"),
    "no name": lambda manifest: manifest.pop("name"),
    "digests a list": lambda manifest: manifest.update(digests=[]),
    "partitions a number": lambda manifest: manifest.update(partitions=3),
}


@pytest.mark.parametrize("edit", sorted(MANIFEST_EDITS))
def test_an_edited_manifest_is_found(saved: Library, edit: str) -> None:
    """Names and digests in the manifest must fit together."""
    path = saved.folder / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    MANIFEST_EDITS[edit](manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(IntegrityProblem, match="manifest"):
        read_manifest(saved.folder)
