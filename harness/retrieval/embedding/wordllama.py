"""`wordllama`: mean of static token vectors (256 d), the default; its weights lie in the package of that name.

Read here and not by the package's own loader, which looks for its tokenizer elsewhere than the package ships it, and
then asks the network. Nothing here can reach a network.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.digest import digest_json, file_sha256
from harness.errors import EnvironmentProblem
from harness.retrieval.embedding.embedder import Role, Vectors

_WEIGHTS = "weights/l2_supercat_256.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class WordLlama:
    """A table of token vectors and its tokenizer."""

    name = "wordllama"
    batch = 4096

    def __init__(self, folder: Path) -> None:
        self._weights, self._tokens = folder / _WEIGHTS, folder / _TOKENIZER
        files = {path.name: file_sha256(path) for path in (self._weights, self._tokens)}
        self.digest = digest_json("embedder/1", {"pooling": "mean-of-token-vectors/1", "files": files})

    def worded(self, text: str, role: Role) -> str:  # noqa: ARG002 - questions and documents look alike to it
        """The text as it is."""
        return text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; float32 (n, 256)."""
        encoded = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        lengths = np.fromiter((len(one.ids) for one in encoded), dtype=np.int64, count=len(encoded))
        found = np.zeros((len(encoded), self._table.shape[1]), dtype=np.float32)
        full = np.flatnonzero(lengths)
        if len(full):
            flat = np.concatenate([np.asarray(encoded[i].ids, dtype=np.int64) for i in full.tolist()])
            rows = self._table[np.minimum(flat, len(self._table) - 1)]
            starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[full])[:-1]])
            # row after row, so that a text's vector is the same in whatever company it is embedded
            found[full] = np.add.reduceat(rows, starts, axis=0) / lengths[full, None].astype(np.float32)
        return found

    @cached_property
    def _table(self) -> Vectors:
        from safetensors.numpy import load_file

        (table,) = load_file(self._weights).values()
        return np.ascontiguousarray(table, dtype=np.float32)

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._tokens))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def load(argument: str) -> WordLlama:  # noqa: ARG001 - there is one model
    """Load it from the installed package.

    Raises:
        EnvironmentProblem: the package or one of its files is not there.
    """
    # found, not imported: the package configures logging and brings its downloader along
    spec = importlib.util.find_spec("wordllama")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    if folder is None or not all((folder / name).is_file() for name in (_WEIGHTS, _TOKENIZER)):
        what = "the weights of wordllama are not installed"
        raise EnvironmentProblem(what, where=str(folder or ""), fix="pip install --force-reinstall wordllama")
    return WordLlama(folder)
