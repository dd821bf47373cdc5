"""Imports a file of the size and shape of LongMemEval-S, and prints how long it took and how much memory.

    python -m bench.longmemeval_import [--keep FOLDER]

500 questions, each with 48 sessions of about ten turns. Most sessions come from a pool, so that they repeat across
questions as those of the real file do; the evidence sessions are the question's own. The words are made up.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# the real file's questions by type
TYPES = {
    "single-session-user": 70, "single-session-assistant": 56, "single-session-preference": 30,
    "multi-session": 133, "temporal-reasoning": 133, "knowledge-update": 78,
}  # fmt: skip
ABSTAINS = 17  # every so manieth question, about 30 of 500


@dataclass(frozen=True)
class Shape:
    """How large a file is.

    Attributes:
        sessions: of each question.
        pool: distinct sessions that questions share.
        turns: least and most turns of a session.
        user, assistant: least and most words of a turn.
    """

    sessions: int = 48
    pool: int = 9000
    turns: tuple[int, int] = (4, 16)
    user: tuple[int, int] = (15, 75)
    assistant: tuple[int, int] = (140, 600)


SMALL = Shape(sessions=4, pool=60, turns=(2, 5), user=(5, 12), assistant=(5, 20))
"""A file of some 700 KB with as many questions."""


def write(path: Path, shape: Shape) -> None:
    """Write the file; the same shape gives the same bytes."""
    drawn = random.Random(7)  # noqa: S311 - made-up data
    begins, middles = ("b", "c", "d", "f", "g", "l", "m", "p", "r", "st", "t"), ("a", "e", "i", "o", "u", "ar", "in")
    ends = ("n", "t", "ving", "mer", "son", "ck", "ly", "d", "s", "ta")
    words = [a + b + c for a in begins for b in middles for c in ends]

    def turn(place: int) -> dict[str, Any]:
        role = "assistant" if place % 2 else "user"
        length = drawn.randint(*(shape.assistant if place % 2 else shape.user))
        return {"role": role, "content": " ".join(drawn.choices(words, k=length))}

    def session() -> list[dict[str, Any]]:
        return [turn(place) for place in range(drawn.randint(*shape.turns))]

    pool = [(f"noise_{number}", session()) for number in range(shape.pool)]

    def records() -> Iterator[dict[str, Any]]:
        kinds = [kind for kind, count in TYPES.items() for _ in range(count)]
        for number, kind in enumerate(kinds):
            evidence = [(f"answer_{number}_{part}", session()) for part in range(1 if kind.startswith("single") else 2)]
            for _, turns in evidence:
                labelled = turns[1 if kind.endswith("assistant") else 0]
                for one in turns:
                    one["has_answer"] = one is labelled
            fact = evidence[0][1][1 if kind.endswith("assistant") else 0]["content"].split()
            haystack = [*drawn.sample(pool, shape.sessions - len(evidence)), *evidence]
            drawn.shuffle(haystack)
            yield {
                "question_id": f"{number:08x}" + ("" if number % ABSTAINS else "_abs"),
                "question_type": kind,
                "question": f"What about {' '.join(fact[1:6])}?",
                "answer": fact[0],
                "question_date": "2023/06/01 (Thu) 00:58",
                "haystack_session_ids": [identifier for identifier, _ in haystack],
                "haystack_dates": [
                    f"2023/{1 + day // 28:02d}/{1 + day % 28:02d} (Thu) 10:20" for day in range(len(haystack))
                ],
                "haystack_sessions": [turns for _, turns in haystack],
                "answer_session_ids": [identifier for identifier, _ in evidence],
            }

    with path.open("w", encoding="utf-8") as handle:
        for number, record in enumerate(records()):
            handle.write(("[" if number == 0 else ",\n") + json.dumps(record))
        handle.write("]\n")


def main() -> None:
    """Write the file, import it in a process of its own, and say what that took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the file and the workspace there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "longmemeval.json"
        write(path, Shape())
        print(f"{path.stat().st_size / 1e6:.0f} MB of JSON")
        workspace = str(folder / "workspace")
        run = [sys.executable, "-m", "harness"]
        subprocess.run([*run, "init", workspace], check=True, capture_output=True)
        begin = time.perf_counter()
        imported = [*run, "data", "import", "longmemeval", str(path), "--workspace", workspace]
        done = subprocess.run(imported, check=True, capture_output=True, text=True)
        seconds = time.perf_counter() - begin
        print("\n".join(done.stdout.splitlines()[:3]))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6
        print(f"imported in {seconds:.0f} s with {peak:.2f} GB of memory at most")


if __name__ == "__main__":
    main()
