"""Samples with references are run and compared: as text, by their own comparison, and in halves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import run_golden_samples

from pypto_xdsl.interpreters.core_settings import CoreSettings

KERNEL = """module {
func.func @double(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %rows: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %n = arith.constant 24 : index
  %xv = pto.make_tensor_view %x, shape = [%rows, %c8], strides = [%n, %c1]
    : !pto.tensor_view<?x?xf32>
  %yv = pto.make_tensor_view %y, shape = [%c8, %c8], strides = [%c8, %c1]
    : !pto.tensor_view<?x?xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c8, %c8]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x8xf32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c8, %c8]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<8x8xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 8x8xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<8x8xf32>) outs(%t : !pto.tile_buf<vec, 8x8xf32>)
  pto.tadd ins(%t, %t : !pto.tile_buf<vec, 8x8xf32>, !pto.tile_buf<vec, 8x8xf32>)
    outs(%t : !pto.tile_buf<vec, 8x8xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 8x8xf32>) outs(%yp : !pto.partition_tensor_view<8x8xf32>)
  return
}
}
"""

REFERENCE = """
import re
import numpy as np
sizes = dict(re.findall(r"elemCount_(\\w+) = (\\d+);", open("main.cpp").read()))
x = np.arange(int(sizes["v1"]), dtype=np.float32)
x.tofile("v1.bin")
np.zeros(int(sizes["v2"]), np.float32).tofile("v2.bin")
rows = [x[24 * r : 24 * r + 8] for r in range(8)]
(np.concatenate(rows) * {factor}).astype(np.float32).tofile("golden_v2.bin")
"""

AGREES = "import sys; sys.exit(0)"


def sample(folder: Path, factor: int) -> run_golden_samples.Sample:
    (folder / "Double").mkdir()
    (folder / "Double" / "double.pto").write_text(KERNEL)
    (folder / "Double" / "double_golden.py").write_text(REFERENCE.replace("{factor}", str(factor)))
    (found,) = run_golden_samples.samples(folder, None)
    return found


@pytest.mark.parametrize(("factor", "is_right"), [(2, True), (3, False)])
def test_a_sample_is_compared(tmp_path: Path, factor: int, is_right: bool) -> None:
    """Memory is as large as the kernel reaches; numbers are tried until windows lie inside."""
    numbers = {"v3": 8}
    outcome = run_golden_samples.run_sample(sample(tmp_path, factor), numbers, CoreSettings())
    ((name, got, _, element),) = outcome.outputs
    assert (name, element, got.size) == ("v2", "f32", 64)
    np.testing.assert_array_equal(got[:8], np.arange(8) * 2)
    assert outcome.is_right is is_right


def test_its_own_comparison_counts(tmp_path: Path) -> None:
    made = sample(tmp_path, 3)
    made.reference.with_name("double_compare.py").write_text(AGREES)
    assert run_golden_samples.run_sample(made, {"v3": 8}, CoreSettings()).is_right
