"""How elements are held: bf16 by its bits, wrapping, poison, pads. Expected values by struct."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    Float8E4M3FNType,
    IndexType,
    IntegerType,
    Signedness,
    bf16,
    f16,
    f32,
    i1,
    i8,
    i16,
    i32,
)

from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.interpreters.elements import allocate, bfloat16_bits, bfloat16_values, element_of
from pypto_xdsl.interpreters.errors import ProgramError

ui8 = IntegerType(8, Signedness.UNSIGNED)


def nearest_bfloat16(value: float) -> int:
    """The bits of the nearest bf16 of an f32, ties to even, by comparing both neighbours."""
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if math.isnan(value) or math.isinf(value):
        return bits >> 16
    below = bits >> 16
    # Next to the largest number is infinity, to which rounding may carry.
    above = below + 1
    distance = (bits & 0xFFFF) / 0x10000
    if distance != 0.5:
        return above if distance > 0.5 else below
    return above if below & 1 else below


@given(st.floats(width=32, allow_nan=False))
def test_bfloat16_rounds_to_nearest_even(value: float):
    bits = int(bfloat16_bits(np.array([value], np.float32))[0])
    assert bits == nearest_bfloat16(value)


def test_bfloat16_by_hand():
    cases = {
        1.0: 0x3F80,
        -2.0: 0xC000,
        # Half way between 1 and the next: to the even 1; the next half way goes up.
        1.0 + 2.0**-8: 0x3F80,
        1.0 + 3 * 2.0**-8: 0x3F82,
        3.4e38: 0x7F80,
        -0.0: 0x8000,
        math.inf: 0x7F80,
    }
    values = np.array(list(cases), np.float32)
    assert bfloat16_bits(values).tolist() == list(cases.values())


def test_bfloat16_keeps_nan():
    # The payload of this nan lies in the bits that are cut off.
    nan = np.array([0x7F800001, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert np.isnan(bfloat16_values(bfloat16_bits(nan))).all()
    assert (bfloat16_bits(nan) >> 15).tolist() == [0, 1]


@given(st.integers(0, 0xFFFF))
def test_bfloat16_values_are_exact(bits: int):
    (value,) = struct.unpack("<f", struct.pack("<I", bits << 16))
    got = bfloat16_values(np.array([bits], np.uint16))[0]
    assert got == value or (math.isnan(got) and math.isnan(value))


def test_numbers_convert_like_a_cast():
    assert element_of(i8).number(200) == -56
    assert element_of(ui8).number(-1) == 255
    assert element_of(i32).number(-2.9) == -2
    with np.errstate(over="ignore"):
        assert element_of(f16).number(70000) == math.inf
    assert element_of(bf16).number(1.0 + 2.0**-8) == 1.0


def test_scalars_have_their_type():
    assert element_of(bf16).scalar(np.uint16(0x3F80)).value.data == 1.0
    assert element_of(ui8).scalar(np.uint8(200)).value.data == 200
    assert element_of(i1).scalar(np.bool_(True))
    assert element_of(IndexType()).scalar(np.int64(-3)).value.data == -3


@pytest.mark.parametrize(
    ("type", "pad", "expected"),
    [
        (f32, PadValue.MAX, math.inf),
        (f16, PadValue.MIN, -math.inf),
        (bf16, PadValue.MAX, 0x7F80),
        (bf16, PadValue.MIN, 0xFF80),
        (i16, PadValue.MAX, 32767),
        (i8, PadValue.MIN, -128),
        (ui8, PadValue.MAX, 255),
        (ui8, PadValue.MIN, 0),
        (f32, PadValue.ZERO, 0.0),
        (i32, PadValue.NULL, 0),
    ],
)
def test_pad_values(type: object, pad: PadValue, expected: float):
    with np.errstate(all="ignore"):
        assert element_of(type).pad(pad) == expected  # pyright: ignore[reportArgumentType]


def test_poison_shows():
    assert np.isnan(element_of(f32).poison((2,))).all()
    assert np.isnan(bfloat16_values(element_of(bf16).poison((2,)))).all()
    assert element_of(i16).poison((1,))[0] == 0xA5A5 - 0x10000


def test_what_numpy_cannot_hold_is_refused():
    with pytest.raises(ProgramError, match="f8E4M3FN cannot be interpreted"):
        element_of(Float8E4M3FNType())


def test_a_shape_beyond_memory_is_refused():
    with pytest.raises(
        ProgramError, match=r"needs 4096 TiB for 1048576x1048576x1024xf32, more than"
    ):
        allocate((1 << 20, 1 << 20, 1 << 10), element_of(f32), 0)
