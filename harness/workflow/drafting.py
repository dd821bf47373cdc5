"""Begins a preregistration from a frozen dev result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from harness.benchmarks.library import Library
from harness.errors import UsageProblem
from harness.evaluation.measure import parse_measure
from harness.evaluation.slices import CONVERSATION, unknown_slice
from harness.ledger import durable
from harness.preregistration.document import from_mapping
from harness.preregistration.draft import DROP, TODO, Draft, render_draft
from harness.retrieval.fingerprint import fingerprint
from harness.retrieval.registry import select
from harness.strict_yaml import parse_strict
from harness.workflow.freeze import to_yaml_line
from harness.workflow.lock import read_frozen
from harness.workflow.systems import in_force
from harness.workflow.workspace import Workspace


def new_document(
    workspace: Workspace,
    identifier: str,
    frozen_name: str,
    *,
    primary: Sequence[str],
    superior: str | None,
    non_inferior: str | None,
    rollback: str | None = None,
    guards: Sequence[str],
    words: Mapping[str, str | None],
    authors: Sequence[str],
) -> Path:
    """Write ``preregistrations/<identifier>.yaml``.

    Args:
        workspace: the workspace.
        identifier: the new id.
        frozen_name: the frozen dev result, relative to the workspace or to here.
        primary: primary measures; R at the frozen k by default.
        superior, non_inferior: size of the claim as text; a gain of 0.02 by default.
        rollback: below what a change forces a rollback; 0, or the margin of ``non_inferior``, by default.
        guards: ``slice:drop`` each, besides the slices that the version is guarded on by default.
        words: title, hypothesis, rationale; None leaves a TODO. And ``unequal``, why unequal budgets are compared.
        authors: authors; none leaves a TODO.

    Raises:
        UsageProblem: the document exists, or a measure, claim or guard cannot be accepted.
    """
    path = workspace.document(identifier)
    if path.exists():
        raise UsageProblem("the document exists", where=str(path), fix="choose another id, or edit that file")
    frozen_name = inside(workspace, frozen_name)
    frozen = read_frozen(workspace, frozen_name)
    assert frozen is not None
    library = workspace.benchmark(str(frozen["benchmark"]["name"]))
    force, _ = in_force(workspace.entries(), library.digests["digest"])
    draft = Draft(
        identifier=identifier,
        benchmark={"name": library.name, "digest": library.digests["digest"]},
        baseline={**force.identity(), "fingerprint": fingerprint(force)},
        candidate=frozen,
        frozen=frozen_name,
        primary=[str(parse_measure(name, "--primary")) for name in primary] or [f"R@{frozen['k']}"],
        claim=_claim(superior, non_inferior),
        rollback=_rollback(rollback, non_inferior),
        guards=_guards(guards, frozen, library),
        title=words.get("title") or TODO,
        hypothesis=words.get("hypothesis") or TODO,
        rationale=words.get("rationale") or TODO,
        authors=list(authors) or [TODO],
        unequal=words.get("unequal"),
    )
    text = render_draft(draft, to_yaml_line)
    # what we write must be what we would accept
    from_mapping(parse_strict(text.encode(), str(path)).value, str(path))
    durable.make_folder(path.parent)
    if not durable.publish(path.parent, path.name, text.encode()):
        raise UsageProblem("the document exists", where=str(path), fix="choose another id, or edit that file")
    return path


def inside(workspace: Workspace, name: str) -> str:
    """A file of the workspace, given relative to it or to here, as a path relative to the workspace.

    Raises:
        UsageProblem: it is not there, or lies outside.
    """
    root = workspace.root.resolve()
    for place in (workspace.root / name, Path(name)):
        if place.exists() and place.resolve().is_relative_to(root):
            return place.resolve().relative_to(root).as_posix()
    raise UsageProblem("no such frozen dev result in this workspace", where=name, fix="harness freeze RUN --name NAME")


def _claim(superior: str | None, non_inferior: str | None) -> tuple[str, str]:
    if non_inferior is not None:
        return "non_inferior", decimal(non_inferior, "--non-inferior")
    return "superior", decimal("0.02" if superior is None else superior, "--superior")


def _rollback(rollback: str | None, non_inferior: str | None) -> str:
    if rollback is None:
        return f"-{decimal(non_inferior, '--non-inferior')}" if non_inferior is not None else "0"
    sign = "-" if rollback.startswith("-") else ""
    return sign + decimal(rollback.removeprefix("-"), "--rollback")


def _guards(given: Sequence[str], frozen: Mapping[str, Any], library: Library) -> list[tuple[str, str]]:
    """The guards that were asked for, and those of the version that were not, where the benchmark has the slice."""
    guards = [_guard(text, library) for text in given]
    named = {name for name, _ in guards}
    usual = select(str(frozen["version"]), frozen["parameters"]).guarded
    present = library.manifest["slices"].get("heldout", {})
    return guards + [(name, DROP) for name in usual if name in present and name not in named]


def _guard(text: str, library: Library) -> tuple[str, str]:
    name, separator, drop = text.rpartition(":")
    if not separator or not name:
        raise UsageProblem(f"{text!r} is not a guard", where="--guard", allowed="SLICE:DROP, such as temporal:0.03")
    known = sorted(library.manifest["slices"].get("heldout", {}))
    if name not in known and not name.startswith(CONVERSATION):
        raise unknown_slice(name, known, "--guard")
    return name, decimal(drop, "--guard")


def decimal(text: str, where: str) -> str:
    """A fraction of a measure as plain text.

    Raises:
        UsageProblem: no decimal from 0 to below 1.
    """
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value < 1:
        raise UsageProblem(f"{text!r}", where=where, allowed="a fraction of the measure, such as 0.02 for two points")
    return format(value, "f")
