"""LoCoMo's evidence ids: as published, as repaired, and golds that only an image supports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.benchmarks.build import Builder

_ID = re.compile(r"D([0-9]{1,9}):([0-9]{1,9})")
_MISSPELT = re.compile(r"D:([0-9]{1,9}):([0-9]{1,9})")
_WORD = re.compile(r"[a-z0-9]+")

# words that carry no content in a gold answer
_FUNCTION_WORDS = frozenset(
    ("a", "an", "the", "to", "and", "or", "of", "in", "on", "for", "with", "is", "are", "was", "were", "be",
     "by", "at", "as", "it", "this", "that", "we", "i")
)  # fmt: skip


def published_evidence(published: Sequence[str], positions: Mapping[str, int]) -> tuple[list[int], int]:
    """Evidence exactly as written: the positions of ids that exist, and how many distinct ids were written.

    An id that matches nothing, such as ``"D8:6; D9:17"``, can never be found and stays in the count.
    """
    distinct = list(dict.fromkeys(published))
    return [positions[entry] for entry in distinct if entry in positions], len(distinct)


def repaired_evidence(
    builder: Builder, record: str, published: Sequence[str], positions: Mapping[str, int], role: str
) -> list[int]:
    """Mend published ids and note what was done.

    Several ids in one string are split, padded numbers normalised, a misspelt id is mended if the turn that
    it means exists, and what still points to no turn is dropped; the question stays.

    Args:
        builder: takes the notes.
        record: question or item id, for the notes.
        published: ids as written.
        positions: turn id → corpus position.
        role: ``evidence`` or ``source``, for the notes.

    Returns:
        Distinct corpus positions in the order in which they were written.
    """
    found: list[int] = []
    for entry in published:
        parts = [part for part in re.split(r"[;,\s]+", entry) if part]
        if len(parts) > 1:
            builder.note(record, f"several {role} ids in one string", f"split {entry!r} into {len(parts)}")
        elif not parts:
            builder.note(record, f"stray {role} text", f"dropped {entry!r}")
        elif parts[0] != entry:
            builder.note(record, f"{role} id with blanks or separators around it", f"read {entry!r} as {parts[0]}")
        for part in parts:
            position = _mend(builder, record, part, positions, role)
            if position is None:
                continue
            if position in found:
                builder.note(record, f"{role} id twice", f"counted {part!r} once")
            else:
                found.append(position)
    return found


def _mend(builder: Builder, record: str, part: str, positions: Mapping[str, int], role: str) -> int | None:
    if part in positions:
        return positions[part]
    match = _ID.fullmatch(part) or _MISSPELT.fullmatch(part)
    if not match:
        builder.note(record, f"stray {role} text", f"dropped {part!r}")
        return None
    normal = f"D{int(match[1])}:{int(match[2])}"
    if normal not in positions:
        builder.note(record, f"dangling {role} id", f"dropped {part!r}: no such turn")
        return None
    fault = f"padded {role} id" if part.startswith(f"D{match[1]}") else f"misspelt {role} id"
    builder.note(record, fault, f"read {part!r} as {normal}")
    return positions[normal]


def image_dependent(answer: str, evidence: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a gold answer can be found in an image only.

    True when no content word of the answer stands in the text or speaker of any evidence turn, and at least
    one stands in a caption or in the query by which the image was found.
    """
    words = _content(answer)
    said = {word for turn in evidence for word in _content(f"{turn['speaker']} {turn['text']}")}
    shown = {word for turn in evidence for key in ("blip_caption", "query") for word in _content(turn.get(key) or "")}
    return not words & said and bool(words & shown)


def _content(text: str) -> set[str]:
    return set(_WORD.findall(text.lower())) - _FUNCTION_WORDS
