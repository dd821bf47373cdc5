"""Reproduces a published figure from its recipe: OK, OKish or FAIL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.benchmarks.columns import Benchmark, question_members
from harness.benchmarks.locomo import import_locomo
from harness.benchmarks.synthetic import import_synthetic
from harness.digest import digest_json
from harness.errors import ReproductionFailed, UsageProblem, did_you_mean, in_plain_words
from harness.evaluation.measure import parse_measure
from harness.evaluation.slices import in_slice
from harness.retrieval.registry import select
from harness.retrieval.version import Store
from harness.strict_yaml import load_strict
from harness.workflow.measured import Measured, measure_ranking
from harness.workflow.outside import must_be_kept, record_outside_look, remember_look
from harness.workflow.workspace import Workspace

OK, OKISH, FAIL = "OK", "OKish", "FAIL"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class RecipeRun(_Part):
    """One figure of a recipe, and its parts by slice: hits and questions."""

    title: str
    version: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    measure: str
    hits: int
    questions: int
    slices: dict[str, list[int]] = Field(default_factory=dict)


class RecipeBenchmark(_Part):
    """Which importer reads the data, and the fingerprint of the corpus that must come out."""

    importer: str
    expects: str
    corpus: str


class Recipe(_Part):
    """A published figure and how it is made."""

    format: int
    name: str
    title: str
    source: str
    benchmark: RecipeBenchmark
    runs: list[RecipeRun]
    tolerance: int
    nearly: int


@dataclass(frozen=True)
class Line:
    """One figure: what was expected and what came out.

    Attributes:
        title: of the recipe's run.
        slice: ``all`` or a part of it.
        expected, found: (hits, questions).
        outcome: OK, OKish or FAIL.
    """

    title: str
    slice: str
    expected: tuple[int, int]
    found: tuple[int, int]
    outcome: str


@dataclass(frozen=True)
class Reproduction:
    """What a recipe came to.

    Attributes:
        lines: every figure.
        members: digests of the questions that were scored, see `harness.benchmarks.columns.question_members`.
    """

    lines: list[Line]
    members: frozenset[str]

    @property
    def outcome(self) -> str:
        """The worst outcome of all lines."""
        return max((line.outcome for line in self.lines), key=(OK, OKISH, FAIL).index)


def recipe_names() -> list[str]:
    """Names of the shipped recipes."""
    root = resources.files("harness.recipes")
    return sorted(entry.name.removesuffix(".yaml") for entry in root.iterdir() if entry.name.endswith(".yaml"))


def load_recipe(name: str) -> Recipe:
    """A shipped recipe by name, or one of the user's own by path.

    Raises:
        UsageProblem: no such recipe, or one that cannot be read.
    """
    if name.endswith((".yaml", ".yml")):
        path = Path(name)
    elif name in recipe_names():
        path = Path(str(resources.files("harness.recipes") / f"{name}.yaml"))
    else:
        known = recipe_names()
        hint = did_you_mean(name, known)
        raise UsageProblem(f"no recipe {name!r}", allowed=", ".join(known), fix=hint or "or give the path of a recipe")
    try:
        return Recipe.model_validate(load_strict(path).value)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageProblem(f"{where}: {in_plain_words(first)}", where=str(path), fix="mend the recipe") from None


def reproduce(
    recipe: Recipe, data: Path | None, progress: Callable[[str], None], engine: Any = "numpy"
) -> Reproduction:
    """Run a recipe.

    Args:
        recipe: what to run.
        data: the benchmark's source file; not needed for the synthetic benchmark.
        progress: told what is being done.
        engine: how lexical scores are computed.

    Raises:
        UsageProblem: the data file is missing or not what the recipe expects.
        ReproductionFailed: the corpus has another fingerprint than the recipe's.
    """
    progress("importing")
    benchmark = _import(recipe, data)
    found = benchmark.digests()["corpus"]
    if found != recipe.benchmark.corpus:
        what = f"the corpus is not the recipe's: its fingerprint is {found}"
        fix = f"give {recipe.benchmark.expects}" if data else "use the version of this tool that the recipe names"
        raise ReproductionFailed(what, where=str(data or ""), allowed=recipe.benchmark.corpus, fix=fix)
    lines = []
    for run in recipe.runs:
        progress(run.title)
        lines += _run(benchmark, run, recipe, engine)
    return Reproduction(lines, question_members(benchmark.questions))


def _import(recipe: Recipe, data: Path | None) -> Benchmark:
    if recipe.benchmark.importer == "synthetic":
        return import_synthetic()
    if recipe.benchmark.importer != "locomo":
        allowed = "locomo or synthetic"
        raise UsageProblem(f"no importer {recipe.benchmark.importer!r}", where=recipe.name, allowed=allowed)
    if data is None:
        raise UsageProblem("the recipe needs its data", allowed=recipe.benchmark.expects, fix="--data FILE")
    return import_locomo(data)


def _run(benchmark: Benchmark, run: RecipeRun, recipe: Recipe, engine: Any) -> list[Line]:
    measure = parse_measure(run.measure, recipe.name)
    system = select(run.version, run.parameters, recipe.name)
    store = Store(benchmark.corpus, benchmark.edges)
    ranking = system.rank(store, benchmark.questions, measure.k, engine)
    measured = measure_ranking(
        system, ranking, store, benchmark.partitions, benchmark.questions, benchmark.labels, [measure]
    )
    expected = {"all": [run.hits, run.questions], **run.slices}
    return [_line(recipe, run, name, (pair[0], pair[1]), measured) for name, pair in expected.items()]


def _line(recipe: Recipe, run: RecipeRun, name: str, expected: tuple[int, int], measured: Measured) -> Line:
    values = next(iter(measured.scores.values.values()))
    members = in_slice(name, measured.questions, measured.labels, measured.partitions)
    scored = values[members & ~np.isnan(values)]
    found = (round(float(scored.sum())), len(scored))
    apart = abs(found[0] - expected[0])
    outcome = OK if apart <= recipe.tolerance else OKISH if apart <= recipe.nearly else FAIL
    if found[1] != expected[1]:
        outcome = FAIL  # another question set: the figures do not compare
    return Line(run.title, name, expected, found, outcome)


def record_look(workspace: Workspace | None, recipe: Recipe, done: Reproduction) -> str:
    """Put the reproduction on record before its figures are shown; say where it is recorded."""
    # the digest tells two recipes of one name apart: one of the user's own may score any version
    content = digest_json("recipe/1", recipe.model_dump()).removeprefix("sha256:")[:12]
    what = f"harness reproduce {recipe.name} ({content})"
    if workspace is None:
        must_be_kept(remember_look(what, done.members))
        later = "remembered for the workspaces of this user in which its questions are held out"
        return f"not recorded: there is no workspace here to keep a ledger in; {later}"
    new = record_outside_look(
        workspace,
        what,
        done.members,
        recipe=recipe.name,
        source=recipe.source,
        corpus=recipe.benchmark.corpus,
        outcome=done.outcome,
    )
    return f"recorded in the ledger{'' if new else ' before'} as an outside look at the held-out questions"
