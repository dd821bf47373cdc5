from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import harness.benchmarks.data as data_package
from harness.benchmarks.data.synthetic_words import GRAMMAR

SHIPPED = Path(data_package.__file__).with_name("synthetic-1.json.gz")
SHARES = {"single-hop": 0.42, "temporal": 0.16, "multi-hop": 0.14, "open-domain": 0.05, "adversarial": 0.22}
LEAST = {
    "paraphrase": 113,  # a fifth of the questions
    "lexical": 200,
    "tie": 50,
    "two-years": 80,
    "causal": 30,
    "unanswerable": 110,
    "non-ascii": 10,
    "cjk": 2,
}

Conversation = dict[str, Any]


@pytest.fixture(scope="module")
def conversations() -> list[Conversation]:
    """The conversations of the shipped file."""
    data = json.loads(gzip.decompress(SHIPPED.read_bytes()))
    assert (data["name"], data["format"]) == ("synthetic", 1)
    found: list[Conversation] = data["conversations"]
    return found


def turns_of(conversation: Conversation) -> dict[str, dict[str, Any]]:
    """The turns of a conversation by id, each with the number of its session."""
    return {
        turn["id"]: {**turn, "session": session["number"]}
        for session in conversation["sessions"]
        for turn in session["turns"]
    }


def words(text: str) -> list[str]:
    """The lower-cased words of a text."""
    return re.findall(r"\w+", text.lower())


def bag(turn: dict[str, Any]) -> tuple[str, ...]:
    """A turn's speaker and words in sorted order: equal bags tie under any bag-of-words ranking."""
    return (turn["speaker"], *sorted(words(turn["text"])))


def tagged(conversation: Conversation, tag: str) -> list[dict[str, Any]]:
    """The questions of a conversation that carry ``tag``."""
    return [question for question in conversation["questions"] if tag in question["tags"]]


def test_sizes_are_within_the_stated_ranges(conversations: list[Conversation]) -> None:
    """Ten conversations hold the stated numbers of sessions, turns, facts and questions."""
    assert [part["id"] for part in conversations] == [f"syn-{number:02}" for number in range(1, 11)]
    for part in conversations:
        assert 6 <= len(part["sessions"]) <= 9
        assert 150 <= len(turns_of(part)) <= 260
        assert 40 <= len(part["distilled"]) <= 80
        assert len(part["summaries"]) == len(part["sessions"])
        assert 50 <= len(part["questions"]) <= 62
    counts = [len(part["questions"]) for part in conversations]
    assert sum(counts) == 566
    assert len(set(counts)) > 5


def test_turn_ids_and_times_follow_the_sessions(conversations: list[Conversation]) -> None:
    """Turn ids count within their session, session times rise, and only the two speakers speak."""
    for part in conversations:
        times = [datetime.fromisoformat(session["time"]) for session in part["sessions"]]
        assert times == sorted(set(times))
        for number, session in enumerate(part["sessions"], start=1):
            assert session["number"] == number
            ids = [turn["id"] for turn in session["turns"]]
            assert ids == [f"D{number}:{position}" for position in range(1, len(ids) + 1)]
            assert {turn["speaker"] for turn in session["turns"]} == set(part["speakers"])


def test_no_id_and_no_question_occurs_twice(conversations: list[Conversation]) -> None:
    """Turn ids, fact ids and question texts are unique within their conversation."""
    for part in conversations:
        for ids in (
            [turn["id"] for session in part["sessions"] for turn in session["turns"]],
            [fact["id"] for fact in part["distilled"]],
            [question["text"] for question in part["questions"]],
        ):
            assert len(ids) == len(set(ids))


def test_every_reference_exists(conversations: list[Conversation]) -> None:
    """Evidence, sources, causal ends and sessions all point at something in the same conversation."""
    for part in conversations:
        turns = turns_of(part)
        sessions = {session["number"] for session in part["sessions"]}
        assert {summary["session"] for summary in part["summaries"]} == sessions
        for fact in part["distilled"]:
            assert fact["sources"]
            assert {turns[source]["session"] for source in fact["sources"]} <= set(range(fact["session"] + 1))
        for question in part["questions"]:
            assert set(question["evidence"]) <= set(turns)
            assert len(set(question["evidence"])) == len(question["evidence"])
        for edge in part["causal"]:
            assert {edge["from"], edge["to"]} <= set(turns)
    assert any(len(fact["sources"]) > 1 for part in conversations for fact in part["distilled"])


def test_category_mix_is_near_the_intended_one(conversations: list[Conversation]) -> None:
    """Each category's share of the questions lies within two points of the intended share."""
    counts = Counter(question["category"] for part in conversations for question in part["questions"])
    assert set(counts) == set(SHARES)
    for category, share in SHARES.items():
        assert counts[category] / counts.total() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("tag", sorted(LEAST))
def test_planted_features_are_frequent_enough(conversations: list[Conversation], tag: str) -> None:
    """Each planted feature is carried by at least its stated number of questions."""
    assert sum(len(tagged(part, tag)) for part in conversations) >= LEAST[tag]


def test_paraphrased_questions_share_at_most_one_content_word(conversations: list[Conversation]) -> None:
    """A paraphrased question shares at most one word of meaning with its evidence, most share none."""
    shared = []
    for part in conversations:
        turns, names = turns_of(part), {word for name in part["speakers"] for word in words(name)}
        for question in tagged(part, "paraphrase"):
            told = {word for turn in question["evidence"] for word in words(turns[turn]["text"])}
            shared.append(len((told & set(words(question["text"]))) - GRAMMAR - names))
    assert max(shared) == 1
    assert shared.count(0) > len(shared) / 2


def test_lexical_questions_share_two_content_words(conversations: list[Conversation]) -> None:
    """A lexical question shares at least two words of meaning with its evidence."""
    for part in conversations:
        turns = turns_of(part)
        for question in tagged(part, "lexical"):
            told = {word for turn in question["evidence"] for word in words(turns[turn]["text"])}
            assert len((told & set(words(question["text"]))) - GRAMMAR) >= 2


def test_tie_questions_hit_equal_turns_of_other_sessions(conversations: list[Conversation]) -> None:
    """Each evidence turn of a tie question equals, as a bag of words, a turn of another session."""
    for part in conversations:
        turns = turns_of(part)
        assert tagged(part, "tie")
        for question in tagged(part, "tie"):
            for evidence in question["evidence"]:
                sessions = {turn["session"] for turn in turns.values() if bag(turn) == bag(turns[evidence])}
                assert len(sessions) > 1


def test_each_conversation_has_each_kind_of_tie(conversations: list[Conversation]) -> None:
    """Identical turns, reordered turns and identical distilled facts occur in every conversation."""
    for part in conversations:
        texts_by_bag: dict[tuple[str, ...], list[str]] = {}
        for turn in turns_of(part).values():
            texts_by_bag.setdefault(bag(turn), []).append(turn["text"])
        assert sum(len(texts) >= 6 for texts in texts_by_bag.values()) >= 2
        assert any(len(set(texts)) > 1 for texts in texts_by_bag.values())
        facts = Counter(fact["text"] for fact in part["distilled"])
        assert sum(count > 1 for count in facts.values()) >= 2


def test_distilled_facts_repeat_words_of_their_turns(conversations: list[Conversation]) -> None:
    """Most distilled facts share half of their words of meaning with their source turns."""
    near = []
    for part in conversations:
        turns = turns_of(part)
        for fact in part["distilled"]:
            said = {word for turn in fact["sources"] for word in words(turns[turn]["text"])}
            names = {word for name in part["speakers"] for word in words(name)}
            told = set(words(fact["text"])) - GRAMMAR - names
            near.append(len(told & said) >= len(told) / 2)
    assert sum(near) > 0.7 * len(near)


def test_causal_edges_cross_sessions_forwards(conversations: list[Conversation]) -> None:
    """A cause lies in an earlier session than its effect, and has a confidence between 0 and 1."""
    for part in conversations:
        turns = turns_of(part)
        assert len(part["causal"]) >= 4
        for edge in part["causal"]:
            assert edge["relation"] == "caused"
            assert 0 < edge["confidence"] < 1
            assert turns[edge["from"]]["session"] < turns[edge["to"]]["session"]


def test_causal_questions_rest_on_a_linked_pair(conversations: list[Conversation]) -> None:
    """A causal question is multi-hop and its two evidence turns are joined by a causal edge."""
    for part in conversations:
        edges = [[edge["from"], edge["to"]] for edge in part["causal"]]
        for question in tagged(part, "causal"):
            assert question["category"] == "multi-hop"
            assert question["evidence"] in edges


def test_two_years_have_events_and_questions_of_their_own(conversations: list[Conversation]) -> None:
    """Each conversation has questions on both years of a yearly event, with evidence in both years."""
    for part in conversations:
        years = {session["number"]: session["time"][:4] for session in part["sessions"]}
        turns = turns_of(part)
        single = [
            question for question in tagged(part, "two-years") if question["category"] in ("single-hop", "temporal")
        ]
        asked = Counter(years[turns[question["evidence"][0]]["session"]] for question in single)
        assert len(asked) == 2
        assert min(asked.values()) >= 2


def test_unanswerable_questions_are_the_adversarial_ones(conversations: list[Conversation]) -> None:
    """Adversarial questions alone lack an answer; ten of them tempt with no turn at all."""
    questions = [question for part in conversations for question in part["questions"]]
    for question in questions:
        adversarial = question["category"] == "adversarial"
        assert adversarial == (question["answer"] is None) == ("unanswerable" in question["tags"])
        assert question.get("unanswerable", False) is adversarial
    empty = [question for question in questions if not question["evidence"]]
    assert len(empty) == 10
    assert all(question["category"] == "adversarial" for question in empty)


def test_names_and_phrases_beyond_ascii_occur(conversations: list[Conversation]) -> None:
    """Accented words and two turns' CJK phrases are in the evidence of the questions tagged so."""
    for tag, pattern in (("non-ascii", "[éüöäèûß]"), ("cjk", "[\u4e00-\u9fff]{2,}")):
        for part in conversations:
            turns = turns_of(part)
            for question in tagged(part, tag):
                assert re.search(pattern, turns[question["evidence"][0]]["text"])
                assert re.search(pattern, question["text"])


def test_file_is_small_canonical_and_undated() -> None:
    """The shipped file is below 400 kB, without time and name in its header, and canonical inside."""
    shipped = SHIPPED.read_bytes()
    assert len(shipped) < 400_000
    assert shipped[3:8] == bytes(5)
    text = gzip.decompress(shipped).decode()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def test_script_reproduces_the_shipped_data(tmp_path: Path) -> None:
    """The script writes the same data, byte for byte before compression."""
    out = tmp_path / "again.json.gz"
    subprocess.run([sys.executable, "-m", "harness.benchmarks.data.write_synthetic", str(out)], check=True)
    assert gzip.decompress(out.read_bytes()) == gzip.decompress(SHIPPED.read_bytes())


def test_script_without_a_path_tells_its_usage() -> None:
    """Called without an output path, the script fails with its usage and no traceback."""
    command = [sys.executable, "-m", "harness.benchmarks.data.write_synthetic"]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode != 0
    assert result.stderr.strip() == "usage: python -m harness.benchmarks.data.write_synthetic OUT"
