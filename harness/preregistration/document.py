"""A preregistration: the validated document, its canonical form and its digest."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from harness.digest import canonical_json, digest_json
from harness.errors import HarnessError, UsageProblem, did_you_mean, in_plain_words
from harness.evaluation.measure import Measure, parse_measure
from harness.preregistration import model
from harness.preregistration.model import DocumentModel, RefusedError
from harness.retrieval.registry import select
from harness.retrieval.version import Configured
from harness.strict_yaml import Loaded, line_of, load_strict

DIGEST_DOMAIN = "preregistration/1"


@dataclass(frozen=True)
class Clause:
    """One thing that must hold: a primary or a guard.

    Attributes:
        kind: ``primary`` or ``guard``.
        measure, slice: what is compared.
        pass_above: the lower bound must clear this.
        rollback_below: an upper bound below this forces a rollback.
    """

    kind: str
    measure: Measure
    slice: str
    pass_above: Decimal
    rollback_below: Decimal


@dataclass(frozen=True)
class Preregistration:
    """A validated document.

    Attributes:
        model: what was written, with defaults.
        baseline, candidate: the two systems with every parameter.
        k, unit: the read budget, equal for both.
        clauses: primaries, then guards, in document order.
        canonical: the plain mapping that is hashed and recorded.
        digest: digest of ``canonical``.
        raw_sha256: SHA-256 of the file's bytes, for the record only.
    """

    model: DocumentModel
    baseline: Configured
    candidate: Configured
    k: int
    unit: str
    clauses: tuple[Clause, ...]
    canonical: dict[str, Any]
    digest: str
    raw_sha256: str

    @property
    def id(self) -> str:
        """The document's id."""
        return self.model.id

    @property
    def depth(self) -> int:
        """How deep both systems rank."""
        return self.k

    @property
    def tokens(self) -> int | None:
        """How many tokens of a question's documents are read, None where ``k`` alone bounds them."""
        return self.model.budget.tokens if self.model.budget else None

    @property
    def primaries(self) -> tuple[Clause, ...]:
        """The primary clauses."""
        return tuple(clause for clause in self.clauses if clause.kind == "primary")

    @property
    def guards(self) -> tuple[Clause, ...]:
        """The guard clauses."""
        return tuple(clause for clause in self.clauses if clause.kind == "guard")

    def measures(self) -> list[Measure]:
        """Every measure that the rule reads, once."""
        return list(dict.fromkeys(clause.measure for clause in self.clauses))


def load_document(path: Path) -> Preregistration:
    """Read and validate a document.

    Raises:
        UsageProblem: anything that cannot be accepted, with file, line and mend.
    """
    loaded = load_strict(path)
    document = from_mapping(loaded.value, str(path), loaded)
    if document.id != path.stem:
        where = f"{path}:{line_of(loaded, ('id',))}"
        what = f"the id is {document.id!r} and the file is called {path.name!r}"
        raise UsageProblem(what, where=where, fix=f"rename the file to {document.id}.yaml, or write id: {path.stem}")
    return document


def from_canonical(canonical: Mapping[str, Any]) -> Preregistration:
    """The document back from its canonical form, as a lock entry holds it."""
    claim = canonical["claim"]
    written = {key: value for key, value in canonical.items() if key not in ("claim", "straw", "due", "expect")}
    kind, passes = claim["kind"], Decimal(str(claim["pass_above"]))
    written["claim"] = {kind: abs(passes), "rollback": Decimal(str(claim["rollback_below"]))}
    written |= {key: canonical[key] for key in ("straw", "due", "expect") if canonical[key] is not None}
    return from_mapping(_decimals(written), f"preregistration {canonical['id']}")


def from_mapping(value: Mapping[str, Any], where: str, loaded: Loaded | None = None) -> Preregistration:
    """Validate a plain mapping.

    Args:
        value: as `strict_yaml` gives it.
        where: file or name, for messages.
        loaded: for line numbers.
    """

    def at(path: Sequence[Any]) -> str:
        return f"{where}:{line_of(loaded, tuple(path))}" if loaded else where

    if value.get("format", 1) != 1:
        raise UsageProblem(f"format {value['format']!r}", where=at(["format"]), allowed="format: 1")
    try:
        written = DocumentModel.model_validate(value)
    except ValidationError as error:
        raise _as_problem(error, at) from None
    baseline = select(written.baseline.version, written.baseline.parameters, at(["baseline"]))
    candidate = select(written.candidate.version, written.candidate.parameters, at(["candidate"]))
    clauses = _clauses(written, at)
    k, unit = _budget(written, baseline, candidate, clauses, at)
    canonical = _canonical(written, baseline, candidate, k, unit)
    raw = loaded.raw if loaded else canonical_json(canonical).encode()
    return Preregistration(
        written, baseline, candidate, k, unit, clauses, canonical,
        digest_json(DIGEST_DOMAIN, canonical), hashlib.sha256(raw).hexdigest(),
    )  # fmt: skip


def _clauses(written: DocumentModel, at: Any) -> tuple[Clause, ...]:
    claim = written.claim
    clauses = [
        Clause("primary", parse_measure(part.measure), part.slice, claim.pass_above, claim.rollback_below)
        for part in written.primary
    ]
    clauses += [
        Clause("guard", parse_measure(part.measure), part.slice, -part.drop, -part.drop) for part in written.guards
    ]
    seen: set[tuple[str, Measure, str]] = set()
    for clause in clauses:
        key = (clause.kind, clause.measure, clause.slice)
        if key in seen:
            what = f"the {clause.kind} {clause.measure} in {clause.slice} stands twice"
            key_of_kind = {"primary": "primary", "guard": "guards"}[clause.kind]
            raise UsageProblem(what, where=at([key_of_kind]), fix="remove one of them")
        seen.add(key)
    return tuple(clauses)


def _budget(
    written: DocumentModel, baseline: Configured, candidate: Configured, clauses: tuple[Clause, ...], at: Any
) -> tuple[int, str]:
    budget = written.budget or model.BudgetPart()
    if baseline.unit != candidate.unit and not (budget.tokens or budget.unequal):
        what = f"the baseline reads {baseline.unit} and the candidate {candidate.unit}: equal k is not an equal budget"
        allowed = "two versions over one read model, a budget of tokens, or budget: {unequal: why}"
        fix = "rank dev with budget=tokens:N, or harness prereg new --unequal WHY"
        raise UsageProblem(what, where=at(["candidate"]), allowed=allowed, fix=fix)
    deepest = max(clause.measure.k for clause in clauses)
    k = budget.k or deepest
    if budget.unit not in (None, baseline.unit):
        what = f"the budget counts {budget.unit} and {baseline.name} reads {baseline.unit}"
        raise UsageProblem(what, where=at(["budget", "unit"]), allowed=baseline.unit)
    if deepest > k:
        what = f"a measure is cut at {deepest} and the budget is {k}"
        raise UsageProblem(what, where=at(["budget", "k"]), allowed=f"k of at least {deepest}")
    return k, baseline.unit


def _canonical(
    written: DocumentModel, baseline: Configured, candidate: Configured, k: int, unit: str
) -> dict[str, Any]:
    canonical = written.model_dump(mode="python", exclude={"budget", "claim"})
    canonical["baseline"] |= {"parameters": baseline.settings()}
    canonical["candidate"] |= {"parameters": candidate.settings()}
    # absent where it is not said, so that a document means what it meant before these could be said
    said = {} if written.budget is None else written.budget.model_dump(include={"tokens", "unequal"}, exclude_none=True)
    canonical["budget"] = {"k": k, "unit": unit, **said}
    canonical["claim"] = {
        "kind": "superior" if written.claim.superior is not None else "non_inferior",
        "pass_above": written.claim.pass_above,
        "rollback_below": written.claim.rollback_below,
    }
    plain: dict[str, Any] = _numbers(canonical)
    return plain


def _numbers(value: Any) -> Any:
    """Decimals as the JSON numbers that canonical JSON makes of them."""
    if isinstance(value, Decimal):
        number = float(value)
        return int(number) if number.is_integer() else number
    if isinstance(value, Mapping):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers(item) for item in value]
    return value


def _decimals(value: Any) -> Any:
    if isinstance(value, float):
        return Decimal(str(value))
    if isinstance(value, Mapping):
        return {key: _decimals(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_decimals(item) for item in value]
    return value


def _as_problem(error: ValidationError, at: Any) -> HarnessError:
    errors = error.errors()
    # a misspelt key is missing as well, and the misspelt one is what has a line
    first = next((item for item in errors if item["type"] == "extra_forbidden"), errors[0])
    path = [part for part in first["loc"] if not isinstance(part, str) or not part.startswith("function-")]
    name = ".".join(str(part) for part in path) or "the document"
    known = _known_keys(path[:-1])
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, RefusedError):
        problem = cause.problem
        return UsageProblem(f"{name}: {problem.what}", where=at(path), allowed=problem.allowed, fix=problem.fix)
    if first["type"] == "extra_forbidden":
        hint = did_you_mean(str(path[-1]), known)
        return UsageProblem(f"unknown key {name!r}", where=at(path), allowed=", ".join(known), fix=hint)
    if first["type"] == "missing":
        return UsageProblem(f"{name!r} is missing", where=at(path[:-1]), fix=f"add {path[-1]}: …")
    return UsageProblem(f"{name}: {in_plain_words(first)}", where=at(path))


def _known_keys(path: Sequence[Any]) -> list[str]:
    parts: dict[str, type[BaseModel]] = {
        "benchmark": model.BenchmarkRef, "baseline": model.System, "candidate": model.Candidate,
        "budget": model.BudgetPart, "claim": model.ClaimPart, "primary": model.ClausePart,
        "guards": model.GuardPart, "expect": model.ExpectPart,
    }  # fmt: skip
    found = parts.get(str(path[0])) if path else DocumentModel
    return list(found.model_fields) if found else []
