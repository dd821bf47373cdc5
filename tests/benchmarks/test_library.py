from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from harness.benchmarks import library as module
from harness.benchmarks.columns import DEV, HELDOUT, Benchmark, part_indices
from harness.benchmarks.library import SEALED_FILES, Library, find, names, save
from harness.errors import EnvironmentProblem, IntegrityProblem, UsageProblem

CLAIM = "ab" * 32
FILES = {
    "corpus.parquet", "edges.parquet", "dev.parquet", "heldout-questions.parquet", "heldout-labels.parquet",
    "heldout-repairs.json", "manifest.json", "question-sets.json",
}  # fmt: skip


def everything(library: Library) -> None:
    """Open every file of a benchmark."""
    _ = library.corpus, library.edges, library.dev
    library.heldout_questions()
    library.heldout_labels(CLAIM)


def test_parts_lie_in_separate_files(saved: Library) -> None:
    """Corpus, edges, dev, held-out questions, held-out labels, report and manifest are a file each."""
    assert {path.name for path in saved.folder.iterdir()} == FILES
    assert {name for name in FILES if name.startswith("heldout-")} == SEALED_FILES


def test_what_was_saved_is_opened(saved: Library, tiny: Benchmark) -> None:
    """Every part comes back with the content that was imported."""
    everything(saved)
    assert saved.name == "locomo"
    assert saved.digests == tiny.digests()
    questions, labels = saved.dev
    assert questions.ids == labels.ids == tiny.questions.ids[:17]
    assert saved.heldout_questions().ids == saved.heldout_labels(CLAIM).ids == tiny.questions.ids[17:]
    merged = questions.merged(saved.heldout_questions())
    assert merged.texts == tiny.questions.texts


def test_no_file_for_development_names_a_heldout_question(saved: Library, tiny: Benchmark) -> None:
    """Neither dev table nor manifest holds the id, the text or the answer of a held-out question."""
    heldout = part_indices(tiny.questions, HELDOUT).tolist()
    secret = {tiny.questions.ids[i] for i in heldout} | {tiny.questions.texts[i] for i in heldout}
    table = pq.read_table(saved.folder / "dev.parquet")
    assert not secret & {value for name in ("id", "text") for value in table[name].to_pylist()}
    assert set(table["part"].to_pylist()) == {DEV}
    manifest = (saved.folder / "manifest.json").read_text(encoding="utf-8")
    assert not any(value in manifest for value in secret | {"bread"})


def test_heldout_questions_hold_nothing_that_was_judged(saved: Library) -> None:
    """The table of held-out questions has no column of labels."""
    columns = pq.read_table(saved.folder / "heldout-questions.parquet").column_names
    assert columns == ["id", "text", "partition", "cluster", "part", "ordinal"]


def test_real_dev_file_holds_one_conversation(locomo: Benchmark, data: Path) -> None:
    """On LoCoMo the dev table holds the 199 questions of its conversation and no other."""
    save(locomo, data / "locomo")
    table = pq.read_table(data / "locomo" / "dev.parquet")
    assert Counter(table["cluster"].to_pylist()) == {"conv-26": 199}
    assert {identifier.partition("/")[0] for identifier in table["id"].to_pylist()} == {"conv-26"}
    everything(find(data, "locomo"))


@pytest.mark.parametrize("which", ["tiny", "synthetic", "locomo"])
def test_manifest_slices_add_up(which: str, request: pytest.FixtureRequest, data: Path) -> None:
    """Over clusters, categories sum to all questions, and no slice is larger than its questions."""
    benchmark: Benchmark = request.getfixturevalue(which)
    manifest = save(benchmark, data / "b")
    assert sum(manifest["questions"].values()) == len(benchmark.questions)
    assert sum(manifest["layers"].values()) == len(benchmark.corpus)
    assert sum(manifest["repairs"].values()) == len(benchmark.repairs)
    categories = set(benchmark.labels.categories)
    for part, slices in manifest["slices"].items():
        total = Counter({cluster: cell[0] for cluster, cell in slices["all"].items()})
        assert sum(total.values()) == manifest["questions"][part]
        assert total == Counter(c for c, p in zip(*_clusters(benchmark), strict=True) if p == part)
        summed: Counter[str] = Counter()
        for name, cells in slices.items():
            summed.update({cluster: cell[0] for cluster, cell in cells.items()} if name in categories else {})
            for cluster, (questions, repaired, published, overlaid) in cells.items():
                assert 0 <= repaired <= published <= questions <= total[cluster]
                assert overlaid == repaired
        assert summed == total


def _clusters(benchmark: Benchmark) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return benchmark.questions.clusters, benchmark.questions.part


def test_manifest_counts_evidence_in_both_conventions(saved: Library) -> None:
    """A question whose ids point nowhere has published evidence and none after repair."""
    assert saved.manifest["slices"]["dev"]["all"]["conv-26"] == [17, 15, 16, 15]
    assert saved.manifest["slices"]["heldout"]["single-hop"] == {"conv-90": [2, 2, 2, 2], "conv-91": [2, 2, 2, 2]}
    assert saved.manifest["slices"]["dev"]["image_dependent"] == {"conv-26": [1, 1, 1, 1]}


def test_the_repair_report_is_kept_whole(saved: Library, tiny: Benchmark) -> None:
    """The report on disk has every line, as an object of record, fault and action."""
    lines = json.loads((saved.folder / "heldout-repairs.json").read_text(encoding="utf-8"))
    assert [(line["record"], line["fault"], line["action"]) for line in lines] == [
        (repair.record, repair.fault, repair.action) for repair in tiny.repairs
    ]


def test_save_is_idempotent(saved: Library, tiny: Benchmark) -> None:
    """Saving the same benchmark again changes no file and gives the manifest that is there."""
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in saved.folder.iterdir()}
    assert save(tiny, saved.folder) == saved.manifest
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in saved.folder.iterdir()} == before
    assert [path.name for path in saved.folder.parent.iterdir()] == ["locomo"]


def test_another_benchmark_under_the_same_name_is_refused(saved: Library, tiny: Benchmark) -> None:
    """A name stands for one content; what is there stays."""
    other = replace(tiny, labels=replace(tiny.labels, answers=("else", *tiny.labels.answers[1:])))
    with pytest.raises(UsageProblem, match="another benchmark named 'locomo'"):
        save(other, saved.folder)
    everything(Library(saved.folder))


def test_the_loser_of_a_race_finds_the_winner(data: Path, tiny: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """When another import finishes in between, the same content is accepted and other content refused."""
    write = module._write_files

    def slow(benchmark: Benchmark, manifest: Any, folder: Path) -> None:
        write(benchmark, manifest, folder)
        winner = data / "locomo"
        winner.mkdir()
        write(benchmark, manifest, winner)

    monkeypatch.setattr(module, "_write_files", slow)
    assert save(tiny, data / "locomo")["digests"] == tiny.digests()
    assert [path.name for path in data.iterdir()] == ["locomo"]


def test_a_failure_while_writing_leaves_nothing(data: Path, tiny: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """No space is an environment problem, and nothing of the benchmark remains."""

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "canonical_json", full)
    with pytest.raises(EnvironmentProblem, match="No space left"):
        save(tiny, data / "locomo")
    assert list(data.iterdir()) == []


def test_a_benchmark_appears_in_one_step(data: Path, tiny: Benchmark, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder gets its name last, by a rename: until then nothing stands under that name."""

    def refuse(path: Path, target: Path) -> None:
        assert {file.name for file in path.iterdir()} == FILES
        assert not target.exists()
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(EnvironmentProblem, match="Input/output error"):
        save(tiny, data / "locomo")
    assert list(data.iterdir()) == []


def test_a_data_folder_that_is_a_file_is_an_environment_problem(tmp_path: Path, tiny: Benchmark) -> None:
    """Where the folder cannot be made, one error says so."""
    (tmp_path / "data").write_text("x", encoding="utf-8")
    with pytest.raises(EnvironmentProblem, match="could not make the folder"):
        save(tiny, tmp_path / "data" / "locomo")


KILLED = """
import os, signal, sys
from pathlib import Path
from harness.benchmarks import library, store
from harness.benchmarks.synthetic import import_synthetic
def die(table, path, write=store.write):
    write(table, path)
    if path.name == sys.argv[2]:
        os.kill(os.getpid(), signal.SIGKILL)
store.write = die
library.save(import_synthetic(), Path(sys.argv[1]) / "synthetic")
"""


@pytest.mark.parametrize("file", ["corpus.parquet", "heldout-labels.parquet"])
def test_a_killed_import_leaves_nothing_that_counts(data: Path, synthetic: Benchmark, file: str) -> None:
    """After a kill in the middle no benchmark is there, and the next import succeeds."""
    process = subprocess.run([sys.executable, "-c", KILLED, str(data), file], check=False)
    assert process.returncode == -signal.SIGKILL
    assert names(data) == []
    with pytest.raises(UsageProblem, match="no benchmark"):
        find(data, "synthetic")
    save(synthetic, data / "synthetic")
    assert [path.name for path in data.iterdir()] == ["synthetic"]
    everything(find(data, "synthetic"))


def test_a_missing_name_gets_a_hint(saved: Library) -> None:
    """A misspelt name is answered with the nearest one and with all there are."""
    with pytest.raises(UsageProblem, match="no benchmark 'locmo'") as caught:
        find(saved.folder.parent, "locmo")
    assert "'locomo'" in caught.value.fix
    assert caught.value.allowed == "locomo"


def test_an_empty_workspace_says_how_to_import(data: Path) -> None:
    """With nothing imported the fix is the command that imports."""
    with pytest.raises(UsageProblem) as caught:
        find(data, "locomo")
    assert "harness data import" in caught.value.fix


def test_a_name_cannot_leave_the_folder(saved: Library) -> None:
    """A path is no name."""
    for name in ("../data/locomo", ".", "", str(saved.folder)):
        with pytest.raises(UsageProblem):
            find(saved.folder.parent, name)


@pytest.mark.parametrize("claim", ["", "x", "ab" * 31, "zz" * 32, "AB" * 32, "sha256:" + "ab" * 32, "ab" * 32 + "\n"])
def test_heldout_labels_need_a_claim(saved: Library, claim: str) -> None:
    """Without the hash of a claim the labels stay closed."""
    with pytest.raises(IntegrityProblem, match="without a claim"):
        saved.heldout_labels(claim)


def test_heldout_labels_are_not_read_before_they_are_asked_for(saved: Library) -> None:
    """Everything else opens while the labels and the report are not even there."""
    for name in ("heldout-labels.parquet", "heldout-repairs.json"):
        (saved.folder / name).unlink()
    _ = saved.corpus, saved.edges, saved.dev, saved.manifest
    assert len(saved.heldout_questions()) == 4


def test_opening_dev_opens_no_heldout_file(saved: Library) -> None:
    """In a fresh process, everything that development needs opens no held-out file."""
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        opened = []
        sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
        from harness.benchmarks.library import Library, find, names
        data = Path(sys.argv[1])
        library = find(data, names(data)[0])
        library.corpus, library.edges, library.dev, library.manifest
        print(sorted({Path(path).name for path in opened if path.startswith(str(data))}))
        """
    )
    command = [sys.executable, "-c", script, str(saved.folder.parent)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert {"corpus.parquet", "dev.parquet", "edges.parquet", "manifest.json"} <= set(eval(output))
    assert "heldout" not in output
