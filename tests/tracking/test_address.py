from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageProblem
from harness.tracking.address import VARIABLE, address


def test_without_a_word_the_store_is_the_workspaces_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is absolute, whatever the current folder is and becomes."""
    monkeypatch.chdir(tmp_path)
    found = address(Path("runs/mlflow.db"))
    assert (found.uri, found.database) == (f"sqlite:///{tmp_path}/runs/mlflow.db", tmp_path / "runs" / "mlflow.db")
    assert found.shown == str(found.database)


@pytest.mark.parametrize("uri", ["http://127.0.0.1:5000/", "https://mlflow.example.org/prefix"])
def test_a_server_that_the_user_named_is_used(uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The variable that MLflow reads counts; the lock stays in the workspace."""
    monkeypatch.setenv(VARIABLE, uri)
    found = address(tmp_path / "mlflow.db")
    assert (found.uri, found.shown, found.database) == (uri.rstrip("/"), uri.rstrip("/"), None)
    assert found.lock.parent == tmp_path


def test_a_password_is_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in the address as people see it nor in what a server or library says of it."""
    monkeypatch.setenv(VARIABLE, "http://me:s3cret@localhost:5000")
    found = address(tmp_path / "mlflow.db")
    assert found.shown == "http://localhost:5000"
    assert found.without_secrets(f"no way to {found.uri}/api for me:s3cret") == (
        "no way to http://localhost:5000/api for …"
    )


def test_another_sqlite_file_by_its_absolute_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several workspaces may share a store; its lock is then beside it."""
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path}/shared/all.db")
    found = address(tmp_path / "runs" / "mlflow.db")
    assert (found.database, found.lock.parent) == (tmp_path / "shared" / "all.db", tmp_path / "shared")


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("file:///tmp/runs", "plain folders"),
        ("./mlruns", "plain folders"),
        ("sqlite:///runs/mlflow.db", "must be absolute"),
        ("sqlite://", "must be absolute"),
        ("postgresql://me:s3cret@localhost/mlflow", "start mlflow server"),
        ("databricks:", "start mlflow server"),
        ("http://", "cannot be read"),
        ("http://me:s3cret@localhost:port", "cannot be read"),
        ("https://[::1", "cannot be read"),
    ],
)
def test_any_other_address_is_refused(uri: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what would be accepted, and without the password that stands in it."""
    monkeypatch.setenv(VARIABLE, uri)
    with pytest.raises(UsageProblem, match=why) as caught:
        address(tmp_path / "mlflow.db")
    assert caught.value.where.startswith(f"{VARIABLE}={uri.partition(':')[0]}")
    assert "unset" in caught.value.fix
    assert "s3cret" not in str(caught.value)
