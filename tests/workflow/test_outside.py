"""Every road to a candidate's held-out figure before its verdict is closed, or leads past the ledger."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from harness.benchmarks import library
from harness.benchmarks.columns import DEV, HELDOUT, Benchmark, question_members
from harness.benchmarks.locomo import import_locomo
from harness.benchmarks.synthetic import import_synthetic
from harness.errors import UsageProblem
from harness.ledger.looks import read_question_set
from harness.retrieval.documents import document_names
from harness.retrieval.ranking_files import write_parquet, write_trec
from harness.retrieval.registry import select
from harness.retrieval.version import Store
from harness.workflow.outside import adopt_looks, held_out, record_outside_look, remember_look
from harness.workflow.workspace import Workspace, init_workspace

ID = "raw-only"
RECIPE = """\
format: 1
name: {name}
title: t
source: s
benchmark: {{importer: synthetic, expects: nothing, corpus: "{corpus}"}}
runs:
  - {{title: "{title}", version: bm25, parameters: {{layers: [raw]}}, measure: R@10, hits: 1, questions: 2}}
tolerance: 0
nearly: 2
"""


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory, synthetic: Benchmark) -> Path:
    """A folder with the candidate's and the baseline's run, and qrels: of all questions, and of dev only."""
    folder = tmp_path_factory.mktemp("runs")
    store = Store(synthetic.corpus, synthetic.edges)
    names = document_names(synthetic.corpus, synthetic.edges, "chunk")
    for name, layers in (("A", ["raw", "distill"]), ("B", ["raw"])):
        ranking = select("bm25", {"layers": layers}).rank(store, synthetic.questions, 20)
        write_trec(ranking, names, folder / f"{name}.run")
        write_parquet(ranking, names, folder / f"{name}.parquet")
    lines = [
        (part, f"{question} 0 {names[chunk]} 1\n")
        for i, (question, part) in enumerate(zip(synthetic.questions.ids, synthetic.questions.part, strict=True))
        for chunk in synthetic.labels.repaired.row(i)
    ]
    (folder / "all.qrels").write_text("".join(line for _, line in lines), encoding="utf-8")
    (folder / "dev.qrels").write_text("".join(line for part, line in lines if part == DEV), encoding="utf-8")
    return folder


@pytest.fixture
def away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder that is in no workspace."""
    folder = tmp_path / "away"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def heldout(locked: Any) -> frozenset[str]:
    """Digests of the held-out questions of the locked document."""
    return Workspace(locked.root).benchmark("synthetic").question_sets[HELDOUT]


def compare_words(runs: Path, qrels: str = "all.qrels") -> tuple[str, ...]:
    """The command that compares the candidate's run with the baseline's."""
    return ("compare", str(runs / "A.run"), str(runs / "B.run"), "--qrels", str(runs / qrels))


def page_of(desk: Any) -> str:
    """The verdict page as text, made now."""
    return str(desk.full("report.md").read_text(encoding="utf-8"))


# comparing


@pytest.mark.usefixtures("away")
def test_comparing_heldout_questions_is_recorded_and_on_the_page(locked: Any, runs: Path) -> None:
    """In a workspace the look is in the ledger, in the output, and on the page of the verdict that follows."""
    done = locked.run(*compare_words(runs))
    assert done.code == 0, done.err
    assert "as an outside look at" in done.out
    look = locked.payload("outside_look")
    assert "A.run" in look["what"]
    assert set(look["files"]) == {"baseline", "candidate", "qrels"}
    again = locked.run(*compare_words(runs))
    assert "recorded before in the ledger" in again.out
    assert locked.kinds() == ["lock", "outside_look"]
    assert locked.run("full", ID).code in (0, 10, 20)
    assert "harness compare A.run" in page_of(locked)
    assert "after the lock" in page_of(locked)
    assert locked.verify()[0] == 0


@pytest.mark.usefixtures("away")
def test_the_look_is_recorded_before_any_figure(locked: Any, runs: Path) -> None:
    """Where the ledger cannot be read the figures are not shown: exit code 3 and nothing on stdout."""
    for path in locked.entry_files():
        path.write_text("{}", encoding="utf-8")
    done = locked.run(*compare_words(runs))
    assert (done.code, done.out) == (3, "")


def test_another_workspace_option_is_no_way_round(
    locked: Any, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look counts for the workspace around the current folder and around each file, whatever --workspace says."""
    from harness.cli.main import main

    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(locked.root / "experiments")
    assert main([*compare_words(runs), "--workspace", str(elsewhere)]) == 0
    assert locked.kinds() == ["lock", "outside_look"]
    monkeypatch.chdir(elsewhere)
    inside = shutil.copytree(runs, locked.root / "files")
    (elsewhere / "link").symlink_to(inside / "B.parquet")
    words = [str(runs / "A.parquet"), str(elsewhere / "link"), "--qrels", str(runs / "all.qrels")]
    (elsewhere / "link.parquet").symlink_to(inside / "B.parquet")
    words[1] = str(elsewhere / "link.parquet")
    assert main(["compare", *words]) == 0
    assert locked.kinds() == ["lock", "outside_look", "outside_look"]


@pytest.mark.usefixtures("away")
def test_comparing_dev_questions_is_no_outside_look(locked: Any, runs: Path) -> None:
    """Dev questions may be scored as often as anybody likes."""
    done = locked.run(*compare_words(runs, "dev.qrels"))
    assert (done.code, "outside look" in done.out) == (0, False)
    assert locked.kinds() == ["lock"]


def test_comparing_outside_of_any_workspace_makes_none(desk: Any, runs: Path, away: Path) -> None:
    """Without a workspace there is no ledger, and none is made; the comparison is remembered for this user."""
    done = desk.run(*compare_words(runs))
    assert (done.code, "outside look" in done.out, "remembered for the workspaces" in done.out) == (0, False, True)
    assert [*desk.root.iterdir(), *away.iterdir()] == []


def test_comparing_outside_is_adopted_by_the_run(locked: Any, runs: Path, away: Path) -> None:
    """Whoever walks out of the workspace to compare finds it on the page: the ids tell whose questions they are."""
    from harness.cli.main import main

    assert main([*compare_words(runs), "--workspace", str(away)]) == 0
    assert main([*compare_words(runs, "dev.qrels"), "--workspace", str(away)]) == 0
    assert locked.kinds() == ["lock"]
    assert locked.run("full", ID).code in (0, 10, 20)
    assert locked.kinds() == ["lock", "seal", "claim", "outside_look", "verdict"]
    look = locked.payload("outside_look")
    assert "all.qrels" in look["what"]
    library = Workspace(locked.root).benchmark("synthetic")
    kept = read_question_set(Workspace(locked.root).ledger.root, look["question_set"])
    judged = {line.split()[0] for line in (runs / "all.qrels").read_text(encoding="utf-8").splitlines()}
    questions = library.heldout_questions()
    chosen = [i for i, name in enumerate(questions.ids) if name in judged]
    assert set(kept) == question_members(questions.take(np.array(chosen)))
    assert "harness compare A.run" in page_of(locked)
    assert locked.verify()[0] == 0


def test_comparing_outside_is_adopted_by_the_lock(locked: Any, runs: Path, away: Path) -> None:
    """A look that came before a promise stands in the ledger before it, and whoever locks is told."""
    from harness.cli.main import main

    assert locked.run("prereg", "abandon", ID, "--reason", "a test").code == 0
    assert main([*compare_words(runs), "--workspace", str(away)]) == 0
    assert locked.second().code == 0
    done = locked.run("prereg", "lock", "second")
    assert done.code == 0, done.err
    assert "recorded as an outside look at the held-out questions: harness compare A.run" in done.err
    assert locked.kinds() == ["lock", "abandon", "outside_look", "lock"]


def test_putting_the_benchmark_away_is_no_way_round(locked: Any, runs: Path, away: Path) -> None:
    """While its folder is elsewhere nobody knows whose questions they are; the run remembers, once."""
    (locked.root / "data").rename(away / "data")
    assert "outside look" not in locked.run(*compare_words(runs)).out
    (away / "data").rename(locked.root / "data")
    assert locked.kinds() == ["lock"]
    assert "recorded in the ledger" in locked.run(*compare_words(runs)).out
    assert locked.run("full", ID).code in (0, 10, 20)
    assert locked.kinds() == ["lock", "outside_look", "seal", "claim", "verdict"]


# reproducing


@pytest.fixture
def recipe(tmp_path: Path, synthetic: Benchmark) -> Any:
    """Writes a recipe that scores the candidate on all questions."""

    def write(title: str = "mine", name: str = "locomo-reviewed-bm25") -> str:
        path = tmp_path / "own.yaml"
        text = RECIPE.format(corpus=synthetic.digests()["corpus"], title=title, name=name)
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_recipe_of_ones_own_is_recorded_under_its_content(locked: Any, recipe: Any) -> None:
    """It is one look however often it is run; another recipe of the same name is another."""
    for title, looks in (("mine", 1), ("mine", 1), ("other", 2)):
        assert locked.run("reproduce", recipe(title)).code == 5
        assert locked.kinds().count("outside_look") == looks
    assert locked.run("full", ID).code in (0, 10, 20)
    assert page_of(locked).count("harness reproduce locomo-reviewed-bm25 (") == 2


def test_a_reproduction_elsewhere_is_adopted_by_the_run(locked: Any, recipe: Any, away: Path) -> None:
    """Made outside of any workspace it is remembered for this user, recorded before judging, and on the page."""
    from harness.cli.main import main

    assert main(["reproduce", recipe(), "--workspace", str(away)]) == 5
    assert locked.kinds() == ["lock"]
    done = locked.run("full", ID)
    assert done.code in (0, 10, 20)
    assert "recorded as an outside look at the held-out questions: harness reproduce" in done.err
    assert locked.kinds() == ["lock", "seal", "claim", "outside_look", "verdict"]
    assert "seen" in locked.payload("outside_look")
    assert "harness reproduce locomo-reviewed-bm25" in page_of(locked)
    assert locked.verify()[0] == 0


# another workspace, another split


def test_a_full_run_in_another_workspace_is_adopted(locked: Any, heldout: frozenset[str], tmp_path: Path) -> None:
    """Whoever judged these questions elsewhere finds that recorded here; the own run is no outside look."""
    assert locked.run("full", ID).code in (0, 10, 20)
    library = Workspace(locked.root).benchmark("synthetic")
    adopt_looks(Workspace(locked.root), library)
    assert "outside_look" not in locked.kinds()
    second, _ = init_workspace(tmp_path / "second")
    for _ in range(2):
        adopt_looks(second, library)
        (entry,) = second.entries()
    assert entry.payload["what"] == f"the full run of {ID} in another workspace"
    assert set(read_question_set(second.ledger.root, entry.payload["question_set"])) == heldout


def test_questions_are_held_out_if_any_benchmark_or_lock_holds_them_out(locked: Any, heldout: frozenset[str]) -> None:
    """Another split under another name does not make them dev questions, nor does removing the benchmark."""
    workspace = Workspace(locked.root)
    dev = workspace.benchmark("synthetic").question_sets[DEV]
    assert held_out(workspace, dev | heldout) == heldout
    shutil.rmtree(locked.root / "data" / "synthetic")
    assert held_out(workspace, dev | heldout) == heldout


def test_another_split_of_the_same_file_is_seen(locked: Any, tiny_locomo: Path) -> None:
    """The dev questions of one import that another one holds out are known as such, without opening a sealed file."""
    workspace = Workspace(locked.root)
    for name, dev in (("tiny", ("conv-26",)), ("other", ("conv-90",))):
        benchmark = import_locomo(tiny_locomo, name=name, dev=dev, allow_unknown=True)
        library.save(benchmark, workspace.data / name)
    own = workspace.benchmark("other")
    assert held_out(workspace, own.question_sets[DEV], own) == own.question_sets[DEV]
    mine = workspace.benchmark("synthetic")
    assert held_out(workspace, mine.question_sets[DEV], mine) == frozenset()


def test_dev_work_on_another_split_before_the_promise(desk: Any, tiny_locomo: Path) -> None:
    """Dev work that came first, on an import that is gone, is adopted where its questions are held out.

    The order is that of somebody who sees the figures, removes the benchmark, and imports it as it should be.
    """
    assert desk.run("init").code == 0
    source = ("data", "import", "locomo", str(tiny_locomo), "--allow-unknown")
    assert desk.run(*source, "--dev", "conv-90").code == 0
    assert desk.run("dev").code == 0
    shutil.rmtree(desk.root / "data" / "locomo")
    shutil.rmtree(desk.root / "runs")
    assert desk.run(*source).code == 0
    assert desk.run("dev").code == 0
    assert desk.kinds() == []
    workspace = Workspace(desk.root)
    for _ in range(2):
        adopt_looks(workspace, workspace.benchmark("locomo"))
        (entry,) = workspace.entries()
    assert entry.payload["what"].startswith("dev work on locomo (")
    assert workspace.benchmark("locomo").question_sets[HELDOUT] >= set(
        read_question_set(workspace.ledger.root, entry.payload["question_set"])
    )


def test_which_looks_are_on_the_page(locked: Any, tiny_locomo: Path, heldout: frozenset[str]) -> None:
    """Those that share one question, by its text, before the verdict; entries of the first version by their corpus."""
    workspace = Workspace(locked.root)
    other = question_members(import_locomo(tiny_locomo, allow_unknown=True).questions)
    assert record_outside_look(workspace, "tiny conversations", other) is not None
    assert record_outside_look(workspace, "one question", [min(heldout), "0" * 16]) is not None
    assert record_outside_look(workspace, "one question", ["0" * 16, min(heldout)]) is None
    assert record_outside_look(workspace, "no question", []) is None
    corpus = locked.payload("lock")["benchmark"]["corpus"]
    workspace.record("outside_look", {"what": "an old reproduction", "corpus": corpus})
    workspace.record("outside_look", {"what": "of something else", "corpus": "sha256:" + "0" * 64})
    assert locked.run("full", ID).code in (0, 10, 20)
    assert record_outside_look(workspace, "too late", heldout) is not None
    assert locked.run("report", ID).code == 0
    page = page_of(locked)
    assert "one question, recorded" in page
    assert "an old reproduction, recorded" in page
    for absent in ("too late", "tiny conversations", "of something else"):
        assert absent not in page
    assert locked.verify()[0] == 0


def test_what_was_remembered_badly_stops_nobody(locked: Any, heldout: frozenset[str]) -> None:
    """A damaged memory is a help that is missing, not a reason to refuse a run."""
    assert remember_look("a look", heldout)
    folder = locked.state / "retrieval-harness" / "outside-looks"
    (folder / "broken.json").write_text("{", encoding="utf-8")
    (folder / "odd.json").write_text('{"what": 1}', encoding="utf-8")
    adopt_looks(Workspace(locked.root), Workspace(locked.root).benchmark("synthetic"))
    assert locked.payload("outside_look")["what"] == "a look"


# every other command, before the verdict


def test_before_judging_no_command_shows_a_heldout_figure(locked: Any, crash: Any, whole_way: Any) -> None:
    """With both rankings sealed, no command prints a score, no file holds one, and MLflow has none."""
    assert crash.go([("after the seal", locked, ("full", ID))]) == [-signal.SIGKILL]
    scores = json.loads((whole_way.finished / "runs" / "full" / ID / "scores.json").read_text(encoding="utf-8"))
    values = [value for value in scores["measures"]["R@10"]["candidate"] if value is not None]
    figure = sum(values) / len(values)
    shown = (f"{figure:.4f}", f"{100 * figure:.1f}")
    for words in (
        ("verdict", ID), ("report", ID), ("verify", ID), ("prereg", "show", ID), ("prereg", "list"),
        ("prereg", "check", ID), ("data", "list"), ("versions",), ("versions", "in-force"),
    ):  # fmt: skip
        for more in ((), ("--json",)):
            done = locked.run(*words, *more)
            assert done.code in (0, 2, 3), done.err
            assert not any(figure in done.out + done.err for figure in shown), words
    for words in (("verdict", ID), ("report", ID)):
        done = locked.run(*words)
        assert (done.code, "has no verdict" in done.err) == (2, True)
    names = {path.name for path in locked.full().iterdir()}
    assert not names & {"evidence.jsonl", "scores.json", "report.html", "report.md", "mirror.json"}
    store = locked.root / "runs" / "mlflow.db"
    if store.exists():
        with sqlite3.connect(store) as database:
            keys = {key for (key,) in database.execute("select key from metrics")}
        assert not [key for key in keys if "heldout" in key or key.startswith("full")]
    assert locked.kinds() == ["lock", "seal"]


@pytest.mark.parametrize("point", ["evidence written", "before the verdict"])
def test_a_kill_as_a_peek_costs_the_look(locked: Any, crash: Any, point: str) -> None:
    """Whoever kills the judge finds scores on the disk; the claim says so, and every later document is reused."""
    assert crash.go([(point, locked, ("full", ID))]) == [-signal.SIGKILL]
    assert locked.kinds() == ["lock", "seal", "claim"]
    assert locked.run("prereg", "abandon", ID, "--reason", "I saw it").code == 0
    assert locked.second().code == 0
    done = locked.run("prereg", "check", "second")
    assert "results on these questions could be read already" in done.out
    locked.run("prereg", "lock", "second", "--acknowledge", "a test")
    assert locked.payload("lock")["look"] == 2


def test_a_set_without_members_is_refused_before_the_ledger(locked: Any) -> None:
    """A digest that is none of a question is a mistake of the caller, and nothing is recorded."""
    with pytest.raises(UsageProblem):
        record_outside_look(Workspace(locked.root), "a look", ["not a digest"])
    assert locked.kinds() == ["lock"]


@pytest.mark.usefixtures("away")
def test_a_second_import_with_the_same_questions_is_seen(locked: Any, heldout: frozenset[str], runs: Path) -> None:
    """Held out anywhere in the workspace is held out: a copy under another name changes nothing."""
    library.save(import_synthetic("copy"), locked.root / "data" / "copy")
    shutil.rmtree(locked.root / "data" / "synthetic")
    assert locked.run(*compare_words(runs)).code == 0
    look = locked.payload("outside_look")
    kept = read_question_set(Workspace(locked.root).ledger.root, look["question_set"])
    assert set(kept) <= heldout
    assert look["questions"] == len(kept) > 0.9 * len(heldout)
