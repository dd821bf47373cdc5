from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo import import_locomo
from harness.errors import UsageProblem

Json = dict[str, Any]
AsFile = Callable[[Any], Path]
ImportValue = Callable[..., Benchmark]

FAULTS = {
    "several evidence ids in one string": 3,
    "stray evidence text": 1,
    "misspelt evidence id": 1,
    "padded evidence id": 1,
    "dangling evidence id": 2,
    "evidence id twice": 1,
    "empty evidence": 1,
    "the answer is a number": 1,
    "adversarial question without an answer": 1,
    "adversarial question with both answers": 1,
    "exact duplicate question": 1,
    "same question in another category": 1,
    "session date without a session": 1,
    "gold rests on an image only": 1,
    "several source ids in one string": 1,
}


def faults(benchmark: Benchmark) -> Counter[str]:
    """How often each fault is in the repair report."""
    return Counter(repair.fault for repair in benchmark.repairs)


def chunk_ids(benchmark: Benchmark, positions: list[int]) -> list[str]:
    """Ids of corpus positions, without the first conversation's name."""
    return [benchmark.corpus.ids[position].removeprefix("conv-26/") for position in positions]


def test_every_fault_is_counted(tiny: Benchmark) -> None:
    """The repair report counts each planted fault exactly, and nothing else."""
    assert faults(tiny) == FAULTS


@pytest.mark.parametrize(
    ("question", "repaired", "published", "n_published"),
    [
        (0, ["D1:1", "D2:2"], ["D1:1", "D2:2"], 2),
        (1, ["D1:2", "D2:1"], [], 1),
        (2, ["D1:3", "D2:1", "D11:1"], [], 1),
        (3, ["D11:1", "D11:2"], [], 1),
        (4, ["D1:3"], ["D1:3"], 2),
        (5, ["D11:2"], [], 1),
        (6, ["D11:2"], [], 1),
        (7, ["D1:1"], ["D1:1"], 2),
        (8, ["D2:1"], ["D2:1"], 1),
        (9, [], [], 0),
        (16, [], [], 1),
    ],
)
def test_evidence_is_mended_and_kept_as_published(
    tiny: Benchmark, question: int, repaired: list[str], published: list[str], n_published: int
) -> None:
    """Mended evidence is what was meant; published evidence is what was written, and keeps its count."""
    labels = tiny.labels
    assert chunk_ids(tiny, labels.repaired.row(question)) == repaired
    assert chunk_ids(tiny, labels.published.row(question)) == published
    assert labels.n_published[question] == n_published


@pytest.mark.parametrize(
    ("question", "answer", "flags"),
    [
        (0, "tulip bulbs", ()),
        (10, "40", ()),
        (11, "", ("abstain",)),
        (12, "No", ("both_answers",)),
        (15, "a red kayak", ("image_dependent",)),
    ],
)
def test_answers_are_text_and_never_the_trap(
    tiny: Benchmark, question: int, answer: str, flags: tuple[str, ...]
) -> None:
    """A number is read as text, a missing answer means to abstain, and the adversarial one is no gold."""
    assert tiny.labels.answers[question] == answer
    assert tiny.labels.flags[question] == flags


def test_no_question_is_dropped(tiny: Benchmark) -> None:
    """Faulty and repeated questions all stay, under ordinal ids."""
    expected = [f"conv-26/q{n}" for n in range(17)]
    expected += [f"conv-{c}/q{n}" for c in (90, 91) for n in (0, 1)]
    assert list(tiny.questions.ids) == list(tiny.labels.ids) == expected
    assert tiny.questions.texts[4] == tiny.questions.texts[13]
    assert tiny.questions.ordinal.tolist() == list(range(21))


def test_every_repair_names_its_record(tiny: Benchmark) -> None:
    """Each line of the report names a question, a fact or a session date."""
    records = {*tiny.questions.ids, *tiny.corpus.ids, "conv-26/session_3"}
    assert {repair.record for repair in tiny.repairs} <= records
    assert all(repair.action for repair in tiny.repairs)


def test_the_duplicate_is_told_from_which_question(tiny: Benchmark) -> None:
    """A repeated question's line names the first one; another category is another fault."""
    by_record = {repair.record: repair for repair in tiny.repairs}
    assert by_record["conv-26/q13"].fault == "exact duplicate question"
    assert "conv-26/q4 " in by_record["conv-26/q13"].action
    assert by_record["conv-26/q14"].fault == "same question in another category"


def test_a_caption_that_the_turn_repeats_is_no_image_only_gold(
    tiny_value: list[Json], import_value: ImportValue
) -> None:
    """A gold that the turn itself says does not depend on the image."""
    tiny_value[0]["conversation"]["session_1"][3]["text"] = "Look at this kayak!"
    benchmark = import_value(tiny_value)
    assert benchmark.labels.flags[15] == ()


def test_chunks_stand_in_order_of_ingestion(tiny: Benchmark) -> None:
    """Raw turns in time order, then facts in session order, then summaries, conversation by conversation."""
    assert chunk_ids(tiny, list(range(16))) == [
        "D1:1", "D1:2", "D1:3", "D1:4", "D1:5", "D2:1", "D2:2", "D11:1", "D11:2",
        "S1/o0", "S1/o1", "S1/o2", "S2/o0", "S1/summary", "S2/summary", "S11/summary",
    ]  # fmt: skip
    assert tiny.corpus.ids[16:21] == (
        "conv-90/D1:1", "conv-90/D1:2", "conv-90/D1:3", "conv-90/S1/o0", "conv-90/S1/summary",
    )  # fmt: skip
    assert tiny.corpus.partition.tolist() == [0] * 16 + [1] * 5 + [2] * 5


def test_times_are_the_sessions_plus_a_second_a_turn(tiny: Benchmark) -> None:
    """Twelve o'clock is read rightly on both halves of the day, as UTC."""
    times = [np.datetime64(int(time), "s") for time in tiny.corpus.time]
    assert str(times[0]) == "2021-03-03T09:05:00"
    assert str(times[4]) == "2021-03-03T09:05:04"
    assert str(times[5]) == "2021-03-04T12:30:00"
    assert str(times[7]) == "2022-08-09T00:15:00"
    assert str(times[16]) == "2022-12-31T20:00:00"
    assert times[9] == times[0]
    assert times[15] == times[7]


def test_confidences_are_static_by_layer(tiny: Benchmark) -> None:
    """Raw turns have 0.4, facts 0.7, summaries 0.6; edges have the same by kind."""
    seen = set(zip(tiny.corpus.layer.tolist(), tiny.corpus.confidence.tolist(), strict=True))
    assert seen == {(0, 0.4), (1, 0.7), (2, 0.6)}
    edges = set(zip(tiny.edges.relation, tiny.edges.confidence.tolist(), strict=True))
    assert edges == {("followed_by", 0.4), ("distilled", 0.7), ("distilled", 0.6)}


def test_adjacency_comes_from_the_other_speaker(tiny: Benchmark) -> None:
    """The nearest earlier turn of the other speaker in the session leads to a turn; first turns have none."""
    ends = zip(tiny.edges.source.tolist(), tiny.edges.target.tolist(), strict=True)
    found = [tuple(chunk_ids(tiny, list(pair))) for pair in ends]
    assert found[:5] == [
        ("D1:2", "D1:3"), ("D1:2", "D1:4"), ("D1:4", "D1:5"), ("D2:1", "D2:2"), ("D11:1", "D11:2"),
    ]  # fmt: skip
    assert found[5:12] == [(name, name) for name in chunk_ids(tiny, list(range(9, 16)))]


def test_captions_stand_apart_from_texts(tiny: Benchmark) -> None:
    """A caption is a column of its own and no part of what was said."""
    assert tiny.corpus.captions[3] == "a photo of a red kayak on a lake"
    assert tiny.corpus.texts[3] == "Look at this!"
    assert sum(map(bool, tiny.corpus.captions)) == 1


def test_facts_name_their_turns(tiny: Benchmark) -> None:
    """A fact's sources are turns, also where several ids stood in one string or in a list."""
    sources = [chunk_ids(tiny, tiny.corpus.sources.row(place)) for place in (9, 10, 11)]
    assert sources == [["D1:1"], ["D1:1", "D1:2"], ["D1:3", "D1:4"]]
    assert all(not tiny.corpus.sources.row(place) for place in (*range(9), 13, 14, 15))


def test_a_fact_is_its_bare_text(tiny: Benchmark) -> None:
    """A fact has neither speaker nor prefix."""
    assert tiny.corpus.texts[9] == "Ada planted tulip bulbs behind the shed."
    assert tiny.corpus.speakers[9] == ""


def test_an_unknown_variant_needs_permission(tiny_locomo: Path, tiny: Benchmark) -> None:
    """A file of unknown content is refused unless allowed, and then named unknown."""
    with pytest.raises(UsageProblem, match="unknown variant") as caught:
        import_locomo(tiny_locomo)
    assert "harness data fetch locomo" in caught.value.fix
    assert "--allow-unknown" in caught.value.fix
    assert tiny.source["variant"] == "unknown"
    assert tiny.source["license"] == "unknown"


@pytest.mark.parametrize(
    ("dev", "message"),
    [
        (("conv-99",), "no dev conversation 'conv-99'"),
        (("conv-26", "Conv-90"), "no dev conversation 'Conv-90'"),
        (("conv-26", "conv-90", "conv-91"), "every conversation is for development"),
    ],
)
def test_an_impossible_split_is_refused(tiny_locomo: Path, dev: tuple[str, ...], message: str) -> None:
    """A dev conversation that is not there, or nothing held out, is a usage error."""
    with pytest.raises(UsageProblem, match=message) as caught:
        import_locomo(tiny_locomo, dev=dev, allow_unknown=True)
    assert str(tiny_locomo) in str(caught.value)


def test_import_is_repeatable(tiny_locomo: Path, tiny: Benchmark) -> None:
    """The same file gives the same digests and the same report again."""
    again = import_locomo(tiny_locomo, allow_unknown=True)
    assert again.digests() == tiny.digests()
    assert again.repairs == tiny.repairs


def test_bytes_that_mean_the_same_give_the_same_digests(
    tiny_value: list[Json], tiny: Benchmark, tmp_path: Path
) -> None:
    """A byte order mark, another indent, escapes and another order of an object's keys change no digest."""
    shuffled = [dict(reversed(item.items())) for item in tiny_value]
    path = tmp_path / "other.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(shuffled, indent=3, ensure_ascii=False).encode())
    assert import_locomo(path, allow_unknown=True).digests() == tiny.digests()
