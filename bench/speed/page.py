"""The tables of docs/performance.md, from results.json.

python -m bench.speed.page            # docs/performance.md, between its marks
python -m bench.speed.page --print    # the tables only
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs/performance.md"
BEGIN, END = "<!-- made by bench/speed/page.py from here -->", "<!-- to here -->"


def read_results(path: Path = HERE / "results.json") -> dict[str, Any]:
    """What the benchmark wrote."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def tables(results: dict[str, Any]) -> str:
    """Hardware, one table a task under a heading for each kind of task, and where a peer is faster, as Markdown."""
    return "\n".join([*_machine(results), *_faster(results), *_tasks(results)]).strip()


def _machine(results: dict[str, Any]) -> Iterator[str]:
    machine = results["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    yield f"{machine['processor']}, {machine['cores']} cores, {machine['threads']} thread used. {versions}."
    yield ""


def _faster(results: dict[str, Any]) -> Iterator[str]:
    yield "**Where a peer is faster**"
    yield ""
    for task in results["tasks"]:
        parts, rows = [], _timed(task)
        for row in rows:
            ways = [("search", "work"), ("with the build", "both")]
            if rows[0]["seconds"]["build"] < rows[0]["seconds"]["both"] / 100:
                ways = [("", "both")]  # there is nothing to build
            found = [_faster_by(words, row["ratios"][which]) for words, which in ways]
            if any(found):
                parts.append(f"{row['library']} ({', '.join(filter(None, found))})")
        if parts:
            yield f"- {task['task']}: {'; '.join(parts)}."
    yield ""


def _faster_by(what: str, ratio: float) -> str:
    return f"{what} {1 / ratio:.1f} times".strip() if 1 / ratio >= 1.05 else ""


def _tasks(results: dict[str, Any]) -> Iterator[str]:
    heading = ""
    for task in results["tasks"]:
        kind, _, _text = task["task"].partition(": ")
        kind = kind.partition(",")[0]
        if kind != heading:
            heading = kind
            yield f"### {kind[0].upper()}{kind[1:]}"
            yield ""
        yield f"{task['task'].removeprefix(f'{kind}: ').removeprefix(f'{kind}, ')}"
        yield ""
        yield from _table(task)
        yield ""


def _table(task: dict[str, Any]) -> Iterator[str]:
    searched = "k" in task and "d" not in task  # by a lexical engine, which builds an index first
    heads = ["library", *(["build ms", "search ms", "ms a question", "× ours, search"] if searched else ["ms"])]
    heads += ["× ours, both" if searched else "× ours", "found"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 2) + "---|"
    for row in _timed(task):
        seconds, ratios = row["seconds"], row["ratios"]
        cells = [row["library"], _ms(seconds["both"])]
        if searched:
            each = f"{1000 * seconds['work'] / task['questions']:.4f}"
            cells[1:] = [_ms(seconds["build"]), _ms(seconds["work"]), each, _times(ratios["work"])]
        yield "| " + " | ".join([*cells, _times(ratios["both"]), row["found"]]) + " |"
    for row in task["libraries"]:
        if "absent" in row:
            yield "| " + " | ".join([row["library"], *["–"] * (len(heads) - 2), row["absent"]]) + " |"


def _timed(task: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in task["libraries"] if "seconds" in row]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio < 20 else f"{ratio:,.0f}"


def main() -> None:
    """Write the page, or print the tables."""
    parser = argparse.ArgumentParser(prog="python -m bench.speed.page", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--print", action="store_true", help="print the tables and write nothing")
    made = tables(read_results())
    if parser.parse_args().print:
        print(made)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
