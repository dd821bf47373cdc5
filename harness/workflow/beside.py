"""Checks beside a verdict: other tests of the same differences, how alike conversations are, what would change it."""

from __future__ import annotations

from typing import Any

import numpy as np

from harness.errors import UsageProblem
from harness.evaluation.compare import Comparison
from harness.evaluation.measure import parse_measure
from harness.evaluation.statistics.clustering import measured_correlation, most_losses_unseen, without_each_cluster
from harness.evaluation.statistics.paired_tests import mcnemar_exact, mcnemar_mid_p, paired_t, sign_flip
from harness.ledger.state import Life
from harness.preregistration.document import from_canonical
from harness.preregistration.fragility import fragility
from harness.preregistration.rule import Verdict
from harness.workflow.judged_run import JudgedRun

_LIMIT = 0.05


def checks_beside(present: Life, run: JudgedRun) -> dict[str, Any]:
    """Every clause's checks, and what would change the verdict; none of it decides anything.

    Returns:
        ``clauses``: one mapping a clause, in document order; ``fragility``: as `Fragility.as_mapping`, or None where
        this installation does not know the versions.
    """
    assert present.lock is not None
    assert present.verdict is not None
    verdict = present.verdict.payload
    comparisons = [run.compare(parse_measure(row["measure"]), row["slice"]) for row in verdict["clauses"]]
    rows = [
        {"clause": f"{row['kind']} {row['measure']}, {row['slice']}", **beside(compared)}
        for row, compared in zip(verdict["clauses"], comparisons, strict=True)
    ]
    return {"clauses": rows, "fragility": _fragility(present, comparisons)}


def beside(compared: Comparison) -> dict[str, Any]:
    """The checks of one comparison, as plain values; None where a check has nothing to go on."""
    paired = compared.paired
    flip = sign_flip(paired.sums)
    clustered = len(paired.sizes) < paired.n
    correlation = measured_correlation(paired)
    planned = paired.design_effect(compared.rho)
    rest = without_each_cluster(paired) if clustered and len(paired.sizes) > 1 else np.zeros(0)
    names = sorted(set(compared.clusters))
    ends = [int(place(rest)) for place in (np.argmin, np.argmax)] if len(rest) else []
    return {
        "sign_flip": vars(flip) if flip else None,
        "mcnemar_exact": mcnemar_exact(paired.wins, paired.defeats),
        "mcnemar_mid_p": mcnemar_mid_p(paired.wins, paired.defeats),
        "paired_t": paired_t(paired),
        "correlation": correlation,
        "design_measured": None if correlation is None else paired.design_effect(max(0.0, correlation)),
        "design_planned": planned,
        "without": [{"cluster": names[end], "estimate": float(rest[end])} for end in ends],
        "unseen_losses": most_losses_unseen(paired.n / planned, _LIMIT) if not paired.defeats else None,
    }


def _fragility(present: Life, comparisons: list[Comparison]) -> dict[str, Any] | None:
    assert present.lock is not None
    assert present.verdict is not None
    recorded = present.verdict.payload
    try:
        document = from_canonical(present.lock.payload["document"])
    except UsageProblem:
        return None
    verdict = Verdict(recorded["state"], recorded["reason"], recorded["look"], recorded["alpha_k"], ())
    return fragility(document, comparisons, verdict).as_mapping()
