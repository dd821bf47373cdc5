from __future__ import annotations

from dataclasses import replace

import pytest

from harness.errors import IntegrityProblem
from harness.ledger import Life, Stage, life, lives


@pytest.fixture
def step(add):
    """Append one step of a document's life: ``step(kind, lock, **payload)``."""

    def append(kind, lock=None, identifier="doc", **payload):
        named = {} if lock is None else {"lock": lock.hash}
        return add(kind, id=identifier, **named, **payload)

    return append


def test_a_whole_life(ledger, step):
    """A document goes from draft through lock, seal and claim to judged, and each step is named."""
    assert life([], "doc") == Life("doc")
    assert life([], "doc").stage is Stage.DRAFT
    lock = step("lock")
    assert life(ledger.read(), "doc").stage == "LOCKED"
    seal = step("seal", lock, files={"a": "1"})
    assert life(ledger.read(), "doc").stage == "SEALED"
    claim = step("claim", lock, seal=seal.hash)
    assert life(ledger.read(), "doc").stage == "CLAIMED"
    verdict = step("verdict", lock, seal=seal.hash, claim=claim.hash)
    found = life(ledger.read(), "doc")
    assert found == Life("doc", lock, seal, claim, verdict, None)
    assert found.stage == "JUDGED"


def test_abandon_and_lock_again(ledger, step):
    """An abandoned document stays so until a new lock stands, which has a life of its own."""
    first = step("lock")
    seal = step("seal", first)
    abandon = step("abandon", first, reason="power cut")
    found = life(ledger.read(), "doc")
    assert (found.lock, found.seal, found.abandoned) == (first, seal, abandon)
    assert found.stage == "ABANDONED"
    second = step("lock")
    assert life(ledger.read(), "doc") == Life("doc", second)


def test_last_of_several_abandoned_locks(ledger, step):
    """Where all locks were abandoned, the last one is told."""
    for _ in range(2):
        lock = step("lock")
        abandon = step("abandon", lock)
    assert life(ledger.read(), "doc") == Life("doc", lock, abandoned=abandon)


def test_abandoned_twice(ledger, step):
    """Of two abandonments of one lock, as two branches may bring, the first is told."""
    lock = step("lock")
    first = step("abandon", lock)
    step("abandon", lock)
    assert life(ledger.read(), "doc").abandoned == first


def test_abandoning_after_the_verdict(ledger, step):
    """A verdict cannot be abandoned: the document stays judged, and a new lock contradicts it."""
    lock = step("lock")
    verdict = step("verdict", lock)
    step("abandon", lock)
    assert life(ledger.read(), "doc").stage == "JUDGED"
    assert life(ledger.read(), "doc").verdict == verdict
    second = step("lock")
    with pytest.raises(IntegrityProblem, match="two locks that stand") as caught:
        life(ledger.read(), "doc")
    assert lock.name in str(caught.value)
    assert second.name in str(caught.value)


def test_lock_over_a_lock(ledger, step):
    """Two locks that stand for one document are named, whichever branch they came from."""
    first, second = step("lock"), step("lock")
    with pytest.raises(IntegrityProblem, match="two locks that stand") as caught:
        life(ledger.read(), "doc")
    assert first.name in str(caught.value)
    assert second.name in str(caught.value)
    assert caught.value.fix


def test_two_verdicts(ledger, step):
    """Two verdicts on one document are named, even where they agree."""
    lock = step("lock")
    verdicts = [step("verdict", lock, state="PASS") for _ in range(2)]
    with pytest.raises(IntegrityProblem, match="two verdicts") as caught:
        life(ledger.read(), "doc")
    assert all(entry.name in str(caught.value) for entry in verdicts)


def test_step_written_twice(ledger, step):
    """A seal and a claim that two processes finished alike are one, and a verdict tells which."""
    lock = step("lock")
    seals = [step("seal", lock, files={"a": "1"}) for _ in range(2)]
    claims = [step("claim", lock, seal=seals[0].hash) for _ in range(2)]
    found = life(ledger.read(), "doc")
    assert (found.seal, found.claim) == (seals[0], claims[0])
    step("verdict", lock, seal=seals[1].hash, claim=claims[1].hash)
    found = life(ledger.read(), "doc")
    assert (found.seal, found.claim) == (seals[1], claims[1])


def test_steps_that_differ(ledger, step):
    """Two seals of different files for one lock are two runs, and are named."""
    lock = step("lock")
    seals = [step("seal", lock, files={"a": text}) for text in "12"]
    with pytest.raises(IntegrityProblem, match="two seals that differ") as caught:
        life(ledger.read(), "doc")
    assert all(entry.name in str(caught.value) for entry in seals)


@pytest.mark.parametrize("kind", ["abandon", "seal", "claim", "verdict"])
@pytest.mark.parametrize("named", ["f" * 64, None, ["a"]])
def test_step_without_its_lock(ledger, step, add, kind, named):
    """A step for a lock that the document does not have is named, whatever stands in its place."""
    step("lock")
    entry = add(kind, id="doc", lock=named)
    with pytest.raises(IntegrityProblem, match=f"the {kind} of 'doc' is for a lock") as caught:
        life(ledger.read(), "doc")
    assert caught.value.where == entry.name


def test_step_for_the_lock_of_another(ledger, step):
    """A seal cannot be borrowed from another document."""
    other = step("lock", identifier="other")
    step("lock")
    step("seal", other)
    with pytest.raises(IntegrityProblem, match="not the document's"):
        life(ledger.read(), "doc")


@pytest.mark.parametrize("what", ["seal", "claim"])
def test_verdict_on_another_step(ledger, step, what):
    """A verdict names a seal and a claim of its own lock."""
    first = step("lock")
    foreign = step("seal", first), step("claim", first)
    step("abandon", first)
    lock = step("lock")
    step("verdict", lock, **{what: foreign[what == "claim"].hash})
    with pytest.raises(IntegrityProblem, match=f"is for a {what}"):
        life(ledger.read(), "doc")


def test_lives(ledger, step, add):
    """All documents are told by id in the order of their first entry; other kinds are passed over."""
    b = step("lock", identifier="b")
    a = step("lock", identifier="a")
    step("seal", b, identifier="b")
    add("outside_look", id="c")
    add("kind of a later version", id="d")
    add("lock", id=None)
    found = lives(reversed(ledger.read()))
    assert list(found) == ["b", "a"]
    assert found["b"].stage == "SEALED"
    assert found["a"] == Life("a", a) == life(ledger.read(), "a")


def test_one_contradiction_leaves_the_others(ledger, step):
    """A document whose entries contradict each other does not keep another from being told."""
    step("lock")
    step("lock")
    good = step("lock", identifier="good")
    assert life(ledger.read(), "good").lock == good
    with pytest.raises(IntegrityProblem, match="'doc'"):
        lives(ledger.read())


def test_clock_set_back(ledger, step):
    """The order of a life is that of the chain; a clock that was set back changes nothing."""
    lock = step("lock")
    abandon = step("abandon", lock)
    second = step("lock")
    shifted = [replace(e, time="1999-01-01T00:00:00+00:00") if e in (abandon, second) else e for e in ledger.read()]
    assert life(shifted, "doc").lock.hash == second.hash
