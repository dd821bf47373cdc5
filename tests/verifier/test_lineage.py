import json
import math

import pytest

from harness.verifier.chain import read_chain
from harness.verifier.lineage import trace

PAST = {
    "id": "earlier",
    "document": {"id": "earlier", "alpha": 0.05},
    "document_digest": "x",
    "look": 1,
    "alpha_k": 0.03,
}


def past(ledger, members, *stages, name="earlier"):
    """Append an earlier lock over some questions, then the given stages of it."""
    lock = ledger.append("lock", PAST | {"id": name, "heldout_set": ledger.question_set(members)})
    for stage in stages:
        ledger.append(stage, {"id": name, "lock": lock})
    return lock


def traced(story):
    """The lineage of the written experiment."""
    return trace(read_chain(story.ledger.folder), "sharper")


@pytest.mark.parametrize(
    ("stages", "look"),
    [
        ((), 2),
        (("seal",), 2),
        (("seal", "claim", "verdict"), 2),
        (("abandon",), 1),
        (("seal", "abandon"), 2),
    ],
)
def test_an_earlier_lock_counts_unless_it_was_given_back_before_its_seal(write, stages, look):
    """Open, sealed and judged locks count, and so does one abandoned after its seal."""
    story = write(before=lambda ledger, heldout: past(ledger, heldout[:1], *stages), look=look)
    lineage = traced(story)
    assert lineage.problems == []
    assert lineage.look == look
    assert lineage.alpha == pytest.approx(0.05 * 6 / (math.pi**2 * look**2), rel=1e-14)


def test_locks_count_only_if_they_share_a_question(write):
    """Other questions are another instrument; one shared question is enough for a look."""

    def before(ledger, heldout):
        past(ledger, ["0" * 16, "1" * 16])
        past(ledger, ["0" * 16, heldout[5]])
        past(ledger, heldout[3:9], name="third")

    assert traced(write(before=before, look=3)).look == 3


def test_abandoning_after_the_lock_gives_nothing_back(write):
    """A look is fixed when the lock is made."""
    story = write(before=lambda ledger, heldout: past(ledger, heldout), look=2)
    earlier = next(digest for digest, sequence in story.ledger.sequence.items() if sequence == 1)
    story.ledger.append("abandon", {"id": "earlier", "lock": earlier})
    assert traced(story).look == 2


def test_a_lock_on_another_branch_is_named_and_not_counted(write):
    """What a lock could not see does not change its look, but whoever verifies is told."""
    story = write()
    ledger = story.ledger
    members = json.loads(next((ledger.folder / "questions").iterdir()).read_bytes())
    other = ledger.append("lock", PAST | {"heldout_set": ledger.question_set(members)}, parents=[])
    later = past(ledger, members[:2], name="later")
    lineage = traced(story)
    assert (lineage.problems, lineage.look) == ([], 1)
    assert lineage.concurrent == [ledger.path(other).name]
    assert ledger.path(later).exists()


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        ("lock", "look", 2, "the chain makes it look 1"),
        ("lock", "look", None, "look: null"),
        ("lock", "alpha_k", 0.05, "alpha_k 0.05, look 1 makes it 0.0303"),
        ("lock", "alpha_k", "0.03", "alpha_k: '0.03'"),
        ("lock", "document_digest", "sha256:" + "0" * 64, "not the digest of the document"),
        ("lock", "document", None, "document: null"),
        ("lock", "heldout_set", "sha256:" + "0" * 64, "missing"),
        ("lock", "heldout_set", "../../x", "no tagged digest"),
        ("lock", "heldout_set", 7, "no tagged digest"),
        ("seal", "id", "other", "under another id"),
        ("seal", "lock", "0" * 64, "names no lock"),
        ("claim", "seal", "0" * 64, "does not name the seal"),
        ("claim", "seal", None, "does not name the seal"),
        ("verdict", "claim", "0" * 64, "does not name the claim"),
        ("verdict", "seal", [], "does not name the seal"),
        ("verdict", "look", 2, "the chain makes it look 1"),
        ("verdict", "alpha_k", 0.05, "alpha_k 0.05"),
    ],
)
def test_an_entry_that_was_wrong_when_it_was_written_is_found(write, kind, key, value, message):
    """A sound chain can still hold a false statement: each is found by the entry that makes it."""
    lineage = traced(write(edit={kind: lambda payload: payload.update({key: value})}))
    assert message in lineage.problems[0]


def test_a_document_changed_with_its_digest_still_needs_its_own_id(write):
    """A document of another experiment cannot stand in a lock."""
    lineage = traced(write(document={"id": "other"}, edit={"lock": lambda p: p.update(id="sharper")}))
    assert "the document's id is 'other'" in lineage.problems[0]


def test_a_second_standing_lock_is_refused(write):
    """One experiment has one lock that was not abandoned; after abandoning, another may stand."""
    story = write(until="lock")
    payload = json.loads(story.entry("lock").read_bytes())["payload"]
    second = story.ledger.append("lock", payload | {"look": 2, "alpha_k": payload["alpha_k"] / 4})
    assert "2 locks that stand" in traced(story).problems[0]
    story.ledger.append("abandon", {"id": "sharper", "lock": story.digests["lock"]})
    assert (traced(story).problems, traced(story).look) == ([], 2)
    story.ledger.append("abandon", {"id": "sharper", "lock": second})
    assert "0 locks that stand" in traced(story).problems[0]


@pytest.mark.parametrize("kind", ["seal", "claim", "verdict"])
def test_a_second_entry_of_a_stage_is_refused(write, kind):
    """There is one seal, one claim and one verdict."""
    story = write()
    payload = json.loads(story.entry(kind).read_bytes())["payload"]
    story.ledger.append(kind, payload | {"again": True})
    assert f"2 {kind} entries of one lock" in traced(story).problems[0]


def test_a_stage_on_a_branch_without_its_predecessor_is_refused(write):
    """Naming an entry is not enough: it has to come before."""
    story = write(until="lock")
    root = story.ledger.append("note", {}, parents=[])
    story.ledger.append("seal", {"id": "sharper", "lock": story.digests["lock"]}, parents=[root])
    assert "does not come before it" in traced(story).problems[0]


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b'["b","a"]', b'["0000000000000000" ]', b"{}", b"[1]", b"[NaN]", b'["0000000000000000"]'],
)
def test_a_damaged_question_set_is_found(write, raw):
    """The set behind a look has to be the one that the lock names."""
    story = write()
    next((story.ledger.folder / "questions").iterdir()).write_bytes(raw)
    (problem,) = traced(story).problems
    assert problem.startswith("questions/")


def test_an_unknown_id_has_no_lock(write):
    """Nothing is assumed about an experiment that the ledger does not know."""
    assert trace(read_chain(write().ledger.folder), "nobody").problems == ["no lock of 'nobody' in the ledger"]
