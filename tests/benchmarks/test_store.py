from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.benchmarks import store
from harness.benchmarks.build import Builder
from harness.benchmarks.columns import LAYERS, Benchmark, Labels, labels_digest, questions_digest, split_digests
from harness.errors import EnvironmentProblem, IntegrityProblem

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@st.composite
def benchmarks(draw: st.DrawFn) -> Benchmark:
    """Benchmarks with any texts, times, layers, edges and evidence."""
    builder = Builder(draw(TEXT))
    for partition in range(draw(st.integers(0, 2))):
        builder.begin_partition(draw(TEXT))
        chunks = [
            builder.add_chunk(
                f"{partition}/{number}", draw(TEXT), layer=draw(st.sampled_from(LAYERS)),
                confidence=draw(st.floats(0, 1)), session=draw(st.integers(0, 2**31 - 1)),
                time=draw(st.integers(-(2**62), 2**62)), speaker=draw(TEXT), caption=draw(TEXT),
                sources=draw(st.lists(st.integers(0, number), max_size=2)),
            )
            for number in range(draw(st.integers(1, 4)))
        ]  # fmt: skip
        places = st.sampled_from(chunks)
        for _ in range(draw(st.integers(0, 3))):
            builder.add_edge(draw(places), draw(places), draw(TEXT), draw(TEXT), draw(st.floats(0, 1)))
        for number in range(draw(st.integers(0, 3))):
            builder.add_question(
                f"{partition}/q{number}", draw(TEXT), dev=draw(st.booleans()), category=draw(TEXT),
                answer=draw(TEXT), flags=draw(st.lists(TEXT, max_size=2)),
                repaired=draw(st.lists(places, max_size=3)), published=draw(st.lists(places, max_size=3)),
                n_published=draw(st.integers(0, 9)), cluster=draw(TEXT),
            )  # fmt: skip
    return builder.finish({})


def labels_back(labels: Labels, path: Path) -> Labels:
    """Labels written and read again."""
    store.write(store.labels_table(labels), path)
    return store.labels_of(store.read(path))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(benchmark=benchmarks())
def test_whatever_is_written_is_read_again(benchmark: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every table comes back with equal content, whatever its texts and numbers."""
    folder = tmp_path_factory.mktemp("store")
    store.write(store.corpus_table(benchmark.corpus), folder / "corpus")
    store.write(store.edges_table(benchmark.edges), folder / "edges")
    table = store.joined(store.questions_table(benchmark.questions), store.labels_table(benchmark.labels))
    store.write(table, folder / "both")
    both = store.read(folder / "both")
    again = split_digests(
        store.read_corpus(folder / "corpus"), store.read_edges(folder / "edges"),
        store.questions_of(both), store.labels_of(both),
    )  # fmt: skip
    assert again == split_digests(benchmark.corpus, benchmark.edges, benchmark.questions, benchmark.labels)


def test_types_survive_the_file(synthetic: Benchmark, tmp_path: Path) -> None:
    """Columns come back in the types that they are documented in."""
    store.write(store.corpus_table(synthetic.corpus), tmp_path / "corpus")
    corpus = store.read_corpus(tmp_path / "corpus")
    for name in ("layer", "confidence", "session", "time", "partition"):
        assert getattr(corpus, name).dtype == getattr(synthetic.corpus, name).dtype
    assert corpus.sources.offsets.dtype == np.int64
    assert corpus.sources.values.dtype == np.int32


def test_a_part_of_a_table_keeps_its_own_evidence(synthetic: Benchmark, tmp_path: Path) -> None:
    """Ragged columns of a slice in the middle start at their own rows."""
    middle = synthetic.labels.take(np.arange(100, 150, dtype=np.int64))
    again = labels_back(middle, tmp_path / "labels")
    assert again.repaired.rows() == middle.repaired.rows()
    assert labels_digest(again, synthetic.corpus.ids) == labels_digest(middle, synthetic.corpus.ids)


def test_questions_hold_no_column_of_a_label(synthetic: Benchmark) -> None:
    """The table of questions names what was asked and where, nothing that was judged."""
    table = store.questions_table(synthetic.questions)
    assert table.column_names == ["id", "text", "partition", "cluster", "part", "ordinal"]
    assert questions_digest(store.questions_of(table)) == questions_digest(synthetic.questions)


def test_a_file_is_never_overwritten(synthetic: Benchmark, tmp_path: Path) -> None:
    """Writing over a file is refused and leaves it as it was."""
    path = tmp_path / "edges"
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        store.write(store.edges_table(synthetic.edges), path)
    assert path.read_bytes() == b"mine"


def test_a_missing_file_is_an_integrity_problem(tmp_path: Path) -> None:
    """A file that is gone is told as missing."""
    with pytest.raises(IntegrityProblem, match="missing"):
        store.read(tmp_path / "none")


@pytest.mark.parametrize("length", [0, 3, 4, 100, -8, -1])
def test_a_truncated_file_is_damaged(synthetic: Benchmark, tmp_path: Path, length: int) -> None:
    """A file that was cut is told as damaged, wherever it was cut."""
    path = tmp_path / "edges"
    store.write(store.edges_table(synthetic.edges), path)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(IntegrityProblem, match="damaged"):
        store.read(path)


def test_a_folder_in_place_of_a_file_is_damage(tmp_path: Path) -> None:
    """A folder where a file should be is told as damage, not as a crash."""
    with pytest.raises(IntegrityProblem, match="damaged"):
        store.read(tmp_path)


def test_an_unreadable_file_is_an_environment_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read is the environment's fault."""

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(EnvironmentProblem):
        store.read(tmp_path / "x")


@pytest.mark.parametrize("column", ["source", "target"])
def test_negative_positions_are_refused(synthetic: Benchmark, tmp_path: Path, column: str) -> None:
    """A position counted from the end would name the same chunk by another number, and is refused."""
    table = store.edges_table(synthetic.edges)
    values = table[column].to_numpy() - len(synthetic.corpus)
    place = table.column_names.index(column)
    store.write(table.set_column(place, column, pa.array(values)), tmp_path / "edges")
    with pytest.raises(ValueError, match="negative"):
        store.read_edges(tmp_path / "edges")


THREADS = """
import os, sys
from pathlib import Path
from harness.benchmarks import store
before = os.listdir("/proc/self/task")
store.read(Path(sys.argv[1]))
sys.exit(before != os.listdir("/proc/self/task"))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the system lists no threads")
def test_reading_starts_no_thread(synthetic: Benchmark, tmp_path: Path) -> None:
    """A thread that outlives the interpreter would abort the process after its work, now and then."""
    path = tmp_path / "corpus.parquet"
    store.write(store.corpus_table(synthetic.corpus), path)
    assert subprocess.run([sys.executable, "-c", THREADS, str(path)]).returncode == 0
