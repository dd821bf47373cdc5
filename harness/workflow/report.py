"""The part of the verdict page that comes from the ledger alone: words, promise, outcome, record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.digest import canonical_json
from harness.ledger.entries import Entry, ancestors
from harness.ledger.state import Life
from harness.reporting import words


def page_frame(present: Life, head: str, *, exposed: bool) -> dict[str, Any]:
    """Words, promise and record of a judged document, with empty tables for the rest."""
    assert present.lock is not None
    assert present.seal is not None
    assert present.verdict is not None
    lock, verdict = present.lock.payload, present.verdict.payload
    document = lock["document"]
    clauses = [_clause_row(clause, document["decide_on"]) for clause in verdict["clauses"]]
    return {
        "id": present.identifier,
        "title": document["title"],
        "state": verdict["state"],
        "sentence": _sentence(verdict["reason"]),
        "consequence": words.consequence(verdict["state"]),
        "straw": document["straw"],
        "unequal": document["budget"].get("unequal"),
        "estimate_rule": verdict.get("estimate_rule"),
        "clauses": clauses,
        "look": verdict["look"],
        "alpha_k": verdict["alpha_k"],
        "alpha": document["alpha"],
        "rho_plan": document["rho_plan"],
        "exposed": exposed,
        "beside": None,
        "predicted": [],
        "credits": [],
        "slice_measure": "",
        "slices": [],
        "measures": [],
        "exclusions": [],
        "budgets": [],
        "cost": "",
        "hypothesis": document["hypothesis"],
        "rationale": document["rationale"],
        "authors": document["authors"],
        "baseline": {"words": system_words(document["baseline"]), "because": lock["in_force"]["because"]},
        "candidate": {"words": system_words(document["candidate"]), "trials": document["candidate"]["trials"]},
        "expect": document["expect"],
        "outside_looks": document["outside_looks"],
        "acknowledged": lock["acknowledged"],
        "reproduce": _commands(present),
        "record": [*_record(present), ("ledger head", head)],
        "evidence_tier": "Evidence tier: self, until the ledger is pushed or its head is held by somebody else.",
    }


def head_words(entries: Iterable[Entry], verdict: Entry) -> str:
    """The ledger's head right after a verdict: how many entries led to it, and its hash, which fixes them all."""
    return f"{len(ancestors(entries, [verdict.hash]))} entries, tip {verdict.hash}"


def _sentence(reason: str) -> str:
    text = words.reason_words(reason)
    return f"{text[0].upper()}{text[1:]}."


def _clause_row(clause: Mapping[str, Any], decide_on: str) -> dict[str, Any]:
    return {
        **clause,
        "promise": words.promise(clause),
        "outcome": words.outcome(clause),
        "standing": words.standing(clause, decide_on),
        "flip_words": words.flip_words(clause),
    }


def system_words(system: Mapping[str, Any]) -> str:
    """A version and its parameters in one line."""
    settings = ", ".join(
        f"{key}={value if isinstance(value, str) else canonical_json(value)}"
        for key, value in system["parameters"].items()
    )
    return f"{system['version']} ({settings})"


_GIVEN = {
    "synthetic": "", "jsonl": "FOLDER", "beir": "FOLDER", "trec": "--corpus FILE --topics FILE --qrels FILE",
}  # fmt: skip
"""Format of a benchmark → what its import is given, where that is not one file."""


def _commands(present: Life) -> list[str]:
    assert present.lock is not None
    commit = present.lock.git.get("commit")
    # a commit made with uncommitted changes does not hold what was locked
    lines = [f"git checkout {commit}"] if commit and not present.lock.git.get("dirty") else []
    benchmark = present.lock.payload["benchmark"]
    source = benchmark["source"]
    kind = source["format"]
    line = f"harness data import {kind} {_GIVEN.get(kind, 'FILE')}".rstrip() + f" --name {benchmark['name']}"
    files = source.get("files") or {"FILE": source}
    known = ", ".join(f"{one.get('name', name)} with sha256 {one['sha256']}" for name, one in files.items())
    lines.append(line if kind == "synthetic" else f"{line}   # {known}")
    return [*lines, f"harness verify {present.identifier}", f"harness report {present.identifier}"]


def _record(present: Life) -> list[tuple[str, str]]:
    assert present.lock is not None
    assert present.seal is not None
    assert present.verdict is not None
    lock = present.lock.payload
    rows = [
        ("document digest", lock["document_digest"]),
        ("benchmark", f"{lock['benchmark']['name']} {lock['benchmark']['digest']}"),
        ("baseline fingerprint", lock["fingerprints"]["baseline"]),
        ("candidate fingerprint", lock["fingerprints"]["candidate"]),
        ("retrieval code", lock["code"]),
        ("lock entry", f"{present.lock.hash} at {present.lock.time}"),
        ("seal entry", f"{present.seal.hash} at {present.seal.time}"),
        ("verdict entry", f"{present.verdict.hash} at {present.verdict.time}"),
        ("git commit at the lock", _git_words(present.lock.git)),
        ("environment digest", present.verdict.environment),
    ]
    return [*rows, ("bound procedure", lock["document"]["procedure"])]


def _git_words(git: Mapping[str, Any]) -> str:
    commit = git.get("commit")
    if not commit:
        return "none: no git repository, or no commit in it yet"
    return f"{commit}{' with uncommitted changes' if git.get('dirty') else ''}"
