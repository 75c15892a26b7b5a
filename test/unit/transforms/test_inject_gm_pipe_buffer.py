"""Rings of groups that are launched on a number of cores that is known at run time only."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_programs import parsed
from xdsl.dialects import arith
from xdsl.ir import OpResult

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import ptensor
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run

T = "tensor<?x16xf32>"
B = "tensor<16x16xf32>"
LAUNCHED = f"""
orch.func incore @mixed(in %a : {T}, in %b : {B}, out %y : {T}) -> {T} {{
  %c16 = arith.constant 16 : index
  %block = tile.get_block_idx : index
  %row = arith.muli %block, %c16 : index
  %x = ptensor.slice %a[%row, 0] : {T} -> {B}
  %p = ptensor.matmul %x, %b : {B}, {B} -> {B}
  %e = ptensor.abs %p : {B}
  %q = ptensor.matmul %e, %b : {B}, {B} -> {B}
  %r = ptensor.add %q, %p : {B}, {B} -> {B}
  %z = ptensor.assemble %r, %y[%row, 0] : {B}, {T}
  orch.return %z : {T}
}}
orch.func orchestration @main(in %a : {T}, in %b : {B}, out %y : {T}, in %n : index) -> {T} {{
  %z = orch.call @mixed(%a, %b, %y) launch %n : ({T}, {B}, {T}) -> {T}
  orch.return %z : {T}
}}
"""


@pytest.mark.parametrize("blocks", [1, 5, 30])
@pytest.mark.parametrize("passes", ["default-pipeline", "default-pipeline,ascend910b-pipeline"])
def test_each_block_has_slots(passes: str, blocks: int):
    """Of a 910B's 24 cores, 30 blocks take some more than once; all have slots of their own."""
    rng = np.random.default_rng(blocks)
    a = rng.integers(-2, 3, (16 * blocks, 16)).astype(np.float32)
    b = rng.integers(-2, 3, (16, 16)).astype(np.float32)
    given = {"a": a, "b": b, "y": np.zeros_like(a), "n": blocks}
    after = run(parsed(LAUNCHED, passes), "main", given, cores=CoreSettings(blocks))
    product = a @ b
    np.testing.assert_array_equal(after.parameters["y"], np.abs(product) @ b + product)


def test_slots_for_one_block_do_not_do():
    """What a ring takes is what the launch makes: with less, a block goes out of bounds."""
    module = parsed(LAUNCHED, "default-pipeline")
    (create,) = [op for op in walk(module) if isinstance(op, ptensor.CreateOp)]
    (extent,) = create.extents
    assert isinstance(extent, OpResult)
    assert isinstance(extent.op, arith.MuliOp)
    create.operands[0] = extent.op.rhs
    a = np.ones((32, 16), np.float32)
    given = {"a": a, "b": np.eye(16, dtype=np.float32), "y": a, "n": 2}
    with pytest.raises(DiagnosticsError) as error:
        run(module, "main", given)
    assert "a window reaches elements 1024..1279 of a buffer of 1024" in str(error.value)
