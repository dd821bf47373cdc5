from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.digest import canonical_json
from harness.preregistration.document import Preregistration, from_canonical, from_mapping

Read = Callable[[str], Preregistration]

FULL = """\
format: 1
id: raw-only
title: Raw turns alone
authors: [Ada Example, Bo Example]
hypothesis: Distilled items crowd out the turns that they repeat.
rationale: Two points are worth building the index anew.
due: "2027-03-01"
benchmark: {name: locomo, digest: "sha256:HEX"}
baseline:
  version: bm25
  parameters: {layers: [raw, distill], k1: 1.2, tie_rule: ordinal}
  fingerprint: "sha256:HEX"
candidate:
  version: bm25
  parameters: {layers: [raw], b: 0.75}
  fingerprint: "sha256:HEX"
  frozen: experiments/raw-only/frozen.yaml
  trials: 4
straw: the version in force is not public
budget: {k: 20, unit: chunks}
claim: {superior: 0.02, rollback: -0.01}
primary: [R@10, "nDCG(credit=source)@10"]
guards:
  - {measure: R@10, slice: temporal, drop: 0.03}
  - {measure: R@10, slice: multi-hop, drop: 0.05}
alpha: 0.05
rho_plan: 0.01
procedure: cluster-t+tango/2
decide_on: bounds
expect: {low: 0.01, high: 0.08}
outside_looks: [a published figure]
""".replace("HEX", "ab" * 32)

SAME = {
    "comments": lambda text: "# why\n" + text.replace("alpha: 0.05", "alpha: 0.05   # one-sided"),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "byte-order mark": lambda text: "\ufeff" + text,
    "order of keys": lambda text: (
        "".join(sorted(text.splitlines(keepends=True)[:8], reverse=True)) + "".join(text.splitlines(keepends=True)[8:])
    ),
    "order of keys in a part": lambda text: text.replace(
        "{superior: 0.02, rollback: -0.01}", "{rollback: -0.01, superior: 0.02}"
    ),
    "zeros at the end": lambda text: text.replace("0.02", "0.020").replace("0.05", "0.0500"),
    "layers in another order": lambda text: text.replace("[raw, distill]", "[distill, raw]"),
    "defaults left out": lambda text: (
        text.replace(", tie_rule: ordinal", "")
        .replace("k1: 1.2", "b: 0.75")
        .replace(", unit: chunks", "")
        .replace("alpha: 0.05\nrho_plan: 0.01\nprocedure: cluster-t+tango/2\ndecide_on: bounds\n", "")
    ),
    "quotes": lambda text: text.replace("id: raw-only", "id: 'raw-only'"),
    "another spelling of a measure": lambda text: text.replace("nDCG(credit=source)", "nDCG( credit = source )"),
}


@pytest.mark.parametrize("change", SAME.values(), ids=SAME.keys())
def test_spelling_does_not_change_the_digest(change: Callable[[str], str], read: Read) -> None:
    """The digest is of what the document means, and the bytes of the file are on record beside it."""
    changed = change(FULL)
    assert changed != FULL
    document, other = read(FULL), read(changed)
    assert other.digest == document.digest
    assert other.canonical == document.canonical
    assert other.raw_sha256 != document.raw_sha256
    assert other.raw_sha256 == hashlib.sha256(changed.encode()).hexdigest()


MEANT = [
    ("id: raw-only", "id: raw-only-2"),
    ("Raw turns alone", "Raw turns, alone"),
    ("[Ada Example, Bo Example]", "[Bo Example, Ada Example]"),
    ("crowd out", "do not crowd out"),
    ("Two points", "Three points"),
    ("2027-03-01", "2027-03-02"),
    ("name: locomo", "name: synthetic"),
    ('locomo, digest: "sha256:ab', 'locomo, digest: "sha256:ac'),
    ("layers: [raw, distill]", "layers: [raw, distill, summary]"),
    ("k1: 1.2", "k1: 1.3"),
    ("tie_rule: ordinal", "tie_rule: id-text"),
    ("b: 0.75", "b: 0.7"),
    ("layers: [raw]", "layers: [distill]"),
    ("frozen: experiments/raw-only/", "frozen: experiments/other/"),
    ("trials: 4", "trials: 5"),
    ("is not public", "is lost"),
    ("k: 20", "k: 10"),
    ("superior: 0.02", "superior: 0.021"),
    ("superior: 0.02, rollback: -0.01", "non_inferior: 0.01"),
    ("rollback: -0.01", "rollback: 0"),
    ("[R@10, ", "[R@5, "),
    ("[R@10, ", "[RR@10, "),
    ("[R@10, ", "["),
    ('[R@10, "nDCG(credit=source)@10"]', '["nDCG(credit=source)@10", R@10]'),
    ("nDCG(credit=source)", "nDCG"),
    ("nDCG(credit=source)", "nDCG(credit=source,empty=0)"),
    ("slice: temporal", "slice: open-domain"),
    ("drop: 0.03", "drop: 0.031"),
    ("  - {measure: R@10, slice: multi-hop, drop: 0.05}\n", ""),
    ("alpha: 0.05", "alpha: 0.04"),
    ("rho_plan: 0.01", "rho_plan: 0.02"),
    ("decide_on: bounds", "decide_on: estimate"),
    ("low: 0.01", "low: 0.02"),
    ("high: 0.08", "high: 0.09"),
    ("a published figure", "another published figure"),
]


def test_every_change_of_meaning_changes_the_digest(read: Read) -> None:
    """Each single change gives a digest of its own, so no two promises are ever taken for one."""
    digests = {"": read(FULL).digest}
    for old, new in MEANT:
        assert FULL.count(old) == 1, old
        digests[f"{old} → {new}"] = read(FULL.replace(old, new)).digest
    assert len(set(digests.values())) == len(digests)


def test_the_digest_is_that_of_the_canonical_document(read: Read) -> None:
    """Anyone can compute it: tagged SHA-256 of JSON with sorted keys and no blanks."""
    document = read(FULL)
    text = json.dumps(document.canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    expected = hashlib.sha256(b"retrieval-harness/preregistration/1\n" + text.encode()).hexdigest()
    assert document.digest == f"sha256:{expected}"


TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
FRACTION = st.integers(1, 9999).map(lambda n: Decimal(n).scaleb(-4))
MEASURES = st.builds(
    "{}{}@{}".format,
    st.sampled_from(["Success", "AllSuccess", "R", "RR", "nDCG", "P", "AP"]),
    st.sampled_from(["", "(credit=source)", "(evidence=published,empty=1)", "(adversarial=out)"]),
    st.integers(1, 30),
)
SLICES = st.sampled_from(["all", "temporal", "conversation:conv-30"]) | TEXT
PARAMETERS = st.fixed_dictionaries(
    {},
    optional={
        "layers": st.lists(st.sampled_from(["raw", "distill", "summary"]), min_size=1, unique=True),
        "k1": st.integers(0, 10) | st.integers(0, 10**7).map(lambda n: Decimal(n).scaleb(-6)),
        "b": FRACTION | st.integers(0, 1),
        "tie_rule": st.sampled_from(["ordinal", "id-text"]),
    },
)
DIGESTS = st.none() | st.integers(0, 16**64 - 1).map("sha256:{:064x}".format)
SYSTEM: dict[str, Any] = {"version": st.just("bm25"), "parameters": PARAMETERS, "fingerprint": DIGESTS}
CLAIMS = st.one_of(
    st.builds(lambda a: {"superior": a}, FRACTION | st.just(0)),
    st.builds(lambda a, b: {"superior": max(a, b), "rollback": min(a, b)}, FRACTION, FRACTION),
    st.builds(lambda a: {"non_inferior": a}, FRACTION),
    st.builds(lambda a, b: {"non_inferior": min(a, b), "rollback": -max(a, b)}, FRACTION, FRACTION),
)
CLAUSES = st.fixed_dictionaries({"measure": MEASURES, "slice": SLICES})
DOCUMENTS = st.fixed_dictionaries(
    {
        "format": st.just(1),
        "id": st.from_regex(r"[a-z0-9][a-z0-9-]{0,63}", fullmatch=True),
        "title": TEXT,
        "authors": st.lists(TEXT, min_size=1, max_size=3) | TEXT,
        "hypothesis": TEXT,
        "rationale": TEXT,
        "benchmark": st.just("locomo") | st.fixed_dictionaries({"name": st.just("locomo"), "digest": DIGESTS}),
        "baseline": st.fixed_dictionaries(SYSTEM),
        "candidate": st.fixed_dictionaries(
            {**SYSTEM, "frozen": st.none() | TEXT, "trials": st.none() | st.integers(1, 99)}
        ),
        "claim": CLAIMS,
        "primary": st.lists(CLAUSES, min_size=1, max_size=2, unique_by=str),
    },
    optional={
        "due": st.none() | st.dates().map(str),
        "straw": st.none() | TEXT,
        "budget": st.builds(lambda k: {"k": k, "unit": "chunks"}, st.integers(30, 100)),
        "guards": st.lists(st.builds(lambda part, d: {**part, "drop": d}, CLAUSES, FRACTION), max_size=1),
        "alpha": st.integers(1, 2000).map(lambda n: Decimal(n).scaleb(-4)),
        "rho_plan": st.integers(0, 5000).map(lambda n: Decimal(n).scaleb(-4)),
        "decide_on": st.sampled_from(["bounds", "estimate"]),
        "expect": st.none() | st.builds(lambda a, b: {"low": -max(a, b), "high": min(a, b)}, FRACTION, FRACTION),
        "outside_looks": st.lists(TEXT, max_size=2),
    },
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(DOCUMENTS)
def test_a_recorded_document_comes_back_as_the_same_promise(value: dict[str, Any]) -> None:
    """The canonical form, written as JSON and read back, has the same digest and the same clauses and systems."""
    document = from_mapping(value, "doc.yaml")
    again = from_canonical(json.loads(canonical_json(document.canonical)))
    assert again.digest == document.digest
    assert again.clauses == document.clauses
    assert (again.baseline, again.candidate) == (document.baseline, document.candidate)
    assert (again.k, again.unit) == (document.k, document.unit)


def test_every_key_survives_the_record(read: Read) -> None:
    """A document that writes every key comes back with the same canonical form."""
    document = read(FULL)
    assert from_canonical(json.loads(canonical_json(document.canonical))).canonical == document.canonical
