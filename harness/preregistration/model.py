"""The document as a person writes it: every key, its type, its range and its default."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from harness.errors import HarnessError
from harness.evaluation.budget import parse_tokens
from harness.evaluation.measure import parse_measure
from harness.evaluation.statistics.bounds import CORRECTIONS, PROCEDURE

IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")


class RefusedError(ValueError):
    """Carries a problem through pydantic, which gives a place to nothing but a ValueError."""

    def __init__(self, problem: HarnessError) -> None:
        super().__init__(problem.what)
        self.problem = problem


def _fraction(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise ValueError(f"must be a decimal fraction of the measure, such as 0.03, not {value!r}")
    number = Decimal(value)
    if abs(number) >= 1:
        # three points are 0.03, and a person who writes 3 means them
        mend = f"; write {number / 100} for {value} points" if abs(number) < 100 else ""
        raise ValueError(f"{value} is not a fraction of the measure{mend}")
    return number


def _identifier(value: str) -> str:
    if not IDENTIFIER.fullmatch(value):
        raise ValueError("must be lower-case letters, digits and hyphens, 64 at most, such as rrf-k60")
    return value


def _day(value: str) -> str:
    try:
        same = date.fromisoformat(value).isoformat() == value
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"{value!r} is not a day; write it as '2027-01-31'")
    return value


def _known_procedure(value: str) -> str:
    if value not in CORRECTIONS:
        raise ValueError(f"no procedure {value!r}; there are {', '.join(CORRECTIONS)}")
    return value


def _spelled(value: str) -> str:
    try:
        return str(parse_measure(value))
    except HarnessError as problem:
        raise RefusedError(problem) from None


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Fraction = Annotated[Decimal, BeforeValidator(_fraction)]
Text = Annotated[str, Field(min_length=1, max_length=20_000)]
Identifier = Annotated[str, AfterValidator(_identifier)]
MeasureName = Annotated[str, AfterValidator(_spelled)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class BenchmarkRef(_Part):
    """The benchmark by name, pinned by its content digest; ``benchmark: locomo`` is short for a name alone."""

    name: Identifier
    digest: Digest | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


class System(_Part):
    """A retrieval version with its parameters; ``baseline: bm25`` is short for the defaults."""

    version: Text
    parameters: dict[str, Any] = Field(default_factory=dict)
    fingerprint: Digest | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"version": value} if isinstance(value, str) else value


class Candidate(System):
    """The candidate, and the frozen dev result that it comes from."""

    frozen: Text | None = None
    trials: Annotated[int, Field(ge=1)] | None = None


class BudgetPart(_Part):
    """How much both systems may read: ``k`` documents, or what fits into ``tokens`` of them.

    ``budget: tokens:2000`` is short for ``budget: {tokens: 2000}``. Budgets of different units are equal only by
    tokens; otherwise ``unequal`` says why they are compared all the same.
    """

    k: Annotated[int, Field(ge=1, le=100_000)] | None = None
    unit: Literal["chunks", "edges"] | None = None
    tokens: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    unequal: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        try:
            return {"tokens": parse_tokens(value)} if isinstance(value, str) else value
        except HarnessError as problem:
            raise RefusedError(problem) from None


class ClaimPart(_Part):
    """``superior: 0.02`` (the smallest gain worth having) or ``non_inferior: 0.01`` (the largest loss tolerated)."""

    superior: Fraction | None = None
    non_inferior: Fraction | None = None
    rollback: Fraction | None = None

    @model_validator(mode="after")
    def _one_claim(self) -> ClaimPart:
        if (self.superior is None) == (self.non_inferior is None):
            raise ValueError("needs either superior or non_inferior")
        size = self.superior if self.superior is not None else self.non_inferior
        if size is not None and size < 0:
            raise ValueError("the gain or margin is written without a sign")
        if self.non_inferior is not None and self.non_inferior == 0:
            raise ValueError("a margin of 0 is the claim superior: 0")
        if self.rollback is not None and self.rollback > self.pass_above:
            what = f"rollback {self.rollback} lies above the gain that passes, {self.pass_above}"
            raise ValueError(f"{what}: one result would be both PASS and ROLLBACK")
        return self

    @property
    def pass_above(self) -> Decimal:
        """What the lower bound must clear."""
        return self.superior if self.superior is not None else -(self.non_inferior or Decimal(0))

    @property
    def rollback_below(self) -> Decimal:
        """What the upper bound must fall below for a rollback; 0 for superior, the margin for non_inferior."""
        if self.rollback is not None:
            return self.rollback
        return Decimal(0) if self.superior is not None else self.pass_above


class ClausePart(_Part):
    """A measure in a slice; ``primary: R@10`` is short for the whole held-out set."""

    measure: MeasureName
    slice: Text = "all"

    @model_validator(mode="before")
    @classmethod
    def _short(cls, value: Any) -> Any:
        return {"measure": value} if isinstance(value, str) else value


class GuardPart(ClausePart):
    """A measure in a slice that may not drop by ``drop`` or more."""

    drop: Fraction

    @model_validator(mode="after")
    def _positive(self) -> GuardPart:
        if self.drop <= 0:
            raise ValueError("drop: the largest tolerated drop is a positive fraction, such as 0.03")
        return self


class ExpectPart(_Part):
    """The author's own prediction of the held-out gain; scored later, never part of the verdict."""

    low: Fraction
    high: Fraction

    @model_validator(mode="after")
    def _ordered(self) -> ExpectPart:
        if self.low > self.high:
            raise ValueError("low lies above high")
        return self


class DocumentModel(_Part):
    """The whole document."""

    format: Literal[1]
    id: Identifier
    title: Text
    authors: Annotated[list[Text], BeforeValidator(_as_list), Field(min_length=1)]
    hypothesis: Text
    rationale: Text
    due: Annotated[str, AfterValidator(_day)] | None = None
    benchmark: BenchmarkRef
    baseline: System
    candidate: Candidate
    straw: Text | None = None
    budget: BudgetPart | None = None
    claim: ClaimPart
    primary: Annotated[list[ClausePart], BeforeValidator(_as_list), Field(min_length=1)]
    guards: list[GuardPart] = Field(default_factory=list)
    alpha: Annotated[Fraction, Field(ge=Decimal("0.0001"), le=Decimal("0.2"))] = Decimal("0.05")
    rho_plan: Annotated[Fraction, Field(ge=0, le=Decimal("0.5"))] = Decimal("0.01")
    procedure: Annotated[str, AfterValidator(_known_procedure)] = PROCEDURE
    decide_on: Literal["bounds", "estimate"] = "bounds"
    expect: ExpectPart | None = None
    outside_looks: list[Text] = Field(default_factory=list)
