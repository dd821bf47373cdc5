"""What a check before the lock looks at, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.evaluation.measure import Measure
from harness.evaluation.reach import Reach
from harness.evaluation.slices import CONVERSATION

REFUSED, NOTED, FINE = "refused", "noted", "fine"


@dataclass(frozen=True)
class Finding:
    """One result of the check.

    Attributes:
        kind: ``refused`` (no lock), ``noted`` (worth knowing) or ``fine``.
        subject: what was looked at, in a few words.
        says: one plain sentence.
        fix: what to change, if anything.
        may_acknowledge: whether a reason on record lets the lock go ahead all the same.
    """

    kind: str
    subject: str
    says: str
    fix: str = ""
    may_acknowledge: bool = False


@dataclass(frozen=True, eq=False)
class Rehearsal:
    """What the dev questions showed of a document's clauses: both systems ranked, scored and compared.

    Attributes:
        deltas: float64 (n_questions, n_clauses), candidate minus baseline under every clause's measure, whether the
            clause counts the question or not; NaN where it has no score.
        members: bool (n_questions, n_clauses), whether the question is in the clause's slice.
        clusters: cluster of each question.
        categories: category of each question.
        flags: flags of each question.
        baseline: mean of the baseline under each clause; None where no dev question has a score.
        reach: what an oracle could make of the candidate under each clause; None where it cannot be told.
        moved: questions that the two systems rank differently, to the registered depth.
        tokens: mean tokens that a question's reader gets from the baseline and from the candidate; None if unknown.
    """

    deltas: NDArray[np.float64]
    members: NDArray[np.bool_]
    clusters: tuple[str, ...]
    categories: tuple[str, ...]
    flags: tuple[tuple[str, ...], ...]
    baseline: tuple[float | None, ...]
    reach: tuple[Reach | None, ...]
    moved: int
    tokens: tuple[float, float] | None = None

    def counted(self, clause: int) -> NDArray[np.bool_]:
        """Which questions a clause counts, bool (n_questions)."""
        counted: NDArray[np.bool_] = self.members[:, clause] & ~np.isnan(self.deltas[:, clause])
        return counted

    def seen(self, clause: int) -> NDArray[np.float64]:
        """The differences under a clause, float64 (n_questions that it counts)."""
        return np.asarray(self.deltas[self.counted(clause), clause])

    def sizes(self, clause: int) -> NDArray[np.int64]:
        """Questions that a clause counts in each dev cluster, int64 (n_clusters)."""
        names = np.array(self.clusters)[self.counted(clause)]
        return np.unique(names, return_counts=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Evidence:
    """What a check looks at besides the document; nothing in it comes from a held-out label but counts.

    Attributes:
        manifest: the benchmark's manifest.
        look: number of the next look at this held-out set.
        alpha_k: error rate of that look.
        in_force: identity (version and parameters) of the version in force.
        fingerprints: what baseline and candidate do now.
        frozen: the frozen dev result that the candidate names, or None.
        rehearsal: what the dev questions show, or None where they cannot be asked.
    """

    manifest: Mapping[str, Any]
    look: int
    alpha_k: float
    in_force: Mapping[str, Any]
    fingerprints: Mapping[str, str]
    frozen: Mapping[str, Any] | None
    rehearsal: Rehearsal | None = None


def slice_sizes(manifest: Mapping[str, Any], measure: Measure, name: str) -> dict[str, int] | None:
    """Held-out questions with a score, by cluster, or None if there is no such slice."""
    table = manifest["slices" if measure.adversarial == "in" else "slices_answerable"]
    slices = table.get("heldout", {})
    if name.startswith(CONVERSATION):
        wanted = name.removeprefix(CONVERSATION)
        cells = {c: cell for c, cell in slices.get("all", {}).items() if c == wanted} or None
    else:
        cells = slices.get(name)
    if cells is None:
        return None if name not in manifest["slices"].get("heldout", {}) else {}
    # columns of the manifest's counts: all, with repaired, with published, with overlaid evidence
    column = 0 if measure.empty != "skip" else 1 + ("repaired", "published", "overlay").index(measure.evidence)
    return {cluster: cell[column] for cluster, cell in cells.items() if cell[column] > 0}


def cluster_sizes(manifest: Mapping[str, Any], measure: Measure, name: str) -> NDArray[np.int64]:
    """`slice_sizes` as int64 (n_clusters); empty where the slice has no question with a score."""
    return np.array(list((slice_sizes(manifest, measure, name) or {}).values()), dtype=np.int64)
