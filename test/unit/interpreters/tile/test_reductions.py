"""Reductions and expansions of tiles, over their valid regions."""

from __future__ import annotations

import math
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


def reduce_tile(op: str, dtype: str, array: Array, valid: tuple[int, int] | None = None) -> Array:
    rows, columns = array.shape
    valid = valid or (rows, columns)
    part = "" if valid == (rows, columns) else f", valid = {list(valid)}"
    source = f"!tile.tile<{shaped(array.shape, dtype)}{part}>"
    found = "i32" if "arg" in op else dtype
    by_row = op.startswith("row")
    shape = (rows, 1) if by_row else (1, columns)
    region = (valid[0], 1) if by_row else (1, valid[1])
    part = "" if region == shape else f", valid = {list(region)}"
    # A single row is no implicit column.
    layout = ", blayout = col_major" if by_row and rows == 1 else ""
    result = f"!tile.tile<{shaped(shape, found)}{part}{layout}>"
    scratch = by_row or "arg" in op
    whole = f"!tile.tile<{shaped(array.shape, dtype)}>"
    types = f"{source}, {whole}" if scratch and source != whole else source
    text = f"%r = tile.{op} %a{', %tmp' if scratch else ''} : {types} -> {result}"
    if scratch:
        text = f"%tmp = tile.create : {whole}\n{text}"
    outcome = run_tile_op(text, {"a": (dtype, array)}, [("r", region, result)], valid={"a": valid})
    return outcome.parameters["out0"]


def reference(op: str, rows: list[list[Any]]) -> list[Any]:
    """Of each list of numbers the sum, product or extreme, or where the extreme first stands."""
    functions: dict[str, Callable[[list[Any]], Any]] = {
        "sum": sum,
        "prod": math.prod,
        "max": max,
        "min": min,
        "argmax": lambda row: row.index(max(row)),
        "argmin": lambda row: row.index(min(row)),
    }
    return [functions[op](row) for row in rows]


@pytest.mark.parametrize("direction", ["row", "col"])
@pytest.mark.parametrize("op", ["sum", "prod", "max", "min", "argmax", "argmin"])
@settings(max_examples=12)
@given(data=st.data(), rows=st.integers(2, 4), columns=st.integers(2, 5))
def test_integers(op: str, direction: str, data: st.DataObject, rows: int, columns: int):
    array = data.draw(
        hnp.arrays(np.int32, (rows, columns), elements=st.integers(-(2**31), 2**31 - 1))
    )
    valid = data.draw(st.tuples(st.integers(1, rows), st.integers(1, columns)))
    got = reduce_tile(f"{direction}_{op}", "i32", array, valid)
    region = array[: valid[0], : valid[1]].astype(object)
    lines: list[list[int]] = (region if direction == "row" else region.T).tolist()
    expected = [(value + 2**31) % 2**32 - 2**31 for value in reference(op, lines)]
    assert got.ravel().tolist() == expected


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("op", ["sum", "max", "min", "argmax", "argmin"])
@settings(max_examples=12)
@given(data=st.data())
def test_floats(op: str, dtype: str, data: st.DataObject):
    # Sums of small multiples of 1/8 are exact, in whatever order.
    eighths = data.draw(hnp.arrays(np.int32, (3, 7), elements=st.integers(-40, 40)))
    values = (eighths / 8).astype(np.float32)
    array = bfloat16_bits(values) if dtype == "bf16" else values.astype(DTYPES[dtype])
    got = reduce_tile(f"row_{op}", dtype, array)
    if dtype == "bf16" and "arg" not in op:
        got = bfloat16_values(got)
    expected = reference(op, values.astype(float).tolist())
    if op == "sum" and dtype == "bf16":
        expected = bfloat16_values(bfloat16_bits(np.array(expected, np.float32))).tolist()
    assert got.ravel().tolist() == expected


def test_a_sum_of_halves_does_not_overflow_on_the_way():
    array = np.array([[60000.0, 60000.0, -60000.0]], np.float16)
    assert reduce_tile("row_sum", "f16", array).item() == 60000.0


def test_nan_is_the_extreme():
    array = np.array([[1.0, math.nan, 3.0]], np.float32)
    assert math.isnan(reduce_tile("row_max", "f32", array).item())
    assert math.isnan(reduce_tile("row_min", "f32", array).item())
    assert reduce_tile("row_argmax", "f32", array).item() == 1


def test_over_nothing():
    # A sum over no elements is zero; there is no largest of them.
    array = np.ones((2, 4), np.float32)
    assert reduce_tile("row_sum", "f32", array, (2, 0)).tolist() == [[0.0], [0.0]]
    with pytest.raises(DiagnosticsError, match="stores undefined elements"):
        reduce_tile("row_max", "f32", array, (2, 0))


EXPANSIONS: dict[str, Callable[[Array, Array], Array]] = {
    "": lambda target, vector: np.broadcast_to(vector, target.shape),
    "_add": np.add,
    "_sub": np.subtract,
    "_mul": np.multiply,
    "_div": np.divide,
    "_max": np.maximum,
    "_min": np.minimum,
    "_expdif": lambda target, vector: np.exp((target - vector).astype(np.float64)).astype(
        np.float32
    ),
}


@pytest.mark.parametrize("suffix", EXPANSIONS)
@pytest.mark.parametrize("direction", ["row", "col"])
@settings(max_examples=10)
@given(data=st.data())
def test_expansions(direction: str, suffix: str, data: st.DataObject):
    numbers = st.floats(-8, 8, width=16)
    target = data.draw(hnp.arrays(np.float32, (3, 4), elements=numbers))
    shape = (3, 1) if direction == "row" else (1, 4)
    vector = data.draw(hnp.arrays(np.float32, shape, elements=numbers))
    result = run_tile_op(
        f"%r = tile.{direction}_expand{suffix} %a, %v"
        f" : !tile.tile<3x4xf32>, !tile.tile<{shaped(shape, 'f32')}>",
        {"a": ("f32", target), "v": ("f32", vector)},
        [("r", (3, 4), "!tile.tile<3x4xf32>")],
    )
    with np.errstate(all="ignore"):
        expected = EXPANSIONS[suffix](target, vector)
    # All are exact but exp, which is off by at most three units in the last place.
    maximum = 3 if suffix == "_expdif" else 0
    np.testing.assert_array_max_ulp(result.parameters["out0"], expected, maximum)
