from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from harness.benchmarks.columns import EXACT, Benchmark, labels_digest
from harness.benchmarks.library import Library, save
from harness.benchmarks.question_flags import is_exact, with_exact

SPEAKERS = ("Ann Lee", "Bo", "")


@pytest.mark.parametrize(
    "question",
    [
        "How many dogs did Ann have in 2023?",
        "When did Ann visit Paris?",
        "What did Bo do in May?",
        "July was hot, why?",
        "Did it rain? She asked about the Titanic.",
        "What is on the 3rd shelf?",
        "Which colour has Zoë's bike?",
        "Who met O’Brien at the zoo?",  # noqa: RUF001 - as people write it
    ],
)
def test_a_name_a_number_or_a_month_is_exact(question: str) -> None:
    """A digit anywhere, a month, or a capitalised word that is not the first of its sentence."""
    assert is_exact(question, SPEAKERS)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "What did she do?",
        "When did Ann meet Bo?",
        "What is Ann's plan, and what did Lee say?",
        "May she go? March on!",
        "Do you think I'm right, or I?",
        "Why? What for? Who?",
        "她昨天去了哪里?",
    ],
)
def test_other_questions_are_not(question: str) -> None:
    """Speakers of the conversation tell nothing apart, and the first word of a sentence is always capitalised."""
    assert not is_exact(question, SPEAKERS)


def test_a_speaker_counts_in_another_conversation(synthetic: Benchmark) -> None:
    """Whose name does not count depends on the partition that the question searches."""
    flagged = with_exact(synthetic.labels, synthetic.questions, synthetic.corpus)
    for index, text in enumerate(synthetic.questions.texts):
        mine = np.flatnonzero(synthetic.corpus.partition == synthetic.questions.partition[index])
        speakers = {synthetic.corpus.speakers[place] for place in mine}
        assert (EXACT in flagged.flags[index]) == is_exact(text, speakers)
    assert 0 < sum(EXACT in flags for flags in flagged.flags) < len(flagged)


def test_no_digest_depends_on_it(synthetic: Benchmark) -> None:
    """What was imported before the flag was known keeps its digest."""
    flagged = with_exact(synthetic.labels, synthetic.questions, synthetic.corpus)
    assert flagged != synthetic.labels
    ids = synthetic.corpus.ids
    assert labels_digest(flagged, ids) == labels_digest(synthetic.labels, ids)


def test_a_library_counts_and_flags_them(synthetic: Benchmark, tmp_path: Path) -> None:
    """The manifest counts the slice before any label is opened, and opened labels carry the flag, dev and held out."""
    manifest = save(synthetic, tmp_path / "synthetic")
    library = Library(tmp_path / "synthetic")
    heldout = library.heldout_labels("0" * 64)
    for part, labels in (("dev", library.dev[1]), ("heldout", heldout)):
        counted = sum(cell[0] for cell in manifest["slices"][part][EXACT].values())
        assert counted == sum(EXACT in flags for flags in labels.flags) > 0


def test_the_share_on_locomo(locomo: Benchmark) -> None:
    """562 of 1,986 questions."""
    flagged = with_exact(locomo.labels, locomo.questions, locomo.corpus)
    assert sum(EXACT in flags for flags in flagged.flags) == 562
