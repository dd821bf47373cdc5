"""From a draft to a lock: check what can be decided, reserve the look, put the promise on record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.benchmarks.columns import question_members
from harness.benchmarks.library import Library
from harness.errors import UsageProblem
from harness.evaluation.statistics.looks import alpha_of_look
from harness.ledger import durable
from harness.ledger.entries import Entry
from harness.ledger.looks import look_number, spent_on, write_question_set
from harness.ledger.state import Life, Stage, life
from harness.preregistration.check import check, refusals
from harness.preregistration.document import Preregistration, load_document
from harness.preregistration.evidence import NOTED, REFUSED, Evidence, Finding
from harness.preregistration.forecast import Forecast, forecast
from harness.retrieval.fingerprint import code_digest, fingerprint
from harness.retrieval.version import Store
from harness.strict_yaml import load_strict
from harness.workflow.outside import adopt_looks
from harness.workflow.progress import SILENT, Progress
from harness.workflow.rehearsal import rehearse
from harness.workflow.systems import deciding_measures, in_force
from harness.workflow.workspace import Workspace

_SOURCE = ("format", "variant", "sha256", "files")
"""What is locked of a benchmark's source; it is one file with a digest, or several, each with its own."""


@dataclass(frozen=True)
class Checked:
    """A document with everything that was found out about it before its lock."""

    document: Preregistration
    findings: list[Finding]
    evidence: Evidence
    planned: Forecast | None
    because: str
    members: frozenset[str]


def _reuse_findings(workspace: Workspace, entries: tuple[Entry, ...], members: frozenset[str]) -> list[Finding]:
    """A warning where results on these questions could be read already."""
    if not reused(workspace, entries, members):
        return []
    says = "results on these questions could be read already: the verdict will say reused, error rate not controlled"
    return [Finding(NOTED, "reuse", says)]


def reused(workspace: Workspace, entries: Iterable[Entry], members: Iterable[str]) -> bool:
    """Whether the labels of any of these questions were opened under ``entries``: from then on results can be read."""
    before = list(entries)
    spent = {lock.hash for lock in spent_on(workspace.ledger.root, before, members)}
    # the claim, not the verdict: whoever kills the judge in between finds the scores on the disk
    return any(entry.kind == "claim" and entry.payload["lock"] in spent for entry in before)


def _drift_findings(entries: tuple[Entry, ...], document: Preregistration, library: Library) -> list[Finding]:
    """A warning where the document decides on another measure than the version in force passed on.

    Two measures that disagree could otherwise pass each other's loser for ever.
    """
    passed_on = deciding_measures(entries, library.digests["digest"])
    decides_on = [str(clause.measure) for clause in document.primaries]
    if not passed_on or set(passed_on) & set(decides_on):
        return []
    says = f"the version in force passed on {', '.join(passed_on)}; this document decides on {', '.join(decides_on)}"
    return [Finding(NOTED, "measure", f"{says}, under which it was not promised to be better")]


def _coverage_findings(document: Preregistration, library: Library) -> list[Finding]:
    """A refusal where a system comes from files that lack what the full run will need; no label is opened."""
    store, questions = Store(library.corpus, library.edges), library.heldout_questions()
    findings = []
    for role, system in (("baseline", document.baseline), ("candidate", document.candidate)):
        if system.from_files:
            try:
                system.rank(store, questions, document.depth)
            except UsageProblem as problem:
                says = f"the held-out questions cannot be ranked: {problem.where}: {problem.what}"
                fix = "give dev and the full run one file that has them all, make the dev run again, and freeze it"
                findings.append(Finding(REFUSED, role, says, fix))
    return findings


def check_document(workspace: Workspace, identifier: str) -> Checked:
    """Load a document and check it against the benchmark, the ledger and its dev run; changes nothing."""
    document = load_document(workspace.document(identifier))
    entries = workspace.entries()
    library = workspace.benchmark(document.model.benchmark.name)
    members = question_members(library.heldout_questions())
    evidence, because = evidence_of(workspace, document)
    planned = forecast(document, evidence)
    findings = check(document, evidence, planned)
    findings += _reuse_findings(workspace, entries, members) + _drift_findings(entries, document, library)
    findings += _coverage_findings(document, library)
    stage = life(entries, document.id).stage
    if stage is not Stage.DRAFT:
        says = f"it is {stage.lower()} already, and a promise is made once"
        findings.insert(0, Finding(REFUSED, "document", says, "write a new document under a new id"))
    return Checked(document, findings, evidence, planned, because, members)


def evidence_of(workspace: Workspace, document: Preregistration) -> tuple[Evidence, str]:
    """What a check looks at besides the document, and why the version in force is in force."""
    entries = workspace.entries()
    library = workspace.benchmark(document.model.benchmark.name)
    look = look_number(workspace.ledger.root, entries, question_members(library.heldout_questions()))
    force, because = in_force(entries, library.digests["digest"])
    evidence = Evidence(
        manifest=library.manifest,
        look=look,
        alpha_k=alpha_of_look(float(document.model.alpha), look),
        in_force=force.identity(),
        fingerprints={"baseline": fingerprint(document.baseline), "candidate": fingerprint(document.candidate)},
        frozen=read_frozen(workspace, document.model.candidate.frozen),
        rehearsal=rehearse(document, library),
    )
    return evidence, because


def read_frozen(workspace: Workspace, name: str | None) -> Mapping[str, Any] | None:
    """The frozen dev result that a candidate names, relative to the workspace.

    Raises:
        UsageProblem: it is named and not there, or lies outside the workspace.
    """
    if name is None:
        return None
    path = workspace.root / name
    if not path.resolve().is_relative_to(workspace.root.resolve()):
        raise UsageProblem(f"frozen: {name} lies outside the workspace", fix="name a file under experiments/")
    if not path.exists():
        fix = f"harness freeze RUN --name {path.parent.name}"
        raise UsageProblem("no frozen dev result there yet", where=str(path), fix=fix)
    frozen = load_strict(path).value
    parameters = frozen.get("parameters")
    if not isinstance(parameters, dict):
        raise UsageProblem("not a frozen dev result", where=str(path), fix="make it with harness freeze RUN")
    from harness.retrieval.registry import select

    system = select(str(frozen.get("version")), parameters, str(path))
    return {**frozen, "parameters": system.settings()}


def lock_document(
    workspace: Workspace, identifier: str, acknowledged: str | None = None, progress: Progress = SILENT
) -> Entry:
    """Lock a document: from now on it cannot be changed, only abandoned.

    A document that is locked already, and means what it meant, stays as it is.

    Args:
        workspace: the workspace.
        identifier: the document's id.
        acknowledged: a reason on record for going ahead in spite of findings that allow it.
        progress: told of looks made elsewhere that go on record with it.

    Returns:
        The lock's entry.

    Raises:
        UsageProblem: the document was locked before and changed or run since, or the check refuses it.
    """
    workspace.ledger.check_writable()
    durable.make_folder(workspace.claims)
    # one lock at a time, or two documents would be given the same look
    with durable.exclusive(workspace.claims / ".locking"):
        checked = check_document(workspace, identifier)
        present = life(workspace.complete_entries(), checked.document.id)
        locked = present.lock.payload["document_digest"] if present.lock else None
        if present.lock and present.stage is Stage.LOCKED and locked == checked.document.digest:
            # a command that was stopped after its entry, once more: what it still had to do is done
            workspace.witness(present.identifier)
            return present.lock
        refuse_second_lock(present)
        in_the_way = refusals(checked.findings, acknowledged)
        if in_the_way:
            lines = "; ".join(f"{item.subject}: {item.says}" for item in in_the_way)
            fix = in_the_way[0].fix or "change the document"
            raise UsageProblem(f"cannot be locked: {lines}", where=str(workspace.document(identifier)), fix=fix)
        adopt_looks(workspace, workspace.benchmark(checked.document.model.benchmark.name), progress)
        return workspace.record("lock", _payload(workspace, checked, acknowledged))


def refuse_second_lock(existing: Life) -> None:
    """Refuse to lock an id that the ledger knows.

    Raises:
        UsageProblem: it was locked, judged or abandoned before.
    """
    if existing.stage is Stage.DRAFT:
        return
    word = {Stage.JUDGED: "judged", Stage.ABANDONED: "abandoned"}.get(existing.stage, "locked")
    raise UsageProblem(
        f"{existing.identifier} is {word} already; a promise is made once",
        allowed="a new document under a new id",
        fix="harness prereg new NEW-ID; before a run you may harness prereg abandon the old one",
    )


def _payload(workspace: Workspace, checked: Checked, acknowledged: str | None) -> dict[str, Any]:
    document, evidence = checked.document, checked.evidence
    library: Library = workspace.benchmark(document.model.benchmark.name)
    digests, source = library.digests, library.manifest["source"]
    noted = [f"{item.subject}: {item.says}" for item in checked.findings if item.kind == "refused"]
    return {
        "id": document.id,
        "document": document.canonical,
        "document_digest": document.digest,
        "yaml_sha256": document.raw_sha256,
        "benchmark": {
            "name": library.name,
            "source": {key: source[key] for key in _SOURCE if key in source},
            "digest": digests["digest"],
            "corpus": digests["corpus"],
            "heldout_questions": digests["heldout_questions"],
            "heldout_labels": digests["heldout_labels"],
            "dev": digests["dev_questions"],
        },
        "fingerprints": dict(evidence.fingerprints),
        "code": code_digest(),
        "look": evidence.look,
        "alpha_k": evidence.alpha_k,
        "heldout_set": write_question_set(workspace.ledger.root, checked.members),
        "in_force": {**evidence.in_force, "because": checked.because},
        "forecast": checked.planned.as_mapping() if checked.planned else None,
        "acknowledged": [*noted, f"reason: {acknowledged}"] if acknowledged and noted else [],
    }


def abandon(workspace: Workspace, identifier: str, reason: str) -> Entry:
    """Give a locked document up, with a reason; before its seal the look is given back.

    Raises:
        UsageProblem: it is not locked, or it was judged already.
    """
    present = life(workspace.entries(), Path(identifier).stem)
    if present.lock is None or present.stage in (Stage.JUDGED, Stage.ABANDONED):
        what = f"{present.identifier} is {present.stage.lower()}: there is nothing to abandon"
        raise UsageProblem(what, allowed="a locked document that was not judged")
    return workspace.record("abandon", {"id": present.identifier, "lock": present.lock.hash, "reason": reason})
