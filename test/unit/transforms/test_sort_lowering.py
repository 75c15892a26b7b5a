"""
What sorts whole tensors gives the order that numpy finds, on tiles and on bytes.

A sorted list holds pairs of eight bytes: of f32 the value and its index, four bytes each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import on_910b, results_at_levels


def sorted_by(text: str, arguments: list[Any]) -> list[list[Any]]:
    """The results of a kernel at each level."""
    return [found for _, found in results_at_levels(on_910b(text), arguments)]


@pytest.mark.parametrize("columns", [128, 512])
def test_top_of_a_row(columns: int):
    """Blocks of 32 are merged four by four until the row is one run; values and indices part."""
    pairs, kept = 2 * columns, 16
    merges, block = "", 64
    last = "%s"
    while 4 * block <= pairs:
        merges += (
            f"%b{block} = arith.constant {block} : i32\n"
            f"%m{block} = ptensor.mrgsort_format1 {last}, %b{block} : tensor<1x{pairs}xf32>, i32\n"
        )
        last, block = f"%m{block}", 4 * block
    text = f"""
    orch.func incore @k(in %x : tensor<1x{columns}xf32>, out %v : tensor<1x{kept}xf32>,
        out %n : tensor<1x{kept}xi32>) -> (tensor<1x{kept}xf32>, tensor<1x{kept}xi32>) {{
      %zero = arith.constant 0 : i32
      %first = arith.bitcast %zero : i32 to ui32
      %i = ptensor.ci %first : ui32 -> tensor<1x{columns}xui32>
      %s = ptensor.sort32 %x, %i
        : tensor<1x{columns}xf32>, tensor<1x{columns}xui32> -> tensor<1x{pairs}xf32>
      {merges}
      %top = ptensor.slice {last}[0, 0] : tensor<1x{pairs}xf32> -> tensor<1x{2 * kept}xf32>
      %tv = ptensor.gather_mask %top, mask_pattern = p0101
        : tensor<1x{2 * kept}xf32> -> tensor<1x{kept}xf32>
      %tn = ptensor.gather_mask %top, mask_pattern = p1010, output_dtype = i32
        : tensor<1x{2 * kept}xf32> -> tensor<1x{kept}xi32>
      %rv = ptensor.assemble %tv, %v[0, 0] : tensor<1x{kept}xf32>
      %rn = ptensor.assemble %tn, %n[0, 0] : tensor<1x{kept}xi32>
      orch.return %rv, %rn : tensor<1x{kept}xf32>, tensor<1x{kept}xi32>
    }}
    """
    x = np.random.default_rng(6).permutation(columns).astype(np.float32).reshape(1, columns)
    order = np.argsort(-x[0])[:kept].astype(np.int32)
    arguments = [x, np.zeros((1, kept), np.float32), np.zeros((1, kept), np.int32)]
    for values, indices in sorted_by(text, arguments):
        np.testing.assert_array_equal(values[0], x[0, order])
        np.testing.assert_array_equal(indices[0], order)


@pytest.mark.parametrize("lists", [2, 3, 4])
@pytest.mark.parametrize("exhausted", [False, True])
def test_merge_of_lists(lists: int, *, exhausted: bool):
    """
    Lists of 32 are merged into one; an exhausted merge ends where a list does, which cannot be
    before it has merged as many as one list holds.
    """
    pairs = 64
    total = lists * pairs
    kept = pairs if exhausted else total
    names = [f"x{n}" for n in range(lists)]
    parameters = ", ".join(f"in %{name} : tensor<1x32xf32>" for name in names)
    sorts = "\n".join(
        f"%s{name} = ptensor.sort32 %{name}, %i "
        f": tensor<1x32xf32>, tensor<1x32xui32> -> tensor<1x{pairs}xf32>"
        for name in names
    )
    flag = ", exhausted = true" if exhausted else ""
    text = f"""
    orch.func incore @k({parameters}, out %o : tensor<1x{kept}xf32>) -> tensor<1x{kept}xf32> {{
      %zero = arith.constant 0 : i32
      %first = arith.bitcast %zero : i32 to ui32
      %i = ptensor.ci %first : ui32 -> tensor<1x32xui32>
      {sorts}
      %m = ptensor.mrgsort_format2 {", ".join(f"%s{name}" for name in names)}{flag}
        : tensor<1x{pairs}xf32> -> tensor<1x{total}xf32>
      %first_ones = ptensor.slice %m[0, 0] : tensor<1x{total}xf32> -> tensor<1x{kept}xf32>
      %r = ptensor.assemble %first_ones, %o[0, 0] : tensor<1x{kept}xf32>
      orch.return %r : tensor<1x{kept}xf32>
    }}
    """
    values = np.random.default_rng(7).permutation(32 * lists).astype(np.float32)
    given = [values[32 * n : 32 * (n + 1)].reshape(1, 32) for n in range(lists)]
    wanted = -np.sort(-values)[: kept // 2]
    for (merged,) in sorted_by(text, [*given, np.zeros((1, kept), np.float32)]):
        np.testing.assert_array_equal(merged[0, ::2], wanted)
