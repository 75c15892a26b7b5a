"""Matrix products, against exact sums of Python numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from support.kernels import run_tile_op
from support.programs import program

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.elements import bfloat16_bits
from pypto_xdsl.interpreters.run import run

SMALL = st.integers(-8, 8)


def exact(a: Any, b: Any) -> Any:
    """The product of matrices of Python integers or floats."""
    return [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)]
        for row in a
    ]


@settings(max_examples=15)
@given(data=st.data())
@pytest.mark.parametrize(
    ("dtype", "result"), [("f16", "f32"), ("f32", "f32"), ("bf16", "f32"), ("i8", "i32")]
)
def test_product_of_tiles(dtype: str, result: str, data: st.DataObject):
    rows, depth, columns = (data.draw(st.integers(1, 4)) for _ in range(3))
    a = data.draw(hnp.arrays(np.int64, (rows, depth), elements=SMALL))
    b = data.draw(hnp.arrays(np.int64, (depth, columns), elements=SMALL))

    def stored(array: Any) -> Any:
        if dtype == "bf16":
            return bfloat16_bits(array.astype(np.float32))
        return array.astype({"f16": "float16", "f32": "float32", "i8": "int8"}[dtype])

    outcome = run_tile_op(
        f"%r = tile.matmul %a, %b : !tile.tile<{rows}x{depth}x{dtype}>,"
        f" !tile.tile<{depth}x{columns}x{dtype}> -> !tile.tile<{rows}x{columns}x{result}>",
        {"a": (dtype, stored(a)), "b": (dtype, stored(b))},
        [("r", (rows, columns), f"!tile.tile<{rows}x{columns}x{result}>")],
    )
    assert outcome.parameters["out0"].tolist() == exact(a.tolist(), b.tolist())


def tile_product(dtype: str, result: str, a: Any, b: Any) -> Any:
    (rows, depth), columns = a.shape, b.shape[1]
    out = f"!tile.tile<{rows}x{columns}x{result}>"
    return run_tile_op(
        f"%r = tile.matmul %a, %b : !tile.tile<{rows}x{depth}x{dtype}>,"
        f" !tile.tile<{depth}x{columns}x{dtype}> -> {out}",
        {"a": (dtype, a), "b": (dtype, b)},
        [("r", (rows, columns), out)],
    ).parameters["out0"]


@pytest.mark.parametrize("depth", [2, 300, 70_000])
def test_sums_of_integers_are_exact_and_wrap(depth: int):
    generator = np.random.default_rng(depth)
    a = generator.integers(-128, 128, (2, depth)).astype(np.int8)
    a[0] = -128
    b = generator.integers(-128, 128, (depth, 2)).astype(np.int8)
    b[:, 0] = -128
    # -128 * -128 * 131072 would be 2^31.
    wanted = [[(value + 2**31) % 2**32 - 2**31 for value in row] for row in exact_integers(a, b)]
    assert tile_product("i8", "i32", a, b).tolist() == wanted


def exact_integers(a: Any, b: Any) -> list[list[int]]:
    return (a.astype(object) @ b.astype(object)).tolist()


def test_a_large_sum_of_integers_wraps():
    a = np.full((1, 1 << 17), -128, np.int8)
    assert tile_product("i8", "i32", a, a.T.copy()).item() == -(2**31)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_sums_of_floats_are_as_exact_as_f32(dtype: str):
    generator = np.random.default_rng(0)
    storage = np.float32 if dtype == "f32" else np.float16
    depth = 128
    a = generator.standard_normal((16, depth)).astype(storage)
    b = generator.standard_normal((depth, 16)).astype(storage)
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    allowed = depth * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b))
    difference = np.abs(tile_product(dtype, "f32", a, b) - wide_a @ wide_b)
    assert (difference <= allowed).all()


def test_the_valid_columns_of_the_left_decide_the_depth():
    a = np.array([[1, 2, 99], [3, 4, 99]], np.float32)
    b = np.array([[1, 0], [0, 1], [77, 77]], np.float32)
    left = "!tile.tile<2x3xf32, valid = [2, 2]>"
    outcome = run_tile_op(
        f"%r = tile.matmul %a, %b : {left}, !tile.tile<3x2xf32> -> !tile.tile<2x2xf32>",
        {"a": ("f32", a), "b": ("f32", b)},
        [("r", (2, 2), "!tile.tile<2x2xf32>")],
        valid={"a": (2, 2)},
    )
    assert outcome.parameters["out0"].tolist() == [[1, 2], [3, 4]]


ACCUMULATE = """
    orch.func opaque @f(in %x : tensor<2x2xf32>, out %y : tensor<2x2xf32>, in %first : i1) {
      %a = tile.load %x[0, 0] : tensor<2x2xf32> -> !tile.tile<2x2xf32>
      %c = tile.create : !tile.tile<2x2xf32>
      %p = tile.matmul_acc %c, %a, %a, %first
          : !tile.tile<2x2xf32>, !tile.tile<2x2xf32>, !tile.tile<2x2xf32>, i1
          -> !tile.tile<2x2xf32>
      %q = tile.matmul_acc %p, %a, %a : !tile.tile<2x2xf32>
      %y1 = tile.store %q, %y[0, 0] : !tile.tile<2x2xf32>, tensor<2x2xf32>
      orch.return
    }
    """


def test_accumulation_starts_where_it_is_told():
    x = np.array([[1, 2], [3, 4]], np.float32)
    result = run(program(ACCUMULATE), "f", [x, None, True])
    np.testing.assert_array_equal(result.parameters["y"], 2 * np.array(exact(x, x)))
    with pytest.raises(DiagnosticsError, match=r"'tile.matmul_acc' op adds to undefined elements"):
        run(program(ACCUMULATE), "f", [x, None, False])


@settings(max_examples=20)
@given(data=st.data(), a_trans=st.booleans(), b_trans=st.booleans())
def test_product_of_tensors(data: st.DataObject, a_trans: bool, b_trans: bool):
    a = data.draw(hnp.arrays(np.int64, (2, 3), elements=SMALL))
    b = data.draw(hnp.arrays(np.int64, (3, 4), elements=SMALL))
    left = (a.T if a_trans else a).astype(np.float16)
    right = (b.T if b_trans else b).astype(np.float16)
    shapes = ["x".join(map(str, array.shape)) for array in (left, right)]
    flags = f"a_trans = {str(a_trans).lower()}, b_trans = {str(b_trans).lower()}"
    types = f"tensor<{shapes[0]}xf16>, tensor<{shapes[1]}xf16>"
    module = program(
        f"""
        orch.func opaque @f(in %a : tensor<{shapes[0]}xf16>, in %b : tensor<{shapes[1]}xf16>)
            -> (tensor<2x4xf16>, tensor<2x4xf32>) {{
          %r = ptensor.matmul %a, %b, {flags} : {types} -> tensor<2x4xf16>
          %w = ptensor.matmul %a, %b, out_dtype = f32, {flags} : {types} -> tensor<2x4xf32>
          orch.return %r, %w : tensor<2x4xf16>, tensor<2x4xf32>
        }}
        """
    )
    got, wide = run(module, "f", [left.copy(), right.copy()]).results
    expected = exact(a.tolist(), b.tolist())
    assert got.tolist() == expected
    assert wide.tolist() == expected
    assert (got.dtype, wide.dtype) == (np.float16, np.float32)
