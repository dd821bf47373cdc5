"""Columns in and out of Parquet.

Files are opened by Python and handed to the native reader, so that the audit hook of dev work sees every one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from harness.benchmarks.columns import Corpus, Edges, Groups, Labels, Questions
from harness.errors import EnvironmentProblem, IntegrityProblem

Table = Any
"""A ``pyarrow.Table``; the library ships no types."""


def write(table: Table, path: Path) -> None:
    """Write a table to a new Parquet file."""
    with path.open("xb") as handle:
        pq.write_table(table, handle, compression="zstd")


def read_table(handle: BinaryIO) -> Table:
    """Read a Parquet file that is open, on this thread alone.

    A thread of the reader that outlives the interpreter still holds the file, and aborts the process as it ends.

    Raises:
        pyarrow.ArrowException, OSError: damaged.
    """
    return pq.ParquetFile(handle, pre_buffer=False, page_checksum_verification=True).read(use_threads=False)


def read(path: Path) -> Table:
    """Read a Parquet file.

    Raises:
        IntegrityProblem: missing or damaged.
    """
    try:
        with path.open("rb") as handle:
            return read_table(handle)
    except FileNotFoundError:
        fix = "remove the folder and import again"
        raise IntegrityProblem("a file of the benchmark is missing", where=str(path), fix=fix) from None
    except PermissionError:
        raise EnvironmentProblem("cannot be read", where=str(path), fix="grant read permission") from None
    except (pa.ArrowException, OSError):  # a damaged footer comes as OSError
        fix = "remove the folder and import again"
        raise IntegrityProblem("a file of the benchmark is damaged", where=str(path), fix=fix) from None


def _lists(groups: Groups) -> Any:
    return pa.ListArray.from_arrays(pa.array(groups.offsets.astype(np.int32)), pa.array(groups.values))


def _groups(table: Table, name: str) -> Groups:
    column = table[name].combine_chunks()
    offsets = column.offsets.to_numpy().astype(np.int64)
    values = _positions(column.values.to_numpy(zero_copy_only=False))
    return Groups(offsets - offsets[0], values[offsets[0] : offsets[-1]])


def _positions(values: Any) -> Any:
    # Python counts negative positions from the end: another table would have the same digest
    if values.dtype.kind != "i" or (len(values) and values.min() < 0):
        raise ValueError("no corpus position, or a negative one")
    return values.astype(np.int32)


def _layers(table: Table) -> Any:
    layers = _numbers(table, "layer")
    if len(layers) and layers.min() < 0:
        raise ValueError("a negative layer")
    return layers


def _texts(table: Table, name: str) -> tuple[str, ...]:
    return tuple(table[name].to_pylist())


def _numbers(table: Table, name: str) -> Any:
    return table[name].combine_chunks().to_numpy(zero_copy_only=False)


def corpus_table(corpus: Corpus) -> Table:
    """The corpus as a table."""
    return pa.table(
        {
            "id": pa.array(corpus.ids, pa.string()),
            "text": pa.array(corpus.texts, pa.string()),
            "speaker": pa.array(corpus.speakers, pa.string()),
            "caption": pa.array(corpus.captions, pa.string()),
            "layer": corpus.layer,
            "confidence": corpus.confidence,
            "session": corpus.session,
            "time": corpus.time,
            "partition": corpus.partition,
            "sources": _lists(corpus.sources),
        }
    )


def read_corpus(path: Path) -> Corpus:
    """The corpus from its file."""
    table = read(path)
    return Corpus(
        _texts(table, "id"),
        _texts(table, "text"),
        _texts(table, "speaker"),
        _texts(table, "caption"),
        _layers(table),
        _numbers(table, "confidence"),
        _numbers(table, "session"),
        _numbers(table, "time"),
        _numbers(table, "partition"),
        _groups(table, "sources"),
    )


def edges_table(edges: Edges) -> Table:
    """The edges as a table."""
    return pa.table(
        {
            "source": edges.source,
            "target": edges.target,
            "relation": pa.array(edges.relation, pa.string()),
            "discovered_by": pa.array(edges.discovered_by, pa.string()),
            "confidence": edges.confidence,
        }
    )


def read_edges(path: Path) -> Edges:
    """The edges from their file."""
    table = read(path)
    return Edges(
        _positions(_numbers(table, "source")),
        _positions(_numbers(table, "target")),
        _texts(table, "relation"),
        _texts(table, "discovered_by"),
        _numbers(table, "confidence"),
    )


def questions_table(questions: Questions) -> Table:
    """Questions as a table, with no column derived from a label."""
    return pa.table(
        {
            "id": pa.array(questions.ids, pa.string()),
            "text": pa.array(questions.texts, pa.string()),
            "partition": questions.partition,
            "cluster": pa.array(questions.clusters, pa.string()),
            "part": pa.array(questions.part, pa.string()),
            "ordinal": questions.ordinal,
        }
    )


def questions_of(table: Table) -> Questions:
    """Questions from a table that holds their columns."""
    return Questions(
        _texts(table, "id"),
        _texts(table, "text"),
        _numbers(table, "partition"),
        _texts(table, "cluster"),
        _texts(table, "part"),
        _numbers(table, "ordinal"),
    )


def labels_table(labels: Labels) -> Table:
    """Labels as a table; the overlay's column is there only where an overlay is."""
    overlay = {} if labels.overlay is None else {"overlay": _lists(labels.overlay)}
    return pa.table(
        {
            "id": pa.array(labels.ids, pa.string()),
            "category": pa.array(labels.categories, pa.string()),
            "answer": pa.array(labels.answers, pa.string()),
            "flags": pa.array([list(flags) for flags in labels.flags], pa.list_(pa.string())),
            "repaired": _lists(labels.repaired),
            "published": _lists(labels.published),
            "n_published": labels.n_published,
        }
        | overlay
    )


def labels_of(table: Table) -> Labels:
    """Labels from a table that holds their columns."""
    return Labels(
        _texts(table, "id"),
        _texts(table, "category"),
        _texts(table, "answer"),
        tuple(tuple(flags) for flags in table["flags"].to_pylist()),
        _groups(table, "repaired"),
        _groups(table, "published"),
        _numbers(table, "n_published"),
        _groups(table, "overlay") if "overlay" in table.column_names else None,
    )


def joined(questions: Table, labels: Table) -> Table:
    """Questions and labels side by side, in one table."""
    for name in labels.column_names:
        if name != "id":
            questions = questions.append_column(name, labels[name])
    return questions
