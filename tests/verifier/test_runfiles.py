import json

import pytest

from harness.verifier.reading import DamageError
from harness.verifier.runfiles import Question, parse_evidence, parse_run, parse_scores, read_listed

QUESTIONS = [["q0", "c", "c", "dev"], ["q1", "d", "d", "heldout"]]
RANKING = [["q0", [3, 1]], ["q1", []]]
DOCUMENTS = [[1, "raw", 5, [1], [1]], [3, "edge", 5, [0, 1], [0, 1]]]
EVIDENCE = [["q0", "temporal", ["image_dependent"], [1], [1], 2], ["q1", "adversarial", [], [], [], 0]]
ALIGNED = [Question("q0", "c", "c", False), Question("q1", "d", "d", True)]


def lines(values):
    """JSON lines."""
    return b"".join(json.dumps(value, separators=(",", ":")).encode() + b"\n" for value in values)


def contents(**changes):
    """The five sealed files, some exchanged."""
    files = {"questions": QUESTIONS}
    for role in ("baseline", "candidate"):
        files |= {f"ranking_{role}": RANKING, f"documents_{role}": DOCUMENTS}
    return {f"{name.replace('_', '-')}.jsonl": lines(value) for name, value in (files | changes).items()}


def test_a_sound_run_is_parsed_whole():
    """Questions, rankings and documents come back aligned."""
    run = parse_run(contents(), 2, 2)
    assert [question.heldout for question in run.questions] == [False, True]
    assert run.rankings["candidate"] == [(3, 1), ()]
    assert run.documents["baseline"][3].sources == (0, 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"questions": QUESTIONS[:1]}, "no held-out question"),
        ({"questions": [*QUESTIONS, QUESTIONS[1]]}, r"questions.jsonl:3: question 'q1' occurs twice"),
        ({"questions": [["q0", "c", "c"]]}, r"questions.jsonl:1: 3 items instead of 4"),
        ({"questions": [["q0", "c", "c", "test"]]}, r"questions.jsonl:1: split 'test'"),
        ({"questions": [*QUESTIONS, ["q2", "d", "d", "heldout"]]}, "3 questions, 2 are sealed"),
        (
            {"ranking_candidate": RANKING[::-1]},
            r"ranking-candidate.jsonl:1: question 'q1', 'q0' stands there",
        ),
        ({"ranking_baseline": RANKING[:1]}, r"ranking-baseline.jsonl: 1 questions instead of 2"),
        ({"ranking_baseline": [*RANKING, ["q2", []]]}, r"ranking-baseline.jsonl:3: question 'q2', null"),
        ({"ranking_baseline": [["q0", [1, 3, 2]], RANKING[1]]}, r"baseline.jsonl:1: 3 documents, at most 2"),
        ({"ranking_baseline": [["q0", [1, 1]], RANKING[1]]}, r"baseline.jsonl:1: a document is ranked twice"),
        ({"ranking_baseline": [["q0", [-1]], RANKING[1]]}, r"baseline.jsonl:1: -1 instead of an integer"),
        ({"ranking_baseline": [["q0", [True]], RANKING[1]]}, r"baseline.jsonl:1: True instead of an integer"),
        ({"ranking_baseline": [["q0", [1.0]], RANKING[1]]}, r"baseline.jsonl:1: 1.0 instead of an integer"),
        ({"ranking_baseline": [["q0", "13"], RANKING[1]]}, r"baseline.jsonl:1: '13' instead of a list"),
        ({"ranking_candidate": [["q0", [2]], RANKING[1]]}, r"candidate.jsonl:1: document 2 is not described"),
        ({"documents_candidate": DOCUMENTS[::-1]}, r"documents-candidate.jsonl:2: .* not ascending"),
        ({"documents_candidate": [DOCUMENTS[0], DOCUMENTS[0]]}, r"documents-candidate.jsonl:2: .* ascending"),
        ({"documents_candidate": [[1, "raw", 5, [1]]]}, r"documents-candidate.jsonl:1: 4 items instead of 5"),
        ({"documents_candidate": [[1, "raw", "5", [1], [1]]]}, r"documents-candidate.jsonl:1: tokens"),
        (
            {"documents_candidate": [[1, "raw", 5, [1], 1]]},
            r"documents-candidate.jsonl:1: 1 instead of a list",
        ),
    ],
)
def test_each_breach_of_shape_is_named_with_file_and_line(changes, message):
    """A file that does not fit the others is refused at the line where it departs."""
    with pytest.raises(DamageError, match=message):
        parse_run(contents(**changes), 2, 2)


@pytest.mark.parametrize(
    ("index", "row", "message"),
    [
        (0, ["q1", "temporal", [], [1], [1], 1], "'q0' stands there"),
        (0, ["q0", "temporal", [], [1], [1, 2], 1], "at least 2"),
        (0, ["q0", None, [], [1], [1], 1], "null instead of a string"),
        (1, ["q1", "temporal", [3], [1], [1], 1], "3 instead of a string"),
        (1, ["q1", "temporal", [], ["1"], [1], 1], "'1' instead of an integer"),
        (1, ["q1", "temporal", [], [1], [1]], "5 items instead of 6"),
    ],
)
def test_broken_evidence_is_named_by_line(index, row, message):
    """Evidence follows the questions, and published labels are at least those that exist."""
    rows = [*EVIDENCE[:index], row, *EVIDENCE[index + 1 :]]
    with pytest.raises(DamageError, match=f"^evidence.jsonl:{index + 1}: .*{message}"):
        parse_evidence(lines(rows), "evidence.jsonl", ALIGNED)


def test_repeated_labels_are_one_piece_of_evidence():
    """Evidence is a set, however often a label names it."""
    rows = [["q0", "temporal", [], [4, 4], [2, 2], 3], EVIDENCE[1]]
    first = parse_evidence(lines(rows), "evidence.jsonl", ALIGNED)[0]
    assert (first.repaired, first.published, first.n_published) == ({4}, {2}, 3)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"measures":{}}', "no measure"),
        (b'{"measures":[]}', "a list instead of an object"),
        (b'{"measures":{"R@1":{"baseline":[0,1]}}}', "roles other than"),
        (b'{"measures":{"R@1":{"baseline":[0,1],"candidate":[0]}}}', "candidate: 1 items instead of 2"),
        (b'{"measures":{"R@1":{"baseline":[0,1],"candidate":[0,1.5]}}}', "candidate, 'q1': 1.5"),
        (b'{"measures":{"R@1":{"baseline":[0,1],"candidate":[0,NaN]}}}', "NaN"),
        (b'{"measures":{"R@1":{"baseline":[0,true],"candidate":[0,0]}}}', "baseline, 'q1': True"),
        (b'{"measures":{"R@1":{"baseline":[0,1],"cand', "not JSON"),
        (b'{"measures":{"R@1":1},"measures":{}}', "occurs twice"),
        (b'{"other":1}', "keys other than"),
    ],
)
def test_broken_scores_are_named(raw, message):
    """Scores that are no numbers in [0, 1], one per question and role, are refused."""
    with pytest.raises(DamageError, match=f"^scores.json:1: .*{message}"):
        parse_scores(raw, "scores.json", ALIGNED)


@pytest.mark.parametrize("listed", [None, {}, {"a": "0" * 64, "b": "0" * 64}, {"a": 5}, {"b": "0" * 64}])
def test_a_list_of_other_files_is_refused(tmp_path, listed):
    """The recorded digests must be for exactly the files that belong there."""
    (tmp_path / "a").write_bytes(b"x")
    read, problems = read_listed(tmp_path, ["a"], listed, "entry")
    assert read == {}
    assert problems[0].startswith("entry")
