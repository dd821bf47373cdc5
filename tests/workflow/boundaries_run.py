"""Disturbs real commands at their boundaries, starts them again, and says what was not as it should be.

`Bench` holds the undisturbed run to compare with. Children are forked from a process that has imported everything.
As a program: reads a JSON plan from stdin (see `main`) and prints what became of every trial as JSON.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import select
import shutil
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import jinja2
from boundaries import traced
from boundaries_trap import Watched, hand_over

from harness import verifier
from harness.cli.main import main as harness
from harness.ledger import Ledger
from harness.workflow import comparing, full, lock, publish, verify  # noqa: F401 - imported once, before the forks

ID = "raw-only"
COMMANDS = {"lock": ("prereg", "lock", ID), "full": ("full", ID)}
NO_MIRROR = "not-a-store"  # refused at once: MLflow's own writes are tested elsewhere
TRIES = 3
_HASHES = ("parents", "time", "lock", "seal", "claim")
_VOLATILE = (
    (re.compile(r"\b[0-9a-f]{12,64}\b(?:\.\.\.)?"), "HASH"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[+-]\d\d:?\d\d|Z)?"), "TIME"),
    (re.compile(r'"process":\d+'), '"process":N'),
    (re.compile(r"\d{6}-HASH"), "ENTRY"),
)
_EXACT = ("ranking-", "documents-", "questions.jsonl", "budget.json", "environment.json", "evidence.jsonl", "scores")
_MEASURED = ("evidence.jsonl", "scores.json", "report.html", "report.md", "mirror.json")
_FIGURE = re.compile(r"points|\bR@|\bR\(|Success|measures")


@dataclass
class Plan:
    """What happens to the first run of a trial; see `Watched`. With ``after`` the signal comes after so many seconds."""

    command: str
    at: int | None = None
    signal: int | None = None
    error: int | None = None
    lasting: bool = False
    after: float | None = None
    again: list[int] = field(default_factory=list)


@dataclass
class Ended:
    """How a command ended, and the boundaries that it came to."""

    code: int
    out: str
    err: str
    seen: list[str]


@dataclass
class Outcome:
    """A trial: its plan, how each run ended, and the faults that were found, none if all is well."""

    plan: Plan
    boundary: str
    codes: list[int]
    faults: list[str]
    kinds: list[str]
    err: str = ""


def run(words: tuple[str, ...], root: Path, state: Path, plan: Plan | None = None, user: int | None = None) -> Ended:
    """Run a command in a child of its own, disturbed as planned."""
    streams = [state.parent / "stdout", state.parent / "stderr"]
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        _child(words, root, state, streams, theirs, user, ours)
    theirs.close()
    _, (listener,), _, _ = socket.recv_fds(ours, 1, 1)
    ours.close()
    watched = Watched(pid, root, state, listener=listener)
    if plan is not None and plan.after is None:
        watched.at, watched.signal, watched.error, watched.lasting = plan.at, plan.signal, plan.error, plan.lasting
    code = _supervise(watched, plan)
    out, err = (path.read_text(encoding="utf-8", errors="replace") for path in streams)
    return Ended(code, out, err, watched.seen)


def _child(
    words: tuple[str, ...], root: Path, state: Path, streams: list[Path], channel: socket.socket, user: int | None,
    other: socket.socket,
) -> None:  # fmt: skip
    code = 99
    try:
        other.close()
        os.environ["XDG_STATE_HOME"] = str(state)
        os.chdir(root)
        for number, path in enumerate(streams, start=1):
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
            os.dup2(handle, number)
            os.close(handle)
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(n, "w"), write_through=True) for n in (1, 2))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        hand_over(channel)
        code = harness([*words, "--workspace", str(root)])
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _supervise(watched: Watched, plan: Plan | None) -> int:
    """Answer the process until it ends; its exit code, negative for a signal."""
    process = os.pidfd_open(watched.pid)
    waiting = select.poll()
    waiting.register(watched.listener, select.POLLIN)
    waiting.register(process, select.POLLIN)
    due = time.monotonic() + plan.after if plan is not None and plan.after is not None else None
    try:
        while True:
            wait = None if due is None else max(0, int(1000 * (due - time.monotonic())))
            ready = dict(waiting.poll(wait))
            if due is not None and time.monotonic() >= due:
                due = None
                with contextlib.suppress(ProcessLookupError):
                    os.kill(watched.pid, plan.signal)
            if ready.get(watched.listener, 0) & select.POLLIN:
                watched.answer()
            elif ready.get(watched.listener):
                waiting.unregister(watched.listener)  # nobody asks any more
            if process in ready:
                return os.waitstatus_to_exitcode(os.waitpid(watched.pid, 0)[1])
    finally:
        os.close(process)
        os.close(watched.listener)


def snapshot(root: Path, state: Path) -> dict[str, str]:
    """Every file but the imported data, by a name and with a content that do not depend on time and process."""
    found = {}
    for base, prefix in ((root, ""), (state, "STATE/")):
        for path in sorted(base.rglob("*")):
            place = prefix + path.relative_to(base).as_posix()
            if path.is_dir() or place.startswith("data/") or ".lock" in path.name or "mlflow.db" in path.name:
                continue
            content = path.read_bytes().decode("utf-8", "replace")
            if "preregistrations/ledger/0" in place:
                content = json.dumps(_entry(json.loads(content)), sort_keys=True)
            elif not path.name.startswith(_EXACT) and "questions" not in place:
                content = _plain(content)
            found[_plain(place)] = content
    return found


def _entry(entry: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in entry.items() if key not in _HASHES}
    return kept | {"payload": {key: value for key, value in entry["payload"].items() if key not in _HASHES}}


def _plain(text: str) -> str:
    for pattern, replacement in _VOLATILE:
        text = pattern.sub(replacement, text)
    return text


class Bench:
    """Templates of both commands and what an undisturbed run makes of them.

    Args:
        templates: folder with ``lock/{ws,state}`` and ``full/{ws,state}``: the workspace before each command.
        work: where trials are made.
    """

    def __init__(self, templates: Path, work: Path) -> None:
        self.templates, self.work = templates, work
        self.whole: dict[str, dict[str, str]] = {}
        self.boundaries: dict[str, list[str]] = {}
        for command, words in COMMANDS.items():
            root, state = self.copy(command, f"warm-{command}")
            os.environ["XDG_STATE_HOME"] = str(state)
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                harness([*words, "--workspace", str(root)])  # here, so that every import and cache is inherited
            root, state = self.copy(command, f"whole-{command}")
            ended = run(words, root, state)
            assert ended.code == 0, ended.err
            self.whole[command], self.boundaries[command] = snapshot(root, state), ended.seen

    def copy(self, command: str, name: str) -> tuple[Path, Path]:
        """A workspace and its user's state folder, as they are before a command."""
        place = self.work / name
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.templates / command, place)
        (place / "state").mkdir(exist_ok=True)
        return place / "ws", place / "state"

    def traced(self, command: str) -> list[str]:
        """The boundaries of a command in a process of its own, as strace lists them."""
        root, state = self.copy(command, f"traced-{command}")
        words = [sys.executable, "-m", "harness", *COMMANDS[command], "--workspace", str(root)]
        code, names = traced(words, root, state, {**os.environ, "XDG_STATE_HOME": str(state)})
        assert code == 0
        return names

    def trial(self, plan: Plan, name: str) -> Outcome:
        """Disturb a command, start it again until it is done, and look for faults."""
        root, state = self.copy(plan.command, name)
        words = COMMANDS[plan.command]
        first = run(words, root, state, plan)
        happened = plan.at is not None and plan.at < len(first.seen)
        faults = self._first_faults(plan, first, happened)
        faults += peeked(root, first, self.templates / plan.command / "ws")
        codes = [first.code]
        for at in plan.again:
            codes.append(run(words, root, state, Plan(plan.command, at, signal.SIGKILL)).code)
            faults += peeked(root, first, self.templates / plan.command / "ws")
        faults += self.finish(plan.command, root, state, codes)
        kinds = [entry.kind for entry in Ledger(root / "preregistrations" / "ledger").read(missing_ok=True)]
        if not faults:
            shutil.rmtree(root.parent)
        boundary = f"{plan.at} {first.seen[plan.at]}" if happened else ""
        return Outcome(plan, boundary, codes, faults, kinds, first.err)

    def finish(self, command: str, root: Path, state: Path, codes: list[int]) -> list[str]:
        """Start a command again until it is done, then say what is not as after an undisturbed run."""
        faults = []
        for _ in range(TRIES):
            ended = run(COMMANDS[command], root, state)
            codes.append(ended.code)
            if ended.code == 0 or (command == "full" and ended.code == 12) or "is locked already" in ended.err:
                break
        else:
            faults.append(f"not done after {TRIES} restarts: exit {ended.code}: {ended.err.strip()}")
        mine, whole = snapshot(root, state), self.whole[command]
        faults += [f"left over: {name}" for name in sorted(mine.keys() - whole.keys())]
        faults += [f"missing: {name}" for name in sorted(whole.keys() - mine.keys())]
        faults += [f"differs: {name}" for name in sorted(mine.keys() & whole.keys()) if mine[name] != whole[name]]
        kinds = [entry.kind for entry in Ledger(root / "preregistrations" / "ledger").read()]
        wanted = ["lock"] if command == "lock" else ["lock", "seal", "claim", "verdict"]
        if kinds != wanted:
            faults.append(f"the ledger has {kinds}")
        if command == "full":
            faults += [f"verifier: {c.name}: {c.reason}" for c in verifier.verify(root, ID) if c.status == "FAIL"]
        return faults

    @staticmethod
    def _first_faults(plan: Plan, first: Ended, happened: bool) -> list[str]:
        lines = [line for line in first.err.splitlines() if not line.startswith("[")]
        if "Traceback" in first.err or first.code in (1, 99):
            return [f"exit {first.code}: {first.err.strip()[-300:]}"]
        if plan.signal == signal.SIGKILL and plan.after is None and happened and first.code != -signal.SIGKILL:
            return [f"not killed: exit {first.code}"]
        if plan.signal in (signal.SIGINT, signal.SIGTERM) and (happened or plan.after):
            told = lines == ["harness: interrupted; run the same command again to go on"]
            if first.code == 130 and not told:
                return [f"exit 130 with {lines}"]
            if first.code != 130 and (plan.after is None or first.code != 0):
                return [f"{signal.Signals(plan.signal).name}: exit {first.code}: {lines}"]
        if plan.error and first.code not in (0, 4):
            return [f"{os.strerror(plan.error)}: exit {first.code}: {lines}"]
        if first.code == 4 and not (len(lines) == 1 and "/" in lines[0]):
            return [f"exit 4 names no path: {lines}"]
        return []


def peeked(root: Path, ended: Ended, before: Path) -> list[str]:
    """What can be seen of a held-out measure although the ledger has no claim yet."""
    kinds = {entry.kind for entry in Ledger(root / "preregistrations" / "ledger").read(missing_ok=True)}
    if "claim" in kinds:
        return []
    faults = [f"printed before the claim: {found[0]}" for found in [_FIGURE.search(ended.out + ended.err)] if found]
    for path in root.rglob("*"):
        old = before / path.relative_to(root)
        if path.is_dir() or (old.is_file() and old.read_bytes() == path.read_bytes()):
            continue
        if path.name in _MEASURED or re.search(rb'"measures"|"estimate"|"wins"', path.read_bytes()):
            faults.append(f"measured before the claim: {path.relative_to(root)}")
    return faults


def remember_pure_work() -> None:
    """Compute once for all trials what is a function of frozen code and data and writes nothing."""
    _remember(full, "rank_counted", lambda system, store, questions, *_: (repr(system.identity()), len(questions)))
    _remember(full, "describe", lambda positions, corpus, edges, model: (hash(str(positions)), model))
    for module in (full, lock):
        _remember(module, "fingerprint", lambda system: repr(system.identity()))
        _remember(module, "code_digest", lambda: "")
    _remember(jinja2.Environment, "compile", lambda _environment, source, *_: source)


def _remember(place: Any, name: str, key: Callable[..., Any]) -> None:
    original, known = getattr(place, name), {}

    def remembering(*arguments: Any, **named: Any) -> Any:
        asked = key(*arguments, **named)
        if asked not in known:
            known[asked] = original(*arguments, **named)
        return known[asked]

    setattr(place, name, remembering)


def in_parallel(bench: Bench, plans: list[Plan], workers: int = 2) -> Iterator[Outcome]:
    """Trials, some at a time, each worker a fork with every import made."""
    pipes = []
    for worker in range(workers):
        read, write = os.pipe()
        if os.fork() == 0:
            code = 1
            try:
                os.close(read)
                with os.fdopen(write, "w") as out:
                    for place in range(worker, len(plans), workers):
                        out.write(json.dumps(asdict(bench.trial(plans[place], f"trial-{place}"))) + "\n")
                        out.flush()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(write)
        pipes.append(os.fdopen(read))
    got = 0
    for pipe in pipes:
        for line in pipe:
            value = json.loads(line)
            got += 1
            yield Outcome(**{**value, "plan": Plan(**value["plan"])})
        assert os.wait()[1] is not None
    assert got == len(plans), "a worker died"


def main() -> None:
    """Read ``{"templates", "work", "plans", "trace"}`` and print ``{"boundaries", "outcomes", "traced"}``.

    A plan may say ``"every": [start, step]`` instead of "at": it then stands for all these boundaries, or, with
    ``"states": true``, for those before which the disk differs from what it was before the one ahead.
    """
    given = json.load(sys.stdin)
    told = {"boundaries": {}, "outcomes": [], "traced": {}}
    os.environ["MLFLOW_TRACKING_URI"] = NO_MIRROR
    remember_pure_work()
    bench = Bench(Path(given["templates"]), Path(given["work"]))
    plans = [plan for asked in given["plans"] for plan in spelled(asked, bench.boundaries[asked["command"]])]
    random.Random(0).shuffle(plans)
    told["boundaries"] = bench.boundaries
    for command in given.get("trace", ()):
        told["traced"][command] = bench.traced(command)
    told["outcomes"] = [asdict(outcome) for outcome in in_parallel(bench, plans)]
    json.dump(told, sys.stdout)


def spelled(asked: dict[str, Any], names: list[str]) -> list[Plan]:
    """The plans that a short form stands for."""
    plan = {key: value for key, value in asked.items() if key not in ("every", "states")}
    if "every" not in asked:
        return [Plan(**plan)]
    start, step = asked["every"]
    return [Plan(**plan, at=place) for place in (states(names) if asked.get("states") else range(len(names)))][start::step]


def states(names: list[str]) -> list[int]:
    """The boundaries before which the disk is in another state than before the one ahead: not those after an fsync.

    To a process that is killed an fsync changes nothing: what it wrote is in the system's memory and stays.
    """
    return [place for place in range(len(names)) if place == 0 or not names[place - 1].startswith("fsync")]


if __name__ == "__main__":
    main()
