"""A dev result becomes an experiment's frozen parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import yaml

from harness.digest import digest_json
from harness.errors import UsageProblem
from harness.ledger import durable
from harness.preregistration.strict_yaml import load_strict
from harness.workflow.dev import RESULT, DevRun
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
    """How many dev runs this workspace holds on the same benchmark: what the choice was picked from."""
    found = 0
    for path in workspace.dev_runs.glob(f"*/{RESULT}"):
        try:
            other = json.loads(path.read_text(encoding="utf-8"))
            found += other["benchmark"]["digest"] == result["benchmark"]["digest"]
        except (OSError, ValueError, KeyError, TypeError):
            continue  # a run that was cut off decided nothing
    return max(1, found)


def freeze(workspace: Workspace, run: DevRun, name: str) -> Path:
    """Freeze a dev run as ``experiments/<name>/frozen.yaml``.

    The same run frozen again under one name is left as it is.

    Raises:
        UsageProblem: another result is frozen under that name.
    """
    check_identifier(name)
    result = run.result
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
        "k": result["k"],
        "questions": result["questions"],
        "measures": means,
        "result": digest_json("dev-result/1", result),
    }
    path = workspace.experiments / name / FROZEN
    text = to_yaml(frozen)
    if path.exists():
        if load_strict(path).value.get("result") == frozen["result"]:
            return path
        what = f"another dev result is frozen as {name!r}"
        raise UsageProblem(what, where=str(path), fix="choose another --name; a frozen file is never overwritten")
    durable.make_folder(path.parent)
    durable.replace(path, text.encode())
    return path
