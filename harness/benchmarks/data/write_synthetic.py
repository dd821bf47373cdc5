"""Writes the synthetic conversational benchmark: ``python -m harness.benchmarks.data.write_synthetic OUT``.

The project reads only the frozen file beside this script; the script shows where its text comes from. All
chance comes from ``Random.random``, the one stream that Python promises to keep from version to version.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

from harness.benchmarks.data.synthetic_asking import Asking
from harness.benchmarks.data.synthetic_plan import Planner
from harness.benchmarks.data.synthetic_telling import Teller

SEED = 20210302
QUESTIONS = (58, 52, 61, 50, 57, 62, 54, 59, 53, 60)  # per conversation


def conversation(number: int, questions: int) -> dict[str, Any]:
    """Conversation ``number``, counted from 1, each with a random stream of its own."""
    rng = Random(SEED + number)  # noqa: S311 - text for a benchmark, no secret
    teller = Teller(Planner(number, rng).draw(), rng)
    teller.tell()
    return {
        "id": f"syn-{number:02}",
        "speakers": list(teller.plan.speakers),
        "sessions": teller.sessions,
        "distilled": teller.distilled,
        "summaries": teller.summaries,
        "causal": teller.causal,
        "questions": Asking(teller, rng, questions).ask(),
    }


def benchmark_bytes() -> bytes:
    """The whole benchmark as canonical JSON in UTF-8: sorted keys, no blanks."""
    conversations = [conversation(number, count) for number, count in enumerate(QUESTIONS, start=1)]
    data = {"name": "synthetic", "format": 1, "conversations": conversations}
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def write(path: Path) -> None:
    """Writes the benchmark to ``path``, gzipped without a name or a time in its header."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as stream:
        stream.write(benchmark_bytes())
    path.write_bytes(buffer.getvalue())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m harness.benchmarks.data.write_synthetic OUT")
    write(Path(sys.argv[1]))
