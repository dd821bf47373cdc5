"""Documents, manifests and comparisons to judge, small enough to be read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from harness.evaluation.compare import Comparison, compare
from harness.evaluation.measure import parse_measure
from harness.evaluation.reach import POOL, Reach
from harness.evaluation.scores import Scores
from harness.evaluation.statistics.looks import alpha_of_look
from harness.preregistration.document import Preregistration, from_mapping
from harness.preregistration.evidence import Evidence, Rehearsal
from harness.retrieval.registry import select
from harness.strict_yaml import parse_strict

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

DIGEST = "sha256:" + "1" * 64
NOW = {"baseline": "sha256:" + "3" * 64, "candidate": "sha256:" + "4" * 64}

# sizes of the nine held-out conversations of LoCoMo: everything, and the temporal questions
CONVERSATIONS = [f"conv-{number}" for number in (30, 41, 42, 43, 44, 47, 48, 49, 50)]
EVERYTHING = (105, 193, 260, 242, 158, 190, 239, 196, 204)
TEMPORAL = (26, 27, 40, 26, 24, 34, 42, 33, 32)
MULTI_HOP = (11, 31, 37, 31, 30, 20, 21, 37, 32)
EXACT_ONES = (13, 54, 66, 90, 39, 80, 82, 43, 65)


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


def cells(sizes: tuple[int, ...]) -> dict[str, list[int]]:
    """The same number of questions under each convention."""
    return {name: [size] * 4 for name, size in zip(CONVERSATIONS, sizes, strict=False) if size}


@pytest.fixture
def manifest() -> dict[str, Any]:
    """A manifest with the slice sizes of LoCoMo's held-out part, and two slices that cannot be tested."""
    heldout = {
        "all": cells(EVERYTHING),
        "temporal": cells(TEMPORAL),
        "multi-hop": cells(MULTI_HOP),
        "exact": cells(EXACT_ONES),
        "adversarial": cells((30, 30, 50, 50, 40, 40, 60, 50, 49)),
        "open-domain": {name: [9, 8, 7, 6] for name in CONVERSATIONS},
        "concentrated": cells((100, 1, 1, 1, 1, 1, 1, 1, 1)),
        "image_dependent": cells((9, 9, 9)),
    }
    answerable = {name: cells for name, cells in heldout.items() if name != "adversarial"}
    answerable["all"] = {
        name: [count - out for count, out in zip(counts, heldout["adversarial"][name], strict=True)]
        for name, counts in heldout["all"].items()
    }
    slices = {"slices": {"heldout": heldout, "dev": {}}, "slices_answerable": {"heldout": answerable, "dev": {}}}
    return {"digests": {"digest": DIGEST}} | slices


@pytest.fixture
def evidence(manifest: dict[str, Any]) -> Evidence:
    """Everything as it should be before the first look of the minimal document."""
    candidate = select("bm25", {"layers": ["raw"]}).identity()
    return Evidence(
        manifest=manifest,
        look=1,
        alpha_k=alpha_of_look(0.05, 1),
        in_force=select("bm25").identity(),
        fingerprints=NOW,
        frozen={
            **candidate,
            "benchmark": {"name": "locomo", "digest": DIGEST},
            "fingerprint": NOW["candidate"],
            "measures": {"R@10": 0.5, "nDCG@10": 0.4},
        },
    )


@pytest.fixture
def rehearsed(evidence: Evidence) -> Callable[..., Evidence]:
    """Evidence with dev results: so many of 200 questions of one conversation won and lost under every clause alike.

    A fifth of the questions is temporal, and wins and losses are spread over all of them.
    """

    def build(
        document: Preregistration, wins: int = 20, losses: int = 0, *, baseline: float = 0.5, reach: float = 0.4,
        lever: str = POOL, n: int = 200,
    ) -> Evidence:  # fmt: skip
        deltas = np.zeros(n)
        places = np.linspace(0, n - 1, wins + losses).astype(int) if wins + losses else np.zeros(0, dtype=int)
        deltas[places] = [1.0] * wins + [-1.0] * losses
        temporal = np.arange(n) % 5 == 0
        columns = range(len(document.clauses))
        members = [temporal if clause.slice == "temporal" else np.ones(n, dtype=bool) for clause in document.clauses]
        found = Rehearsal(
            deltas=np.column_stack([deltas for _ in columns]),
            members=np.column_stack(members),
            clusters=("conv-26",) * n,
            categories=tuple("temporal" if is_temporal else "multi-hop" for is_temporal in temporal),
            flags=((),) * n,
            baseline=tuple(baseline for _ in columns),
            moved=n,
            reach=tuple(Reach(lever, 1000, baseline, baseline + reach, n, round(reach * n)) for _ in columns),
        )
        return dataclasses.replace(evidence, rehearsal=found)

    return build
