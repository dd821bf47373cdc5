from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness.retrieval.registry import VERSIONS

# what bash does at TAB: it calls the registered function with the line in these variables
_TAB = """
source <(harness completion bash)
[[ $(complete -p harness) == *_python_argcomplete* ]] || exit 9
COMP_LINE=$1 COMP_POINT=${#1} COMP_TYPE=9
_python_argcomplete harness
printf '%s\\n' "${COMPREPLY[@]}"
"""


def environment(desk: Any, tmp_path: Path) -> dict[str, str]:
    """One in which `harness` is this program, whether or not it is installed as a script."""
    script = tmp_path / "bin" / "harness"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m harness "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    path = f"{script.parent}{os.pathsep}{os.environ['PATH']}"
    project = str(Path(__file__).parents[2])
    return {**os.environ, "PATH": path, "XDG_STATE_HOME": str(desk.state), "PYTHONPATH": project}


def shell(name: str, desk: Any, tmp_path: Path, *arguments: str) -> list[str]:
    """Lines that a real shell prints."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [name, *arguments], cwd=desk.root, env=environment(desk, tmp_path), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return [line.rstrip() for line in done.stdout.splitlines()]


def tab(desk: Any, tmp_path: Path, line: str) -> list[str]:
    """What bash offers."""
    return shell("bash", desk, tmp_path, "-c", _TAB, "bash", line)


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("harness pre", ["prereg"]),
        ("harness hook ", ["documents", "ledger", "retrieval"]),
        ("harness prereg ab", ["abandon"]),
        ("harness full raw-only --retr", ["--retrieval-version"]),
        ("harness verify --q", ["--quiet"]),
        ("harness dev --retrieval-version ", sorted(VERSIONS)),
        ("harness dev --retrieval-version=bm25-", ["bm25-edges"]),
        ("harness versions show bm25-", ["bm25-edges"]),
        ("harness verify ", ["raw-only"]),
        ("harness prereg abandon ", ["raw-only"]),
        ("harness prereg new raw", [""]),
        ("harness versions in-force --benchmark ", ["synthetic"]),
        ("harness freeze l", ["latest"]),
        ("harness reproduce loc", ["locomo-reviewed-bm25"]),
        ("harness completion ", ["bash", "fish", "zsh"]),
    ],
)
def test_bash_offers_words(finished: Any, tmp_path: Path, line: str, offered: list[str]) -> None:
    """Commands, options, and the names of versions, documents, benchmarks, dev runs and recipes."""
    assert sorted(tab(finished, tmp_path, line)) == offered


def test_names_come_from_the_workspace_that_is_named(finished: Any, desk: Any, tmp_path: Path) -> None:
    """--workspace counts as it does for the command; where there is none, nothing is offered and nothing said."""
    assert tab(desk, tmp_path, "harness verify ") == [""]
    assert tab(desk, tmp_path, f"harness verify --workspace {finished.root} ") == ["raw-only"]


def test_fish_offers_words(finished: Any, tmp_path: Path) -> None:
    """The script for fish does the same."""
    said = shell("fish", finished, tmp_path, "-c", 'harness completion fish | source; complete -C "harness verify "')
    assert [line.split("\t")[0] for line in said] == ["raw-only"]


def test_zsh_takes_the_script(finished: Any, tmp_path: Path) -> None:
    """The script for zsh registers itself."""
    words = "autoload -U compinit; compinit -u -D; source <(harness completion zsh); print -r -- $_comps[harness]"
    assert shell("zsh", finished, tmp_path, "-f", "-c", words) == ["_python_argcomplete"]


def test_offering_imports_nothing_heavy(finished: Any) -> None:
    """At TAB nobody waits for a library that only commands need."""
    program = (
        "import os, sys; from harness.cli.main import build_parser; from harness.cli import completion\n"
        "sys.modules['argcomplete'] = type(sys)('argcomplete'); offered = []\n"
        "def autocomplete(parser, **_):\n"
        "    for _, below in completion.commands_of(parser):\n"
        "        for action in below._actions:\n"
        "            if hasattr(action, 'completer'): offered.append(action.completer(parsed_args=None))\n"
        "sys.modules['argcomplete'].autocomplete = autocomplete\n"
        "os.environ['_ARGCOMPLETE'] = '1'; completion.answer(build_parser())\n"
        "heavy = {'numpy', 'yaml', 'pydantic', 'scipy', 'pyarrow', 'mlflow', 'hydra'} & set(sys.modules)\n"
        "print(len(offered), *heavy)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=finished.root, capture_output=True, text=True, check=True
    )
    count, *heavy = done.stdout.split()
    assert int(count) >= 10
    assert heavy == []
