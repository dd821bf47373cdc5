from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.columns import Benchmark
from harness.benchmarks.library import SEALED_FILES, save

SETUP = """
import json, os, shutil, sys
from pathlib import Path
from harness.benchmarks import store
from harness.benchmarks.library import Library
from harness.benchmarks.seal import seal_heldout
from harness.errors import IntegrityProblem
root = Path(sys.argv[1])
folder, log, source = root / "data" / "locomo", root / "refused.log", root / "tiny-locomo.json"
labels = folder / "heldout-labels.parquet"
library = Library(folder)
outcome = {}
def attempt(name, run):
    try:
        run()
    except IntegrityProblem as error:
        outcome[name] = f"refused {error.exit_code}"
    except BaseException as error:
        outcome[name] = repr(error)
    else:
        outcome[name] = "opened"
"""

FINISH = """
print(json.dumps({"outcome": outcome, "log": log.read_text().splitlines() if log.is_file() else None}))
"""


@pytest.fixture
def root(tmp_path: Path, tiny_locomo: Path, tiny: Benchmark) -> Path:
    """A folder with an imported benchmark, its source file and links to a held-out file."""
    save(tiny, tmp_path / "data" / "locomo")
    (tmp_path / "link").symlink_to(tmp_path / "data" / "locomo" / "heldout-labels.parquet")
    (tmp_path / "second").symlink_to("link")
    (tmp_path / "folder").symlink_to(tmp_path / "data" / "locomo", target_is_directory=True)
    (tmp_path / "source-link").symlink_to(tiny_locomo)
    return tmp_path


def run(root: Path, script: str) -> dict[str, Any]:
    """Run a script in a process of its own, because a seal cannot be taken off again."""
    command = [sys.executable, "-c", SETUP + textwrap.dedent(script) + FINISH, str(root)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_every_way_to_a_heldout_file_is_refused_and_logged(root: Path) -> None:
    """After the seal no call opens, moves or links a held-out file, by whatever path, and each is logged."""
    found = run(
        root,
        """
        seal_heldout(log, [source])
        attempt("open", lambda: open(labels))
        attempt("open bytes", lambda: open(os.fsencode(labels), "rb"))
        attempt("read_bytes", labels.read_bytes)
        attempt("append", lambda: open(labels, "a"))
        attempt("os.open", lambda: os.open(labels, os.O_RDONLY))
        attempt("store", lambda: store.read(labels))
        attempt("labels", lambda: library.heldout_labels("ab" * 32))
        attempt("questions", library.heldout_questions)
        attempt("report", (folder / "heldout-repairs.json").read_text)
        attempt("link", (root / "link").read_bytes)
        attempt("link to link", (root / "second").read_bytes)
        attempt("linked folder", (root / "folder" / "heldout-labels.parquet").read_bytes)
        attempt("dots", (folder / ".." / "locomo" / "heldout-labels.parquet").read_bytes)
        attempt("copy", lambda: shutil.copyfile(labels, root / "copy"))
        attempt("rename", lambda: labels.rename(root / "renamed"))
        attempt("hard link", lambda: os.link(labels, root / "hard"))
        attempt("hard link of link", lambda: os.link(root / "link", root / "hard"))
        attempt("source", source.read_bytes)
        attempt("source link", (root / "source-link").read_bytes)
        os.chdir(folder)
        attempt("relative", lambda: open("heldout-labels.parquet"))
        attempt("relative source", lambda: open("../../tiny-locomo.json"))
        at = os.open(".", os.O_RDONLY)
        attempt("folder descriptor", lambda: os.open("heldout-labels.parquet", os.O_RDONLY, dir_fd=at))
        """,
    )
    assert set(found["outcome"].values()) == {"refused 3"}, found["outcome"]
    assert len(found["log"]) == len(found["outcome"])
    assert not {"copy", "renamed", "hard"} & {path.name for path in root.iterdir()}
    assert all(Path(line).name for line in found["log"])


def test_dev_files_open_under_the_seal(root: Path) -> None:
    """Before the seal everything opens; under it all that dev work needs does, and nothing is logged."""
    found = run(
        root,
        """
        attempt("labels before", lambda: library.heldout_labels("ab" * 32))
        attempt("source before", source.read_bytes)
        seal_heldout(log, [source])
        fresh = Library(folder)
        attempt("corpus", lambda: fresh.corpus)
        attempt("edges", lambda: fresh.edges)
        attempt("dev", lambda: fresh.dev)
        attempt("manifest", lambda: fresh.manifest)
        attempt("write", lambda: (root / "new.txt").write_text("x"))
        attempt("rename", lambda: (root / "new.txt").rename(root / "old.txt"))
        attempt("descriptor", lambda: open(os.open(root / "old.txt", os.O_RDONLY)).close())
        attempt("other link", lambda: ((root / "l").symlink_to("old.txt"), (root / "l").read_text()))
        attempt("import", lambda: __import__("colorsys"))
        """,
    )
    assert set(found["outcome"].values()) == {"opened"}, found["outcome"]
    assert found["log"] is None


def test_a_second_seal_adds_and_takes_nothing_back(root: Path) -> None:
    """Names alone seal the held-out files; later seals add sources, never lift one, and need no working log."""
    found = run(
        root,
        """
        seal_heldout(log)
        for name in ("heldout-questions.parquet", "heldout-labels.parquet", "heldout-repairs.json"):
            attempt(name, (folder / name).read_bytes)
        attempt("source", source.read_bytes)
        seal_heldout(log, [source])
        seal_heldout(log)
        attempt("sealed source", source.read_bytes)
        seal_heldout(root / "no" / "such" / "folder.log")
        attempt("without log", labels.read_bytes)
        attempt("without log again", labels.read_bytes)
        """,
    )
    assert found["outcome"].pop("source") == "opened"
    assert set(found["outcome"].values()) == {"refused 3"}, found["outcome"]
    folder = root / "data" / "locomo"
    names = ("heldout-questions.parquet", "heldout-labels.parquet", "heldout-repairs.json")
    assert set(names) == SEALED_FILES
    # one line a refusal, however often the hook was asked for
    assert found["log"] == [*(str(folder / name) for name in names), str(root / "tiny-locomo.json")]
