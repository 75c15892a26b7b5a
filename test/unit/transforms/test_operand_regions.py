"""Elementwise ops on tensors of which other parts are valid give a tensor that counts as whole."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

WHOLE = "tensor<1x16xf32>"
PART = "tensor<1x16xf32, #ptensor.view<valid = [1, {}]>>"


@pytest.mark.parametrize("parts_come_first", [False, True])
@pytest.mark.parametrize("runtime", [False, True])
@pytest.mark.parametrize("op", ["maximum", "sub", "part_add", "part_max"])
def test_one_operand_is_valid_in_part(op: str, *, parts_come_first: bool, runtime: bool):
    part = PART.format("?" if runtime else "5")
    extent = "%n" if runtime else "5"
    operands, types = ("%v, %y", f"{part}, {WHOLE}")
    if not parts_come_first:
        operands, types = ("%y, %v", f"{WHOLE}, {part}")
    kept = WHOLE if op.startswith("part") else PART.format("5")
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @k(in %x : {WHOLE}, in %y : {WHOLE}, in %n : index, out %o : {WHOLE})
        -> {WHOLE} {{
      %v = ptensor.set_validshape %x, valid = [1, {extent}] : {WHOLE} -> {part}
      %m = ptensor.{op} {operands} : {types} -> {WHOLE}
      %c = ptensor.type_cast %m : {WHOLE} -> {kept}
      %r = ptensor.assemble %c, %o[0, 0] : {kept}, {WHOLE}
      orch.return %r : {WHOLE}
    }}
    }}
    """
    rng = np.random.default_rng(11)
    x, y = (rng.standard_normal((1, 16)).astype(np.float32) for _ in range(2))
    first, second = (x, y) if parts_come_first else (y, x)
    functions = {"maximum": np.maximum, "sub": np.subtract}
    functions |= {"part_add": np.add, "part_max": np.maximum}
    wanted = y.copy() if op.startswith("part") else np.zeros_like(x)
    wanted[:, :5] = functions[op](first, second)[:, :5]
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    spec = expand_pipelines("default-pipeline")
    passes = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).passes
    for step in (None, *passes):
        if step is not None:
            step.apply(ctx, module)
            module.verify()
        (found,) = run(module, "k", [x.copy(), y.copy(), 5, np.zeros_like(x)]).results
        np.testing.assert_array_equal(np.asarray(found), wanted, err_msg=str(step))
