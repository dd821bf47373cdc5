"""``harness versions``: what can be selected, what is in force, and whether behaviour still is what it was."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command
from harness.errors import IntegrityProblem

if TYPE_CHECKING:
    from harness.retrieval.version import Version


def add(commands: Commands) -> None:
    """Add the command."""
    summary = "list retrieval versions, explain one, or say which is in force"
    parser = command(commands, "versions", run, summary, exits=(3,))
    parser.add_argument("what", nargs="?", choices=("show", "in-force"), help="show V, or in-force")
    parser.add_argument("name", nargs="?", help="with show: the version")
    parser.add_argument("--benchmark", help="with in-force: the benchmark (default: the only one)")


def run(options: argparse.Namespace, console: Console) -> int:
    """Dispatch."""
    if options.what == "show":
        return _show(options, console)
    if options.what == "in-force":
        return _in_force(options, console)
    return _list(console)


def _list(console: Console) -> int:
    from harness.retrieval.fingerprint import current, recorded
    from harness.retrieval.registry import VERSIONS

    known, now = recorded(), current()

    def state(version: Version) -> str:
        if version.needs:
            return f"needs {' or '.join(version.needs)}"
        if version.name not in known:
            return "not recorded"
        return "as recorded" if known[version.name] == now[version.name] else "CHANGED"

    states = {name: state(version) for name, version in VERSIONS.items()}
    rows = [[name, states[name], now.get(name, "-")[:19], version.summary] for name, version in VERSIONS.items()]
    value = [
        {"name": name, "summary": version.summary, "fingerprint": now.get(name), "recorded": known.get(name)}
        for name, version in VERSIONS.items()
    ]
    console.result(value, table(["version", "behaviour", "fingerprint", "what it does"], rows, text_columns=4))
    return IntegrityProblem.exit_code if "CHANGED" in states.values() else 0


def _show(options: argparse.Namespace, console: Console) -> int:
    from harness.errors import UsageProblem
    from harness.retrieval.fingerprint import fingerprint
    from harness.retrieval.registry import VERSIONS, find, select

    if not options.name:
        raise UsageProblem("which version?", where="harness versions show", allowed=", ".join(VERSIONS))
    version = find(options.name)
    fields = version.parameters.model_fields
    behaviour = f"means nothing without {' or '.join(version.needs)}: its fingerprint is that of what it is given"
    if version.needs:
        settings = version.parameters().model_dump(mode="json")
    else:
        system = select(options.name)
        settings, behaviour = system.settings(), f"fingerprint with these defaults: {fingerprint(system)}"
    rows = [[name, _setting(settings[name]), fields[name].description or ""] for name in settings]
    lines = [
        f"{version.name}: {version.summary}",
        f"source: {version.source}",
        f"may change: {version.touches}",
        f"cost of a question: {version.cost}",
        f"reads {version.read_model}s; {'deterministic' if version.deterministic else 'not deterministic'}",
        behaviour,
        *([f"guarded by default: slice {' and slice '.join(version.guarded)}"] if version.guarded else []),
        *([f"a lock asks for the record of: {', '.join(version.requires)}"] if version.requires else []),
        "",
        *table(["parameter", "default", "allowed"], rows, text_columns=3),
        "",
        f"try it: harness dev --retrieval-version {version.name} {version.example}".rstrip(),
    ]
    console.result(
        {"version": version.name, "parameters": settings, "summary": version.summary, "source": version.source}, lines
    )
    return 0


def _setting(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list) else str(value)


def _in_force(options: argparse.Namespace, console: Console) -> int:
    from harness.benchmarks.library import names
    from harness.errors import UsageProblem
    from harness.workflow.systems import in_force
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    present = names(workspace.data)
    name = options.benchmark or (present[0] if len(present) == 1 else None)
    if name is None:
        raise UsageProblem(
            "which benchmark?", allowed=", ".join(present) or "none is imported yet", fix="--benchmark NAME"
        )
    library = workspace.benchmark(name)
    system, because = in_force(workspace.entries(), library.digests["digest"])
    settings = ", ".join(f"{key}={_setting(value)}" for key, value in system.settings().items())
    lines = [f"in force on {name}: {system.name} ({settings})", f"because: {because}"]
    console.result({"benchmark": name, **system.identity(), "because": because}, lines)
    return 0
