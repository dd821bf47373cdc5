from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.evaluation.measure import CONVENTIONS, NAMES, Measure, parse_measure
from harness.tracking.names import allowed_name, allowed_param, allowed_tag, measure_name, metric_name, slice_metric

MEASURES = st.builds(
    Measure,
    name=st.sampled_from(NAMES),
    k=st.integers(1, 999_999),
    **{key: st.sampled_from(choices) for key, choices in CONVENTIONS.items()},
)


@given(MEASURES)
def test_every_measure_comes_back_from_its_metric(measure: Measure) -> None:
    """The name in MLflow holds all of a measure, in characters that MLflow takes."""
    metric = metric_name(str(measure))
    assert re.fullmatch(r"[A-Za-z0-9_.-]+", metric)
    assert measure_name(metric) == str(measure)
    assert parse_measure(measure_name(metric)) == measure


@given(MEASURES, MEASURES)
def test_two_measures_never_share_a_metric(one: Measure, other: Measure) -> None:
    """Not even in MLflow's own, narrower spelling."""
    assert (metric_name(str(one)) == metric_name(str(other))) == (one == other)


@pytest.mark.parametrize(
    ("measure", "metric"),
    [
        ("R@10", "R_at_10"),
        ("R(credit=source)@10", "R.credit-source_at_10"),
        ("nDCG(evidence=published,empty=0)@5", "nDCG.evidence-published.empty-0_at_5"),
    ],
)
def test_names_people_will_search_for(measure: str, metric: str) -> None:
    """The spelling is part of what a person types into MLflow."""
    assert metric_name(measure) == metric
    assert measure_name(metric) == measure


@pytest.mark.parametrize("name", ["look", "alpha_k", "", "R", "R@", "@10", "R_at_", "_at_10", "R(a)b@1"])
def test_what_is_no_measure_stays_as_it_is(name: str) -> None:
    """Other metrics keep their names in both directions."""
    assert metric_name(name) == name
    assert measure_name(name) == name


@pytest.mark.parametrize(
    ("slice_name", "expected"),
    [
        ("temporal", "heldout/temporal/candidate/R_at_10"),
        ("conversation:conv-30", "heldout/conversation-conv-30/candidate/R_at_10"),
    ],
)
def test_a_metric_says_part_slice_system_and_measure(slice_name: str, expected: str) -> None:
    """In this order, so that MLflow groups the slices."""
    assert slice_metric("heldout", slice_name, "candidate", "R@10") == expected


@pytest.mark.parametrize("name", ["harness.lock", "heldout/all/candidate/R.credit-source_at_10", "k 1", "été"])
def test_names_that_mlflow_takes_stay(name: str) -> None:
    """Nothing that is fine is changed."""
    assert allowed_name(name) == name


@pytest.mark.parametrize("name", ["a@(b)", "a/../b", "..", "a//b", "/a", "a/", "x" * 251, "a\nb", "50 %"])
def test_other_names_are_made_so_that_mlflow_takes_them(name: str) -> None:
    """They stay different from one another, and MLflow's own rules accept them."""
    from mlflow.utils.validation import _validate_metric_name, _validate_param_name, _validate_tag_name

    given = allowed_name(name)
    for check in (_validate_metric_name, _validate_param_name, _validate_tag_name):
        check(given)
    assert len(given) <= 250
    assert given != allowed_name(f"{name}!")


def test_a_long_value_is_cut_and_says_so() -> None:
    """The length and a digest at the end tell it from another long value."""
    for short, longest in ((allowed_tag, 8000), (allowed_param, 6000)):
        assert short("x" * longest) == "x" * longest
        cut = short("x" * 9000)
        assert len(cut) == longest
        assert "(9000 characters, SHA-256 " in cut
        assert cut != short("x" * 8999 + "y")
