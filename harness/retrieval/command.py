"""Asks a command in any language: JSON lines on its stdin, JSON lines on its stdout.

The first line that it reads says where the corpus is: ``{"protocol": "harness-external/1", "corpus": PATH,
"depth": 100}``; the file holds a line a document, ``{"id": …, "text": …, "partition": 0, "layer": "raw", …}``. Then
comes one question a line, ``{"question": ID, "text": …, "partition": 0}``, and the next one only after its answer:
``{"question": ID, "documents": [ID, …]}``, best first, with ``"scores": [number, …]`` if it has any. When its stdin
ends it should end too, with exit code 0.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import queue
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np

from harness.benchmarks.columns import Questions
from harness.benchmarks.export import asked, write_corpus
from harness.errors import UsageProblem
from harness.retrieval import files
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Store

PROTOCOL = "harness-external/1"
_LONGEST = 16_000_000  # bytes of one answer
_TOLD = 3  # last lines of what it wrote to stderr
_SHOWN = 200


def command_words(command: str) -> list[str]:
    """The words of a command, as a shell would split them; nothing in it is expanded.

    Raises:
        UsageProblem: a quotation mark is not closed, or there is no word.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageProblem(f"the command cannot be split into words: {error}", where=command) from None
    if not words:
        raise UsageProblem("the command is empty", fix="name a program and its arguments")
    return words


def ask_command(
    command: str,
    store: Store,
    questions: Questions,
    names: Sequence[str],
    *,
    layers: Sequence[str],
    depth: int,
    timeout: float,
) -> Ranking:
    """Start a command, ask it every question and end it.

    Args:
        command: words of a program and its arguments; it runs in the workspace.
        store: its corpus is written to a file that the command may read.
        questions: what is asked, in this order.
        names: a name for each document position.
        layers: those of the corpus that the command gets.
        depth: the most documents a question; what an answer has beyond them is left out.
        timeout: seconds for one answer.

    Raises:
        UsageProblem: it does not start, hangs, crashes, or answers with anything but distinct known ids and falling
            finite scores; the question is named.
    """
    words = command_words(command)
    places = {name: position for position, name in enumerate(names)}
    rows: list[tuple[list[int], list[float]]] = []
    with tempfile.TemporaryDirectory(prefix="harness-external-") as folder:
        corpus = Path(folder) / "corpus.jsonl"
        write_corpus(corpus, store.corpus, np.unique(questions.partition).tolist(), layers)
        with _started(words, Path(folder) / "stderr", timeout) as peer:
            peer.send({"protocol": PROTOCOL, "corpus": str(corpus), "depth": depth})
            for index, question in enumerate(questions.ids):
                peer.asking = question
                peer.send(asked(questions, index))
                rows.append(_checked(peer, peer.receive(), places, depth))
    lengths = np.array([len(found) for found, _ in rows], dtype=np.int64)
    return Ranking(
        questions.ids,
        np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)]),
        np.array([position for found, _ in rows for position in found], dtype=np.int32),
        np.array([score for _, scores in rows for score in scores], dtype=np.float64),
        depth,
    )


class _Peer:
    """A running command; everything that goes wrong with it names the question that it was asked."""

    def __init__(self, process: subprocess.Popen[bytes], words: Sequence[str], errors: Path, timeout: float) -> None:
        self.process, self.words, self.errors, self.timeout = process, words, errors, timeout
        self.asking = ""
        self._asked: queue.Queue[bytes] = queue.Queue()
        self._lines: queue.Queue[bytes] = queue.Queue()
        # threads, because a pipe can be used with a time limit on no other way that every system has. Each closes its
        # own end: a process that escaped and still holds the other one may keep a thread waiting, and nobody else
        for work in (self._write, self._read):
            threading.Thread(target=work, name="external", daemon=True).start()

    def _write(self) -> None:
        assert self.process.stdin is not None
        with contextlib.suppress(OSError), self.process.stdin as pipe:  # what is gone shows at the other pipe
            while line := self._asked.get():
                pipe.write(line)
                pipe.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with contextlib.suppress(OSError), self.process.stdout as pipe:
            while line := pipe.readline(_LONGEST):
                self._lines.put(line)
        self._lines.put(b"")

    def send(self, message: Mapping[str, Any]) -> None:
        self._asked.put(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def end(self) -> None:
        """Close the command's stdin, once it has taken what was sent."""
        self._asked.put(b"")

    def receive(self) -> Any:
        try:
            line = self._lines.get(timeout=self.timeout)
        except queue.Empty:
            self.refuse(f"no answer within {self.timeout:g} seconds", "make it quicker, or raise timeout")
        if not line:
            self.gone()
        try:
            return json.loads(line)
        except (ValueError, RecursionError):
            shown = line.decode(errors="replace").strip()
            what = f"the answer is no line of JSON: {shown[:_SHOWN]!r}"
            self.refuse(what, "write results only to stdout, and anything else to stderr")

    def gone(self) -> NoReturn:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=self.timeout)
        code = self.process.returncode
        said = "closed its output" if code is None else f"ended with exit code {code}"
        self.refuse(f"the command {said} before it answered", "try it by hand with this question")

    def refuse(self, what: str, fix: str = "", allowed: str = "") -> NoReturn:
        told = self.errors.read_bytes()[-10_000:].decode(errors="replace").splitlines()[-_TOLD:]
        said = "".join(f"\n  it said: {line[:_SHOWN]}" for line in told)
        where = f"question {self.asking!r}" if self.asking else self.words[0]
        raise UsageProblem(what + said, where=where, allowed=allowed, fix=fix)


@contextlib.contextmanager
def _started(words: Sequence[str], errors: Path, timeout: float) -> Iterator[_Peer]:
    with errors.open("wb") as log:
        process = _start(words, log)
    peer = _Peer(process, words, errors, timeout)
    try:
        yield peer
        peer.asking = ""
        peer.end()
        try:
            code = process.wait(timeout=timeout)
        except subprocess.TimeoutExpired:
            peer.refuse(f"still running {timeout:g} seconds after the last answer", "end when stdin ends")
        if code:
            peer.refuse(f"exit code {code} after the last answer", "end with 0 where all went well")
    finally:
        # and whatever it started: it has a session of its own
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        peer.end()


def _start(words: Sequence[str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - the user's own command, no shell
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, cwd=files.root(), start_new_session=True
        )
    except OSError as error:
        what = f"the command does not start: {error.strerror}"
        raise UsageProblem(what, where=words[0], allowed="a program that can be run", fix="check its path") from None


def _checked(peer: _Peer, answer: Any, places: Mapping[str, int], depth: int) -> tuple[list[int], list[float]]:
    """Positions and scores of one answer."""
    shape = '{"question": ID, "documents": [ID, …], "scores": [number, …]}, without scores if there are none'
    if not isinstance(answer, dict) or not isinstance(answer.get("documents"), list):
        peer.refuse(f"not an answer: {str(answer)[:_SHOWN]}", allowed=shape)
    if answer.get("question") != peer.asking:
        other = repr(answer.get("question"))[:_SHOWN]
        peer.refuse(f"an answer to question {other}", "answer each question before the next", shape)
    documents = answer["documents"]
    for document in documents:
        if not isinstance(document, str) or document not in places:
            example = f"such as {next(iter(places), 'none')!r}"
            peer.refuse(f"unknown document {str(document)[:_SHOWN]!r}", "answer with ids of the corpus file", example)
    if len(set(documents)) < len(documents):
        twice = next(document for document in documents if documents.count(document) > 1)
        peer.refuse(f"document {twice!r} twice", "answer with each document once")
    scores = _numbers(answer.get("scores", list(range(len(documents), 0, -1))))
    if scores is None or len(scores) != len(documents):
        peer.refuse("scores that are not one finite number a document", allowed=shape)
    if any(later > earlier for earlier, later in itertools.pairwise(scores)):
        peer.refuse("scores that increase along the ranking", "sort by score, best first", shape)
    return [places[document] for document in documents[:depth]], scores[:depth]


def _numbers(given: Any) -> list[float] | None:
    """Finite float64 numbers, or None if they are anything else."""
    if not isinstance(given, list) or not all(type(one) in (int, float) for one in given):
        return None
    try:
        numbers = [float(one) for one in given]
    except OverflowError:  # a whole number with more than 308 digits
        return None
    return numbers if all(map(math.isfinite, numbers)) else None
