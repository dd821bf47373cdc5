from __future__ import annotations

import copy
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.longmemeval import import_longmemeval
from harness.errors import UsageProblem

Json = dict[str, Any]


def turn(role: str, content: Any, label: Any = None) -> Json:
    """A turn; without a label it has no such field."""
    return {"role": role, "content": content} | ({} if label is None else {"has_answer": label})


def record(identifier: str = "q1", **changes: Any) -> Json:
    """A sound record: two sessions out of order, evidence on one user turn."""
    sound = {
        "question_id": identifier,
        "question_type": "multi-session",
        "question": "Which colour?",
        "answer": "red",
        "question_date": "2023/06/01 (Thu) 00:58",
        "haystack_session_ids": [f"answer_{identifier}", f"noise_{identifier}"],
        "haystack_dates": ["2023/05/27 (Sat) 10:20", "2023/05/25 (Thu) 20:21"],
        "haystack_sessions": [
            [turn("user", f"It is red, says {identifier}", label=True), turn("assistant", "Nice", label=False)],
            [turn("user", "Hello"), turn("assistant", "Hi"), turn("user", "Bye")],
        ],
        "answer_session_ids": [f"answer_{identifier}"],
    }
    return sound | changes


def imported(folder: Path, records: list[Any], **options: Any) -> Benchmark:
    """The benchmark of a file with these records and a few more, so that there is something to hold out."""
    path = folder / "longmemeval.json"
    path.write_text(json.dumps([*records, *(record(f"other{index}") for index in range(3))]), encoding="utf-8")
    return import_longmemeval(path, **options)


def faults(benchmark: Benchmark) -> dict[str, int]:
    """What was noted on the first question."""
    return dict(Counter(repair.fault for repair in benchmark.repairs if repair.record == benchmark.questions.ids[0]))


def test_sessions_are_sorted_by_date_and_turns_carry_its_time(tmp_path: Path) -> None:
    """The earlier session comes first, whatever its place in the file; a turn is a second later than the one before."""
    benchmark = imported(tmp_path, [record()])
    first = benchmark.corpus.partition == 0
    ids = [one for one, mine in zip(benchmark.corpus.ids, first, strict=True) if mine]
    assert ids == ["q1/s1/t1", "q1/s1/t2", "q1/s1/t3", "q1/s2/t1", "q1/s2/t2"]
    assert benchmark.corpus.texts[3] == "It is red, says q1"
    assert benchmark.corpus.time[:5].tolist() == [1685046060, 1685046061, 1685046062, 1685182800, 1685182801]
    assert benchmark.corpus.speakers[:2] == ("user", "assistant")
    assert faults(benchmark) == {"sessions out of order of time": 1}


def test_no_id_tells_where_the_answer_is(tmp_path: Path) -> None:
    """Neither the ids of sessions nor the ending of abstention questions reach the store."""
    benchmark = imported(tmp_path, [record("q1_abs"), record("q2")])
    seen = (*benchmark.corpus.ids, *benchmark.questions.ids, *benchmark.partitions, *benchmark.questions.clusters)
    assert not [one for one in seen if "answer" in one or "abs" in one or "noise" in one]


def test_a_question_and_its_abstaining_twin_are_two_and_one_cluster(tmp_path: Path) -> None:
    """Both keep an id of their own, in either order, and stand on one side of the split."""
    benchmark = imported(tmp_path, [record("q1"), record("q1_abs")])
    assert benchmark.questions.ids[0] == "q1"
    assert benchmark.questions.ids[1].startswith("q1-")
    assert benchmark.questions.clusters[:2] == ("q1", "q1")
    assert benchmark.questions.part[0] == benchmark.questions.part[1]


def test_questions_that_share_an_evidence_session_are_one_cluster(tmp_path: Path) -> None:
    """By the session's id, or by its words under another id; sharing what is no evidence is no tie."""
    one, same_id, same_words = record("q1"), record("q2"), record("q3")
    same_id["haystack_session_ids"][0] = same_id["answer_session_ids"][0] = "answer_q1"
    same_words["haystack_sessions"] = copy.deepcopy(one["haystack_sessions"])
    noise = record("q4")
    noise["haystack_session_ids"][1] = "noise_q1"
    benchmark = imported(tmp_path, [one, same_id, same_words, noise])
    assert benchmark.questions.clusters[:4] == ("q1", "q1", "q1", "q4")


def test_evidence_is_the_labelled_turn(tmp_path: Path) -> None:
    """A label that is left out is false; the labelled turn is evidence as repaired and as published."""
    labels = imported(tmp_path, [record()]).labels
    assert (labels.repaired.row(0), labels.published.row(0), labels.n_published[0]) == ([3], [3], 1)
    assert (labels.categories[0], labels.answers[0], labels.flags[0]) == ("multi-session", "red", ())


def test_the_same_session_twice_is_kept_apart(tmp_path: Path) -> None:
    """Identity is the question and the place, and both copies of the evidence count."""
    one = record()
    for field in ("haystack_session_ids", "haystack_dates", "haystack_sessions"):
        one[field].append(one[field][0])
    benchmark = imported(tmp_path, [one])
    assert benchmark.labels.repaired.row(0) == [3, 5]
    assert faults(benchmark)["the same session twice in a haystack"] == 1


def test_an_abstention_question_has_no_evidence(tmp_path: Path) -> None:
    """Nothing answers it, so that measures leave it out; as published its labels remain."""
    labels = imported(tmp_path, [record("q1_abs")]).labels
    assert (labels.repaired.row(0), labels.published.row(0), labels.n_published[0]) == ([], [3], 1)
    assert labels.flags[0] == ("abstain",)


def test_answer_sessions_without_a_label_and_labels_of_assistants_are_slices(tmp_path: Path) -> None:
    """Both are flagged, and counted in the repair report; a preference's answer is a rubric."""
    assistant, unlabelled = record("q1"), record("q2", question_type="single-session-preference")
    assistant["haystack_sessions"][0] = [turn("user", "Tell me", label=False), turn("assistant", "Red", label=True)]
    unlabelled["haystack_sessions"][0] = [turn("user", "Red")]
    benchmark = imported(tmp_path, [assistant, unlabelled])
    assert benchmark.labels.flags[:2] == (("assistant_evidence",), ("rubric", "unlabelled_session"))
    assert benchmark.labels.repaired.row(1) == []
    assert faults(benchmark)["evidence on assistant turns only"] == 1


def test_only_the_turns_of_users(tmp_path: Path) -> None:
    """Turns keep their numbers, evidence of assistants is out of reach, and published labels count it all the same."""
    assistant = record("q1")
    assistant["haystack_sessions"][0] = [turn("user", "Tell me"), turn("assistant", "Red", label=True)]
    benchmark = imported(tmp_path, [assistant], turns="user")
    assert benchmark.corpus.ids[:3] == ("q1/s1/t1", "q1/s1/t3", "q1/s2/t1")
    assert set(benchmark.corpus.speakers) == {"user"}
    assert (benchmark.labels.repaired.row(0), benchmark.labels.n_published[0]) == ([], 1)


def test_sessions_as_the_unit(tmp_path: Path) -> None:
    """A session is one chunk with all its turns, and the answer session is evidence, labelled or not."""
    one = record()
    one["haystack_sessions"][0] = [turn("user", "It is red"), turn("assistant", "Nice")]
    one["answer_session_ids"].append("answer_nowhere")
    benchmark = imported(tmp_path, [one], unit="session")
    assert benchmark.corpus.ids[:2] == ("q1/s1", "q1/s2")
    assert benchmark.corpus.texts[1] == "user: It is red\nassistant: Nice"
    assert (benchmark.labels.repaired.row(0), benchmark.labels.n_published[0]) == ([1], 2)
    assert faults(benchmark)["an answer session that is not in the haystack"] == 1


def test_sessions_of_users_as_in_the_official_runs(tmp_path: Path) -> None:
    """A session's text is its user's, and it is judged by its user's labels."""
    told, not_told = record("q1"), record("q2")
    not_told["haystack_sessions"][0] = [turn("user", "Tell me"), turn("assistant", "Red", label=True)]
    benchmark = imported(tmp_path, [told, not_told], unit="session", turns="user")
    assert benchmark.corpus.texts[:2] == ("Hello Bye", "It is red, says q1")
    assert (benchmark.labels.repaired.row(0), benchmark.labels.repaired.row(1)) == ([1], [])
    assert benchmark.labels.published.row(1) == [3]


def test_odd_content_is_read_and_noted(tmp_path: Path) -> None:
    """A number as answer, content in parts, a turn without text, a session without a turn."""
    one = record(answer=3)
    one["haystack_sessions"] = [[turn("user", [{"type": "text", "text": "a"}, "b"]), turn("assistant", " ")], []]
    benchmark = imported(tmp_path, [one])
    assert benchmark.labels.answers[0] == "3"
    assert benchmark.corpus.texts[0] == "a\nb"
    noted = faults(benchmark)
    for fault in ("the answer is a number", "content in parts", "a turn without text", "a session without a turn"):
        assert noted[fault] == 1


def test_the_split_is_by_type_and_by_digest(tmp_path: Path) -> None:
    """A tenth of each type is for development, the same whatever the order of the file."""
    records = [
        record(f"x{index}", question_type=("multi-session", "temporal-reasoning")[index % 2]) for index in range(60)
    ]
    benchmark = imported(tmp_path, records)
    dev = {one for one, part in zip(benchmark.questions.ids, benchmark.questions.part, strict=True) if part == "dev"}
    assert len(dev) == 6
    again = imported(tmp_path, records[::-1])
    assert dev == {one for one, part in zip(again.questions.ids, again.questions.part, strict=True) if part == "dev"}
    more = imported(tmp_path, records, dev=20)
    assert dev < {one for one, part in zip(more.questions.ids, more.questions.part, strict=True) if part == "dev"}


WRONG = {
    "no record": ("text", "the record is str"),
    "no id": (record(question_id=None), "question_id is nothing"),
    "an id with a slash": (record(question_id="a/b"), "without blanks and slashes"),
    "an id with a blank": (record(question_id="a b"), "without blanks and slashes"),
    "another type": (record(question_type="single-session"), "question_type 'single-session'"),
    "no answer": (record(answer=None), "answer is nothing"),
    "fewer dates": (record(haystack_dates=["2023/05/25 (Thu) 20:21"]), "2 session ids, 1 dates and 2 sessions"),
    "a date of nowhere": (record(haystack_dates=["2023/05/25 (Thu) 20:21", "2023/02/30 (Thu) 20:21"]), "2023/02/30"),
    "another role": (record(haystack_sessions=[[turn("bot", "x")], []]), "role 'bot'"),
    "a label in words": (record(haystack_sessions=[[turn("user", "x", label="yes")], []]), "has_answer is 'yes'"),
    "a picture": (record(haystack_sessions=[[turn("user", [{"image": 1}])], []]), "the part's text is nothing"),
    "twice": ([record("x"), record("x"), record("x")], "'x' stands twice"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_record_is_named(case: str, tmp_path: Path) -> None:
    """The error says what is wrong and in which record of which file."""
    value, message = WRONG[case]
    with pytest.raises(UsageProblem, match=message) as caught:
        imported(tmp_path, value if isinstance(value, list) else [value])
    assert "longmemeval.json: record" in f"{caught.value.where}{caught.value}"


def test_no_question_at_all(tmp_path: Path) -> None:
    """An empty list is refused."""
    (tmp_path / "x.json").write_text("[]")
    with pytest.raises(UsageProblem, match="no question in it"):
        import_longmemeval(tmp_path / "x.json")


def test_the_two_real_records(shared_data: Path) -> None:
    """A knowledge update with two pieces of evidence, and an abstention without any."""
    benchmark = import_longmemeval(shared_data / "longmemeval/sample_oracle_2.json")
    assert len(benchmark.corpus) == 48
    assert benchmark.questions.ids == ("6a1eabeb", "gpt4_70e84552")
    assert [len(benchmark.labels.repaired.row(index)) for index in (0, 1)] == [2, 0]
    assert sorted(benchmark.questions.part) == ["dev", "heldout"]
