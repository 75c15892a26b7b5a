"""Rows of a cache that the kernel looks up are loaded straight to L1, and multiplied from there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import assert_gives, on_910b


def numbers(seed: int, shape: tuple[int, ...]) -> Any:
    return np.random.default_rng(seed).integers(-3, 4, shape).astype(np.float16)


@pytest.mark.parametrize("rows", [16, 48])
@pytest.mark.parametrize("transpose", [False, True])
def test_rows_one_by_one(rows: int, *, transpose: bool):
    """Slot r holds row (5 r + 1) % 64 of the cache, as a row of lhs or as a column of rhs."""
    acc = f"tensor<32x{rows}xf16>" if transpose else f"tensor<{rows}x32xf16>"
    place = "0, %r" if transpose else "%r, 0"
    flag = ", transpose = true" if transpose else ""
    turned = "true" if transpose else "false"
    other = "tensor<16x32xf16>" if transpose else "tensor<32x16xf16>"
    product = "%y, %kv" if transpose else "%kv, %y"
    types = f"{other}, {acc}" if transpose else f"{acc}, {other}"
    result = f"tensor<16x{rows}xf32>" if transpose else f"tensor<{rows}x16xf32>"
    text = f"""
    orch.func incore @k(in %x : tensor<64x32xf16>, in %y : {other}, out %o : {result})
        -> {result} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %five = arith.constant 5 : index
      %all = arith.constant 64 : index
      %n = arith.constant {rows} : index
      %start = ptensor.create_l1 transpose = {turned} : {acc}
      %kv = scf.for %r = %zero to %n step %one iter_args(%a = %start) -> ({acc}) {{
        %f = arith.muli %r, %five : index
        %g = arith.addi %f, %one : index
        %s = arith.remsi %g, %all : index
        %b = ptensor.gather_row %a[{place}], %x[%s, 0], sizes = [1, 32]{flag}
          : {acc}, tensor<64x32xf16>
        scf.yield %b : {acc}
      }}
      %p = ptensor.matmul {product}, out_dtype = f32 : {types} -> {result}
      %q = ptensor.assemble %p, %o[0, 0] : {result}
      orch.return %q : {result}
    }}
    """
    x, y = numbers(1, (64, 32)), numbers(2, (16, 32) if transpose else (32, 16))
    kv = x[(5 * np.arange(rows) + 1) % 64].astype(np.float32)
    wanted = y.astype(np.float32) @ kv.T if transpose else kv @ y.astype(np.float32)
    assert_gives(on_910b(text), [x, y, np.zeros_like(wanted)], wanted)


@pytest.mark.parametrize("transposed", [False, True])
def test_pages(*, transposed: bool):
    """Row i is the row that the page table gives for index i."""
    gathered = "tensor<32x16xf16>" if transposed else "tensor<16x32xf16>"
    flag = ", is_trans = true" if transposed else ""
    other = "tensor<16x32xf16>" if transposed else "tensor<32x16xf16>"
    product = "%y, %kv" if transposed else "%kv, %y"
    types = f"{other}, {gathered}" if transposed else f"{gathered}, {other}"
    text = f"""
    orch.func incore @k(in %x : tensor<64x48xf16>, in %i : tensor<16xi32>, in %t : tensor<8xi32>,
        in %y : {other}, out %o : tensor<16x16xf32>) -> tensor<16x16xf32> {{
      %kv = ptensor.paged_gather %x, %i, %t, block_size = 8, size = 32, max_indices = 16,
        col_off = 16{flag} : tensor<64x48xf16>, tensor<16xi32>, tensor<8xi32> -> {gathered}
      %p = ptensor.matmul {product}, out_dtype = f32 : {types} -> tensor<16x16xf32>
      %q = ptensor.assemble %p, %o[0, 0] : tensor<16x16xf32>
      orch.return %q : tensor<16x16xf32>
    }}
    """
    rng = np.random.default_rng(3)
    x, y = numbers(1, (64, 48)), numbers(2, (16, 32) if transposed else (32, 16))
    indices = rng.integers(0, 64, 16).astype(np.int32)
    table = rng.permutation(8).astype(np.int32)
    kv = x[table[indices // 8] * 8 + indices % 8, 16:48].astype(np.float32)
    wanted = y.astype(np.float32) @ kv.T if transposed else kv @ y.astype(np.float32)
    assert_gives(on_910b(text), [x, indices, table, y, np.zeros_like(wanted)], wanted)
