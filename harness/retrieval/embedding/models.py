"""The embedding models that can be chosen. A new one is a file here and a line below."""

from __future__ import annotations

import importlib
from functools import lru_cache

from harness.errors import UsageProblem, did_you_mean
from harness.retrieval.embedding.embedder import Embedder

MODELS = {
    "wordllama": "wordllama",
    "minilm": "minilm",
    "multilingual": "multilingual",
    "sentence-transformers": "sentence_transformer",
    "openai": "endpoint",
    "npy": "vectors_file",
}
"""Name → module of this package. What follows a colon in a name is the module's own to read."""

DEFAULT = "wordllama"

OUTSIDE = frozenset({"openai", "npy"})
"""Those that cannot embed any text at will: it costs money and leaves the machine, or there is no vector of it."""

_TAKES_NO_ARGUMENT = frozenset({"wordllama", "minilm", "multilingual"})


@lru_cache(maxsize=8)
def embedder(name: str) -> Embedder:
    """The model called ``name``, loaded once a process.

    Raises:
        UsageProblem: there is no such model, or what follows its colon means nothing to it.
        EnvironmentProblem: it is not installed here.
    """
    kind, colon, argument = name.partition(":")
    if kind not in MODELS:
        raise UsageProblem(f"no embedding model {name!r}", allowed=", ".join(MODELS), fix=did_you_mean(kind, MODELS))
    if colon and kind in _TAKES_NO_ARGUMENT:
        raise UsageProblem(f"{kind} is one model: nothing follows its name", where="embedding", fix=f"write {kind}")
    module = importlib.import_module(f"harness.retrieval.embedding.{MODELS[kind]}")
    found: Embedder = module.load(argument)
    return found
