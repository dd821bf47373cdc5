"""Overlays correct golds by question id and leave the data as it was."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.library import Library, find, save
from harness.benchmarks.overlay import CORRECTED, DISPUTED, apply_overlay, evidence_of
from harness.errors import UsageProblem
from harness.evaluation.measure import parse_measure
from harness.retrieval.registry import select
from harness.retrieval.version import Store
from harness.workflow.measured import measure_ranking

Write = Callable[[Any], Path]


def overlay(questions: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An overlay with these corrections."""
    return {"format": 1, "name": "audit", "questions": questions} | more


@pytest.fixture
def corrected(tiny: Benchmark, as_file: Write) -> Benchmark:
    """The small benchmark with one piece of evidence corrected and one gold disputed."""
    turn = next(name for name in tiny.corpus.ids if name.startswith("conv-90/D")).removeprefix("conv-90/")
    corrections = {"conv-90/q0": {"evidence": [turn, turn], "why": "misread"}, "conv-90/q1": {"answer": "no, two"}}
    return apply_overlay(tiny, as_file(overlay(corrections)))


def test_an_overlay_changes_only_its_own_column(tiny: Benchmark, corrected: Benchmark) -> None:
    """Published and repaired evidence and answers stay; the third column has the correction, once."""
    before, after = tiny.labels, corrected.labels
    place = after.ids.index("conv-90/q0")
    assert after.answers == before.answers
    assert after.repaired.rows() == before.repaired.rows()
    assert after.published.rows() == before.published.rows()
    assert before.overlay is None
    changed = [i for i, row in enumerate(evidence_of(after, "overlay").rows()) if row != before.repaired.row(i)]
    assert set(changed) <= {place}
    assert evidence_of(after, "overlay").row(place) == [corrected.corpus.ids.index("conv-90/D1:1")]


def test_what_an_overlay_touches_is_flagged_and_reported(corrected: Benchmark) -> None:
    """Corrected evidence and disputed golds are slices, and stand in the repair report with the overlay's name."""
    flags = dict(zip(corrected.labels.ids, corrected.labels.flags, strict=True))
    assert CORRECTED in flags["conv-90/q0"]
    assert DISPUTED not in flags["conv-90/q0"]
    assert DISPUTED in flags["conv-90/q1"]
    notes = {(repair.record, repair.action) for repair in corrected.repairs}
    assert {("conv-90/q0", "by audit"), ("conv-90/q1", "by audit")} <= notes
    assert corrected.source["overlay"]["name"] == "audit"


def test_an_overlaid_benchmark_is_another_benchmark(tiny: Benchmark, corrected: Benchmark, data: Path) -> None:
    """Its digest differs, and what was saved reads back with the third column."""
    assert corrected.digests()["digest"] != tiny.digests()["digest"]
    assert corrected.digests()["corpus"] == tiny.digests()["corpus"]
    save(corrected, data / "locomo")
    library: Library = find(data, "locomo")
    labels = library.dev[1].aligned(library.heldout_labels("0" * 64), corrected.labels.ids)
    assert evidence_of(labels, "overlay").rows() == evidence_of(corrected.labels, "overlay").rows()


def test_a_measure_reads_the_overlay_by_name(corrected: Benchmark) -> None:
    """R under evidence=overlay scores against the corrected evidence, R against the repaired one."""
    system, store = select("bm25", {"layers": ["raw"]}), Store(corrected.corpus, corrected.edges)
    ranking = system.rank(store, corrected.questions, 100)
    measures = [parse_measure("R@100"), parse_measure("R(evidence=overlay)@100")]
    measured = measure_ranking(
        system, ranking, store, corrected.partitions, corrected.questions, corrected.labels, measures
    )
    place = corrected.labels.ids.index("conv-90/q0")
    found = corrected.corpus.ids.index("conv-90/D1:1") in ranking.row(place)
    assert measured.scores.values[measures[1]][place] == float(found)
    others = np.arange(len(corrected.labels)) != place
    repaired, overlaid = (measured.scores.values[measure][others] for measure in measures)
    np.testing.assert_array_equal(repaired, overlaid)


def test_without_an_overlay_its_convention_is_refused(tiny: Benchmark) -> None:
    """A measure that reads an overlay says that there is none, instead of scoring something else."""
    with pytest.raises(UsageProblem, match="without an overlay"):
        evidence_of(tiny.labels, "overlay")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "not an overlay"),
        ({"format": 2, "name": "x", "questions": {}}, "not an overlay"),
        (overlay({"conv-90/q999": {}}), "no question 'conv-90/q999'"),
        (overlay({"conv-90/q0": {"evidence": ["D99:1"]}}), "no turn 'D99:1' in conv-90"),
        (overlay({"conv-90/q0": {"evidence": "D1:1"}}), "evidence is str"),
        (overlay({"conv-90/q0": {"gold": "x"}}), "unknown key 'gold'"),
        (overlay({"conv-90/q0": 3}), "the correction is int"),
        ({"format": 1, "questions": {}}, "name is nothing"),
        ({"format": 1, "name": "x"}, "questions is nothing"),
    ],
)
def test_a_faulty_overlay_is_refused(tiny: Benchmark, as_file: Write, value: Any, message: str) -> None:
    """What does not fit the benchmark is named, with the question."""
    with pytest.raises(UsageProblem, match=message):
        apply_overlay(tiny, as_file(value))


def test_the_file_that_a_benchmark_came_from_is_remembered(tiny: Benchmark, tiny_locomo: Path, data: Path) -> None:
    """The origin is in the manifest, in no digest, and reads back as a path."""
    with_origin = save(tiny, data / "a", tiny_locomo)
    without = save(tiny, data / "b")
    assert with_origin["digests"] == without["digests"]
    assert json.loads((data / "a" / "manifest.json").read_text())["origin"] == str(tiny_locomo.resolve())
    assert Library(data / "a").origin == tiny_locomo.resolve()
    assert Library(data / "b").origin is None
