"""`external`: the rankings of any system, from a run file or from a command that answers questions."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from harness.benchmarks.columns import LAYERS, Questions
from harness.digest import digest_bytes, digest_json, short
from harness.errors import UsageProblem
from harness.retrieval import files
from harness.retrieval.command import ask_command, command_words
from harness.retrieval.documents import ReadModel, document_names
from harness.retrieval.ranking import Ranking
from harness.retrieval.ranking_files import read_parquet, read_trec
from harness.retrieval.version import Engine, Store, Version
from harness.retrieval.versions.bm25 import StoreParameters

_RUN = "a TREC run file, or a Parquet ranking"


class ExternalParameters(StoreParameters):
    """Where the rankings come from: either ``run`` or ``command``."""

    run: str = Field("", description="a TREC run file or a .parquet ranking, as a path from the workspace")
    command: str = Field("", description="a command that speaks JSON lines; split into words, no shell")
    timeout: float = Field(60.0, gt=0, le=86_400, description="seconds that the command has for one answer")
    missing: str = Field(
        "refuse", pattern="^(refuse|empty)$", description="questions that a run file lacks: refuse, or empty"
    )
    read_model: ReadModel = Field("chunk", description="chunk or edge: what the ids name")
    content: str = Field("", description="filled in: digest of the file, or of the command and the files it names")

    @property
    def from_files(self) -> bool:
        """Whether the rankings were made already, of some questions and perhaps not of others."""
        return bool(self.run)


def _pin(parameters: ExternalParameters) -> ExternalParameters:
    if bool(parameters.run) == bool(parameters.command):
        raise UsageProblem("external takes either a run file or a command", allowed="run=FILE or command='PROGRAM …'")
    if parameters.content:
        return parameters
    return parameters.model_copy(update={"content": _content(parameters)})


def _content(parameters: ExternalParameters) -> str:
    if parameters.run:
        return digest_bytes("external-run/1", files.read(parameters.run, _RUN))
    words = command_words(parameters.command)
    named = {word: digest_bytes("external-file/1", files.read(word, "")) for word in words if files.is_there(word)}
    return digest_json("external-command/1", {"words": words, "files": named})


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:  # noqa: ARG001
    found = _content(parameters)
    if parameters.content not in ("", found):
        chosen = f"{short(found)}, and {short(parameters.content)} was chosen"
        what = f"{parameters.run or parameters.command} was changed: {chosen}"
        raise UsageProblem(
            what, where="external", fix="bring the chosen one back, or choose again: a change is another system"
        )
    names = document_names(store.corpus, store.edges, parameters.read_model)
    if parameters.command:
        ranking = ask_command(
            parameters.command, store, questions, names,
            layers=parameters.layers, depth=depth, timeout=parameters.timeout,
        )  # fmt: skip
    else:
        ranking = _of_file(parameters, names, questions)
    _refuse_strangers(ranking, store, questions, parameters, names)
    return ranking.to_depth(depth)


def _of_file(parameters: ExternalParameters, names: list[str], questions: Questions) -> Ranking:
    path = files.find(parameters.run, _RUN)
    places = {name: position for position, name in enumerate(names)}
    read = read_parquet if path.suffix == ".parquet" else read_trec
    given = read(path, places, None)
    row = {question: index for index, question in enumerate(given.questions)}
    absent = [question for question in questions.ids if question not in row]
    if absent and parameters.missing == "refuse":
        what = f"{len(absent)} of {len(questions)} questions are not in the run, such as {absent[0]!r}"
        example = next(iter(row), "none")
        fix = "rank them all; missing=empty counts what is not there as nothing found"
        raise UsageProblem(what, where=str(path), allowed=f"every question (the file has {example!r})", fix=fix)
    nothing = len(given)
    padded = Ranking(
        (*given.questions, ""), np.append(given.offsets, given.offsets[-1]), given.positions, given.scores, given.depth
    )
    taken = padded.take(np.array([row.get(question, nothing) for question in questions.ids], dtype=np.int64))
    return Ranking(questions.ids, taken.offsets, taken.positions, taken.scores, taken.depth)


def _refuse_strangers(
    ranking: Ranking, store: Store, questions: Questions, parameters: ExternalParameters, names: list[str]
) -> None:
    """A question searches its own partition; what lies elsewhere, or in another layer, was never in its memory."""
    ends = [ranking.positions]
    if parameters.read_model == "edge":
        ends = [side[ranking.positions] for side in (store.edges.source, store.edges.target)]
    owner = np.repeat(np.arange(len(ranking)), np.diff(ranking.offsets))
    searched = np.isin(store.corpus.layer, [LAYERS.index(name) for name in parameters.layers])
    hidden = np.flatnonzero(~np.logical_and.reduce([searched[end] for end in ends]))
    if len(hidden):
        document = names[ranking.positions[hidden[0]]]
        layer = next(LAYERS[store.corpus.layer[end[hidden[0]]]] for end in ends if not searched[end[hidden[0]]])
        what = f"{document!r} lies in the layer {layer}, which is not searched: stores that differ are no comparison"
        fix = f"search {', '.join(parameters.layers)} only, or say retrieval.layers=[…] and compare with the same"
        raise UsageProblem(what, where="external", fix=fix)
    wrong = np.flatnonzero(store.corpus.partition[ends[0]] != questions.partition[owner])
    if len(wrong):
        question, document = questions.ids[owner[wrong[0]]], names[ranking.positions[wrong[0]]]
        what = f"{document!r} lies in another partition than question {question!r}"
        raise UsageProblem(what, where="external", fix="let a question search its own conversation or haystack only")


VERSION = Version(
    name="external",
    summary="any system, judged by the rankings in a run file or by the answers of a command",
    source="whoever made it",
    touches="everything: its rankings are taken as they are",
    cost="its own",
    read_model="chunk",
    deterministic=False,
    parameters=ExternalParameters,
    rank=_rank,
    pin=_pin,
    needs=("run", "command"),
    at_once=True,
    example="retrieval.run=runs/theirs.trec",
)
