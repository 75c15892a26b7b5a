"""Batches of sums that loops carry are what numpy sums, on tiles and on bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.lowering_levels import TO_CORE, assert_gives, on_910b

LOWERING = (
    "flatten-tile-nd-to-2d{backend=ascend910b}",
    "infer-tile-memory-space",
    "convert-tile-to-pto{backend=ascend910b}",
    "memory-reuse",
    "allocate-memory-addr{backend=ascend910b}",
)

SUMS = "!tile.tile<2x16x32xf32>"
LEFT, RIGHT = "!tile.tile<2x16x16xf16>", "!tile.tile<2x16x32xf16>"
OUT = np.zeros((2, 16, 32), np.float32)


def factors(seed: int, pages: int = 2, depth: int = 128) -> tuple[Any, Any]:
    """Small integers, whose products and sums are exact."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-3, 4, (pages, 16, depth)).astype(np.float16)
    return x, rng.integers(-3, 4, (pages, depth, 32)).astype(np.float16)


def product(x: Any, w: Any) -> Any:
    """What numpy sums."""
    return x.astype(np.float32) @ w.astype(np.float32)


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
    x, w = factors(17)
    wanted = product(x, w)
    assert_gives(text, [x, w, OUT], wanted, pipelines=LOWERING)


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
    x, w = factors(18)
    wanted = np.abs(product(x, w))
    assert_gives(text, [x, w, OUT], wanted, pipelines=LOWERING[:2])


def beginning(name: str, index: str) -> str:
    """A step of the depth that sums begin with."""
    return f"""
    %a{name} = tile.load %x[0, 0, {index}] : tensor<2x16x128xf16> -> {LEFT}
    %b{name} = tile.load %w[0, {index}, 0] : tensor<2x128x32xf16> -> {RIGHT}
    %q{name} = tile.batch_matmul %a{name}, %b{name} : {LEFT}, {RIGHT} -> {SUMS}
    """


FIRST_BEGINS = f"""
  %none = tile.create : {SUMS}
  %s = scf.for %k = %c0 to %c128 step %c16 iter_args(%acc = %none) -> ({SUMS}) {{
    %a1 = tile.load %x[0, 0, %k] : tensor<2x16x128xf16> -> {LEFT}
    %b1 = tile.load %w[0, %k, 0] : tensor<2x128x32xf16> -> {RIGHT}
    %first = arith.cmpi eq, %k, %c0 : index
    %q = scf.if %first -> ({SUMS}) {{
      %q0 = tile.batch_matmul %a1, %b1 : {LEFT}, {RIGHT} -> {SUMS}
      scf.yield %q0 : {SUMS}
    }} else {{
      %q1 = tile.batch_matmul_acc %acc, %a1, %b1 : {SUMS}, {LEFT}, {RIGHT}
      scf.yield %q1 : {SUMS}
    }}
    scf.yield %q : {SUMS}
  }}
"""
"""The first step begins the sums, the others add to them."""

SOME_STEPS = f"""
  %p = scf.if %yes -> ({SUMS}) {{
    {beginning("5", "%c0")}
    scf.yield %q5 : {SUMS}
  }} else {{
    {beginning("6", "%c16")}
    scf.yield %q6 : {SUMS}
  }}
  %s = scf.for %k = %c16 to %c128 step %c16 iter_args(%acc = %p) -> ({SUMS}) {{
    %half = arith.cmpi slt, %k, %c64 : index
    %r0 = scf.if %half -> ({SUMS}) {{
      {step("1", "%acc", "%k")}
      scf.yield %q1 : {SUMS}
    }} else {{
      scf.yield %acc : {SUMS}
    }}
    scf.yield %r0 : {SUMS}
  }}
"""
"""A branch chooses what the sums begin with, and another whether a step adds to them."""

WHILE = f"""
  {beginning("5", "%c0")}
  %n, %s = scf.while (%i = %c16, %acc = %q5) : (index, {SUMS}) -> (index, {SUMS}) {{
    %more = arith.cmpi slt, %i, %c64 : index
    scf.condition(%more) %i, %acc : index, {SUMS}
  }} do {{
  ^bb0(%j : index, %on : {SUMS}):
    {step("1", "%on", "%j")}
    %next = arith.addi %j, %c16 : index
    scf.yield %next, %q1 : index, {SUMS}
  }}
"""


@pytest.mark.parametrize(
    ("steps", "depth"),
    [(FIRST_BEGINS, 128), (SOME_STEPS, 64), (WHILE, 64)],
    ids=["first begins", "some steps", "while"],
)
def test_sums_through_branches_and_conditions(steps: str, depth: int):
    text = f"""
    orch.func incore @k(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x32xf16>, in %yes : i1,
        out %o : tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {{
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c64 = arith.constant 64 : index
      %c128 = arith.constant 128 : index
      {steps}
      %r = tile.store %s, %o[0, 0, 0] : {SUMS}, tensor<2x16x32xf32>
      orch.return %r : tensor<2x16x32xf32>
    }}
    """
    x, w = factors(19)
    wanted = product(x[:, :, :depth], w[:, :depth])
    assert_gives(on_910b(text), [x, w, True, OUT], wanted, pipelines=TO_CORE)


def test_sums_that_are_looked_at_on_the_way():
    """What is done with the sums in the loop is done on one tile of all of them."""
    text = f"""
    orch.func incore @k(in %x : tensor<2x16x128xf16>, in %w : tensor<2x128x32xf16>,
        inout %o : tensor<2x16x32xf32>) -> tensor<2x16x32xf32> {{
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %c128 = arith.constant 128 : index
      {beginning("0", "%c0")}
      %s, %last = scf.for %k = %c16 to %c128 step %c16 iter_args(%acc = %q0, %y = %o)
          -> ({SUMS}, tensor<2x16x32xf32>) {{
        %seen = tile.abs %acc : {SUMS}
        %z = tile.store %seen, %y[0, 0, 0] : {SUMS}, tensor<2x16x32xf32>
        {step("1", "%acc", "%k")}
        scf.yield %q1, %z : {SUMS}, tensor<2x16x32xf32>
      }}
      orch.return %last : tensor<2x16x32xf32>
    }}
    """
    x, w = factors(20)
    wanted = np.abs(product(x[:, :, :112], w[:, :112]))
    assert_gives(text, [x, w, OUT], wanted, pipelines=LOWERING[:2])


@pytest.mark.parametrize("pages", [1, 2])
@pytest.mark.parametrize("more", [False, True])
def test_sums_that_a_branch_adds_to_and_stores(pages: int, *, more: bool):
    """No control flow hands on the sums, but it is around what uses them one by one."""
    sums = f"!tile.tile<{pages}x16x32xf32>"
    left, right = f"{pages}x16x16xf16", f"{pages}x16x32xf16"
    out = f"tensor<{pages}x16x32xf32>"
    types = f"!tile.tile<{left}>, !tile.tile<{right}>"
    text = f"""
    orch.func incore @k(in %x : tensor<{left}>, in %w : tensor<{right}>, in %more : i1,
        out %o : {out}) -> {out} {{
      %a = tile.load %x[0, 0, 0] : tensor<{left}> -> !tile.tile<{left}>
      %b = tile.load %w[0, 0, 0] : tensor<{right}> -> !tile.tile<{right}>
      %p = tile.batch_matmul %a, %b : {types} -> {sums}
      %r = scf.if %more -> ({out}) {{
        %q = tile.batch_matmul_acc %p, %a, %b : {sums}, {types}
        %s = tile.store %q, %o[0, 0, 0] : {sums}, {out}
        scf.yield %s : {out}
      }} else {{
        %s = tile.store %p, %o[0, 0, 0] : {sums}, {out}
        scf.yield %s : {out}
      }}
      orch.return %r : {out}
    }}
    """
    x, w = factors(18, pages, 16)
    wanted = (2 if more else 1) * product(x, w)
    arguments = [x, w, more, np.zeros_like(wanted)]
    assert_gives(on_910b(text), arguments, wanted, pipelines=TO_CORE)
