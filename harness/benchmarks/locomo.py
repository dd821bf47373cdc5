"""Imports LoCoMo (Maharana et al. 2024): ten long conversations with questions and turn-level evidence."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from harness.benchmarks.build import CONFIDENCE_DISTILLED, CONFIDENCE_SUMMARY, Builder
from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo_evidence import image_dependent, published_evidence, repaired_evidence
from harness.benchmarks.locomo_records import EXPECTED, conversations, fact_parts, gold, sessions
from harness.benchmarks.locomo_variants import variant
from harness.benchmarks.source import need, read_json
from harness.errors import UsageProblem

# Several public harnesses swap these names; the numbers are the file's own.
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


def import_locomo(
    path: Path,
    *,
    name: str = "locomo",
    dev: Sequence[str] = ("conv-26",),
    allow_unknown: bool = False,
) -> Benchmark:
    """Read a LoCoMo file into columns, mending and reporting every known fault.

    Args:
        path: ``locomo10.json`` or a variant of it.
        name: the benchmark's name in this workspace.
        dev: conversations whose questions are for development; all others are held out.
        allow_unknown: accept a file whose content is none of the known variants.

    Raises:
        UsageProblem: not a LoCoMo file, an unknown variant, or a dev conversation that is not there.
    """
    value, raw = read_json(path, EXPECTED)
    records = conversations(value, str(path))
    source = variant(value, raw, str(path), allow_unknown=allow_unknown)
    builder = Builder(name)
    for record, conversation in records:
        _import_conversation(builder, record, conversation, conversation["sample_id"] in dev)
    missing = [name for name in dev if name not in builder.partitions]
    if missing:
        allowed = ", ".join(builder.partitions)
        raise UsageProblem(f"no dev conversation {missing[0]!r}", where=str(path), allowed=allowed, fix="--dev ID")
    if len(set(dev)) == len(builder.partitions):
        what = "every conversation is for development: nothing is held out"
        raise UsageProblem(what, where=str(path), allowed="at least one held-out conversation", fix="fewer --dev")
    return builder.finish(source)


def _import_conversation(builder: Builder, where: str, item: dict[str, Any], dev: bool) -> None:
    partition = item["sample_id"]
    builder.begin_partition(partition)
    parts = sessions(builder, where, item["conversation"], partition)
    turns: dict[str, dict[str, Any]] = {}
    for number, start, session_turns in parts:
        rows = []
        for turn in session_turns:
            if turn["dia_id"] in turns:
                raise UsageProblem(f"turn {turn['dia_id']!r} stands twice", where=where, fix="mend the file")
            turns[turn["dia_id"]] = turn
            chunk_id = f"{partition}/{turn['dia_id']}"
            rows.append((chunk_id, turn["speaker"], turn["text"], turn.get("blip_caption") or ""))
        builder.add_session(rows, session=number, start=start)
    positions = {turn: builder.positions[f"{partition}/{turn}"] for turn in turns}
    _distilled(builder, where, item, [(number, start) for number, start, _ in parts], positions)
    _questions(builder, where, item["qa"], dev=dev, turns=turns, positions=positions)


def _distilled(
    builder: Builder,
    where: str,
    item: dict[str, Any],
    sessions: list[tuple[int, int]],
    positions: dict[str, int],
) -> None:
    """Add observations, then summaries, each in session order."""
    partition = item["sample_id"]
    numbers = [number for number, _ in sessions]
    observations = need(item.get("observation", {}), dict, where, "observation")
    _note_left_out(builder, partition, observations, "observation", numbers)
    for number, start in sessions:
        count = 0
        session = observations.get(f"session_{number}_observation", {})
        for facts in need(session, dict, f"{where}: session_{number}_observation", "the observation").values():
            for fact in need(facts, list, f"{where}: session_{number}_observation", "the list of facts"):
                identifier = f"{partition}/S{number}/o{count}"
                text, published = fact_parts(fact, f"{where}: {identifier}")
                sources = repaired_evidence(builder, identifier, published, positions, "source")
                builder.add_item(
                    identifier, text, layer="distill", confidence=CONFIDENCE_DISTILLED, session=number,
                    time=start, sources=sources,
                )  # fmt: skip
                count += 1
    summaries = need(item.get("session_summary", {}), dict, where, "session_summary")
    _note_left_out(builder, partition, summaries, "summary", numbers)
    for number, start in sessions:
        record = f"session_{number}_summary"
        text = need(summaries.get(record) or "", str, f"{where}: {record}", "the summary")
        if text.strip():
            builder.add_item(
                f"{partition}/S{number}/summary", text, layer="summary", confidence=CONFIDENCE_SUMMARY,
                session=number, time=start,
            )  # fmt: skip


def _note_left_out(
    builder: Builder, partition: str, records: dict[str, Any], ending: str, numbers: Sequence[int]
) -> None:
    """Note what belongs to no session of the conversation and is therefore not imported."""
    for key in sorted(records.keys() - {f"session_{number}_{ending}" for number in numbers}):
        builder.note(f"{partition}/{key}", f"{ending} without a session", "ignored")


def _questions(
    builder: Builder,
    where: str,
    questions: list[Any],
    *,
    dev: bool,
    turns: dict[str, dict[str, Any]],
    positions: dict[str, int],
) -> None:
    partition = builder.partitions[-1]
    asked: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for index, question in enumerate(questions):
        identifier = f"{partition}/q{index}"
        record = f"{where}: question {index}"
        need(question, dict, record, "the question")
        text = need(question.get("question"), str, record, "question")
        category = CATEGORIES.get(need(question.get("category"), int, record, "category"))
        if category is None:
            allowed = ", ".join(f"{number} {name}" for number, name in CATEGORIES.items())
            raise UsageProblem(f"category {question['category']}", where=record, allowed=allowed)
        published = need(question.get("evidence"), list, record, "evidence")
        published = [need(entry, str, record, "an evidence id") for entry in published]
        answer, flags = _answer(builder, identifier, question, category, record)
        repaired = repaired_evidence(builder, identifier, published, positions, "evidence")
        if not published:
            builder.note(identifier, "empty evidence", "kept; scored by the measure's convention")
        if answer and image_dependent(answer, [turns[turn] for turn in turns if positions[turn] in repaired]):
            builder.note(identifier, "gold rests on an image only", "flagged image_dependent")
            flags.append("image_dependent")
        _note_repeats(builder, identifier, category, asked[text])
        matched, n_published = published_evidence(published, positions)
        builder.add_question(
            identifier, text, dev=dev, category=category, answer=answer, flags=flags, repaired=repaired,
            published=matched, n_published=n_published, cluster=partition,
        )  # fmt: skip


def _answer(
    builder: Builder, identifier: str, question: dict[str, Any], category: str, where: str
) -> tuple[str, list[str]]:
    """The gold answer as text ("" means: must abstain) and the question's flags."""
    answer = gold(question, where)
    if category == "adversarial":
        if answer is None:
            builder.note(identifier, "adversarial question without an answer", "gold is to abstain")
            return "", ["abstain"]
        if question.get("adversarial_answer") is None:
            builder.note(identifier, "adversarial question with a gold answer only", "kept the answer")
            return str(answer), []
        # the adversarial answer is the trap, never the gold
        builder.note(identifier, "adversarial question with both answers", "kept the answer; flagged both_answers")
        return str(answer), ["both_answers"]
    if answer is None:
        raise UsageProblem("a question without an answer", where=where, allowed="text or a number")
    if not isinstance(answer, str):
        builder.note(identifier, "the answer is a number", "read as text")
    return str(answer), []


def _note_repeats(builder: Builder, identifier: str, category: str, before: list[tuple[str, str]]) -> None:
    if before:
        same = category == before[0][1]
        fault = "exact duplicate question" if same else "same question in another category"
        builder.note(identifier, fault, f"kept apart from {before[0][0]} by its ordinal id")
    before.append((identifier, category))
