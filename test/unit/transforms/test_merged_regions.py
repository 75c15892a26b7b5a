"""
Tiles of which more or less is valid, depending on the branch that made them, are stored as far as
they are valid; those of a tensor that is said to be valid everywhere are stored whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import on_910b, results_at_levels


def results(text: str, arguments: list[Any], *, strict: bool = True) -> list[Any]:
    """The one result of a kernel at each level."""
    levels = results_at_levels(on_910b(text), arguments, strict=strict)
    return [found for _, (found,) in levels]


WHOLE = "tensor<16x64xf32>"
PART = "tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>"


@pytest.mark.parametrize("chosen", [False, True])
@pytest.mark.parametrize("otherwise", ["whole", "other", "same"])
def test_branches_with_other_valid_rows(*, chosen: bool, otherwise: str):
    """A branch makes n rows; the other all 16, or m of them, or n as well."""
    extent = {"whole": "", "other": "%m", "same": "%n"}[otherwise]
    other = (
        f"%b = ptensor.mul %x, %x : {WHOLE}"
        if otherwise == "whole"
        else f"""%part = ptensor.set_validshape %x, valid = [{extent}, 64] : {WHOLE} -> {PART}
          %b = ptensor.mul %part, %part : {PART}"""
    )
    cast = (
        f"%c = ptensor.type_cast %b : {WHOLE} -> {PART}"
        if otherwise == "whole"
        else f"%c = ptensor.type_cast %b : {PART} -> {PART}"
    )
    text = f"""
    orch.func incore @k(in %x : {WHOLE}, in %n : index, in %m : index, in %first : i1,
        out %o : {WHOLE}) -> {WHOLE} {{
      %y = scf.if %first -> ({PART}) {{
        %part = ptensor.set_validshape %x, valid = [%n, 64] : {WHOLE} -> {PART}
        %a = ptensor.add %part, %part : {PART}
        scf.yield %a : {PART}
      }} else {{
        {other}
        {cast}
        scf.yield %c : {PART}
      }}
      %z = ptensor.exp %y : {PART}
      %r = ptensor.assemble %z, %o[0, 0] : {PART}, {WHOLE}
      orch.return %r : {WHOLE}
    }}
    """
    x = np.random.default_rng(8).standard_normal((16, 64)).astype(np.float32)
    rows = {"whole": 16, "other": 11, "same": 5}[otherwise]
    wanted = np.zeros_like(x)
    if chosen:
        wanted[:5] = np.exp(x[:5] + x[:5])
    else:
        wanted[:rows] = np.exp(x[:rows] * x[:rows])
    for found in results(text, [x, 5, 11, chosen, np.zeros_like(x)]):
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("rows", [16, 5])
def test_a_sum_of_products_that_counts_as_valid(rows: int):
    """
    The first product of a sum replaces what the sum starts from, and has fewer valid rows; what is
    stored is all of it, as its type says.
    """
    text = f"""
    orch.func incore @k(in %x : tensor<16x128xf32>, in %w : tensor<128x32xf32>, in %n : index,
        out %o : tensor<16x32xf32>) -> tensor<16x32xf32> {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %two = arith.constant 2 : index
      %width = arith.constant 64 : index
      %acc = ptensor.create : tensor<16x32xf32>
      %sum = scf.for %i = %zero to %two step %one iter_args(%a = %acc) -> (tensor<16x32xf32>) {{
        %k = arith.muli %i, %width : index
        %xs = ptensor.slice %x[0, %k] : tensor<16x128xf32> -> tensor<16x64xf32>
        %xv = ptensor.set_validshape %xs, valid = [%n, 64] : tensor<16x64xf32> -> {PART}
        %ws = ptensor.slice %w[%k, 0] : tensor<128x32xf32> -> tensor<64x32xf32>
        %first = arith.cmpi eq, %i, %zero : index
        %next = scf.if %first -> (tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>) {{
          %p = ptensor.matmul %xv, %ws, out_dtype = f32 : {PART}, tensor<64x32xf32>
            -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
          scf.yield %p : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
        }} else {{
          %p = ptensor.matmul_acc %a, %xv, %ws : tensor<16x32xf32>, {PART}, tensor<64x32xf32>
          %q = ptensor.type_cast %p
            : tensor<16x32xf32> -> tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
          scf.yield %q : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>>
        }}
        %all = ptensor.type_cast %next
          : tensor<16x32xf32, #ptensor.view<valid = [?, 32]>> -> tensor<16x32xf32>
        scf.yield %all : tensor<16x32xf32>
      }}
      %r = ptensor.assemble %sum, %o[0, 0] : tensor<16x32xf32>
      orch.return %r : tensor<16x32xf32>
    }}
    """
    rng = np.random.default_rng(9)
    x = rng.integers(-4, 4, (16, 128)).astype(np.float32)
    w = rng.integers(-4, 4, (128, 32)).astype(np.float32)
    wanted = x[:rows] @ w
    # What is beyond the rows is stored as well, though nothing defined it.
    for found in results(text, [x, w, rows, np.zeros((16, 32), np.float32)], strict=rows == 16):
        np.testing.assert_array_equal(found[:rows], wanted)
