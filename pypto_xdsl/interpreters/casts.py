"""
Conversion of elements from one type to another, with a rounding mode.

* A float becomes an integer by rounding to a whole number; out of range it saturates, except in
  the pairs of `_WRAPPING`, where the low bits remain. A nan becomes 0.
* An integer or a wider float becomes a float by rounding to the target's grid; overflow gives an
  infinity, or the largest number where the mode rounds towards zero.
* An integer becomes another by saturation, except in the pairs of `_WRAPPING`.

* Asked for, saturation holds for every pair of integers; asked not to, only the pairs of
  `_WRAPPING` are known to wrap: in the others what is out of range has no result.
* f32 to f32 rounds to a whole number, for `tcvt` (`rounded`).

The pairs of `_BY_I32` wrap the nearest i32, so that an infinity has a result; f16 to ui8 is one
instruction, whose result for an infinity is unknown.

Source: the PTO instruction set's conversions. A pair that the hardware lacks is converted directly
here.
"""

from __future__ import annotations

import numpy as np

from pypto_xdsl.dialects.ptensor.attributes import RoundMode
from pypto_xdsl.interpreters.arithmetic import Partial
from pypto_xdsl.interpreters.elements import Array, Element, Mask

_WRAPPING = frozenset(
    {
        ("f16", "i8"),
        ("f16", "ui8"),
        ("f16", "i16"),
        ("f32", "i16"),
        ("i32", "i16"),
        ("i64", "i32"),
    }
)

_BY_I32 = frozenset({("f16", "i8"), ("f16", "i16"), ("f32", "i16")})


def cast(
    array: Array,
    source: Element,
    target: Element,
    mode: RoundMode,
    *,
    saturates: bool | None = None,
) -> Array | Partial:
    """
    Stored elements of type `source` as computed elements of type `target`. `saturates` says what
    becomes of what is out of the range of an integer type; None: what the pair does of itself.
    """
    values = source.widen(array)
    pair = (source.name, target.name)
    wraps = pair in _WRAPPING
    if saturates:
        wraps = False
    elif saturates is False and not wraps and not target.is_float:
        return _in_range(values, target, mode, cast(array, source, target, mode))
    if target.bits == 1:
        return (values != 0).astype(target.compute)
    if target.is_float:
        if not source.is_float:
            return _integer_to_float(values, target, mode)
        if target.bits > source.bits:
            return values.astype(target.compute)
        return _float_to_float(values, target, mode)
    if source.is_float:
        return _float_to_integer(values, target, mode, wraps, by_i32=pair in _BY_I32)
    if wraps:
        return values.astype(target.compute)
    return _saturated(values, target)


def rounded(array: Array, element: Element, mode: RoundMode) -> Array:
    """Stored floats rounded to whole numbers of the same type; what is not finite stays."""
    values = element.widen(array)
    return np.copysign(round_whole(values.astype(np.float64), mode), values).astype(element.compute)


def _in_range(
    values: Array, target: Element, mode: RoundMode, result: Array | Partial
) -> Array | Partial:
    """A result that means something only where the target can hold the whole number."""
    assert not isinstance(result, Partial)
    if values.dtype.kind == "f":
        whole = round_whole(values.astype(np.float64), mode)
        bound = float(1 << (target.bits - target.is_signed))
        inside = (whole >= float(target.minimum)) & (whole < bound)
    else:
        inside = np.ones(values.shape, np.bool_)
        info = np.iinfo(values.dtype)
        if target.minimum > info.min:
            inside &= values >= target.minimum
        if target.maximum < info.max:
            inside &= values <= target.maximum
    return result if inside.all() else Partial(result, inside)


def _saturated(values: Array, target: Element) -> Array:
    """Integers as integers of another type; those outside its range become its nearest."""
    info = np.iinfo(values.dtype)
    low, high = max(target.minimum, int(info.min)), min(target.maximum, int(info.max))
    return np.clip(values, values.dtype.type(low), values.dtype.type(high)).astype(target.compute)


def round_whole(values: Array, mode: RoundMode) -> Array:
    """f64 numbers rounded to whole ones. Without a mode they round to nearest even."""
    match mode:
        case RoundMode.NONE | RoundMode.RINT:
            return np.rint(values)
        case RoundMode.ROUND:
            whole = np.trunc(values)
            return whole + np.where(np.abs(values - whole) >= 0.5, np.copysign(1.0, values), 0.0)
        case RoundMode.FLOOR:
            return np.floor(values)
        case RoundMode.CEIL:
            return np.ceil(values)
        case RoundMode.TRUNC:
            return np.trunc(values)
        case RoundMode.ODD:
            whole = np.trunc(values)
            even = np.fmod(whole, 2.0) == 0
            return whole + np.where((whole != values) & even, np.copysign(1.0, values), 0.0)


def _float_to_integer(
    values: Array, target: Element, mode: RoundMode, wraps: bool, *, by_i32: bool
) -> Array | Partial:
    wide = values.astype(np.float64)
    whole = round_whole(wide, mode)
    if wraps and by_i32:
        nearest = np.where(np.isnan(wide), 0.0, np.clip(whole, -(2.0**31), 2.0**31 - 1))
        return nearest.astype(np.int64).astype(target.compute)
    if wraps:
        finite = np.isfinite(wide)
        modulus = float(1 << target.bits)
        low = np.fmod(np.where(finite, whole, 0.0), modulus).astype(np.int64)
        wrapped = low.astype(target.compute)
        return wrapped if finite.all() else Partial(wrapped, finite)
    nan = np.isnan(wide)
    # The largest 64-bit integers are no floats: numbers beyond them are set apart.
    above = whole >= float(1 << (target.bits - target.is_signed))
    below = whole <= float(target.minimum)
    inside = np.where(nan | above | below, 0.0, whole)
    result = inside.astype(target.compute)
    result = np.where(above, target.compute.type(target.maximum), result)
    return np.where(below, target.compute.type(target.minimum), result).astype(target.compute)


def _float_to_float(values: Array, target: Element, mode: RoundMode) -> Array:
    """To a narrower float: exact in f64, which holds both."""
    wide = values.astype(np.float64)
    largest, smallest_exponent = _range(target)
    finite = np.isfinite(wide)
    magnitude = np.where(finite, wide, 0.0)
    _, exponent = np.frexp(magnitude)
    # `magnitude` is a whole number of quanta of 2 ** `quantum`, below `2 ** mantissa` of them.
    quantum = np.maximum(exponent - target.mantissa, smallest_exponent)
    rounded = np.ldexp(round_whole(np.ldexp(magnitude, -quantum), mode), quantum)
    overflow = np.abs(rounded) > largest
    if overflow.any():
        rounded = np.where(overflow, _overflowed(rounded, largest, mode), rounded)
    rounded = np.where(finite, np.copysign(rounded, wide), wide)
    return rounded.astype(target.compute)


def _range(target: Element) -> tuple[float, int]:
    """The largest number of a float type, and the exponent of its smallest."""
    if target.is_bfloat16:
        return float(np.ldexp(255.0, 120)), -133
    info = np.finfo(target.compute)
    return float(info.max), int(info.minexp) - int(info.nmant)


def _overflowed(rounded: Array, largest: float, mode: RoundMode) -> Array:
    positive = rounded > 0
    stays: Mask = np.zeros(rounded.shape, np.bool_)
    match mode:
        case RoundMode.TRUNC | RoundMode.ODD:
            stays = ~stays
        case RoundMode.FLOOR:
            stays = positive
        case RoundMode.CEIL:
            stays = ~positive
        case _:
            pass
    return np.where(stays, np.copysign(largest, rounded), np.copysign(np.inf, rounded))


def _integer_to_float(values: Array, target: Element, mode: RoundMode) -> Array:
    """Integers of up to 64 bits: those that the significand cannot hold are rounded first."""
    if values.dtype.itemsize <= 4:
        wide = values.astype(np.float64)
        return _float_to_float(wide, target, mode) if target.bits < 64 else wide
    negative = values < 0
    # The least integer has no negative; as an unsigned number its magnitude is right.
    magnitude = np.where(negative, np.negative(values), values).astype(np.uint64)
    kept = np.uint64(53)
    length = np.zeros(values.shape, np.uint64)
    for bit in range(64):
        length = np.where(magnitude >> np.uint64(bit), np.uint64(bit + 1), length)
    # Sticky: what f64 cannot hold is remembered in its lowest bit, far below any target's.
    excess = np.where(length > kept, length - kept, np.uint64(0))
    lost = (magnitude & ((np.uint64(1) << excess) - np.uint64(1))) != 0
    top = (magnitude >> excess) | lost.astype(np.uint64)
    wide = np.ldexp(top.astype(np.float64), excess.astype(np.int64))
    wide = np.where(negative, -wide, wide)
    if target.bits < 64:
        return _float_to_float(wide, target, mode)
    return values.astype(np.float64)
