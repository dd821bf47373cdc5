"""`composed`: a recipe of other versions, each re-ordering what the one before it ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from harness.benchmarks.columns import Questions
from harness.errors import UsageProblem, did_you_mean
from harness.retrieval import files
from harness.retrieval.documents import ReadModel
from harness.retrieval.embedding.cache import Counting
from harness.retrieval.ranking import Ranking
from harness.retrieval.version import Configured, Engine, Parameters, Store, Version, configure
from harness.strict_yaml import load_strict

_RECIPE = "a recipe: format: 1, and stages, each with its version and parameters"


class StageChoice(Parameters):
    """One stage: a version, and those of its parameters that mean something at its place."""

    version: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class ComposedParameters(Parameters):
    """The stages, in the order in which they work; a recipe file is short for them."""

    recipe: str = Field("", description="a recipe file, as a path from the workspace; its stages are filled in")
    stages: tuple[StageChoice, ...] = Field((), description="filled in: what the recipe says, with every parameter")
    read_model: ReadModel = Field("chunk", description="filled in: chunk or edge, as the first stage reads")

    @property
    def requires(self) -> tuple[str, ...]:
        """Names of the probes that its stages ask for."""
        return tuple(dict.fromkeys(name for stage in _chosen(self.stages) for name in stage.version.requires))

    @property
    def guarded(self) -> tuple[str, ...]:
        """Slices that its stages are guarded on."""
        return tuple(dict.fromkeys(name for stage in _chosen(self.stages) for name in stage.version.guarded))

    @property
    def deterministic(self) -> bool:
        """Whether every stage is: one that answers differently each time makes the whole do so."""
        return all(stage.version.deterministic for stage in _chosen(self.stages))

    @property
    def from_files(self) -> bool:
        """Whether some stage works with files that were made elsewhere."""
        return any(stage.from_files for stage in _chosen(self.stages))

    @property
    def at_once(self) -> bool:
        """Whether some stage has to start something in each call."""
        return any(stage.version.at_once for stage in _chosen(self.stages))


def _chosen(stages: Sequence[StageChoice], where: str = "") -> list[Configured]:
    """Every stage with its parameters checked and filled in; the first one ranks, the others re-order."""
    from harness.retrieval.registry import VERSIONS, select

    found = []
    for number, stage in enumerate(stages, start=1):
        place = f"{where or 'stages'}, stage {number}"
        if number == 1 and stage.version != VERSION.name:
            found.append(select(stage.version, stage.parameters, place))
            continue
        able = [name for name, version in VERSIONS.items() if version.stage]
        if stage.version not in able:
            what = f"{stage.version!r} does not re-order what another version ranked"
            hint = did_you_mean(stage.version, able) or "put a version that ranks by itself first, and only there"
            raise UsageProblem(what, where=place, allowed=", ".join(able), fix=hint)
        found.append(configure(as_stage(VERSIONS[stage.version]), stage.parameters, place))
    return found


def as_stage(version: Version) -> Version:
    """The version with the parameters that it has behind another one."""
    from dataclasses import replace

    assert version.stage is not None
    return replace(version, parameters=version.stage.parameters, needs=())


def _pin(parameters: ComposedParameters) -> ComposedParameters:
    where = parameters.recipe or "stages"
    stages = parameters.stages or _read(parameters.recipe)
    chosen = _chosen(stages, where)
    if len(chosen) < 2:
        what = f"{len(chosen)} stages: there is nothing to compose"
        raise UsageProblem(what, where=where, allowed="two or more", fix="select that version itself")
    full = tuple(StageChoice(version=one.name, parameters=one.settings()) for one in chosen)
    # the stages say everything: a recipe that is moved or changed later means nothing to what was chosen
    return ComposedParameters(recipe="", stages=full, read_model=chosen[0].read_model)


def _read(recipe: str) -> tuple[StageChoice, ...]:
    value = load_strict(files.find(recipe, _RECIPE)).value
    stages = value.get("stages")
    extra = sorted(set(value) - {"format", "stages", "about"})
    if value.get("format") != 1 or not isinstance(stages, list) or extra:
        what = f"no key {extra[0]!r} in a recipe" if extra else "this is no recipe"
        raise UsageProblem(what, where=recipe, allowed=_RECIPE, fix="see docs/how-to/compose-versions.md")
    found = []
    for number, stage in enumerate(stages, start=1):
        known = isinstance(stage, Mapping) and set(stage) <= {"version", "parameters"}
        parameters = stage.get("parameters") or {} if known else None
        if not known or not isinstance(stage.get("version"), str) or not isinstance(parameters, Mapping):
            allowed = "version: NAME, and parameters: {name: value}"
            raise UsageProblem("this is no stage", where=f"{recipe}, stage {number}", allowed=allowed)
        found.append(StageChoice(version=stage["version"], parameters=dict(parameters)))
    return tuple(found)


def _rank(store: Store, questions: Questions, parameters: Any, depth: int, engine: Engine) -> Ranking:
    first, *later = _chosen(parameters.stages)
    wanted = [depth]
    for stage in reversed(later):
        assert stage.version.stage is not None
        wanted.append(stage.version.stage.depth(stage.parameters, wanted[-1]))
    ranking = first.rank(store, questions, wanted.pop(), engine)
    for stage in later:
        assert stage.version.stage is not None
        ranking = stage.version.stage.apply(ranking, store, questions, stage.parameters, parameters.read_model)
    return ranking.to_depth(depth)


def _prepare(store: Store, questions: Questions, parameters: Any, read_model: ReadModel, counting: Counting) -> None:
    for stage in _chosen(parameters.stages):
        if stage.version.prepare:
            stage.version.prepare(store, questions, stage.parameters, read_model, counting)


VERSION = Version(
    name="composed",
    summary="a recipe of other versions: the first ranks, each later one re-orders or fuses what it is handed",
    source="its stages'",
    touches="what its stages touch",
    cost="the sum of its stages'",
    read_model="chunk",
    deterministic=True,
    parameters=ComposedParameters,
    rank=_rank,
    pin=_pin,
    prepare=_prepare,
    needs=("recipe", "stages"),
    example="retrieval.recipe=recipes/v2.yaml",
)
