"""``harness completion``: words that the shell can offer while a command is being typed.

Offering happens at every press of TAB, so that nothing here imports more than the standard library and argcomplete;
names are read from where they lie, without checking what lies there.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable
from importlib import resources
from pathlib import Path

from harness.cli.console import Console
from harness.cli.parsing import Commands, command, commands_of

SHELLS = ("bash", "zsh", "fish")

_INSTALL = """\
to have it now, and in every shell from now on:
  bash  source <(harness completion bash)    the same line in ~/.bashrc
  zsh   source <(harness completion zsh)     the same line in ~/.zshrc, after compinit
  fish  harness completion fish | source     harness completion fish > ~/.config/fish/completions/harness.fish"""


def add(commands: Commands) -> None:
    """Add the command."""
    summary = "print the script that lets a shell complete commands, options and names"
    parser = command(commands, "completion", run, summary, epilog=_INSTALL)
    parser.add_argument("shell", choices=SHELLS, help=", ".join(SHELLS))


def run(options: argparse.Namespace, console: Console) -> int:
    """Print the script."""
    from argcomplete.shell_integration import shellcode

    script = shellcode(["harness"], shell=options.shell)
    console.result({"shell": options.shell, "script": script}, [script.rstrip()])
    return 0


def answer(parser: argparse.ArgumentParser) -> None:
    """Offer words and end the process, if it is a shell that asks."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    import argcomplete

    for name, below in commands_of(parser):
        for action in below._actions:
            source = _SOURCES.get(f"{name} {action.dest}") or _SOURCES.get(action.dest)
            if source is not None:
                action.completer = _from_workspace(source)  # type: ignore[attr-defined]  # argcomplete looks there
    argcomplete.autocomplete(parser, always_complete_options=False)  # only after a dash: names come first


def _from_workspace(source: Callable[[Path], Iterable[str]]) -> Callable[..., list[str]]:
    def complete(parsed_args: argparse.Namespace, **_: object) -> list[str]:
        return sorted(source(_workspace(Path(getattr(parsed_args, "workspace", None) or Path.cwd()))))

    return complete


def _workspace(start: Path) -> Path:
    """The folder in which `harness.workflow.workspace.open_workspace` would find the workspace, else ``start``."""
    around = (start.resolve(), *start.resolve().parents)
    return next((folder for folder in around if (folder / "preregistrations").is_dir()), start)


def _versions(_: Path) -> list[str]:
    # one module a version; their names are read, not their code, which takes long to load
    modules = (one.name for one in resources.files("harness.retrieval.versions").iterdir())
    return [name[:-3].replace("_", "-") for name in modules if name.endswith(".py") and not name.startswith("_")]


def _documents(root: Path) -> Iterable[str]:
    return (path.stem for path in (root / "preregistrations").glob("*.yaml"))


def _benchmarks(root: Path) -> Iterable[str]:
    return (path.parent.name for path in (root / "data").glob("*/manifest.json"))


def _dev_runs(root: Path) -> Iterable[str]:
    return ["latest", *(path.parent.name for path in (root / "runs" / "dev").glob("[!.]*/result.json"))]


def _recipes(_: Path) -> Iterable[str]:
    return (Path(item.name).stem for item in resources.files("harness.recipes").iterdir() if item.name[-5:] == ".yaml")


_SOURCES: dict[str, Callable[[Path], Iterable[str]]] = {
    "retrieval_version": _versions,
    "harness versions name": _versions,
    "benchmark": _benchmarks,
    "id": _documents,
    "harness prereg new id": lambda _: (),
    "dev_run": _dev_runs,
    "harness reproduce name": _recipes,
}
"""Where the words for an argument come from, by its name; for a name that has several meanings with the command."""
