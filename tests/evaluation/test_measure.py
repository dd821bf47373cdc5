import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageProblem
from harness.evaluation.measure import CONVENTIONS, NAMES, Measure, parse_measure

measures = st.builds(
    Measure,
    st.sampled_from(NAMES),
    st.integers(1, 999_999),
    **{key: st.sampled_from(c) for key, c in CONVENTIONS.items()},
)


@given(measures)
def test_a_measure_is_read_back_from_its_name(measure):
    """The canonical name of any measure parses to the same measure."""
    assert parse_measure(str(measure)) == measure


@given(measures, st.randoms(use_true_random=False))
def test_conventions_may_stand_in_any_order_and_may_name_defaults(measure, random):
    """Every spelling of one measure is one value with one canonical name."""
    parts = [f"{key} = '{getattr(measure, key)}'" for key in CONVENTIONS]
    random.shuffle(parts)
    read = parse_measure(f" {measure.name}({', '.join(parts)})@{measure.k} ")
    assert read == measure
    assert str(read) == str(measure)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("R@10", "R@10"),
        ("nDCG(credit=raw,empty=skip)@5", "nDCG@5"),
        ("RR()@1", "RR@1"),
        ("recall_any@10", "Success@10"),
        ("recall_all(credit=source)@5", "AllSuccess(credit=source)@5"),
        ("ndcg_any@5", "ndcg_any@5"),
        ("Success(empty=0,evidence=published)@10", "Success(evidence=published,empty=0)@10"),
        ("AllSuccess(adversarial=out,credit=source)@3", "AllSuccess(credit=source,adversarial=out)@3"),
    ],
)
def test_canonical_names(text, canonical):
    """Defaults are left out of the name and conventions stand in one order."""
    assert str(parse_measure(text)) == canonical


def test_the_other_credit_is_its_own_inverse():
    """Exchanging the credit rule changes nothing else, and exchanging it twice changes nothing."""
    measure = parse_measure("R(evidence=published)@10")
    assert str(measure.other_credit()) == "R(credit=source,evidence=published)@10"
    assert measure.other_credit().other_credit() == measure


@pytest.mark.parametrize(
    "text",
    [
        "",
        "R",
        "R@",
        "R@0",
        "R@-1",
        "R@010",
        "R@1.5",
        "R@ten",
        "@10",
        "R 10",
        "R(@10",
        "R((credit=raw))@10",
        "R@10@20",
        "R@1234567",
    ],
)
def test_what_is_no_measure_is_refused_with_an_example(text):
    """A text that has not the shape of a measure says what shape is expected."""
    with pytest.raises(UsageProblem, match="is not a measure") as caught:
        parse_measure(text, where="document.yaml:7")
    assert caught.value.where == "document.yaml:7"
    assert "R(credit=source)@10" in caught.value.allowed


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("Sucess@10", "did you mean 'Success'?"),
        ("NDCG@10", "did you mean 'nDCG'?"),
        ("rr@10", "did you mean 'RR'?"),
        ("r@10", "did you mean 'R'?"),
        ("Precision@10", ""),
    ],
)
def test_an_unknown_measure_is_refused_with_the_nearest(text, fix):
    """A misspelt measure lists the known ones and the one that was probably meant."""
    with pytest.raises(UsageProblem, match="no measure") as caught:
        parse_measure(text)
    assert (caught.value.allowed, caught.value.fix) == ("Success, AllSuccess, R, RR, nDCG, P, AP, ndcg_any", fix)


@pytest.mark.parametrize(
    ("text", "what", "allowed"),
    [
        ("R(credits=raw)@10", "no convention 'credits'", "credit, evidence, empty, adversarial"),
        ("R(credit)@10", "credit=", "credit=raw or credit=source"),
        ("R(credit=both)@10", "credit=both", "credit=raw or credit=source"),
        ("R(empty=2)@10", "empty=2", "empty=skip or empty=0 or empty=1"),
        ("R(credit=raw,credit=raw)@10", "credit=raw given twice", "credit=raw or credit=source"),
        ("R(credit=raw,)@10", "no convention ''", "credit, evidence, empty, adversarial"),
    ],
)
def test_a_bad_convention_is_refused_with_its_choices(text, what, allowed):
    """An unknown or repeated convention, or an unknown choice, says what is allowed."""
    with pytest.raises(UsageProblem) as caught:
        parse_measure(text)
    assert what in caught.value.what
    assert caught.value.allowed == allowed
