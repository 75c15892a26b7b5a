"""
What the tools cost, beside plain xDSL on the same text, in one run.

    python tools/benchmark.py [--sizes 1000,8000] [--pass NAME]... [--dsl PATH[:PROGRAM]]...

Prints what reading the Python DSL costs (`benchmark_dsl`), the start-up of the drivers, then, for
each program of `synthetic_programs`, the CPU time of reading, verifying and printing it and of
the passes it is made for, in microseconds per
operation at each size, with how much more the large size costs than the small one, what plain
xDSL needs to read the same text, and the peak of memory per operation. Times are the best of
several runs; trust the ratios.
"""

from __future__ import annotations

import argparse
import gc
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from io import StringIO
from pathlib import Path
from typing import TypeVar

from benchmark_dsl import report_dsl
from synthetic_programs import FOR_PASS, PROGRAMS
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass
from xdsl.printer import Printer
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PYPTO_UNIVERSE

_T = TypeVar("_T")
REPEATS = 3
START_UPS = 7


def make_context() -> Context:
    """A context that knows every dialect, as the drivers have it."""
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


def best(prepare: Callable[[], _T], run: Callable[[_T], object]) -> float:
    """The least CPU time in seconds that `run` took, of several runs on fresh input."""
    times: list[float] = []
    for _ in range(REPEATS):
        prepared = prepare()
        gc.collect()
        start = time.process_time()
        run(prepared)
        times.append(time.process_time() - start)
    return min(times)


def peak_bytes(run: Callable[[], object]) -> int:
    """The most memory that Python held on top of what it held before."""
    gc.collect()
    tracemalloc.start()
    kept = run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return peak


def measure(text: str, passes: Sequence[type[ModulePass]]) -> dict[str, float]:
    """CPU seconds for each step on a text."""
    ctx = make_context()
    plain = make_context()

    def parsed() -> ModuleOp:
        return parse_module(ctx, text, "benchmark.mlir")

    def plainly_parsed() -> ModuleOp:
        return Parser(plain, text, "benchmark.mlir").parse_module()

    def nothing() -> None:
        return None

    parsed()  # Loads the dialects, which is start-up.
    plainly_parsed()

    def printed(module: ModuleOp) -> None:
        Printer(StringIO()).print_op(module)

    def cost_of(pass_type: type[ModulePass]) -> float:
        return best(parsed, lambda module: pass_type().apply(ctx, module))

    found = {
        "xDSL parse": best(nothing, lambda _: plainly_parsed()),
        "parse": best(nothing, lambda _: parsed()),
        "xDSL verify": best(parsed, lambda module: module.verify()),
        "verify": best(parsed, verify),
        "print": best(parsed, printed),
    }
    multiverse = Universe.get_multiverse().all_passes
    for name in ("canonicalize", "cse"):
        found[f"xDSL {name}"] = cost_of(multiverse[name]())
    for pass_type in passes:
        found[pass_type.name] = cost_of(pass_type)
    return found


def start_up(command: Sequence[str]) -> float:
    """The least wall time in seconds of a command on an empty module."""
    times: list[float] = []
    for _ in range(START_UPS):
        start = time.perf_counter()
        subprocess.run(command, input=b"builtin.module {}", stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return min(times)


def report_start_up() -> None:
    """Print the start-up of both drivers, in milliseconds."""
    scripts = Path(sys.executable).parent
    plain = start_up([str(scripts / "xdsl-opt")])
    ours = start_up([str(scripts / "pypto-opt")])
    print(
        f"start-up: xdsl-opt {plain * 1e3:.0f} ms, pypto-opt {ours * 1e3:.0f} ms, "
        f"ratio {ours / plain:.2f}\n"
    )


def report(program: str, sizes: Sequence[int], passes: Sequence[type[ModulePass]]) -> None:
    """Print the table of one program."""
    texts = [PROGRAMS[program](size) for size in sizes]
    counts = [text.count("\n") for text in texts]
    columns = [measure(text, passes) for text in texts]
    ctx = make_context()
    print(f"{program}: {' and '.join(map(str, counts))} lines")
    header = "".join(f"{f'us/op at {size}':>18}" for size in sizes)
    print(f"  {'step':<32}{header}{'growth':>10}{'of xDSL parse':>16}")
    for step in columns[0]:
        each = [column[step] / size * 1e6 for column, size in zip(columns, sizes, strict=True)]
        growth = columns[-1][step] / columns[0][step] * sizes[0] / sizes[-1]
        share = columns[-1][step] / columns[-1]["xDSL parse"]
        cells = "".join(f"{value:>18.1f}" for value in each)
        print(f"  {step:<32}{cells}{growth:>10.2f}{share:>16.2f}")
    report_memory("parse", texts, sizes, lambda text: parse_module(ctx, text, "benchmark.mlir"))
    report_memory("xDSL parse", texts, sizes, lambda text: Parser(ctx, text).parse_module())
    print(flush=True)


def report_memory(
    step: str, texts: Sequence[str], sizes: Sequence[int], run: Callable[[str], object]
) -> None:
    """Print the peak of memory of a step, in bytes per operation at each size."""
    peaks = [peak_bytes(partial(run, text)) for text in texts]
    cells = "".join(f"{peak / size:>18.0f}" for peak, size in zip(peaks, sizes, strict=True))
    print(f"  {f'peak bytes/op, {step}':<32}{cells}")


def main() -> None:
    arguments = argparse.ArgumentParser(description="what the tools cost, beside plain xDSL")
    arguments.add_argument("--sizes", default="1000,8000", help="numbers of operations")
    arguments.add_argument("--pass", dest="passes", action="append", help="only these passes")
    arguments.add_argument(
        "--dsl", action="append", default=[], metavar="PATH[:PROGRAM]", help="a model in the DSL"
    )
    options = arguments.parse_args()
    report_dsl(options.dsl)
    print()
    sizes = [int(size) for size in options.sizes.split(",")]
    wanted = options.passes or sorted(set(FOR_PASS) & set(PYPTO_UNIVERSE.all_passes))
    report_start_up()
    for program in PROGRAMS:
        passes = [
            PYPTO_UNIVERSE.all_passes[name]()
            for name in wanted
            if FOR_PASS.get(name, "kernels") == program
        ]
        report(program, sizes, passes)


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    main()
