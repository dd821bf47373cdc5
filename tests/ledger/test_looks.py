from __future__ import annotations

import pytest

from harness.digest import digest_json
from harness.errors import IntegrityProblem, UsageProblem
from harness.ledger import ancestors, look_number, read_question_set, spent_on, write_question_set

A, B, C, D = (digit * 16 for digit in "abcd")


@pytest.fixture
def lock(ledger, add):
    """Append a lock on a held-out set: ``lock(*members)``."""

    def append(*members, identifier="doc"):
        return add("lock", id=identifier, heldout_set=write_question_set(ledger.root, members))

    return append


def test_question_set(ledger):
    """A set is one file named by its content, whatever the order and repeats of its members."""
    digest = write_question_set(ledger.root, [B, A, B])
    assert digest == digest_json("question-set/1", [A, B])
    assert write_question_set(ledger.root, iter([A, B])) == digest
    [path] = (ledger.root / "questions").iterdir()
    assert path.name == digest.removeprefix("sha256:") + ".json"
    assert path.read_bytes() == f'["{A}","{B}"]'.encode()
    assert read_question_set(ledger.root, digest) == (A, B)


@pytest.mark.parametrize("members", [[], ["abc"], [A.upper()], [A, "../../../../etc"], [A + "\n"]])
def test_members_are_digests(ledger, members):
    """An empty set, or a member that is no digest, is refused and nothing is written."""
    with pytest.raises(UsageProblem, match="question"):
        write_question_set(ledger.root, members)
    with pytest.raises(UsageProblem):
        look_number(ledger.root, [], members)
    assert not ledger.root.exists()


@pytest.mark.parametrize("digest", ["", "sha256:../x", "f" * 64, "None"])
def test_not_the_digest_of_a_set(ledger, digest):
    """What is no digest never becomes a file name."""
    with pytest.raises(UsageProblem, match="not the digest"):
        read_question_set(ledger.root, digest)


def test_changed_question_set(ledger, lock):
    """A set with one question dropped to win a look back no longer fits its name, and nobody uses it."""
    entry = lock(A, B)
    [path] = (ledger.root / "questions").iterdir()
    path.write_text(f'["{B}"]')
    with pytest.raises(IntegrityProblem, match="was changed"):
        read_question_set(ledger.root, entry.payload["heldout_set"])
    with pytest.raises(IntegrityProblem, match="was changed"):
        write_question_set(ledger.root, [A, B])
    with pytest.raises(IntegrityProblem, match="was changed") as caught:
        look_number(ledger.root, ledger.read(), [A])
    assert caught.value.where == str(path)


def test_missing_question_set(ledger, lock):
    """A removed set is a problem and never an empty one."""
    lock(A)
    [path] = (ledger.root / "questions").iterdir()
    path.unlink()
    with pytest.raises(IntegrityProblem, match="is missing"):
        look_number(ledger.root, ledger.read(), [A])


@pytest.mark.parametrize("content", [[B, A], [A, A], [], {"a": 1}, [1], ["x"]])
def test_content_that_is_no_set(ledger, content):
    """A file that fits its name but holds no sorted set is refused."""
    digest = digest_json("question-set/1", content)
    path = ledger.root / "questions" / f"{digest[7:]}.json"
    path.parent.mkdir(parents=True)
    path.write_text(str(content).replace("'", '"').replace(" ", ""))
    with pytest.raises(IntegrityProblem, match="not a sorted list"):
        read_question_set(ledger.root, digest)


def test_overlap_counts(ledger, lock):
    """Every earlier lock that shares even one question spends a look, whatever its document."""
    assert look_number(ledger.root, [], [A]) == 1
    first = lock(A, B)
    lock(D, identifier="elsewhere")
    third = lock(B, C, identifier="other")
    entries = ledger.read()
    assert spent_on(ledger.root, entries, [B]) == [first, third]
    assert look_number(ledger.root, entries, [B, D]) == 4
    assert look_number(ledger.root, entries, [A]) == 2
    assert look_number(ledger.root, entries, ["e" * 16]) == 1


def test_abandoned_before_the_seal(ledger, lock, add):
    """A lock that was abandoned before anything was sealed gives its look back."""
    entry = lock(A)
    add("abandon", id="doc", lock=entry.hash)
    assert look_number(ledger.root, ledger.read(), [A]) == 1


@pytest.mark.parametrize("kind", ["seal", "claim", "verdict"])
@pytest.mark.parametrize("abandoned_first", [False, True])
def test_abandoned_after_the_run(ledger, lock, add, kind, abandoned_first):
    """An abandonment gives nothing back once a run was sealed, even if the seal came on another branch."""
    entry = lock(A)
    for step in ("abandon", kind) if abandoned_first else (kind, "abandon"):
        add(step, id="doc", lock=entry.hash)
    assert look_number(ledger.root, ledger.read(), [A]) == 2


def test_number_of_a_lock_made_earlier(ledger, lock, add):
    """Counted in its ancestors only, a lock keeps its number, whatever was abandoned or locked later."""
    first = lock(A)
    second = lock(A, identifier="other")
    add("abandon", id="doc", lock=first.hash)
    lock(A, identifier="third")
    entries = ledger.read()
    before = ancestors(entries, second.parents)
    assert look_number(ledger.root, [e for e in entries if e.hash in before], [A]) == 2
    assert look_number(ledger.root, entries, [A]) == 3


def test_looks_on_two_branches(ledger, lock, plant):
    """After a merge the looks of both branches count for the next lock."""
    first = lock(A)
    payload = {"id": "branch", "heldout_set": first.payload["heldout_set"]}
    plant(sequence=2, parents=[first.hash], kind="lock", payload=payload)
    lock(A, identifier="trunk")
    assert look_number(ledger.root, ledger.read(), [A]) == 4
