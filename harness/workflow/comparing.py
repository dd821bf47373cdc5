"""Two rankings from files, one honest comparison: without ceremony, and without a verdict."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from harness.benchmarks.clusters import OWN, clusters_of
from harness.benchmarks.columns import Groups, Labels
from harness.benchmarks.qrels import Qrels, read_qrels
from harness.errors import UsageProblem
from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import CONVENTIONS, Measure, parse_measure
from harness.evaluation.scores import Credit, score
from harness.evaluation.statistics.bounds import MIN_EFFECTIVE_CLUSTERS, PROCEDURE
from harness.evaluation.statistics.paired_tests import holm
from harness.evaluation.ties import tie_report
from harness.retrieval.ranking import Ranking
from harness.retrieval.ranking_files import Names, read_parquet, read_trec
from harness.workflow.outside import held_out_by_id, must_be_kept, record_outside_look, remember_look, workspaces_around
from harness.workflow.runfiles import ROLES, sha256

USUAL = ("R", "Success", "RR", "nDCG", "P", "AP")
"""What a comparison shows if nothing else was asked for."""

_NAMED = 5


@dataclass(frozen=True)
class Files:
    """What is compared: two rankings (TREC run or ``.parquet``) and TREC qrels."""

    baseline: Path
    candidate: Path
    qrels: Path


@dataclass(frozen=True)
class Settings:
    """How it is compared.

    Attributes:
        measures: names; empty for the usual ones at ``k``.
        k: cut-off of the usual measures.
        clusters: as for `harness.benchmarks.clusters.clusters_of`.
        alpha: one-sided error rate of each bound.
        rho: within-cluster correlation up to which it is promised.
    """

    measures: tuple[str, ...] = ()
    k: int = 10
    clusters: str = OWN
    alpha: float = 0.05
    rho: float = 0.01

    def chosen(self) -> list[Measure]:
        """The measures.

        Raises:
            UsageProblem: one that does not exist, or whose convention qrels cannot answer.
        """
        measures = [parse_measure(name) for name in self.measures or [f"{name}@{self.k}" for name in USUAL]]
        for measure in measures:
            for key, allowed in CONVENTIONS.items():
                if key != "empty" and getattr(measure, key) != allowed[0]:
                    what = f"{measure}: qrels know nothing of {key}"
                    raise UsageProblem(what, where="--measures", allowed=f"{key}={allowed[0]}, which is left out")
        return list(dict.fromkeys(measures))


def compare_files(
    files: Files, settings: Settings, places: Iterable[Path], progress: Callable[[str], None] = lambda _: None
) -> dict[str, Any]:
    """Compare two rankings and return everything as plain values; nothing is promised, so there is no verdict.

    The questions are those of the qrels. One without rows in a run has an empty ranking there and counts as such.

    Args:
        files: what to compare.
        settings: how.
        places: folders; a look at questions that a workspace around one of them, or around a file, holds out is
            recorded in its ledger before anything is scored, and remembered for this user's other workspaces.
        progress: told what is being done.

    Raises:
        UsageProblem: a file or setting that cannot be used, or runs and qrels without a question in common.
        IntegrityProblem: the ledger or a benchmark of a workspace is damaged.
        EnvironmentProblem: a file may not be read, or a ledger not written.
    """
    measures = settings.chosen()
    _check_rates(settings)
    _refuse_pipes(files)
    qrels = read_qrels(files.qrels)
    names = Names()
    runs = {}
    for role in ROLES:
        progress(f"reading {getattr(files, role)}")
        runs[role] = _read_run(getattr(files, role), names)
    _refuse_disjoint(files, qrels, runs)
    clusters = clusters_of(settings.clusters, tuple(qrels.relevant))
    digests = {role: sha256(getattr(files, role)) for role in (*ROLES, "qrels")}
    progress("looking for held-out questions")
    looks, remembered = _record_looks(files, digests, qrels.relevant.keys(), places)
    progress("scoring")
    retrieved = len(names)
    labels = _labels(qrels, names)
    n_documents = len(names)
    credit = Credit(*[Groups(np.arange(n_documents + 1), np.arange(n_documents, dtype=np.int32))] * 2)
    aligned = {role: _aligned(run, tuple(qrels.relevant)) for role, run in runs.items()}
    # how deep a file was made is not on record: one that stops above the cut-off is scored as it is
    deepest = max(measure.k for measure in measures)
    scores = {
        role: score(replace(ranking, depth=max(ranking.depth, deepest)), labels, credit, measures)
        for role, ranking in aligned.items()
    }
    same = aligned["baseline"].same_order(aligned["candidate"])
    rows = [
        _row(
            compare(
                scores["baseline"],
                scores["candidate"],
                measure,
                clusters=clusters,
                alpha=settings.alpha,
                rho=settings.rho,
            ),
            same,
        )
        for measure in measures
    ]
    adjusted = holm({row["measure"]: row["p"] for row in rows if row["p"] is not None})
    rows = [row | {"p_holm": adjusted.get(row["measure"])} for row in rows]
    return {
        "files": {name: {"path": str(getattr(files, name)), "sha256": digest} for name, digest in digests.items()},
        "procedure": PROCEDURE,
        "alpha": settings.alpha,
        "rho": settings.rho,
        "clusters": settings.clusters,
        "identical": same,
        "qrels": {
            "questions": len(qrels.relevant),
            "without_evidence": _some(qrels.without_evidence),
            "judged": qrels.judged,
            "graded": qrels.graded,
            "retrieved": int((labels.repaired.values < retrieved).sum()),
            "relevant": len(labels.repaired.values),
        },
        "runs": {
            role: _about_run(runs[role], qrels) | {"ties": _ties(ranking, credit, labels, measures)}
            for role, ranking in aligned.items()
        },
        "rows": rows,
        "looks": looks,
        "remembered": remembered,
    }


def _check_rates(settings: Settings) -> None:
    if not 0 < settings.alpha < 0.5:
        raise UsageProblem(f"α = {settings.alpha}", where="--alpha", allowed="above 0 and below 0.5")
    if not 0 <= settings.rho <= 1:
        raise UsageProblem(f"ρ = {settings.rho}", where="--rho", allowed="0 to 1")


def _refuse_pipes(files: Files) -> None:
    for path in (files.baseline, files.candidate, files.qrels):
        if path.exists() and not (path.is_file() or path.is_dir()):
            allowed = "a file, which can be read twice: its digest goes on record"
            raise UsageProblem("a pipe or a device", where=str(path), allowed=allowed, fix="write it to a file first")


def _read_run(path: Path, names: Names) -> Ranking:
    ranking = (read_parquet if path.suffix == ".parquet" else read_trec)(path, names, None)
    if not len(ranking.positions):
        raise UsageProblem("no retrieved document in it", where=str(path), allowed="a run with rows")
    return ranking


def _refuse_disjoint(files: Files, qrels: Qrels, runs: Mapping[str, Ranking]) -> None:
    """Refuse files that cannot belong together, with examples from both sides."""
    asked = {role: set(run.questions) for role, run in runs.items()}
    pairs = (
        (files.baseline, asked["baseline"], files.qrels, set(qrels.relevant)),
        (files.candidate, asked["candidate"], files.qrels, set(qrels.relevant)),
        (files.baseline, asked["baseline"], files.candidate, asked["candidate"]),
    )
    for left, left_ids, right, right_ids in pairs:
        if left_ids.isdisjoint(right_ids):
            examples = (", ".join(sorted(ids)[:3]) for ids in (left_ids, right_ids))
            raise UsageProblem(
                f"no question in common: {left.name} has {next(examples)}; {right.name} has {next(examples)}",
                where=str(left), fix="use files about the same questions, under the same ids",
            )  # fmt: skip


def _record_looks(
    files: Files, digests: Mapping[str, str], ids: Collection[str], places: Iterable[Path]
) -> tuple[list[dict[str, Any]], bool]:
    """Record the comparison wherever its questions are held out: what was recorded, and whether it is remembered."""
    given = {role: getattr(files, role) for role in (*ROLES, "qrels")}
    what = "harness compare " + ", ".join(f"{path.name} (sha256 {digests[role][:12]})" for role, path in given.items())
    looks = []
    for workspace in workspaces_around(*places, *(path.resolve().parent for path in given.values())):
        members = held_out_by_id(workspace, ids)
        if members:
            new = record_outside_look(workspace, what, members, files=dict(digests))
            looks.append({"workspace": str(workspace.root), "questions": len(members), "new": new is not None})
    around = workspaces_around(*places)
    kept = remember_look(what, ids=ids, workspace=around[0] if around else None)
    must_be_kept(kept or bool(looks))
    return looks, kept


def _labels(qrels: Qrels, names: Names) -> Labels:
    """The qrels as labels; a document that no run names gets a position of its own."""
    evidence = Groups.of([[names[document] for document in found] for found in qrels.relevant.values()])
    n = len(qrels.relevant)
    counts = evidence.counts().astype(np.int32)
    return Labels(tuple(qrels.relevant), ("",) * n, ("",) * n, ((),) * n, evidence, evidence, counts)


def _ties(ranking: Ranking, credit: Credit, labels: Labels, measures: Sequence[Measure]) -> dict[str, Any]:
    """The ties of a run, at the cut-offs that it reaches."""
    reached = [measure for measure in measures if measure.k <= ranking.depth]
    return tie_report(ranking, credit, labels, reached).as_mapping()


def _aligned(run: Ranking, questions: tuple[str, ...]) -> Ranking:
    """The run's rankings of these questions."""
    place = {question: index for index, question in enumerate(run.questions)}
    rows = [
        slice(run.offsets[place[question]], run.offsets[place[question] + 1]) if question in place else slice(0, 0)
        for question in questions
    ]
    offsets = np.cumsum([0, *(row.stop - row.start for row in rows)]).astype(np.int64)
    positions, scores = (np.concatenate([column[row] for row in rows]) for column in (run.positions, run.scores))
    return Ranking(questions, offsets, positions, scores, run.depth)


def _about_run(run: Ranking, qrels: Qrels) -> dict[str, Any]:
    lengths = dict(zip(run.questions, np.diff(run.offsets).tolist(), strict=True))
    return {
        "questions": len(run),
        "empty": _some([question for question in qrels.relevant if not lengths.get(question)]),
        "not_judged": _some([question for question in run.questions if question not in qrels.relevant]),
        "longest": max(lengths.values()),
    }


def _some(names: Sequence[str]) -> dict[str, Any]:
    return {"n": len(names), "examples": list(names[:_NAMED])}


def _row(compared: Comparison, same: bool) -> dict[str, Any]:
    paired, interval = compared.paired, None if same else compared.interval
    why = ""
    if same:
        why = "the rankings are identical"
    elif interval is None:
        why = f"{paired.effective_clusters:.1f} effective clusters, and {MIN_EFFECTIVE_CLUSTERS:g} are needed"
    return {
        "measure": str(compared.measure), "n": paired.n, "clusters": len(paired.sizes),
        "baseline": compared.baseline, "candidate": compared.candidate, "estimate": compared.estimate,
        "lower": interval.lower if interval else None, "upper": interval.upper if interval else None,
        "p": None if same else compared.p_of_no_difference(), "no_interval": why, "mde": None if same else compared.mde,
        "wins": paired.wins, "losses": paired.defeats, "ties": paired.ties, "one_question": compared.one_flip,
    }  # fmt: skip
