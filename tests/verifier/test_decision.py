import itertools

import pytest

from harness.verifier.decision import Clause, clause_differences, clauses, decide, in_slice, rules
from harness.verifier.measures import Evidence
from harness.verifier.reading import DamageError
from harness.verifier.runfiles import Question

QUESTION = Question("conv-3/q1", "conv-3", "conv-3", True)
FACTS = Evidence("temporal", frozenset({"image_dependent"}), frozenset(), frozenset(), 0)


def clause(kind="primary", *, lower, upper, roll=None, pass_above=0.03, rollback_below=0.0, **more):
    """A testable clause with the bounds that the rule reads."""
    fields = dict.fromkeys(Clause._fields) | {
        "kind": kind,
        "measure": "R@10",
        "slice": "all",
        "pass_above": pass_above,
        "rollback_below": rollback_below,
        "n": 100,
        "clusters": 9,
        "effective_clusters": 9.0,
        "testable": True,
        "lower": lower,
        "upper": upper,
        "upper_rollback": upper if roll is None else roll,
    }
    return Clause(**(fields | more))


def guard(*, lower, upper, **more):
    """A guard that may drop by three points."""
    return clause("guard", lower=lower, upper=upper, pass_above=-0.03, rollback_below=-0.03, **more)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([clause(lower=0.04, upper=0.1)], ("PASS", "all_clauses_hold")),
        ([clause(lower=0.04, upper=0.1), guard(lower=-0.02, upper=0.1)], ("PASS", "all_clauses_hold")),
        ([clause(lower=-0.2, upper=-0.01)], ("ROLLBACK", "primary_below")),
        ([clause(lower=0.04, upper=0.1), guard(lower=-0.2, upper=-0.04)], ("ROLLBACK", "guard_below")),
        (
            [clause(lower=-0.2, upper=-0.1), guard(lower=-0.2, upper=-0.04)],
            ("ROLLBACK", "primary_below"),
        ),
        ([clause(lower=-0.2, upper=-0.01, roll=0.01)], ("INCONCLUSIVE", "straddles")),
        ([clause(lower=0.04, upper=0.1), guard(lower=-0.1, upper=0.1)], ("INCONCLUSIVE", "guard_unresolved")),
        ([clause(lower=0.0, upper=0.03)], ("INCONCLUSIVE", "no_worthwhile_change")),
        ([clause(lower=-0.01, upper=0.05)], ("INCONCLUSIVE", "underpowered")),
        ([clause(lower=0.01, upper=0.05)], ("INCONCLUSIVE", "straddles")),
        ([clause(lower=-0.01, upper=0.02)], ("INCONCLUSIVE", "straddles")),
        (
            [clause(lower=-0.01, upper=0.05), clause(lower=0.01, upper=0.02)],
            ("INCONCLUSIVE", "no_worthwhile_change"),
        ),
        ([clause(lower=0.04, upper=0.1), clause(lower=-0.1, upper=0.1)], ("INCONCLUSIVE", "underpowered")),
        ([clause(lower=None, upper=None, testable=False)], ("INCONCLUSIVE", "not_testable")),
        (
            [clause(lower=-0.2, upper=-0.1), guard(lower=None, upper=None, testable=False)],
            ("INCONCLUSIVE", "not_testable"),
        ),
        (
            [clause(lower=0.04, upper=0.1), guard(lower=None, upper=None, n=0, testable=False)],
            ("INADMISSIBLE", "guard_without_value"),
        ),
    ],
)
def test_the_rule_reaches_each_state_for_each_reason(found, expected):
    """The table of the rule, one row per way to reach a verdict."""
    assert decide(found) == expected


@pytest.mark.parametrize("distance", [0.0, 5e-10, -5e-10])
def test_a_bound_at_its_threshold_decides_nothing(distance):
    """Within the tolerance of arithmetic neither PASS nor ROLLBACK is given."""
    assert decide([clause(lower=0.03 + distance, upper=0.1)])[0] == "INCONCLUSIVE"
    assert decide([clause(lower=-0.2, upper=distance)])[0] == "INCONCLUSIVE"


def test_a_better_bound_never_makes_the_verdict_worse():
    """Raising a bound cannot turn PASS into anything else, nor anything else into ROLLBACK."""
    order = {"ROLLBACK": 0, "INCONCLUSIVE": 1, "PASS": 2}
    steps = [-0.2, -0.05, -0.01, 0.01, 0.04, 0.2]
    for low, high in itertools.combinations(steps, 2):
        state = order[decide([clause(lower=low, upper=high)])[0]]
        for raised in steps:
            if low <= raised < high:
                assert order[decide([clause(lower=raised, upper=high)])[0]] >= state


@pytest.mark.parametrize(
    ("name", "belongs"),
    [
        ("all", True),
        ("temporal", True),
        ("multi-hop", False),
        ("image_dependent", True),
        ("conversation:conv-3", True),
        ("conversation:conv-30", False),
        ("conv-3", False),
    ],
)
def test_slices(name, belongs):
    """A question is in its category, its flags and its conversation."""
    assert in_slice(name, QUESTION, FACTS) is belongs


DOCUMENT = {
    "claim": {"kind": "superior", "pass_above": 0.02, "rollback_below": 0},
    "primary": [{"measure": "R@1", "slice": "all"}],
    "guards": [{"measure": "R@1", "slice": "temporal", "drop": 0.03}],
    "rho_plan": 0.0,
    "procedure": "cluster-t+tango/2",
}


def test_rules_come_primaries_first_with_their_thresholds():
    """A guard passes above minus its drop, and is rolled back below the same."""
    first, second = rules(DOCUMENT)
    assert (first.kind, first.pass_above, first.rollback_below) == ("primary", 0.02, 0.0)
    assert (second.kind, second.pass_above, second.rollback_below) == ("guard", -0.03, -0.03)


@pytest.mark.parametrize(
    "change",
    [
        {"primary": []},
        {"primary": None},
        {"guards": {}},
        {"guards": [{"measure": "R@1", "slice": "all"}]},
        {"guards": [{"measure": "R@1", "slice": "all", "drop": -0.1}]},
        {"claim": {"pass_above": 3, "rollback_below": 0}},
        {"claim": None},
        {"primary": [{"measure": "R@1"}]},
        {"primary": ["R@1"]},
    ],
)
def test_a_document_without_a_readable_promise_is_refused(change):
    """No default is made up for a promise that is missing."""
    with pytest.raises(DamageError, match=r"^document"):
        rules(DOCUMENT | change)


def experiment(heldout_only_better):
    """Six conversations: one gain, one tie, one question without a baseline score in each."""
    questions, facts, before, after = [], [], [], []
    for conversation in range(6):
        for index in range(3):
            questions.append(Question(f"{conversation}/{index}", str(conversation), str(conversation), True))
            facts.append(FACTS._replace(category="temporal" if index == 0 else "multi-hop"))
            before.append(None if index == 2 else 0.0)
            after.append(1.0 if index == 0 else 0.0)
    questions.append(Question("dev/0", "dev", "dev", False))
    facts.append(FACTS)
    before.append(0.0)
    after.append(0.0 if heldout_only_better else 1.0)
    return questions, facts, {"R@1": {"baseline": before, "candidate": after}}


@pytest.mark.parametrize("better", [True, False])
def test_clauses_read_held_out_questions_with_both_scores_in_the_slice(better):
    """Dev questions, and questions that either system could not be scored on, count nowhere."""
    first, second = clauses(DOCUMENT, *experiment(better), alpha=0.03)
    assert (first.n, first.clusters, first.wins, first.losses, first.ties) == (12, 6, 6, 0, 6)
    assert (first.baseline, first.candidate, first.estimate) == (0.0, 0.5, 0.5)
    assert (second.n, second.wins, second.ties) == (6, 6, 0)
    assert first.upper_rollback > first.upper


def test_a_measure_that_was_not_scored_is_damage():
    """A clause is never decided without its scores."""
    questions, facts, scores = experiment(True)
    with pytest.raises(DamageError, match="no measure 'R@1'"):
        clauses(DOCUMENT, questions, facts, {"R@2": scores["R@1"]}, alpha=0.03)


def test_differences_name_each_field():
    """Comparison is exact for words and counts, and within the tolerance for numbers."""
    computed = clause(lower=0.04, upper=0.1)
    same = computed._asdict()
    assert clause_differences(same | {"lower": 0.04 + 5e-10}, computed, "c") == []
    for change in (
        {"lower": 0.04 + 2e-9},
        {"lower": None},
        {"lower": True},
        {"lower": "0.04"},
        {"lower": [0.04]},
        {"n": 101},
        {"n": 100.0},
        {"testable": 1},
        {"slice": "temporal"},
        {"kind": None},
        {"mde": 0.0},
    ):
        (problem,) = clause_differences(same | change, computed, "c")
        assert problem.startswith(f"c: {next(iter(change))} is ")
    assert clause_differences([], computed, "c") == ["c: a list instead of an object"]
    assert "'bonus'" in clause_differences(same | {"bonus": 1}, computed, "c")[0]
    del same["p_pass"]
    assert "'p_pass'" in clause_differences(same, computed, "c")[0]
