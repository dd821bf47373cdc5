from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from harness.preregistration.document import Preregistration
from harness.preregistration.model import ClaimPart, DocumentModel, GuardPart, System


@pytest.mark.parametrize(
    ("written", "passes", "rolls_back"),
    [
        ({"superior": "0.02"}, "0.02", "0"),
        ({"superior": "0"}, "0", "0"),
        ({"superior": "0.02", "rollback": "-0.01"}, "0.02", "-0.01"),
        ({"superior": "0.02", "rollback": "0.02"}, "0.02", "0.02"),
        ({"non_inferior": "0.01"}, "-0.01", "-0.01"),
        ({"non_inferior": "0.01", "rollback": "-0.05"}, "-0.01", "-0.05"),
    ],
)
def test_a_claim_has_two_thresholds(written: dict[str, str], passes: str, rolls_back: str) -> None:
    """The rollback line is 0 for a gain and the margin for non-inferiority, unless it is written."""
    claim = ClaimPart(**{key: Decimal(value) for key, value in written.items()})
    assert (claim.pass_above, claim.rollback_below) == (Decimal(passes), Decimal(rolls_back))


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ({}, "needs either"),
        ({"superior": Decimal("0.02"), "non_inferior": Decimal("0.02")}, "needs either"),
        ({"superior": Decimal("-0.02")}, "without a sign"),
        ({"non_inferior": Decimal("-0.02")}, "without a sign"),
        ({"non_inferior": Decimal(0)}, "is the claim superior: 0"),
        ({"superior": Decimal("0.02"), "rollback": Decimal("0.021")}, "both PASS and ROLLBACK"),
        ({"non_inferior": Decimal("0.02"), "rollback": Decimal(0)}, "both PASS and ROLLBACK"),
    ],
)
def test_a_claim_that_promises_nothing_or_two_things_is_refused(written: dict[str, Any], reason: str) -> None:
    """Exactly one claim, with a rollback line that its gain does not overlap."""
    with pytest.raises(ValidationError, match=reason):
        ClaimPart(**written)


@pytest.mark.parametrize("value", [1, -1, 3, Decimal("2.5"), 100, 1000])
def test_points_in_place_of_a_fraction_are_refused(value: Any) -> None:
    """No measure has a difference of 1 or more, and a small whole number has its mend in the message."""
    with pytest.raises(ValidationError, match="is not a fraction of the measure") as caught:
        GuardPart(measure="R@10", drop=value)
    mend = f"write {Decimal(value) / 100} for {value} points"
    assert (mend in str(caught.value)) == (abs(value) < 100)


@pytest.mark.parametrize("value", [0.03, True, "0.03", None, [Decimal("0.03")]])
def test_a_fraction_is_a_decimal(value: Any) -> None:
    """A float has lost what was written, and text and truth values are no numbers."""
    with pytest.raises(ValidationError):
        GuardPart(measure="R@10", drop=value)


@pytest.mark.parametrize("drop", ["0", "-0.03"])
def test_a_guard_tolerates_some_drop(drop: str) -> None:
    """A guard of 0 could never hold, and a negative one would be a second claim."""
    with pytest.raises(ValidationError, match="positive fraction"):
        GuardPart(measure="R@10", drop=Decimal(drop))


def test_short_spellings_mean_the_long_ones(promise: Callable[..., Preregistration]) -> None:
    """A name alone is a version with its defaults, a benchmark, a measure on everything, a single author."""
    short = promise(benchmark="locomo", baseline="bm25", primary="R@10", authors="Ada")
    long = promise(
        benchmark={"name": "locomo", "digest": None},
        baseline={"version": "bm25", "parameters": {}},
        primary=[{"measure": "R@10", "slice": "all"}],
        authors=["Ada"],
    )
    assert short.model == long.model
    assert short.model.baseline == System(version="bm25")


def test_measures_get_their_canonical_spelling(promise: Callable[..., Preregistration]) -> None:
    """Order of conventions, blanks, and defaults written out are no part of a measure's name."""
    document = promise(primary=["R( evidence=published, credit=source )@10", "nDCG(credit=raw)@10"])
    written = [part.measure for part in document.model.primary]
    assert written == ["R(credit=source,evidence=published)@10", "nDCG@10"]


def test_a_document_cannot_be_changed_after_it_was_read(promise: Callable[..., Preregistration]) -> None:
    """The model is frozen."""
    with pytest.raises(ValidationError, match="frozen"):
        promise().model.alpha = Decimal("0.2")  # type: ignore[misc]


@pytest.mark.parametrize("identifier", ["a", "0", "rrf-k60", "a" * 64])
def test_an_id_is_a_short_file_name(identifier: str, promise: Callable[..., Preregistration]) -> None:
    """Lower-case letters, digits and hyphens."""
    assert promise(id=identifier).id == identifier


@pytest.mark.parametrize("identifier", ["", "-a", "A", "a b", "a/b", "..", "a.yaml", "a" * 65, "é", "a\n", "a_b"])
def test_another_id_is_refused(identifier: str) -> None:
    """An id can neither leave its folder nor differ from another by case alone."""
    value = {"id": identifier}
    with pytest.raises(ValidationError) as caught:
        DocumentModel.model_validate(value)
    assert any(error["loc"] == ("id",) and error["type"] == "value_error" for error in caught.value.errors())
