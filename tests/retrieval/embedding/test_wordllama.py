import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from harness.errors import EnvironmentProblem
from harness.retrieval.embedding import wordllama
from harness.retrieval.embedding.models import embedder

TEXTS = [
    "Caroline went to the LGBTQ support group", "[session_3 2023-05-08 13:56] Melanie: I painted that lake sunrise!",
    "我喜欢猫", "naïve café 🏔️", "a", "", " ", "x" * 3000, "7 May 2023",
]  # fmt: skip


def test_vectors_are_those_of_the_package():
    """Our reader of its weights gives what the package's own inference gives, for any text."""
    import wordllama as package

    theirs = package.WordLlama.load(cache_dir=Path(package.__file__).parent, disable_download=True)
    ours = embedder("wordllama").embed(TEXTS)
    assert ours.shape == (len(TEXTS), 256)
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs.embed(TEXTS), atol=1e-6)


def test_a_vector_is_the_same_in_whatever_company():
    """Alone, in any order and among many, a text has one vector, to the last bit."""
    model = embedder("wordllama")
    together = model.embed(TEXTS * 3)
    for place, text in enumerate(TEXTS):
        assert model.embed([text])[0].tobytes() == together[place].tobytes() == together[place + len(TEXTS)].tobytes()


def test_a_text_without_tokens_has_the_zero_vector():
    """Nothing is near to nothing."""
    assert not embedder("wordllama").embed([""]).any()


def test_no_network_is_touched_and_the_package_is_not_imported():
    """Loading and embedding work where sockets are forbidden, and import neither the package nor its downloader."""
    program = """
import sys
def forbid(event, arguments):
    if event.startswith("socket."):
        raise SystemExit("a socket: " + event)
sys.addaudithook(forbid)
from harness.retrieval.embedding.models import embedder
assert embedder("wordllama").embed(["hello"]).any()
assert not {"wordllama", "requests", "faiss", "mlflow"} & set(sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_missing_weights_are_named(monkeypatch):
    """Where the package is not installed, the error says what to install."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(EnvironmentProblem, match="not installed") as caught:
        wordllama.load("")
    assert "pip install" in caught.value.fix
