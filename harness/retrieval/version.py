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
from harness.retrieval.ranking import Ranking

Engine = Literal["numpy", "rank_bm25"]
"""How lexical scores are computed. Both give the same order, so the engine is no part of a version's identity."""

ENGINES: tuple[Engine, ...] = ("numpy", "rank_bm25")


class Parameters(BaseModel):
    """Base of a version's parameters: immutable, ranges checked, nothing unknown, nothing converted silently."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True)
class Store:
    """What a version may look at: a corpus and its edges. No questions' labels, no ids that mean anything."""

    corpus: Corpus
    edges: Edges


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
        """Whether its documents are chunks or edges."""
        return self.version.read_model

    @property
    def unit(self) -> str:
        """The unit in which its ``k`` counts: ``chunks`` or ``edges``."""
        return f"{self.version.read_model}s"

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
        return Configured(version, version.parameters.model_validate(_plain(parameters)))
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        what = f"{name} of {version.name}: {in_plain_words(first)}"
        field = version.parameters.model_fields.get(str(first["loc"][0]) if first["loc"] else "")
        raise UsageProblem(what, where=where, allowed=(field.description or "") if field else "") from None


def _plain(value: Any) -> Any:
    if isinstance(value, float | Decimal):
        return float(value) + 0.0  # minus zero is zero: one meaning, one digest
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_plain(item) for item in value)
    return value
