"""
What becomes of an accumulator's elements on their way out: they are scaled, shifted, clamped and
rounded.

Each element, or each column, has one 64-bit scale:

| bits | what |
|---|---|
| 0-31 | the scale, an f32; of a scale of a column the lowest 13 bits do not count |
| 32-35 | of i32 to i16: by how many bits, less one, the number is shifted right |
| 37-45 | of bytes: what is added to the scaled number |
| 46 | of bytes: whether they are signed |

Without scales f32 rounds to nearest even, and i32 stays. Relu clears what is negative in the end.
Source: PTO's instruction set simulator.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pypto_xdsl.interpreters.elements import Array, Element
from pypto_xdsl.interpreters.errors import ProgramError

Scales = npt.NDArray[np.uint64]
"""Packed scales: one, or a row of one a column."""

_UNSCALED = frozenset({("f32", "f32"), ("f32", "f16"), ("f32", "bf16"), ("i32", "i32")})

_COLUMN_SCALE = np.uint32(0xFFFFE000)
_LARGEST_HALF = 65504.0
_OFFSET_RANGE = 256


def unscaled(stored: Array, source: Element, target: Element, *, relu: bool = False) -> Array:
    """Stored elements of an accumulator as stored elements of `target`."""
    if (source.name, target.name) not in _UNSCALED:
        raise ProgramError(f"drains {source.name} to {target.name}, which takes a scale")
    values = source.widen(stored)
    if relu:
        values = _relu(values)
    return np.asarray(target.narrow(values.astype(target.compute, copy=False)))


def scaled(
    stored: Array,
    source: Element,
    target: Element,
    scales: Scales,
    *,
    by_column: bool,
    relu: bool = False,
) -> Array:
    """Likewise, scaled. Raises `ProgramError` for a pair that has no scaled form."""
    values = source.widen(stored)
    if target.bits == 8 and not target.is_float:
        result = _bytes(values, target, scales, by_column)
    elif (source.name, target.name) == ("i32", "i16"):
        shift = ((scales >> np.uint64(32)) & np.uint64(0xF)).astype(np.int64) + 1
        result = np.clip(values.astype(np.int64) >> shift, target.minimum, target.maximum)
    elif target.name == "f16" or (source.name, target.name) == ("f32", "bf16"):
        result = values.astype(np.float32) * _factors(scales, by_column)
        if target.name == "f16":
            # An infinity that was there before stays one.
            kept = np.isinf(result) & np.isinf(values)
            result = np.where(kept, result, np.clip(result, -_LARGEST_HALF, _LARGEST_HALF))
    else:
        raise ProgramError(f"drains {source.name} to {target.name}, which no scale does")
    if relu:
        result = _relu(result)
    return np.asarray(target.narrow(result.astype(target.compute)))


def _relu(values: Array) -> Array:
    """What is positive; the rest, nan included, is 0."""
    return np.where(values > 0, values, np.zeros((), values.dtype))


def _factors(scales: Scales, by_column: bool) -> npt.NDArray[np.float32]:
    bits = (scales & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return (bits & _COLUMN_SCALE if by_column else bits).view(np.float32)


def _bytes(values: Array, target: Element, scales: Scales, by_column: bool) -> Array:
    added = ((scales >> np.uint64(37)) & np.uint64(0x1FF)).astype(np.int64)
    signed = ((scales >> np.uint64(46)) & np.uint64(1)).astype(np.bool_)
    if (signed != target.is_signed).any():
        what = "signed" if target.is_signed else "unsigned"
        raise ProgramError(f"has a scale whose bit 46 does not say that {target.name} is {what}")
    if (added >= _OFFSET_RANGE).any():
        raise ProgramError(f"has a scale that adds {int(added.max())}, which is no byte")
    with np.errstate(invalid="ignore"):
        product = values.astype(np.float32) * _factors(scales, by_column)
        shifted = np.rint(product + added.astype(np.float32))
    if np.isnan(shifted).any():
        raise ProgramError(f"drains a number that is no number to {target.name}")
    return np.clip(shifted, target.minimum, target.maximum)
