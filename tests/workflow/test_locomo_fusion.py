"""Fusion, diversity and a composition of both on LoCoMo, from dev to verdicts that anyone can check."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

WORDS = ("--primary", "R(credit=source)@10", "--title", "t", "--hypothesis", "h", "--rationale", "r", "--author", "me")
RECIPE = """\
format: 1
stages:
  - {version: rrf, parameters: {k: 5, dense_weight: 0.5}}
  - {version: same-layer-mmr, parameters: {lambda_mult: 0.7}}
  - version: static-tiebreak
"""

# overrides of the dev run; what the lock refuses without a reason; the change that comes, and the guards, in points
WAYS: dict[str, tuple[tuple[str, ...], tuple[str, ...], float, dict[str, float]]] = {
    "rrf": (("retrieval.k=5", "retrieval.dense_weight=0.5"), (), 3.46, {"exact": 3.48}),
    "same-layer-mmr": (
        ("retrieval.lambda_mult=0.7",), ("redundancy",), -0.54, {"temporal": -1.00, "multi-hop": -0.22},
    ),
    "composed": (
        ("retrieval.recipe=v2.yaml",), ("redundancy",), 3.25, {"exact": 3.25, "temporal": 2.30, "multi-hop": 6.81},
    ),
}  # fmt: skip


@pytest.fixture
def lab(locomo_file: Path, desk: Any) -> Any:
    """A workspace with LoCoMo, and a recipe."""
    assert desk.run("init").code == 0
    assert desk.run("data", "import", "locomo", str(locomo_file)).code == 0
    (desk.root / "v2.yaml").write_text(RECIPE, encoding="utf-8")
    return desk


@pytest.mark.parametrize("version", WAYS)
def test_a_version_goes_the_whole_way(version: str, lab: Any) -> None:
    """The lock asks for what it must, the figures are those that were measured, and the verdict verifies."""
    overrides, asked, gain, guards = WAYS[version]
    assert lab.run("dev", "--retrieval-version", version, *overrides).code == 0
    assert lab.run("freeze", "latest", "--name", "it").code == 0
    assert lab.run("prereg", "new", "it", "--from", "experiments/it/frozen.yaml", *WORDS).code == 0
    checked = lab.run("prereg", "check", "it").out
    assert [line.split()[1] for line in checked.splitlines() if line.startswith("refused")] == [
        f"{one}:" for one in asked
    ]
    assert lab.run("prereg", "lock", "it").code == (2 if asked else 0)
    if asked:
        assert lab.run("prereg", "lock", "it", "--acknowledge", "to see what it says").code == 0
    assert lab.run("full", "it").code == 20
    verdict = lab.payload("verdict")
    found = {clause["slice"]: round(100 * clause["estimate"], 2) for clause in verdict["clauses"]}
    assert found == pytest.approx({"all": gain, **guards}, abs=0.011)
    code, status, reason = lab.verify("it")
    assert (code, status["decision"]) == (0, "PASS"), reason
