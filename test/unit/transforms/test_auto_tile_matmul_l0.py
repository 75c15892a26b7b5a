"""Products that do not fit beside the cube keep their values in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

LOWERING = (
    "auto-tile-matmul-l0,infer-tile-memory-space,verify-target,normalize-return-order,"
    "convert-tile-to-pto,memory-reuse,allocate-memory-addr"
)
SUMS = {"i8": "i32"}
"""In what products are summed, where that is not f32."""
ARRAYS = {"f32": np.float32, "f16": np.float16, "i8": np.int8, "i32": np.int32}


def integers(seed: int, shape: tuple[int, int], dtype: str) -> Any:
    """Small numbers, whose products are exact in any order of summation."""
    values = np.random.default_rng(seed).integers(-2, 3, shape)
    if dtype == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return values.astype(ARRAYS[dtype])


def numbers(array: Any) -> Any:
    if array.dtype == np.uint16:
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.float64)


def lowered(text: str, passes: str) -> ModuleOp:
    ctx = context()
    module = parse_module(ctx, text, "products.mlir")
    spec = expand_pipelines(passes)
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).apply(ctx, module)
    return module


def kernel(parameters: str, result: str, body: str) -> str:
    return f"""builtin.module attributes {{pto.target_arch = "a2a3"}} {{
      orch.func incore @kernel({parameters}, out %y : {result}) -> {result} {{
        {body}
        orch.return %z : {result}
      }}
    }}"""


def product(rows: int, depth: int, columns: int, dtype: str) -> str:
    """One product that is stored."""
    a, b = f"{rows}x{depth}x{dtype}", f"{depth}x{columns}x{dtype}"
    y = f"{rows}x{columns}x{SUMS.get(dtype, 'f32')}"
    return kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>",
        f"tensor<{y}>",
        f"""
        %l = tile.load %a[0, 0] : tensor<{a}> -> !tile.tile<{a}>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %p = tile.matmul %l, %r : !tile.tile<{a}>, !tile.tile<{b}> -> !tile.tile<{y}>
        %z = tile.store %p, %y[0, 0] : !tile.tile<{y}>, tensor<{y}>
        """,
    )


@pytest.mark.parametrize(
    ("rows", "depth", "columns", "dtype"),
    [
        # The depth alone, evenly, and with a rest.
        (128, 512, 128, "bf16"),
        (64, 560, 64, "f32"),
        # The result, evenly, and with rests along both of its axes and the depth.
        (256, 32, 256, "f16"),
        (272, 208, 400, "f16"),
        (256, 128, 256, "f32"),
        # Integers, whose blocks are larger.
        (288, 320, 160, "i8"),
    ],
)
def test_values(rows: int, depth: int, columns: int, dtype: str):
    text = product(rows, depth, columns, dtype)
    a = integers(0, (rows, depth), dtype)
    b = integers(1, (depth, columns), dtype)
    y = np.zeros((rows, columns), ARRAYS[SUMS.get(dtype, "f32")])
    for passes in ("", "auto-tile-matmul-l0", LOWERING):
        (result,) = run(lowered(text, passes), "kernel", [a, b, y]).results
        np.testing.assert_array_equal(result, numbers(a) @ numbers(b))


@pytest.mark.parametrize("valid", [32, 11])
def test_rows_that_are_not_taken_apart_may_be_valid_in_part(valid: int):
    """How many rows of lhs are valid is known at run time, and is the same for each block."""
    a, b, y = "32x1024xf16", "1024x64xf16", "32x64xf32"
    text = kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>, in %n : index",
        f"tensor<{y}>",
        f"""
        %l = tile.load %a[0, 0], valid = [%n, 1024]
          : tensor<{a}> -> !tile.tile<{a}, valid = [?, 1024]>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %p = tile.matmul %l, %r : !tile.tile<{a}, valid = [?, 1024]>, !tile.tile<{b}>
          -> !tile.tile<{y}, valid = [?, 64], compact>
        %z = tile.store %p, %y[0, 0]
          : !tile.tile<{y}, valid = [?, 64], compact>, tensor<{y}>
        """,
    )
    x, w = integers(0, (32, 1024), "f16"), integers(1, (1024, 64), "f16")
    wanted = np.zeros((32, 64), np.float32)
    wanted[:valid] = numbers(x)[:valid] @ numbers(w)
    for passes in ("", "auto-tile-matmul-l0", LOWERING):
        arguments = [x, w, valid, np.zeros((32, 64), np.float32)]
        (result,) = run(lowered(text, passes), "kernel", arguments).results
        np.testing.assert_array_equal(result, wanted)


def test_an_operand_that_the_vector_core_makes():
    """It is brought to L1 once, whole, and taken apart from there."""
    a, b, y = "16x128xf32", "128x512xbf16", "16x512xf32"
    text = kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>",
        f"tensor<{y}>",
        f"""
        %t = tile.load %a[0, 0] : tensor<{a}> -> !tile.tile<{a}>
        %l = tile.cast %t, target_type = bf16, mode = rint
          : !tile.tile<{a}> -> !tile.tile<16x128xbf16>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %p = tile.matmul %l, %r : !tile.tile<16x128xbf16>, !tile.tile<{b}> -> !tile.tile<{y}>
        %z = tile.store %p, %y[0, 0] : !tile.tile<{y}>, tensor<{y}>
        """,
    )
    x, w = integers(0, (16, 128), "f32"), integers(1, (128, 512), "bf16")
    wanted = numbers(x) @ numbers(w)
    for passes in ("", "auto-tile-matmul-l0", "auto-tile-matmul-l0,infer-tile-memory-space"):
        arguments = [x, w, np.zeros((16, 512), np.float32)]
        module = lowered(text, passes)
        (result,) = run(module, "kernel", arguments).results
        np.testing.assert_array_equal(result, wanted)
    moves = [op for op in module.walk() if isinstance(op, tile.MoveOp)]
    to_l1 = [m for m in moves if TileType.of(m.result.type).memory_space is MemorySpace.MAT]
    assert [TileType.of(m.result.type).get_shape() for m in to_l1] == [(16, 128)]


@pytest.mark.parametrize("depth", [64, 1024])
def test_parts_of_a_product(depth: int):
    """Each part is a product of its own, stored where all of it could not be taken apart."""
    a, b, y = f"64x{depth}xf16", f"{depth}x128xf16", "64x128xf32"
    text = kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>",
        f"tensor<{y}>",
        f"""
        %l = tile.load %a[0, 0] : tensor<{a}> -> !tile.tile<{a}>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %p = tile.matmul %l, %r : !tile.tile<{a}>, !tile.tile<{b}> -> !tile.tile<{y}>
        %top = tile.slice %p[0, 0] : !tile.tile<{y}> -> !tile.tile<16x128xf32>
        %end = tile.slice %p[32, 64] : !tile.tile<{y}> -> !tile.tile<32x64xf32>
        %w = tile.store %top, %y[48, 0] : !tile.tile<16x128xf32>, tensor<{y}>
        %z = tile.store %end, %w[0, 0] : !tile.tile<32x64xf32>, tensor<{y}>
        """,
    )
    x, w = integers(0, (64, depth), "f16"), integers(1, (depth, 128), "f16")
    product = numbers(x) @ numbers(w)
    wanted = np.zeros((64, 128), np.float32)
    wanted[48:], wanted[:32, :64] = product[:16], product[32:, 64:]
    for passes in ("", "auto-tile-matmul-l0", LOWERING):
        arguments = [x, w, np.zeros((64, 128), np.float32)]
        (result,) = run(lowered(text, passes), "kernel", arguments).results
        np.testing.assert_array_equal(result, wanted)


def test_no_block_is_larger_than_its_memory():
    passes = "auto-tile-matmul-l0,infer-tile-memory-space"
    module = lowered(product(272, 208, 400, "f32"), passes)
    limits = {MemorySpace.LEFT: 65536, MemorySpace.RIGHT: 65536, MemorySpace.ACC: 131072}
    seen: set[MemorySpace] = set()
    for op in module.walk():
        for value in op.results:
            if not isinstance(value.type, TileType):
                continue
            space = value.type.memory_space
            if space is not None and space in limits:
                seen.add(space)
                rows, columns = value.type.get_shape()
                assert rows * columns * 4 <= limits[space]
    assert seen == set(limits)


def test_a_product_added_to_another():
    """The sum that is there takes all blocks of the depth."""
    a, b, c = "64x1024xf16", "1024x64xf16", "64x64xf16"
    y = "64x64xf32"
    text = kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>, in %c : tensor<{c}>",
        f"tensor<{y}>",
        f"""
        %l = tile.load %a[0, 0] : tensor<{a}> -> !tile.tile<{a}>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %s = tile.load %c[0, 0] : tensor<{c}> -> !tile.tile<{c}>
        %q = tile.matmul %s, %s : !tile.tile<{c}> -> !tile.tile<{y}>
        %p = tile.matmul_acc %q, %l, %r : !tile.tile<{y}>, !tile.tile<{a}>, !tile.tile<{b}>
        %z = tile.store %p, %y[0, 0] : !tile.tile<{y}>, tensor<{y}>
        """,
    )
    given = [integers(seed, shape, "f16") for seed, shape in enumerate([(64, 1024), (1024, 64)])]
    square = integers(2, (64, 64), "f16")
    wanted = numbers(given[0]) @ numbers(given[1]) + numbers(square) @ numbers(square)
    for passes in ("auto-tile-matmul-l0", LOWERING):
        arguments = [*given, square, np.zeros((64, 64), np.float32)]
        (result,) = run(lowered(text, passes), "kernel", arguments).results
        np.testing.assert_array_equal(result, wanted)


def test_a_row_is_added_once():
    """Only the first block of the depth adds the bias."""
    a, b, c, y = "32x2048xf16", "2048x64xf16", "1x64xf32", "32x64xf32"
    row = f"!tile.tile<{c}, mat, slayout = none_box, blayout = row_major>"
    text = kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>, in %c : tensor<{c}>",
        f"tensor<{y}>",
        f"""
        %l = tile.load %a[0, 0] : tensor<{a}> -> !tile.tile<{a}>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %s = tile.load %c[0, 0] : tensor<{c}> -> {row}
        %p = tile.matmul_bias %l, %r, %s
          : !tile.tile<{a}>, !tile.tile<{b}>, {row} -> !tile.tile<{y}>
        %z = tile.store %p, %y[0, 0] : !tile.tile<{y}>, tensor<{y}>
        """,
    )
    x, w = integers(0, (32, 2048), "f16"), integers(1, (2048, 64), "f16")
    bias = integers(2, (1, 64), "f32")
    for passes in ("auto-tile-matmul-l0", LOWERING):
        arguments = [x, w, bias, np.zeros((32, 64), np.float32)]
        (result,) = run(lowered(text, passes), "kernel", arguments).results
        np.testing.assert_array_equal(result, numbers(x) @ numbers(w) + numbers(bias))


@pytest.mark.parametrize("extent", [256, 64])
def test_a_product_that_is_rounded_for_another(extent: int):
    """What lies between two products is rounded on its way to L1, whether it fits or not."""
    a, b, e = f"{extent}x96xbf16", f"96x{extent}xbf16", f"{extent}x32xbf16"
    square, rounded, y = f"{extent}x{extent}xf32", f"{extent}x{extent}xbf16", f"{extent}x32xf32"
    text = kernel(
        f"in %a : tensor<{a}>, in %b : tensor<{b}>, in %e : tensor<{e}>",
        f"tensor<{y}>",
        f"""
        %l = tile.load %a[0, 0] : tensor<{a}> -> !tile.tile<{a}>
        %r = tile.load %b[0, 0] : tensor<{b}> -> !tile.tile<{b}>
        %s = tile.load %e[0, 0] : tensor<{e}> -> !tile.tile<{e}>
        %p = tile.matmul %l, %r : !tile.tile<{a}>, !tile.tile<{b}> -> !tile.tile<{square}>
        %c = tile.cast %p, target_type = bf16, mode = rint
          : !tile.tile<{square}> -> !tile.tile<{rounded}>
        %q = tile.matmul %c, %s : !tile.tile<{rounded}>, !tile.tile<{e}> -> !tile.tile<{y}>
        %z = tile.store %q, %y[0, 0] : !tile.tile<{y}>, tensor<{y}>
        """,
    )
    x, w = integers(0, (extent, 96), "bf16"), integers(1, (96, extent), "bf16")
    v = integers(2, (extent, 32), "bf16")
    # Sums below 256 are bf16 numbers.
    between = numbers(x) @ numbers(w)
    assert np.abs(between).max() < 256
    module = lowered(text, "auto-tile-matmul-l0")
    assert not any(isinstance(op, tile.CastOp) for op in module.walk())
    for passes in ("", "auto-tile-matmul-l0", LOWERING):
        arguments = [x, w, v, np.zeros((extent, 32), np.float32)]
        (result,) = run(lowered(text, passes), "kernel", arguments).results
        np.testing.assert_array_equal(result, between @ numbers(v))
