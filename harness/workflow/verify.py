"""Checks a verdict: the standard-library verifier for the minimum set, then what needs documents and data."""

from __future__ import annotations

from collections.abc import Iterable

from harness.benchmarks.columns import EXACT, benchmark_digest, labels_digest, questions_digest
from harness.benchmarks.library import names
from harness.digest import digest_rows
from harness.errors import HarnessError, UsageProblem
from harness.ledger.head import user_witness_path
from harness.ledger.state import Life, Stage, life
from harness.tracking.address import address
from harness.tracking.mirror import look
from harness.verifier import Check
from harness.verifier import verify as verify_minimum
from harness.workflow import runfiles
from harness.workflow.full import check_unchanged
from harness.workflow.mirroring import waits
from harness.workflow.publish import verdict_record
from harness.workflow.workspace import Workspace

MINIMUM = ("chain", "head", "lock", "documents", "rankings", "measures", "decision")
"""What must pass for a verdict to stand; ``data`` too where the benchmark is there."""

ORDER = ("chain", "head", "lock", "documents", "data", "rankings", "measures", "decision", "mirror", "signature")


COPIES = ("mirror",)
"""What shows a verdict and does not make it: it can be written again, so that its FAIL leaves the verdict standing."""

_NAMED = 5  # values named where MLflow differs


def verify_run(workspace: Workspace, identifier: str) -> list[Check]:
    """Every named check on one document, in the order in which they are printed.

    Raises:
        UsageProblem: the document was never locked here, so there is nothing to verify.
    """
    _refuse_draft(workspace, identifier)
    checks = {check.name: check for check in _minimum(workspace, identifier)}
    try:
        present = life(workspace.entries(), identifier)
    except HarnessError as error:
        for name in ("documents", "data", "mirror"):
            checks[name] = Check(
                name, "FAIL" if name == "documents" else "NOTRUN", f"no ledger to hold it against: {error.what}"
            )
        present = None
    if present is not None:
        checks |= {check.name: check for check in (_documents(workspace, present), _data(workspace, present))}
        checks["mirror"] = _mirror(workspace, present, checks.values())
    checks["signature"] = Check("signature", "NOTRUN", "the ledger is not signed")
    return [checks[name] for name in ORDER if name in checks]


def _refuse_draft(workspace: Workspace, identifier: str) -> None:
    if workspace.full_run(identifier).exists() or not workspace.ledger.root.exists():
        return  # something was recorded once, or the ledger is gone: the checks say what
    try:
        stage = life(workspace.ledger.read(missing_ok=True), identifier).stage
    except HarnessError:
        return
    if stage is Stage.DRAFT:
        known = "it was never locked" if workspace.document(identifier).exists() else "there is no such document"
        raise UsageProblem(
            f"nothing to verify: {known}", where=identifier, fix="harness prereg list shows the documents"
        )


def stands(checks: list[Check]) -> bool:
    """Whether the minimum set passed, and nothing failed but what is only a copy."""
    passed = {check.name for check in checks if check.status == "PASS"}
    failed = {check.name for check in checks if check.status == "FAIL"}
    return set(MINIMUM) <= passed and failed <= set(COPIES)


def _minimum(workspace: Workspace, identifier: str) -> list[Check]:
    witnesses = []
    try:
        entries = workspace.ledger.read()
        path = user_witness_path(entries)
        if path.exists():
            witnesses.append(("this user's state folder", path))
    except (HarnessError, OSError):
        pass  # a broken ledger is the chain check's to report, and a home that cannot be read remembers nothing
    return verify_minimum(workspace.root, identifier, witnesses)


def _documents(workspace: Workspace, present: Life) -> Check:
    if present.lock is None:
        return Check("documents", "FAIL", "never locked")
    try:
        document = check_unchanged(workspace, present.lock)
    except HarnessError as error:
        return Check("documents", "FAIL", error.what)
    return Check("documents", "PASS", f"{document.id}.yaml means what was locked")


def _data(workspace: Workspace, present: Life) -> Check:
    """The imported benchmark is the one that was locked, and the judged evidence is its own."""
    if present.lock is None:
        return Check("data", "NOTRUN", "never locked")
    locked = present.lock.payload["benchmark"]
    if locked["name"] not in names(workspace.data):
        return Check("data", "NOTRUN", f"the benchmark {locked['name']} is not imported here")
    library = workspace.benchmark(locked["name"])
    if library.digests["digest"] != locked["digest"]:
        return Check("data", "FAIL", f"the imported {locked['name']} is another benchmark than was locked")
    try:
        library_parts = {
            "corpus": digest_rows("corpus/1", library.corpus.rows()),
            "edges": digest_rows("edges/1", library.edges.rows(library.corpus.ids)),
            "dev_questions": questions_digest(library.dev[0]),
            "dev_labels": labels_digest(library.dev[1], library.corpus.ids),
            "heldout_questions": questions_digest(library.heldout_questions()),
        }
        if present.claim is None or present.verdict is None:
            return Check("data", "PASS", "what the run reads is what was locked; labels stay closed until it is judged")
        heldout = library.heldout_labels(present.claim.hash)
        library_parts["heldout_labels"] = labels_digest(heldout, library.corpus.ids)
        whole = benchmark_digest(library.name, library.manifest["partitions"], library_parts)
        if whole != locked["digest"]:
            return Check("data", "FAIL", "the files of the benchmark do not add up to its digest")
        folder = workspace.full_run(present.identifier)
        judged = runfiles.read_labels(folder)
        labels = library.dev[1].aligned(heldout, judged.ids)
        same = all(
            mine == theirs
            for mine, theirs in (
                (judged.categories, labels.categories),
                (_imported(judged.flags), _imported(labels.flags)),
                (judged.repaired.rows(), labels.repaired.rows()),
                (judged.published.rows(), labels.published.rows()),
                (judged.n_published.tolist(), labels.n_published.tolist()),
            )
        )
    except (HarnessError, KeyError) as error:
        return Check("data", "FAIL", str(error))
    if not same:
        return Check("data", "FAIL", "the evidence of the run is not the benchmark's")
    return Check("data", "PASS", f"{locked['name']} is what was locked, and the judged evidence is its own")


def _imported(flags: Iterable[Iterable[str]]) -> list[set[str]]:
    """The flags that were imported; a run of an older version may lack the one that a question's words decide."""
    return [set(mine) - {EXACT} for mine in flags]


def _mirror(workspace: Workspace, present: Life, minimum: Iterable[Check]) -> Check:
    """MLflow shows what was recorded; it is a copy, so that nothing here touches the verdict."""
    if present.verdict is None or present.lock is None:
        return Check("mirror", "NOTRUN", "not judged yet")
    broken = [check.name for check in minimum if check.status == "FAIL"]
    if broken:
        return Check("mirror", "NOTRUN", f"nothing sound to hold it against: {', '.join(broken)}")
    again = f"harness mirror {present.identifier} writes it again"
    record = verdict_record(workspace, present)
    if waits(workspace, record):
        return Check("mirror", "NOTRUN", "it waits in the outbox: harness mirror tries again")
    try:
        found = look(address(workspace.store), record)
    except HarnessError as error:
        return Check("mirror", "NOTRUN", f"MLflow cannot be asked: {error.what}")
    if found is None:
        return Check("mirror", "NOTRUN", f"there is no MLflow store here; {again}")
    if found.deleted:
        return Check("mirror", "FAIL", f"the run was deleted in MLflow; {again}")
    if not found.run:
        return Check("mirror", "NOTRUN", f"no MLflow run here carries this lock; {again}")
    if found.drift:
        named = "; ".join(map(str, found.drift[:_NAMED]))
        more = f"; and {len(found.drift) - _NAMED} more" if len(found.drift) > _NAMED else ""
        return Check("mirror", "FAIL", f"changed in MLflow: {named}{more}; {again}")
    return Check("mirror", "PASS", "MLflow says what the ledger says")
