"""Overlays: corrections to golds and evidence by question id, laid over a benchmark without editing its data.

An audit that finds wrong golds publishes an overlay; measures say whether they read it (``evidence=overlay``).
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.benchmarks.columns import Benchmark, Groups, Labels, Repair
from harness.benchmarks.source import need, read_json
from harness.errors import UsageProblem, did_you_mean

EXPECTED = 'an overlay: {"format": 1, "name": "…", "questions": {"conv-26/q0": {"evidence": ["D1:3"], "why": "…"}}}'
DISPUTED, CORRECTED = "gold_disputed", "evidence_corrected"


def apply_overlay(benchmark: Benchmark, path: Path) -> Benchmark:
    """Add a third evidence column and flags for what an overlay corrects; everything else stays as it was.

    A question's ``evidence`` (turn ids of its own conversation) replaces the repaired evidence under the
    convention ``evidence=overlay``; a question with another ``answer`` is flagged ``gold_disputed``. Both stand
    in the repair report.

    Raises:
        UsageProblem: not an overlay, or one that names a question or a turn that is not there.
    """
    value, raw = read_json(path, EXPECTED)
    where = str(path)
    if not isinstance(value, dict) or value.get("format") != 1:
        raise UsageProblem("this is not an overlay of format 1", where=where, allowed=EXPECTED)
    name = need(value.get("name"), str, where, "name")
    corrections = need(value.get("questions"), dict, where, "questions")
    places = {identifier: index for index, identifier in enumerate(benchmark.labels.ids)}
    chunks = {identifier: position for position, identifier in enumerate(benchmark.corpus.ids)}
    evidence = benchmark.labels.repaired.rows()
    flags = [set(own) for own in benchmark.labels.flags]
    repairs = list(benchmark.repairs)
    for identifier, correction in corrections.items():
        if identifier not in places:
            hint = did_you_mean(identifier, places)
            raise UsageProblem(f"no question {identifier!r}", where=where, allowed="ids such as conv-26/q0", fix=hint)
        index = places[identifier]
        partition = benchmark.partitions[benchmark.questions.partition[index]]
        found = _correction(correction, f"{where}: {identifier}", partition, chunks)
        if found is not None:
            evidence[index] = found
            flags[index].add(CORRECTED)
            repairs.append(Repair(identifier, "evidence corrected by an overlay", f"by {name}"))
        if "answer" in correction:
            flags[index].add(DISPUTED)
            repairs.append(Repair(identifier, "gold disputed by an overlay", f"by {name}"))
    labels = replace(
        benchmark.labels, flags=tuple(tuple(sorted(own)) for own in flags), overlay=Groups.of(evidence)
    )  # fmt: skip
    source = benchmark.source | {"overlay": {"name": name, "sha256": hashlib.sha256(raw).hexdigest()}}
    return replace(benchmark, labels=labels, source=source, repairs=tuple(repairs))


def _correction(correction: Any, where: str, partition: str, chunks: dict[str, int]) -> list[int] | None:
    """The corrected evidence as corpus positions, or None where the evidence stays."""
    need(correction, dict, where, "the correction")
    unknown = sorted(correction.keys() - {"evidence", "answer", "why"})
    if unknown:
        raise UsageProblem(f"unknown key {unknown[0]!r}", where=where, allowed="evidence, answer, why")
    if "evidence" not in correction:
        return None
    positions = []
    for turn in need(correction["evidence"], list, where, "evidence"):
        identifier = f"{partition}/{need(turn, str, where, 'an evidence id')}"
        if identifier not in chunks:
            raise UsageProblem(f"no turn {turn!r} in {partition}", where=where, allowed="ids such as D1:3")
        positions.append(chunks[identifier])
    return list(dict.fromkeys(positions))


def evidence_of(labels: Labels, convention: str) -> Groups:
    """The evidence column of a convention: ``repaired``, ``published`` or ``overlay``.

    Raises:
        UsageProblem: the benchmark was imported without an overlay.
    """
    if convention == "published":
        return labels.published
    if convention == "repaired":
        return labels.repaired
    if labels.overlay is None:
        fix = "import it under another --name with --overlay FILE"
        raise UsageProblem("evidence=overlay: the benchmark was imported without an overlay", fix=fix)
    return labels.overlay
