"""Batches of sums that loops carry are what numpy sums, on tiles and on bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.syntax.parser import parse_module

LOWERING = (
    "flatten-tile-nd-to-2d{backend=ascend910b}",
    "infer-tile-memory-space",
    "convert-tile-to-pto{backend=ascend910b}",
    "memory-reuse",
    "allocate-memory-addr{backend=ascend910b}",
)

SUMS = "!tile.tile<2x16x32xf32>"
LEFT, RIGHT = "!tile.tile<2x16x16xf16>", "!tile.tile<2x16x32xf16>"


def step(name: str, start: str, index: str, indent: str = "") -> str:
    """A step of the depth that is added to `start`."""
    return f"""
    %a{name} = tile.load %x[0, 0, {index}] : tensor<2x16x128xf16> -> {LEFT}
    %b{name} = tile.load %w[0, {index}, 0] : tensor<2x128x32xf16> -> {RIGHT}
    %q{name} = tile.batch_matmul_acc {start}, %a{name}, %b{name} : {SUMS}, {LEFT}, {RIGHT}
    """


ONE_LOOP = f"""
  %s = scf.for %k = %c16 to %c128 step %c16 iter_args(%i = %c0, %acc = %p) -> (index, {SUMS}) {{
    {step("1", "%acc", "%k")}
    %j = arith.addi %i, %c16 : index
    scf.yield %j, %q1 : index, {SUMS}
  }}
""".replace("%s =", "%n, %s =")

LOOPS_IN_LOOPS = f"""
  %f = scf.for %o1 = %c0 to %c1 step %c1 iter_args(%acc = %p) -> ({SUMS}) {{
    %s = scf.for %k = %c16 to %c64 step %c16 iter_args(%i = %acc) -> ({SUMS}) {{
      {step("1", "%i", "%k")}
      scf.yield %q1 : {SUMS}
    }}
    scf.yield %s : {SUMS}
  }}
  %s = scf.for %k = %c64 to %c128 step %c16 iter_args(%acc = %f) -> ({SUMS}) {{
    {step("2", "%acc", "%k")}
    scf.yield %q2 : {SUMS}
  }}
"""


@pytest.mark.parametrize("loops", [ONE_LOOP, LOOPS_IN_LOOPS], ids=["one", "nested"])
def test_sums(loops: str):
    text = f"""
    orch.func incore @k(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x32xf16>,
        out %o : tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      %a0 = tile.load %x[0, 0, 0] : tensor<2x16x128xf16> -> {LEFT}
      %b0 = tile.load %w[0, 0, 0] : tensor<2x128x32xf16> -> {RIGHT}
      %p = tile.batch_matmul %a0, %b0 : {LEFT}, {RIGHT} -> {SUMS}
      {loops}
      %r = tile.store %s, %o[0, 0, 0] : {SUMS}, tensor<2x16x32xf32>
      orch.return %r : tensor<2x16x32xf32>
    }}
    """
    rng = np.random.default_rng(17)
    x: Any = rng.integers(-3, 4, (2, 16, 128)).astype(np.float16)
    w: Any = rng.integers(-3, 4, (2, 128, 32)).astype(np.float16)
    wanted = x.astype(np.float32) @ w.astype(np.float32)
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    passes = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, ",".join(LOWERING))
    for one in (None, *passes.passes):
        if one is not None:
            one.apply(ctx, module)
            module.verify()
        arguments = [x.copy(), w.copy(), np.zeros((2, 16, 32), np.float32)]
        (found,) = run(module, "k", arguments).results
        np.testing.assert_array_equal(np.asarray(found), wanted, err_msg=str(one))


def test_sums_that_are_computed_with():
    """What is done with the sums after the loop is done on one tile of all of them."""
    text = f"""
    orch.func incore @k(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x32xf16>,
        out %o : tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {{
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c128 = arith.constant 128 : index
      %a0 = tile.load %x[0, 0, 0] : tensor<2x16x128xf16> -> {LEFT}
      %b0 = tile.load %w[0, 0, 0] : tensor<2x128x32xf16> -> {RIGHT}
      %p = tile.batch_matmul %a0, %b0 : {LEFT}, {RIGHT} -> {SUMS}
      {ONE_LOOP}
      %e = tile.abs %s : {SUMS}
      %r = tile.store %e, %o[0, 0, 0] : {SUMS}, tensor<2x16x32xf32>
      orch.return %r : tensor<2x16x32xf32>
    }}
    """
    rng = np.random.default_rng(18)
    x: Any = rng.integers(-3, 4, (2, 16, 128)).astype(np.float16)
    w: Any = rng.integers(-3, 4, (2, 128, 32)).astype(np.float16)
    wanted = np.abs(x.astype(np.float32) @ w.astype(np.float32))
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    passes = PassPipeline.parse_spec(Universe.get_multiverse().all_passes, ",".join(LOWERING[:2]))
    for one in (None, *passes.passes):
        if one is not None:
            one.apply(ctx, module)
            module.verify()
        arguments = [x.copy(), w.copy(), np.zeros((2, 16, 32), np.float32)]
        (found,) = run(module, "k", arguments).results
        np.testing.assert_array_equal(np.asarray(found), wanted, err_msg=str(one))
