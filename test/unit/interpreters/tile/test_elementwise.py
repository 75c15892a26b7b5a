"""
Elementwise ops on tiles, against numpy and Python statements of what they mean, over dtypes,
shapes, valid regions and special values.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.kernels import DTYPES, run_tile_op, shaped

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.elements import Array, bfloat16_bits, bfloat16_values

FLOATS = ("f32", "f16", "bf16")
INTEGERS = ("i8", "i16", "i32", "ui8", "ui16", "ui32")
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 65504.0, 1e-7, 3.4e38, -2.5]


def arrays(dtype: str, shape: tuple[int, ...]) -> st.SearchStrategy[Array]:
    """Stored elements: specials and ordinary numbers, extremes of integers."""
    numpy_dtype = np.dtype(DTYPES[dtype])
    if dtype in FLOATS:
        numbers = st.sampled_from(SPECIAL) | st.floats(-100, 100, width=16)

        def stored(values: Array) -> Array:
            with np.errstate(all="ignore"):
                if dtype == "bf16":
                    return bfloat16_bits(values.astype(np.float32))
                return values.astype(numpy_dtype)

        return hnp.arrays(np.float64, shape, elements=numbers).map(stored)
    info = np.iinfo(numpy_dtype)
    low, high = int(info.min), int(info.max)
    numbers = st.sampled_from([low, high, 0, 1]) | st.integers(low, high)
    return hnp.arrays(numpy_dtype, shape, elements=numbers)


def numbers(dtype: str, array: Array) -> list[Any]:
    """The numbers that stored elements stand for, as Python's."""
    values = bfloat16_values(array) if dtype == "bf16" else array
    return values.astype(np.float64 if dtype in FLOATS else object).ravel().tolist()


def rounded(dtype: str, value: float) -> float:
    """An f64 number in a float dtype. All our f64 results are exact or nearly so."""
    with np.errstate(all="ignore"):
        if dtype == "bf16":
            return float(bfloat16_values(bfloat16_bits(np.array([value], np.float32)))[0])
        return float(np.float64(value).astype(DTYPES[dtype]))


def wrapped(dtype: str, value: int) -> int:
    """An integer modulo the width of a dtype."""
    info = np.iinfo(DTYPES[dtype])
    return (value - int(info.min)) % (1 << info.bits) + int(info.min)


def assert_elements(dtype: str, got: Array, expected: list[Any]) -> None:
    assert got.dtype == DTYPES[dtype]
    found = numbers(dtype, got)
    assert len(found) == len(expected)
    for left, right in zip(found, expected, strict=True):
        both_nan = left != left and right != right
        same_sign = not left == right == 0 or math.copysign(1, left) == math.copysign(1, right)
        assert both_nan or (left == right and same_sign), (found, expected)


def run_binary(op: str, dtype: str, lhs: Array, rhs: Array) -> Array:
    tile = f"!tile.tile<{shaped(lhs.shape, dtype)}>"
    result = run_tile_op(
        f"%r = tile.{op} %a, %b : {tile}",
        {"a": (dtype, lhs), "b": (dtype, rhs)},
        [("r", lhs.shape, tile)],
    )
    return result.parameters["out0"]


def ieee_divide(lhs: float, rhs: float) -> float:
    if rhs == 0:
        if lhs == 0 or lhs != lhs:
            return math.nan
        return math.copysign(math.inf, lhs) * math.copysign(1, rhs)
    return math.nan if math.isinf(lhs) and math.isinf(rhs) else lhs / rhs


def larger(lhs: float, rhs: float) -> float:
    if lhs != lhs or rhs != rhs:
        return math.nan
    if lhs == rhs == 0:
        return 0.0 if 1.0 in (math.copysign(1, lhs), math.copysign(1, rhs)) else -0.0
    return max(lhs, rhs)


FLOAT_MEANINGS: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "maximum": larger,
    "minimum": lambda a, b: -larger(-a, -b),
}
INTEGER_MEANINGS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "maximum": max,
    "minimum": min,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
}
# The sum, difference or product of two f16 or bf16 numbers, computed in f64, is exact, so that it
# rounds once. In f32 the f64 result may round twice; numpy's own f32 arithmetic does not.


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("op", FLOAT_MEANINGS)
@settings(max_examples=15)
@given(data=st.data())
def test_binary_floats(op: str, dtype: str, data: st.DataObject):
    lhs, rhs = (data.draw(arrays(dtype, (2, 3))) for _ in range(2))
    got = run_binary(op, dtype, lhs, rhs)
    meaning = FLOAT_MEANINGS[op]
    pairs = zip(numbers(dtype, lhs), numbers(dtype, rhs), strict=True)
    if dtype == "f32":
        with np.errstate(all="ignore"):
            expected = [
                float(meaning(np.float32(a), np.float32(b)))  # pyright: ignore[reportArgumentType]
                for a, b in pairs
            ]
    else:
        expected = [rounded(dtype, meaning(a, b)) for a, b in pairs]
    assert_elements(dtype, got, expected)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("op", INTEGER_MEANINGS)
@settings(max_examples=10)
@given(data=st.data())
def test_binary_integers_wrap(op: str, dtype: str, data: st.DataObject):
    lhs, rhs = (data.draw(arrays(dtype, (2, 3))) for _ in range(2))
    got = run_binary(op, dtype, lhs, rhs)
    pairs = zip(numbers(dtype, lhs), numbers(dtype, rhs), strict=True)
    assert_elements(dtype, got, [wrapped(dtype, INTEGER_MEANINGS[op](a, b)) for a, b in pairs])


@pytest.mark.parametrize("dtype", ["f16", "f32"])
@settings(max_examples=20)
@given(data=st.data())
def test_division_of_floats(dtype: str, data: st.DataObject):
    lhs, rhs = (data.draw(arrays(dtype, (1, 8))) for _ in range(2))
    got = run_binary("div", dtype, lhs, rhs)
    pairs = zip(numbers(dtype, lhs), numbers(dtype, rhs), strict=True)
    # A quotient in f64 rounds innocuously: 53 bits are more than twice 24.
    assert_elements(dtype, got, [rounded(dtype, ieee_divide(a, b)) for a, b in pairs])


@pytest.mark.parametrize("dtype", ["i16", "i32"])
@settings(max_examples=20)
@given(data=st.data())
def test_division_of_integers_truncates(dtype: str, data: st.DataObject):
    lhs = data.draw(arrays(dtype, (1, 8)))
    rhs = data.draw(arrays(dtype, (1, 8)).filter(lambda array: bool((array != 0).all())))
    got = run_binary("div", dtype, lhs, rhs)
    expected = [
        wrapped(dtype, abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))
        for a, b in zip(numbers(dtype, lhs), numbers(dtype, rhs), strict=True)
    ]
    assert_elements(dtype, got, expected)


def test_a_quotient_by_zero_is_undefined():
    lhs, rhs = np.array([[7, 8]], np.int32), np.array([[2, 0]], np.int32)
    with pytest.raises(DiagnosticsError, match=r"'tile.store' op stores undefined elements: 1 of"):
        run_binary("div", "i32", lhs, rhs)


@pytest.mark.parametrize(("op", "shift"), [("shl", np.left_shift), ("shr", np.right_shift)])
@pytest.mark.parametrize("dtype", ["i8", "ui8", "i32", "ui32"])
def test_shifts(op: str, dtype: str, shift: Callable[..., Any]):
    numpy_dtype = np.dtype(DTYPES[dtype])
    lhs = np.array([[-128, 77, 1, 127]]).astype(numpy_dtype)
    rhs = np.array([[1, 7, 0, 3]]).astype(numpy_dtype)
    expected = [
        wrapped(dtype, a << b if op == "shl" else a >> b)
        for a, b in zip(lhs.ravel().tolist(), rhs.ravel().tolist(), strict=True)
    ]
    assert run_binary(op, dtype, lhs, rhs).ravel().tolist() == expected
    assert shift(lhs, rhs).ravel().tolist() == expected


@pytest.mark.parametrize("count", [8, -1, 127])
def test_a_shift_by_the_width_is_undefined(count: int):
    lhs, rhs = np.array([[1]], np.int8), np.array([[count]], np.int8)
    with pytest.raises(DiagnosticsError, match="stores undefined elements"):
        run_binary("shl", "i8", lhs, rhs)


def test_a_shift_count_is_not_converted_to_the_shifted_type():
    # 256 as an i8 would be 0, a legal count.
    lhs, rhs = np.array([[1]], np.int8), np.array([[256]], np.int32)
    with pytest.raises(DiagnosticsError, match="stores undefined elements"):
        run_tile_op(
            "%r = tile.shl %a, %b : !tile.tile<1x1xi8>, !tile.tile<1x1xi32>",
            {"a": ("i8", lhs), "b": ("i32", rhs)},
            [("r", (1, 1), "!tile.tile<1x1xi8>")],
        )


def test_remainders_have_the_sign_of_one_operand():
    lhs = np.array([[7.5, -7.5, 7.5, -7.5, 6.0, math.inf, 1.0]], np.float32)
    rhs = np.array([[2.0, 2.0, -2.0, -2.0, 3.0, 2.0, 0.0]], np.float32)
    fmod = run_binary("fmod", "f32", lhs, rhs)
    np.testing.assert_array_equal(fmod, [[1.5, -1.5, 1.5, -1.5, 0.0, math.nan, math.nan]])
    tile = "!tile.tile<1x7xf32>"
    rem = run_tile_op(
        f"%tmp = tile.create : {tile}\n%r = tile.rem %a, %b, %tmp : {tile}",
        {"a": ("f32", lhs), "b": ("f32", rhs)},
        [("r", (1, 7), tile)],
    ).parameters["out0"]
    np.testing.assert_array_equal(rem, [[1.5, 0.5, -0.5, -1.5, 0.0, math.nan, math.nan]])


def test_remainders_of_integers():
    lhs = np.array([[7, -7, 7, -7, -(2**31)]], np.int32)
    rhs = np.array([[2, 2, -2, -2, 3]], np.int32)
    assert run_binary("fmod", "i32", lhs, rhs).tolist() == [[1, -1, 1, -1, -2]]
    tile = "!tile.tile<1x5xi32>"
    rem = run_tile_op(
        f"%tmp = tile.create : {tile}\n%r = tile.rem %a, %b, %tmp : {tile}",
        {"a": ("i32", lhs[:, :5]), "b": ("i32", rhs)},
        [("r", (1, 5), tile)],
    ).parameters["out0"]
    assert rem[:, :4].tolist() == [[1, 1, -1, -1]]
    # Through f32: -2147483648 / 3 is -715827882.67, whose nearest f32 is -715827904; three times
    # that is -2147483712, whose nearest f32 is -2147483648. The exact remainder is 1.
    assert rem[0, 4] == 0


@pytest.mark.parametrize("dtype", FLOATS)
@settings(max_examples=15)
@given(data=st.data())
def test_unary_floats(dtype: str, data: st.DataObject):
    array = data.draw(arrays(dtype, (1, 8)))
    tile = f"!tile.tile<1x8x{dtype}>"

    def run(op: str) -> Array:
        text = f"%r = tile.{op} %a : {tile}"
        return run_tile_op(text, {"a": (dtype, array)}, [("r", (1, 8), tile)]).parameters["out0"]

    def apply(function: Callable[[float], float]) -> list[float]:
        found: list[float] = []
        for number in numbers(dtype, array):
            try:
                found.append(rounded(dtype, function(number)))
            except OverflowError:
                found.append(math.inf)
        return found

    def root(number: float) -> float:
        return number if number == 0 else math.sqrt(number) if number > 0 else math.nan

    assert_elements(dtype, run("abs"), apply(abs))
    assert_elements(dtype, run("neg"), apply(lambda x: -x))
    if dtype == "f32":
        # Off by at most three units in the last place.
        expected = np.array(apply(math.exp), np.float32)
        np.testing.assert_array_max_ulp(run("exp")[0], expected, 3)
    else:
        assert_elements(dtype, run("exp"), apply(math.exp))
    assert_elements(dtype, run("sqrt"), apply(root))
    assert_elements(dtype, run("recip"), apply(lambda x: ieee_divide(1.0, x)))
    if dtype != "bf16":
        assert_elements(dtype, run("relu"), apply(lambda x: larger(x, 0.0)))
        assert_elements(
            dtype,
            run("log"),
            apply(lambda x: -math.inf if x == 0 else math.log(x) if x > 0 else math.nan),
        )


def test_integers_in_one_operand():
    array = np.array([[-32768, -5, 0, 32767]], np.int16)
    tile = "!tile.tile<1x4xi16>"
    result = run_tile_op(
        f"%n = tile.neg %a : {tile}\n%b = tile.abs %a : {tile}\n%c = tile.not %a : {tile}",
        {"a": ("i16", array)},
        [(name, (1, 4), tile) for name in "nbc"],
    )
    assert result.parameters["out0"].tolist() == [[-32768, 5, 0, -32767]]
    assert result.parameters["out1"].tolist() == [[-32768, 5, 0, 32767]]
    assert result.parameters["out2"].tolist() == [[32767, 4, -1, -32768]]


SCALAR_CASES: list[tuple[str, str, list[float], float, list[float]]] = [
    ("adds", "f32", [1.5, -2.0], 0.25, [1.75, -1.75]),
    ("subs", "i8", [-128, 5], 1, [127, 4]),
    ("muls", "f16", [300.0, 2.0], 300.0, [math.inf, 600.0]),
    ("divs", "f32", [1.0, -1.0], 0.0, [math.inf, -math.inf]),
    # Integers divide in f32 and truncate: 16777217 is no f32, 16777216 is.
    ("divs", "i32", [7, -7, 16777217], 2, [3, -3, 8388608]),
    ("maximums", "i32", [3, -9], -2, [3, -2]),
    ("minimums", "f32", [3.0, math.nan], 2.0, [2.0, math.nan]),
    ("fmods", "f32", [5.5, -5.5], 2.0, [1.5, -1.5]),
    ("lrelu", "f32", [4.0, -4.0, -0.0], 0.5, [4.0, -2.0, -0.0]),
    ("ands", "i16", [0b1100, -1], 0b1010, [0b1000, 0b1010]),
    ("ors", "i16", [0b1100, 0], 0b1010, [0b1110, 0b1010]),
    ("shls", "i8", [1, -1], 7, [-128, -128]),
    ("shrs", "i8", [-128, 64], 3, [-16, 8]),
    ("shrs", "ui8", [128, 64], 3, [16, 8]),
]


@pytest.mark.parametrize(("op", "dtype", "elements", "scalar", "expected"), SCALAR_CASES)
def test_scalar_operand(
    op: str, dtype: str, elements: list[float], scalar: float, expected: list[float]
):
    array = np.array([elements]).astype(DTYPES[dtype])
    tile = f"!tile.tile<{shaped(array.shape, dtype)}>"
    result = run_tile_op(
        f"%r = tile.{op} %a, %s : {tile}, {dtype}",
        {"a": (dtype, array)},
        [("r", array.shape, tile)],
        scalars={"s": (dtype, scalar)},
    )
    np.testing.assert_array_equal(result.parameters["out0"][0], expected)


def test_three_operands_round_after_each_step():
    # In f16, 2048 + 1 rounds back to 2048, twice; in one step it would give 2050.
    a = np.array([[2048.0]], np.float16)
    one = np.array([[1.0]], np.float16)
    tile = "!tile.tile<1x1xf16>"
    inputs = {"a": ("f16", a), "b": ("f16", one)}
    for text, expected in (
        (f"%r = tile.addc %a, %b, %b : {tile}", 2048.0),
        (f"%r = tile.subc %a, %b, %b : {tile}", 2048.0),
        (f"%r = tile.addsc %a, %s, %b : {tile}, f16, {tile}", 2048.0),
        (f"%r = tile.subsc %b, %s, %a : {tile}, f16, {tile}", 2048.0),
    ):
        result = run_tile_op(text, inputs, [("r", (1, 1), tile)], scalars={"s": ("f16", 1.0)})
        assert result.parameters["out0"] == expected


@settings(max_examples=30)
@given(
    rows=st.integers(1, 4),
    columns=st.integers(1, 6),
    data=st.data(),
)
def test_only_the_valid_region_counts(rows: int, columns: int, data: st.DataObject):
    valid = data.draw(st.tuples(st.integers(1, rows), st.integers(1, columns)))
    lhs, rhs = (data.draw(arrays("i32", (rows, columns))) for _ in range(2))
    part = "" if valid == (rows, columns) else f", valid = {list(valid)}"
    tile = f"!tile.tile<{rows}x{columns}xi32{part}>"
    result = run_tile_op(
        f"%r = tile.sub %a, %b : {tile}",
        {"a": ("i32", lhs), "b": ("i32", rhs)},
        [("r", valid, tile)],
        valid={"a": valid, "b": valid},
    )
    with np.errstate(all="ignore"):
        expected = (lhs - rhs)[: valid[0], : valid[1]]
    np.testing.assert_array_equal(result.parameters["out0"], expected)


def test_shapes_broadcast_and_dtypes_promote():
    a = np.arange(6, dtype=np.float16).reshape(2, 3)
    b = np.array([[0.5, 1e-4, 2.0]], np.float32)
    result = run_tile_op(
        "%r = tile.add %a, %b : !tile.tile<2x3xf16>, !tile.tile<1x3xf32> -> !tile.tile<2x3xf32>",
        {"a": ("f16", a), "b": ("f32", b)},
        [("r", (2, 3), "!tile.tile<2x3xf32>")],
    )
    np.testing.assert_array_equal(result.parameters["out0"], a.astype(np.float32) + b)


PARTS: dict[str, Callable[[int, int], int]] = {
    "part_add": operator.add,
    "part_mul": operator.mul,
    "part_max": max,
    "part_min": min,
}


@pytest.mark.parametrize("op", PARTS)
def test_part_ops_copy_where_one_is_valid(op: str):
    both = PARTS[op]
    a = np.array([[1, -2, 3, 4], [5, 6, 7, 8]], np.int32)
    b = np.array([[10, 20, 30, 40], [50, 60, 70, 80]], np.int32)
    result = run_tile_op(
        f"%r = tile.{op} %a, %b : !tile.tile<2x4xi32>, !tile.tile<2x4xi32, valid = [1, 3]>",
        {"a": ("i32", a), "b": ("i32", b)},
        [("r", (2, 4), "!tile.tile<2x4xi32>")],
        valid={"b": (1, 3)},
    )
    expected = [[both(1, 10), both(-2, 20), both(3, 30), 4], [5, 6, 7, 8]]
    assert result.parameters["out0"].tolist() == expected


def test_part_ops_of_a_smaller_first_operand_keep_its_region():
    a = np.array([[1, 2, 3, 4]], np.int32)
    result = run_tile_op(
        "%r = tile.part_add %a, %b : !tile.tile<1x4xi32, valid = [1, 2]>, !tile.tile<1x4xi32>"
        " -> !tile.tile<1x4xi32, valid = [1, 2]>",
        {"a": ("i32", a), "b": ("i32", a)},
        [("r", (1, 2), "!tile.tile<1x4xi32, valid = [1, 2]>")],
        valid={"a": (1, 2)},
    )
    assert result.parameters["out0"].tolist() == [[2, 4]]
