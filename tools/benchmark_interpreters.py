"""
What it costs to run a program instead of calling numpy, side by side in one run.

    python tools/benchmark_interpreters.py [--repeat 2000]

Each op runs in a loop inside a kernel, on tiles that stay where they are, at machine level (strict
and lenient); the same numpy calls run in a Python loop. `arith.addi` under xDSL's own interpreter
is the unit of overhead.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters import register_implementations
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.dialects.pto import PtrType
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import machine_for, running
from pypto_xdsl.syntax.parser import parse_module

N = 128
T = f"!pto.tile_buf<vec, {N}x{N}xf32>"
COLUMN = f"!pto.tile_buf<vec, {N}x1xf32, blayout=col_major>"
L1 = f"!pto.tile_buf<mat, {N}x{N}xf32, blayout=col_major, slayout=row_major>"
L0A = f"!pto.tile_buf<left, {N}x{N}xf32, slayout=row_major>"
L0B = f"!pto.tile_buf<right, {N}x{N}xf32, slayout=col_major>"
L0C = f"!pto.tile_buf<acc, {N}x{N}xf32, blayout=col_major, slayout=row_major, fractal=1024>"
V, P = "!pto.tensor_view<?x?xf32>", f"!pto.partition_tensor_view<{N}x{N}xf32>"

VECTOR = f"""
  %a = pto.alloc_tile addr = %k0 : {T}
  %b = pto.alloc_tile addr = %k0 : {T}
  %c = pto.alloc_tile addr = %k1 : {T}
  %s = pto.alloc_tile addr = %k2 : {COLUMN}
  pto.tload ins(%xp : {P}) outs(%a : {T})
"""
CUBE = f"""
  %m = pto.alloc_tile addr = %k0 : {L1}
  %l = pto.alloc_tile addr = %k0 : {L0A}
  %r = pto.alloc_tile addr = %k0 : {L0B}
  %c = pto.alloc_tile addr = %k0 : {L0C}
  pto.tload ins(%xp : {P}) outs(%m : {L1})
  pto.tmov ins(%m : {L1}) outs(%l : {L0A})
  pto.tmov ins(%m : {L1}) outs(%r : {L0B})
"""
OPS: dict[str, tuple[str, str, Callable[[Any, Any], Any]]] = {
    "nothing": (VECTOR, "", lambda x, out: None),
    "add": (
        VECTOR,
        f"pto.tadd ins(%a, %b : {T}, {T}) outs(%c : {T})",
        lambda x, out: np.add(x, x, out=out),
    ),
    "exp": (
        VECTOR,
        f"pto.texp ins(%a : {T}) outs(%c : {T})",
        lambda x, out: np.exp(x, out=out),
    ),
    "row_sum": (
        VECTOR,
        f"pto.trowsum ins(%a, %c : {T}, {T}) outs(%s : {COLUMN})",
        lambda x, out: np.sum(x, axis=1, keepdims=True, dtype=np.float64).astype(np.float32),
    ),
    "matmul": (
        CUBE,
        f"pto.tmatmul ins(%l, %r : {L0A}, {L0B}) outs(%c : {L0C})",
        lambda x, out: np.matmul(x, x, out=out),
    ),
}


def kernel(prologue: str, body: str) -> str:
    """A kernel that runs an op again and again."""
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<f32>, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant {N} : index
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 65536 : i64
  %k2 = arith.constant 131072 : i64
  %xv = pto.make_tensor_view %x, shape = [%size, %size], strides = [%size, %c1] : {V}
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%size, %size] : {V} -> {P}
  {prologue}
  scf.for %i = %c0 to %n step %c1 {{
    {body}
  }}
  return
}}
}}"""


ROWS, COLUMNS = 2048, 1024
LARGE: dict[str, tuple[str, str, int, Callable[[Any, Any], Any]]] = {
    "add": (OPS["add"][1], "%c", N, lambda x, out: np.add(x, x, out=out)),
    "exp": (OPS["exp"][1], "%c", N, lambda x, out: np.exp(x, out=out)),
}
"""The op, the tile that is stored, its columns, and plain numpy on the whole array."""


def large_kernel(body: str, stored: str) -> str:
    """A kernel that walks over a large array by tiles that fit."""
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant {N} : index
  %rows = arith.constant {ROWS} : index
  %columns = arith.constant {COLUMNS} : index
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 65536 : i64
  %a = pto.alloc_tile addr = %k0 : {T}
  %b = pto.alloc_tile addr = %k0 : {T}
  %c = pto.alloc_tile addr = %k1 : {T}
  %xv = pto.make_tensor_view %x, shape = [%rows, %columns], strides = [%columns, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%rows, %columns], strides = [%columns, %c1] : {V}
  scf.for %i = %c0 to %rows step %size {{
    scf.for %j = %c0 to %columns step %size {{
      %xp = pto.partition_view %xv, offsets = [%i, %j], sizes = [%size, %size] : {V} -> {P}
      %yp = pto.partition_view %yv, offsets = [%i, %j], sizes = [%size, %size] : {V} -> {P}
      pto.tload ins(%xp : {P}) outs(%a : {T})
      {body}
      pto.tstore ins({stored} : {T}) outs(%yp : {P})
    }}
  }}
  return
}}
}}"""


def _module(text: str) -> ModuleOp:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse_module(ctx, text, "benchmark.mlir")
    spec = "convert-pto-to-ascend910b,insert-sync"
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).apply(ctx, module)
    return module


def timed(run: Callable[[], object], count: int) -> float:
    """Microseconds a repetition, the median of five runs."""
    found: list[float] = []
    for _ in range(5):
        start = time.perf_counter()
        run()
        found.append((time.perf_counter() - start) / count * 1e6)
    return statistics.median(found)


def machine_run(module: ModuleOp, x: Any, count: int, *, strict: bool) -> Callable[[], None]:
    """Runs the kernel on a core."""
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    type = function.body.block.args[0].type
    assert isinstance(type, PtrType)

    def run() -> None:
        machine = machine_for(module, strict=strict)
        tensor = machine.new_tensor(x.copy(), element_of(type.element_type))
        with running():
            run_kernel(machine, function, (Pointer.to(tensor), IntegerAttr(count, IndexType())))

    return run


def addi(count: int) -> float:
    """Microseconds that xDSL's interpreter takes for an `arith.addi`, in a straight line."""
    lines = "\n".join(f"  %v{k + 1} = arith.addi %v{k}, %v{k} : i32" for k in range(count))
    text = f"func.func @f(%v0: i32) -> i32 {{\n{lines}\n  func.return %v{count} : i32\n}}"
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse_module(ctx, text, "addi.mlir")
    interpreter = Interpreter(module)
    register_implementations(interpreter, ctx)
    from xdsl.dialects.builtin import i32

    return timed(lambda: interpreter.call_op("f", (IntegerAttr(0, i32),)), count)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Interpreters against numpy.")
    parser.add_argument("--repeat", type=int, default=2000)
    count = parser.parse_args().repeat
    unit = addi(count)
    print(f"arith.addi under xDSL's interpreter: {unit:.2f} us")
    x = np.random.default_rng(0).standard_normal((N, N)).astype(np.float32)
    print("| op, 128x128 | numpy us | strict us | lenient us | overhead strict, in addi |")
    print("|---|---|---|---|---|")
    empty = {True: 0.0, False: 0.0}
    for name, (prologue, body, call) in OPS.items():
        out = np.empty_like(x)

        def plain(call: Callable[[Any, Any], Any] = call, out: Any = out) -> None:
            for _ in range(count):
                call(x, out)

        reference = timed(plain, count)
        module = _module(kernel(prologue, body))
        found = {
            strict: timed(machine_run(module, x, count, strict=strict), count) - empty[strict]
            for strict in (True, False)
        }
        if name == "nothing":
            empty = found
        overhead = (found[True] - reference) / unit
        print(
            f"| {name} | {reference:.1f} | {found[True]:.1f} | {found[False]:.1f} | "
            f"{overhead:.1f} |"
        )
    print(f"| op, {ROWS}x{COLUMNS} by tiles | numpy us | strict us | strict / numpy |")
    print("|---|---|---|---|")
    x = np.random.default_rng(0).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    for name, (body, stored, _, call) in LARGE.items():
        out = np.empty_like(x)
        reference = timed(lambda call=call, out=out: call(x, out), 1)
        found = timed(_large_run(_module(large_kernel(body, stored)), x), 1)
        print(f"| {name} | {reference:.0f} | {found:.0f} | {found / reference:.1f} |")


def _large_run(module: ModuleOp, x: Any) -> Callable[[], None]:
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    type = function.body.block.args[0].type
    assert isinstance(type, PtrType)
    element = element_of(type.element_type)
    machine = machine_for(module)
    pointers = tuple(Pointer.to(machine.new_tensor(x.copy(), element)) for _ in range(2))

    def run() -> None:
        with running():
            run_kernel(machine, function, pointers)

    return run


if __name__ == "__main__":
    main()
