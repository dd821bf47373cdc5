import pytest

from harness.errors import UsageProblem
from harness.retrieval.registry import DEFAULT, VERSIONS, select

NAMES = [
    "bm25",
    "bm25-edges",
    "static-tiebreak",
    "static-tiebreak-edges",
    "rrf",
    "same-layer-mmr",
    "composed",
    "external",
]


def test_versions_stand_under_their_own_names():
    """Every version is found by its name, and the default is one of them."""
    assert {name: version.name for name, version in VERSIONS.items()} == {name: name for name in VERSIONS}
    assert list(VERSIONS) == NAMES
    assert DEFAULT == "bm25"


def test_versions_cannot_be_added_from_outside():
    """The registry is read-only at run time."""
    with pytest.raises(TypeError):
        VERSIONS["mine"] = VERSIONS["bm25"]


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("bm52", "did you mean 'bm25'?"),
        ("bm25-edge", "did you mean 'bm25-edges'?"),
        ("static-tie-break", "did you mean 'static-tiebreak'?"),
        ("", "harness versions lists them"),
        ("dense", "harness versions lists them"),
    ],
)
def test_an_unknown_version_is_refused_with_the_nearest(name, fix):
    """A misspelt version names all versions and the one that was probably meant."""
    with pytest.raises(UsageProblem) as caught:
        select(name, where="--retrieval-version")
    assert caught.value.what == f"no retrieval version {name!r}"
    assert (caught.value.where, caught.value.allowed, caught.value.fix) == (
        "--retrieval-version", ", ".join(NAMES), fix,
    )  # fmt: skip


def test_every_version_says_what_it_is():
    """A version tells a person its source, its reach and its cost, and repeats itself."""
    for version in VERSIONS.values():
        assert all([version.summary, version.source, version.touches, version.cost])
        assert version.example.startswith("retrieval.")
    assert [version.name for version in VERSIONS.values() if not version.deterministic] == ["external"]
