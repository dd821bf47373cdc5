"""The speed benchmark: what stands in the docs is what was measured, and its peers find what we find."""

from __future__ import annotations

from typing import Any

from bench.speed.engines import contenders
from bench.speed.page import BEGIN, END, PAGE, read_results, tables
from bench.speed.resampling import tasks
from bench.speed.stores import drawn
from bench.speed.timing import Absent, Task, run


def test_the_docs_show_the_results():
    """The page's tables are those of the committed results."""
    text = PAGE.read_text(encoding="utf-8")
    assert text.partition(BEGIN)[2].partition(END)[0].strip() == tables(read_results())


def test_every_engine_finds_what_we_find():
    """On a small store the reference finds the same in the same order, and whoever rounds finds nearly the same."""
    result = run(Task("", {}, contenders(drawn(3, 40, 4, 10)), 12), rounds=1)
    found = {one.name: one.check for one in result.measured}
    assert found["ours"] == found["rank_bm25"] == "100.00 % of ours, 100.0 % in the same order"
    assert {one.name for one in result.measured} | {one.name for one in result.absent} == {
        "ours", "rank_bm25", "bm25s (numpy)", "bm25s (numba)", "tantivy",
    }  # fmt: skip
    assert all(float(check.split()[0]) > 95 for check in found.values())
    assert all(len(one.build) == len(one.work) == 1 for one in result.measured)


def test_a_peer_that_is_not_installed_is_named(monkeypatch):
    """What is missing stands in the table with the reason, and the others are timed all the same."""
    monkeypatch.setattr("bench.speed.engines.absent_modules", lambda *names: ", ".join(names))
    listed = contenders(drawn(1, 20, 1, 3))
    absent = {one.name: one.why for one in listed if isinstance(one, Absent)}
    assert absent["tantivy"] == "tantivy is not installed"
    assert absent["bm25s (numba)"] == "bm25s, numba is not installed"
    assert [one.name for one in listed if not isinstance(one, Absent)] == ["ours", "rank_bm25"]


def test_the_tables_name_every_task_and_whoever_is_faster():
    """Each task has a table, an absent library keeps its row, and a ratio below 1 is said in words."""

    def row(name: str, seconds: float, ratio: float) -> dict[str, Any]:
        times = {"build": 0.0, "work": seconds, "both": seconds}
        return {"library": name, "seconds": times, "ratios": {"work": ratio, "both": ratio}, "found": "the same"}

    libraries = [row("ours", 1.0, 1.0), row("quick", 0.5, 0.5), {"library": "gone", "absent": "it is not installed"}]
    task = {"task": "dense: some vectors", "libraries": libraries}
    machine = {"processor": "One", "cores": 2, "threads": 1, "versions": {"python": "3"}}
    made = tables({"machine": machine, "tasks": [task]})
    assert "- dense: some vectors: quick (2.0 times)." in made
    assert "### Dense\n\nsome vectors\n" in made
    assert "| quick | 500.0 | 0.5 | the same |" in made
    assert "| gone | – | – | it is not installed |" in made


def test_resampling_contenders_agree():
    """Ours and scipy.stats give the same p-values and quantiles but for the luck of their draws."""
    for task in tasks():
        ours, peer, _loop = task.contenders
        assert not isinstance(ours, Absent)
        assert not isinstance(peer, Absent)
        values = [
            one.check(one.work(one.build() if one.build else None)).removesuffix(" points").rpartition(" ")[2]
            for one in (ours, peer)
        ]
        assert abs(float(values[0]) - float(values[1])) < 0.02
