"""Gathers and scatters of whole tensors are what numpy computes, on tiles and on bytes."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_gives, on_910b
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.syntax.parser import parse_module

LOWERING = (
    "convert-tensor-to-tile-ops",
    "flatten-tile-nd-to-2d",
    "legalize-tile-cast{backend=ascend910b}",
    "infer-tile-memory-space",
    "resolve-backend-op-layouts{backend=ascend910b}",
    "verify-target{backend=ascend910b}",
    "convert-tile-to-pto{backend=ascend910b}",
    "memory-reuse",
    "allocate-memory-addr{backend=ascend910b}",
)


def check(text: str, arguments: list[Any], wanted: Any, *, as_written: bool = True) -> None:
    """The kernel gives what is wanted, as written unless it cannot be run, and after each pass."""
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    spec = ",".join(LOWERING)
    passes = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).passes
    for step in (*([None] if as_written else []), *passes):
        if step is not None:
            step.apply(ctx, module)
            module.verify()
        (result,) = run(module, "k", [copy(argument) for argument in arguments]).results
        np.testing.assert_array_equal(np.asarray(result), wanted, err_msg=str(step))


DTYPES = {
    "f32": np.float32,
    "f16": np.float16,
    "i32": np.int32,
    "i16": np.int16,
    "ui32": np.uint32,
    "ui16": np.uint16,
    # As their bytes.
    "bf16": np.uint16,
}

GATHERS = [
    # source, index, axis
    ((4, 16), (4, 8), 1),
    ((4, 16), (3, 8), 0),
    ((5, 8), (16, 8), 0),
    ((2, 3, 16), (2, 3, 24), 2),
    ((4, 3, 8), (2, 3, 8), 0),
    ((2, 6, 8), (2, 16, 8), 1),
]


@pytest.mark.parametrize("dtype", ["f32", "i32"])
@pytest.mark.parametrize(("source", "index", "axis"), GATHERS)
@pytest.mark.parametrize("computed", [False, True])
def test_gather(
    source: tuple[int, ...], index: tuple[int, ...], axis: int, dtype: str, *, computed: bool
):
    have, want = ("x".join(map(str, shape)) for shape in (source, index))
    zeros = ", ".join("0" for _ in index)
    one = "1.0" if dtype.startswith("f") else "1"
    compute = (
        f"""
        %one = arith.constant {one} : {dtype}
        %s = ptensor.adds %x, %one : tensor<{have}x{dtype}>, {dtype}
        """
        if computed
        else f"%s = ptensor.type_cast %x : tensor<{have}x{dtype}> -> tensor<{have}x{dtype}>"
    )
    text = f"""
    orch.func incore @k(in %x : tensor<{have}x{dtype}>, in %i : tensor<{want}xi32>,
        out %o : tensor<{want}x{dtype}>) -> tensor<{want}x{dtype}> {{
      {compute}
      %g = ptensor.gather %s, %i, dim = {axis}
        : tensor<{have}x{dtype}>, tensor<{want}xi32> -> tensor<{want}x{dtype}>
      %r = ptensor.assemble %g, %o[{zeros}] : tensor<{want}x{dtype}>
      orch.return %r : tensor<{want}x{dtype}>
    }}
    """
    rng = np.random.default_rng(3)
    x = rng.integers(-50, 50, source).astype(DTYPES[dtype])
    i = rng.integers(0, source[axis], index).astype(np.int32)
    reach = tuple(
        slice(None) if place == axis else slice(extent) for place, extent in enumerate(index)
    )
    wanted = np.take_along_axis(x[reach] + (1 if computed else 0), i, axis)
    check(text, [x, i, np.zeros(index, DTYPES[dtype])], wanted)


def test_gather_from_a_part_of_rows_as_one_row():
    """
    Columns of a matrix follow each other once they are loaded, and are indexed so. In global memory
    there is no such view of them.
    """
    text = """
    orch.func incore @k(in %x : tensor<8x32xf32>, in %i : tensor<4x16xi32>,
        out %o : tensor<1x64xf32>) -> tensor<1x64xf32> {
      %w = ptensor.slice %x[4, 8] : tensor<8x32xf32> -> tensor<4x16xf32>
      %f = ptensor.reshape %w : tensor<4x16xf32> -> tensor<1x64xf32>
      %j = ptensor.reshape %i : tensor<4x16xi32> -> tensor<1x64xi32>
      %g = ptensor.gather %f, %j : tensor<1x64xf32>, tensor<1x64xi32> -> tensor<1x64xf32>
      %r = ptensor.assemble %g, %o[0, 0] : tensor<1x64xf32>
      orch.return %r : tensor<1x64xf32>
    }
    """
    rng = np.random.default_rng(16)
    x = rng.standard_normal((8, 32)).astype(np.float32)
    i = rng.integers(0, 64, (4, 16)).astype(np.int32)
    wanted = x[4:, 8:24].reshape(1, 64)[:, i.reshape(-1)]
    check(text, [x, i, np.zeros((1, 64), np.float32)], wanted, as_written=False)


@pytest.mark.parametrize("computed", [False, True])
def test_gather_from_what_is_valid_in_part(*, computed: bool):
    """Only the first n rows are there; rows beyond them pick nothing that means anything."""
    part = "tensor<8x16xf32, #ptensor.view<valid = [?, 16]>>"
    text = f"""
    orch.func incore @k(in %x : tensor<8x16xf32>, in %i : tensor<8x32xi32>, in %n : index,
        out %o : tensor<8x32xf32>) -> tensor<8x32xf32> {{
      %v = ptensor.set_validshape %x, valid = [%n, 16] : tensor<8x16xf32> -> {part}
      %w = ptensor.add %v, %v : {part}
      %g = ptensor.gather {"%w" if computed else "%v"}, %i
        : {part}, tensor<8x32xi32> -> tensor<8x32xf32>
      %p = ptensor.set_validshape %g, valid = [%n, 32]
        : tensor<8x32xf32> -> tensor<8x32xf32, #ptensor.view<valid = [?, 32]>>
      %r = ptensor.assemble %p, %o[0, 0]
        : tensor<8x32xf32, #ptensor.view<valid = [?, 32]>>, tensor<8x32xf32>
      orch.return %r : tensor<8x32xf32>
    }}
    """
    rng = np.random.default_rng(14)
    x = rng.integers(-50, 50, (8, 16)).astype(np.float32)
    i = rng.integers(0, 16, (8, 32)).astype(np.int32)
    wanted = np.zeros((8, 32), np.float32)
    wanted[:5] = np.take_along_axis(x, i, 1)[:5] * (2 if computed else 1)
    check(text, [x, i, 5, np.zeros((8, 32), np.float32)], wanted)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("rows", "all_rows"), [(1, 1), (4, 4), (8, 8), (4, 16), (1, 3)])
def test_scatter(dtype: str, rows: int, all_rows: int):
    whole, part = f"{all_rows}x32x{dtype}", f"{rows}x16x{dtype}"
    text = f"""
    orch.func incore @k(in %x : tensor<{whole}>, in %i : tensor<{rows}x16xi32>,
        in %y : tensor<{part}>, out %o : tensor<{whole}>) -> tensor<{whole}> {{
      %g = ptensor.scatter %x, %i, %y
        : tensor<{whole}>, tensor<{rows}x16xi32>, tensor<{part}> -> tensor<{whole}>
      %r = ptensor.assemble %g, %o[0, 0] : tensor<{whole}>
      orch.return %r : tensor<{whole}>
    }}
    """
    rng = np.random.default_rng(4)
    x = rng.integers(1, 50, (all_rows, 32)).astype(DTYPES[dtype])
    # Zeros among what is put there: what was there must not show through.
    y = rng.integers(0, 4, (rows, 16)).astype(DTYPES[dtype])
    i = np.stack([rng.permutation(32)[:16] for _ in range(rows)]).astype(np.int32)
    wanted = x.copy()
    np.put_along_axis(wanted[:rows], i, y, 1)
    check(text, [x, i, y, np.zeros_like(x)], wanted)


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_scatter_update(dtype: str):
    whole, part = f"16x16x{dtype}", f"8x16x{dtype}"
    text = f"""
    orch.func incore @k(in %x : tensor<{whole}>, in %i : tensor<1x8xi32>,
        in %y : tensor<{part}>, out %o : tensor<{whole}>) -> tensor<{whole}> {{
      %g = ptensor.scatter_update %x, %i, %y
        : tensor<{whole}>, tensor<1x8xi32>, tensor<{part}> -> tensor<{whole}>
      %r = ptensor.assemble %g, %o[0, 0] : tensor<{whole}>
      orch.return %r : tensor<{whole}>
    }}
    """
    rng = np.random.default_rng(5)
    x = rng.integers(1, 50, (16, 16)).astype(DTYPES[dtype])
    y = rng.integers(-2, 2, (8, 16)).astype(DTYPES[dtype])
    i = rng.permutation(16)[:8].astype(np.int32).reshape(1, 8)
    wanted = x.copy()
    wanted[i.reshape(-1)] = y
    check(text, [x, i, y, np.zeros_like(x)], wanted)


@pytest.mark.parametrize("dtype", [*DTYPES, "i8", "ui8"])
@pytest.mark.parametrize("deep", [False, True])
def test_rows_of_a_tile_are_replaced(dtype: str, *, deep: bool):
    """A tile of four dimensions is its rows, too."""
    numpy_type = {**DTYPES, "i8": np.int8, "ui8": np.uint8}[dtype]
    whole, part, indices = ("16x32", "8x32", "1x8")
    if deep:
        whole, part, indices = ("2x16x1x32", "2x8x1x32", "2x8")
    zeros = ", ".join("0" for _ in whole.split("x"))
    text = f"""
    orch.func incore @k(in %x : tensor<{whole}x{dtype}>, in %i : tensor<{indices}xi32>,
        in %y : tensor<{part}x{dtype}>, out %o : tensor<{whole}x{dtype}>)
        -> tensor<{whole}x{dtype}> {{
      %a = tile.load %x[{zeros}] : tensor<{whole}x{dtype}> -> !tile.tile<{whole}x{dtype}>
      %j = tile.load %i[0, 0] : tensor<{indices}xi32> -> !tile.tile<{indices}xi32>
      %b = tile.load %y[{zeros}] : tensor<{part}x{dtype}> -> !tile.tile<{part}x{dtype}>
      %c = tile.scatter_update %a, %j, %b
        : !tile.tile<{whole}x{dtype}>, !tile.tile<{indices}xi32>, !tile.tile<{part}x{dtype}>
      %r = tile.store %c, %o[{zeros}] : !tile.tile<{whole}x{dtype}>, tensor<{whole}x{dtype}>
      orch.return %r : tensor<{whole}x{dtype}>
    }}
    """
    rng = np.random.default_rng(6)
    shapes = [tuple(map(int, shape.split("x"))) for shape in (whole, part, indices)]
    x = rng.integers(1, 127, shapes[0]).astype(numpy_type)
    y = rng.integers(0, 4, shapes[1]).astype(numpy_type)
    i = rng.permutation(x.size // 32)[: y.size // 32].astype(np.int32).reshape(shapes[2])
    wanted = x.copy()
    wanted.reshape(-1, 32)[i.reshape(-1)] = y.reshape(-1, 32)
    arguments = [x, i, y, np.zeros_like(x)]
    assert_gives(on_910b(text), arguments, wanted, pipelines=TO_CORE)


@pytest.mark.parametrize("dtype", ["f32", "ui16"])
def test_more_rows_than_there_are(dtype: str):
    """Of rows that replace the same one the last one stays."""
    text = f"""
    orch.func incore @k(in %x : tensor<3x16x{dtype}>, in %i : tensor<1x8xi32>,
        in %y : tensor<8x16x{dtype}>, out %o : tensor<3x16x{dtype}>) -> tensor<3x16x{dtype}> {{
      %a = tile.load %x[0, 0] : tensor<3x16x{dtype}> -> !tile.tile<3x16x{dtype}, vec>
      %j = tile.load %i[0, 0] : tensor<1x8xi32> -> !tile.tile<1x8xi32, vec>
      %b = tile.load %y[0, 0] : tensor<8x16x{dtype}> -> !tile.tile<8x16x{dtype}, vec>
      %c = tile.scatter_update %a, %j, %b
        : !tile.tile<3x16x{dtype}, vec>, !tile.tile<1x8xi32, vec>, !tile.tile<8x16x{dtype}, vec>
      %r = tile.store %c, %o[0, 0] : !tile.tile<3x16x{dtype}, vec>, tensor<3x16x{dtype}>
      orch.return %r : tensor<3x16x{dtype}>
    }}
    """
    rng = np.random.default_rng(7)
    x, y = (rng.integers(0, 50, shape).astype(DTYPES[dtype]) for shape in ((3, 16), (8, 16)))
    i = np.array([[2, 0, 2, 2, 0, 0, 2, 0]], np.int32)
    wanted = np.stack([y[7], x[1], y[6]])
    arguments = [x, i, y, np.zeros_like(x)]
    assert_gives(on_910b(text), arguments, wanted, pipelines=TO_CORE)
