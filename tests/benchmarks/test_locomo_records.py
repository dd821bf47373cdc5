from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.locomo import import_locomo
from harness.errors import UsageProblem

Json = dict[str, Any]
AsFile = Callable[[Any], Path]
ImportValue = Callable[..., Benchmark]
Change = Callable[[list[Json]], object]


def session(name: str = "session_1") -> Callable[[list[Json]], list[Json]]:
    """Picks a session of the first conversation."""
    return lambda value: value[0]["conversation"][name]


def turn(**change: Any) -> Change:
    """Changes the third turn of the first session."""
    return lambda value: session()(value)[2].update(change)


def ask(**change: Any) -> Change:
    """Changes the first question."""
    return lambda value: value[0]["qa"][0].update(change)


def top(**change: Any) -> Change:
    """Changes the first record."""
    return lambda value: value[0].update(change)


def talk(**change: Any) -> Change:
    """Changes the first conversation."""
    return lambda value: value[0]["conversation"].update(change)


def facts(value: Any) -> Change:
    """Puts other facts into the first session's observation."""
    return lambda whole: whole[0]["observation"]["session_1_observation"].update(Ada=value)


# what is changed → the record that the message names, and what it says
REFUSED: dict[str, tuple[Change, str, str]] = {
    "record is text": (lambda value: value.append("x"), "record 3", "the record is str"),
    "no sample_id": (lambda value: value[1].pop("sample_id"), "record 1", "sample_id is nothing"),
    "sample_id a number": (top(sample_id=26), "record 0", "sample_id is int"),
    "sample_id blank": (top(sample_id=""), "record 0", "sample_id is ''"),
    "sample_id with a slash": (top(sample_id="a/b"), "record 0", "sample_id is 'a/b'"),
    "conversation twice": (
        lambda value: value[2].update(sample_id="conv-90"), "record 2", "'conv-90' stands twice",
    ),
    "qa an object": (top(qa={}), "conv-26", "qa is dict"),
    "conversation a list": (
        lambda value: value[1].update(conversation=[]), "conv-90", "conversation is list",
    ),
    "no session": (lambda value: value[1].update(conversation={}), "conv-90", "no session"),
    "session null": (talk(session_1=None), "conv-26: session_1", "the session is nothing"),
    "session 0": (talk(session_0=[]), "conv-26: session_0", "session number 0"),
    "padded session": (talk(session_01=[]), "conv-26: session_01", "session number 01"),
    "turn a list": (
        lambda value: value[0]["conversation"]["session_1"].append([]), "session_1[5]", "the turn is list",
    ),
    "turn without id": (lambda value: session()(value)[0].pop("dia_id"), "session_1[0]", "dia_id is nothing"),
    "turn id with a blank": (turn(dia_id="D1: 3"), "session_1[2]", "dia_id is 'D1: 3'"),
    "turn id twice": (turn(dia_id="D1:1"), "conv-26", "'D1:1' stands twice"),
    "turn id twice in other sessions": (turn(dia_id="D2:1"), "conv-26", "'D2:1' stands twice"),
    "speaker null": (turn(speaker=None), "session_1[2]", "speaker is nothing"),
    "text a number": (turn(text=7), "session_1[2]", "text is int"),
    "caption a list": (turn(blip_caption=["a"]), "session_1[2]", "blip_caption is list"),
    "query an object": (turn(query={"a": 1}), "session_1[2]", "query is dict"),
    "no date": (lambda value: value[0]["conversation"].pop("session_1_date_time"), "session_1", "is nothing"),
    "date of another kind": (talk(session_1_date_time="2021-03-03 09:05"), "session_1", "a time of"),
    "date in another language": (
        talk(session_1_date_time="9:05 am on 3 März, 2021"), "session_1", "a time of",
    ),
    "hour 13 pm": (talk(session_1_date_time="13:05 pm on 3 March, 2021"), "session_1", "a time of"),
    "hour 0": (talk(session_1_date_time="0:05 am on 3 March, 2021"), "session_1", "a time of"),
    "minute 60": (talk(session_1_date_time="9:60 am on 3 March, 2021"), "session_1", "a time of"),
    "no such day": (talk(session_1_date_time="9:05 am on 29 February, 2021"), "session_1", "a time of"),
    "observation a list": (top(observation=[]), "conv-26", "observation is list"),
    "observation of a session a list": (
        top(observation={"session_1_observation": []}), "session_1_observation", "the observation is list",
    ),
    "facts an object": (facts({}), "session_1_observation", "the list of facts is dict"),
    "fact without a source": (facts([["Ada gardens."]]), "conv-26/S1/o0", "not a fact"),
    "fact a number": (facts([[7, "D1:1"]]), "conv-26/S1/o0", "not a fact"),
    "source a number": (facts([["Ada gardens.", "D1:1"], ["Ada digs.", 7]]), "conv-26/S1/o1", "not a fact"),
    "sources with null": (facts([["Ada gardens.", ["D1:1", None]]]), "conv-26/S1/o0", "not a fact"),
    "summary a list": (
        top(session_summary={"session_2_summary": ["a"]}), "session_2_summary", "the summary is list",
    ),
    "question text": (lambda value: value[0]["qa"].insert(4, "q"), "question 4", "the question is str"),
    "question without text": (ask(question=None), "question 0", "question is nothing"),
    "no category": (ask(category=None), "question 0", "category is nothing"),
    "category in words": (ask(category="temporal"), "question 0", "category is str"),
    "category true": (ask(category=True), "question 0", "category is bool"),
    "category 6": (ask(category=6), "question 0", "category 6"),
    "category 0": (ask(category=0), "question 0", "category 0"),
    "no evidence": (lambda value: value[0]["qa"][0].pop("evidence"), "question 0", "evidence is nothing"),
    "evidence a text": (ask(evidence="D1:1"), "question 0", "evidence is str"),
    "evidence of numbers": (ask(evidence=["D1:1", 3]), "question 0", "an evidence id is int"),
    "no answer": (lambda value: value[0]["qa"][0].pop("answer"), "question 0", "without an answer"),
    "answer blank": (ask(answer="  "), "question 0", "the answer is blank"),
    "answer a list": (ask(answer=["tulips"]), "question 0", "the answer is list"),
    "answer true": (ask(answer=True), "question 0", "the answer is bool"),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(REFUSED))
def test_a_record_of_another_shape_is_refused_by_name(
    tiny_value: list[Json], import_value: ImportValue, case: str
) -> None:
    """A record with a wrong type or value is a usage error that names the record and what was found."""
    change, record, message = REFUSED[case]
    change(tiny_value)
    with pytest.raises(UsageProblem, match=re.escape(message)) as caught:
        import_value(tiny_value)
    assert record in caught.value.where
    assert "value.json" in caught.value.where
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "value",
    [[], {}, "text", 7, None, [1, 2], [[]], [{}], [{"qa": []}], [None], {"qa": [], "conversation": {}}],
    ids=repr,
)
def test_other_json_is_no_locomo_file(import_value: ImportValue, value: Any) -> None:
    """JSON that is something else is refused, with what would have been accepted."""
    with pytest.raises(UsageProblem, match="not a LoCoMo file") as caught:
        import_value(value)
    assert "sample_id" in caught.value.allowed
    assert "locomo10.json" in caught.value.fix


@pytest.mark.parametrize("wrap", [lambda record: [record], lambda record: record], ids=["list", "record"])
def test_a_longmemeval_file_is_recognised(import_value: ImportValue, wrap: Callable[[Json], Any]) -> None:
    """A LongMemEval file, or a single record of one, is called by its name."""
    record = {
        "question_id": "7a1_abs",
        "question_type": "single-session-user",
        "question": "Which oar did I buy?",
        "answer": "none",
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_session_ids": ["answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "Hello.", "has_answer": False}]],
        "answer_session_ids": ["answer_1"],
    }
    with pytest.raises(UsageProblem, match="LongMemEval file"):
        import_value(wrap(record))


def test_a_real_longmemeval_file_is_recognised(shared_data: Path) -> None:
    """The real LongMemEval sample is called by its name and not read as LoCoMo."""
    path = shared_data / "longmemeval" / "sample_oracle_2.json"
    if not path.is_file():
        pytest.skip("no file ../shared/data/longmemeval/sample_oracle_2.json")
    with pytest.raises(UsageProblem, match="LongMemEval file") as caught:
        import_locomo(path, allow_unknown=True)
    assert str(path) in caught.value.where


def test_what_belongs_to_no_session_is_noted(tiny_value: list[Json], import_value: ImportValue) -> None:
    """Facts and summaries of a session that is not there are left out, and the report says so."""
    tiny_value[0]["observation"]["session_9_observation"] = {"Ada": [["Ada sails.", "D9:1"]]}
    tiny_value[0]["session_summary"]["session_9_summary"] = "They sailed."
    benchmark = import_value(tiny_value)
    notes = {repair.record: repair.fault for repair in benchmark.repairs}
    assert notes["conv-26/session_9_observation"] == "observation without a session"
    assert notes["conv-26/session_9_summary"] == "summary without a session"
    assert "Ada sails." not in benchmark.corpus.texts


def test_a_file_without_distilled_items_has_raw_turns_only(tiny_value: list[Json], import_value: ImportValue) -> None:
    """Observations and summaries may be missing; turns and adjacency edges are all there is then."""
    for item in tiny_value:
        del item["observation"], item["session_summary"]
    benchmark = import_value(tiny_value)
    assert set(benchmark.corpus.layer.tolist()) == {0}
    assert set(benchmark.edges.relation) == {"followed_by"}


def test_an_adversarial_question_with_a_gold_only_keeps_it(tiny_value: list[Json], import_value: ImportValue) -> None:
    """Without an adversarial answer there are no two answers: the gold is kept and noted as such."""
    del tiny_value[0]["qa"][12]["adversarial_answer"]
    benchmark = import_value(tiny_value)
    assert benchmark.labels.answers[12] == "No"
    assert benchmark.labels.flags[12] == ()
    notes = {repair.record: repair.fault for repair in benchmark.repairs}
    assert notes["conv-26/q12"] == "adversarial question with a gold answer only"


def test_messages_quote_no_more_than_the_record(tiny_value: list[Json], import_value: ImportValue) -> None:
    """An error stays short however long the wrong value is."""
    tiny_value[0]["qa"][0]["answer"] = ["x" * 100_000]
    with pytest.raises(UsageProblem) as caught:
        import_value(tiny_value)
    assert len(str(caught.value)) < 1000
