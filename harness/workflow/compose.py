"""The configuration of dev work, composed by Hydra and validated before anything is opened."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import harness
from harness.errors import HarnessError, UsageProblem, did_you_mean, in_plain_words
from harness.evaluation.budget import parse_tokens
from harness.evaluation.measure import Measure, parse_measure
from harness.retrieval.registry import find, select
from harness.retrieval.version import Configured, Engine
from harness.workflow.misconfigured import as_problem

_MEASURE = re.compile(r"[A-Za-z]+(?:\([^()]*\))?@[0-9]+")

# Hydra reads 1_0 as ten, as Python does; nobody means it
_UNDERSCORED = re.compile(r"(?<![\w.\"'/-])[-+]?[0-9][0-9.eE]*_[0-9_.eE]*(?![\w\"'/-])")


class _Benchmark(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    name: str
    split: Literal["dev"]


class _Config(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    benchmark: _Benchmark
    retrieval: dict[str, Any]
    k: int = Field(ge=1, le=100_000, description="documents a question, a whole number from 1 to 100000")
    budget: str | None = Field(None, description="tokens:2000, or null where k alone bounds what is read")
    measures: list[str]
    engine: Literal["numpy", "rank_bm25"]


@dataclass(frozen=True)
class DevConfig:
    """What a dev run does."""

    benchmark: str
    system: Configured
    k: int
    measures: tuple[Measure, ...]
    engine: Engine
    overrides: tuple[str, ...]
    tokens: int | None = None

    def budget(self) -> dict[str, int]:
        """The budget of tokens for records; empty where there is none, so that older records keep their digests."""
        return {"tokens": self.tokens} if self.tokens else {}


def shipped_folder(name: str) -> Path:
    """A folder that ships along, such as ``conf``: inside the package where it was installed, else in the checkout."""
    package = Path(harness.__file__).parent
    inside = package / f"_{name}"
    return inside if inside.is_dir() else package.parent / name


@dataclass(frozen=True)
class Composer:
    """Hydra, set up on the shipped configuration files and the workspace's own; made by `composing`.

    Attributes:
        hydra: Hydra's instance, for whoever launches a sweep.
        search: the override that names the workspace's own ``conf/``, if it has one.
    """

    hydra: Any
    search: tuple[str, ...]

    def compose(self, overrides: Sequence[str], shown: Sequence[str] | None = None) -> DevConfig:
        """One validated configuration.

        Args:
            overrides: as `prepared` returns them, without sweep syntax.
            shown: the overrides as the user wrote them, if they were others.

        Raises:
            UsageProblem: an unknown version, parameter or key (with the nearest one), a value of the wrong type,
                or anything but the dev split.
        """
        from omegaconf import OmegaConf

        try:
            composed = self._composed(overrides)
            if _settings_of(composed) != self._usual:
                what = "a file of this workspace changes Hydra's own settings, which could name code to run"
                raise UsageProblem(what, where="conf/", fix="remove what it says of hydra, and @package _global_")
            ours = OmegaConf.masked_copy(composed, [key for key in composed if key != "hydra"])
            value = OmegaConf.to_container(ours, resolve=True)
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever stops Hydra here was typed, or stands in a file of conf/
            raise as_problem(error, overrides) from None
        return validated(value if isinstance(value, dict) else {}, overrides if shown is None else shown)

    @cached_property
    def _usual(self) -> dict[str, Any]:
        return _settings_of(self._composed([]))

    def _composed(self, overrides: Sequence[str]) -> Any:
        from hydra import compose

        return compose("config", overrides=[*self.search, *overrides], return_hydra_config=True)


def _settings_of(composed: Any) -> dict[str, Any]:
    """Hydra's own settings in a composition, but for what tells of its overrides."""
    from omegaconf import OmegaConf

    found: Any = OmegaConf.to_container(composed.hydra, resolve=False)
    job = {key: value for key, value in found["job"].items() if key != "override_dirname"}
    return {**{key: value for key, value in found.items() if key not in ("overrides", "runtime")}, "job": job}


@contextlib.contextmanager
def composing(own: Path) -> Iterator[Composer]:
    """Set Hydra up, and take it down again.

    Args:
        own: the workspace's ``conf/``, searched after the shipped one.
    """
    from hydra import initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    GlobalHydra.instance().clear()
    # quoted: a folder's name may hold blanks, accents and brackets, which Hydra's grammar would stumble over
    address = f"file://{own.resolve()}".replace('"', r"\"")
    search = (f'hydra.searchpath=["{address}"]',) if own.is_dir() else ()
    with initialize_config_dir(str(shipped_folder("conf").resolve()), version_base="1.3"):
        yield Composer(GlobalHydra.instance().hydra, search)


def compose_dev(version: str | None, overrides: Sequence[str], present: Sequence[str], own: Path) -> DevConfig:
    """Compose and validate the configuration of one dev run; see `prepared` and `Composer.compose`."""
    for override in overrides:
        if override.lstrip("+~").startswith(("hydra.", "hydra/")):
            what = "Hydra's own settings belong to sweeps"
            raise UsageProblem(what, where=override, fix="add -m for a sweep, or leave it out")
    with composing(own) as composer:
        return composer.compose(prepared(version, overrides, present), overrides)


def prepared(version: str | None, overrides: Sequence[str], present: Sequence[str]) -> list[str]:
    """The overrides that Hydra gets.

    Args:
        version: what ``--retrieval-version`` said; the same as the override ``retrieval=V``.
        overrides: as the user wrote them.
        present: benchmarks imported in this workspace; the only one is chosen if none is named.

    Raises:
        UsageProblem: a contradiction, a value that Hydra would change silently, or one that would run code.
    """
    chosen = list(overrides)
    if version is not None:
        for name in version.split(","):
            find(name)
        other = next((o.partition("=")[2] for o in chosen if o.lstrip("+").startswith("retrieval=")), version)
        if other != version:
            what = f"--retrieval-version {version} and retrieval={other} contradict each other"
            raise UsageProblem(what, fix="give one of them")
        chosen = [f"retrieval={version}", *(o for o in chosen if not o.lstrip("+").startswith("retrieval="))]
    for override in chosen:
        _refuse_surprises(override)
    names = [override.partition("=")[0].lstrip("+~") for override in chosen]
    if "benchmark" not in names and "benchmark.name" not in names and present:
        if len(present) > 1:
            what = "several benchmarks are imported: which one?"
            raise UsageProblem(what, allowed=", ".join(present), fix=f"add benchmark.name={present[0]}")
        chosen.append(f"benchmark.name={present[0]}")
    return [_quoted_measures(override) for override in chosen]


def _refuse_surprises(override: str) -> None:
    key, _, value = override.partition("=")
    if "_target_" in override:
        what = "configuration may choose among what there is, and may not name code to run"
        raise UsageProblem(what, where=override, fix="leave _target_ out")
    odd = _UNDERSCORED.search(value)
    if odd:
        what = f"{odd[0]} would be read as the number {odd[0].replace('_', '')}"
        raise UsageProblem(what, where=override, fix=f"write {key}={value.replace(odd[0], odd[0].replace('_', ''))}")


def _quoted_measures(override: str) -> str:
    """``measures=[R(credit=source)@10]`` with quotes inside, without which Hydra cannot read the brackets."""
    key, _, value = override.partition("=")
    inside = value.strip().removeprefix("[").removesuffix("]")
    found = _MEASURE.findall(inside)
    if key.strip("+ ") != "measures" or ",".join(found) != re.sub(r"\s", "", inside):
        return override
    return f"{key}=[{','.join(json.dumps(name) for name in found)}]"


def validated(value: Mapping[Any, Any], overrides: Sequence[str]) -> DevConfig:
    """A composed configuration, checked.

    Raises:
        UsageProblem: as `Composer.compose` says.
    """
    split = value.get("benchmark", {}).get("split") if isinstance(value.get("benchmark"), Mapping) else None
    if split != "dev":
        what = f"benchmark.split={split}: tuning sees the dev questions only, or the full run would prove nothing"
        raise UsageProblem(what, allowed="benchmark.split=dev", fix="harness full ID makes the one full run")
    try:
        config = _Config.model_validate(value)
    except ValidationError as error:
        raise _refused(error.errors()[0], overrides) from None
    settings = dict(config.retrieval)
    version = settings.pop("version", None)
    if not isinstance(version, str):
        raise UsageProblem("the configuration names no retrieval version", fix="--retrieval-version bm25")
    said = ", ".join(o for o in overrides if o.lstrip("+~").startswith("retrieval."))
    system = select(version, settings, said or "configuration")
    measures = tuple(parse_measure(name, "measures") for name in config.measures)
    tokens = parse_tokens(config.budget, "budget") if config.budget else None
    return DevConfig(config.benchmark.name, system, config.k, measures, config.engine, tuple(overrides), tokens)


def _refused(error: Mapping[str, Any], overrides: Sequence[str]) -> UsageProblem:
    """What pydantic refused, with the override that said it."""
    path = [str(part) for part in error["loc"]]
    name, given = ".".join(path), error.get("input")
    where = next((o for o in overrides if o.lstrip("+~").partition("=")[0] == name), "configuration")
    if error["type"] == "extra_forbidden":
        known = list((_Benchmark if len(path) > 1 else _Config).model_fields)
        hint = did_you_mean(path[-1], known)
        return UsageProblem(f"no key {name!r}", where=where, allowed=", ".join(known), fix=hint)
    if error["type"] == "missing":
        return UsageProblem(f"{name} is missing", where=where, fix=f"leave {where} out" if "~" in where else "")
    field = _Config.model_fields.get(path[0])
    fix = ""
    if error["type"] == "int_type" and isinstance(given, float) and given.is_integer():
        fix = f"write {name}={given:.0f}"  # 1e5 on the command line is read as a decimal number
    if name == "budget" and isinstance(given, int):
        fix = f"write budget=tokens:{given}"
    allowed = (field.description or "") if field else ""
    return UsageProblem(f"{name}: {in_plain_words(error)}", where=where, allowed=allowed, fix=fix)
