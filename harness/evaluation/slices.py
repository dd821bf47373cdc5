"""Slices of a question set: everything, a category, a flag, or one conversation."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from harness.benchmarks.columns import Labels, Questions
from harness.errors import UsageProblem, did_you_mean

ALL = "all"
CONVERSATION = "conversation:"


def slice_names(questions: Questions, labels: Labels, partitions: tuple[str, ...]) -> list[str]:
    """Every slice that has a question: all, categories, flags, conversations."""
    categories = sorted(set(labels.categories))
    flags = sorted({flag for flags in labels.flags for flag in flags})
    present = [f"{CONVERSATION}{partitions[number]}" for number in np.unique(questions.partition).tolist()]
    return [ALL, *categories, *flags, *present]


def in_slice(name: str, questions: Questions, labels: Labels, partitions: tuple[str, ...]) -> NDArray[np.bool_]:
    """Which questions belong to a slice, bool (n_questions).

    Raises:
        UsageProblem: no such slice.
    """
    if name == ALL:
        return np.ones(len(questions), dtype=bool)
    if name.startswith(CONVERSATION) and name.removeprefix(CONVERSATION) in partitions:
        return np.asarray(questions.partition == partitions.index(name.removeprefix(CONVERSATION)))
    chosen = np.array(
        [name == category or name in flags for category, flags in zip(labels.categories, labels.flags, strict=True)],
        dtype=bool,
    )
    if not chosen.any():
        raise unknown_slice(name, slice_names(questions, labels, partitions))
    return chosen


def unknown_slice(name: str, known: Iterable[str], where: str = "") -> UsageProblem:
    """The error for a slice that does not exist."""
    known = list(known)
    return UsageProblem(f"no slice {name!r}", where=where, allowed=", ".join(known), fix=did_you_mean(name, known))
