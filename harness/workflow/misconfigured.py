"""What stopped Hydra, as an error of ours: what was typed or written, and what was meant as far as can be guessed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.errors import UsageProblem, did_you_mean
from harness.retrieval.registry import DEFAULT, VERSIONS

_KEYS = ("benchmark", "retrieval", "k", "measures", "engine")

# launcher → the extra that installs it
_LAUNCHERS = {
    "basic": "",
    "joblib": "joblib",
    "ray": "ray",
    "ray_cluster": "ray",
    "submitit_local": "submitit",
    "submitit_slurm": "submitit",
}


def as_problem(error: Exception, overrides: Sequence[str]) -> UsageProblem:
    """Hydra's error as one of ours, with a suggestion where a name was misspelt."""
    text = f"{error.__cause__ or ''} {error}".strip()
    if "multirun" in text:
        swept = next((override for override in overrides if "," in override or "(" in override), "")
        what = "several values at once are a sweep"
        return UsageProblem(what, where=swept, fix="add -m to sweep over them, or quote a value that has a comma")
    chosen = next((o.partition("=")[2] for o in overrides if o.lstrip("+").startswith("retrieval=")), DEFAULT)
    for override in overrides:
        problem = _problem_of(override, text, chosen)
        if problem is not None:
            return problem
    if isinstance(error, RecursionError):
        text = "a file of conf/ names itself among its defaults"
    first = re.sub(r"\s+", " ", text.strip()).split(" See ")[0]
    where = str(getattr(error, "override", None) or (overrides[0] if len(overrides) == 1 else ""))
    what = f"the configuration cannot be composed: {first}"
    return UsageProblem(what, where=where, allowed=f"keys {', '.join(_KEYS)}")


def _problem_of(override: str, text: str, chosen: str) -> UsageProblem | None:
    """What is wrong with one override, if Hydra's message is about it."""
    key, _, value = override.partition("=")
    name = key.lstrip("+~")
    if name == "retrieval" and f"Could not find 'retrieval/{value}'" in text:
        hint = did_you_mean(value, VERSIONS)
        return UsageProblem(f"no retrieval version {value!r}", where=override, allowed=", ".join(VERSIONS), fix=hint)
    if name.startswith("retrieval.") and "not in struct" in text and name.removeprefix("retrieval.") in text:
        parameter = name.removeprefix("retrieval.")
        version = VERSIONS.get(chosen, VERSIONS[DEFAULT])  # a file of the workspace's own may have any name
        known = list(version.parameters.model_fields)
        refused = version.why_not(parameter)
        fix = f"leave {name} out" if refused else did_you_mean(parameter, known)
        return UsageProblem(refused or f"no parameter {parameter!r}", where=override, allowed=", ".join(known), fix=fix)
    if name not in _KEYS and "not in struct" in text and name in text:
        parameters = sorted({f for version in VERSIONS.values() for f in version.parameters.model_fields})
        hint = f"did you mean retrieval.{name}?" if name in parameters else did_you_mean(name, _KEYS)
        return UsageProblem(f"no key {name!r}", where=override, allowed=", ".join(_KEYS), fix=hint)
    if name == "benchmark" and f"benchmark/{value}" in text:
        return UsageProblem(f"no benchmark configuration {value[:80]!r}", where=override, fix=f"benchmark.name={value}")
    if name == "hydra/launcher" and f"hydra/launcher/{value}" in text:
        extra = _LAUNCHERS.get(value)
        fix = f"pip install 'retrieval-harness[{extra}]'" if extra else did_you_mean(value, _LAUNCHERS)
        what = f"no launcher {value!r} is installed"
        return UsageProblem(what, where=override, allowed=", ".join(_LAUNCHERS), fix=fix)
    if "=" not in override and not override.startswith("~"):
        what = "not an override"
        return UsageProblem(what, where=override, allowed="KEY=VALUE, such as retrieval.k1=0.9")
    return None
