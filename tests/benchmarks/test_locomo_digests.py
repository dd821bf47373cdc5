from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo import import_locomo

Json = dict[str, Any]
AsFile = Callable[[Any], Path]
ImportValue = Callable[..., Benchmark]


def _turn(index: int, **change: str) -> Callable[[list[Json]], object]:
    return lambda value: value[0]["conversation"]["session_1"][index].update(change)


def _ask(index: int, **change: Any) -> Callable[[list[Json]], object]:
    return lambda value: value[0]["qa"][index].update(change)


MEANINGS: dict[str, tuple[Callable[[list[Json]], object], set[str]]] = {
    "a turn's text": (_turn(0, text="I planted roses."), {"corpus"}),
    "a trailing blank": (_turn(0, text="I planted forty tulip bulbs behind the shed. "), {"corpus"}),
    "a speaker": (_turn(1, speaker="Bo"), {"corpus", "edges"}),
    "a caption": (_turn(3, blip_caption="a red kayak on a river"), {"corpus"}),
    "a time": (
        lambda value: value[0]["conversation"].update(session_1_date_time="9:06 am on 3 March, 2021"),
        {"corpus"},
    ),
    "a fact's source": (
        lambda value: value[0]["observation"]["session_1_observation"]["Ada"][0].__setitem__(1, "D1:2"),
        {"corpus"},
    ),
    "a summary": (lambda value: value[0]["session_summary"].update(session_2_summary="Else."), {"corpus"}),
    "a question's text": (_ask(0, question="What did Ada plant?"), {"dev_questions"}),
    "a held-out question": (
        lambda value: value[1]["qa"][0].update(question="What was baked?"),
        {"heldout_questions"},
    ),
    "the order of questions": (
        lambda value: value[1]["qa"].reverse(),
        {"heldout_questions", "heldout_labels"},
    ),
    "a category": (_ask(0, category=4), {"dev_labels"}),
    "an answer": (_ask(0, answer="tulips"), {"dev_labels"}),
    "evidence": (_ask(0, evidence=["D1:1"]), {"dev_labels"}),
    "the order of evidence": (_ask(0, evidence=["D2:2", "D1:1"]), {"dev_labels"}),
    "a held-out answer": (lambda value: value[2]["qa"][1].update(answer="rye"), {"heldout_labels"}),
    "how the same evidence was written": (_ask(0, evidence=["D1:1; D2:2"]), {"dev_labels"}),
    "an abstention": (_ask(11, answer="Rust"), {"dev_labels"}),
    "a conversation's name": (
        lambda value: value[2].update(sample_id="conv-92"),
        {"corpus", "edges", "heldout_questions", "heldout_labels"},
    ),
}


@pytest.mark.parametrize("meaning", sorted(MEANINGS))
def test_any_change_of_meaning_changes_the_digest(
    tiny_value: list[Json], tiny: Benchmark, import_value: ImportValue, meaning: str
) -> None:
    """A change of meaning changes the digest of its own part, of no other part, and of the whole."""
    change, parts = MEANINGS[meaning]
    change(tiny_value)
    after = import_value(tiny_value).digests()
    before = tiny.digests()
    assert {name for name in before if before[name] != after[name]} == parts | {"digest"}


def test_the_split_is_part_of_the_digest(tiny_locomo: Path, tiny: Benchmark) -> None:
    """Another dev conversation is another benchmark, over the same corpus."""
    other = import_locomo(tiny_locomo, dev=("conv-90",), allow_unknown=True).digests()
    assert other["corpus"] == tiny.digests()["corpus"]
    assert other["digest"] != tiny.digests()["digest"]
