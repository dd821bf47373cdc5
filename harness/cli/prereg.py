"""``harness prereg``: write, check, lock and give up preregistrations."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from harness.cli import plan
from harness.cli.console import Console, table
from harness.cli.parsing import Commands, command, group

if TYPE_CHECKING:
    from harness.preregistration.forecast import Forecast


def add(commands: Commands) -> None:
    """Add the commands."""
    prereg = group(commands, "prereg", "write, check, lock and list preregistrations")
    new = command(prereg, "new", run_new, "begin a document from a frozen dev result", exits=(3,))
    new.add_argument("id", help="the document's id: lower-case letters, digits, hyphens")
    new.add_argument("--from", dest="frozen", required=True, metavar="FILE", help="experiments/NAME/frozen.yaml")
    new.add_argument(
        "--primary", action="append", metavar="MEASURE", help="a primary measure (default: R@k; repeatable)"
    )
    kind = new.add_mutually_exclusive_group()
    kind.add_argument("--superior", metavar="GAIN", help="the smallest gain worth having (default: 0.02)")
    kind.add_argument("--non-inferior", metavar="MARGIN", help="the largest loss tolerated")
    new.add_argument(
        "--rollback", metavar="CHANGE", help="a change surely below this is a ROLLBACK (default: 0, or -MARGIN)"
    )
    new.add_argument(
        "--guard", action="append", default=[], metavar="SLICE:DROP", help="e.g. temporal:0.03; repeatable"
    )
    new.add_argument("--unequal", metavar="WHY", help="compare read budgets that are unequal, and why")
    for name in ("title", "hypothesis", "rationale"):
        new.add_argument(f"--{name}", help=f"the {name}; left out, the document says TODO")
    new.add_argument("--author", action="append", help="an author; repeatable")
    summary = "say whether a document can decide anything; changes nothing"
    check = command(prereg, "check", run_check, summary, exits=(3,))
    check.add_argument("id", help="the document's id or path")
    lock = command(prereg, "lock", run_lock, "lock a document: from now on it cannot be changed", exits=(3,))
    lock.add_argument("id", help="the document's id or path")
    lock.add_argument("--acknowledge", metavar="REASON", help="go ahead in spite of findings that allow it")
    abandon = command(prereg, "abandon", run_abandon, "give a locked document up", exits=(3,))
    abandon.add_argument("id", help="the document's id")
    abandon.add_argument("--reason", required=True, help="why; it stays on record")
    plan.add(prereg)
    command(prereg, "list", run_list, "list the documents and how far they are", exits=(3,))
    show = command(prereg, "show", run_show, "show a document with every default filled in")
    show.add_argument("id", help="the document's id or path")


def run_new(options: argparse.Namespace, console: Console) -> int:
    """Write a draft."""
    from harness.workflow.drafting import new_document
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    path = new_document(
        workspace,
        options.id,
        options.frozen,
        primary=options.primary or [],
        superior=options.superior,
        non_inferior=options.non_inferior,
        rollback=options.rollback,
        guards=options.guard,
        words={name: getattr(options, name) for name in ("title", "hypothesis", "rationale", "unequal")},
        authors=options.author or [],
    )
    name = path.relative_to(workspace.root)
    unwritten = "TODO" in path.read_text(encoding="utf-8")
    first = "write what says TODO, then " if unwritten else ""
    lines = [f"draft: {name}", f"next: {first}harness prereg check {options.id}, harness prereg lock {options.id}"]
    console.result({"document": str(name)}, lines)
    return 0


def run_check(options: argparse.Namespace, console: Console) -> int:
    """Check a document."""
    from harness.errors import UsageProblem
    from harness.preregistration.check import refusals
    from harness.preregistration.plain import plain_words
    from harness.workflow.lock import check_document
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    checked = check_document(workspace, options.id)
    in_the_way = refusals(checked.findings, None)
    say = "cannot be locked as it is" if in_the_way else "can be locked"
    words = plain_words(checked.document, checked.evidence, checked.planned)
    lines = [f"{checked.document.id}: {say}", "", *words, "", *_scenario_lines(checked.planned)]
    for item in checked.findings:
        lines.append(f"{console.paint(item.kind, item.kind.ljust(7))}  {item.subject}: {item.says}")
        if item.fix:
            lines.append(f"         fix: {item.fix}")
    if in_the_way and all(item.may_acknowledge for item in in_the_way):
        lines += [
            "",
            f"or go ahead with a reason on record: harness prereg lock {checked.document.id} --acknowledge REASON",
        ]
    if not in_the_way:
        lines += ["", f"next: harness prereg lock {checked.document.id}"]
    value = {
        "id": checked.document.id, "digest": checked.document.digest, "lockable": not in_the_way,
        "look": checked.evidence.look, "alpha_k": checked.evidence.alpha_k,
        "words": words,
        "forecast": checked.planned.as_mapping() if checked.planned else None,
        "scenarios": [asdict(item) for item in checked.planned.scenarios] if checked.planned else [],
        "findings": [vars(item) for item in checked.findings],
    }  # fmt: skip
    console.result(value, lines)
    return UsageProblem.exit_code if in_the_way else 0


def _scenario_lines(planned: Forecast | None) -> list[str]:
    from harness.reporting.words import points

    if planned is None:
        return []
    rows = [
        [item.name, points(item.difference), *(f"{100 * chance:.0f} %" for chance in chances)]
        for item in planned.scenarios
        for chances in [(item.passes, item.undecided, item.rollbacks)]
    ]
    head = ["if the truth is", "points", "PASS", "INCONCLUSIVE", "ROLLBACK"]
    return [*table(head, rows, text_columns=1), ""]


def run_lock(options: argparse.Namespace, console: Console) -> int:
    """Lock a document."""
    from harness.ledger.head import unwitnessed
    from harness.workflow.lock import lock_document
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    entry = lock_document(workspace, options.id, options.acknowledge, console.progress)
    payload = entry.payload
    if note := unwitnessed(workspace.entries()):
        console.note(note)
    lines = [
        f"locked: {payload['id']}, look {payload['look']} at these held-out questions, α = {payload['alpha_k']:.4f} "
        f"of {payload['document']['alpha']:g} (later looks get less)",
        f"document {payload['document_digest']}",
        f"ledger entry {entry.name}",
        f"next: commit preregistrations/ and experiments/, then harness full {payload['id']}",
    ]
    console.result(
        {"id": payload["id"], "entry": entry.hash, "look": payload["look"], "alpha_k": payload["alpha_k"]}, lines
    )
    return 0


def run_abandon(options: argparse.Namespace, console: Console) -> int:
    """Abandon a document."""
    from harness.ledger.state import life
    from harness.workflow.lock import abandon
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    entry = abandon(workspace, options.id, options.reason)
    present = life(workspace.entries(), entry.payload["id"])
    lines = [f"abandoned: {present.identifier}"]
    if present.claim:
        lines.append("the held-out labels were opened: its look is spent, and later verdicts on them say reused")
    elif present.seal:
        lines.append("the rankings were sealed: its look is spent")
    console.result({"id": present.identifier, "entry": entry.hash}, lines)
    return 0


def run_list(options: argparse.Namespace, console: Console) -> int:
    """List documents."""
    from harness.ledger.state import life, lives
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    entries = workspace.entries()
    known = {path.stem for path in workspace.documents.glob("*.yaml")} | set(lives(entries))
    rows = []
    for name in sorted(known):
        present = life(entries, name)
        state = present.verdict.payload["state"] if present.verdict else ""
        rows.append([name, present.stage.value, state, present.lock.time if present.lock else ""])
    keys = ("id", "stage", "verdict", "locked")
    lines = table(list(keys), rows, text_columns=4) if rows else ["no documents yet: harness prereg new ID --from FILE"]
    console.result([dict(zip(keys, row, strict=True)) for row in rows], lines)
    return 0


def run_show(options: argparse.Namespace, console: Console) -> int:
    """Show the canonical document."""
    from harness.preregistration.document import load_document
    from harness.workflow.freeze import to_yaml
    from harness.workflow.workspace import open_workspace

    workspace = open_workspace(options.workspace)
    document = load_document(workspace.document(options.id))
    value: dict[str, Any] = {"digest": document.digest, "document": document.canonical}
    console.result(value, [to_yaml(document.canonical).rstrip(), f"# digest {document.digest}"])
    return 0
