from __future__ import annotations

import pytest

from harness.benchmarks.build import Builder
from harness.benchmarks.locomo_evidence import image_dependent, published_evidence, repaired_evidence

POSITIONS = {"D1:1": 10, "D1:2": 11, "D11:26": 12, "D30:5": 13, "D100:1": 14}


@pytest.mark.parametrize(
    ("published", "repaired", "faults"),
    [
        (["D1:1"], [10], []),
        (["D1:2", "D1:1"], [11, 10], []),
        (["D1:1; D1:2"], [10, 11], ["several evidence ids in one string"]),
        (["D1:1;D1:2"], [10, 11], ["several evidence ids in one string"]),
        (["D1:1, D1:2"], [10, 11], ["several evidence ids in one string"]),
        (["D1:1 D1:2\tD30:5"], [10, 11, 13], ["several evidence ids in one string"]),
        (["D1:1\u00a0D1:2"], [10, 11], ["several evidence ids in one string"]),
        (["D1:1 "], [10], ["evidence id with blanks or separators around it"]),
        (["D1:1;"], [10], ["evidence id with blanks or separators around it"]),
        ([""], [], ["stray evidence text"]),
        ([" ; "], [], ["stray evidence text"]),
        (["D"], [], ["stray evidence text"]),
        (["d1:1"], [], ["stray evidence text"]),
        (
            ["session 1"],
            [],
            ["several evidence ids in one string", "stray evidence text", "stray evidence text"],
        ),
        (["D:11:26"], [12], ["misspelt evidence id"]),
        (["D:11:27"], [], ["dangling evidence id"]),
        (["D30:05"], [13], ["padded evidence id"]),
        (["D030:5"], [13], ["padded evidence id"]),
        (["D:030:05"], [13], ["misspelt evidence id"]),
        (["D10:19"], [], ["dangling evidence id"]),
        (["D1:11"], [], ["dangling evidence id"]),
        (["D1:1", "D1:1"], [10], ["evidence id twice"]),
        (["D30:5", "D30:05"], [13], ["padded evidence id", "evidence id twice"]),
        (["D10:19; D1:1"], [10], ["several evidence ids in one string", "dangling evidence id"]),
        (["D\u0661:1"], [], ["stray evidence text"]),
        (["D" + "1" * 5000 + ":1"], [], ["stray evidence text"]),
        ([], [], []),
    ],
)
def test_each_way_of_writing_ids_is_mended_and_noted(
    published: list[str], repaired: list[int], faults: list[str]
) -> None:
    """Repair finds the turns that were meant, in the order written, and notes whatever it did."""
    builder = Builder("b")
    assert repaired_evidence(builder, "c/q0", published, POSITIONS, "evidence") == repaired
    assert sorted(note.fault for note in builder.repairs) == sorted(faults)
    assert {note.record for note in builder.repairs} <= {"c/q0"}


@pytest.mark.parametrize(
    ("published", "found", "count"),
    [
        (["D1:1", "D1:2"], [10, 11], 2),
        (["D1:1; D1:2"], [], 1),
        (["D1:1", "D9:9"], [10], 2),
        (["D1:1", "D1:1"], [10], 1),
        (["D30:05", "D30:5"], [13], 2),
        (["D", "D"], [], 1),
        ([], [], 0),
    ],
)
def test_published_evidence_is_what_was_written(published: list[str], found: list[int], count: int) -> None:
    """As published, only ids that exist exactly are found, and every distinct one written counts."""
    assert published_evidence(published, POSITIONS) == (found, count)


@pytest.mark.parametrize(
    ("answer", "text", "speaker", "shown", "expected"),
    [
        ("a red kayak", "Look at this!", "Bo", {"blip_caption": "a photo of a kayak"}, True),
        ("a red kayak", "Look at this!", "Bo", {"query": "kayak lake"}, True),
        ("a red kayak", "My kayak!", "Bo", {"blip_caption": "a kayak"}, False),
        ("a red kayak", "Look!", "Bo", {}, False),
        ("a red kayak", "Look!", "Bo", {"blip_caption": "a photo of a dog"}, False),
        ("Bo", "Look!", "Bo", {"blip_caption": "bo on a lake"}, False),
        ("the one of it", "Look!", "Bo", {"blip_caption": "the lake of it"}, False),
        ("KAYAK", "Look!", "Bo", {"blip_caption": "Kayak"}, True),
        ("kayak", "Look!", "Bo", {"blip_caption": None}, False),
    ],
)
def test_a_gold_depends_on_an_image_when_only_the_image_has_its_words(
    answer: str, text: str, speaker: str, shown: dict[str, str], expected: bool
) -> None:
    """Content words of the answer must be in caption or query, and none in what was said or who said it."""
    assert image_dependent(answer, [{"speaker": speaker, "text": text, **shown}]) is expected


def test_one_turn_that_says_it_is_enough() -> None:
    """With several pieces of evidence the image is needed only if none of the turns has the words."""
    shown = {"speaker": "Bo", "text": "Look!", "blip_caption": "a kayak"}
    assert image_dependent("kayak", [shown, {"speaker": "Ada", "text": "Nice boat."}])
    assert not image_dependent("kayak", [shown, {"speaker": "Ada", "text": "Nice kayak."}])
    assert not image_dependent("kayak", [])
