"""What a retrieval version is, and one with its parameters chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.benchmarks.columns import Corpus, Edges, Questions
from harness.digest import digest_json
from harness.errors import UsageProblem, did_you_mean, in_plain_words
from harness.retrieval.documents import ReadModel
from harness.retrieval.embedding.cache import Counting
from harness.retrieval.ranking import Ranking

Engine = Literal["numpy", "rank_bm25"]
"""How lexical scores are computed. Both give the same order, so the engine is no part of a version's identity."""

ENGINES: tuple[Engine, ...] = ("numpy", "rank_bm25")


EVERYTHING = 2**31 - 1
"""A depth that no ranking reaches."""


class Parameters(BaseModel):
    """Base of a version's parameters: immutable, ranges checked, nothing unknown, nothing converted silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True)
class Store:
    """What a version may look at: a corpus and its edges. No questions' labels, no ids that mean anything."""

    corpus: Corpus
    edges: Edges


@dataclass(frozen=True)
class Stage:
    """What a version does to the ranking of an earlier stage.

    Attributes:
        parameters: those of the version's parameters that still mean something then.
        depth: how deep the earlier ranking has to be for a given depth of the new one: what lies below may not
            depend on how much is wanted.
        apply: a new ranking from the earlier one.
    """

    parameters: type[Parameters]
    depth: Callable[[Any, int], int]
    apply: Callable[[Ranking, Store, Questions, Any, ReadModel], Ranking]


@dataclass(frozen=True)
class Version:
    """A retrieval version as it is registered.

    Attributes:
        name: what ``--retrieval-version`` selects.
        summary: one sentence for a person.
        source: the publication that it implements (author, year).
        touches: what it may change in a ranking, in words.
        cost: its cost for one question, in words.
        read_model: whether documents are chunks or edges.
        deterministic: whether the same inputs always give the same positions.
        parameters: the model of its parameters; every one has a default.
        rank: ranks questions over a store.
        scores_as: the version whose scores these are to the last bit, if it is another one; only the order of
            exact ties is then this version's own.
        refuses: a part of a parameter's name → why no parameter of that kind can be; the first that fits counts.
        stage: what it does to a ranking that it is handed, where it can stand behind another version.
        pin: fills in what parameters leave open of things outside them, such as the digest of a model; what is
            filled in already stays.
        prepare: computes what can be kept for later, such as vectors, and counts it; ranking does the same without.
        requires: names of probes whose record a lock asks for.
        guarded: slices that such a change is known to hurt, so that a document guards them.
        needs: parameters of which one must be given, where a version means nothing without.
        at_once: whether all questions are ranked in one call, because each call has to start something.
        example: an override worth trying, such as ``retrieval.k1=0.9``.
    """

    name: str
    summary: str
    source: str
    touches: str
    cost: str
    read_model: ReadModel
    deterministic: bool
    parameters: type[Parameters]
    rank: Callable[[Store, Questions, Any, int, Engine], Ranking]
    scores_as: str = ""
    refuses: Mapping[str, str] = field(default_factory=dict, hash=False)
    stage: Stage | None = None
    pin: Callable[[Any], Any] | None = None
    prepare: Callable[[Store, Questions, Any, ReadModel, Counting], None] | None = None
    requires: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    at_once: bool = False
    example: str = ""

    def why_not(self, parameter: str) -> str:
        """Why this version takes no parameter of this kind, or the empty string if it is merely unknown."""
        spelled = parameter.lower().replace("-", "_")
        reason = next((why for part, why in self.refuses.items() if part in spelled), "")
        return f"{self.name} takes no {parameter!r}: {reason}" if reason else ""


@dataclass(frozen=True)
class Configured:
    """A version with its parameters; equal if both are."""

    version: Version
    parameters: Parameters

    @property
    def name(self) -> str:
        """The version's name."""
        return self.version.name

    @property
    def read_model(self) -> ReadModel:
        """Whether its documents are chunks or edges; a version that can rank both has a parameter for it."""
        chosen: ReadModel = getattr(self.parameters, "read_model", self.version.read_model)
        return chosen

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of probes whose record a lock asks for."""
        return tuple(getattr(self.parameters, "requires", self.version.requires))

    @property
    def guarded(self) -> tuple[str, ...]:
        """Slices that a document guards where this is the candidate."""
        return tuple(getattr(self.parameters, "guarded", self.version.guarded))

    @property
    def deterministic(self) -> bool:
        """Whether the same inputs always give the same positions."""
        return bool(getattr(self.parameters, "deterministic", self.version.deterministic))

    @property
    def at_once(self) -> bool:
        """Whether all questions are ranked in one call."""
        return bool(getattr(self.parameters, "at_once", self.version.at_once))

    @property
    def from_files(self) -> bool:
        """Whether it ranks with files that were made elsewhere, which may lack what some questions need."""
        return bool(getattr(self.parameters, "from_files", False))

    @property
    def unit(self) -> str:
        """The unit in which its ``k`` counts: ``chunks`` or ``edges``."""
        return f"{self.read_model}s"

    def settings(self) -> dict[str, Any]:
        """Every parameter with its value, as plain JSON values."""
        return self.parameters.model_dump(mode="json")

    def identity(self) -> dict[str, Any]:
        """Name and every parameter."""
        return {"version": self.name, "parameters": self.settings()}

    def digest(self) -> str:
        """Digest of name and parameters."""
        return digest_json("configured-version/1", self.identity())

    def scoring(self) -> dict[str, Any]:
        """What decides the scores; two that agree in it can differ in the order of exact ties only."""
        settings = {name: value for name, value in self.settings().items() if name != "tie_rule"}
        return {"version": self.version.scores_as or self.name, "parameters": settings}

    def rank(self, store: Store, questions: Questions, depth: int, engine: Engine = "numpy") -> Ranking:
        """Rank every question over its own partition.

        Args:
            store: corpus and edges.
            questions: what is asked.
            depth: the most documents a question.
            engine: how lexical scores are computed; the order is the same.
        """
        return self.version.rank(store, questions, self.parameters, depth, engine)

    def prepare(self, store: Store, questions: Questions, counting: Counting) -> None:
        """Compute what `rank` will need and can be kept, such as vectors; ``counting`` is told how far it is."""
        if self.version.prepare:
            self.version.prepare(store, questions, self.parameters, self.read_model, counting)


def configure(version: Version, parameters: Mapping[str, Any], where: str = "") -> Configured:
    """Choose parameters; what is left out has its default.

    Raises:
        UsageProblem: an unknown parameter (with the nearest known one), one of a kind that the version refuses
            (with the reason), or a value out of range.
    """
    known = list(version.parameters.model_fields)
    for key in parameters:
        if key not in known:
            refused = version.why_not(str(key))
            fix = f"leave {key} out" if refused else did_you_mean(str(key), known)
            what = refused or f"{version.name} has no parameter {key!r}"
            raise UsageProblem(what, where=where, allowed=", ".join(known), fix=fix)
    try:
        chosen = version.parameters.model_validate(_plain(parameters))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        what = f"{name} of {version.name}: {in_plain_words(first)}"
        field = version.parameters.model_fields.get(str(first["loc"][0]) if first["loc"] else "")
        raise UsageProblem(what, where=where, allowed=(field.description or "") if field else "") from None
    if version.needs and not any(getattr(chosen, name) for name in version.needs):
        what = f"{version.name} needs {' or '.join(version.needs)}"
        raise UsageProblem(what, where=where, fix=f"add {version.example}")
    return Configured(version, version.pin(chosen) if version.pin else chosen)


def _plain(value: Any) -> Any:
    if isinstance(value, float | Decimal):
        return float(value) + 0.0  # minus zero is zero: one meaning, one digest
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_plain(item) for item in value)
    return value
