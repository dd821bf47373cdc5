"""A report as the workflow hands it over, with plain values only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.reporting import words

CLAUSE: dict[str, Any] = {
    "kind": "primary",
    "measure": "R@10",
    "slice": "all",
    "pass_above": 0.02,
    "rollback_below": 0.0,
    "n": 1785,
    "clusters": 9,
    "effective_clusters": 8.4,
    "testable": True,
    "baseline": 0.7412,
    "candidate": 0.8271,
    "estimate": 0.0859,
    "lower": 0.0611,
    "upper": 0.1107,
    "upper_rollback": 0.1159,
    "p_pass": 0.00002,
    "p_rollback": 0.99999,
    "wins": 190,
    "losses": 37,
    "ties": 1558,
    "mde": 0.0312,
}

UNTESTED = dict.fromkeys(("lower", "upper", "upper_rollback", "p_pass", "p_rollback", "mde"))

BESIDE: dict[str, Any] = {
    "clause": "primary R@10, all",
    "sign_flip": {"p": 0.00390625, "exact": True, "least": 0.00390625, "clusters": 9},
    "mcnemar_exact": 1e-9,
    "mcnemar_mid_p": 5e-10,
    "paired_t": 0.0312,
    "correlation": 0.0042,
    "design_measured": 1.87,
    "design_planned": 3.07,
    "without": [{"cluster": "conv-42", "estimate": 0.0801}, {"cluster": "conv-30", "estimate": 0.0888}],
    "unseen_losses": 0.0051,
}

FRAGILITY = {"flips": 23, "towards": "INCONCLUSIVE", "clause": "guard R@10 in temporal", "without": {"conv-42": "PASS"}}

PREDICTED: list[dict[str, Any]] = [
    {"by": "harness", "low": 0.022, "high": 0.122, "level": 0.8, "came": 0.0859, "inside": True,
     "pass": 0.79, "rollback": 0.0, "inconclusive": 0.21, "brier": 0.09},
    {"by": "authors", "low": 0.01, "high": 0.08, "level": None, "came": 0.0859, "inside": False},
]  # fmt: skip

EMPTY: dict[str, Any] = {
    "beside": None,
    "predicted": [],
    "clauses": [],
    "credits": [],
    "slices": [],
    "measures": [],
    "exclusions": [],
    "budgets": [],
}


@pytest.fixture
def clause() -> Callable[..., dict[str, Any]]:
    """A clause of a verdict, with other values where they are given."""
    return lambda **changes: CLAUSE | changes


@pytest.fixture
def report(clause: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
    """A report in one of the four states, with other values where they are given."""

    def build(state: str = "PASS", **changes: Any) -> dict[str, Any]:
        guard = clause(kind="guard", slice="temporal", pass_above=-0.03, rollback_below=-0.03, n=284)
        row = {key: CLAUSE[key] for key in ("measure", "slice", "n", "clusters", "baseline", "candidate", "estimate")}
        row |= {key: CLAUSE[key] for key in ("lower", "upper", "wins", "losses", "ties")} | {"p_holm": 0.031}
        cell = {"baseline": 0.7, "candidate": 0.8, "n": 1785}
        budget = {"unit": "chunks", "documents": 10.0, "chunks": 9.5, "tokens": 312.0, "layer_words": "raw 100.0 %"}
        value: dict[str, Any] = {
            "id": "raw-only",
            "title": "Raw turns alone",
            "state": state,
            "sentence": "Every primary cleared its threshold and no guard fell.",
            "consequence": words.consequence(state),
            "straw": None,
            "unequal": None,
            "estimate_rule": None,
            "clauses": [
                {
                    **each,
                    "promise": words.promise(each),
                    "outcome": words.outcome(each),
                    "standing": words.standing(each),
                    "flip_words": words.flip_words(each),
                }
                for each in (clause(), guard, clause(slice="conversation:conv-30", **UNTESTED))
            ],
            "look": 1,
            "alpha_k": 0.0304,
            "alpha": 0.05,
            "rho_plan": 0.01,
            "exposed": False,
            "beside": {"clauses": [BESIDE], "fragility": FRAGILITY},
            "predicted": PREDICTED,
            "credits": [row | {"registered": True}, row | {"measure": "R(credit=source)@10", "registered": False}],
            "slice_measure": "R@10",
            "slices": [row, row | {"slice": "conversation:conv-30", "lower": None, "upper": None}],
            "measures": [{"measure": "R@10", "cells": [cell, cell, {"baseline": None, "candidate": None, "n": 0}]}],
            "exclusions": [{"n": 2, "measures": "every measure", "questions": "conv-50/q1, conv-50/q2"}],
            "cost": "Both systems give the reader the same amount of text.",
            "budgets": [budget | {"role": role, "empty": 0} for role in ("baseline", "candidate")],
            "hypothesis": "Distilled items crowd out turns.",
            "rationale": "Two points are worth it.",
            "authors": ["Ada", "Bo"],
            "baseline": {"words": "bm25 (k1=1.2)", "because": "the shipped default"},
            "candidate": {"words": 'bm25 (layers=["raw"])', "trials": 3},
            "expect": {"low": 0.01, "high": 0.08},
            "outside_looks": ["a published figure"],
            "acknowledged": [],
            "reproduce": ["git checkout abc", "harness verify raw-only"],
            "record": [("document digest", "sha256:" + "0" * 64)],
            "evidence_tier": "Evidence tier: self.",
        }
        return value | (EMPTY if state == "INADMISSIBLE" else {}) | changes

    return build
