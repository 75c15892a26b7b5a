"""
What it costs to run a program instead of calling numpy, side by side in one run.

    python tools/benchmark_interpreters.py [--rounds 7] [--repeat 500] [--level tile]...

Measures `add`, `exp`, `row_sum` and `matmul` on tiles (`tile`), and on a core of the 910B
(`machine`), strict and with all checks only warning (lenient), against plain numpy:

* On 128x128, again and again inside a kernel, on tiles that stay where they are: on a core in a
  straight line, since a loop that does nothing else is not looked at each turn. What an op takes
  beyond numpy's call is its overhead, in units of what xDSL's own interpreter takes for an
  `arith.addi`.
* On 2,048x1,024 (times 1,024x1,024), by tiles that fit the memories. The first ratio is to numpy
  doing the same: the same loop over the same blocks, copied in and out. The second is to numpy's
  call on the whole arrays.

Times are CPU time, medians of rounds in which all take turns, with one thread for products: the
ratios hold on a busy machine too.
"""

# ruff: noqa: E402 (numpy must find the number of threads when it is imported)

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

import numpy as np
import numpy.typing as npt
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.interpreter import Interpreter
from xdsl.interpreters import register_implementations
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.dialects.pto import PtrType
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.elements import element_of
from pypto_xdsl.interpreters.orch import call
from pypto_xdsl.interpreters.pto import run_kernel
from pypto_xdsl.interpreters.pto.globals import Pointer
from pypto_xdsl.interpreters.run import machine_for, running
from pypto_xdsl.syntax.parser import parse_module

Array: TypeAlias = npt.NDArray[np.float32]
Run: TypeAlias = Callable[[], object]

N = 128
ROWS, COLUMNS, DEPTH = 2048, 1024, 1024
LEVELS = ("tile", "lenient", "strict")


# Programs.


def vec(rows: int, columns: int = COLUMNS) -> str:
    """A tile of the vector core."""
    column = ", blayout=col_major" if columns == 1 else ""
    return f"!pto.tile_buf<vec, {rows}x{columns}xf32{column}>"


def part(rows: int, columns: int) -> str:
    """A window of global memory."""
    return f"!pto.partition_tensor_view<{rows}x{columns}xf32>"


def view(name: str, rows: int, columns: int) -> str:
    """The array that a pointer points to."""
    shape, strides = f"[%c{rows}, %c{columns}]", f"[%c{columns}, %c1]"
    return f"%{name}v = pto.make_tensor_view %{name}, shape = {shape}, strides = {strides} : {VIEW}"


L1 = f"!pto.tile_buf<mat, {N}x{N}xf32, blayout=col_major, slayout=row_major>"
L0A = f"!pto.tile_buf<left, {N}x{N}xf32, slayout=row_major>"
L0B = f"!pto.tile_buf<right, {N}x{N}xf32, slayout=col_major>"
L0C = f"!pto.tile_buf<acc, {N}x{N}xf32, blayout=col_major, slayout=row_major, fractal=1024>"
VIEW = "!pto.tensor_view<?x?xf32>"


def vector_op(name: str, rows: int, columns: int) -> str:
    """An instruction on tiles `%a`, `%t` for scratch, `%s` for a column."""
    t = vec(rows, columns)
    return {
        "nothing": "",
        "add": f"pto.tadd ins(%a, %a : {t}, {t}) outs(%c : {t})",
        "exp": f"pto.texp ins(%a : {t}) outs(%c : {t})",
        "row_sum": f"pto.trowsum ins(%a, %t : {t}, {t}) outs(%c : {vec(rows, 1)})",
    }[name]


def machine_text(parameters: str, body: str) -> str:
    """A kernel of the `pto` dialect."""
    constants = "\n".join(
        f"%c{value} = arith.constant {value} : index" for value in (0, 1, 16, 32, N, 1024, 2048)
    )
    addresses = "\n".join(
        f"%k{value} = arith.constant {value} : i64" for value in (0, 65536, 131072)
    )
    return f"""module attributes {{pto.target_arch = "a2a3"}} {{
func.func @kernel({parameters}) {{
{constants}
{addresses}
{body}
return
}}
}}"""


def small_machine_program(name: str, count: int) -> str:
    """An op again and again, on a core."""
    loaded = f"""
%xv = pto.make_tensor_view %x, shape = [%c{N}, %c{N}], strides = [%c{N}, %c1] : {VIEW}
%xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c{N}, %c{N}] : {VIEW} -> {part(N, N)}
"""
    if name == "matmul":
        loaded += f"""
%m = pto.alloc_tile addr = %k0 : {L1}
%l = pto.alloc_tile addr = %k0 : {L0A}
%r = pto.alloc_tile addr = %k0 : {L0B}
%c = pto.alloc_tile addr = %k0 : {L0C}
pto.tload ins(%xp : {part(N, N)}) outs(%m : {L1})
pto.tmov ins(%m : {L1}) outs(%l : {L0A})
pto.tmov ins(%m : {L1}) outs(%r : {L0B})
"""
        op = f"pto.tmatmul ins(%l, %r : {L0A}, {L0B}) outs(%c : {L0C})"
    else:
        result = vec(N, 1) if name == "row_sum" else vec(N, N)
        loaded += f"""
%a = pto.alloc_tile addr = %k0 : {vec(N, N)}
%t = pto.alloc_tile addr = %k65536 : {vec(N, N)}
%c = pto.alloc_tile addr = %k{131072 if name == "row_sum" else 65536} : {result}
pto.tload ins(%xp : {part(N, N)}) outs(%a : {vec(N, N)})
"""
        op = vector_op(name, N, N)
    return machine_text("%x: !pto.ptr<f32>", loaded + f"{op}\n" * count)


def block_rows(name: str) -> int:
    """The rows of the blocks of a large array, which are as wide as it is."""
    return 16 if name == "row_sum" else 32


def large_machine_program(name: str) -> str:
    """A kernel that walks over large arrays by tiles that fit."""
    if name == "matmul":
        return large_machine_product()
    rows = block_rows(name)
    columns = 1 if name == "row_sum" else COLUMNS
    result = vec(rows, columns)
    body = f"""
%a = pto.alloc_tile addr = %k0 : {vec(rows)}
%t = pto.alloc_tile addr = %k65536 : {vec(16)}
%c = pto.alloc_tile addr = %k{131072 if name == "row_sum" else 0} : {result}
{view("x", ROWS, COLUMNS)}
{view("y", ROWS, columns)}
scf.for %i = %c0 to %c{ROWS} step %c{rows} {{
  %xp = pto.partition_view %xv, offsets = [%i, %c0], sizes = [%c{rows}, %c{COLUMNS}]
      : {VIEW} -> {part(rows, COLUMNS)}
  %yp = pto.partition_view %yv, offsets = [%i, %c0], sizes = [%c{rows}, %c{columns}]
      : {VIEW} -> {part(rows, columns)}
  pto.tload ins(%xp : {part(rows, COLUMNS)}) outs(%a : {vec(rows)})
  {vector_op(name, rows, COLUMNS)}
  pto.tstore ins(%c : {result}) outs(%yp : {part(rows, columns)})
}}
"""
    return machine_text("%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>", body)


def large_machine_product() -> str:
    """`z = x @ y` by blocks of 128x128."""

    def step(k: str, op: str) -> str:
        return f"""
    %xp{op} = pto.partition_view %xv, offsets = [%i, {k}], sizes = [%c{N}, %c{N}]
        : {VIEW} -> {part(N, N)}
    %yp{op} = pto.partition_view %yv, offsets = [{k}, %j], sizes = [%c{N}, %c{N}]
        : {VIEW} -> {part(N, N)}
    pto.tload ins(%xp{op} : {part(N, N)}) outs(%m : {L1})
    pto.tload ins(%yp{op} : {part(N, N)}) outs(%o : {L1})
    pto.tmov ins(%m : {L1}) outs(%l : {L0A})
    pto.tmov ins(%o : {L1}) outs(%r : {L0B})
"""

    body = f"""
%m = pto.alloc_tile addr = %k0 : {L1}
%o = pto.alloc_tile addr = %k65536 : {L1}
%l = pto.alloc_tile addr = %k0 : {L0A}
%r = pto.alloc_tile addr = %k0 : {L0B}
%c = pto.alloc_tile addr = %k0 : {L0C}
{view("x", ROWS, DEPTH)}
{view("y", DEPTH, COLUMNS)}
{view("z", ROWS, COLUMNS)}
scf.for %i = %c0 to %c{ROWS} step %c{N} {{
  scf.for %j = %c0 to %c{COLUMNS} step %c{N} {{
    {step("%c0", "0")}
    pto.tmatmul ins(%l, %r : {L0A}, {L0B}) outs(%c : {L0C})
    scf.for %k = %c{N} to %c{DEPTH} step %c{N} {{
      {step("%k", "1")}
      pto.tmatmul.acc ins(%c, %l, %r : {L0C}, {L0A}, {L0B}) outs(%c : {L0C})
    }}
    %zp = pto.partition_view %zv, offsets = [%i, %j], sizes = [%c{N}, %c{N}]
        : {VIEW} -> {part(N, N)}
    pto.tstore ins(%c : {L0C}) outs(%zp : {part(N, N)})
  }}
}}
"""
    return machine_text("%x: !pto.ptr<f32>, %y: !pto.ptr<f32>, %z: !pto.ptr<f32>", body)


def tile_op(name: str, rows: int, columns: int) -> str:
    """An op on a tile `%a`, with scratch `%t`; its result is `%c`."""
    t = f"!tile.tile<{rows}x{columns}xf32>"
    return {
        "nothing": "",
        "add": f"%c = tile.add %a, %a : {t}",
        "exp": f"%c = tile.exp %a : {t}",
        "row_sum": f"%c = tile.row_sum %a, %t : {t}, {t} -> !tile.tile<{rows}x1xf32>",
        "matmul": f"%c = tile.matmul %a, %a : {t}",
    }[name]


def tile_text(parameters: str, body: str) -> str:
    """A function on tiles."""
    constants = "\n".join(
        f"%c{value} = arith.constant {value} : index" for value in (0, 1, 16, 32, N, 1024, 2048)
    )
    return f"orch.func incore @kernel({parameters}) {{\n{constants}\n{body}\norch.return\n}}"


def small_tile_program(name: str, count: int) -> str:
    """An op again and again, on a tile."""
    t, x = f"!tile.tile<{N}x{N}xf32>", f"tensor<{N}x{N}xf32>"
    return tile_text(
        f"in %x : {x}",
        f"%a = tile.load %x[0, 0] : {x} -> {t}\n%t = tile.create : {t}\n"
        f"%n = arith.constant {count} : index\n"
        f"scf.for %i = %c0 to %n step %c1 {{\n{tile_op(name, N, N)}\n}}",
    )


def large_tile_program(name: str) -> str:
    """A function that walks over large arrays by tiles."""
    x, y = f"tensor<{ROWS}x{COLUMNS}xf32>", f"tensor<{DEPTH}x{COLUMNS}xf32>"
    if name == "matmul":
        t = f"!tile.tile<{N}x{N}xf32>"
        body = f"""
scf.for %i = %c0 to %c{ROWS} step %c{N} {{
  scf.for %j = %c0 to %c{COLUMNS} step %c{N} {{
    %l = tile.load %x[%i, 0] : {x} -> {t}
    %r = tile.load %y[0, %j] : {y} -> {t}
    %p = tile.matmul %l, %r : {t}
    %q = scf.for %k = %c{N} to %c{DEPTH} step %c{N} iter_args(%acc = %p) -> ({t}) {{
      %m = tile.load %x[%i, %k] : {x} -> {t}
      %o = tile.load %y[%k, %j] : {y} -> {t}
      %s = tile.matmul_acc %acc, %m, %o : {t}
      scf.yield %s : {t}
    }}
    %z1 = tile.store %q, %z[%i, %j] : {t}, {x}
  }}
}}"""
        return tile_text(f"in %x : {x}, in %y : {y}, out %z : {x}", body)
    rows = block_rows(name)
    columns = 1 if name == "row_sum" else COLUMNS
    t, result = f"!tile.tile<{rows}x{COLUMNS}xf32>", f"!tile.tile<{rows}x{columns}xf32>"
    out = f"tensor<{ROWS}x{columns}xf32>"
    body = f"""
%t = tile.create : {t}
scf.for %i = %c0 to %c{ROWS} step %c{rows} {{
  %a = tile.load %x[%i, 0] : {x} -> {t}
  {tile_op(name, rows, COLUMNS)}
  %y1 = tile.store %c, %y[%i, 0] : {result}, {out}
}}"""
    return tile_text(f"in %x : {x}, out %y : {out}", body)


# Plain numpy.

SMALL_NUMPY: Mapping[str, Callable[[Array, Array], object]] = {
    "nothing": lambda x, out: None,
    "add": lambda x, out: np.add(x, x, out=out),
    "exp": lambda x, out: np.exp(x, out=out),
    "row_sum": lambda x, out: np.sum(x, axis=1, keepdims=True),
    "matmul": lambda x, out: np.matmul(x, x, out=out),
}

WHOLE_NUMPY: Mapping[str, Callable[[Array, Array, Array], object]] = {
    "add": lambda x, y, z: np.add(x, x, out=z),
    "exp": lambda x, y, z: np.exp(x, out=z),
    "row_sum": lambda x, y, z: np.sum(x, axis=1, keepdims=True, out=z[:, :1]),
    "matmul": lambda x, y, z: np.matmul(x, y, out=z),
}


def blocks_numpy(name: str, x: Array, y: Array, z: Array) -> None:
    """The loop over the same blocks, each copied in and its result copied out."""
    if name == "matmul":
        for i in range(0, ROWS, N):
            for j in range(0, COLUMNS, N):
                total = np.zeros((N, N), np.float32)
                for k in range(0, DEPTH, N):
                    total += x[i : i + N, k : k + N].copy() @ y[k : k + N, j : j + N].copy()
                z[i : i + N, j : j + N] = total
        return
    rows = block_rows(name)
    a, c = np.empty((rows, COLUMNS), np.float32), np.empty((rows, COLUMNS), np.float32)
    for i in range(0, ROWS, rows):
        np.copyto(a, x[i : i + rows])
        if name == "row_sum":
            z[i : i + rows, :1] = np.sum(a, axis=1, keepdims=True)
        else:
            SMALL_NUMPY[name](a, c)
            z[i : i + rows] = c


# Measuring.


def make_module(text: str, passes: str = "") -> ModuleOp:
    """A program, changed by some passes."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    module = parse_module(ctx, text, "benchmark.mlir")
    if passes:
        PassPipeline.parse_spec(Universe.get_multiverse().all_passes, passes).apply(ctx, module)
    return module


def machine_run(text: str, arrays: tuple[Array, ...], *, strict: bool) -> Run:
    """Runs a `pto` kernel on a core."""
    module = make_module(text, "convert-pto-to-ascend910b,insert-sync")
    function = next(op for op in module.walk() if isinstance(op, func.FuncOp))
    type = function.body.block.args[0].type
    assert isinstance(type, PtrType)
    cores = CoreSettings(lenient=frozenset() if strict else frozenset(Check))
    machine = machine_for(module, strict=strict, cores=cores)
    element = element_of(type.element_type)
    values: list[Any] = [Pointer.to(machine.new_tensor(array, element)) for array in arrays]

    def run() -> None:
        with running():
            run_kernel(machine, function, tuple(values))

    return run


def tile_run(text: str, arrays: tuple[Array, ...]) -> Run:
    """Runs a function on tiles."""
    module = make_module(text)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    machine = machine_for(module)
    types: list[Any] = list(function.function_type.inputs.data)
    element = element_of(types[0].element_type)
    values: list[Any] = [machine.new_tensor(array, element) for array in arrays]

    def run() -> None:
        with running():
            call(machine, function, tuple(values))

    return run


def addi_run(count: int) -> Run:
    """xDSL's interpreter on `arith.addi`s in a straight line."""
    lines = "\n".join(f"  %v{k + 1} = arith.addi %v{k}, %v{k} : i32" for k in range(count))
    module = make_module(f"func.func @f(%v0: i32) {{\n{lines}\n  func.return\n}}")
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    interpreter = Interpreter(module)
    register_implementations(interpreter, ctx)
    return lambda: interpreter.call_op("f", (IntegerAttr(0, i32),))


def medians(runs: Mapping[str, Run], rounds: int) -> dict[str, float]:
    """
    CPU time of each in microseconds: the median of rounds in which they take turns, each round
    from another on, since a run finds in the caches what the one before it left there.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    order = deque(runs)
    for turn in range(rounds + 1):
        order.rotate()
        for name in order:
            run = runs[name]
            start = time.process_time()
            run()
            if turn:  # The first only warms up.
                found[name].append(time.process_time() - start)
    return {name: statistics.median(times) * 1e6 for name, times in found.items()}


@dataclass(frozen=True)
class Options:
    """What is measured, and how often."""

    rounds: int
    repeat: int
    levels: tuple[str, ...]


def random(rows: int, columns: int) -> Array:
    """The same elements at each call."""
    return np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)


def repeated(call: Callable[[Array, Array], object], count: int, x: Array) -> Run:
    """Plain numpy in a loop."""
    out = np.empty_like(x)

    def run() -> None:
        for _ in range(count):
            call(x, out)

    return run


def measure_small(options: Options) -> None:
    """Overhead per op on 128x128."""
    count, x = options.repeat, random(N, N)
    heads = "".join(f" {level} us | in addi |" for level in options.levels)
    print(f"| op, {N}x{N} | numpy us |{heads}")
    print(f"|---|---|{'---|---|' * len(options.levels)}")
    empty: dict[str, float] = {}
    for name, plain in SMALL_NUMPY.items():
        runs: dict[str, Run] = {"addi": addi_run(count), "numpy": repeated(plain, count, x)}
        for level in options.levels:
            if level == "tile":
                runs[level] = tile_run(small_tile_program(name, count), (x.copy(),))
            else:
                text = small_machine_program(name, count)
                runs[level] = machine_run(text, (x.copy(),), strict=level == "strict")
        times = {key: value / count for key, value in medians(runs, options.rounds).items()}
        if name == "nothing":
            # What a run takes without it: on tiles, with the loop around it.
            empty = {level: times[level] - times["numpy"] for level in options.levels}
            print(f"| arith.addi of xDSL | {times['addi']:.1f} |")
            continue
        line = f"| {name} | {times['numpy']:.1f} |"
        for level in options.levels:
            own = times[level] - empty[level]
            line += f" {own:.1f} | {(own - times['numpy']) / times['addi']:.2f} |"
        print(line)


def measure_large(options: Options) -> None:
    """Ratios on large arrays."""
    heads = "".join(f" {level} us | / blocks | / whole |" for level in options.levels)
    print(f"\n| op, {ROWS}x{COLUMNS} | numpy, blocks us | numpy, whole us |{heads}")
    print(f"|---|---|---|{'---|---|---|' * len(options.levels)}")
    for name, whole in WHOLE_NUMPY.items():
        x, y, z = (
            random(ROWS, COLUMNS),
            random(DEPTH, COLUMNS),
            np.empty((ROWS, COLUMNS), np.float32),
        )
        out = np.empty((ROWS, 1 if name == "row_sum" else COLUMNS), np.float32)
        arrays = (x, y, out) if name == "matmul" else (x, out)
        runs: dict[str, Run] = {
            "blocks": lambda name=name, x=x, y=y, z=z: blocks_numpy(name, x, y, z),
            "whole": lambda whole=whole, x=x, y=y, z=z: whole(x, y, z),
        }
        for level in options.levels:
            if level == "tile":
                runs[level] = tile_run(large_tile_program(name), arrays)
            else:
                text = large_machine_program(name)
                given = arrays if name == "matmul" else (*arrays, y)
                runs[level] = machine_run(text, given, strict=level == "strict")
        times = medians(runs, options.rounds)
        for level in options.levels:
            runs[level]()
            expected = z[:, : out.shape[1]]
            np.testing.assert_allclose(out, expected, rtol=1e-3, atol=1e-3)
        line = f"| {name} | {times['blocks']:.0f} | {times['whole']:.0f} |"
        for level in options.levels:
            own = times[level]
            line += f" {own:.0f} | {own / times['blocks']:.2f} | {own / times['whole']:.2f} |"
        print(line)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="Interpreters against numpy.")
    parser.add_argument("--rounds", type=int, default=7, help="how often each is measured")
    parser.add_argument("--repeat", type=int, default=500, help="ops a round, of small tiles")
    parser.add_argument("--level", choices=LEVELS, action="append", help="default: all")
    given = parser.parse_args()
    options = Options(given.rounds, given.repeat, tuple(given.level or LEVELS))
    measure_small(options)
    measure_large(options)


if __name__ == "__main__":
    main()
