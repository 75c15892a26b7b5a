"""What an op costs beside its numpy, in Python calls, which no load of a machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from types import FrameType
from typing import Any

import numpy as np
import pytest
from support.programs import context, program
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, f32, i32
from xdsl.interpreter import Interpreter
from xdsl.interpreters.arith import ArithFunctions
from xdsl.interpreters.func import FuncFunctions
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import machine_for, run, running

TILE = "!tile.tile<16x16xf32>"


def calls_each(
    parameters: str, first: str, op: str, arguments: list[Argument], size: int = 20
) -> float:
    """The Python and C calls that one more `op` costs, in a function of some size."""

    def count(times: int) -> int:
        body = "\n".join([first, *(op.format(place) for place in range(times))])
        module = program(f"orch.func opaque @f({parameters}) {{\n{body}\norch.return }}")
        return count_calls(lambda: run(module, "f", arguments))

    return (count(2 * size) - count(size)) / size


@pytest.mark.parametrize(
    "op",
    [
        f"%r{{}} = tile.add %t, %t : {TILE}",
        f"%r{{}} = tile.exp %t : {TILE}",
        f"%r{{}} = tile.row_sum %t, %t : {TILE}, {TILE} -> !tile.tile<16x1xf32>",
        f"%r{{}} = tile.matmul %t, %t : {TILE}",
        f"%r{{}} = tile.load %x[0, 0] : tensor<16x16xf32> -> {TILE}",
        f"%r{{}} = tile.store %t, %x[0, 0] : {TILE}, tensor<16x16xf32>",
        "%r{} = ptensor.add %x, %x : tensor<16x16xf32>",
    ],
)
def test_an_op_costs_about_as_much_as_one_of_arith(op: str):
    first = f"%t = tile.load %x[0, 0] : tensor<16x16xf32> -> {TILE}"
    x = np.ones((16, 16), np.float32)
    cost = calls_each("inout %x : tensor<16x16xf32>", first, op, [x])
    assert cost <= 1.5 * calls_of_addi()


def test_an_op_costs_the_same_in_a_large_program():
    op = "%r{} = arith.addi %a, %a : i32"
    small, large = (calls_each("in %a : i32", "", op, [1], size) for size in (20, 400))
    assert large == pytest.approx(small, rel=0.05)


def count_calls(run_it: Callable[[], object]) -> int:
    """The Python and C calls of the second run."""
    total = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal total
        total += event in ("call", "c_call")

    run_it()
    sys.setprofile(profile)
    try:
        run_it()
    finally:
        sys.setprofile(None)
    return total


@cache
def calls_of_addi() -> float:
    """What xDSL's own interpreter needs for one `arith.addi`."""

    def count(times: int) -> int:
        lines = "\n".join(f"%v{k + 1} = arith.addi %v{k}, %v{k} : i32" for k in range(times))
        module = program(f"func.func @f(%v0: i32) {{\n{lines}\nfunc.return\n}}")
        interpreter = Interpreter(module)
        interpreter.register_implementations(ArithFunctions())
        interpreter.register_implementations(FuncFunctions())
        return count_calls(lambda: interpreter.call_op("f", (IntegerAttr(0, i32),)))

    return (count(40) - count(20)) / 20


VEC, COLUMN = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<vec, 16x1xf32, blayout=col_major>"
LEFT = "!pto.tile_buf<left, 16x16xf32, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 16x16xf32, slayout=col_major>"
ACC = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
MAT = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
PART = "!pto.partition_tensor_view<16x16xf32>"
LOADED = f"""
  %a = pto.alloc_tile addr = %k0 : {VEC}
  %b = pto.alloc_tile addr = %k1 : {VEC}
  %c = pto.alloc_tile addr = %k2 : {COLUMN}
  pto.tload ins(%p : {PART}) outs(%a : {VEC})
"""
MULTIPLIED = f"""
  %m = pto.alloc_tile addr = %k0 : {MAT}
  %l = pto.alloc_tile addr = %k0 : {LEFT}
  %r = pto.alloc_tile addr = %k0 : {RIGHT}
  %c = pto.alloc_tile addr = %k0 : {ACC}
  pto.tload ins(%p : {PART}) outs(%m : {MAT})
  pto.tmov ins(%m : {MAT}) outs(%l : {LEFT})
  pto.tmov ins(%m : {MAT}) outs(%r : {RIGHT})
"""


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize(
    ("first", "op"),
    [
        (LOADED, f"pto.tadd ins(%a, %a : {VEC}, {VEC}) outs(%b : {VEC})"),
        (LOADED, f"pto.texp ins(%a : {VEC}) outs(%b : {VEC})"),
        (LOADED, f"pto.trowsum ins(%a, %b : {VEC}, {VEC}) outs(%c : {COLUMN})"),
        (MULTIPLIED, f"pto.tmatmul ins(%l, %r : {LEFT}, {RIGHT}) outs(%c : {ACC})"),
    ],
    ids=["add", "exp", "row_sum", "matmul"],
)
def test_an_instruction_on_a_core_costs_at_most_four_times_an_addi(
    first: str, op: str, strict: bool
) -> None:
    def count(times: int) -> int:
        body = "\n".join([op] * times)
        module = program(
            f"""module attributes {{pto.target_arch = "a2a3"}} {{
            func.func @kernel(%x: !pto.ptr<f32>) {{
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %size = arith.constant 16 : index
              %k0 = arith.constant 0 : i64
              %k1 = arith.constant 1024 : i64
              %k2 = arith.constant 2048 : i64
              %v = pto.make_tensor_view %x, shape = [%size, %size], strides = [%size, %c1]
                  : !pto.tensor_view<?x?xf32>
              %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%size, %size]
                  : !pto.tensor_view<?x?xf32> -> {PART}
              {first}
              {body}
              return
            }}
            }}"""
        )
        spec = "convert-pto-to-ascend910b,insert-sync"
        passes = Universe.get_multiverse().all_passes
        PassPipeline.parse_spec(passes, spec).apply(context(), module)
        kernel = next(op for op in module.walk() if isinstance(op, func.FuncOp))
        cores = CoreSettings(lenient=frozenset() if strict else frozenset(Check))
        machine = machine_for(module, strict=strict, cores=cores)
        tensor = machine.new_tensor(np.ones((16, 16), np.float32), element_of(f32))
        with running():
            return count_calls(lambda: run_kernel(machine, kernel, (Pointer.to(tensor),)))

    assert (count(40) - count(20)) / 20 <= 4 * calls_of_addi()
