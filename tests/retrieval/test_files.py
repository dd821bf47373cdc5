from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageProblem
from harness.retrieval import files


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace, and beside it the folder where the user is."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setattr(files, "_below", [])
    return tmp_path


def test_the_workspace_comes_first(here: Path) -> None:
    """Of two files with one name that of the workspace is meant; one that is only here is found too."""
    (here / "here/a").write_bytes(b"here")
    assert files.read("a", "a recipe") == b"here"
    files.look_below(here / "workspace")
    assert files.read("a", "a recipe") == b"here"
    (here / "workspace/a").write_bytes(b"workspace")
    assert files.read("a", "a recipe") == b"workspace"
    assert files.read(str(here / "here/a"), "a recipe") == b"here"
    assert files.root() == here / "workspace"


def test_what_is_not_there_is_named(here: Path) -> None:
    """A missing file and a folder are refused, with what should be there and where it was looked for."""
    files.look_below(here)
    for name in ("nowhere", "workspace", ""):
        assert not files.is_there(name)
        with pytest.raises(UsageProblem, match="no such file") as caught:
            files.find(name, "a recipe")
        assert (caught.value.allowed, caught.value.where) == ("a recipe", str(here))
