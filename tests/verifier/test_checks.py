import json
import random
import shutil

import pytest

from harness.verifier import Check, verify
from harness.verifier.checks import NAMES


def statuses(story, **options):
    """All checks by name, each with a printable reason."""
    checks = verify(story.workspace, "sharper", **options)
    assert [check.name for check in checks] == list(NAMES)
    assert all(isinstance(check, Check) and check.reason.isprintable() for check in checks)
    return {check.name: check for check in checks}


def assert_caught(story, name, *words, **options):
    """The first check that does not pass has this name, fails, and says these words."""
    checks = statuses(story, **options)
    first = next(check for check in checks.values() if check.status != "PASS")
    assert (first.name, first.status) == (name, "FAIL"), first
    for word in words:
        assert word in first.reason, first
    return checks


def void(payload, reason):
    """Turn a verdict into one on no valid measurement."""
    payload.update(state="INADMISSIBLE", reason=reason, clauses=[])


def rewritten(raw, number, change):
    """Change one line of a JSON-lines file and spell it canonically again."""
    pieces = raw.split(b"\n")
    value = json.loads(pieces[number - 1])
    value = change(value) or value
    pieces[number - 1] = json.dumps(value, sort_keys=True, separators=(",", ":")).encode()
    return b"\n".join(pieces)


def test_an_honest_experiment_passes_every_check(write):
    """Clauses made by numpy and scipy and scores made by plain sets are confirmed."""
    checks = statuses(write())
    assert {check.status for check in checks.values()} == {"PASS"}
    assert checks["measures"].reason == "224 values of 2 measure(s)"
    assert checks["decision"].reason == "PASS (all_clauses_hold), 2 clause(s) recomputed"


@pytest.mark.parametrize(
    ("document", "state", "reason"),
    [
        (
            {"claim": {"kind": "superior", "pass_above": 0.9, "rollback_below": 0.8}},
            "ROLLBACK",
            "primary_below",
        ),
        (
            {"claim": {"kind": "superior", "pass_above": 0.3, "rollback_below": 0.1}},
            "INCONCLUSIVE",
            "underpowered",
        ),
        (
            {"claim": {"kind": "superior", "pass_above": 0.9, "rollback_below": 0.0}},
            "INCONCLUSIVE",
            "no_worthwhile_change",
        ),
        (
            {"guards": [{"measure": "R@10", "slice": "temporal", "drop": 0.01}]},
            "INCONCLUSIVE",
            "guard_unresolved",
        ),
    ],
)
def test_other_verdicts_are_confirmed_and_a_false_one_is_not(write, tmp_path, document, state, reason):
    """The same run under other promises has other verdicts; claiming PASS instead fails by name."""
    edit = {"verdict": lambda payload: payload.update(state=state, reason=reason)}
    assert statuses(write(document=document, edit=edit))["decision"].status == "PASS"
    shutil.rmtree(tmp_path / "workspace")
    assert_caught(write(document=document), "decision", "state is 'PASS'", state)


@pytest.mark.parametrize(
    ("until", "expected"),
    [
        ("lock", ["PASS", "PASS", "PASS", "NOTRUN", "NOTRUN", "NOTRUN"]),
        ("seal", ["PASS", "PASS", "PASS", "PASS", "NOTRUN", "NOTRUN"]),
    ],
)
def test_an_unfinished_experiment_is_checked_as_far_as_it_goes(write, until, expected):
    """What has not happened yet is NOTRUN, never PASS and never FAIL."""
    checks = statuses(write(until=until))
    assert [check.status for check in checks.values()] == expected
    assert checks["decision"].reason == ("not judged yet" if until == "seal" else "not sealed yet")


def test_an_edited_entry_is_caught_by_the_chain(write):
    """Editing the verdict in place breaks its name."""
    story = write()
    path = story.entry("verdict")
    path.write_bytes(path.read_bytes().replace(b'"PASS"', b'"FAIL"'))
    checks = assert_caught(story, "chain", path.name, "edited or renamed")
    assert checks["lock"] == Check("lock", "NOTRUN", "chain failed")


def test_a_half_written_entry_is_caught_by_the_chain(write):
    """A truncated entry is named."""
    story = write()
    path = story.entry("claim")
    path.write_bytes(path.read_bytes()[:-40])
    assert_caught(story, "chain", path.name + ":1")


def test_a_deleted_last_entry_is_caught_by_the_head(write):
    """Without its verdict the chain is sound, but the run's witness saw one more entry."""
    story = write()
    story.entry("verdict").unlink()
    checks = assert_caught(story, "head", "head.json", "no longer has")
    assert checks["measures"] == Check("measures", "NOTRUN", "not judged yet")


@pytest.mark.parametrize("keep_folder", [True, False])
def test_a_deleted_ledger_is_caught_by_the_chain(write, keep_folder):
    """Nothing is a failure, not a ledger of no entries."""
    story = write()
    shutil.rmtree(story.ledger.folder)
    if keep_folder:
        story.ledger.folder.mkdir()
    checks = assert_caught(story, "chain")
    assert checks["head"].status == "FAIL"


def test_a_deleted_run_is_caught(write):
    """A verdict whose run is gone is confirmed by nothing."""
    story = write()
    shutil.rmtree(story.run)
    checks = assert_caught(story, "head", "missing")
    assert checks["rankings"].status == "FAIL"
    assert checks["decision"] == Check("decision", "NOTRUN", "rankings failed")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (None, "head.json: missing"),
        (b'{"count":4,', "head.json:1: not JSON"),
        (b'{"count":0,"tips":[]}', "count: 0"),
        (b'{"count":3,"tips":[NaN]}', "NaN"),
        (b"[]", "a list instead of an object"),
    ],
)
def test_a_missing_or_empty_witness_is_caught_by_the_head(write, raw, message):
    """A run without a witness that saw something does not pass."""
    story = write()
    (story.run / "head.json").unlink()
    if raw is not None:
        (story.run / "head.json").write_bytes(raw)
    assert_caught(story, "head", message)


def test_a_witness_older_than_the_lock_vouches_for_nothing(write):
    """A contained head from before the lock would hide every deletion after it."""
    heads = []

    def before(ledger, _):
        ledger.append("note", {})
        heads.append(ledger.head())

    story = write(before=before)
    (story.run / "head.json").write_text(json.dumps(heads[0]))
    assert_caught(story, "head", "older than every lock of sharper")


def test_further_witnesses_are_compared_too(write, tmp_path):
    """A head held by another person catches what the run's own witness was changed to hide."""
    story = write()
    page = tmp_path / "page.json"
    page.write_bytes((story.run / "head.json").read_bytes())
    assert statuses(story, witnesses=[("the page", page)])["head"].status == "PASS"
    story.entry("verdict").unlink()
    claim = story.digests["claim"]
    (story.run / "head.json").write_text(json.dumps({"count": 3, "tips": [claim]}))
    assert statuses(story)["head"].status == "PASS"
    assert_caught(story, "head", "the page: saw the entry", witnesses=[("the page", page)])
    assert_caught(story, "head", "gone: missing", witnesses=[("gone", tmp_path / "gone.json")])


def test_a_moved_bar_is_caught_by_the_lock(write):
    """A document edited inside the lock no longer has the digest that was locked."""

    def lower_the_bar(payload):
        payload["document"]["claim"]["pass_above"] = -0.5

    checks = assert_caught(write(edit={"lock": lower_the_bar}), "lock", "document_digest")
    assert checks["decision"] == Check("decision", "NOTRUN", "lock failed")


def test_a_wrong_look_is_caught_by_the_lock(write):
    """A second look cannot be passed off as the first."""

    def before(ledger, heldout):
        members = ledger.question_set(heldout[:2])
        ledger.append("lock", {"id": "x", "heldout_set": members})

    assert_caught(write(before=before), "lock", "look 1, the chain makes it look 2")


@pytest.mark.parametrize("name", ["ranking-baseline.jsonl", "ranking-candidate.jsonl"])
def test_an_edited_ranking_is_caught_by_the_rankings(write, name):
    """A document exchanged after the seal shows by digest."""
    story = write()
    path = story.run / name
    path.write_bytes(rewritten(path.read_bytes(), 9, lambda row: row[1].reverse()))
    assert_caught(story, "rankings", name, "sha256")


def test_a_truncated_line_is_caught_by_the_rankings_with_its_number(write):
    """The digest and the damaged line are both named."""
    story = write()
    path = story.run / "ranking-candidate.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    checks = statuses(story)
    assert "sha256" in checks["rankings"].reason
    assert "1 more" in checks["rankings"].reason
    touch = {"ranking-candidate.jsonl": lambda raw: raw[:-9]}
    shutil.rmtree(story.workspace)
    assert_caught(write(touch=touch), "rankings", "ranking-candidate.jsonl:56: not JSON")


def test_a_swapped_question_order_is_caught_even_if_it_was_sealed(write):
    """Rankings are aligned by name: two lines exchanged before the seal are named."""

    def swap(raw):
        first, second, rest = raw.split(b"\n", 2)
        return b"\n".join([second, first, rest])

    assert_caught(write(touch={"ranking-baseline.jsonl": swap}), "rankings", "ranking-baseline.jsonl:1")


def test_questions_dropped_before_the_seal_are_caught_by_the_rankings(write):
    """A run over fewer held-out questions than were locked is not the experiment that was locked."""

    def drop(raw):
        return b"".join(line + b"\n" for line in raw.split(b"\n") if line and b"conv-7/q7" not in line)

    names = ["questions.jsonl", "ranking-baseline.jsonl", "ranking-candidate.jsonl"]
    story = write(touch=dict.fromkeys(names, drop), edit={"seal": lambda payload: payload.update(questions=55)})
    assert_caught(story, "rankings", "47 held-out questions, the lock's set has 48")


@pytest.mark.parametrize(
    "change",
    [
        {"questions": 57},
        {"questions": True},
        {"depth": 3},
        {"depth": None},
        {"repeat": None},
        {"repeat": {"baseline": 1}},
        {"files": None},
        {"files": {}},
    ],
)
def test_a_malformed_seal_is_caught_by_the_rankings(write, change):
    """What the seal says about its files has to be readable and true."""
    assert_caught(write(edit={"seal": lambda payload: payload.update(change)}), "rankings")


@pytest.mark.parametrize("name", ["evidence.jsonl", "scores.json"])
def test_files_changed_or_deleted_after_the_verdict_are_caught_by_the_measures(write, name):
    """The verdict's digests hold its files."""
    story = write()
    path = story.run / name
    path.write_bytes(path.read_bytes().replace(b"0", b"1", 1))
    assert_caught(story, "measures", name)
    path.unlink()
    assert_caught(story, "measures", f"{name}: missing")


def raised(raw):
    """Move one score by a millionth."""
    scores = json.loads(raw)
    column = scores["measures"]["R@10"]["candidate"]
    column[20] = (column[20] or 0.0) + 1e-6 if (column[20] or 0.0) < 0.5 else column[20] - 1e-6
    return json.dumps(scores, sort_keys=True, separators=(",", ":")).encode()


def test_a_score_that_was_wrong_when_recorded_is_caught_with_its_place(write):
    """A millionth of a point in one score is named by measure, role, question and both values."""
    assert_caught(
        write(touch={"scores.json": raised}),
        "measures",
        "R@10, candidate, 'conv-3/q4': recorded ",
        "recomputed ",
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"R@10"', b'"R@11"', "no measure 'R@10'"),
        (b'"R@10"', b'"Recall@10"', "no measure 'R@10'"),
        (b"null", b"NaN", "scores.json:1: NaN"),
        (b"null", b"0.0", "null"),
        (b'"measures"', b'"measure"', "keys other than"),
    ],
)
def test_scores_that_do_not_cover_the_document_are_caught(write, old, new, message):
    """Nothing passes because it was left out."""
    checks = statuses(write(touch={"scores.json": lambda raw: raw.replace(old, new)}))
    assert checks["measures"].status == "FAIL"
    if message != "null":
        assert message in checks["measures"].reason


def test_a_measure_deeper_than_the_seal_is_caught(write):
    """A measure cannot be verified beyond the rank at which the rankings were cut."""
    edit = {"verdict": lambda payload: payload.update(clauses=[])}
    document = {"primary": [{"measure": "R@40", "slice": "all"}]}
    assert_caught(write(document=document, edit=edit), "measures", "R@40: reads to rank 40", "end at 12")


@pytest.mark.parametrize(
    "field",
    ["lower", "upper", "upper_rollback", "p_pass", "p_rollback", "mde", "estimate", "baseline", "wins"],
)
def test_each_field_of_a_clause_is_recomputed(write, field):
    """A clause changed in one number is caught by the name of the field."""

    def nudge(payload):
        payload["clauses"][1][field] += 1 if field == "wins" else 1e-7

    story = write(edit={"verdict": nudge})
    assert_caught(story, "decision", "clause 2 (guard", f"temporal): {field} is ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reason": "because"}, "reason is 'because'"),
        ({"state": "ROLLBACK"}, "state is 'ROLLBACK'"),
        ({"state": "GREAT"}, "state 'GREAT' instead of"),
        ({"state": 1}, "state 1 instead of"),
        ({"clauses": []}, "0 in the verdict, 2 recomputed"),
        ({"clauses": None}, "clauses: null"),
        ({"clauses": [1, 2]}, "clause 1"),
    ],
)
def test_a_false_or_malformed_verdict_is_caught_by_the_decision(write, change, message):
    """State, reason and the list of clauses are compared."""
    assert_caught(write(edit={"verdict": lambda payload: payload.update(change)}), "decision", message)


@pytest.mark.parametrize("document", [{"procedure": "bootstrap/1"}, {"decide_on": "coin"}])
def test_an_unknown_rule_is_not_run(write, document):
    """What cannot be recomputed is neither confirmed nor denied."""
    checks = statuses(write(document=document))
    assert checks["decision"].status == "NOTRUN"
    assert checks["measures"].status == "PASS"


@pytest.mark.parametrize("rankings", [True, False])
def test_an_instrument_that_did_not_move_is_recomputed(write, rankings):
    """Identical rankings of different configurations void the verdict, and only they do."""
    edit = {"verdict": lambda payload: void(payload, "instrument_did_not_move")}
    story = write(edit=edit, same_rankings=rankings)
    if rankings:
        assert statuses(story)["decision"].status == "PASS"
    else:
        assert_caught(story, "decision", "nothing in the run shows it")


def test_identical_rankings_cannot_be_judged(write):
    """A verdict on an instrument that did not move is caught."""
    edit = {"verdict": lambda payload: payload.update(state="INCONCLUSIVE", reason="underpowered")}
    assert_caught(write(same_rankings=True, edit=edit), "decision", "INADMISSIBLE recomputed")


def test_equal_configurations_with_equal_rankings_are_a_valid_zero(write):
    """Comparing a version with itself is an experiment with a difference of zero."""
    same = {"candidate": {"version": "bm25", "parameters": {}, "fingerprint": None}}
    edit = {"verdict": lambda payload: payload.update(state="INCONCLUSIVE", reason="underpowered")}
    checks = statuses(write(same_rankings=True, document=same, edit=edit))
    assert {check.status for check in checks.values()} == {"PASS"}


@pytest.mark.parametrize("honest", [True, False])
def test_a_baseline_that_did_not_repeat_voids_the_verdict(write, honest):
    """The seal says whether the baseline repeated itself, and the verdict has to follow."""
    edit = {"seal": lambda payload: payload.update(repeat={"baseline": False})}
    if honest:
        edit["verdict"] = lambda payload: void(payload, "baseline_not_repeatable")
        assert statuses(write(edit=edit))["decision"].status == "PASS"
    else:
        assert_caught(write(edit=edit), "decision", "baseline_not_repeatable")


@pytest.mark.parametrize("honest", [True, False])
def test_a_guard_without_value_voids_the_verdict(write, honest):
    """A guard on a slice without held-out questions is no measurement."""
    document = {"guards": [{"measure": "R@10", "slice": "conversation:conv-1", "drop": 0.1}]}
    edit = {"verdict": lambda payload: void(payload, "guard_without_value")} if honest else {}
    story = write(document=document, edit=edit)
    if honest:
        assert statuses(story)["decision"].status == "PASS"
    else:
        assert_caught(story, "decision", "guard_without_value")


@pytest.mark.parametrize(
    ("reason", "files", "measures", "decision"),
    [
        ("digests_differ", None, "PASS", "PASS"),
        ("question_sets_differ", {}, "NOTRUN", "PASS"),
        ("score_invalid", {}, "NOTRUN", "PASS"),
        ("score_invalid", None, "PASS", "FAIL"),
        ("bad weather", {}, "NOTRUN", "FAIL"),
        (["digests_differ"], {}, "NOTRUN", "FAIL"),
    ],
)
def test_reasons_that_cannot_be_recomputed_say_so(write, reason, files, measures, decision):
    """A void verdict is believed only where nothing in the run could show otherwise, and that is said."""

    def edit(payload):
        void(payload, reason)
        if files is not None:
            payload["files"] = files

    checks = statuses(write(edit={"verdict": edit}))
    assert (checks["measures"].status, checks["decision"].status) == (measures, decision)
    if decision == "PASS":
        assert "cannot be recomputed" in checks["decision"].reason


def test_a_void_verdict_has_no_clauses(write):
    """No estimate stands beside an invalid measurement."""
    edit = {"verdict": lambda payload: payload.update(state="INADMISSIBLE", reason="digests_differ")}
    assert_caught(write(edit=edit), "decision", "2 in an INADMISSIBLE verdict")


@pytest.mark.parametrize("identifier", ["", "..", "../sharper", "a/b", "a\\b", "a\nb", "a\0b", "x" * 5000])
def test_an_id_that_is_no_name_is_refused(write, identifier):
    """An id never leads out of the folder of runs."""
    checks = verify(write().workspace, identifier)
    assert [check.status for check in checks] == ["PASS", "FAIL", "FAIL", "NOTRUN", "NOTRUN", "NOTRUN"]


def test_an_id_without_a_lock_is_caught_by_the_lock(write):
    """A run folder alone is no experiment."""
    story = write()
    shutil.copytree(story.run, story.run.parent / "other")
    checks = verify(story.workspace, "other")
    assert [check.status for check in checks] == ["PASS", "PASS", "FAIL", "NOTRUN", "NOTRUN", "NOTRUN"]


def test_random_damage_to_any_file_never_passes_and_never_raises(write):
    """Flip, cut or insert bytes anywhere in what was recorded: some check fails, and none crashes."""
    story = write()
    rng = random.Random(1)
    paths = sorted(path for path in story.workspace.rglob("*") if path.is_file())
    for path in paths:
        raw = path.read_bytes()
        for _ in range(4):
            at = rng.randrange(len(raw))
            insertion = rng.choice([b"", b"9", b"NaN", b"\xff", b"[", b"\n", b"-1", b'"x"', b"9" * 5000])
            damaged = raw[:at] + insertion + raw[at + rng.choice([0, 1, 7]) :]
            if damaged == raw:
                continue
            path.write_bytes(damaged)
            assert any(check.status == "FAIL" for check in statuses(story).values()), (path, at, insertion)
        path.write_bytes(raw)
    assert {check.status for check in statuses(story).values()} == {"PASS"}
