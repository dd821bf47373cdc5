"""The versions that can be selected. A new version is a file in `versions/` and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from harness.errors import UsageProblem, did_you_mean
from harness.retrieval.version import Configured, Version, configure
from harness.retrieval.versions import (
    bm25,
    bm25_edges,
    composed,
    external,
    rrf,
    same_layer_mmr,
    static_tiebreak,
    static_tiebreak_edges,
)

_MODULES = (
    bm25, bm25_edges, static_tiebreak, static_tiebreak_edges, rrf, same_layer_mmr, composed, external,
)  # fmt: skip

VERSIONS: Mapping[str, Version] = MappingProxyType({module.VERSION.name: module.VERSION for module in _MODULES})

DEFAULT = "bm25"
"""What is in force on a benchmark on which nothing has passed yet: `bm25` over raw and distilled chunks."""


def find(name: str, where: str = "") -> Version:
    """The version called ``name``.

    Raises:
        UsageProblem: there is no such version; the nearest one is named.
    """
    if name not in VERSIONS:
        hint = did_you_mean(name, VERSIONS)
        what = f"no retrieval version {name!r}"
        raise UsageProblem(what, where=where, allowed=", ".join(VERSIONS), fix=hint or "harness versions lists them")
    return VERSIONS[name]


def select(name: str, parameters: Mapping[str, Any] | None = None, where: str = "") -> Configured:
    """The version called ``name`` with its parameters chosen.

    Raises:
        UsageProblem: no such version or parameter (with the nearest one), or a value out of range.
    """
    return configure(find(name, where), parameters or {}, where)
