"""What holds for the package as a whole."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import harness
from harness.workflow import compose

PROJECT = Path(__file__).parents[1]
MODULES = sorted((PROJECT / "harness").rglob("*.py"))


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    """The project's own description."""
    return tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))


def names(requirements: list[str]) -> set[str]:
    """Normalized names of requirements such as ``ray[default]>=2``."""
    return {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in requirements}  # type: ignore[index]


def test_one_version(pyproject: dict[str, Any]) -> None:
    """The package says the version that its distribution has."""
    assert harness.__version__ == pyproject["project"]["version"]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_module_says_what_it_is_for(path: Path) -> None:
    """Each module begins with a docstring and can be read in one go: at most 300 lines."""
    text = path.read_text(encoding="utf-8")
    assert (ast.get_docstring(ast.parse(text)) or "").strip()
    assert len(text.splitlines()) <= 300


def test_the_configuration_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout the configuration lies beside the package; where it was installed it lies inside."""
    assert (compose.shipped_folder("conf") / "config.yaml").is_file()
    package = tmp_path / "site-packages" / "harness"
    (package / "_conf").mkdir(parents=True)
    monkeypatch.setattr(harness, "__file__", str(package / "__init__.py"))
    assert compose.shipped_folder("conf") == package / "_conf"
    (package / "_conf").rmdir()
    assert compose.shipped_folder("conf") == package.parent / "conf"


def test_the_wheel_carries_the_configuration(pyproject: dict[str, Any]) -> None:
    """The build puts the checkout's configuration where an installed package looks for it."""
    wheel = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {"conf": "harness/_conf", "experiments": "harness/_experiments"}
    assert (PROJECT / "conf" / "config.yaml").is_file()


def test_every_dependency_has_its_constraint(pyproject: dict[str, Any]) -> None:
    """What the package and its tests need is pinned to one version in constraints.txt."""
    lines = (PROJECT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.partition("#")[0].strip() for line in lines]
    pinned = names([line for line in pins if line])
    assert all("==" in line for line in pins if line)
    project = pyproject["project"]
    needed = names(project["dependencies"]) | names(project["optional-dependencies"]["dev"])
    assert needed - pinned == set()


def test_every_dependency_is_used(pyproject: dict[str, Any]) -> None:
    """What the package imports it requires, or asks for as an extra and imports where it is used only."""
    spelled = {"hydra-core": "hydra", "rank-bm25": "rank_bm25", "faiss-cpu": "faiss", "pyyaml": "yaml"}
    required = {spelled.get(name, name) for name in names(pyproject["project"]["dependencies"])}
    extras = {
        name.replace("-", "_")
        for given in pyproject["project"]["optional-dependencies"].values()
        for name in names(given)
    }
    for path in MODULES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert imported(tree.body) - required == set(), path
        assert imported(ast.walk(tree)) - required - extras == set(), path


def imported(nodes: Iterable[ast.AST]) -> set[str]:
    """Names of the libraries that these statements import."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"harness"}


def test_the_import_contracts_know_every_layer(pyproject: dict[str, Any]) -> None:
    """Every part of the package has its place in the order of layers."""
    contract = pyproject["tool"]["importlinter"]["contracts"][0]
    layers = {name.strip() for line in contract["layers"] for name in line.split("|")}
    parts = {path.name.removesuffix(".py") for path in (PROJECT / "harness").iterdir() if path.suffix in ("", ".py")}
    assert parts - layers - {"__init__", "__main__", "__pycache__", "_conf", "_experiments", "recipes"} == set()
    assert layers <= parts
