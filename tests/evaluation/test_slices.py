import numpy as np
import pytest

from harness.benchmarks.build import Builder
from harness.benchmarks.columns import Benchmark
from harness.errors import UsageProblem
from harness.evaluation.slices import in_slice, slice_names, unknown_slice


def tiny() -> Benchmark:
    """Two conversations, five questions, two flags; a third conversation nobody asks about."""
    builder = Builder("tiny")
    rows = [
        ("a", "temporal", []),
        ("a", "multi-hop", ["image_dependent"]),
        ("b", "temporal", ["abstain", "image_dependent"]),
    ]
    for name in ("a", "b", "silent"):
        builder.begin_partition(name)
        builder.add_chunk(f"{name}/D1:1", "text", layer="raw", confidence=0.4)
        for index, (where, category, flags) in enumerate(rows):
            if where == name:
                builder.add_question(
                    f"{name}/q{index}", "why?", dev=name == "a", category=category, answer="", flags=flags,
                    repaired=[0], published=[0], n_published=1, cluster=name,
                )  # fmt: skip
    return builder.finish({})


def members(name: str) -> list[bool]:
    """Which of the tiny benchmark's questions a slice holds."""
    made = tiny()
    return in_slice(name, made.questions, made.labels, made.partitions).tolist()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("all", [True, True, True]),
        ("temporal", [True, False, True]),
        ("multi-hop", [False, True, False]),
        ("image_dependent", [False, True, True]),
        ("abstain", [False, False, True]),
        ("conversation:a", [True, True, False]),
        ("conversation:b", [False, False, True]),
    ],
)
def test_members_of_each_slice(name, expected):
    """A slice is everything, a category, a flag or a conversation."""
    assert members(name) == expected


def test_names_of_slices_that_have_a_question():
    """All, categories, flags and conversations are listed, a conversation without questions is not."""
    made = tiny()
    names = slice_names(made.questions, made.labels, made.partitions)
    assert names == ["all", "multi-hop", "temporal", "abstain", "image_dependent", "conversation:a", "conversation:b"]
    assert all(any(members(name)) for name in names)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("temporel", "did you mean 'temporal'?"),
        ("conversation:c", "did you mean 'conversation:a'?"),
        ("", ""),
        ("ALL", ""),
    ],
)
def test_an_unknown_slice_is_refused_with_the_nearest(name, fix):
    """A misspelt slice lists the known ones and the one that was probably meant."""
    with pytest.raises(UsageProblem, match="no slice") as caught:
        members(name)
    assert caught.value.allowed.startswith("all, multi-hop, temporal")
    assert caught.value.fix in (fix, "did you mean 'conversation:b'?" if fix else "")


def test_the_error_names_the_place_that_asked():
    """Where a document asked for the slice, the error says so."""
    error = unknown_slice("x", ["all"], where="document.yaml:9")
    assert (error.where, error.allowed) == ("document.yaml:9", "all")


def test_categories_and_conversations_each_divide_locomo(locomo):
    """Every LoCoMo question has one category and one conversation; 36 rest on an image."""
    parts = (locomo.questions, locomo.labels, locomo.partitions)
    names = slice_names(*parts)
    for group in ([n for n in names if n.startswith("conversation:")], sorted(set(locomo.labels.categories))):
        assert (sum(in_slice(name, *parts).astype(int) for name in group) == np.ones(1986)).all()
    assert in_slice("image_dependent", *parts).sum() == 36
