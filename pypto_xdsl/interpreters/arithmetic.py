"""
What the elementwise ops mean, on numpy arrays.

A *meaning* takes the element type of the result and the operands as computed elements of that
type (`Element.widen`), and returns what `Element.narrow` makes the result. Where some elements
have no defined result (an integer divided by zero), it returns `Partial`. `MEANINGS` holds them
by the name of the op without its dialect: tiles and tensors compute alike. Source of the rules:
the PTO instruction set's public documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from pypto_xdsl.interpreters.elements import Array, Element, Mask


@dataclass(frozen=True)
class Partial:
    """A result of which some elements are undefined."""

    values: Array
    defined: Mask


Meaning: TypeAlias = Callable[..., Array | Partial]
"""`(element, *operands) -> result`."""


def add(element: Element, lhs: Array, rhs: Array) -> Array:
    return np.add(lhs, rhs)


def subtract(element: Element, lhs: Array, rhs: Array) -> Array:
    return np.subtract(lhs, rhs)


def multiply(element: Element, lhs: Array, rhs: Array) -> Array:
    return np.multiply(lhs, rhs)


def divide(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """Integers truncate towards zero; by zero they have no result."""
    if element.is_float:
        return np.divide(lhs, rhs)
    return _where_nonzero(rhs, lambda divisor: truncated_quotient(lhs, divisor))


def divide_by_scalar(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """Integers go through f32 and truncate, as the vector unit does."""
    if element.is_float:
        return np.divide(lhs, rhs)
    return _where_nonzero(
        rhs, lambda divisor: _to_integer(element, np.trunc(_f32(lhs) / _f32(divisor)))
    )


def truncated_quotient(lhs: Array, rhs: Array) -> Array:
    """The quotient of integers, truncated towards zero. The divisor is not zero."""
    if lhs.dtype.kind == "u":
        return np.floor_divide(lhs, rhs)
    quotient = np.floor_divide(lhs, rhs)
    # numpy gives the least integer for its quotient by -1, which is what wrapping gives too.
    inexact = (lhs - quotient * rhs != 0) & ((lhs < 0) != (rhs < 0))
    return quotient + inexact.astype(lhs.dtype)


def truncated_remainder(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """`lhs - trunc(lhs / rhs) * rhs`: the sign of `lhs`. Floats round after each step, in f32."""
    if element.is_float:
        return _float_remainder(element, np.trunc, lhs, rhs)
    return _where_nonzero(rhs, lambda divisor: lhs - truncated_quotient(lhs, divisor) * divisor)


def floored_remainder(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """`lhs - floor(lhs / rhs) * rhs`: the sign of `rhs`. Computed in f32, also for integers."""
    if element.is_float:
        return _float_remainder(element, np.floor, lhs, rhs)
    return _where_nonzero(
        rhs,
        lambda divisor: _to_integer(
            element, _float_remainder(element, np.floor, _f32(lhs), _f32(divisor))
        ),
    )


def _float_remainder(
    element: Element, whole: Callable[[Array], Array], lhs: Array, rhs: Array
) -> Array:
    if element.bits <= 32:
        lhs, rhs = _f32(lhs), _f32(rhs)
    return lhs - whole(lhs / rhs) * rhs


def _f32(array: Array) -> Array:
    return array.astype(np.float32)


def _to_integer(element: Element, values: Array) -> Array:
    """Whole floats as integers of the element type; those outside its range saturate."""
    return np.clip(values.astype(np.float64), element.minimum, element.maximum).astype(
        element.compute
    )


def _where_nonzero(divisor: Array, result: Callable[[Array], Array]) -> Array | Partial:
    nonzero = divisor != 0
    if nonzero.all():
        return result(divisor)
    values = result(np.where(nonzero, divisor, 1).astype(divisor.dtype))
    return Partial(values, np.broadcast_to(nonzero, values.shape))


def maximum(element: Element, lhs: Array, rhs: Array) -> Array:
    """The larger one; nan if either is, and +0 is larger than -0."""
    result = np.maximum(lhs, rhs)
    if element.is_float:
        # Of two zeros numpy returns either.
        return np.where(lhs == rhs, np.where(np.signbit(lhs), rhs, lhs), result)
    return result


def minimum(element: Element, lhs: Array, rhs: Array) -> Array:
    """The smaller one; nan if either is, and -0 is smaller than +0."""
    result = np.minimum(lhs, rhs)
    if element.is_float:
        return np.where(lhs == rhs, np.where(np.signbit(rhs), rhs, lhs), result)
    return result


def bitwise_and(element: Element, lhs: Array, rhs: Array) -> Array:
    return np.bitwise_and(lhs, rhs)


def bitwise_or(element: Element, lhs: Array, rhs: Array) -> Array:
    return np.bitwise_or(lhs, rhs)


def bitwise_xor(element: Element, lhs: Array, rhs: Array) -> Array:
    return np.bitwise_xor(lhs, rhs)


def bitwise_not(element: Element, operand: Array) -> Array:
    return np.bitwise_not(operand)


def shift_left(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """A count of the width or more, or a negative one, has no result."""
    return _shift(element, np.left_shift, lhs, rhs)


def shift_right(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """Arithmetic for signed elements, logical for unsigned ones."""
    return _shift(element, np.right_shift, lhs, rhs)


def _shift(element: Element, shift: Any, lhs: Array, rhs: Array) -> Array | Partial:
    legal = (rhs >= 0) & (rhs < element.bits)
    if legal.all():
        return shift(lhs, rhs)
    values: Array = shift(lhs, np.where(legal, rhs, 0).astype(rhs.dtype))
    return Partial(values, np.broadcast_to(legal, values.shape))


def leaky_relu(element: Element, operand: Array, slope: Array) -> Array:
    """`operand` where it is positive, else `operand * slope`."""
    return np.where(operand > 0, operand, operand * slope)


def add_both(element: Element, lhs: Array, rhs: Array, third: Array) -> Array:
    """`lhs + rhs + third`, rounded after each addition."""
    return element.round(lhs + rhs) + third


def subtract_add(element: Element, lhs: Array, rhs: Array, third: Array) -> Array:
    """`lhs - rhs + third`, rounded after each step."""
    return element.round(lhs - rhs) + third


def add_relu(element: Element, lhs: Array, rhs: Array) -> Array:
    """The sum where it is positive, else 0."""
    return relu(element, element.round(lhs + rhs))


def power(element: Element, base: Array, exponent: Array) -> Array:
    """
    `base ** exponent`. Integers wrap, and a negative exponent gives 0 but for bases 1 and -1.
    Floats are `exp(ln |base| * exponent)`: unlike C's pow, 1 to an exponent that is no finite
    number is nan, and the zeros are alike.
    """
    base, exponent = np.broadcast_arrays(base, exponent)
    if not element.is_float:
        return _integer_power(base, exponent)
    wide, by = base.astype(np.float64), exponent.astype(np.float64)
    result = np.power(wide, by)
    result = np.where((wide == 1) & ~np.isfinite(by), np.nan, result)
    of_zero = np.where(by > 0, 0.0, np.where(by < 0, np.inf, by))
    result = np.where((wide == 0) & (by != 0), of_zero, result)
    return np.where(by == 0, 1.0, result).astype(element.compute)


def _integer_power(base: Array, exponent: Array) -> Array:
    # The scalar unit computes in i32, whatever the elements are.
    factor, rest = base.astype(np.int32), exponent.astype(np.int32)
    is_negative, is_odd = rest < 0, (rest & 1) != 0
    of_negative = np.where(factor == -1, np.where(is_odd, -1, 1), (factor == 1).astype(np.int32))
    rest = np.where(is_negative, 0, rest)
    result = np.ones_like(factor)
    while rest.any():
        result = np.where(rest & 1, result * factor, result)
        factor, rest = factor * factor, rest >> 1
    return np.where(is_negative, of_negative, result).astype(base.dtype)


def repeat(element: Element, lhs: Array, rhs: Array) -> Array:
    """`rhs`, repeated over the shape of `lhs`."""
    return np.broadcast_to(rhs, np.broadcast_shapes(lhs.shape, rhs.shape))


def exponential_of_difference(element: Element, lhs: Array, rhs: Array) -> Array | Partial:
    """`exp(lhs - rhs)`, the difference rounded first."""
    return _EXPONENTIAL(element, element.round(lhs - rhs))


def absolute(element: Element, operand: Array) -> Array:
    return np.abs(operand)


def negative(element: Element, operand: Array) -> Array:
    return np.negative(operand)


def relu(element: Element, operand: Array) -> Array:
    return maximum(element, operand, np.zeros_like(operand))


def reciprocal(element: Element, operand: Array) -> Array | Partial:
    if element.is_float:
        return np.divide(operand.dtype.type(1), operand)
    return divide(element, np.ones_like(operand), operand)


def _in_double(function: Callable[[Array], Array]) -> Meaning:
    """
    A function computed in f64 and rounded once: the same on every machine, unlike numpy's f32.
    Of integers the result truncates.
    """

    def meaning(element: Element, operand: Array) -> Array | Partial:
        values = function(operand.astype(np.float64))
        if element.is_float:
            return values
        finite = np.isfinite(values)
        whole = _to_integer(element, np.trunc(np.where(finite, values, 0)))
        return whole if finite.all() else Partial(whole, finite)

    return meaning


def _in_single(function: Callable[[Array], Array]) -> Meaning:
    """
    A function that is computed in f32 for f32, by numpy, and in f64 for all others. What numpy's
    exp gives is off by at most three units in the last place (the hardware promises no less), its
    sqrt is exact; in f64 they would take three times as long.
    """
    in_double = _in_double(function)

    def meaning(element: Element, operand: Array) -> Array | Partial:
        if element.compute == np.float32 and element.bits == 32:
            return function(operand)
        return in_double(element, operand)

    return meaning


_EXPONENTIAL = _in_single(np.exp)


def _reciprocal_root(operand: Array) -> Array:
    return 1 / np.sqrt(operand)


MEANINGS: Mapping[str, Meaning] = {
    # Two operands.
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "div": divide,
    "maximum": maximum,
    "minimum": minimum,
    "fmod": truncated_remainder,
    "rem": floored_remainder,
    "and": bitwise_and,
    "or": bitwise_or,
    "xor": bitwise_xor,
    "shl": shift_left,
    "shr": shift_right,
    # An operand and a scalar.
    "adds": add,
    "subs": subtract,
    "muls": multiply,
    "divs": divide_by_scalar,
    "maximums": maximum,
    "minimums": minimum,
    "fmods": truncated_remainder,
    "rems": floored_remainder,
    "lrelu": leaky_relu,
    "ands": bitwise_and,
    "ors": bitwise_or,
    "xors": bitwise_xor,
    "shls": shift_left,
    "shrs": shift_right,
    # Three operands.
    "addc": add_both,
    "subc": subtract_add,
    "addsc": add_both,
    "subsc": subtract_add,
    "prelu": leaky_relu,
    "add_relu": add_relu,
    "pow": power,
    # One operand.
    "abs": absolute,
    "neg": negative,
    "not": bitwise_not,
    "exp": _EXPONENTIAL,
    "log": _in_double(np.log),
    "sqrt": _in_single(np.sqrt),
    "rsqrt": _in_double(_reciprocal_root),
    "sin": _in_double(np.sin),
    "cos": _in_double(np.cos),
    "recip": reciprocal,
    "relu": relu,
    # A vector over rows or columns.
    "row_expand": repeat,
    "row_expand_add": add,
    "row_expand_sub": subtract,
    "row_expand_mul": multiply,
    "row_expand_div": divide,
    "row_expand_max": maximum,
    "row_expand_min": minimum,
    "row_expand_expdif": exponential_of_difference,
    "col_expand": repeat,
    "col_expand_add": add,
    "col_expand_sub": subtract,
    "col_expand_mul": multiply,
    "col_expand_div": divide,
    "col_expand_max": maximum,
    "col_expand_min": minimum,
    "col_expand_expdif": exponential_of_difference,
}
"""What an op does to elements, by its name without the dialect."""

PARTIAL_MEANINGS: Mapping[str, Meaning] = {
    "part_add": add,
    "part_mul": multiply,
    "part_max": maximum,
    "part_min": minimum,
}
"""Likewise of ops that copy the valid operand where only one is valid."""


_OF_NUMPY: Mapping[Meaning, Callable[..., Array]] = {
    add: np.add,
    subtract: np.subtract,
    multiply: np.multiply,
    divide: np.divide,
    absolute: np.abs,
    negative: np.negative,
}


def function_of(meaning: Meaning, element: Element) -> Callable[..., Array] | None:
    """
    The function of numpy's that a meaning is, on stored floats that are computed as they are
    stored; None where it is none.
    """
    if not element.is_float or element.storage is not element.compute:
        return None
    if meaning is _EXPONENTIAL:
        return np.exp if element.bits == 32 else None
    return _OF_NUMPY.get(meaning)
