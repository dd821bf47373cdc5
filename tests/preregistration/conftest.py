"""Documents, manifests and comparisons to judge, small enough to be read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import parse_measure
from harness.evaluation.scores import Scores
from harness.preregistration.document import Preregistration, from_mapping
from harness.preregistration.strict_yaml import parse_strict

MINIMAL = """\
format: 1
id: raw-only
title: Raw turns alone
authors: Ada Example
hypothesis: Distilled items crowd out the turns that they repeat.
rationale: Two points are worth building the index anew.
benchmark: locomo
baseline: bm25
candidate:
  version: bm25
  parameters: {layers: [raw]}
  frozen: experiments/raw-only/frozen.yaml
claim:
  superior: 0.02
primary: R@10
"""


@pytest.fixture
def minimal() -> str:
    """The shortest document that is worth locking: fifteen lines."""
    return MINIMAL


@pytest.fixture
def read() -> Callable[[str], Preregistration]:
    """Reads a document's text as if it stood in ``doc.yaml``."""

    def read_text(text: str) -> Preregistration:
        loaded = parse_strict(text.encode(), "doc.yaml")
        return from_mapping(loaded.value, "doc.yaml", loaded)

    return read_text


@pytest.fixture
def promise() -> Callable[..., Preregistration]:
    """Builds a document with other keys than the minimal one; ``guards`` are (slice, drop) pairs."""

    def build(guards: Sequence[tuple[str, str]] = (), **keys: Any) -> Preregistration:
        value = {
            **parse_strict(MINIMAL.encode(), "doc.yaml").value,
            "guards": [{"measure": "R@10", "slice": name, "drop": Decimal(drop)} for name, drop in guards],
        }
        return from_mapping(value | keys, "doc.yaml")

    return build


@pytest.fixture
def compared() -> Callable[..., Comparison]:
    """Compares two systems of which one wins, loses and ties so many questions in each of nine conversations."""

    def build(
        wins: int, losses: int, ties: int, alpha: float = 0.05, *, clusters: int = 9, part: str = "all"
    ) -> Comparison:
        before = np.array([0.0] * wins + [1.0] * losses + [0.5] * ties)
        after = np.array([1.0] * wins + [0.0] * losses + [0.5] * ties)
        measure = parse_measure("R@10")
        names = [f"c{i}" for i in range(clusters) for _ in before]
        questions = tuple(f"{name}/q{i}" for i, name in enumerate(names))
        baseline, candidate = (
            Scores(questions, {measure: np.tile(values, clusters)}, {measure: {}}) for values in (before, after)
        )
        return compare(baseline, candidate, measure, clusters=names, alpha=alpha, rho=0.01, slice_name=part)

    return build
