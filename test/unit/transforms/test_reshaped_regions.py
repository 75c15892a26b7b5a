"""A tile whose valid region is known at run time only holds the same elements in another shape."""

from __future__ import annotations

import numpy as np
import pytest
from support.lowering_levels import assert_gives, on_910b

PART = "tensor<16x64xf32, #ptensor.view<valid = [?, 64]>>"
COLUMN = "tensor<16x1xf32, #ptensor.view<valid = [?, 1]>>"
ROW = "tensor<1x16xf32, #ptensor.view<valid = [1, ?]>>"
LINE = "tensor<1024xf32, #ptensor.view<valid = [?]>>"
WHOLE = "tensor<16x64xf32>"

SUMS = f"""
    orch.func incore @k(in %x : {WHOLE}, in %n : index, out %o : tensor<1x16xf32>)
        -> tensor<1x16xf32> {{
      %part = ptensor.set_validshape %x, valid = [%n, 64] : {WHOLE} -> {PART}
      %s = ptensor.row_sum %part : {PART} -> {COLUMN}
      %t = ptensor.reshape %s : {COLUMN} -> {ROW}
      %u = ptensor.add %t, %t : {ROW}
      %r = ptensor.assemble %u, %o[0, 0] : {ROW}, tensor<1x16xf32>
      orch.return %r : tensor<1x16xf32>
    }}
"""

LINES = f"""
    orch.func incore @k(in %x : {WHOLE}, in %n : index, out %o : tensor<1024xf32>)
        -> tensor<1024xf32> {{
      %part = ptensor.set_validshape %x, valid = [%n, 64] : {WHOLE} -> {PART}
      %s = ptensor.add %part, %part : {PART}
      %t = ptensor.reshape %s : {PART} -> {LINE}
      %u = ptensor.add %t, %t : {LINE}
      %r = ptensor.assemble %u, %o[0] : {LINE}, tensor<1024xf32>
      orch.return %r : tensor<1024xf32>
    }}
"""

WINDOW = f"""
    orch.func incore @k(in %x : tensor<4x64xf32>, in %y : {WHOLE}, in %i : index, in %n : index,
        out %o : {WHOLE}) -> {WHOLE} {{
      %w = ptensor.slice %x[%i, 16] : tensor<4x64xf32> -> tensor<1x16xf32>
      %v = ptensor.set_validshape %w, valid = [1, %n] : tensor<1x16xf32> -> {ROW}
      %c = ptensor.reshape %v : {ROW} -> {COLUMN}
      %b = ptensor.set_validshape %y, valid = [%n, 64] : {WHOLE} -> {PART}
      %m = ptensor.row_expand_mul %b, %c : {PART}, {COLUMN} -> {PART}
      %r = ptensor.assemble %m, %o[0, 0] : {PART}, {WHOLE}
      orch.return %r : {WHOLE}
    }}
"""


@pytest.mark.parametrize("rows", [16, 5])
def test_reshaped_window(rows: int):
    """A part of a row is a column once it is loaded; it is none in global memory."""
    rng = np.random.default_rng(12)
    x, y = rng.standard_normal((4, 64)), rng.standard_normal((16, 64))
    x, y = x.astype(np.float32), y.astype(np.float32)
    out = np.zeros((16, 64), np.float32)
    wanted = out.copy()
    wanted[:rows] = y[:rows] * x[2, 16 : 16 + rows, None]
    assert_gives(on_910b(WINDOW), [x, y, 2, rows, out], wanted)


TURNED = "tensor<8x16xf32, #ptensor.view<layout = dn>>"
TURNED_ROW = "tensor<1x16xf32, #ptensor.view<layout = dn>>"

TRANSPOSED = f"""
    orch.func incore @k(in %x : tensor<32x8xf32>, in %y : {WHOLE}, in %i : index, out %o : {WHOLE})
        -> {WHOLE} {{
      %w = ptensor.slice %x[%i, 0] : tensor<32x8xf32> -> tensor<16x8xf32>
      %t = ptensor.transpose %w, axis1 = 0, axis2 = 1 : tensor<16x8xf32> -> {TURNED}
      %s = ptensor.slice %t[2, 0] : {TURNED} -> {TURNED_ROW}
      %c = ptensor.reshape %s : {TURNED_ROW} -> tensor<16x1xf32>
      %m = ptensor.row_expand_mul %y, %c : {WHOLE}, tensor<16x1xf32> -> {WHOLE}
      %r = ptensor.assemble %m, %o[0, 0] : {WHOLE}
      orch.return %r : {WHOLE}
    }}
"""


def test_row_of_a_transposed_window():
    """A column of a matrix is a row of what is turned over on chip."""
    rng = np.random.default_rng(13)
    x, y = rng.standard_normal((32, 8)), rng.standard_normal((16, 64))
    x, y = x.astype(np.float32), y.astype(np.float32)
    assert_gives(on_910b(TRANSPOSED), [x, y, 3, np.zeros_like(y)], y * x[3:19, 2, None])


@pytest.mark.parametrize("rows", [16, 5])
@pytest.mark.parametrize("kernel", ["sums", "lines"])
def test_reshape(kernel: str, rows: int):
    """A column of n sums is a row of n; n rows of 64 are a line of 64 n."""
    text = SUMS if kernel == "sums" else LINES
    x = np.random.default_rng(10).integers(-9, 9, (16, 64)).astype(np.float32)
    out = np.zeros((1, 16) if kernel == "sums" else (1024,), np.float32)
    wanted = out.copy()
    if kernel == "sums":
        wanted[0, :rows] = 2 * x[:rows].sum(axis=1)
    else:
        wanted[: 64 * rows] = 4 * x[:rows].reshape(-1)
    assert_gives(on_910b(text), [x, rows, out], wanted)
