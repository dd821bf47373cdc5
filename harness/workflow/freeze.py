"""A dev result becomes an experiment's frozen parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from harness.benchmarks.library import Library
from harness.benchmarks.near_duplicates import near_duplicates
from harness.digest import digest_json
from harness.errors import UsageProblem
from harness.ledger import durable
from harness.strict_yaml import load_strict
from harness.workflow.dev import DevRun, finished_runs
from harness.workflow.workspace import Workspace, check_identifier

FROZEN = "frozen.yaml"

# begins with a letter, and is no word that YAML 1.1 reads as a truth value, a number or nothing
_PLAIN_TEXT = re.compile(
    r"(?!(?:y|n|yes|no|on|off|true|false|null|nan|inf|infinity)$)[a-z][\w ./@()=-]*", re.IGNORECASE
)


class _PlainDumper(yaml.SafeDumper):
    """Writes floats as plain decimals: the strict loader refuses exponents."""


def _decimal(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    text = format(Decimal(repr(value)), "f")
    return dumper.represent_scalar("tag:yaml.org,2002:float", text if "." in text else f"{text}.0")


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    # what YAML 1.1 might read as something else than text, and what spans lines, stands in double quotes
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=None if _PLAIN_TEXT.fullmatch(value) else '"')


_PlainDumper.add_representer(float, _decimal)
_PlainDumper.add_representer(str, _text)


def to_yaml(value: Mapping[str, Any]) -> str:
    """A mapping as YAML that the strict loader accepts."""
    return str(yaml.dump(dict(value), Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=100))


def to_yaml_line(value: Any) -> str:
    """Any value as one line of YAML that the strict loader accepts."""
    text = yaml.dump(
        value, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True, width=10**9, default_flow_style=True
    )
    return str(text).removesuffix("\n").removesuffix("\n...")


def _trials(workspace: Workspace, result: Mapping[str, Any]) -> int:
    """How many different dev runs this workspace holds on the same benchmark: what the choice was picked from.

    The same run made twice was one choice; runs on other benchmarks were others.
    """
    digest = result["benchmark"]["digest"]
    same = [run for run in finished_runs(workspace) if run.result["benchmark"].get("digest") == digest]
    return max(1, len({run.result.get("content", run.folder.name) for run in same}))


@dataclass(frozen=True)
class Frozen:
    """A frozen dev result.

    Attributes:
        path: its file.
        near: ``questions`` and ``chunks``: pairs of a dev id and a held-out id with nearly the same text.
    """

    path: Path
    near: Mapping[str, list[tuple[str, str]]]


def freeze(workspace: Workspace, run: DevRun, name: str) -> Frozen:
    """Freeze a dev run as ``experiments/<name>/frozen.yaml``.

    The same run frozen again under one name is left as it is. Dev and held-out texts are held against each other:
    what is nearly the same in both was tuned on, however held out it is. Labels stay closed.

    Raises:
        UsageProblem: another result is frozen under that name, or the run's benchmark is not here any more.
    """
    check_identifier(name)
    result = run.result
    library = workspace.benchmark(result["benchmark"]["name"])
    if library.digests["digest"] != result["benchmark"]["digest"]:
        what = f"the run was made on another benchmark than the imported {library.name}"
        raise UsageProblem(what, where=str(run.folder), fix="make the run again with harness dev")
    near = _near_duplicates(library)
    means = {
        measure: round(cell["mean"], 6) for measure, cell in result["slices"]["candidate"]["all"].items() if cell["n"]
    }
    frozen = {
        "format": 1,
        "name": name,
        "run": result["run"],
        "benchmark": result["benchmark"],
        "version": result["version"],
        "parameters": result["parameters"],
        "fingerprint": result["fingerprint"],
        "trials": _trials(workspace, result),
        "near_duplicates": {kind: len(pairs) for kind, pairs in near.items()},
        "k": result["k"],
        **({"tokens": result["tokens"]} if "tokens" in result else {}),
        "questions": result["questions"],
        "measures": means,
        "result": digest_json("dev-result/1", result),
    }
    path = workspace.experiments / name / FROZEN
    if path.exists():
        if load_strict(path).value.get("result") == frozen["result"]:
            return Frozen(path, near)
        what = f"another dev result is frozen as {name!r}"
        raise UsageProblem(what, where=str(path), fix="choose another --name; a frozen file is never overwritten")
    durable.make_folder(path.parent)
    durable.replace(path, to_yaml(frozen).encode())
    return Frozen(path, near)


def _near_duplicates(library: Library) -> dict[str, list[tuple[str, str]]]:
    """Ids of dev and held-out questions, and of chunks that only one of both searches, with nearly the same text."""
    (dev, _), heldout, corpus = library.dev, library.heldout_questions(), library.corpus
    places = [
        np.flatnonzero(np.isin(corpus.partition, np.setdiff1d(one.partition, other.partition))).tolist()
        for one, other in ((dev, heldout), (heldout, dev))
    ]
    mine, theirs = ([corpus.texts[place] for place in side] for side in places)
    return {
        "questions": [(dev.ids[p.dev], heldout.ids[p.heldout]) for p in near_duplicates(dev.texts, heldout.texts)],
        "chunks": [
            (corpus.ids[places[0][pair.dev]], corpus.ids[places[1][pair.heldout]])
            for pair in near_duplicates(mine, theirs)
        ],
    }
