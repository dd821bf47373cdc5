"""Which LoCoMo a file is: the published one, the same in other bytes, or what it has that the published one has not.

Only digests that somebody can check are pinned here: those of the published file, and of what git or an editor makes
of it. Of forks no digest is pinned: they are told by what differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.benchmarks.source import canonical_sha256
from harness.errors import UsageProblem

ORIGINAL = "snap-research/locomo@3eb6f2c"

KNOWN_CANONICAL = {"93808652e5318eaf79a966a7aa3fe50f14eaee22fd0991f7212596600351dc05": ORIGINAL}

KNOWN_RAW = {
    "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4": ORIGINAL,
    "553cd5a15e25f2ceccc6ed185221eba645080c93e5b91087560a91aa5961f365": f"{ORIGINAL} (line ends of Windows)",
    "4f3a1958357aadca25e19c9af0c37c95fe6325b5f31ed983e36bdfa45e9ec4f8": f"{ORIGINAL} (one newline more at the end)",
}


class Part(NamedTuple):
    """One conversation of the original.

    Attributes:
        questions: how many it has.
        qa, rest: the beginning of the canonical SHA-256 of its questions, and of everything else in its record.
    """

    questions: int
    qa: str
    rest: str


PARTS: Mapping[str, Part] = {
    "conv-26": Part(199, "b14fb6bd10641bad", "954412d4f32ce042"),
    "conv-30": Part(105, "60670e3ee2389a25", "d2587006f6207f3c"),
    "conv-41": Part(193, "e2dc51ab35dfdb4a", "b2e4affbf3ebcd90"),
    "conv-42": Part(260, "54009090ac0ed0d4", "654857cadca85bf6"),
    "conv-43": Part(242, "802bc1086a25f501", "952462e8fec051ea"),
    "conv-44": Part(158, "3ceb37f151d1f7ef", "aee6a58fc1dde5a7"),
    "conv-47": Part(190, "bfc941d28e6679d8", "ad9ab257c588a487"),
    "conv-48": Part(239, "8a990a2f3ae51378", "341f86eef92e35c4"),
    "conv-49": Part(196, "5d84bd6236907111", "8c26e06746f987a8"),
    "conv-50": Part(204, "16ed8939bcf76495", "221c325701e46b9b"),
}


def variant(records: Sequence[Mapping[str, Any]], raw: bytes, where: str, *, allow_unknown: bool) -> dict[str, Any]:
    """What goes on record of a source file: its variant, digests, size and licence.

    Args:
        records: the file's conversations, which have been looked at already.
        raw: the file's bytes.
        where: the file, for messages.
        allow_unknown: accept a file whose content is not the original's.

    Raises:
        UsageProblem: an unknown variant, with what differs.
    """
    digest, canonical = hashlib.sha256(raw).hexdigest(), canonical_sha256(records)
    known = KNOWN_CANONICAL.get(canonical)
    if not known and not allow_unknown:
        raise UsageProblem(
            f"an unknown variant of LoCoMo (canonical sha256 {canonical[:12]}…): its figures would not compare with "
            f"published ones. Against the original: {difference(records)}",
            where=where,
            allowed=", ".join(f"{name} (canonical sha256 {key[:12]}…)" for key, name in KNOWN_CANONICAL.items()),
            fix="harness data fetch locomo downloads the original; --allow-unknown imports this one as it is",
        )
    return {
        "format": "locomo",
        "variant": KNOWN_RAW.get(digest, f"{known} (same content, other bytes)") if known else "unknown",
        "sha256": digest,
        "canonical_sha256": canonical,
        "bytes": len(raw),
        "license": "CC BY-NC 4.0" if known else "unknown",
    }


def difference(records: Sequence[Mapping[str, Any]]) -> str:
    """What a file has that the original has not, in words; never what a question or an answer says."""
    names = [str(record["sample_id"]) for record in records]
    questions, rest = [], []
    for name, record in zip(names, records, strict=True):
        part = PARTS.get(name)
        if part is None:
            continue
        if canonical_sha256(record["qa"])[: len(part.qa)] != part.qa:
            count = len(record["qa"])
            questions.append(name + (f" ({count} instead of {part.questions})" if count != part.questions else ""))
        if canonical_sha256({key: record[key] for key in record if key != "qa"})[: len(part.rest)] != part.rest:
            rest.append(name)
    missing, added = [name for name in PARTS if name not in names], [name for name in names if name not in PARTS]
    said = [
        ("no ", missing),
        ("added: ", added),
        ("other questions in ", questions),
        ("other turns, observations or summaries in ", rest),
    ]
    words = [begin + ", ".join(listed) for begin, listed in said if listed]
    return "; ".join(words) or "the same conversations in another order"
