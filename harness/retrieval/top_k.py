"""The best entries of rows of scores, in one total order: score descending, then by column."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Found = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

# a wide row is cut into this many stripes of equal length, and a lane is one column of all of them
_STRIPES = 64
# the fewest lanes that are worth it: rows with fewer are done together
_FEWEST_LANES = 128

# the least positive float64: a document that matches nothing scores 0 and is not retrieved
_LEAST = math.ulp(0.0)


def top_k(scores: NDArray[np.float64], depth: int) -> Found:
    """The positive entries of each row, at most ``depth``, score descending and then by column.

    Args:
        scores: float64 (height, width), each 0 or a normal float64.
        depth: the most entries of a row.

    Returns:
        Rows (int64, never decreasing), columns (int64) and scores (float64), aligned.
    """
    height, width = scores.shape
    if height > 1 and not _is_wide(width, depth):
        return _from_many_rows(scores, depth)
    found = [_from_row(row, depth) for row in scores]
    rows = np.repeat(np.arange(height), [len(columns) for columns in found])
    columns = np.concatenate(found or [np.zeros(0, np.int64)])
    return rows, columns, scores[rows, columns]


def _is_wide(width: int, depth: int) -> bool:
    return width // _STRIPES >= max(depth, _FEWEST_LANES)


def _from_row(row: NDArray[np.float64], depth: int) -> NDArray[np.int64]:
    """The columns of one row."""
    if _is_wide(len(row), depth):
        columns = _candidates(row, depth)
    elif depth < len(row):
        columns = np.flatnonzero(row >= _kth_highest(row, depth))
    else:
        columns = np.flatnonzero(row > 0)
    # stable, so that equal scores stay in order of their columns
    best: NDArray[np.int64] = columns[np.argsort(-row[columns], kind="stable")[:depth]]
    return best


def _candidates(row: NDArray[np.float64], depth: int) -> NDArray[np.int64]:
    """Columns, ascending, among them the best: the k-th highest lane is a bound for the k-th score."""
    lanes = len(row) // _STRIPES
    stripes = row[: lanes * _STRIPES].reshape(_STRIPES, lanes)
    peaks = stripes.max(axis=0)
    least = _kth_highest(peaks, depth)
    high = np.flatnonzero(peaks >= least)
    stripe, lane = np.nonzero(stripes[:, high] >= least)
    rest = lanes * _STRIPES + np.flatnonzero(row[lanes * _STRIPES :] >= least)
    return np.sort(np.concatenate([stripe * lanes + high[lane], rest]))


def _kth_highest(values: NDArray[np.float64], k: int) -> float:
    """The k-th highest value, or the least positive one: whatever ties with it is not below it."""
    return max(float(np.partition(values, len(values) - k)[len(values) - k]), _LEAST)


def _from_many_rows(scores: NDArray[np.float64], depth: int) -> Found:
    """All rows at once: a score's last bits give way to its column, so that one integer sort settles ties too.

    Positive float64 values are ordered as the integers of the same bits are. Different scores with the same
    leading bits would be ordered by column alone: where that can matter, the row is sorted again in full.
    """
    height, width = scores.shape
    keep, bits = min(depth, width), (width - 1).bit_length()
    mask = (1 << bits) - 1
    keys = scores.view(np.int64) | mask
    keys -= np.arange(width)
    if keep < width:
        # one more than wanted, to see whether the cut goes through a tie
        keys.partition(width - keep - 1, axis=1)
        keys = keys[:, width - keep - 1 :]
    keys = np.sort(keys, axis=1)[:, ::-1]
    columns = mask - (keys & mask)
    values = np.take(scores, columns + np.arange(0, height * width, width)[:, None])
    leading = keys >> bits
    tied = leading[:, 1:] == leading[:, :-1]
    unsure = (tied & (values[:, 1:] != values[:, :-1])).any(axis=1)
    if keep < width:
        cut = np.flatnonzero(tied[:, -1] & (values[:, -1] > 0))
        beside = (scores[cut].view(np.int64) >> bits) == leading[cut, -1:]
        unsure[cut] |= (beside & (scores[cut] != values[cut, -1:])).any(axis=1)
    columns, values = columns[:, :keep], values[:, :keep]
    for row in np.flatnonzero(unsure).tolist():
        columns[row] = np.argsort(-scores[row], kind="stable")[:keep]
        values[row] = scores[row, columns[row]]
    positive = values > 0
    return np.repeat(np.arange(height), positive.sum(axis=1)), columns[positive], values[positive]
