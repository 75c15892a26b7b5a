"""What reading a program of the DSL costs, beside CPython's parser and xDSL's construction."""

from __future__ import annotations

import ast
import gc
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.frontend.pl import program_names, read_program, read_source
from pypto_xdsl.frontend.pl.discovery import choose, find_programs, reader_of
from pypto_xdsl.targets.pl.program import program_text

REPEATS = 3

_HEAD = """\
import pypto.language as pl
@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[16, 16], pl.FP32], i: pl.Scalar[pl.INDEX],
          o: pl.Out[pl.Tensor[[16, 16], pl.FP32]]) -> pl.Tensor[[16, 16], pl.FP32]:
        o = pl.store(pl.load(x, [0, 0], [16, 16]), [0, 0], o)
        return o
    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.Tensor[[16, 16], pl.FP32],
             n: pl.Scalar[pl.INDEX]) -> pl.Tensor[[16, 16], pl.FP32]:
"""


def calls_in_a_row(calls: int) -> str:
    """Orchestration of so many calls, each with an output of its own."""
    lines = [
        line
        for i in range(calls)
        for line in (
            f"        a{i} = pl.create_tensor([16, 16], dtype=pl.FP32)",
            f"        b{i} = self.k({f'b{i - 1}' if i else 'x'}, n + {i % 7}, a{i})",
        )
    ]
    return _HEAD + "\n".join([*lines, f"        return b{calls - 1}\n"])


def report_dsl(models: Sequence[str]) -> None:
    """
    Print a row for a generated orchestration of 5,000 calls and for each model, a file of pypto-lib
    with the name of a program behind a colon, where it holds several.

    `parse` is `ast.parse` of all files that are read, imports among them, `build` xDSL's
    construction of as many ops, with what they hold: operands, attributes, regions and blocks.
    """
    head = f"{'parse':>9}{'build':>9}{'read':>9}{'ratio':>7}{'write':>9}"
    print(f"{'ms of CPU':<38}{'lines':>7}{'ops':>7}{head}")
    report_text("5,000 calls", calls_in_a_row(5000).encode(), None)
    for model in models:
        path, _, program = model.partition(":")
        report_text(path, Path(path).read_bytes(), program or None)


def report_text(name: str, data: bytes, program: str | None) -> None:
    """Print the row of one file."""

    def read() -> ModuleOp:
        source = read_source(data, name)
        return read_program(source, choose(source, find_programs(source), program))

    module = read()
    texts = [data.decode(), *_imported(data, name, program)]
    parsing = _best(lambda: [ast.parse(text) for text in texts])
    building = _best(lambda: _built(module))
    ratio = (reading := _best(read)) / (parsing + building)
    writing = _best(lambda: program_text(module))
    cells = "".join(f"{seconds * 1e3:>9.1f}" for seconds in (parsing, building, reading))
    lines = sum(text.count("\n") for text in texts)
    ops = sum(1 for _ in walk(module))
    print(
        f"{name[-38:]:<38}{lines:>7}{ops:>7}{cells}{ratio:>7.2f}{writing * 1e3:>9.1f}", flush=True
    )


def _built(op: Operation) -> Operation:
    """An op of the kind of another, with as much in it, by nothing but xDSL."""
    made = type(op).create(
        operands=tuple(op.operands),
        result_types=op.result_types,
        properties=op.properties,
        attributes=op.attributes,
        regions=[
            Region(
                Block(arg_types=[argument.type for argument in block.args]) for block in r.blocks
            )
            for r in op.regions
        ],
    )
    for old, new in zip(op.regions, made.regions, strict=True):
        for source, target in zip(old.blocks, new.blocks, strict=True):
            for inner in source.ops:
                target.add_op(_built(inner))
    return made


def _imported(data: bytes, name: str, program: str | None) -> list[str]:
    """The texts of the files that a program imports."""
    source = read_source(data, name)
    assert program is None or program in program_names(source)
    reader = reader_of(source, choose(source, find_programs(source), program))
    reader.read()
    return [imported.text for imported in reader.scope.budget.sources.values()]


def _best(run: Callable[[], object]) -> float:
    """The least CPU seconds of several runs, with the collector as Python has it."""
    times: list[float] = []
    for _ in range(REPEATS):
        gc.collect()
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)
