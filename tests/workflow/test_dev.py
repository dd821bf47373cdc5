"""Dev work: the dev questions only, in every process, and whatever else is imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import joblib
import pytest

from harness.benchmarks.library import SEALED_FILES
from harness.workflow.dev import finished_run, finished_runs
from harness.workflow.workspace import Workspace

SWEEP = ("dev", "-m", "retrieval.k1=0.6,0.9,1.2,1.5", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2")


def test_no_process_of_a_sweep_opens_what_is_held_out(ready: Any, whole_way: Any, tmp_path: Path) -> None:
    """The driver and all its workers open the dev file, and neither a held-out file nor the ledger of runs."""
    done = ready.process(*SWEEP, "--json", **whole_way.watching(tmp_path / "watch"))
    assert done.code == 0, done.err
    opened = {Path(what).name for event, what in whole_way.watched_in(tmp_path / "watch") if event == "open"}
    assert "dev.parquet" in opened
    assert not opened & SEALED_FILES


@pytest.mark.parametrize("file", sorted(SEALED_FILES))
def test_a_worker_that_tries_is_refused_and_logged(ready: Any, file: str) -> None:
    """In a worker process the seal stands before its first trial: an open is refused, and the log names the file."""

    def attempt(root: str, path: str) -> str:
        from pathlib import Path

        from harness.workflow.trial import _bench

        _bench(root, "synthetic")
        try:
            Path(path).read_bytes()
        except Exception as error:  # noqa: BLE001 - the test looks at what it was
            return f"{type(error).__name__}: {error}"
        return "opened"

    path = str(ready.root / "data" / "synthetic" / file)
    (said,) = joblib.Parallel(n_jobs=2)([joblib.delayed(attempt)(str(ready.root), path)])
    assert said.startswith("IntegrityProblem")
    assert "held-out" in said
    assert path in (ready.root / "runs" / "dev" / "refused-opens.log").read_text(encoding="utf-8")


def test_the_source_of_every_benchmark_is_closed(ready: Any, tiny_locomo: Path) -> None:
    """Dev work on one benchmark cannot open the file that another was imported from either."""
    name = ("--allow-unknown", "--name", "tiny")
    assert ready.run("data", "import", "locomo", str(tiny_locomo), *name).code == 0

    def attempt(root: str, path: str) -> str:
        from pathlib import Path

        from harness.workflow.trial import _bench

        _bench(root, "synthetic")
        try:
            Path(path).read_bytes()
        except Exception as error:  # noqa: BLE001 - the test looks at what it was
            return type(error).__name__
        return "opened"

    (said,) = joblib.Parallel(n_jobs=2)([joblib.delayed(attempt)(str(ready.root), str(tiny_locomo))])
    assert said == "IntegrityProblem"


def test_another_dev_conversation_of_the_same_file_is_an_outside_look(desk: Any, tiny_locomo: Path) -> None:
    """Questions that are held out under one name and dev under another are recorded as seen, once, and said."""
    assert desk.run("init").code == 0
    source = ("data", "import", "locomo", str(tiny_locomo), "--allow-unknown")
    assert desk.run(*source, "--name", "promised").code == 0
    assert desk.run(*source, "--name", "peek", "--dev", "conv-90").code == 0
    first = desk.run("dev", "benchmark.name=peek", "--json")
    assert first.code == 0
    assert "recorded as an outside look" in first.err
    assert desk.run("dev", "-m", "benchmark.name=peek", "retrieval.k1=0.9,1.2").code == 0
    assert desk.kinds() == ["outside_look"]
    assert "dev work on peek" in desk.payload("outside_look")["what"]
    # and the other way round: what is dev here is held out there
    assert "recorded as an outside look" in desk.run("dev", "benchmark.name=promised").err
    assert desk.kinds() == ["outside_look"] * 2


def test_a_run_is_whole_and_holds_its_ranking_twice(ready: Any) -> None:
    """A dev run's folder has the result and the ranking as TREC and as Parquet, and nothing unfinished beside it."""
    assert ready.run("dev", "retrieval.layers=[raw]").code == 0
    runs = ready.root / "runs" / "dev"
    (folder,) = [path for path in runs.iterdir() if path.is_dir()]
    assert sorted(path.name for path in folder.iterdir()) == ["candidate.parquet", "candidate.trec", "result.json"]
    (run,) = finished_runs(Workspace(ready.root))
    assert finished_run(Workspace(ready.root), run.result["content"]) == run
    assert finished_run(Workspace(ready.root), "sha256:" + "0" * 64) is None


def test_ties_are_reported_with_their_range(ready: Any) -> None:
    """The result says how many questions tie, and what every measure could have been under another order."""
    result = ready.run("dev", "retrieval.layers=[raw,distill]", "k=3", "--json").json
    report = result["ties"]["candidate"]
    spread = report["ranges"]["R@3"]
    assert spread["least"] <= spread["expected"] <= spread["greatest"]
    assert spread["least"] <= spread["ranked"] <= spread["greatest"]
    assert report["cuts"]["3"]["inside"] >= 0


def test_dev_questions_without_a_score_are_said_to_have_none(ready: Any, tmp_path: Path) -> None:
    """Nothing can be compared then, and it is not the version in force that is to blame; held out, it is refused."""
    lines = [{"id": f"q{n}", "text": f"what is {n}?"} for n in range(10)]
    corpus, asked = tmp_path / "own/corpus.jsonl", tmp_path / "own/questions.jsonl"
    corpus.parent.mkdir()
    corpus.write_text('{"id": "d", "text": "one thing"}\n', encoding="utf-8")
    asked.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    assert ready.run("data", "import", "jsonl", str(corpus.parent), "--name", "mine").code == 0
    done = ready.process("dev", "--retrieval-version", "bm25", "benchmark.name=mine")
    assert done.code == 0, done.err
    assert "no dev question has a score" in done.out
    assert "another unit" not in done.out
    assert ready.run("freeze", "latest", "--name", "mine").code == 0
    assert ready.run("prereg", "new", "mine", "--from", "experiments/mine/frozen.yaml", "--primary", "R@10").code == 0
    says = ready.run("prereg", "check", "mine").out
    assert "none of its questions has evidence that this measure counts" in says
    assert "did you mean 'all'" not in says


def test_the_same_configuration_has_the_same_content(ready: Any) -> None:
    """Two runs of one configuration agree in content and figures; another parameter changes the content."""
    first, again, other = (
        ready.run("dev", *words, "--json").json for words in (["k=5"], ["k=5"], ["k=5", "retrieval.b=0.5"])
    )
    assert first["content"] == again["content"] != other["content"]
    assert first["slices"] == again["slices"]
    assert first["run"] != again["run"]


def test_texts_are_counted_as_they_are_embedded_and_embedded_once(ready: Any, tmp_path: Path) -> None:
    """A long embedding shows how far it is; the next run finds every vector in the cache and counts none."""
    run = ("dev", "--retrieval-version", "rrf")
    cold = ready.process(*run, HARNESS_CACHE=str(tmp_path / "cache"))
    assert "embedding with wordllama: " in cold.err
    warm = ready.process(*run, HARNESS_CACHE=str(tmp_path / "cache"))
    assert (warm.code, "embedding" in warm.err) == (0, False)
    assert [line for line in warm.out.splitlines() if line[:2] in ("R@", "RR")] == [
        line for line in cold.out.splitlines() if line[:2] in ("R@", "RR")
    ]
