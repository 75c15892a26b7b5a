"""Kernels that were taken apart compute, on a cube core and a vector core, what they did whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from support.machine_programs import parsed, run_core
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import FunctionType, ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Block, Region

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto.queue import number_of
from pypto_xdsl.dialects.pto.queue_buffer import ReserveBase
from pypto_xdsl.interpreters.run import run

LOWERING = (
    "infer-tile-memory-space,resolve-backend-op-layouts,expand-mixed-kernel,verify-target,"
    "inject-gm-pipe-buffer,convert-tile-to-pto,memory-reuse,allocate-memory-addr"
)
MACHINE = "convert-pto-to-ascend910b,insert-sync"

M = "!tile.tile<32x32xf32>"
X = "tensor<32x32xf32>"

THERE_AND_BACK = f"""
  %ta = tile.load %a[0, 0] : {X} -> {M}
  %tb = tile.load %b[0, 0] : {X} -> {M}
  %p = tile.matmul %ta, %tb : {M}
  %tc = tile.load %c[0, 0] : {X} -> {M}
  %s = tile.add %p, %tc : {M}
  %q = tile.matmul %s, %tb : {M}
  %n = tile.neg %q : {M}
  %z = tile.store %n, %y[0, 0] : {M}, {X}
"""
"""`y = -((a @ b + c) @ b)`"""

LOOP = f"""
  %ta = tile.load %a[0, 0] : {X} -> {M}
  %tb = tile.load %b[0, 0] : {X} -> {M}
  %start = tile.load %c[0, 0] : {X} -> {M}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %end = scf.for %i = %c0 to %c5 step %c1 iter_args(%t = %start) -> ({M}) {{
    %p = tile.matmul %t, %tb : {M}
    %v = tile.add %p, %start : {M}
    %w = tile.minimum %v, %start : {M}
    scf.yield %w : {M}
  }}
  %z = tile.store %end, %y[0, 0] : {M}, {X}
"""
"""`t = min(t @ b + c, c)`, five times, from `c`: tiles pass to and fro in the loop."""

OUTLIVED = f"""
  %ta = tile.load %a[0, 0] : {X} -> {M}
  %tb = tile.load %b[0, 0] : {X} -> {M}
  %start = tile.load %c[0, 0] : {X} -> {M}
  %first = tile.matmul %ta, %tb : {M}
  %kept = tile.add %first, %start : {M}
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %end = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %start) -> ({M}) {{
    %p = tile.matmul %ta, %ta : {M}
    %v = tile.sub %p, %t : {M}
    %u = tile.add %v, %first : {M}
    scf.yield %u : {M}
  }}
  %sum = tile.add %end, %kept : {M}
  %z = tile.store %sum, %y[0, 0] : {M}, {X}
"""
"""The product that comes first is used all through a loop to which others come."""


ASSEMBLED = f"""
  %ta = tile.load %a[0, 0] : {X} -> {M}
  %tb = tile.load %b[0, 0] : {X} -> {M}
  %tc = tile.load %c[0, 0] : {X} -> !tile.tile<32x32xf32>
  %n = tile.neg %tc : {M}
  %part = tile.load %b[0, 0] : {X} -> !tile.tile<32x16xf32>
  %p = tile.matmul %ta, %part : {M}, !tile.tile<32x16xf32> -> !tile.tile<32x16xf32>
  %m = tile.assemble %p, %n[0, 16] : !tile.tile<32x16xf32>, {M}
  %z = tile.store %m, %y[0, 0] : {M}, {X}
"""
"""The right columns of `-c` are those of a product."""


def there_and_back(a: Any, b: Any, c: Any) -> Any:
    return -((a @ b + c) @ b)


def loop(a: Any, b: Any, c: Any) -> Any:
    t = c
    for _ in range(5):
        t = np.minimum(t @ b + c, c)
    return t


def outlived(a: Any, b: Any, c: Any) -> Any:
    first, t = a @ b, c
    for _ in range(4):
        t = a @ a - t + first
    return t + first + c


def assembled(a: Any, b: Any, c: Any) -> Any:
    return np.hstack([-c[:, :16], a @ b[:, :16]])


CASES: Mapping[str, tuple[str, Any]] = {
    "there and back": (THERE_AND_BACK, there_and_back),
    "loop": (LOOP, loop),
    "outlived": (OUTLIVED, outlived),
    "assembled": (ASSEMBLED, assembled),
}


def kernel(body: str) -> str:
    return f"""builtin.module attributes {{pto.target_arch = "a2a3"}} {{
      orch.func incore @mixed(in %a : {X}, in %b : {X}, in %c : {X}, out %y : {X}) -> {X} {{
        {body}
        orch.return %z : {X}
      }}
      orch.func orchestration @main(in %a : {X}, in %b : {X}, in %c : {X}, out %y : {X}) -> {X} {{
        %z = orch.call @mixed(%a, %b, %c, %y) : ({X}, {X}, {X}, {X}) -> {X}
        orch.return %z : {X}
      }}
    }}"""


def launched_together(module: ModuleOp) -> ModuleOp:
    """The lowered halves, with a function that launches both."""
    (unit,) = [op for op in module.body.block.ops if isinstance(op, ModuleOp)]
    halves = [op for op in unit.body.block.ops if isinstance(op, func.FuncOp)]
    types = halves[0].function_type.inputs.data
    body = Block(arg_types=types)
    for argument, like in zip(body.args, halves[0].args, strict=True):
        argument.name_hint = like.name_hint
    core = pto.GetSubBlockIdxOp(result_types=[i64])
    narrow = arith.TruncIOp(core.results[0], i32)
    body.add_ops([core, narrow])
    for half in halves:
        asks = len(half.args) > len(types)
        body.add_op(
            func.CallOp(half.sym_name.data, [*body.args, *([narrow.result] if asks else [])], [])
        )
    body.add_op(func.ReturnOp())
    entry = func.FuncOp("entry", FunctionType.from_lists(types, []), Region(body))
    entry.attributes["pto.entry"] = UnitAttr()
    unit.body.block.insert_op_before(entry, halves[0])
    return unit


@pytest.mark.parametrize("case", CASES)
def test_values(case: str):
    body, compute = CASES[case]
    rng = np.random.default_rng(0)
    # Small integers: sums are exact in any order.
    a, b, c = (rng.integers(-1, 2, (32, 32)).astype(np.float32) for _ in range(3))
    b *= rng.random((32, 32)) < 0.1
    wanted = compute(a, b, c)
    y = np.zeros((32, 32), np.float32)
    (whole,) = run(parsed(kernel(body)), "main", [a, b, c, y]).results
    np.testing.assert_array_equal(whole, wanted)
    text = str(launched_together(parsed(kernel(body), LOWERING)))
    for seed in (None, 0, 1, 2):
        given = {"a": a, "b": b, "c": c, "y": y, "gm_pipe_buffer": np.zeros(64 * 1024)}
        after = run_core(text, given, passes=MACHINE, seed=seed, name="entry")
        np.testing.assert_array_equal(after["y"], wanted)


def test_slots_do_not_take_the_place_of_tiles():
    """What a core reserves for a ring lies before its tiles."""
    module = parsed(kernel(THERE_AND_BACK), LOWERING)
    reserved = [op for op in walk(module) if isinstance(op, ReserveBase)]
    assert len(reserved) == 2
    assert [number_of(op.base) for op in reserved if op.base is not None] == [0, 0]
