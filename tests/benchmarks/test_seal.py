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
    """Everything that dev work needs opens, writes too, and nothing is logged."""
    found = run(
        root,
        """
        seal_heldout(log, [source])
        attempt("corpus", lambda: library.corpus)
        attempt("edges", lambda: library.edges)
        attempt("dev", lambda: library.dev)
        attempt("manifest", lambda: library.manifest)
        attempt("write", lambda: (root / "new.txt").write_text("x"))
        attempt("rename", lambda: (root / "new.txt").rename(root / "old.txt"))
        attempt("descriptor", lambda: os.close(os.open(root / "old.txt", os.O_RDONLY)))
        attempt("missing", lambda: (root / "none").exists())
        attempt("import", lambda: __import__("colorsys"))
        """,
    )
    assert set(found["outcome"].values()) == {"opened"}, found["outcome"]
    assert found["log"] is None


@pytest.mark.parametrize("name", sorted(SEALED_FILES))
def test_each_sealed_file_is_refused_without_a_list_of_sources(root: Path, name: str) -> None:
    """The names of the held-out files alone are enough."""
    found = run(
        root,
        f"""
        seal_heldout(log)
        attempt("sealed", (folder / {name!r}).read_bytes)
        attempt("source", source.read_bytes)
        """,
    )
    assert found["outcome"] == {"sealed": "refused 3", "source": "opened"}
    assert found["log"] == [str(root / "data" / "locomo" / name)]


def test_before_the_seal_everything_opens(root: Path) -> None:
    """Importing the module seals nothing."""
    found = run(root, 'attempt("labels", lambda: library.heldout_labels("ab" * 32))')
    assert found == {"outcome": {"labels": "opened"}, "log": None}


def test_a_second_seal_takes_nothing_back(root: Path) -> None:
    """Sealing again adds to what is sealed; a source sealed once stays sealed."""
    found = run(
        root,
        """
        seal_heldout(log, [source])
        seal_heldout(log)
        attempt("source", source.read_bytes)
        attempt("labels", labels.read_bytes)
        """,
    )
    assert found["outcome"] == {"source": "refused 3", "labels": "refused 3"}
    assert len(found["log"]) == 2  # one line a refusal, not one a seal


def test_a_log_that_cannot_be_written_changes_no_refusal(root: Path) -> None:
    """Where the log's folder is missing, the open is refused all the same, again and again."""
    found = run(
        root,
        """
        seal_heldout(root / "no" / "such" / "folder.log")
        attempt("first", labels.read_bytes)
        attempt("second", labels.read_bytes)
        """,
    )
    assert found["outcome"] == {"first": "refused 3", "second": "refused 3"}


def test_opening_by_number_stays_possible(root: Path) -> None:
    """A file opened by its descriptor has no path to judge, and works."""
    found = run(
        root,
        """
        seal_heldout(log)
        number = os.open(root / "tiny-locomo.json", os.O_RDONLY)
        attempt("descriptor", lambda: open(number).close())
        """,
    )
    assert found["outcome"] == {"descriptor": "opened"}
