import time

import pytest

from harness.benchmarks.build import Builder
from harness.benchmarks.columns import Corpus
from harness.retrieval.template import TEMPLATES, bare, session_prefix, session_prefix_captions
from harness.retrieval.tokenizer import ascii_words_cjk_bigrams

AFTERNOON = 1683554160  # 2023-05-08 13:56 UTC


def corpus() -> Corpus:
    """Two turns a second apart, a turn without a time, one without a speaker, a fact and a summary."""
    builder = Builder("tiny")
    builder.begin_partition("p")
    builder.add_session([("D3:1", "Ann", "Hi!", "a cat"), ("D3:2", "Bo", "Hey.", "")], session=3, start=AFTERNOON)
    builder.add_chunk("D4:1", "When?", layer="raw", confidence=0.4, speaker="Ann")
    builder.add_chunk("D4:2", "Noted.", layer="raw", confidence=0.4, time=0, session=4)
    builder.add_item("o", "Ann says hi.", layer="distill", confidence=0.7, session=3, time=AFTERNOON)
    builder.add_item("s", "They met.", layer="summary", confidence=0.6, session=3, time=AFTERNOON)
    return builder.finish({}).corpus


@pytest.mark.parametrize(
    ("position", "prefixed", "plain"),
    [
        (0, "[session_3 2023-05-08 13:56] Ann: Hi!", "Ann: Hi!"),
        (1, "[session_3 2023-05-08 13:56] Bo: Hey.", "Bo: Hey."),
        (2, "Ann: When?", "Ann: When?"),
        (3, "[session_4 1970-01-01 00:00] Noted.", "Noted."),
        (4, "Ann says hi.", "Ann says hi."),
        (5, "They met.", "They met."),
    ],
)
def test_text_of_each_kind_of_chunk(position, prefixed, plain):
    """A turn with a time carries session and minute, anything else is bare, and captions are in neither."""
    assert session_prefix(corpus(), position) == prefixed
    assert bare(corpus(), position) == plain


def test_captions_follow_the_turn_under_their_own_name():
    """The caption of a shared image stands in brackets after its turn, and a chunk without one is as it was."""
    texts = [session_prefix_captions(corpus(), position) for position in range(6)]
    assert texts[0] == "[session_3 2023-05-08 13:56] Ann: Hi! [a cat]"
    assert texts[1:] == [session_prefix(corpus(), position) for position in range(1, 6)]
    assert ascii_words_cjk_bigrams(texts[0])[-3:] == ["ann", "hi", "cat"]


def test_the_clock_of_the_machine_does_not_matter(monkeypatch):
    """Times are written in UTC wherever the program runs."""
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert session_prefix(corpus(), 0).startswith("[session_3 2023-05-08 13:56]")
    finally:
        monkeypatch.undo()
        time.tzset()


def test_templates_are_found_by_versioned_name():
    """Templates stand under the names that versions record."""
    assert dict(TEMPLATES) == {
        "session-prefix/1": session_prefix, "bare/1": bare, "session-prefix-captions/1": session_prefix_captions,
    }  # fmt: skip


def test_locomo_turn_has_the_prefix_of_its_session(locomo):
    """The first turn of the first LoCoMo conversation starts with its session's number and minute."""
    assert session_prefix(locomo.corpus, 0).startswith("[session_1 2023-05-08 13:56] Caroline: ")
