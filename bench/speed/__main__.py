"""How fast the harness is beside other libraries, in one run on one thread.

    python -m bench.speed [--locomo locomo10.json] [--rounds 7] [--large] [--output results.json]

Everyone gets the same tokens, rankings or vectors; text is tokenized outside the clock. Times are medians of processor
time over the rounds, and the ratios to ours are what travels to another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.speed import dense, measures, resampling
from bench.speed.engines import contenders
from bench.speed.stores import drawn, locomo
from bench.speed.timing import Result, Task, run

LIBRARIES = (
    "numpy", "scipy", "rank-bm25", "bm25s", "numba", "tantivy", "faiss-cpu", "ir-measures", "pytrec-eval-terrier",
)  # fmt: skip
PARTITIONS, SIZE, EACH = 500, 550, 4
ONE, LARGE = (275_000, 20), (1_000_000, 10)  # chunks of one store, and questions asked of it
SLOW = 2  # questions of one store for rank_bm25


def tasks(given: argparse.Namespace) -> Iterator[Task]:
    """The parts of the table, one at a time, so that only one store is held in memory."""
    if given.locomo is None:
        print("LoCoMo: skipped, no path was given (--locomo locomo10.json)\n")
    else:
        for layers in (("raw",), ("raw", "distill")):
            for depth in (10, 100):
                work = locomo(given.locomo, depth, layers)
                n, asked = len(work.documents), len(work.questions)
                facts = {"documents": n, "questions": asked, "k": depth}
                title = f"LoCoMo, {' + '.join(layers)}: {n:,} chunks, {asked:,} questions, k={depth}"
                yield Task(title, facts, contenders(work), asked)
    work = drawn(PARTITIONS, SIZE, EACH, 10)
    facts = {"partitions": PARTITIONS, "documents": PARTITIONS * SIZE, "questions": len(work.questions), "k": 10}
    for batch, how in ((True, "all questions given at once"), (False, "one question a call")):
        title = f"partitions: {PARTITIONS} × {SIZE} chunks, {len(work.questions):,} questions, k=10, {how}"
        yield Task(title, facts, contenders(work, batch=batch), len(work.questions), rounds=given.large_rounds)
    del work
    for size, asked in (ONE, LARGE) if given.large else (ONE,):
        facts = {"documents": size, "questions": asked, "k": 10, "questions_of_rank_bm25": SLOW}
        title = f"one store: {size:,} chunks, {asked} questions, k=10"
        yield Task(title, facts, contenders(drawn(1, size, asked, 10), slow=SLOW), asked, rounds=given.large_rounds)
    if not given.large:
        print(f"one store of {LARGE[0]:,} chunks: skipped (--large)\n")
    yield dense.task()
    for k in (10, measures.DEPTH):
        yield measures.task(k)
    yield from resampling.tasks()


def machine() -> dict[str, Any]:
    """Processor, cores, threads and versions of everything that takes part."""
    names = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            names[name] = version(name)
        except PackageNotFoundError:
            names[name] = "absent"
    return {"processor": _processor(), "cores": os.cpu_count(), "threads": 1, "versions": names}


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text(encoding="utf-8").splitlines() if listed.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def show(result: Result) -> None:
    """Print one part of the table."""
    questions = result.task.questions
    print(result.task.title)
    heads = ("build ms", "search ms" if questions else "ms", "both ms", "ms/question", "x ours", "x ours, search")
    print(f"  {'library':20}" + "".join(f"{head:>15}" for head in heads) + "  found")
    _, first, whole = result.measured[0].seconds if result.measured else (0.0, 1.0, 1.0)
    for one in result.measured:
        build, work, both = one.seconds
        each = f"{1000 * work / questions:15.4f}" if questions else f"{'':15}"
        numbers = f"{1000 * build:15.1f}{1000 * work:15.1f}{1000 * both:15.1f}{each}{both / whole:15.1f}"
        print(f"  {one.name:20}{numbers}{work / first:15.1f}  {one.check}")
    for missing in result.absent:
        print(f"  {missing.name:20} absent: {missing.why}")
    print(flush=True)


def record(result: Result) -> dict[str, Any]:
    """One part of the table for the file: medians, every round's seconds, and ratios to ours."""
    rows: list[dict[str, Any]] = [{"library": one.name, "absent": one.why} for one in result.absent]
    for one in result.measured:
        medians = dict(zip(("build", "work", "both"), one.seconds, strict=True))
        ours = result.measured[0].seconds
        ratios = {"work": medians["work"] / ours[1], "both": medians["both"] / ours[2]}
        rounds = {"build": one.build, "work": one.work}
        row = {"library": one.name, "seconds": medians, "ratios": ratios, "found": one.check, "rounds": rounds}
        rows.append(row | {"share_of_questions": one.share})
    return {"task": result.task.title, **result.task.facts, "libraries": rows}


def main() -> None:
    """Print the table and keep the figures."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--locomo", type=Path, help="path of locomo10.json; without it LoCoMo is skipped")
    parser.add_argument("--rounds", type=int, default=7, help="rounds whose median counts (7)")
    parser.add_argument("--large", action="store_true", help="also one store of 1,000,000 chunks")
    parser.add_argument("--large-rounds", type=int, default=3, help="rounds of 275,000 chunks and more (3)")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("results.json"), help="where to keep")
    given = parser.parse_args()
    where = machine()
    print(f"{where['processor']}, {where['cores']} cores, {where['threads']} thread")
    print(", ".join(f"{name} {number}" for name, number in where["versions"].items()) + "\n")
    parts = []
    for task in tasks(given):
        result = run(task, given.rounds)
        show(result)
        parts.append(record(result))
        content = {"machine": where, "rounds": given.rounds, "tasks": parts}
        given.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
