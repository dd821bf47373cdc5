"""Ranks many questions a few partitions at a time, so that one sees how far it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import Questions
from harness.errors import UsageProblem
from harness.retrieval.ranking import Ranking, joined
from harness.retrieval.version import Configured, Store
from harness.workflow.progress import Progress

_STEPS = 20
"""Batches at most: a version may prepare something for each, so that many small ones would cost time."""


def rank_counted(
    system: Configured, store: Store, questions: Questions, depth: int, progress: Progress, what: str
) -> Ranking:
    """Rank every question, as `Configured.rank` does, and count them.

    Whatever a version computes is local to a partition, so that it makes no difference which are ranked together.

    Args:
        system, store, questions, depth: as for `Configured.rank`.
        progress: told how many questions are ranked.
        what: what to call this.
    """
    system.prepare(store, questions, progress.counting)
    if system.at_once:
        progress(what)
        return system.rank(store, questions, depth)
    parts = []
    with progress.counting(what, len(questions), "questions") as advance:
        for places in batches(questions.partition):
            try:
                parts.append(system.rank(store, questions.take(places), depth))
            except UsageProblem:
                # a few partitions may have nothing to search where the whole benchmark has; else it is raised again
                return system.rank(store, questions, depth)
            advance(len(places))
    return joined(parts, questions.ids, depth)


def batches(partition: NDArray[np.int32], steps: int = _STEPS) -> list[NDArray[np.int64]]:
    """Positions of questions in at most ``steps`` batches of about equal size; a partition is never divided.

    Args:
        partition: int32 (n_questions).
        steps: how many batches there may be.
    """
    order = np.argsort(partition, kind="stable")
    _, starts, counts = np.unique(partition[order], return_index=True, return_counts=True)
    # the batch in which a partition's middle lies, if all questions were divided equally
    step = (starts + counts / 2) * steps // max(1, len(partition))
    cuts = starts[1:][np.diff(step) > 0]
    return [part for part in np.split(order, cuts) if len(part)]
