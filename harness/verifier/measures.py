"""Measures: their names, and the value of one question.

A measure is read from its canonical name, such as ``R@10`` or ``nDCG(credit=source,empty=0)@5``, and
computed from a ranking of integer documents, the chunks that each document yields, and the question's
evidence.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .reading import DamageError, show

_NAME = re.compile(r"(Success|AllSuccess|R|RR|nDCG|P|AP|ndcg_any)(?:\(([a-z0-9=,]+)\))?@([1-9][0-9]{0,5})")
_OPTIONS = {
    "credit": ("raw", "source"),
    "evidence": ("repaired", "published", "overlay"),
    "empty": ("skip", "0", "1"),
    "adversarial": ("in", "out"),
}
"""The options in the order of a canonical name; the first value of each is the default, never spelled."""


class Measure(NamedTuple):
    """A parsed measure: what is counted, to which rank, under which conventions."""

    kind: str
    k: int
    credit: str
    evidence: str
    empty: str
    adversarial: str


class Document(NamedTuple):
    """The corpus chunks that a retrieved document yields, as they are and traced back to raw chunks."""

    chunks: Sequence[int]
    sources: Sequence[int]


class Evidence(NamedTuple):
    """What answers one question.

    Attributes:
        category: The question's category.
        flags: Further properties by which questions are sliced.
        repaired: Corpus positions after repair of the published labels.
        published: Corpus positions of the published labels that exist.
        n_published: Published labels, with those that point nowhere.
        overlay: Corpus positions with an overlay's corrections, None where none was laid over.
    """

    category: str
    flags: frozenset[str]
    repaired: frozenset[int]
    published: frozenset[int]
    n_published: int
    overlay: frozenset[int] | None = None


def parse_measure(name: str) -> Measure:
    """Parse a canonical measure name.

    Raises:
        DamageError: If the name is unknown or not canonical: two spellings of one measure would let one
            experiment read two columns for the same thing.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        raise DamageError(f"measure {show(name)}: not of the form NAME[(key=value,...)]@k")
    kind, written, k = match.groups()
    chosen = {key: values[0] for key, values in _OPTIONS.items()}
    for pair in written.split(",") if written else ():
        key, _, value = pair.partition("=")
        if value not in _OPTIONS.get(key, ()):
            raise DamageError(f"measure {show(name)}: unknown option {show(pair)}")
        chosen[key] = value
    spelled = ",".join(f"{key}={chosen[key]}" for key, values in _OPTIONS.items() if chosen[key] != values[0])
    if spelled != (written or ""):
        raise DamageError(f"measure {show(name)}: not canonical, the options would be spelled {show(spelled)}")
    return Measure(kind, int(k), chosen["credit"], chosen["evidence"], chosen["empty"], chosen["adversarial"])


def question_score(
    measure: Measure, ranking: Sequence[int], documents: Mapping[int, Document], evidence: Evidence
) -> float | None:
    """Score one question; higher is better, in [0, 1]; None where the measure leaves the question out.

    Args:
        measure: The measure.
        ranking: Documents, best first, without repeats.
        documents: What each of them yields.
        evidence: The question's evidence.
    """
    if measure.adversarial == "out" and evidence.category == "adversarial":
        return None
    wanted, size = evidence.repaired, len(evidence.repaired)
    if measure.evidence == "published":
        wanted, size = evidence.published, evidence.n_published
    if measure.evidence == "overlay":
        if evidence.overlay is None:
            raise DamageError("a measure reads evidence=overlay, and the evidence has no overlay")
        wanted, size = evidence.overlay, len(evidence.overlay)
    if size == 0:
        return None if measure.empty == "skip" else float(measure.empty)
    found = _findings(measure, ranking, documents, wanted)
    if measure.kind == "Success":
        return 1.0 if found else 0.0
    if measure.kind == "AllSuccess":
        return 1.0 if sum(found.values()) == size else 0.0
    if measure.kind == "R":
        return sum(found.values()) / size
    if measure.kind == "RR":
        return 1.0 / min(found) if found else 0.0
    if measure.kind == "P":
        return len(found) / measure.k
    if measure.kind == "AP":
        return math.fsum(nth / rank for nth, rank in enumerate(sorted(found), start=1)) / size
    # binary gain per document: a document that finds two pieces at once gains as much as one that finds one
    ideal = math.fsum(_discount(measure.kind, rank) for rank in range(1, min(size, measure.k) + 1))
    return math.fsum(_discount(measure.kind, rank) for rank in found) / ideal


def _discount(kind: str, rank: int) -> float:
    """The weight of a rank in discounted cumulative gain (Jarvelin & Kekalainen 2002, base 2).

    LongMemEval's own, ``ndcg_any``, gives the first two ranks the same.
    """
    return 1.0 / math.log2(max(rank, 2) if kind == "ndcg_any" else rank + 1)


def _findings(
    measure: Measure, ranking: Sequence[int], documents: Mapping[int, Document], wanted: frozenset[int]
) -> dict[int, int]:
    """Rank of each document within k that finds wanted chunks not found before it, and how many it finds."""
    seen: set[int] = set()
    found: dict[int, int] = {}
    for rank, name in enumerate(ranking[: measure.k], start=1):
        document = documents[name]
        credited = document.sources if measure.credit == "source" else document.chunks
        fresh = wanted.intersection(credited) - seen
        if fresh:
            found[rank] = len(fresh)
            seen |= fresh
    return found
