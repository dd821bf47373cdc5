from __future__ import annotations

from typing import Any

import pytest

STEPS = ("init", "import", "dev", "freeze", "new", "check", "lock", "full")


@pytest.mark.parametrize("step", STEPS)
def test_every_step_succeeds_and_prints_one_json_value(whole_way: Any, step: str) -> None:
    """Each command of the way exits 0, and with --json stdout is one value and nothing else."""
    done = whole_way.calls[step]
    assert done.code == 0, done.err
    assert isinstance(done.json, dict)


@pytest.mark.parametrize("step", STEPS)
def test_only_progress_goes_to_stderr(whole_way: Any, step: str) -> None:
    """What a successful command says on stderr is progress: lines that begin with the time since the start."""
    lines = whole_way.calls[step].err.splitlines()
    assert [line for line in lines if not (line.startswith("[") and " s] " in line)] == []
    assert bool(lines) == (step in ("dev", "full"))


def test_progress_shows_no_measure(whole_way: Any) -> None:
    """The full run's progress names steps and counts, and no result before the verdict."""
    err = whole_way.calls["full"].err
    assert "ranking with the candidate, bm25: 566 questions" in err
    assert not any(word in err for word in ("R@10", "points", "PASS", "+"))


def test_the_way_ends_in_pass(whole_way: Any) -> None:
    """On the synthetic benchmark raw turns alone pass against raw turns and facts, at look 1."""
    verdict = whole_way.calls["full"].json
    primary, guard = verdict["clauses"]
    assert (verdict["id"], verdict["state"], verdict["reason"]) == ("raw-only", "PASS", "all_clauses_hold")
    assert verdict["look"] == 1
    assert verdict["alpha_k"] == pytest.approx(0.05 * 6 / 3.141592653589793**2)
    assert primary["lower"] > 0.02
    assert guard["lower"] > -0.06
    assert (primary["n"], primary["clusters"]) == (499, 9)


def test_a_step_leads_to_the_next(whole_way: Any) -> None:
    """What one command made is what the next one used: run, frozen file, document, lock, verdict."""
    calls = whole_way.calls
    assert calls["freeze"].json["frozen"] == "experiments/raw-only/frozen.yaml"
    assert calls["new"].json["document"] == "preregistrations/raw-only.yaml"
    assert calls["check"].json["lockable"] is True
    assert (calls["lock"].json["look"], calls["check"].json["look"]) == (1, 1)
    assert calls["dev"].json["benchmark"]["digest"] == calls["import"].json["digests"]["digest"]


def test_dev_shows_both_credits_with_n_and_intervals(whole_way: Any) -> None:
    """A dev run compares with the version in force, under both credit rules, over all questions and categories."""
    result = whole_way.calls["dev"].json
    rows = {(row["measure"], row["slice"]): row for row in result["comparisons"]}
    assert {"R@10", "R(credit=source)@10"} <= {measure for measure, _ in rows}
    assert rows["R@10", "all"]["n"] == 57
    assert rows["R@10", "temporal"]["n"] == 9
    assert rows["R@10", "all"]["lower"] < rows["R@10", "all"]["estimate"] < rows["R@10", "all"]["upper"]
    assert "within one conversation" in result["interval"]
    assert result["exclusions"]["R@10"] == {"no evidence": 1}


def test_a_dev_process_never_opens_heldout_files(whole_way: Any) -> None:
    """Seen from inside the interpreter, a dev run opens the dev questions and no held-out file."""
    opened = {what.rpartition("/")[2] for event, what in whole_way.watched("dev") if event == "open"}
    assert "dev.parquet" in opened
    assert [name for name in opened if name.startswith("heldout-")] == []
    assert "heldout-labels.parquet" in {what.rpartition("/")[2] for _, what in whole_way.watched("full")}


def test_heldout_labels_stay_closed_until_the_judge(whole_way: Any) -> None:
    """Between import and the full run no command opens held-out labels."""
    for step in ("dev", "freeze", "new", "check", "lock"):
        assert not [what for _, what in whole_way.watched(step) if what.endswith("heldout-labels.parquet")], step


def test_reading_commands_on_a_finished_workspace(finished: Any) -> None:
    """Verdict, verify, show, list and in-force agree, and change nothing."""
    before = finished.tree()
    assert finished.run("verdict", "raw-only", "--json").json["state"] == "PASS"
    assert finished.run("prereg", "list", "--json").json[0] | {"locked": ""} == {
        "id": "raw-only", "stage": "JUDGED", "verdict": "PASS", "locked": "",
    }  # fmt: skip
    shown = finished.run("prereg", "show", "raw-only", "--json").json
    assert shown["digest"] == finished.payload("lock")["document_digest"]
    assert shown["document"] == finished.payload("lock")["document"]
    assert finished.run("data", "list", "--json").json[0]["name"] == "synthetic"
    force = finished.run("versions", "in-force", "--json").json
    assert (force["version"], force["parameters"]["layers"]) == ("bm25", ["raw"])
    assert force["because"] == "raw-only passed on R@10"
    code, status, _ = finished.verify()
    assert (code, {name for name, said in status.items() if said != "PASS"}) == (0, {"signature"})
    assert finished.tree() == before


def test_reading_commands_print_text_for_people(finished: Any) -> None:
    """Without --json the same commands print words, with the verdict first."""
    verdict = finished.run("verdict", "raw-only")
    assert verdict.out.startswith("PASS: ")
    assert "exploratory, other credit: R(credit=source)@10 in all" in verdict.out
    assert "one question is 0.20 points" in verdict.out
    assert "JUDGED" in finished.run("prereg", "list").out
    assert "the verdict stands; not run: signature" in finished.run("verify", "raw-only").out
    assert "bm25-edges" in finished.run("versions").out
    assert "may change" in finished.run("versions", "show", "bm25").out
    assert verdict.err == ""


def test_a_document_can_be_given_by_its_path(finished: Any) -> None:
    """Where an id is asked for, the path of its document does as well."""
    assert finished.run("verdict", str(finished.document())).code == 0


def test_a_command_finds_the_workspace_above(finished: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder within the workspace the commands work without --workspace."""
    monkeypatch.chdir(finished.root / "runs" / "full")
    assert finished.process("prereg", "list").code == 0


def test_init_leaves_alone_what_is_there(locked: Any) -> None:
    """A second init makes nothing and changes nothing."""
    before = locked.tree()
    done = locked.run("init", "--json")
    assert (done.code, done.json["made"]) == (0, [])
    assert locked.tree() == before


def test_init_takes_the_folder_in_either_way(desk: Any) -> None:
    """As its argument or as --workspace, never both; without one it is the present folder."""
    for words in (["init", str(desk.root / "a")], ["init", "--workspace", str(desk.root / "b")], ["init"]):
        assert desk.process(*words).code == 0
    assert {path.name for path in desk.root.iterdir()} >= {"a", "b", "preregistrations"}
    for name in "ab":
        assert (desk.root / name / "preregistrations").is_dir()
    assert desk.run("init", str(desk.root / "c")).code == 2  # the desk gives --workspace
    assert not (desk.root / "c").exists()


def test_freezing_again_keeps_and_freezing_another_refuses(locked: Any) -> None:
    """The same run may be frozen again under its name; another run may not."""
    before = locked.tree()
    assert locked.run("freeze", "latest", "--name", "raw-only").code == 0
    assert locked.tree() == before
    result = next((locked.root / "runs" / "dev").glob("*/result.json"))
    result.write_text(result.read_text(encoding="utf-8").replace('"k": 10', '"k": 11'), encoding="utf-8")
    refused = locked.run("freeze", "latest", "--name", "raw-only")
    assert refused.code == 2
    assert "never overwritten" in refused.err
