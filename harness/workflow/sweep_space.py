"""What a sweep tries: every combination of the values given, each composed and checked before anything starts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.errors import HarnessError, UsageProblem, did_you_mean, in_plain_words
from harness.evaluation.measure import Measure, parse_measure
from harness.strict_yaml import load_strict
from harness.workflow.compose import Composer, DevConfig, shipped_folder
from harness.workflow.misconfigured import as_problem
from harness.workflow.progress import SILENT, Progress
from harness.workflow.systems import standard_measures
from harness.workflow.workspace import Workspace, check_identifier

SWEEP_FILE = "sweep.yaml"
MAX_TRIALS = 10_000
_LAUNCHER, _LAUNCHER_SETTINGS = "hydra/launcher", "hydra.launcher."


class SweepFile(BaseModel):
    """``experiments/<name>/sweep.yaml``.

    Attributes:
        title: what is tried, for people.
        fixed: override → value, for every trial.
        sweep: override → values, every combination of which is a trial.
        launcher: ``basic`` (one after the other) or another installed launcher of Hydra, such as ``joblib``.
        by: the measure that orders the table.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    title: str = ""
    fixed: dict[str, Any] = Field(default_factory=dict)
    sweep: dict[str, list[Any]] = Field(default_factory=dict)
    launcher: str = "basic"
    by: str | None = None

    @field_validator("fixed", "sweep")
    @classmethod
    def _ours(cls, values: dict[str, Any]) -> dict[str, Any]:
        for key, value in values.items():
            if key.startswith("hydra"):
                raise ValueError(f"{key} is a setting of Hydra's; the launcher has a key of its own, launcher: joblib")
            if value == []:
                raise ValueError(f"{key} has no value to try")
        return values


@dataclass(frozen=True)
class Trial:
    """One configuration of a sweep.

    Attributes:
        number: its place in the order of the values given, from 1.
        overrides: what Hydra composes it from.
        config: what it is, checked.
    """

    number: int
    overrides: tuple[str, ...]
    config: DevConfig


@dataclass(frozen=True)
class Space:
    """A sweep before it runs.

    Attributes:
        trials: what is tried.
        varied: keys with several values, in the order given.
        launcher: overrides that choose and set Hydra's launcher.
        by: the measure that orders the table.
    """

    trials: tuple[Trial, ...]
    varied: tuple[str, ...]
    launcher: tuple[str, ...]
    by: Measure


def read_sweep_file(workspace: Workspace, name: str) -> SweepFile:
    """The sweep that an experiment's folder describes: the workspace's own, or one that ships along.

    Raises:
        UsageProblem: there is none, or it says something that is not known.
    """
    check_identifier(name)
    folders = (workspace.experiments, shipped_folder("experiments"))
    path = next((found for folder in folders if (found := folder / name / SWEEP_FILE).is_file()), None)
    if path is None:
        known = sorted({found.parent.name for folder in folders for found in folder.glob(f"*/{SWEEP_FILE}")})
        what, where = f"the experiment {name!r} has no {SWEEP_FILE}", str(workspace.experiments / name / SWEEP_FILE)
        raise UsageProblem(what, where=where, allowed=", ".join(known), fix=did_you_mean(name, known))
    loaded = load_strict(path)
    try:
        return SweepFile.model_validate(loaded.value)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        unknown = first["type"] == "extra_forbidden"
        what = f"no key {key!r}" if unknown else f"{'.'.join(map(str, first['loc']))}: {in_plain_words(first)}"
        hint = did_you_mean(key, SweepFile.model_fields) if unknown else ""
        raise UsageProblem(what, where=str(path), allowed=", ".join(SweepFile.model_fields), fix=hint) from None


def as_overrides(file: SweepFile) -> list[str]:
    """A sweep file as overrides, in Hydra's spelling."""
    fixed = [f"{key}={_spelled(value)}" for key, value in file.fixed.items()]
    swept = [f"{key}={','.join(map(_spelled, values))}" for key, values in file.sweep.items()]
    return [*fixed, *swept, f"{_LAUNCHER}={file.launcher}"]


def _spelled(value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(_spelled, value))}]"
    if isinstance(value, bool) or value is None:
        return "null" if value is None else str(value).lower()
    if isinstance(value, int | Decimal):
        return format(value, "f") if isinstance(value, Decimal) else str(value)
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    # a name such as raw or bm25 stands as it is, so that groups can be chosen by it
    return str(value) if str(value).replace("-", "").replace("_", "").isalnum() else f'"{text}"'


def plan(composer: Composer, overrides: Sequence[str], by: str | None = None, progress: Progress = SILENT) -> Space:
    """Every trial of a sweep, composed and checked.

    Args:
        composer: Hydra, set up.
        overrides: in Hydra's sweep syntax, prepared; a later one for the same key wins.
        by: the measure that orders the table, by default the first that all trials report.
        progress: told how many trials are composed; Hydra takes a tenth of a second for each.

    Raises:
        UsageProblem: an override that cannot be read, or trials that cannot be composed; all of them are named.
    """
    # by key, so that what is typed wins over what a file says
    launcher = {override.partition("=")[0]: override for override in overrides if _is_hydras(override)}
    choices = _choices(composer, [override for override in overrides if not _is_hydras(override)])
    combinations = 1
    for values in choices.values():
        combinations *= len(values)
    if combinations > MAX_TRIALS:
        what = f"the sweep would be {combinations} trials"
        raise UsageProblem(what, allowed=f"{MAX_TRIALS} at most", fix="sweep over fewer values, or in several sweeps")
    trials, problems = [], []
    with progress.counting("composing", combinations, "trials") as advance:
        for number, chosen in enumerate(itertools.product(*choices.values()), start=1):
            try:
                trials.append(Trial(number, chosen, composer.compose(chosen)))
            except HarnessError as error:
                problems.append((chosen, error))
            advance(1)
    varied = tuple(key for key, values in choices.items() if len(values) > 1)
    if problems:
        raise _first_of(problems, combinations, varied)
    return Space(tuple(trials), varied, tuple(launcher.values()), _order(trials, by))


def _is_hydras(override: str) -> bool:
    name = override.partition("=")[0].lstrip("+~")
    if not name.startswith(("hydra.", "hydra/")):
        return False
    if name != _LAUNCHER and not name.startswith(_LAUNCHER_SETTINGS):
        allowed = "hydra/launcher=NAME and hydra.launcher.SETTING=VALUE, such as hydra.launcher.n_jobs=2"
        raise UsageProblem("this setting of Hydra's is the program's own", where=override, allowed=allowed)
    return True


def _choices(composer: Composer, overrides: Sequence[str]) -> dict[str, list[str]]:
    """Key → overrides to choose from."""
    from hydra.core.override_parser.overrides_parser import OverridesParser

    parser = OverridesParser.create(config_loader=composer.hydra.config_loader)
    found: dict[str, list[str]] = {}
    for text in overrides:
        try:
            override = parser.parse_overrides([text])[0]
            key = override.get_key_element()
            if not override.is_sweep_override():
                found[key] = [text]
            elif override.is_discrete_sweep():
                _refuse_endless(override.value(), text)
                found[key] = [f"{key}={value}" for value in override.sweep_string_iterator()]
            else:
                what = "an interval has no end of values to try"
                raise UsageProblem(what, where=text, allowed="a list of values, or range(start,stop,step)")
        except HarnessError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever stops Hydra's parser here was typed
            raise as_problem(error, [text]) from None
        if not found[key]:
            raise UsageProblem("no value to try", where=text, fix="give at least one")
    return found


def _refuse_endless(value: Any, text: str) -> None:
    """Refuse a range that would fill the memory before its values could be counted, or that takes no step."""
    from hydra.core.override_parser.types import RangeSweep

    if not isinstance(value, RangeSweep) or value.start is None or value.stop is None:
        return
    if not value.step or abs((value.stop - value.start) / value.step) > 10 * MAX_TRIALS:
        what = "the range takes no step" if not value.step else "the range has too many values"
        raise UsageProblem(what, where=text, allowed=f"{MAX_TRIALS} values at most")


def _first_of(
    problems: Sequence[tuple[Sequence[str], HarnessError]], trials: int, varied: Sequence[str]
) -> UsageProblem:
    """One error for all trials that cannot be composed: the first in full, the others by what they would try."""
    (_, first), *rest = problems
    if trials == 1:
        assert isinstance(first, UsageProblem)
        return first
    named = [" ".join(o for o in chosen if o.partition("=")[0] in varied) for chosen, _ in problems]
    what = f"{len(problems)} of {trials} trials cannot be made: {first.what} ({named[0]}"
    what += f"; also {'; '.join(named[1:4])}{', …' if len(named) > 4 else ''})" if rest else ")"
    return UsageProblem(f"{what}; nothing was started", where=first.where, allowed=first.allowed, fix=first.fix)


def _order(trials: Sequence[Trial], by: str | None) -> Measure:
    reported = [standard_measures(trial.config.k, trial.config.measures) for trial in trials]
    common = [measure for measure in reported[0] if all(measure in measures for measures in reported)]
    if by is None:
        if not common:
            what = "the trials read different numbers of documents and have no measure in common"
            raise UsageProblem(what, fix="add a measure that all report, such as 'measures=[R@10]'")
        return common[0]
    measure = parse_measure(by, "--by")
    if measure not in common:
        allowed = ", ".join(map(str, common)) or "none is common to all trials"
        raise UsageProblem(f"not every trial reports {measure}", allowed=allowed, fix=f"add 'measures=[{measure}]'")
    return measure
