"""A measure and its evidence convention, spelled once and the same everywhere: ``R(credit=source)@10``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from harness.errors import UsageProblem, did_you_mean

NAMES = ("Success", "AllSuccess", "R", "RR", "nDCG", "P", "AP", "ndcg_any")

ALIASES: Mapping[str, str] = MappingProxyType({"recall_any": "Success", "recall_all": "AllSuccess"})
"""LongMemEval's own names of measures that have a name here; its ``ndcg_any`` is another measure than ``nDCG``."""

CONVENTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "credit": ("raw", "source"),
        "evidence": ("repaired", "published", "overlay"),
        "empty": ("skip", "0", "1"),
        "adversarial": ("in", "out"),
    }
)
"""Every convention with its choices; the first is the default and is left out of the name."""

_SPELLING = re.compile(r"([A-Za-z_]+)(?:\(([^()]*)\))?@([1-9][0-9]{0,5})")


@dataclass(frozen=True, order=True)
class Measure:
    """An immutable value; its text is its canonical name. All measures lie in [0, 1] and higher is better.

    Attributes:
        name: one of `NAMES`, as in ir_measures (MacAvaney, Macdonald & Ounis 2022); ``AllSuccess`` is 1 where
            all evidence was found, ``ndcg_any`` LongMemEval's own (Wu et al. 2025).
        k: cut-off, in documents of the read model.
        credit: whether a distilled item earns nothing for the turns it was written from (``raw``) or does
            (``source``).
        evidence: ids as ``repaired`` by the importer, exactly as ``published``, or with an ``overlay``'s corrections.
        empty: a question without evidence is left out (``skip``), counts ``0`` or counts ``1``.
        adversarial: whether adversarial questions count.
    """

    name: str
    k: int
    credit: str = "raw"
    evidence: str = "repaired"
    empty: str = "skip"
    adversarial: str = "in"

    def __str__(self) -> str:
        given = [
            f"{key}={getattr(self, key)}" for key, allowed in CONVENTIONS.items() if getattr(self, key) != allowed[0]
        ]
        return f"{self.name}{'(' + ','.join(given) + ')' if given else ''}@{self.k}"

    def other_credit(self) -> Measure:
        """The same measure under the other credit rule."""
        return replace(self, credit="raw" if self.credit == "source" else "source")


def parse_measure(text: str, where: str = "") -> Measure:
    """Read a measure's name.

    Raises:
        UsageProblem: a misspelt measure or convention, with the nearest known one.
    """
    match = _SPELLING.fullmatch(text.strip())
    if not match:
        allowed = f"NAME@k with NAME one of {', '.join(NAMES)}, e.g. R@10 or R(credit=source)@10"
        raise UsageProblem(f"{text!r} is not a measure", where=where, allowed=allowed)
    name, conventions, k = match.groups()
    name = ALIASES.get(name, name)
    if name not in NAMES:
        same = next((known for known in NAMES if known.lower() == name.lower()), name)
        near = did_you_mean(same, NAMES)
        raise UsageProblem(f"no measure {name!r}", where=where, allowed=", ".join(NAMES), fix=near)
    chosen: dict[str, str] = {}
    for part in conventions.split(",") if conventions else []:
        key, _, value = (piece.strip().strip("'\"") for piece in part.partition("="))
        if key not in CONVENTIONS:
            hint = did_you_mean(key, CONVENTIONS)
            what = f"{text!r}: no convention {key!r}"
            raise UsageProblem(what, where=where, allowed=", ".join(CONVENTIONS), fix=hint)
        if value not in CONVENTIONS[key] or key in chosen:
            what = f"{text!r}: {key}={value}" + (" given twice" if key in chosen else "")
            raise UsageProblem(what, where=where, allowed=" or ".join(f"{key}={v}" for v in CONVENTIONS[key]))
        chosen[key] = value
    return Measure(name, int(k), **chosen)
