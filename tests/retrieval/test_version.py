import re
from decimal import Decimal

import pytest

from harness.errors import UsageProblem
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import configure

BM25 = VERSIONS["bm25"]


def test_what_is_left_out_has_its_default():
    """A version without parameters is the shipped one: raw and distilled chunks, k1 1.2, b 0.75, ordinal ties."""
    assert select("bm25").settings() == {
        "layers": ["raw", "distill"], "template": "session-prefix/1", "tokenizer": "ascii-words-cjk-bigrams/1",
        "k1": 1.2, "b": 0.75, "tie_rule": "ordinal",
    }  # fmt: skip


def test_numbers_are_equal_by_value():
    """A decimal, an integer and a float of one value make one configuration with one digest."""
    spellings = [{"k1": 1.5, "b": 1}, {"k1": Decimal("1.50"), "b": Decimal(1)}, {"k1": Decimal("1.5"), "b": 1.0}]
    made = [select("bm25", chosen) for chosen in spellings]
    assert made[0] == made[1] == made[2]
    assert len({one.digest() for one in made}) == 1
    assert made[0].digest() != select("bm25", {"k1": 1.51, "b": 1}).digest()


def test_the_order_of_layers_is_no_part_of_the_identity():
    """Layers named in any order, as a list or a tuple, make one configuration."""
    left = select("bm25", {"layers": ["summary", "raw", "distill"]})
    right = select("bm25", {"layers": ("raw", "distill", "summary")})
    assert left == right
    assert left.digest() == right.digest()
    assert left.settings()["layers"] == ["raw", "distill", "summary"]


def test_version_and_every_parameter_make_the_identity():
    """Two versions with the same parameters, and one version with two, all have different digests."""
    choices = [
        {}, {"layers": ["raw"]}, {"template": "bare/1"}, {"tokenizer": "nfkc-casefold-words-cjk-bigrams/1"},
        {"k1": 0.9}, {"b": 0.4},
    ]  # fmt: skip
    whole = [name for name, version in VERSIONS.items() if not version.needs]
    digests = {select(name, chosen).digest() for name in whole for chosen in choices}
    digests |= {select(name, {"tie_rule": "id-text"}).digest() for name in ("bm25", "bm25-edges")}
    assert len(digests) == len(whole) * len(choices) + 2
    assert select("bm25").identity()["version"] == "bm25"


def test_parameters_cannot_be_changed_afterwards():
    """A configured version is immutable."""
    made = select("bm25")
    with pytest.raises(ValueError, match="frozen"):
        made.parameters.k1 = 2.0


def test_the_unit_of_k_follows_the_read_model():
    """Chunk versions count chunks, edge versions count edges."""
    assert {name: select(name).unit for name, version in VERSIONS.items() if not version.needs} == {
        "bm25": "chunks", "bm25-edges": "edges", "static-tiebreak": "chunks", "static-tiebreak-edges": "edges",
        "rrf": "chunks", "same-layer-mmr": "chunks",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("k11", "did you mean 'k1'?"),
        ("layer", "did you mean 'layers'?"),
        ("tie-rule", "did you mean 'tie_rule'?"),
        ("zzz", ""),
    ],
)
def test_an_unknown_parameter_is_refused_with_the_nearest(key, fix):
    """A misspelt parameter names the version, the known ones and the one that was probably meant."""
    with pytest.raises(UsageProblem, match=f"bm25 has no parameter '{key}'") as caught:
        configure(BM25, {key: 1}, where="conf.yaml:3")
    assert caught.value.where == "conf.yaml:3"
    assert caught.value.allowed == "layers, template, tokenizer, k1, b, tie_rule"
    assert caught.value.fix == fix


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("k1", -0.1, "must be 0 or more"),
        ("k1", Decimal("10.01"), "must be 10 or less"),
        ("b", 1.0001, "must be 1 or less"),
        ("b", float("nan"), ""),
        ("k1", Decimal("NaN"), ""),
        ("k1", float("inf"), "must be 10 or less"),
        ("k1", "1.2", "must be a number"),
        ("k1", True, "must be a number"),
        ("k1", None, "must be a number"),
        ("k1", [1.2], "must be a number"),
        ("layers", "raw", "must be a list"),
        ("layers", [], "at least one"),
        ("layers", ["raw", "raw"], "each layer once"),
        ("layers", ["raw", 1], "must be text"),
        ("layers", ["raw", "distil"], "did you mean 'distill'?"),
        ("template", "session-prefix/2", "did you mean 'session-prefix/1'?"),
        ("tokenizer", "ascii-words", "no such choice 'ascii-words'"),
        ("tokenizer", 1, "must be text"),
        ("tie_rule", "id", "'ordinal' or 'id-text'"),
    ],
)
def test_a_bad_value_is_refused_with_what_is_allowed(key, value, says):
    """A value out of range or of another type names the parameter and its range; nothing is converted silently."""
    with pytest.raises(UsageProblem) as caught:
        configure(BM25, {key: value}, where="conf.yaml")
    assert re.match(rf"{key}(\.\d)? of bm25: ", caught.value.what)
    assert says in caught.value.what
    assert caught.value.where == "conf.yaml"
    assert caught.value.allowed == BM25.parameters.model_fields[key].description
