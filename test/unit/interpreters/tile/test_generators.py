"""Ops that make or repeat elements: sequences, triangles, fills, expansions, column reductions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.kernels import DTYPES, run_tile_op, shaped
from support.programs import program

from pypto_xdsl.interpreters.run import run

Array: TypeAlias = np.ndarray[Any, Any]


def results(
    text: str,
    inputs: dict[str, tuple[str, Any]],
    shape: tuple[int, ...],
    dtype: str,
    **more: Any,
) -> Any:
    """What an op whose result is `%r` computes, all of it valid."""
    type = f"!tile.tile<{shaped(shape, dtype)}>"
    return run_tile_op(text, inputs, [("r", shape, type)], **more).parameters["out0"]


@pytest.mark.parametrize("dtype", ["i16", "i32", "ui16", "ui32"])
@pytest.mark.parametrize("descending", [False, True])
@given(start=st.integers(0, 2**16 - 1))
@settings(max_examples=8)
def test_sequences(dtype: str, descending: bool, start: int):
    """They wrap, as integers do."""
    first = int(np.array(start).astype(DTYPES[dtype]))
    down = ", descending = true" if descending else ""
    found = results(
        f"%r = tile.ci %k{down} : {dtype} -> !tile.tile<1x40x{dtype}>",
        {},
        (1, 40),
        dtype,
        scalars={"k": (dtype, first)},
    )
    steps = range(0, -40, -1) if descending else range(40)
    bits = np.iinfo(DTYPES[dtype]).bits
    expected = np.array([(first + step) % 2**bits for step in steps], np.uint64)
    np.testing.assert_array_equal(found[0], expected.astype(DTYPES[dtype]))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("diagonal", [-3, 0, 2])
def test_triangles(upper: bool, diagonal: int):
    word = ", upper = true" if upper else ""
    found = results(
        f"%r = tile.tri %k{word} : i32 -> !tile.tile<6x8xf16>",
        {},
        (6, 8),
        "f16",
        scalars={"k": ("i32", diagonal)},
    )
    for row in range(6):
        for column in range(8):
            inside = column >= row + diagonal if upper else column <= row + diagonal
            assert found[row, column] == float(inside)


@pytest.mark.parametrize(("dtype", "number"), [("f32", 1.5), ("i16", -7), ("f16", 0.1)])
def test_full_and_expands(dtype: str, number: float):
    made = results(
        f"%r = tile.full %k : {dtype} -> !tile.tile<{shaped((3, 5), dtype)}>",
        {},
        (3, 5),
        dtype,
        scalars={"k": (dtype, number)},
    )
    expected = np.full((3, 5), number, DTYPES[dtype])
    np.testing.assert_array_equal(made, expected)
    target = np.zeros((3, 5), DTYPES[dtype])
    type = f"!tile.tile<{shaped((3, 5), dtype)}>"
    filled = results(
        f"%r = tile.expands %t, %k : {type}, {dtype}",
        {"t": (dtype, target)},
        (3, 5),
        dtype,
        scalars={"k": (dtype, number)},
    )
    np.testing.assert_array_equal(filled, expected)


EXPANSIONS: dict[str, Callable[[Array, Array], Array]] = {
    "": lambda t, v: np.broadcast_to(v, t.shape),
    "_add": lambda t, v: t + v,
    "_sub": lambda t, v: t - v,
    "_mul": lambda t, v: t * v,
    "_div": lambda t, v: t / v,
    "_max": np.maximum,
    "_min": np.minimum,
    "_expdif": lambda t, v: np.exp((t - v).astype(np.float64)),
}


@pytest.mark.parametrize("form", EXPANSIONS)
@pytest.mark.parametrize("direction", ["row", "col"])
@given(data=st.data())
@settings(max_examples=6)
def test_expansions(direction: str, form: str, data: st.DataObject):
    """A column against each column, or a row against each row; the vector is the second."""
    rows, columns = 4, 6
    shape = (rows, 1) if direction == "row" else (1, columns)
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    target = rng.uniform(-4, 4, (rows, columns)).astype(np.float32)
    vector = rng.uniform(0.5, 4, shape).astype(np.float32)
    tile, part = "!tile.tile<4x6xf32>", f"!tile.tile<{shaped(shape, 'f32')}>"
    found = results(
        f"%r = tile.{direction}_expand{form} %t, %v : {tile}, {part}",
        {"t": ("f32", target), "v": ("f32", vector)},
        (rows, columns),
        "f32",
    )
    expected = np.asarray(EXPANSIONS[form](target, vector))
    if form == "_expdif":
        np.testing.assert_allclose(found, expected, rtol=2e-6)
    else:
        np.testing.assert_array_equal(found, expected.astype(np.float32))


COLUMN_REDUCTIONS: dict[str, Callable[[Array], Array]] = {
    "col_sum": lambda x: np.sum(x, axis=0, dtype=np.float64),
    "col_prod": lambda x: np.prod(x, axis=0, dtype=np.float64),
    "col_max": lambda x: np.max(x, axis=0),
    "col_min": lambda x: np.min(x, axis=0),
    "col_argmax": lambda x: np.argmax(x, axis=0),
    "col_argmin": lambda x: np.argmin(x, axis=0),
}


@pytest.mark.parametrize("op", COLUMN_REDUCTIONS)
@given(valid=st.integers(1, 8), seed=st.integers(0, 100))
@settings(max_examples=10)
def test_column_reductions(op: str, valid: int, seed: int):
    """Over the valid rows only; of equal extremes the first."""
    x = np.random.default_rng(seed).integers(-3, 4, (8, 5)).astype(np.float32)
    dtype = "i32" if "arg" in op else "f32"
    narrowed = "" if valid == 8 else f", valid = [{valid}, 5]"
    tile = f"!tile.tile<8x5xf32{narrowed}>"
    scratch = ", %t" if "arg" in op else ""
    found = results(
        f"%r = tile.{op} %t{scratch} : {tile} -> !tile.tile<1x5x{dtype}>",
        {"t": ("f32", x)},
        (1, 5),
        dtype,
        valid={"t": (valid, 5)},
    )
    expected = COLUMN_REDUCTIONS[op](x[:valid]).astype(DTYPES[dtype])
    np.testing.assert_array_equal(found[0], expected)


def test_tensors_are_filled_alike():
    module = program(
        """
        orch.func orchestration @main(in %x : tensor<2x3xf32>, in %k : f32, in %n : i32)
            -> (tensor<2x3xf32>, tensor<1x4xi32>, tensor<2x5xf32>, tensor<3x4xf32>) {
          %a = ptensor.expands %x, %k : tensor<2x3xf32>, f32
          %b = ptensor.ci %n, descending = true : i32 -> tensor<1x4xi32>
          %y = ptensor.slice %x[0, 1] : tensor<2x3xf32> -> tensor<2x2xf32>
          %c = ptensor.concat %x, %y : tensor<2x3xf32>, tensor<2x2xf32> -> tensor<2x5xf32>
          %d = ptensor.fillpad_expand %x, pad_value = max : tensor<2x3xf32>
            -> tensor<3x4xf32, #ptensor.view<pad = max>>
          %e = ptensor.type_cast %d : tensor<3x4xf32, #ptensor.view<pad = max>> -> tensor<3x4xf32>
          orch.return %a, %b, %c, %e
            : tensor<2x3xf32>, tensor<1x4xi32>, tensor<2x5xf32>, tensor<3x4xf32>
        }
        """
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    filled, sequence, beside, padded = run(module, "main", [x, 2.5, 1]).results
    np.testing.assert_array_equal(filled, np.full((2, 3), 2.5, np.float32))
    assert sequence.tolist() == [[1, 0, -1, -2]]
    np.testing.assert_array_equal(beside, np.hstack([x, x[:, 1:]]))
    inf = np.inf
    assert padded.tolist() == [[0, 1, 2, inf], [3, 4, 5, inf], [inf] * 4]


def test_a_stretched_copy():
    module = program(
        """
        orch.func orchestration @main(in %x : tensor<2x1x3xf32>, out %y : tensor<2x4x3xf32>)
            -> tensor<2x4x3xf32> {
          %z = ptensor.expand_clone %x, %y : tensor<2x1x3xf32>, tensor<2x4x3xf32>
          orch.return %z : tensor<2x4x3xf32>
        }
        """
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 1, 3)
    (found,) = run(module, "main", [x, np.zeros((2, 4, 3), np.float32)]).results
    np.testing.assert_array_equal(found, np.repeat(x, 4, axis=1))
