"""What an embedding model is to the rest: texts in, float32 unit rows out, under a digest of its weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from harness.errors import UsageProblem

Role = Literal["question", "document"]
Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """An embedding model.

    Attributes:
        name: what the parameter ``embedding`` selects.
        digest: digest of everything that decides a vector: weights, tokenizer, pooling, prefixes.
        batch: texts that are handed over at once; what is finished of them survives a crash.

    """

    name: str
    digest: str
    batch: int

    def worded(self, text: str, role: Role) -> str:
        """The text as the model wants to see it, such as with the prefix ``query:``."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as they are worded.

        Returns:
            float32 (n, d) of finite numbers, not necessarily of unit length; the zero row where a text has nothing
            that the model knows. A row depends on its own text alone.
        """


def unit_rows(found: NDArray[np.floating], rows: int, origin: str, width: int | None = None) -> Vectors:
    """Rows of unit length; zero rows stay zero, and their cosine with anything is 0.

    Args:
        found: what a model or a file gave.
        rows: how many rows it should have.
        origin: what gave it, for messages.
        width: how many columns it should have; any number by default.

    Raises:
        UsageProblem: another shape, or a number that is not finite.
    """
    vectors = np.asarray(found, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != rows or not vectors.shape[1] or (width and vectors.shape[1] != width):
        what = f"vectors of shape {'×'.join(map(str, vectors.shape)) or '()'}"
        allowed = f"one row a text: {rows}×{width or 'd'}"
        raise UsageProblem(what, where=origin, allowed=allowed, fix="check which model answered, and to which texts")
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        what = f"{int((~finite).sum())} of {rows} vectors hold NaN or infinity, first in row {int(np.argmin(finite))}"
        raise UsageProblem(what, where=origin, allowed="finite numbers", fix="mend the vectors or their model")
    # scaled first: squares of very large or very small numbers leave the range of float64
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    length = np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    unit: Vectors = np.divide(scaled, length, out=scaled, where=length > 0).astype(np.float32)
    return unit
