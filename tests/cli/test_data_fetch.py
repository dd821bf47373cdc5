from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.benchmarks.fetch import LOCOMO
from harness.cli.main import main

Run = Callable[..., tuple[int, str, str]]


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in an empty folder that is no workspace; no proxy of the user's is asked."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("no_proxy", "*")

    def command(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return main(["data", "fetch", "locomo", *words]), *capsys.readouterr()

    return command


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder, and the address at which a real web server shows it."""
    folder = tmp_path / "served"
    folder.mkdir()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=folder)) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_locomo_is_downloaded_and_imported(
    run: Run, serving: tuple[Path, str], locomo_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Licence and next command are said, and the next command, typed as it stands, works."""
    folder, address = serving
    (folder / "mirrored").symlink_to(locomo_file)
    code, out, err = run("my data", "--url", f"{address}/mirrored")
    assert code == 0, err
    assert Path("my data/locomo10.json").read_bytes() == locomo_file.read_bytes()
    assert f"downloaded from {address}/mirrored" in out
    assert "licence of the data: CC BY-NC 4.0" in out
    assert out.splitlines()[-1] == "next: harness data import locomo 'my data/locomo10.json'"
    assert "downloading locomo10.json: 2805274 bytes" in err
    assert main(["init", str(tmp_path / "lab")]) == 0
    words = ["data", "import", "locomo", "my data/locomo10.json", "--workspace", str(tmp_path / "lab")]
    assert main(words) == 0
    assert "snap-research/locomo@3eb6f2c, 10 conversations" in capsys.readouterr().out


def test_a_file_that_is_there_needs_no_network(run: Run, locomo_file: Path) -> None:
    """The right file is found where nobody answers; nothing but the result is said."""
    Path("locomo10.json").symlink_to(locomo_file)
    code, out, err = run("--url", "http://127.0.0.1:9/nobody")
    assert (code, err) == (0, "")
    assert "nothing was downloaded" in out


def test_json_says_the_same(run: Run, locomo_file: Path) -> None:
    """One value, with the facts of the file."""
    code, out, err = run(str(locomo_file.parent), "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "file": str(locomo_file),
        "downloaded": False,
        "variant": "snap-research/locomo@3eb6f2c",
        "bytes": 2805274,
        "sha256": LOCOMO.sha256,
        "licence": "CC BY-NC 4.0",
    }


def _refused(run: Run, code: int, *words: str, says: tuple[str, ...]) -> None:
    before = sorted(Path().rglob("*"))
    done, out, err = run("--quiet", *words)
    assert (done, out) == (code, ""), err
    assert err.startswith("harness: ")
    assert "  fix: " in err
    assert "Traceback" not in err
    for word in says:
        assert word in err
    assert sorted(Path().rglob("*")) == before


def test_another_content_at_the_address(run: Run, serving: tuple[Path, str]) -> None:
    """What is no LoCoMo ends with 3, both digests, and how to go on by hand."""
    folder, address = serving
    (folder / "file").write_text("[]")
    says = (f"{address}/file", "2 bytes, sha256 4f53cda1", LOCOMO.sha256, LOCOMO.url, "harness data import locomo")
    _refused(run, 3, "--url", f"{address}/file", says=says)


def test_nothing_at_the_address(run: Run, serving: tuple[Path, str]) -> None:
    """A missing file ends with 4."""
    _refused(run, 4, "new/folder", "--url", f"{serving[1]}/file", says=("404", f"{serving[1]}/file"))


def test_another_file_of_that_name(run: Run) -> None:
    """It stays, and the command ends with 2 before any network."""
    Path("locomo10.json").write_text("mine")
    _refused(run, 2, "--url", "http://127.0.0.1:9/nobody", says=("locomo10.json: another file", "4 bytes"))
    assert Path("locomo10.json").read_text() == "mine"


@pytest.mark.parametrize("words", [("--url", "locomo10.json"), ("--url", "ftp://host/x")])
def test_what_is_no_address(run: Run, words: tuple[str, ...]) -> None:
    """Ends with 2."""
    _refused(run, 2, *words, says=("--url", "https://"))
