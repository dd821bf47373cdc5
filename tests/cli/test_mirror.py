from __future__ import annotations

from typing import Any

import pytest


def test_an_empty_outbox(finished: Any) -> None:
    """There is nothing to do, and no store is opened for it."""
    done = finished.run("mirror")
    assert (done.code, done.out) == (0, "nothing waits\n")


def test_a_verdict_is_shown_where_it_never_was(finished: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of one's own choice is made and filled, and said to be."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/shared.db")
    done = finished.run("mirror", "raw-only")
    assert (done.code, done.out) == (0, f"in MLflow at {tmp_path}/shared.db: raw-only\n"), done.err
    assert finished.verify()[1]["mirror"] == "PASS"
    assert finished.run("mirror", "--all", "--json").json == {
        "where": f"{tmp_path}/shared.db", "mirrored": ["raw-only"], "waiting": {},
    }  # fmt: skip


@pytest.mark.parametrize("broken_server", ["closed"], indirect=True)
def test_what_still_waits(finished: Any, broken_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 4, with the reason, for people and as JSON."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", broken_server)
    done = finished.run("mirror", "raw-only")
    assert (done.code, done.out) == (
        4, f"still waiting: raw-only: MLflow does not take it: connection refused: {broken_server}\n",
    )  # fmt: skip
    done = finished.run("mirror", "--json")
    assert (done.code, list(done.json["waiting"]), done.json["mirrored"]) == (4, ["raw-only"], [])


def test_a_verdict_that_is_not_there(locked: Any, refused: Any) -> None:
    """A document without a verdict, an id that is none, and both ways of naming at once."""
    refused(locked, 2, "mirror", "raw-only", says=("no verdict", "harness full raw-only"))
    refused(locked, 2, "mirror", "../x", says=("is not an id",))
    refused(locked, 2, "mirror", "raw-only", "--all", says=("leave out",))


def test_an_address_that_cannot_be_used(finished: Any, refused: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a mistake, and nothing is put off because of it."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "file:///tmp/runs")
    refused(finished, 2, "mirror", "raw-only", says=("plain folders", "unset MLFLOW_TRACKING_URI"))
