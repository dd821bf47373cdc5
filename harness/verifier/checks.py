"""The named checks, from the ledger up to the verdict.

Each check answers PASS, FAIL or NOTRUN with a reason of one line. Nothing passes for lack of content: an
absent ledger, run or witness is a FAIL, and what cannot be examined is NOTRUN, which is not success either.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from .chain import Chain, read_chain, witness_problem
from .judging import check_decision, check_measures
from .lineage import Lineage, trace
from .reading import DamageError, integer, mapping, parse, read_bytes, show, truth
from .runfiles import SEALED, Run, parse_run, read_listed

Status = Literal["PASS", "FAIL", "NOTRUN"]
NAMES = ("chain", "head", "lock", "rankings", "measures", "decision")


class Check(NamedTuple):
    """The outcome of one named check."""

    name: str
    status: Status
    reason: str


def verify(workspace: Path, identifier: str, witnesses: Sequence[tuple[str, Path]] = ()) -> list[Check]:
    """Check one experiment of a workspace.

    Args:
        workspace: The folder that holds ``preregistrations`` and ``runs``.
        identifier: The id of the preregistration.
        witnesses: Further heads written down elsewhere, as pairs of a name to print and a file.

    Returns:
        One check per name of NAMES, in that order. Only six PASS mean that the verdict stands.
    """
    chain = read_chain(workspace / "preregistrations" / "ledger")
    first = _result("chain", chain.problems, _chain_summary(chain))
    if not usable(identifier):
        reason = f"{show(identifier)} cannot be an id"
        return [
            first,
            Check("head", "FAIL", reason),
            Check("lock", "FAIL", reason),
            *_not_run(NAMES[3:], "lock failed"),
        ]
    folder = workspace / "runs" / "full" / identifier
    done = [first, _check_head(chain, identifier, folder, witnesses)]
    if chain.problems:
        return [*done, *_not_run(NAMES[2:], "chain failed")]
    try:
        lineage = trace(chain, identifier)
    except DamageError as error:
        lineage = Lineage([str(error)])
    done.append(_result("lock", lineage.problems, _lock_summary(lineage)))
    if lineage.seal is None:
        reason = "lock failed" if lineage.problems else "not sealed yet"
        return [*done, *_not_run(NAMES[3:], reason)]
    run, rankings = _check_rankings(folder, lineage)
    done.append(rankings)
    return [*done, *_check_judgment(folder, lineage, run)]


def usable(identifier: str) -> bool:
    """Whether an id can name a folder below runs/full, and nothing outside it."""
    plain = identifier.isprintable() and not set(identifier) & set("/\\")
    return plain and identifier not in ("", ".", "..") and len(identifier) <= 200


def _is_folder(path: Path) -> bool:
    """Whether a folder is there; one that may not be looked at counts as missing, not as a crash."""
    try:
        return path.is_dir()
    except OSError:
        return False


def _result(name: str, problems: Sequence[str], success: str) -> Check:
    """PASS with a summary, or FAIL with the first problem and the number of others."""
    if not problems:
        return Check(name, "PASS", success)
    others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return Check(name, "FAIL", problems[0] + others)


def _not_run(names: Sequence[str], reason: str) -> list[Check]:
    return [Check(name, "NOTRUN", reason) for name in names]


def _chain_summary(chain: Chain) -> str:
    return f"entries: {len(chain.entries)}, tips: {len(chain.tips())}"


def _check_head(chain: Chain, identifier: str, folder: Path, witnesses: Sequence[tuple[str, Path]]) -> Check:
    """Check that the ledger contains what each witness saw; the run's own must have seen the lock."""
    if not chain.entries:
        return Check("head", "FAIL", "no entries that a witness could be compared with")
    if not _is_folder(folder):
        return Check("head", "FAIL", f"runs/full/{identifier}: missing, and with it the run's own witness")
    problems = []
    for name, path in [(f"runs/full/{identifier}/head.json", folder / "head.json"), *witnesses]:
        try:
            witness = parse(read_bytes(path, name), name)
        except DamageError as error:
            problems.append(str(error))
            continue
        problem = witness_problem(chain, witness, name)
        if problem is None and path == folder / "head.json":
            problem = _lock_unseen(chain, identifier, witness, name)
        if problem is not None:
            problems.append(problem)
    return _result("head", problems, f"witnesses contained: {1 + len(witnesses)}")


def _lock_unseen(chain: Chain, identifier: str, witness: object, name: str) -> str | None:
    """A run follows its lock: a witness from before it would vouch for nothing of this experiment."""
    seen = chain.closure(str(tip) for tip in _tips(witness))
    locks = {entry.digest for entry in chain.of_kind("lock") if entry.links.get("id") == identifier}
    return f"{name}: older than every lock of {identifier}" if locks and locks.isdisjoint(seen) else None


def _tips(witness: object) -> Sequence[object]:
    tips = witness.get("tips") if isinstance(witness, Mapping) else None
    return tips if isinstance(tips, list) else ()


def _lock_summary(lineage: Lineage) -> str:
    stage = "judged" if lineage.verdict else "claimed" if lineage.claim else "sealed" if lineage.seal else "locked"
    aside = ""
    if lineage.concurrent:
        aside = f"; {len(lineage.concurrent)} lock(s) on another branch share questions: {lineage.concurrent[0]}"
    return f"{stage}, look {lineage.look}, alpha_k {lineage.alpha!r}{aside}"


def _check_rankings(folder: Path, lineage: Lineage) -> tuple[Run | None, Check]:
    """Check the sealed files against the seal, and each other."""
    if lineage.seal is None:
        return None, Check("rankings", "NOTRUN", "not sealed yet")
    if not _is_folder(folder):
        return None, Check("rankings", "FAIL", f"runs/full/{folder.name}: missing")
    name, payload = lineage.seal.entry.name, lineage.seal.payload
    contents, problems = read_listed(folder, SEALED, payload.get("files"), f"{name}: files")
    run = None
    if len(contents) == len(SEALED):
        try:
            truth(mapping(payload.get("repeat"), f"{name}: repeat").get("baseline"), f"{name}: repeat: baseline")
            count = integer(payload.get("questions"), f"{name}: questions", least=1)
            run = parse_run(contents, count, integer(payload.get("depth"), f"{name}: depth", least=1))
            heldout = sum(question.heldout for question in run.questions)
            if lineage.heldout is not None and heldout < lineage.heldout:
                raise DamageError(
                    f"questions.jsonl: {heldout} held-out questions, the lock's set has {lineage.heldout}"
                )
        except DamageError as error:
            problems.append(str(error))
    success = f"{len(run.questions)} questions, both roles, depth {run.depth}" if run else ""
    return (None if problems else run), _result("rankings", problems, success)


def _check_judgment(folder: Path, lineage: Lineage, run: Run | None) -> list[Check]:
    """Recompute what was judged, as far as the checks before allow."""
    names = NAMES[4:]
    if lineage.verdict is None:
        return _not_run(names, "not judged yet" if not lineage.problems else "lock failed")
    if run is None:
        return _not_run(names, "rankings failed")
    measured = check_measures(folder, lineage, run)
    if measured.skipped:
        done = [Check(names[0], "NOTRUN", measured.summary)]
    else:
        done = [_result(names[0], measured.problems, measured.summary)]
    if measured.problems:
        return [*done, *_not_run(names[1:], "measures failed")]
    if lineage.problems:
        return [*done, *_not_run(names[1:], "lock failed")]
    decided = check_decision(lineage, run, measured)
    if decided.skipped:
        return [*done, Check(names[1], "NOTRUN", decided.summary)]
    return [*done, _result(names[1], decided.problems, decided.summary)]
