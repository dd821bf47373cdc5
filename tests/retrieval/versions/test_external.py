import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from harness.errors import UsageProblem
from harness.retrieval import files
from harness.retrieval.ranking_files import write_parquet, write_trec
from harness.retrieval.registry import select
from harness.retrieval.version import Store

PEERS = Path(__file__).parents[1] / "peers"
MISBEHAVING = f"{sys.executable} {PEERS / 'misbehaving.py'}"


@pytest.fixture
def below(tmp_path, monkeypatch):
    """The workspace in which files are looked for."""
    monkeypatch.setattr(files, "_below", [tmp_path])
    return tmp_path


@pytest.fixture
def store(synthetic):
    """What is searched."""
    return Store(synthetic.corpus, synthetic.edges)


@pytest.fixture
def few(synthetic):
    """Six questions of two conversations."""
    return synthetic.questions.take(np.array([0, 1, 2, 3, len(synthetic.questions) - 2, len(synthetic.questions) - 1]))


def asked(what, store, questions, patience=2, **choices):
    """Rank by the program that misbehaves in this way after ``patience`` good answers."""
    return select("external", {"command": f"{MISBEHAVING} '{what}' {patience}", **choices}).rank(store, questions, 10)


@pytest.mark.parametrize("write", [write_trec, write_parquet], ids=["theirs.trec", "theirs.parquet"])
def test_a_run_file_is_taken_as_it_is(write, below, store, synthetic):
    """A ranking that was written as a TREC run or as Parquet comes back, question by question, to any depth."""
    honest = select("bm25").rank(store, synthetic.questions, 30)
    name = f"theirs.{'trec' if write is write_trec else 'parquet'}"
    write(honest, synthetic.corpus.ids, below / name)
    system = select("external", {"run": name})
    backwards = np.arange(len(synthetic.questions))[::-1].astype(np.int64)
    assert system.rank(store, synthetic.questions, 30).same_order(honest)
    assert system.rank(store, synthetic.questions.take(backwards), 30).same_order(honest.take(backwards))
    assert system.rank(store, synthetic.questions, 5).same_order(honest.cut(5))


def test_a_run_file_over_edges_names_edges(below, store, synthetic):
    """With read_model=edge the ids are those of edges, and k counts edges."""
    honest = select("bm25-edges").rank(store, synthetic.questions, 10)
    from harness.retrieval.documents import document_names

    write_trec(honest, document_names(store.corpus, store.edges, "edge"), below / "theirs.trec")
    system = select("external", {"run": "theirs.trec", "read_model": "edge"})
    assert system.unit == "edges"
    assert system.rank(store, synthetic.questions, 10).same_order(honest)


def test_questions_that_a_run_lacks_are_refused_or_empty(below, store, synthetic):
    """One question without a row stops it, named; missing=empty says that nothing was found."""
    honest = select("bm25").rank(store, synthetic.questions, 10)
    write_trec(honest.take(np.arange(1, len(honest))), synthetic.corpus.ids, below / "theirs.trec")
    with pytest.raises(UsageProblem, match=f"1 of {len(honest)} questions are not in the run") as caught:
        select("external", {"run": "theirs.trec"}).rank(store, synthetic.questions, 10)
    assert synthetic.questions.ids[0] in str(caught.value)
    found = select("external", {"run": "theirs.trec", "missing": "empty"}).rank(store, synthetic.questions, 10)
    assert found.row(0) == []
    assert found.take(np.arange(1, len(honest))).same_order(honest.take(np.arange(1, len(honest))))


WRONG_RUNS = {
    "five columns": ("{q} Q0 {d} 1 3.0\n", "5 columns"),
    "an unknown document": ("{q} Q0 nowhere 1 3.0 x\n", "nowhere"),
    "a document twice": ("{q} Q0 {d} 1 3.0 x\n{q} Q0 {d} 2 2.0 x\n", "twice|second time|again"),
    "a score that is none": ("{q} Q0 {d} 1 high x\n", "high"),
    "a document of another partition": ("{q} Q0 {e} 1 3.0 x\n", "another partition than question"),
}


@pytest.mark.parametrize("case", WRONG_RUNS)
def test_a_wrong_run_file_says_what_is_wrong(case, below, store, synthetic):
    """The error names the fault and the file's line, or the question."""
    text, says = WRONG_RUNS[case]
    names = {"q": synthetic.questions.ids[0], "d": synthetic.corpus.ids[0], "e": "syn-10/D1:1"}
    (below / "theirs.trec").write_text(text.format(**names))
    with pytest.raises(UsageProblem, match=says):
        select("external", {"run": "theirs.trec", "missing": "empty"}).rank(store, synthetic.questions, 10)


def test_a_run_that_was_changed_is_another_system(below, store, synthetic):
    """One byte more has another digest, and what was frozen refuses to rank with it."""
    honest = select("bm25").rank(store, synthetic.questions, 10)
    write_trec(honest, synthetic.corpus.ids, below / "theirs.trec")
    frozen = select("external", {"run": "theirs.trec"})
    with (below / "theirs.trec").open("a") as handle:
        handle.write("\n")
    assert select("external", {"run": "theirs.trec"}) != frozen
    with pytest.raises(UsageProblem, match=r"theirs\.trec was changed"):
        select("external", frozen.settings()).rank(store, synthetic.questions, 10)


@pytest.mark.parametrize("choices", [{"run": "a", "command": "b"}, {"run": "nowhere.trec"}, {"command": "'"}])
def test_what_cannot_be_ranked_with_is_refused_when_chosen(choices, below):  # noqa: ARG001
    """Both a run and a command, a file that is not there, a quotation mark that is not closed."""
    with pytest.raises(UsageProblem):
        select("external", choices)


def test_a_system_in_another_language_is_asked(below, store, synthetic):
    """A Node.js program that counts common words ranks every question, as the same rule does here."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not on the PATH")
    shutil.copy(PEERS / "counting_words.js", below / "system.js")
    found = select("external", {"command": "node system.js"}).rank(store, synthetic.questions, 10)
    import re

    def words(text):
        return set(re.findall(r"[^\W_]+", text.lower()))

    bags = [words(text) for text in synthetic.corpus.texts]
    for index in range(0, len(synthetic.questions), 29):
        mine = words(synthetic.questions.texts[index])
        mine_only = synthetic.corpus.partition == synthetic.questions.partition[index]
        here = np.flatnonzero(mine_only & (synthetic.corpus.layer < 2)).tolist()  # turns and facts, as bm25 searches
        scored = sorted((-len(mine & bags[at]), at) for at in here if mine & bags[at])
        assert found.row(index) == [at for _, at in scored[:10]]


MISTAKES = {
    "hangs": "no answer within 2 seconds",
    "crashes": "exit code 7 before it answered\n  it said: out of memory",
    "crashes at the start": "no model found",
    "ends": "exit code 0 before it answered",
    "prints nonsense": "no line of JSON: 'loading model…'",
    "prints a number": "not an answer: 3",
    "prints half a line": "no line of JSON",
    "answers another question": "an answer to question 'q-of-others'",
    "finds an unknown document": "unknown document 'nowhere/1'",
    "finds a number": "unknown document '7'",
    "finds a document twice": "twice",
    "finds what lies elsewhere": "another partition",
    "scores too few": "one finite number a document",
    "scores with NaN": "one finite number a document",
    "scores with text": "one finite number a document",
    "sorts the wrong way": "increase along the ranking",
}


@pytest.mark.parametrize("what", MISTAKES)
def test_what_a_command_does_wrong_names_the_question(what, below, store, few):  # noqa: ARG001
    """The error says what it did and at which question; nothing of what it answered is used."""
    with pytest.raises(UsageProblem, match=MISTAKES[what].replace("(", r"\(")) as caught:
        asked(what, store, few, timeout=2.0)
    if what != "crashes at the start":
        assert few.ids[2] in str(caught.value)


def test_a_command_that_does_not_end_well_is_told(below, store, few):  # noqa: ARG001
    """One that goes on after the last answer, or ends with a code, has not done its work."""
    with pytest.raises(UsageProblem, match="still running 1 seconds after the last answer"):
        asked("does not end", store, few, timeout=1.0)
    with pytest.raises(UsageProblem, match="exit code 1 after the last answer\n  it said: could not save"):
        asked("ends badly", store, few, timeout=5.0)


@pytest.mark.parametrize(("what", "found"), [("finds nothing", 0), ("finds fewer", 2), ("finds more", 10)])
def test_a_command_may_find_fewer_and_no_more_counts_than_was_asked(what, found, below, store, few):  # noqa: ARG001
    """Nothing, two, or more than the depth, which is cut."""
    assert len(asked(what, store, few).row(2)) == found


def test_a_command_that_reads_nothing_is_not_waited_for_longer(below, store, few):  # noqa: ARG001
    """A question that is longer than what a pipe holds has the same time limit as its answer."""
    endless = replace(few, texts=tuple("when and where? " * 20_000 for _ in few.texts))
    command = f"{sys.executable} -c 'import time; time.sleep(120)'"
    started = time.monotonic()
    with pytest.raises(UsageProblem, match="no answer within 1 seconds"):
        select("external", {"command": command, "timeout": 1.0}).rank(store, endless, 10)
    assert time.monotonic() - started < 60  # it would have waited for the command's own end


def test_what_escaped_from_a_command_is_not_waited_for(below, store, few):
    """A child in a session of its own, which holds the pipes open, does not hold up the error."""
    (below / "parent.py").write_text(
        "import subprocess, sys, time\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(120)'], start_new_session=True)\n"
        "time.sleep(120)\n"
    )
    started = time.monotonic()
    with pytest.raises(UsageProblem, match="no answer within 1 seconds"):
        select("external", {"command": f"{sys.executable} parent.py", "timeout": 1.0}).rank(store, few, 10)
    assert time.monotonic() - started < 60


def test_a_program_may_stand_in_the_command_itself(below):  # noqa: ARG001
    """A word that is longer than any file's name names no file."""
    command = f"python -c '{'x = 1; ' * 1000}'"
    assert select("external", {"command": command}).settings()["command"] == command


def test_a_command_that_is_not_there_is_named(below, store, few):  # noqa: ARG001
    """The error names the program."""
    with pytest.raises(UsageProblem, match="does not start") as caught:
        select("external", {"command": "no-such-program --fast"}).rank(store, few, 10)
    assert "no-such-program" in str(caught.value)


def test_a_script_that_was_changed_is_another_system(below):
    """The digest covers the files that the command names."""
    script = below / "system.py"
    script.write_text("print(1)\n")
    before = select("external", {"command": "python system.py"})
    script.write_text("print(2)\n")
    assert select("external", {"command": "python system.py"}) != before


def test_what_a_command_started_is_ended_with_it(below, store, few):
    """A child that it leaves behind does not live on."""
    (below / "parent.py").write_text(
        "import subprocess, sys, time\n"
        f"child = subprocess.Popen([{sys.executable!r}, '-c', 'import time; time.sleep(300)'])\n"
        "open('child', 'w').write(str(child.pid))\n"
        "time.sleep(300)\n"
    )
    with pytest.raises(UsageProblem, match="no answer"):
        select("external", {"command": f"{sys.executable} parent.py", "timeout": 2.0}).rank(store, few, 10)
    child = int((below / "child").read_text())
    for _ in range(100):
        state = subprocess.run(["ps", "-o", "stat=", "-p", str(child)], capture_output=True, text=True).stdout.strip()
        if not state or state.startswith("Z"):
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the child lives on")


def test_what_lies_in_a_layer_that_is_not_searched_is_refused(below, store, few):
    """A system that was given summaries too is no comparison with one that was not; said to be searched, they count."""
    deep = select("bm25", {"layers": ["raw", "distill", "summary"]}).rank(store, few, 200)
    write_trec(deep, store.corpus.ids, below / "theirs.trec")
    with pytest.raises(UsageProblem, match="lies in the layer summary, which is not searched"):
        select("external", {"run": "theirs.trec"}).rank(store, few, 10)
    everything = select("external", {"run": "theirs.trec", "layers": ["raw", "distill", "summary"]})
    assert everything.rank(store, few, 200).same_order(deep)


def test_a_command_gets_the_layers_that_are_searched(store, few):
    """With the default layers no summary is in its corpus, so that it cannot find one."""
    ranking = asked("finds more", store, few)
    layers = set(store.corpus.layer[ranking.positions].tolist())
    assert layers <= {0, 1}
