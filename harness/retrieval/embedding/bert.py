"""The forward pass of a BERT encoder (Devlin et al. 2019) in plain numpy, with the mean over tokens as its vector.

One text at a time: the last bits of a matrix product depend on the shapes of its factors, so that a text that shares
a batch with longer ones would have another vector than alone. Nothing is padded, hence nothing is masked either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from harness.retrieval.embedding.embedder import Vectors


@dataclass(frozen=True)
class Affine:
    """A product with a matrix, and a sum with a bias.

    Attributes:
        weight: float32 (inputs, outputs).
        bias: float32 (outputs).
    """

    weight: Vectors
    bias: Vectors

    def __call__(self, rows: Vectors) -> Vectors:
        """Float32 (n, inputs) to float32 (n, outputs)."""
        product: Vectors = rows @ self.weight
        product += self.bias
        return product


@dataclass(frozen=True)
class Norm:
    """Layer normalisation (Ba, Kiros & Hinton 2016).

    Attributes:
        gain, shift: float32 (h).
        epsilon: what is added to a variance.
    """

    gain: Vectors
    shift: Vectors
    epsilon: float

    def __call__(self, rows: Vectors) -> Vectors:
        """Float32 (n, h) to float32 (n, h)."""
        centred: Vectors = rows - rows.mean(axis=1, keepdims=True)
        variance = np.einsum("nh,nh->n", centred, centred)[:, None] / np.float32(rows.shape[1])
        centred /= np.sqrt(variance + np.float32(self.epsilon))
        centred *= self.gain
        centred += self.shift
        return centred


@dataclass(frozen=True)
class Layer:
    """One block: attention and a feed-forward network, each added to its input and then normalised.

    Attributes:
        attention: inputs to queries, keys and values, one beside the other.
        mixed: what the heads found, to the width of the input.
        wide, narrow: the feed-forward network.
        after_attention, after_all: the two norms.
    """

    attention: Affine
    mixed: Affine
    after_attention: Norm
    wide: Affine
    narrow: Affine
    after_all: Norm


@dataclass(frozen=True)
class Encoder:
    """A whole encoder.

    Attributes:
        tokens: rows of the table of tokens, float32 (n, h), for int64 (n) numbers of tokens.
        positions: float32 (longest, h), with the row of the first token type already in it.
        before: the norm of the sum of both.
        layers: in order.
        heads: how many heads each attention has.
    """

    tokens: Callable[[NDArray[np.int64]], Vectors]
    positions: Vectors
    before: Norm
    layers: Sequence[Layer]
    heads: int

    def mean(self, numbers: Sequence[int]) -> Vectors:
        """The mean of the last layer over all tokens of one text, first and last included.

        Args:
            numbers: at least one token, at most as many as there are positions.

        Returns:
            float32 (h), not of unit length.
        """
        # the mean is the same sum in float64 whatever numpy's blocks are
        mean: Vectors = self.states(numbers).mean(axis=0, dtype=np.float64).astype(np.float32)
        return mean

    def states(self, numbers: Sequence[int]) -> Vectors:
        """The last layer of one text, float32 (n, h)."""
        rows: Vectors = self.tokens(np.asarray(numbers, dtype=np.int64)) + self.positions[: len(numbers)]
        rows = self.before(rows)
        for layer in self.layers:
            rows = layer.after_attention(rows + layer.mixed(_attended(layer.attention(rows), self.heads)))
            rows = layer.after_all(rows + layer.narrow(_gelu(layer.wide(rows))))
        return rows


def _attended(projected: Vectors, heads: int) -> Vectors:
    """Scaled dot-product attention (Vaswani et al. 2017); float32 (n, 3h) to float32 (n, h)."""
    n, width = len(projected), projected.shape[1] // 3
    parts: Vectors = projected.reshape(n, 3, heads, width // heads).transpose(1, 2, 0, 3)
    query, key, value = parts
    scores: Vectors = (query / np.float32(np.sqrt(width // heads))) @ key.transpose(0, 2, 1)
    scores -= scores.max(axis=2, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=2, keepdims=True)
    joined: Vectors = (scores @ value).transpose(1, 0, 2).reshape(n, width)
    return joined


def _gelu(rows: Vectors) -> Vectors:
    """The exact form of GELU (Hendrycks & Gimpel 2016), not the one with tanh, in place."""
    from scipy.special import erf

    below: Vectors = np.asarray(erf(rows * np.float32(np.sqrt(0.5))), dtype=np.float32)
    below += np.float32(1)
    rows *= below
    rows *= np.float32(0.5)
    return rows
