"""On which core of a group an op of a kernel runs."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.universe import Universe

from pypto_xdsl.analysis.core_lanes import Lane, lane
from pypto_xdsl.syntax.parser import parse_module

KERNEL = """
orch.func incore @kernel(in %x : tensor<16x16xf32>, in %n : tensor<4xi32>,
                         out %y : tensor<16x16xf32>) {
  %read = ptensor.read %n[0] : tensor<4xi32> -> i32
  %view = ptensor.slice %x[0, 0] : tensor<16x16xf32> -> tensor<8x16xf32>
  %tensor_exp = ptensor.exp %x : tensor<16x16xf32>
  %tensor_product = ptensor.matmul %x, %x : tensor<16x16xf32>
  %load = tile.load %x[0, 0] : tensor<16x16xf32> -> !tile.tile<16x16xf32>
  %exp = tile.exp %load : !tile.tile<16x16xf32>
  %product = tile.matmul %load, %load : !tile.tile<16x16xf32>
  %to_left = tile.move %load : !tile.tile<16x16xf32> -> !tile.tile<16x16xf32, left>
  %to_vector = tile.move %load : !tile.tile<16x16xf32> -> !tile.tile<16x16xf32, vec>
  %shard = tile.aiv_shard %product, split = up_down : !tile.tile<16x16xf32> -> !tile.tile<8x16xf32>
  %element = tile.read %exp[0, 0] : !tile.tile<16x16xf32> -> f32
  %more = arith.addf %element, %element : f32
  %store = tile.store %exp, %y[0, 0] : !tile.tile<16x16xf32>, tensor<16x16xf32>
  orch.return
}
"""


def lanes() -> dict[str | None, Lane | None]:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse_module(ctx, KERNEL, "lanes.mlir")
    return {op.results[0].name_hint: lane(op) for op in module.walk() if op.results}


@pytest.mark.parametrize(
    ("op", "where"),
    [
        # Either core has a scalar unit, which reads single elements of global memory.
        ("read", None),
        ("more", None),
        ("view", None),
        ("load", None),
        ("store", None),
        ("tensor_exp", Lane.VECTOR),
        ("exp", Lane.VECTOR),
        ("element", Lane.VECTOR),
        ("to_vector", Lane.VECTOR),
        ("tensor_product", Lane.CUBE),
        ("product", Lane.CUBE),
        ("to_left", Lane.CUBE),
        ("shard", Lane.BOUNDARY),
    ],
)
def test_lane(op: str, where: Lane | None):
    assert lanes()[op] is where
