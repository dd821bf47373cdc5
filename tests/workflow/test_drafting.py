"""Beginning a document, and what its check warns of after an earlier verdict."""

from __future__ import annotations

from typing import Any

import pytest

FROM = ("--from", "experiments/raw-only/frozen.yaml")


def test_a_guard_on_a_slice_that_does_not_exist_writes_nothing(locked: Any) -> None:
    """A misspelt slice is refused with the nearest one, and the id stays free."""
    done = locked.run("prereg", "new", "other", *FROM, "--guard", "temporel:0.06")
    assert done.code == 2
    assert "did you mean 'temporal'?" in done.err
    assert not locked.document("other").exists()


@pytest.mark.parametrize(
    ("options", "claim"),
    [
        ((), "superior: 0.02, rollback: 0"),
        (("--superior", "0.05", "--rollback", "-0.01"), "superior: 0.05, rollback: -0.01"),
        (("--non-inferior", "0.03"), "non_inferior: 0.03, rollback: -0.03"),
    ],
)
def test_a_draft_shows_gain_and_loss(locked: Any, options: tuple[str, ...], claim: str) -> None:
    """What passes and what forces a rollback both stand in the draft, defaults included."""
    assert locked.run("prereg", "new", "other", *FROM, *options).code == 0
    assert f"claim: {{{claim}}}" in locked.document("other").read_text(encoding="utf-8")


def test_a_rollback_above_the_gain_is_refused(locked: Any) -> None:
    """Regions that overlap are refused before a file is written."""
    done = locked.run("prereg", "new", "other", *FROM, "--superior", "0.02", "--rollback", "0.03")
    assert done.code == 2
    assert "PASS and ROLLBACK" in done.err
    assert not locked.document("other").exists()


def test_another_measure_than_the_one_that_passed_is_named_before_the_lock(finished: Any) -> None:
    """The check says what the version in force passed on, and that results could be read already."""
    new = ("prereg", "new", "other", *FROM, "--primary", "R(credit=source)@10")
    assert finished.run(*new).code == 0
    out = finished.run("prereg", "check", "other").out
    assert "the version in force passed on R@10; this document decides on R(credit=source)@10" in out
    assert "the verdict will say reused, error rate not controlled" in out


def test_the_version_in_force_says_what_it_passed_on(finished: Any) -> None:
    """Being in force has a reason that names the measure."""
    assert "raw-only passed on R@10" in finished.run("versions", "in-force").out


def test_an_edit_after_the_lock_is_named_with_both_values(locked: Any) -> None:
    """Verify says which value was locked and which stands there now."""
    path = locked.document()
    text = path.read_text(encoding="utf-8")
    assert "superior: 0.02" in text
    path.write_text(text.replace("superior: 0.02", "superior: 0.01"), encoding="utf-8")
    _, _, reasons = locked.verify()
    assert "claim.pass_above: locked 0.02, now 0.01" in reasons["documents"]
