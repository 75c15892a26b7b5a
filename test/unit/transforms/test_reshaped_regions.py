"""A tile whose valid region is known at run time only holds the same elements in another shape."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

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


@pytest.mark.parametrize("rows", [16, 5])
@pytest.mark.parametrize("kernel", ["sums", "lines"])
def test_reshape(kernel: str, rows: int):
    """A column of n sums is a row of n; n rows of 64 are a line of 64 n."""
    ctx = context()
    text = SUMS if kernel == "sums" else LINES
    module = parse_module(
        ctx, f'builtin.module attributes {{pto.target_arch = "a2a3"}} {{ {text} }}', "kernel.mlir"
    )
    x = np.random.default_rng(10).integers(-9, 9, (16, 64)).astype(np.float32)
    out = np.zeros((1, 16) if kernel == "sums" else (1024,), np.float32)
    wanted = out.copy()
    if kernel == "sums":
        wanted[0, :rows] = 2 * x[:rows].sum(axis=1)
    else:
        wanted[: 64 * rows] = 4 * x[:rows].reshape(-1)
    spec = expand_pipelines("default-pipeline")
    passes = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).passes
    for step in (None, *passes):
        if step is not None:
            step.apply(ctx, module)
            module.verify()
        (found,) = run(module, "k", [x.copy(), rows, out.copy()]).results
        np.testing.assert_array_equal(np.asarray(found), wanted, err_msg=str(step))
