"""``harness compare`` at the command line: what it prints, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder outside of any workspace, with two runs of six questions and qrels; it is the current one."""
    folder = tmp_path / "files é"
    folder.mkdir()
    monkeypatch.chdir(folder)
    rows = [(f"c{i}/q{i}", f"d{i}") for i in range(6)]
    Path("A.run").write_text("".join(f"{q} Q0 {d} 1 1 t\n{q} Q0 x 2 1 t\n" for q, d in rows), "utf-8")
    Path("B.run").write_text("".join(f"{q} Q0 {d} 1 1 t\n" for q, d in rows[:4]) + "z/1 Q0 x 1 1 t\n", "utf-8")
    Path("q.qrels").write_text("".join(f"{q} 0 {d} 2\n" for q, d in rows) + "n/1 0 x 0\n", "utf-8")


def test_everything_that_a_reader_needs_is_said(desk: Any) -> None:
    """The table and, in plain sentences, what it rests on: no verdict, clusters, what is missing, ties."""
    done = desk.run("compare", "A.run", "B.run", "--qrels", "q.qrels", "--measures", "Success@1", "R@3")
    assert done.code == 0, done.err
    for sentence in (
        "exploratory: nothing was promised before these figures were seen, so there is no verdict",
        "two one-sided bounds of cluster-t+tango/2, each at α = 0.05, ρ up to 0.01",
        "clusters: one per question, which understates the uncertainty where questions share a conversation",
        "questions without a relevant document: 1 (n/1)",
        "graded judgments: 6 of 7 are above 1 and count as relevant, no more",
        "not answered in B, which counts as nothing found: 3 (c4/q4, c5/q5, n/1)",
        "in B and not in the qrels, left out: 1 (z/1)",
        "A has at most 2 documents a question: R@3 read no further",
        "equal scores in A, k = 1: 0 of 7 questions (0.0 %) inside, 6 (85.7 %) across the cut, 6 more cannot be told",
        "A, Success@1: no range, in 6 of 6 questions the ranking ends inside the group at the cut",
    ):
        assert sentence in done.out, sentence
    row = next(line for line in done.out.splitlines() if line.startswith("Success@1"))
    assert row.split()[:4] == ["Success@1", "100.0", "66.7", "-33.33"]
    assert row.split()[-7:-3] == ["6", "6", "0/2/4", "16.67"]
    assert row.split()[-2:] == ["no", "difference"]
    assert "Success@1: -33.3 points on 6 questions, which is two questions" in done.out


def test_one_file_twice(desk: Any) -> None:
    """The rankings are identical, the change is exactly nothing, and no interval is made of it."""
    done = desk.run("compare", "A.run", "A.run", "--qrels", "q.qrels", "--measures", "RR@1")
    assert "the rankings are identical: every difference is exactly 0" in done.out
    assert "+0.00      none" in done.out
    assert "no interval: the rankings are identical" in done.out


def test_one_flip_in_24_questions_claims_nothing(desk: Any) -> None:
    """It says what one question is worth, that this is one question, and that no difference is shown."""
    for name, lost in (("before", 7), ("after", -1)):
        rows = "".join(f"q{i} Q0 {'x' if i == lost else f'd{i}'} 1 1 t\n" for i in range(24))
        Path(f"{name}.run").write_text(rows, "utf-8")
    Path("q24.qrels").write_text("".join(f"q{i} 0 d{i} 1\n" for i in range(24)), "utf-8")
    done = desk.run("compare", "before.run", "after.run", "--qrels", "q24.qrels", "--measures", "Success@1")
    assert done.code == 0, done.err
    row = next(line for line in done.out.splitlines() if line.startswith("Success@1 "))
    assert row.split()[3] == "+4.17"
    assert row.split()[-7:] == ["24", "24", "1/0/23", "4.17", "0.4533", "no", "difference"]
    assert "Success@1: +4.2 points on 24 questions, which is one question" in done.out


def test_files_that_name_other_documents(desk: Any) -> None:
    """Where no relevant document was retrieved the output asks whether the ids are the same."""
    Path("q.qrels").write_text("c0/q0 0 D-0 1\n", "utf-8")
    done = desk.run("compare", "A.run", "B.run", "--qrels", "q.qrels")
    assert "do runs and qrels call documents by the same ids?" in done.out


def test_the_result_as_json(desk: Any) -> None:
    """--json prints the same as one value, with digests of the files."""
    done = desk.run("compare", "A.run", "B.run", "--qrels", "q.qrels", "--json", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert {len(file["sha256"]) for file in done.json["files"].values()} == {64}
    assert [row["measure"] for row in done.json["rows"]][:2] == ["R@10", "Success@10"]
    assert json.loads(done.out)["looks"] == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("A.run", "B.run"), "--qrels"),
        (("A.run", "none.run", "--qrels", "q.qrels"), "none.run: no such run file"),
        (("A.run", "B.run", "--qrels", "none"), "none: no such qrels file"),
        (("A.run", "q.qrels", "--qrels", "q.qrels"), "q.qrels:1: 4 columns"),
        (("A.run", "B.run", "--qrels", "A.run"), "A.run:1: 6 columns"),
        (("A.run", ".", "--qrels", "q.qrels"), "not a run file"),
        (("A.run", "B.run", "--qrels", "q.qrels", "--k", "ten"), "--k"),
        (("A.run", "B.run", "--qrels", "q.qrels", "--alpha", "5"), "--alpha"),
        (("A.run", "B.run", "--qrels", "q.qrels", "--measures", "R(credit=source)@10"), "qrels know nothing of credit"),
        (("A.run", "B.run", "--qrels", "q.qrels", "k=5"), "unexpected: k=5"),
    ],
)
def test_what_is_refused(desk: Any, words: tuple[str, ...], says: str) -> None:
    """A wrong file, option or word ends in one message, exit code 2, and no figure."""
    done = desk.run("compare", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
    assert "internal error" not in done.err


def test_several_measures_share_their_error_rate(desk: Any) -> None:
    """P accounts for how many measures were looked at, and the output says for how many."""
    one, two = (desk.run("compare", "A.run", "B.run", "--qrels", "q.qrels", "--measures", *names, "--json").json["rows"]
                for names in (["Success@1"], ["Success@1", "RR@1"]))  # fmt: skip
    assert one[0]["p_holm"] == one[0]["p"]
    assert two[0]["p_holm"] == min(1.0, 2 * one[0]["p"])
    text = desk.run("compare", "A.run", "B.run", "--qrels", "q.qrels", "--measures", "Success@1", "RR@1").out
    assert "adjusted for the 2 measures (Holm)" in text
