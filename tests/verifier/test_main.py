import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness import verifier
from harness.verifier.__main__ import main

PACKAGE = Path(verifier.__file__).parent


def test_a_confirmed_verdict_exits_zero_with_a_line_per_check(write, capsys):
    """One line per check, in order, and exit 0 only if all pass."""
    assert main([str(write().workspace), "sharper"]) == 0
    printed = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert printed == [["PASS", name] for name in ("chain", "head", "lock", "rankings", "measures", "decision")]


@pytest.mark.parametrize("until", ["lock", "seal"])
def test_an_unfinished_experiment_is_not_success(write, until):
    """NOTRUN is not PASS."""
    assert main([str(write(until=until).workspace), "sharper"]) == 3


def test_a_missing_workspace_is_not_success(tmp_path, capsys):
    """A folder that is not there fails as a ledger that is not there."""
    assert main([str(tmp_path / "nowhere"), "sharper"]) == 3
    assert capsys.readouterr().out.startswith("FAIL   chain")


@pytest.mark.parametrize("arguments", [[], ["a"], ["a", "b", "c"], ["a", "../b"], ["a\0", "b"]])
def test_misuse_exits_two(arguments, capsys):
    """Misuse is told apart from failure."""
    assert main(arguments) == 2
    assert "usage" in capsys.readouterr().err


def test_hostile_text_is_printed_as_plain_ascii(write, capsys):
    """Text from a file cannot move the cursor or pretend to be another line."""
    story = write(edit={"verdict": lambda payload: payload.update(state="\x1b[2J\nPASS é")})
    assert main([str(story.workspace), "sharper"]) == 3
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert "\x1b" not in printed
    assert len(printed.splitlines()) == 6


def test_the_folder_works_alone_under_another_name(write, tmp_path):
    """Copied without the project, isolated from installed packages, it still verifies."""
    shutil.copytree(PACKAGE, tmp_path / "alone" / "second_opinion")
    script = (
        "import sys, runpy; sys.path.insert(0, sys.argv.pop(1)); "
        "runpy.run_module('second_opinion', run_name='__main__')"
    )
    story = write()
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, str(tmp_path / "alone"), str(story.workspace), "sharper"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["PASS"] * 6


def test_only_the_standard_library_and_itself_are_imported():
    """Independence is the point: no import leaves the folder but to the standard library."""
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level:
                assert node.level == 1
            elif isinstance(node, ast.ImportFrom | ast.Import):
                names = [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
                assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), path
