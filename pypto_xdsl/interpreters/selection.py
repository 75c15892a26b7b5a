"""What comparisons, packed masks and the ops that select by them mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from pypto_xdsl.dialects.ptensor.attributes import CompareMode
from pypto_xdsl.interpreters.elements import Array, Mask

COMPARISONS: Mapping[CompareMode, Callable[[Array, Array], Mask]] = {
    CompareMode.EQ: np.equal,
    CompareMode.NE: np.not_equal,
    CompareMode.LT: np.less,
    CompareMode.LE: np.less_equal,
    CompareMode.GT: np.greater,
    CompareMode.GE: np.greater_equal,
}
"""Nan compares false, except by `ne`."""


def pack(bits: Mask) -> Array:
    """Truth values along the last dimension as bytes: bit `c % 8` of byte `c // 8`."""
    return np.packbits(bits, axis=-1, bitorder="little")


def unpack(stored: Array, count: int) -> Mask:
    """The first `count` bits along the last dimension of a mask, of whatever integers it holds."""
    octets = np.ascontiguousarray(stored).view(np.uint8)
    return np.unpackbits(octets, axis=-1, count=count, bitorder="little").astype(np.bool_)


def compacted_columns(chosen: Mask, width: int, offset: int) -> tuple[Array, Mask, Array]:
    """
    For each row the columns where `chosen` holds, plus `offset`, at the start of a row of `width`
    i32 elements; which of these are written; and the count of each row.

    Columns beyond the width are dropped, the count tells of them all the same.
    """
    rows = chosen.shape[0]
    counts = chosen.sum(axis=1, dtype=np.int32)
    written = np.arange(width)[None, :] < counts[:, None]
    places = np.cumsum(chosen, axis=1) - 1
    row, column = np.nonzero(chosen & (places < width))
    indices = np.zeros((rows, width), np.int32)
    indices[row, places[row, column]] = column + offset
    return indices, written, counts
