"""A new document to fill in: the facts are there, the judgments are the author's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

TODO = "TODO"
"""What the author has yet to write; the check refuses a document that still says so."""

DROP = "0.03"
"""The drop of a version's own guards, where the author names none: decidable in LoCoMo's slices from 250 questions."""


@dataclass(frozen=True)
class Draft:
    """What is known when a document is begun.

    Attributes:
        identifier: the document's id.
        benchmark: name and digest.
        baseline: version, parameters and fingerprint of the version in force.
        candidate: version, parameters, fingerprint and trials of the frozen dev result, and its budget of tokens.
        frozen: where that is, relative to the workspace.
        primary: measure names.
        claim: ``superior`` or ``non_inferior``, and its size as text.
        rollback: the rollback line as text.
        guards: (slice, largest drop as text).
        unequal: why read budgets that are unequal are compared, if they are.
    """

    identifier: str
    benchmark: Mapping[str, str]
    baseline: Mapping[str, Any]
    candidate: Mapping[str, Any]
    frozen: str
    primary: Sequence[str]
    claim: tuple[str, str]
    guards: Sequence[tuple[str, str]]
    title: str = TODO
    hypothesis: str = TODO
    rationale: str = TODO
    authors: Sequence[str] = (TODO,)
    rollback: str = "0"
    unequal: str | None = None


def render_draft(draft: Draft, dump: Callable[[Any], str]) -> str:
    """The draft as YAML with a word on every key.

    Args:
        draft: what is known.
        dump: turns a value into one line of YAML.
    """
    kind, size = draft.claim
    explained = {
        "superior": "PASS needs a gain surely above superior, ROLLBACK one surely below rollback; 0.02 is two points",
        "non_inferior": "PASS needs a loss surely smaller than this, ROLLBACK a change surely below rollback",
    }[kind]
    measure = draft.primary[0]
    lines = [
        "format: 1",
        f"id: {dump(draft.identifier)}",
        f"title: {dump(draft.title)}",
        f"authors: {dump(list(draft.authors))}",
        f"hypothesis: {dump(draft.hypothesis)}   # what you believe, and why",
        f"rationale: {dump(draft.rationale)}   # why the margins below are what they are",
        "",
        f"benchmark: {{name: {dump(draft.benchmark['name'])}, digest: '{draft.benchmark['digest']}'}}",
        *_system("baseline", draft.baseline, "the version in force", dump),
        *_system("candidate", draft.candidate, "from its frozen dev result", dump),
        f"  frozen: {dump(draft.frozen)}",
        f"  trials: {draft.candidate['trials']}   # dev trials that it was picked from",
        "",
        f"claim: {{{kind}: {size}, rollback: {draft.rollback}}}   # {explained}",
        f"primary: {dump(list(draft.primary))}   # all of them must hold; more in docs/reference/document.md",
    ]
    lines += _budget(draft, dump)
    if draft.guards:
        lines.append("guards:   # measure, slice, and the largest drop tolerated")
        lines += [f"  - {{measure: {dump(measure)}, slice: {dump(name)}, drop: {drop}}}" for name, drop in draft.guards]
    return "\n".join(lines) + "\n"


def _budget(draft: Draft, dump: Callable[[Any], str]) -> list[str]:
    if draft.unequal:
        tokens = f"tokens: {draft.candidate['tokens']}, " if "tokens" in draft.candidate else ""
        return [f"budget: {{{tokens}unequal: {dump(draft.unequal)}}}   # the page says so first"]
    if "tokens" in draft.candidate:
        return [f"budget: tokens:{draft.candidate['tokens']}   # as on dev: documents in order, while they fit"]
    return []


def _system(role: str, system: Mapping[str, Any], comment: str, dump: Callable[[Any], str]) -> list[str]:
    return [
        f"{role}:   # {comment}",
        f"  version: {system['version']}",
        f"  parameters: {dump(system['parameters'])}",
        f"  fingerprint: '{system['fingerprint']}'",
    ]
