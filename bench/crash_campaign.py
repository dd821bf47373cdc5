"""Stops every command at every call that changes the disk, in every way, starts it again, and counts what was lost.

    python bench/crash_campaign.py [--commands lock,full] [--faults signal=KILL] [--processes 2] [--keep FILE]

The calls are those that strace lists; strace also injects the faults: SIGKILL, SIGTERM and SIGINT before the call, or
a full disk, an input/output error and a lost permission as its answer. `tests/workflow/boundaries.py` makes the
trials; the kills of `lock` and `full` are also part of the test suite. Some minutes for each thousand trials.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).parents[1] / "tests/workflow/boundaries.py"
FAULTS = ("signal=KILL", "signal=TERM", "signal=INT", "error=ENOSPC", "error=EIO", "error=EACCES")
NEW = ("--primary", "R@10", "--superior", "0.02", "--guard", "temporal:0.06", "--title", "Raw turns only",
       "--hypothesis", "Facts repeat turns.", "--rationale", "Two points pay.", "--author", "me")  # fmt: skip
DEV = ("dev", "--retrieval-version", "bm25", "retrieval.layers=[raw]")
# every command starts where the ones above it have been, but for dev and sweep
COMMANDS = {
    "dev": (*DEV, "retrieval.k1=0.8"),
    "sweep": (*DEV, "-m", "retrieval.k1=0.8,1.6"),
    "lock": ("prereg", "lock", "raw-only"),
    "full": ("full", "raw-only"),
    "mirror": ("mirror",),
}
LEDGER = {
    "lock": ["lock"],
    "full": ["lock", "seal", "claim", "verdict"],
    "mirror": ["lock", "seal", "claim", "verdict"],
}
FIGURES = ("evidence.jsonl", "scores.json", "report.html", "report.md")
# what refuses no work: the outbox and the user's own folder, if an error hits just them
HELPS = ("state/", "ws/runs/outbox")
SAID = ("not kept outside", "no witness outside", "nor could it be put into the outbox")
MLFLOW_TEMPORARY = ".artifact.uploading"  # in the folder of a run that was half written and then replaced
NO_STORE = {"MLFLOW_TRACKING_URI": "not-a-store"}  # the outbox is part of every command, MLflow of `mirror`


def templates(base: Path) -> dict[str, Path]:
    """A workspace with its user's state folder for each command, made as a user makes it."""
    here, made = base / "here", {}

    def step(*words: str, **more: str) -> None:
        environment = {**os.environ, "XDG_STATE_HOME": str(here / "state"), **more}
        command = [sys.executable, "-m", "harness", *words, "--workspace", str(here / "ws")]
        subprocess.run(command, env=environment, check=True, capture_output=True)

    def ready(*names: str) -> None:
        for name in names:
            made[name] = shutil.copytree(here, base / "templates" / name)

    (here / "ws").mkdir(parents=True)
    (here / "state").mkdir()
    step("init")
    step("data", "import", "synthetic")
    step(*DEV)
    step("freeze", "latest", "--name", "raw-only")
    ready("dev", "sweep")
    step("prereg", "new", "raw-only", "--from", "experiments/raw-only/frozen.yaml", *NEW)
    ready("lock")
    step("prereg", "lock", "raw-only")
    ready("full")
    step("full", "raw-only", **NO_STORE)
    ready("mirror")
    return made


def started(name: str, template: Path, faults: list[str], processes: int, base: Path) -> Iterator[Any]:
    """Lines of a command's undisturbed runs and trials, from several processes."""
    running = []
    for part in range(processes):
        folder = base / name / str(part)
        folder.mkdir(parents=True)
        job = {"template": str(template), "folder": str(folder), "arguments": COMMANDS[name], "faults": faults}
        given, lines = folder / "job.json", folder / "lines"
        given.write_text(json.dumps({**job, "part": [part, processes]}), encoding="utf-8")
        environment = {**os.environ, **({} if name == "mirror" else NO_STORE)}
        with given.open() as stdin, lines.open("w") as stdout:
            process = subprocess.Popen([sys.executable, str(SCRIPT)], stdin=stdin, stdout=stdout, env=environment)
        running.append((process, lines))
    for process, lines in running:
        if process.wait() != 0:
            sys.exit(f"the trials of {name} broke off")
        yield from (json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines())


def troubles(name: str, whole: Any, trial: Any) -> list[str]:
    """What was wrong with a trial, by the names of the table; none if all is well."""
    stopped, restarted = trial["stopped"], trial["restarted"]
    wanted, kinds = LEDGER.get(name, []), restarted["kinds"]
    different = {*trial["different"], *(name for name in whole["files"] if name not in restarted["files"])}
    not_kept = {name for name in different if name.startswith(HELPS)}
    left = {name for name in restarted["files"] if name not in whole["files"]}
    swept_later = {name for name in left if name.startswith(HELPS) or name.endswith(MLFLOW_TEMPORARY)}
    found = {
        "elsewhere": not trial["reached"],
        "traceback": "Traceback" in stopped["said"] + restarted["said"],
        "not finished": restarted["code"] not in (0, 12),
        "lost verdicts": kinds[-1:] != wanted[-1:] or kinds[: len(stopped["kinds"])] != stopped["kinds"],
        "double judges": kinds.count("claim") > 1 or kinds.count("verdict") > 1 or restarted["claims"] > 1,
        "seen before the claim": "claim" not in stopped["kinds"] and any(f.endswith(FIGURES) for f in stopped["files"]),
        "other payloads": restarted["payloads"] != whole["payloads"],
        "other bytes": bool(different - not_kept),
        "MLflow not as it was": restarted["mlflow"] != whole["mlflow"],
        "left to clean": bool(left - swept_later),
        "not kept, without a word": bool(not_kept) and not any(said in stopped["said"] for said in SAID),
        "(a help was not kept, and it was said)": bool(not_kept) and any(said in stopped["said"] for said in SAID),
        "(swept by the next look, or by mlflow gc)": bool(swept_later),
    }
    return [what for what, true in found.items() if true]


def main() -> None:
    """Make the trials and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commands", default=",".join(COMMANDS), help="default: all")
    parser.add_argument("--faults", default=",".join(FAULTS), help="default: all")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="write every trial to this file")
    options = parser.parse_args()
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        made = templates(Path(folder))
        for name in options.commands.split(","):
            faults = options.faults.split(",")
            lines = list(started(name, made[name], faults, options.processes, Path(folder)))
            whole = next(line for line in lines if "boundaries" in line)
            trials = [line for line in lines if "boundary" in line]
            count: Counter[str] = Counter(trials=len(trials), restarts=len(trials))
            count["kills"] = sum(trial["stopped"]["code"] == -9 for trial in trials)
            for trial in trials:
                found = troubles(name, whole, trial)
                count.update(found)
                if options.keep:
                    with options.keep.open("a", encoding="utf-8") as kept:
                        kept.write(json.dumps({"command": name, "troubles": found, **trial}) + "\n")
            total.update(count)
            print(f"{name}: {len(whole['boundaries'])} boundaries × {len(faults)} faults: {dict(count)}", flush=True)
    for what in ("lost verdicts", "double judges", "seen before the claim", "left to clean"):
        total[what] += 0  # shown also where there was none
    print("\n".join(f"{number:6}  {what}" for what, number in total.items()))


if __name__ == "__main__":
    main()
