"""A ragged integer column: what a list of lists is to a row is here two flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]


@dataclass(frozen=True)
class Groups:
    """A ragged integer column: row i holds ``values[offsets[i]:offsets[i + 1]]``.

    Attributes:
        offsets: int64 (n_rows + 1).
        values: int32 (total), corpus positions.
    """

    offsets: NDArray[np.int64]
    values: IntArray

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> Groups:
        """Pack a sequence of sequences."""
        lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        values = np.fromiter((value for row in rows for value in row), dtype=np.int32, count=int(offsets[-1]))
        return cls(offsets, values)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def row(self, index: int) -> list[int]:
        """Row ``index`` as a plain list."""
        values: list[int] = self.values[self.offsets[index] : self.offsets[index + 1]].tolist()
        return values

    def rows(self) -> list[list[int]]:
        """All rows as plain lists."""
        return [self.row(index) for index in range(len(self))]

    def counts(self) -> NDArray[np.int64]:
        """Number of values in each row, int64 (n_rows)."""
        return np.diff(self.offsets)

    def joined(self, other: Groups) -> Groups:
        """These rows and then those of ``other``."""
        offsets = np.concatenate([self.offsets, other.offsets[1:] + self.offsets[-1]])
        return Groups(offsets, np.concatenate([self.values, other.values]))

    def take(self, indices: NDArray[np.int64]) -> Groups:
        """The rows at ``indices``, in that order."""
        return Groups.of([self.row(int(index)) for index in indices])
