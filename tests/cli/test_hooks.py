from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli.main import main

PROJECT = Path(__file__).parents[2]
SHIPPED = PROJECT / ".pre-commit-hooks.yaml"
AUTHOR = {f"GIT_{role}_{part}": "n@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
AUTHOR |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass
class Repository:
    """A clone with the retrieval package, and a workspace in a folder of it."""

    root: Path
    capsys: pytest.CaptureFixture[str]

    @property
    def lab(self) -> Path:
        """The workspace."""
        return self.root / "lab"

    @property
    def document(self) -> Path:
        """The locked document."""
        return self.lab / "preregistrations" / "raw-only.yaml"

    def git(self, *arguments: str, code: int = 0) -> str:
        """Run git."""
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env={**os.environ, **AUTHOR}, capture_output=True, text=True
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def commit(self, message: str = "work") -> None:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "-qm", message)

    def hook(self, name: str, *arguments: str) -> tuple[int, str]:
        """Exit code of a hook and what it says."""
        self.capsys.readouterr()
        code = main(["hook", name, *arguments])
        out, err = self.capsys.readouterr()
        return code, out + err

    def codes(self) -> list[int]:
        """Exit codes of all three."""
        return [self.hook(name)[0] for name in ("retrieval", "documents", "ledger")]


@pytest.fixture
def repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[Any], Repository]:
    """Makes a repository, nothing committed, of a desk's workspace."""

    def make(desk: Any) -> Repository:
        root = tmp_path / "clone"
        skip = shutil.ignore_patterns("__pycache__")
        shutil.copytree(PROJECT / "harness" / "retrieval", root / "harness" / "retrieval", ignore=skip)
        shutil.copytree(desk.root, root / "lab")
        monkeypatch.chdir(root)
        made = Repository(root, capsys)
        made.git("init", "-q", "-b", "main")
        return made

    return make


@pytest.fixture
def open_one(locked: Any, repository: Callable[[Any], Repository]) -> Repository:
    """One document is locked; everything is committed."""
    made = repository(locked)
    made.commit()
    return made


@pytest.fixture
def judged(finished: Any, repository: Callable[[Any], Repository]) -> Repository:
    """One document is judged; everything is committed."""
    made = repository(finished)
    made.commit()
    return made


def edit(path: Path, old: str, new: str) -> None:
    """Replace once in a text file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_the_first_commit_passes(finished: Any, repository: Callable[[Any], Repository]) -> None:
    """Before there is any commit everything is new, and what is as it was recorded may be committed."""
    made = repository(finished)
    assert made.codes() == [0, 0, 0]
    made.git("add", "--all")
    assert made.codes() == [0, 0, 0]


def test_the_first_commit_of_something_changed_does_not(finished: Any, repository: Callable[[Any], Repository]) -> None:
    """A promise that was moved before the first commit is refused as well: the ledger knows what was locked."""
    made = repository(finished)
    edit(made.document, "superior: 0.02", "superior: 0.01")
    made.git("add", "--all")
    assert made.codes() == [0, 3, 0]


def test_retrieval_code_is_frozen_while_a_document_is_open(open_one: Repository) -> None:
    """A staged change, addition or deletion is refused, naming the open document; the work tree alone is free."""
    path = open_one.root / "harness" / "retrieval" / "lexical.py"
    path.write_text(path.read_text(encoding="utf-8") + "# faster\n", encoding="utf-8")
    assert open_one.hook("retrieval")[0] == 0
    open_one.git("add", "--all")
    code, said = open_one.hook("retrieval")
    assert code == 3
    assert "harness/retrieval/lexical.py" in said
    assert "raw-only is" in said
    open_one.git("rm", "-q", "--cached", "harness/retrieval/lexical.py")
    assert open_one.hook("retrieval")[0] == 3


def test_going_back_to_the_locked_code_is_allowed(open_one: Repository) -> None:
    """What was committed in spite of the freeze can be taken back."""
    path = open_one.root / "harness" / "retrieval" / "lexical.py"
    good = path.read_text(encoding="utf-8")
    path.write_text(good + "# faster\n", encoding="utf-8")
    open_one.commit()
    path.write_text(good, encoding="utf-8")
    open_one.git("add", "--all")
    assert open_one.hook("retrieval")[0] == 0


def test_a_lock_binds_before_it_is_staged(locked: Any, repository: Callable[[Any], Repository]) -> None:
    """A document that was locked a moment ago freezes code and text, whether or not its lock is in git."""
    made = repository(locked)
    made.git("add", "harness")
    made.git("commit", "-qm", "code")
    edit(made.root / "harness" / "retrieval" / "lexical.py", "import math", "import math  # changed")
    made.git("add", "harness")
    assert made.hook("retrieval")[0] == 0  # git knows nothing of this workspace yet
    assert made.hook("retrieval", "--workspace", "lab")[0] == 3
    edit(made.document, "superior: 0.02", "superior: 0.01")
    made.git("add", "lab/preregistrations/raw-only.yaml")
    assert made.codes() == [3, 3, 0]


def test_a_draft_staged_before_its_lock_is_refused(open_one: Repository) -> None:
    """The lock is in the work tree, an older text of the document in the index: the text is not what was locked."""
    open_one.git("rm", "-q", "-r", "--cached", "lab/preregistrations")
    open_one.git("commit", "-qm", "without")
    good = open_one.document.read_text(encoding="utf-8")
    edit(open_one.document, "superior: 0.02", "superior: 0.01")
    open_one.git("add", "lab/preregistrations/raw-only.yaml")
    open_one.document.write_text(good, encoding="utf-8")
    assert open_one.hook("documents")[0] == 3
    open_one.git("add", "lab/preregistrations/raw-only.yaml")
    assert open_one.hook("documents")[0] == 0


def test_judged_code_is_free_again(judged: Repository) -> None:
    """With no document open, retrieval code may change."""
    edit(judged.root / "harness" / "retrieval" / "lexical.py", "import math", "import math  # changed")
    judged.git("add", "--all")
    assert judged.hook("retrieval")[0] == 0


def test_another_package_can_be_frozen(open_one: Repository) -> None:
    """--package names the folder where a team's own versions lie."""
    (open_one.root / "ours").mkdir()
    (open_one.root / "ours" / "rank.py").write_text("", encoding="utf-8")
    open_one.git("add", "--all")
    assert open_one.hook("retrieval")[0] == 0
    assert open_one.hook("retrieval", "--package", "ours/")[0] == 3


def test_a_workspace_elsewhere_freezes_too(judged: Repository, whole_way: Any) -> None:
    """--workspace names one that lies outside of the repository, as beside a clone."""
    edit(judged.root / "harness" / "retrieval" / "lexical.py", "import math", "import math  # changed")
    judged.git("add", "--all")
    assert judged.hook("retrieval", "--workspace", str(whole_way.locked))[0] == 3


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("superior: 0.02", "superior: 0.01", 3),
        ("superior: 0.02", "superior: 0.0200", 0),
        ("Two points pay.", "Two points pay!", 3),
        ("\n", "\r\n", 0),
    ],
)
def test_a_locked_document_keeps_its_meaning(open_one: Repository, old: str, new: str, code: int) -> None:
    """A change of meaning is refused, comments, line ends and spellings are not."""
    text = open_one.document.read_bytes().decode()
    assert old in text
    open_one.document.write_bytes(text.replace(old, new).encode())
    assert open_one.hook("documents")[0] == 0  # nothing is staged
    open_one.git("add", "--all")
    assert open_one.hook("documents")[0] == code


def test_what_is_staged_counts_and_not_the_work_tree(open_one: Repository) -> None:
    """An edit that was staged is refused though the work tree was put right afterwards."""
    good = open_one.document.read_text(encoding="utf-8")
    edit(open_one.document, "superior: 0.02", "superior: 0.01")
    open_one.git("add", "--all")
    open_one.document.write_text(good, encoding="utf-8")
    code, said = open_one.hook("documents")
    assert code == 3
    assert "lab/preregistrations/raw-only.yaml" in said
    assert "locked 0.02, now 0.01" in said


def test_a_locked_document_is_not_deleted(open_one: Repository) -> None:
    """From the index alone or from the work tree too, moved or not."""
    open_one.git("rm", "-q", "--cached", "lab/preregistrations/raw-only.yaml")
    assert open_one.hook("documents")[0] == 3
    open_one.git("reset", "-q")
    open_one.git("mv", "lab/preregistrations/raw-only.yaml", "lab/preregistrations/other.yaml")
    assert open_one.hook("documents")[0] == 3


def test_an_abandoned_document_is_free(locked: Any, repository: Callable[[Any], Repository]) -> None:
    """What was given up binds nobody."""
    made = repository(locked)
    assert main(["prereg", "abandon", "raw-only", "--reason", "x", "--workspace", str(made.lab)]) == 0
    made.commit()
    edit(made.document, "superior: 0.02", "superior: 0.01")
    edit(made.root / "harness" / "retrieval" / "lexical.py", "import math", "import math  # changed")
    made.git("add", "--all")
    assert made.codes() == [0, 0, 0]


def run_file(repository: Repository, name: str) -> Path:
    """A file of the judged run."""
    return repository.lab / "runs" / "full" / "raw-only" / name


@pytest.mark.parametrize(
    "name", ["scores.json", "ranking-candidate.jsonl", "evidence.jsonl", "report.md", "report.html", "notes.txt"]
)
def test_a_judged_run_stays_as_it_is(judged: Repository, name: str) -> None:
    """No byte changes of a file that is committed there: neither of those in the ledger nor of the page."""
    path = run_file(judged, name)
    if name == "notes.txt":
        path.write_text("a note\n", encoding="utf-8")
        judged.commit()
    path.write_bytes(path.read_bytes() + b"\n")
    judged.git("add", "--all")
    code, said = judged.hook("documents")
    assert code == 3
    assert said.count("refused ") == 1
    assert f"refused lab/runs/full/raw-only/{name}: " in said


@pytest.mark.parametrize("name", ["scores.json", "report.md", "budget.json"])
def test_no_file_of_a_judged_run_is_deleted(judged: Repository, name: str) -> None:
    """Whatever it is, and the others are still checked."""
    judged.git("rm", "-q", "--cached", str(run_file(judged, name)))
    code, said = judged.hook("documents")
    assert code == 3
    assert f"raw-only/{name}: a file of a judged run is deleted" in said


def test_the_page_may_be_written_again(judged: Repository) -> None:
    """A page of an older release may be replaced by what `harness report` writes now."""
    good = run_file(judged, "report.md").read_bytes()
    run_file(judged, "report.md").write_bytes(b"from an older release\n")
    judged.git("add", "--all")
    judged.git("commit", "-qm", "old page")
    run_file(judged, "report.md").write_bytes(good)
    judged.git("add", "--all")
    assert judged.hook("documents")[0] == 0


def entries(repository: Repository) -> list[Path]:
    """The ledger's files."""
    return sorted((repository.lab / "preregistrations" / "ledger").glob("0*.json"))


@pytest.mark.parametrize("which", [0, -1])
def test_a_ledger_entry_is_not_deleted(judged: Repository, which: int) -> None:
    """The first one breaks the chain, the last one is missing against the commit before."""
    judged.git("rm", "-q", str(entries(judged)[which]))
    for name in ("documents", "ledger"):
        code, said = judged.hook(name)
        assert code == 3
        assert f"{entries(judged)[which].name if which == 0 else '000004-'}" in said or "is deleted" in said


def test_a_whole_ledger_is_not_deleted(judged: Repository) -> None:
    """With nothing left to hold together, what the commit before had is still asked for."""
    judged.git("rm", "-q", "-r", "lab/preregistrations", "lab/runs")
    code, said = judged.hook("ledger")
    assert code == 3
    assert said.count("a ledger entry is deleted") == 5  # four entries and the set of questions


def test_an_entry_is_not_edited(judged: Repository) -> None:
    """The hash in its name gives it away, staged or committed before."""
    edit(entries(judged)[0], '"look":1', '"look":2')
    assert judged.hook("ledger")[0] == 0
    judged.git("add", "--all")
    code, said = judged.hook("ledger")
    assert code == 3
    assert "lab/preregistrations/ledger/000001-" in said
    judged.git("commit", "-qm", "forced")
    assert judged.hook("ledger")[0] == 3


def test_a_set_of_questions_is_not_lost(judged: Repository) -> None:
    """Without it looks cannot be counted."""
    (kept,) = (judged.lab / "preregistrations" / "ledger" / "questions").glob("*.json")
    kept.write_text("[]", encoding="utf-8")
    judged.git("add", "--all")
    code, said = judged.hook("ledger")
    assert code == 3
    assert "question set" in said


def test_a_workspace_may_move(judged: Repository) -> None:
    """The whole of it, to another folder: nothing is lost."""
    judged.git("mv", "lab", "place")
    assert judged.codes() == [0, 0, 0]


def branches(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """On two branches, by two users, one more document is locked each; the first one is checked out."""
    for branch in ("one", "two"):
        monkeypatch.setenv("XDG_STATE_HOME", str(repository.root.parent / f"state of {branch}"))
        repository.git("checkout", "-q", "-b", branch, "main")
        words = ["--title", "t", "--hypothesis", "h", "--rationale", "r", "--author", "a", "--primary", "R@10"]
        lab = ["--workspace", str(repository.lab)]
        frozen = "experiments/raw-only/frozen.yaml"
        assert main(["prereg", "new", branch, "--from", frozen, *words, *lab]) == 0
        reason = "the version in force is the same by now"
        assert main(["prereg", "lock", branch, "--acknowledge", reason, *lab]) == 0
        repository.git("add", "lab")
        repository.git("commit", "-qm", branch)
    repository.git("checkout", "-q", "one")


def test_a_merge_keeps_the_entries_of_both_branches(open_one: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tips are fine; an entry that the other branch had and the merge drops is refused."""
    branches(open_one, monkeypatch)
    open_one.git("merge", "-q", "--no-commit", "two")
    assert [path.name[:6] for path in entries(open_one)] == ["000001", "000002", "000002"]
    assert open_one.codes() == [0, 0, 0]
    theirs = open_one.git("diff", "--name-only", "HEAD", "two", "--", "lab/preregistrations/ledger").split()
    dropped = next(path for path in theirs if (open_one.root / path).exists() and path not in
                   open_one.git("ls-tree", "-r", "--name-only", "HEAD"))  # fmt: skip
    open_one.git("rm", "-q", "-f", dropped)
    code, said = open_one.hook("ledger")
    assert code == 3
    assert f"{dropped}: a ledger entry is deleted" in said


def test_without_a_repository_there_is_one_clear_message(
    refused: Callable[..., str], locked: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of a repository, and where git is not installed."""
    monkeypatch.chdir(locked.root)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(locked.root.parent))
    refused(locked, 2, "hook", "ledger", says=("no git repository",))
    monkeypatch.setenv("PATH", "")
    refused(locked, 4, "hook", "ledger", says=("git cannot be run",))


def with_pre_commit(repository: Repository) -> None:
    """Install the shipped hooks with pre-commit, to be run by this interpreter without any download."""
    hooks = yaml.safe_load(SHIPPED.read_text(encoding="utf-8"))
    for hook in hooks:
        hook["language"] = "system"
        hook["entry"] = hook["entry"].replace("harness", f"{sys.executable} -m harness", 1)
    config = {"repos": [{"repo": "local", "hooks": hooks}]}
    (repository.root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    types = ["-t", "pre-commit", "-t", "pre-merge-commit"]
    done = subprocess.run(
        [sys.executable, "-m", "pre_commit", "install", *types],
        cwd=repository.root, env={**os.environ, **AUTHOR}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_pre_commit_runs_them(open_one: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The shipped file is one that pre-commit accepts, and a commit and a merge run every hook of it."""
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "pre-commit"))
    monkeypatch.setenv("PYTHONPATH", str(PROJECT))
    check = [sys.executable, "-m", "pre_commit", "validate-manifest", str(SHIPPED)]
    assert subprocess.run(check, capture_output=True).returncode == 0
    branches(open_one, monkeypatch)
    with_pre_commit(open_one)
    open_one.git("add", ".pre-commit-config.yaml")
    assert open_one.git("commit", "-qm", "hooks").count("Passed") == 3
    assert open_one.git("merge", "--no-edit", "two").count("Passed") == 3
    edit(open_one.document, "superior: 0.02", "superior: 0.01")
    said = open_one.git("commit", "-qam", "moved", code=1)
    assert (said.count("Passed"), said.count("Failed")) == (2, 1)
    assert "locked 0.02, now 0.01" in said
    open_one.git("checkout", "-q", "HEAD", "--", "lab")
    open_one.git("rm", "-q", str(entries(open_one)[-1]))
    assert "a ledger entry is deleted" in open_one.git("commit", "-qm", "deleted only", code=1)
