"""Casts, against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32, i8, i16, i32, i64
from xdsl.ir import Attribute

from pypto_xdsl.dialects.ptensor.attributes import RoundMode
from pypto_xdsl.interpreters.arithmetic import Partial
from pypto_xdsl.interpreters.casts import cast, rounded
from pypto_xdsl.interpreters.elements import Array, bfloat16_bits, bfloat16_values, element_of

ui8 = IntegerType(8, Signedness.UNSIGNED)
FLOATS = {"f16": (f16, 11, -24, 65504.0), "bf16": (bf16, 8, -133, float(Fraction(255 * 2**120)))}


def whole(value: Fraction, mode: RoundMode) -> int:
    """A number rounded to an integer, by the definition of the mode."""
    floor = math.floor(value)
    if value == floor:
        return floor
    match mode:
        case RoundMode.NONE | RoundMode.RINT:
            if value - floor == Fraction(1, 2):
                return floor if floor % 2 == 0 else floor + 1
            return floor if value - floor < Fraction(1, 2) else floor + 1
        case RoundMode.ROUND:
            nearest = math.floor(abs(value) + Fraction(1, 2))
            return nearest if value > 0 else -nearest
        case RoundMode.FLOOR:
            return floor
        case RoundMode.CEIL:
            return floor + 1
        case RoundMode.TRUNC:
            return floor if value > 0 else floor + 1
        case RoundMode.ODD:
            return floor if floor % 2 else floor + 1


def convert(array: Array, source: Attribute, target: Attribute, mode: RoundMode) -> Array:
    with np.errstate(all="ignore"):
        result = cast(array, element_of(source), element_of(target), mode)
    assert not isinstance(result, Partial)
    return result


@given(st.floats(width=32, allow_nan=False), st.sampled_from(RoundMode))
def test_float_to_integer_saturates(value: float, mode: RoundMode):
    got = int(convert(np.array([value], np.float32), f32, i32, mode)[0])
    if math.isinf(value):
        expected = 2**31 - 1 if value > 0 else -(2**31)
    else:
        expected = min(max(whole(Fraction(value), mode), -(2**31)), 2**31 - 1)
    assert got == expected


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(RoundMode))
def test_float_to_long_integer_saturates(value: float, mode: RoundMode):
    got = int(convert(np.array([value], np.float32), f32, i64, mode)[0])
    assert got == min(max(whole(Fraction(value), mode), -(2**63)), 2**63 - 1)


@given(st.floats(-1e6, 1e6, width=32), st.sampled_from(RoundMode))
def test_float_to_short_integer_wraps(value: float, mode: RoundMode):
    got = int(convert(np.array([value], np.float32), f32, i16, mode)[0])
    low = whole(Fraction(value), mode) % 2**16
    assert got == (low - 2**16 if low >= 2**15 else low)


def test_float_to_unsigned():
    values = np.array([-1.5, 0.5, 254.5, 255.5, 300.0], np.float16)
    # f16 to ui8 wraps: -2, 1, 255, 256, 300 modulo 256 (half away from zero).
    assert convert(values, f16, ui8, RoundMode.ROUND).tolist() == [254, 1, 255, 0, 44]
    # f32 to ui8 saturates.
    assert convert(values.astype(np.float32), f32, ui8, RoundMode.ROUND).tolist() == [
        0,
        1,
        255,
        255,
        255,
    ]


def test_nan_becomes_zero_and_what_cannot_wrap_is_undefined():
    assert convert(np.array([math.nan], np.float32), f32, i32, RoundMode.RINT).tolist() == [0]
    values = np.array([math.inf, 1.0], np.float16)
    with np.errstate(all="ignore"):
        result = cast(values, element_of(f16), element_of(ui8), RoundMode.RINT)
    assert isinstance(result, Partial)
    assert result.defined.tolist() == [False, True]
    assert result.values[1] == 1


def test_what_wraps_by_way_of_i32_has_a_result_for_each_number():
    """The nearest i32 of inf is 0x7fffffff, of -inf 0x80000000; of these the low bits remain."""
    values = np.array([math.inf, -math.inf, math.nan, 1e10, -1e10, 70000.0], np.float32)
    low = [-1, 0, 0, -1, 0, 70000 - 65536]
    assert convert(values, f32, i16, RoundMode.RINT).tolist() == low
    halves = np.array([math.inf, -math.inf, math.nan, 300.0, -129.0], np.float16)
    assert convert(halves, f16, i8, RoundMode.RINT).tolist() == [-1, 0, 0, 44, 127]
    assert convert(halves, f16, i16, RoundMode.RINT).tolist() == [-1, 0, 0, 300, -129]


def saturating(array: Array, source: Attribute, target: Attribute, saturates: bool):
    with np.errstate(all="ignore"):
        return cast(
            array, element_of(source), element_of(target), RoundMode.RINT, saturates=saturates
        )


def test_saturation_on():
    """Also in the pairs that wrap of themselves."""
    values = np.array([math.inf, -math.inf, math.nan, 1e10, 32767.6, -3.5], np.float32)
    wanted = [32767, -32768, 0, 32767, 32767, -4]
    assert np.asarray(saturating(values, f32, i16, True)).tolist() == wanted
    halves = np.array([math.inf, -math.inf, math.nan, 300.0, -1.0], np.float16)
    assert np.asarray(saturating(halves, f16, ui8, True)).tolist() == [255, 0, 0, 255, 0]
    assert np.asarray(saturating(halves, f16, i8, True)).tolist() == [127, -128, 0, 127, -1]
    longs = np.array([2**40, -(2**40), 5])
    assert np.asarray(saturating(longs, i64, i32, True)).tolist() == [2**31 - 1, -(2**31), 5]


def test_saturation_off():
    """What is known to wrap wraps; elsewhere a number out of range has no result."""
    longs = np.array([2**40 + 7, 5])
    assert np.asarray(saturating(longs, i64, i32, False)).tolist() == [7, 5]
    result = saturating(np.array([3e9, math.nan, 2.5], np.float32), f32, i32, False)
    assert isinstance(result, Partial)
    assert result.defined.tolist() == [False, False, True]
    assert result.values[2] == 2


def test_rounding_in_place():
    """f32 to f32 makes whole numbers, zeros keep their sign."""
    values = np.array([2.5, -0.4, -0.0, math.inf, math.nan, 1e-45], np.float32)
    got = rounded(values, element_of(f32), RoundMode.RINT)
    np.testing.assert_array_equal(got, np.array([2, -0.0, -0.0, math.inf, math.nan, 0], np.float32))
    assert np.signbit(got).tolist()[:3] == [False, True, True]
    assert rounded(values, element_of(f32), RoundMode.CEIL).tolist()[-1] == 1.0


def on_grid(value: Fraction, precision: int, smallest: int, largest: float, mode: RoundMode):
    """A number rounded to a float format, by scaling it to integers."""
    if value == 0:
        return 0.0
    exponent = smallest
    while abs(value) >= Fraction(2) ** (exponent + precision):
        exponent += 1
    rounded = whole(value / Fraction(2) ** exponent, mode) * Fraction(2) ** exponent
    if abs(rounded) <= Fraction(largest):
        return float(rounded)
    toward_zero = (
        mode in (RoundMode.TRUNC, RoundMode.ODD)
        or (mode is RoundMode.FLOOR and value > 0)
        or (mode is RoundMode.CEIL and value < 0)
    )
    return math.copysign(largest if toward_zero else math.inf, value)


@pytest.mark.parametrize("target", FLOATS)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.sampled_from(RoundMode))
def test_narrower_floats(target: str, value: float, mode: RoundMode):
    type, precision, smallest, largest = FLOATS[target]
    got = convert(np.array([value], np.float32), f32, type, mode)[0]
    assert float(got) == on_grid(Fraction(value), precision, smallest, largest, mode)
    assert math.copysign(1, got) == math.copysign(1, value)


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from(RoundMode))
def test_long_integers_to_float(value: int, mode: RoundMode):
    got = convert(np.array([value], np.int64), i64, f32, mode)[0]
    assert float(got) == on_grid(Fraction(value), 24, -149, 3.4028234663852886e38, mode)


@given(st.integers(-(2**31), 2**31 - 1), st.sampled_from(RoundMode))
def test_integers_to_half(value: int, mode: RoundMode):
    got = convert(np.array([value], np.int32), i32, f16, mode)[0]
    assert float(got) == on_grid(Fraction(value), 11, -24, 65504.0, mode)


@given(st.integers(-(2**31), 2**31 - 1))
def test_integers_narrow_by_wrapping_or_saturation(value: int):
    array = np.array([value], np.int32)
    low = value % 2**16
    assert convert(array, i32, i16, RoundMode.ROUND)[0] == (low - 2**16 if low >= 2**15 else low)
    assert convert(array, i32, i8, RoundMode.ROUND)[0] == min(max(value, -128), 127)
    assert convert(array, i32, ui8, RoundMode.ROUND)[0] == min(max(value, 0), 255)


def test_bfloat16_and_half_have_other_ranges():
    values = bfloat16_bits(np.array([1e38, 1.5, -1e-30], np.float32))
    assert convert(values, bf16, f16, RoundMode.RINT).tolist() == [math.inf, 1.5, -0.0]
    halves = np.array([1.0 + 2.0**-10, 65504.0], np.float16)
    assert convert(halves, f16, bf16, RoundMode.RINT).tolist() == [1.0, 65536.0]
    wide = convert(values, bf16, f32, RoundMode.FLOOR)
    np.testing.assert_array_equal(wide, bfloat16_values(values))


def test_half_to_single_is_exact():
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16)
    np.testing.assert_array_equal(
        convert(halves, f16, f32, RoundMode.ODD), halves.astype(np.float32)
    )
