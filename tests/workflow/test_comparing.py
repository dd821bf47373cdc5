from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.evaluation.statistics.bounds import lower_bound, pair, upper_bound
from harness.workflow.comparing import Files, Settings, compare_files

Run = Mapping[str, Sequence[str]]

# ten questions with one relevant document each; the candidate finds two that the baseline does not, and loses one
BASELINE = {f"c{i // 2}/q{i}": ["x", f"d{i}"] if i < 6 else ["x", "y"] for i in range(10)}
CANDIDATE = {f"c{i // 2}/q{i}": [f"d{i}", "x"] if 0 < i < 8 else ["y"] for i in range(10)}
JUDGED = {f"c{i // 2}/q{i}": {f"d{i}": 1, "x": 0} for i in range(10)}


@pytest.fixture
def files(tmp_path: Path) -> Any:
    """Writes two runs and qrels."""

    def write(baseline: Run = BASELINE, candidate: Run = CANDIDATE, judged: Any = JUDGED) -> Files:
        paths = Files(tmp_path / "A.run", tmp_path / "B.run", tmp_path / "q.qrels")
        for path, run in ((paths.baseline, baseline), (paths.candidate, candidate)):
            path.write_text(
                "".join(f"{q} Q0 {d} {r} {-r} t\n" for q, row in run.items() for r, d in enumerate(row)), "utf-8"
            )
        paths.qrels.write_text(
            "".join(f"{q} 0 {d} {grade}\n" for q, row in judged.items() for d, grade in row.items()), "utf-8"
        )
        return paths

    return write


def compared(files: Files, *measures: str, **settings: Any) -> dict[str, Any]:
    """The comparison, outside of any workspace."""
    return compare_files(files, Settings(measures, **settings), ())


def row_of(found: dict[str, Any], measure: str) -> dict[str, Any]:
    """The row of one measure."""
    return next(row for row in found["rows"] if row["measure"] == measure)


def test_means_are_those_of_the_field(files: Any) -> None:
    """Every usual measure has the mean that ir_measures gives for the same files."""
    paths = files()
    found = compared(paths, k=5)
    assert [row["measure"] for row in found["rows"]] == ["R@5", "Success@5", "RR@5", "nDCG@5", "P@5", "AP@5"]
    qrels = list(ir_measures.read_trec_qrels(str(paths.qrels)))
    for role, path in (("baseline", paths.baseline), ("candidate", paths.candidate)):
        run = list(ir_measures.read_trec_run(str(path)))
        asked = [ir_measures.parse_measure(row["measure"]) for row in found["rows"]]
        theirs = ir_measures.calc_aggregate(asked, qrels, run)
        for row, measure in zip(found["rows"], asked, strict=True):
            assert row[role] == pytest.approx(theirs[measure], abs=1e-9), row["measure"]


def test_the_row_of_a_measure(files: Any) -> None:
    """A row says n, clusters, what was won, lost and tied, what one question is worth, and the procedure's bounds."""
    row = row_of(compared(files(), "Success@2", clusters="prefix", alpha=0.1, rho=0.02), "Success@2")
    assert (row["baseline"], row["candidate"], row["n"], row["clusters"]) == (0.6, 0.7, 10, 5)
    assert (row["wins"], row["losses"], row["ties"], row["one_question"]) == (2, 1, 7, 0.1)
    assert row["estimate"] == pytest.approx(0.1)
    deltas = np.array([-1.0, 0, 0, 0, 0, 0, 1, 1, 0, 0])
    paired = pair(deltas, np.arange(10) // 2)
    assert row["lower"] == pytest.approx(lower_bound(paired, 0.1, 0.02))
    assert row["upper"] == pytest.approx(upper_bound(paired, 0.1, 0.02))


def test_one_file_twice_differs_by_exactly_nothing(files: Any) -> None:
    """The same rankings differ by exactly 0, and nothing is estimated from that."""
    paths = files(candidate=BASELINE)
    found = compared(paths)
    assert found["identical"]
    assert {(row["estimate"], row["lower"], row["no_interval"]) for row in found["rows"]} == {
        (0.0, None, "the rankings are identical")
    }


def test_swapping_the_runs_turns_the_sign(files: Any) -> None:
    """A against B is B against A with the bounds mirrored."""
    paths = files()
    there = compared(paths, "AP@5")["rows"][0]
    back = compared(Files(paths.candidate, paths.baseline, paths.qrels), "AP@5")["rows"][0]
    assert back["estimate"] == pytest.approx(-there["estimate"])
    assert (back["lower"], back["upper"]) == pytest.approx((-there["upper"], -there["lower"]))


def test_a_question_without_rows_counts_as_nothing_found(files: Any) -> None:
    """It is in the mean with 0, and counted."""
    short = {q: row for q, row in CANDIDATE.items() if q != "c2/q5"}
    found = compared(files(candidate=short), "Success@2")
    assert found["rows"][0]["candidate"] == pytest.approx(0.6)
    assert found["runs"]["candidate"]["empty"] == {"n": 1, "examples": ["c2/q5"]}
    assert found["runs"]["baseline"]["empty"]["n"] == 0


def test_a_question_that_was_not_judged_is_left_out_and_named(files: Any) -> None:
    """A question of one run alone, or of both, that the qrels lack changes no mean."""
    found = compared(files(baseline={**BASELINE, "c9/z": ["d0"]}), "Success@2")
    assert found["runs"]["baseline"]["not_judged"] == {"n": 1, "examples": ["c9/z"]}
    assert (found["rows"][0]["n"], found["rows"][0]["baseline"]) == (10, 0.6)


def test_a_question_without_a_relevant_document(files: Any) -> None:
    """It is left out and counted, unless the measure says that it counts."""
    judged = {**JUDGED, "c9/none": {"x": 0}}
    found = compared(files(judged=judged), "Success@2", "Success(empty=1)@2")
    assert found["qrels"]["without_evidence"] == {"n": 1, "examples": ["c9/none"]}
    assert [row["n"] for row in found["rows"]] == [10, 11]


def test_graded_judgments_are_counted(files: Any) -> None:
    """A grade above 1 is relevant and no more."""
    graded = compared(files(judged={q: {d: 3 * g for d, g in row.items()} for q, row in JUDGED.items()}))
    assert (graded["qrels"]["graded"], graded["qrels"]["judged"]) == (10, 20)
    assert graded["rows"] == compared(files())["rows"]


def test_equal_scores_are_reported(files: Any) -> None:
    """Where a file holds equal scores, least, expected and greatest value are beside the ranked one."""
    paths = files()
    text = paths.baseline.read_text("utf-8")
    longer = "".join(f"c4/q9 Q0 z{i} 1 -{i} t\n" for i in range(2, 5))  # a deeper list shows that the others are whole
    paths.baseline.write_text(text.replace("d0 1 -1", "d0 1 0") + longer, "utf-8")
    ties = compared(paths, "RR@3")["runs"]["baseline"]["ties"]
    assert ties["cuts"]["3"] == {"inside": 1, "across": 0, "between": None, "open": 0}
    cell = ties["ranges"]["RR@3"]
    assert (cell["least"], cell["expected"], cell["greatest"]) == pytest.approx((0.3, 0.325, 0.35))


def test_too_few_clusters_give_no_interval(files: Any) -> None:
    """Below five effective clusters the row says why it has no interval."""
    paths = files()
    clusters = paths.qrels.with_name("clusters.tsv")
    clusters.write_text("".join(f"{q}\t{int(q[1]) // 2}\n" for q in JUDGED), "utf-8")
    row = compared(paths, "R@2", clusters=str(clusters))["rows"][0]
    assert (row["lower"], row["clusters"]) == (None, 3)
    assert row["no_interval"] == "2.8 effective clusters, and 5 are needed"


def test_a_parquet_ranking_reads_as_its_trec_run(files: Any) -> None:
    """Both forms of one ranking compare as identical."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    paths = files()
    rows = [(q, d, r + 1, -float(r)) for q, row in BASELINE.items() for r, d in enumerate(row)]
    columns = dict(zip(("question", "document", "rank", "score"), zip(*rows, strict=True), strict=True))
    other = paths.baseline.with_name("A.parquet")
    pq.write_table(pa.table({name: list(values) for name, values in columns.items()}), other)
    assert compared(Files(paths.baseline, other, paths.qrels))["identical"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"baseline": {"z1": ["d1"]}}, "no question in common: A.run has z1; q.qrels has c0/q0, c0/q1, c1/q2"),
        ({"candidate": {"z1": ["d1"]}}, "no question in common: B.run has z1; q.qrels has"),
        ({"baseline": {"c0/q0": ["a"]}, "candidate": {"c0/q1": ["a"]}}, "A.run has c0/q0; B.run has c0/q1"),
        ({"baseline": {}}, "no retrieved document in it"),
        ({"judged": {}}, "no judgment in it"),
        ({"judged": {"c0/q0": {"x": 0}}}, "no question of the slice 'all' has a score"),
        ({"baseline": {"c0/q0": ["a", "a"]}}, "'a' twice"),
    ],
)
def test_files_that_cannot_be_compared(files: Any, change: Any, says: str) -> None:
    """Disjoint, empty and contradictory files are refused with examples from both sides."""
    with pytest.raises(UsageProblem) as caught:
        compared(files(**change))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"k": 0}, "'R@0' is not a measure"),
        ({"alpha": 0.0}, "α = 0.0"),
        ({"alpha": float("nan")}, "α = nan"),
        ({"rho": -0.1}, "ρ = -0.1"),
        ({"measures": ("R(credit=source)@10",)}, "qrels know nothing of credit"),
        ({"measures": ("R(evidence=overlay)@10",)}, "qrels know nothing of evidence"),
        ({"measures": ("Recall@10",)}, "no measure 'Recall'"),
        ({"clusters": "none.tsv"}, "cannot be read as a file of clusters"),
    ],
)
def test_settings_that_cannot_be_used(files: Any, settings: Any, says: str) -> None:
    """Rates out of range, unknown measures, conventions that qrels lack and missing files are refused."""
    with pytest.raises(UsageProblem) as caught:
        compare_files(files(), Settings(**settings), ())
    assert says in str(caught.value)


def test_a_pipe_is_refused(files: Any, tmp_path: Path) -> None:
    """What can be read only once has no digest that could go on record."""
    paths = files()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageProblem, match="a pipe or a device"):
        compared(Files(paths.baseline, tmp_path / "pipe", paths.qrels))


def test_a_byte_order_mark_changes_nothing(files: Any) -> None:
    """Files saved with one compare as without."""
    paths = files()
    before = compared(paths)["rows"]
    for path in (paths.baseline, paths.candidate, paths.qrels):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert compared(paths)["rows"] == before
