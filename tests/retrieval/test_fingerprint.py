import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import harness.retrieval
from harness.retrieval.fingerprint import code_digest, current, fingerprint, recorded
from harness.retrieval.ranking import Ranking
from harness.retrieval.registry import VERSIONS, select
from harness.retrieval.version import Configured

PACKAGE = Path(harness.retrieval.__file__).parent


def behaving(change: Callable[[Ranking], Ranking]) -> Configured:
    """`bm25` under its own name with its rankings changed."""
    honest = VERSIONS["bm25"]
    changed = replace(honest, rank=lambda *arguments: change(honest.rank(*arguments)))
    return Configured(changed, select("bm25").parameters)


def test_every_version_behaves_as_recorded():
    """A version whose rankings change needs a new name: these are the recorded behaviours, none missing."""
    assert recorded() == current()
    assert list(recorded()) == [name for name, version in VERSIONS.items() if not version.needs]


def test_versions_behave_differently():
    """No two recorded versions have the same behaviour."""
    assert len(set(recorded().values())) == len(recorded())


@pytest.mark.parametrize(
    "choices",
    [
        {"layers": ["raw"]}, {"template": "bare/1"}, {"k1": 1.3}, {"b": 0.7}, {"tie_rule": "id-text"},
        {"tokenizer": "nfkc-casefold-words-cjk-bigrams/1"},
    ],
    ids=lambda choices: next(iter(choices)),
)  # fmt: skip
def test_another_parameter_is_another_behaviour(choices):
    """Each parameter that can change a ranking changes the fingerprint on the frozen data."""
    assert fingerprint(select("bm25", choices)) != recorded()["bm25"]


def test_another_behaviour_under_the_same_name_shows():
    """One document fewer, or two exchanged, for one question of all changes the fingerprint."""

    def shortened(ranking):
        offsets = np.append(ranking.offsets[:-1], ranking.offsets[-1] - 1)
        return replace(ranking, offsets=offsets, positions=ranking.positions[:-1], scores=ranking.scores[:-1])

    def exchanged(ranking):
        positions = ranking.positions.copy()
        positions[[0, 1]] = positions[[1, 0]]
        return replace(ranking, positions=positions)

    found = {fingerprint(behaving(change)) for change in (shortened, exchanged)}
    assert len(found | {recorded()["bm25"]}) == 3


def test_the_last_bits_of_scores_do_not_count():
    """A processor that rounds scores otherwise, but orders alike, has the same fingerprint."""
    nudged = behaving(lambda ranking: replace(ranking, scores=np.nextafter(ranking.scores, np.inf)))
    assert fingerprint(nudged) == recorded()["bm25"]


def test_the_engine_is_no_part_of_the_behaviour(monkeypatch):
    """On the reference engine the versions have the recorded fingerprints too."""
    honest = Configured.rank
    monkeypatch.setattr(Configured, "rank", lambda *arguments: honest(*arguments, engine="rank_bm25"))
    assert current() == recorded()


@pytest.fixture
def copied(tmp_path):
    """A copy of the retrieval package that the code digest is taken of."""
    folder = tmp_path / "retrieval"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_line_ends_do_not_change_the_code_digest(copied):
    """A checkout with CRLF line ends has the same code digest."""
    original = code_digest()
    assert code_digest(copied) == original
    for path in [*copied.glob("*.py"), *copied.glob("versions/*.py")]:
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert b"\r\n" in (copied / "lexical.py").read_bytes()
    assert code_digest(copied) == original


def test_any_change_of_source_changes_the_code_digest(copied):
    """An edited, added or renamed module changes the code digest; recorded fingerprints and caches do not."""
    seen = [code_digest(copied)]
    (copied / "fingerprints.json").write_text("{}")
    (copied / "versions" / "__pycache__").mkdir()
    assert code_digest(copied) == seen[0]
    source = copied / "versions" / "bm25.py"
    source.write_text(source.read_text() + "#\n")
    seen.append(code_digest(copied))
    (copied / "extra.py").write_text("")
    seen.append(code_digest(copied))
    (copied / "extra.py").rename(copied / "versions" / "extra.py")
    seen.append(code_digest(copied))
    assert len(set(seen)) == 4
