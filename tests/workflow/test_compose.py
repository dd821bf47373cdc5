"""The configuration of a dev run: what is chosen, and what is refused before anything is opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageProblem
from harness.workflow.compose import compose_dev

ONE = ("synthetic",)


@pytest.mark.parametrize(
    "name", ["plain", "with blanks", "accents é ü", "br[ack]ets (x)", "quo'te", 'double"quote', "a=b,c"]
)
def test_own_configurations_are_found_in_any_folder(tmp_path: Path, name: str) -> None:
    """A workspace may lie in a folder with any name; its own retrieval configurations can be chosen."""
    own = tmp_path / name / "conf"
    (own / "retrieval").mkdir(parents=True)
    (own / "retrieval" / "mine.yaml").write_text("version: bm25\nlayers: [raw]\nk1: 0.9\n", encoding="utf-8")
    config = compose_dev(None, ["retrieval=mine"], ONE, own)
    assert config.system.settings()["k1"] == 0.9
    assert config.system.settings()["layers"] == ["raw"]


OWN = {
    "no YAML": b"version: bm25\nk1: [\n",
    "no text": b"\xff\xfe",
    "names itself": b"defaults: [mine]\n",
    "makes an object": b"version: !!python/object/apply:os.getcwd []\n",
    "changes Hydra's settings": b"# @package _global_\nhydra: {job_logging: {version: 1, handlers: {}}}\n",
}


@pytest.mark.parametrize("content", OWN.values(), ids=OWN)
def test_own_configurations_that_cannot_be_used_are_refused(tmp_path: Path, content: bytes) -> None:
    """Whatever Hydra stumbles over in a file of the workspace is the file's fault, not the program's."""
    (tmp_path / "retrieval").mkdir()
    (tmp_path / "retrieval" / "mine.yaml").write_bytes(content)
    with pytest.raises(UsageProblem) as caught:
        compose_dev(None, ["retrieval=mine"], ONE, tmp_path)
    assert "no retrieval version" not in caught.value.what


def test_the_only_benchmark_is_chosen(tmp_path: Path) -> None:
    """Where one benchmark is imported nobody has to name it."""
    assert compose_dev("bm25", [], ["mine"], tmp_path).benchmark == "mine"
    assert compose_dev("bm25", ["benchmark.name=other"], ["mine"], tmp_path).benchmark == "other"


def test_among_several_benchmarks_one_must_be_named(tmp_path: Path) -> None:
    """Nothing is taken silently where several are imported."""
    with pytest.raises(UsageProblem, match="which one") as caught:
        compose_dev("bm25", [], ["locomo", "synthetic"], tmp_path)
    assert caught.value.allowed == "locomo, synthetic"


@pytest.mark.parametrize("written", ["[R(evidence=published)@10,nDCG@5]", '["R(evidence=published)@10","nDCG@5"]'])
def test_measures_may_have_brackets(tmp_path: Path, written: str) -> None:
    """Measures with conventions are read with and without quotes inside the list."""
    config = compose_dev("bm25", [f"measures={written}"], ONE, tmp_path)
    assert [str(measure) for measure in config.measures] == ["R(evidence=published)@10", "nDCG@5"]


@pytest.mark.parametrize(
    ("override", "message", "fix"),
    [
        ("retrieval.k1=0.9,1.2", "sweep", "add -m"),
        ("b=0.4", "no key 'b'", "retrieval.b"),
        ("kk=3", "no key 'kk'", "'k'"),
        ("retrieval.layer=[raw]", "no parameter 'layer'", "'layers'"),
        ("benchmark=other", "no benchmark configuration 'other'", "benchmark.name=other"),
        ("benchmark.split=full", "dev questions only", "harness full"),
        ("k=0", "must be 1 or more", ""),
        ("=3", "Config group override", ""),
        ("benchmark=null", "Config group override", ""),
        ("retrieval.k1=abc", "must be a number", ""),
    ],
)
def test_refusals_name_the_mend(tmp_path: Path, override: str, message: str, fix: str) -> None:
    """What cannot be accepted is refused with what was meant, as far as that can be guessed."""
    with pytest.raises(UsageProblem, match=message) as caught:
        compose_dev("bm25", [override], ONE, tmp_path)
    assert fix in caught.value.fix
