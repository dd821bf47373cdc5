from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from harness.cli.main import build_parser
from harness.cli.parsing import commands_of
from harness.errors import EXIT_CODES

HEAVY = {"numpy", "mlflow", "hydra", "omegaconf", "pydantic", "scipy", "pyarrow", "faiss", "yaml", "rich", "jinja2",
         "sqlalchemy", "pandas", "rank_bm25", "argcomplete"}  # fmt: skip

IMPORTED = """
import json, sys
from harness.cli.main import main
try:
    code = main(sys.argv[1:])
except SystemExit as stop:
    code = stop.code
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


def imported(desk: Any, *arguments: str) -> tuple[int, set[str]]:
    """Exit code of a command, and which heavy libraries its process imported."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, *arguments],
        cwd=desk.root,
        env={**os.environ, "XDG_STATE_HOME": str(desk.state)},
        capture_output=True,
        text=True,
        check=True,
    )
    code, names = json.loads(done.stderr.splitlines()[-1])
    return code, set(names) & HEAVY


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (0, ("--help",)),
        (0, ("--version",)),
        (0, ("prereg", "new", "--help")),
        (2, ("verfy",)),
        (2, ("verify",)),
        (2, ("prereg", "list", "--jsn")),
    ],
    ids=str,
)
def test_help_and_plain_mistakes_import_nothing_heavy(desk: Any, code: int, arguments: tuple[str, ...]) -> None:
    """Help, version and mistyped words answer at once: no library outside the standard one is imported."""
    assert imported(desk, *arguments) == (code, set())


def test_verify_imports_mlflow_only_where_there_is_a_store(finished: Any) -> None:
    """Without a store `verify` does without MLflow and Hydra."""
    (finished.root / "runs" / "mlflow.db").unlink()
    code, names = imported(finished, "verify", "raw-only")
    assert code == 0
    assert names & {"mlflow", "sqlalchemy", "hydra", "rank_bm25", "faiss"} == set()


def test_help_lists_every_exit_code(desk: Any) -> None:
    """The help says what each exit code means."""
    done = desk.process("--help")
    assert done.code == 0
    assert all(f"{code:>3}  {meaning}" in done.out for code, meaning in EXIT_CODES.items())


COMMANDS = dict(commands_of(build_parser()))

NOWHERE = {"harness data fetch locomo", "harness data check"}
"""Commands that work without a workspace."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_the_common_options_and_its_exit_codes(name: str) -> None:
    """Its help explains the codes that it can end with, in the words of the one table, and no others."""
    text = COMMANDS[name].format_help()
    for option in ("--json", "--quiet"):
        assert option in text
    assert ("--workspace" in text) == (name not in NOWHERE)
    said = text.partition("exit codes:\n")[2].splitlines()
    codes = [int(line.split()[0]) for line in said]
    assert said == [f"  {code:>3}  {EXIT_CODES[code]}" for code in codes]
    assert set(codes) >= {0, 1, 2, 4, 130}
    verdict = name in ("harness full", "harness verdict")
    assert ({10, 11, 20} <= set(codes)) == verdict
    assert (12 in codes) == (name == "harness full")


def test_quiet_leaves_the_result_only(desk: Any) -> None:
    """No progress and nothing else on stderr; stdout is what it is without."""
    assert desk.process("init", "--quiet").code == 0
    assert desk.process("data", "import", "synthetic", "--quiet").err == ""
    quiet = desk.process("dev", "--quiet", "retrieval.layers=[raw]", "--json")
    assert (quiet.code, quiet.err) == (0, "")
    assert quiet.json["version"] == "bm25"
    refused = desk.process("verdict", "nothing", "--quiet")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("harness: nothing has no verdict")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_stopped_command_tidies_up_and_goes_on_later(locked: Any, number: signal.Signals) -> None:
    """SIGTERM does what Ctrl-C does: one line, 130, no lock left behind; the same command then goes on."""
    process = locked.start("full", "raw-only", "--quiet")
    running = locked.full(".running-by")
    while not running.exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err == "harness: interrupted; run the same command again to go on\n"
    assert not running.exists()
    assert locked.run("full", "raw-only").code == 0


SWALLOWED = """
import os, signal, sys, time
from harness.cli import main
def broken(arguments):
    try:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
    except KeyboardInterrupt:
        return int(arguments[0])
main._main = broken
sys.exit(main.main())
"""


@pytest.mark.parametrize(("code", "seen"), [(1, 130), (4, 130), (0, 0), (10, 10)])
def test_an_interruption_of_which_a_library_made_an_error_is_one(code: int, seen: int) -> None:
    """A stopped command that ends with an error of the environment or of its own says that it was interrupted."""
    assert subprocess.run([sys.executable, "-c", SWALLOWED, str(code)]).returncode == seen


TIDYING = """
import time
from harness.cli.main import _stoppable
with _stoppable():
    try:
        print("working", flush=True)
        time.sleep(60)
    finally:
        print("tidying up", flush=True)
        time.sleep(60)
"""


@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_at_once(second: signal.Signals) -> None:
    """Who does not want to wait for the tidying up need not."""
    process = subprocess.Popen([sys.executable, "-c", TIDYING], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "working\n"
    process.send_signal(signal.SIGTERM)
    assert process.stdout.readline() == "tidying up\n"
    process.send_signal(second)
    assert process.wait(timeout=30) == -second


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """A command that a shell put into the background does not stop at the Ctrl-C of another."""
    program = (
        "import signal; from harness.cli.main import _stoppable; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "with _stoppable(): print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN, end=' ')\n"
        "print(signal.getsignal(signal.SIGTERM) == signal.SIG_DFL)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def closed_pipe(desk: Any, *arguments: str, unbuffered: bool = False) -> tuple[int, str]:
    """Exit code and stderr of a command whose stdout nobody reads."""
    read, write = os.pipe()
    os.close(read)
    try:
        drop = ("PYTHONUNBUFFERED",)
        env = {k: v for k, v in os.environ.items() if k not in drop} | {"XDG_STATE_HOME": str(desk.state)}
        if unbuffered:
            env["PYTHONUNBUFFERED"] = "1"
        command = [sys.executable, "-m", "harness", *arguments]
        done = subprocess.run(command, cwd=desk.root, env=env, stdout=write, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(write)
    return done.returncode, done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_is_closed_is_no_error(desk: Any, closed: str) -> None:
    """A command that was started without stdout or stderr has nobody to tell, and ends with its own code."""
    command = f"{sys.executable} -m harness versions {closed}"
    assert subprocess.run(["sh", "-c", command], cwd=desk.root).returncode == 0


def test_a_terminal_that_lacks_characters_gets_others(desk: Any) -> None:
    """Where the encoding is ASCII, what it lacks is escaped."""
    done = desk.process("versions", "show", "bm25", PYTHONIOENCODING="ascii")
    assert done.code == 0
    assert done.out.isascii()


def test_a_current_folder_that_was_removed_is_named(desk: Any) -> None:
    """A mistake (2) with its mend, and no fault of the program."""
    command = f"mkdir gone && cd gone && rmdir ../gone && {sys.executable} -m harness dev"
    done = subprocess.run(["sh", "-c", command], cwd=desk.root, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--workspace DIR" in done.stderr


@pytest.mark.parametrize("unbuffered", [False, True])
def test_a_closed_pipe_is_no_error(desk: Any, unbuffered: bool) -> None:
    """Where `head` has closed the pipe a command ends quietly, with its own exit code."""
    assert closed_pipe(desk, "versions", unbuffered=unbuffered) == (0, "")
    assert closed_pipe(desk, "--help", unbuffered=unbuffered) == (0, "")


def test_a_verdict_keeps_its_code_on_a_closed_pipe(finished: Any) -> None:
    """A failed verification still exits 3 where nobody reads its lines, as `pipefail` would see it."""
    finished.full("scores.json").unlink()
    assert closed_pipe(finished, "verify", "raw-only")[0] == 3


def test_the_console_script_is_this_module(desk: Any) -> None:
    """`python -m harness` and the console script run the same function."""
    from importlib.metadata import entry_points

    (script,) = (entry for entry in entry_points(group="console_scripts") if entry.name == "harness")
    assert script.value == "harness.cli.main:main"
    assert desk.process("--version").out.startswith("harness ")


def test_the_workspace_option_wins_over_the_place(finished: Any, tmp_path: Path) -> None:
    """--workspace is used wherever the command is typed."""
    (tmp_path / "away").mkdir()
    away = type(finished)(tmp_path / "away", finished.state)
    done = away.process("prereg", "list", "--workspace", str(finished.root), "--json")
    assert [row["id"] for row in done.json] == ["raw-only"]
