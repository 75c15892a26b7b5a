"""
Generated kernels run to the same numbers at every level, from tensors down to bytes.

A program computes on a few matrices, columns and rows with elementwise ops, broadcasts in both
orders, reductions, expansions, loops that carry and exchange values, and branches; on parts of
matrices, of which some extents are known at run time only; and with elements read one by one. It
is run before and after each pass of the default pipeline: bit by bit the same. On the last levels,
tiles are bytes at addresses, and bytes that nobody wrote or that scratch spoiled are undefined, so
a memory plan that lets two live tiles overlap is found out.
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

import numpy as np
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.differential import compare_runs
from pypto_xdsl.interpreters.run import RunResult, run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

ROWS, COLUMNS = 16, 32
MATRIX, COLUMN, ROW = (ROWS, COLUMNS), (ROWS, 1), (1, COLUMNS)
SHAPES = (MATRIX, COLUMN, ROW)
UNARY = ("abs", "neg")
BINARY = ("add", "sub", "mul", "maximum", "minimum")
SCALAR = ("adds", "subs", "muls", "maximums", "minimums")


DTYPES: dict[str, type[np.generic]] = {
    "f32": np.float32,
    "f16": np.float16,
    "i32": np.int32,
    "i16": np.int16,
}
"""All elements of a program are of one type."""


CASTS = {
    "f32": ("f16", "bf16", "i32", "i16"),
    "f16": ("f32", "i8", "ui8"),
    "i32": ("f32",),
    "i16": ("f32", "f16"),
}
"""Types that one instruction converts to and back from."""


@dataclass
class Writer(DrawnProgram):
    """A kernel's body while it is drawn."""

    dtype: str

    def tensor(self, shape: tuple[int, int]) -> str:
        return f"tensor<{shape[0]}x{shape[1]}x{self.dtype}>"

    def change(self, source: str, shape: tuple[int, int]) -> str:
        """An op on one tensor."""
        # Of integers there are few on the vector unit.
        if self.dtype.startswith("i"):
            return f"ptensor.adds {source}, %half : {self.tensor(shape)}, {self.dtype}"
        return f"ptensor.{self.draw(st.sampled_from(UNARY))} {source} : {self.tensor(shape)}"

    def pick(self, values: dict[str, tuple[int, int]], shape: tuple[int, int]) -> str:
        return self.draw(st.sampled_from([n for n, s in values.items() if s == shape]))

    def statement(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        kinds = ["unary", "binary", "scalar", "broadcast", "both", "reduce", "expand", "part"]
        kinds += ["cast", "gather", "valid", "element"]
        if depth < 4:
            kinds += ["loop", "swap", "branch"]
        getattr(self, f"_{self.draw(st.sampled_from(kinds))}")(values, depth)

    def block(self, values: dict[str, tuple[int, int]], depth: int, most: int) -> None:
        for _ in range(self.draw(st.integers(1, most))):
            self.statement(values, depth)

    def _unary(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        shape = self.draw(st.sampled_from(SHAPES))
        source, result = self.pick(values, shape), self.name()
        self.put(depth, f"{result} = {self.change(source, shape)}")
        values[result] = shape

    def _binary(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        shape = self.draw(st.sampled_from(SHAPES))
        left, right, result = self.pick(values, shape), self.pick(values, shape), self.name()
        op = self.draw(st.sampled_from(BINARY))
        self.put(depth, f"{result} = ptensor.{op} {left}, {right} : {self.tensor(shape)}")
        values[result] = shape

    def _scalar(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        shape = self.draw(st.sampled_from(SHAPES))
        source, result = self.pick(values, shape), self.name()
        op = self.draw(st.sampled_from(SCALAR))
        types = f"{self.tensor(shape)}, {self.dtype}"
        self.put(depth, f"{result} = ptensor.{op} {source}, %half : {types}")
        values[result] = shape

    def _broadcast(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        narrow = self.draw(st.sampled_from((COLUMN, ROW)))
        operands = [(self.pick(values, MATRIX), MATRIX), (self.pick(values, narrow), narrow)]
        if self.draw(st.booleans()):
            operands.reverse()
        op, result = self.draw(st.sampled_from(BINARY)), self.name()
        (left, left_shape), (right, right_shape) = operands
        types = f"{self.tensor(left_shape)}, {self.tensor(right_shape)} -> {self.tensor(MATRIX)}"
        self.put(depth, f"{result} = ptensor.{op} {left}, {right} : {types}")
        values[result] = MATRIX

    def _both(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """A column and a row, of which both stretch."""
        left, right, result = self.pick(values, COLUMN), self.pick(values, ROW), self.name()
        op = self.draw(st.sampled_from(BINARY))
        types = f"{self.tensor(COLUMN)}, {self.tensor(ROW)} -> {self.tensor(MATRIX)}"
        self.put(depth, f"{result} = ptensor.{op} {left}, {right} : {types}")
        values[result] = MATRIX

    def _reduce(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        source, result = self.pick(values, MATRIX), self.name()
        axis = self.draw(st.sampled_from(("row", "col")))
        op = self.draw(st.sampled_from(("max", "min", "sum")))
        shape = COLUMN if axis == "row" else ROW
        types = f"{self.tensor(MATRIX)} -> {self.tensor(shape)}"
        self.put(depth, f"{result} = ptensor.{axis}_{op} {source} : {types}")
        values[result] = shape

    def _expand(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        axis = self.draw(st.sampled_from(("row", "col")))
        shape = COLUMN if axis == "row" else ROW
        target, vector, result = self.pick(values, MATRIX), self.pick(values, shape), self.name()
        op = self.draw(st.sampled_from(("", "_add", "_sub", "_mul", "_max")))
        types = f"{self.tensor(MATRIX)}, {self.tensor(shape)}"
        self.put(depth, f"{result} = ptensor.{axis}_expand{op} {target}, {vector} : {types}")
        values[result] = MATRIX

    def _part(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """Rows or columns of one matrix, put into a copy of another one."""
        source, target, result = self.pick(values, MATRIX), self.pick(values, MATRIX), self.name()
        part, changed, copy = self.name(), self.name(), self.name()
        rows = self.draw(st.booleans())
        shape = (ROWS // 2, COLUMNS) if rows else (ROWS, COLUMNS // 2)
        places = ("0", "2", "8", "%c1", "%c3", "%n") if rows else ("0", "8", "16")
        there, here = self.draw(st.sampled_from(places)), self.draw(st.sampled_from(places))
        there, here = (f"{p}, 0" if rows else f"0, {p}" for p in (there, here))
        half, whole = self.tensor(shape), self.tensor(MATRIX)
        self.put(depth, f"{part} = ptensor.slice {source}[{there}] : {whole} -> {half}")
        if self.draw(st.booleans()):
            self.put(depth, f"{changed} = {self.change(part, shape)}")
        else:
            changed = part
        # What is put into a tensor changes it for all who name it: this one has no other name.
        self.put(depth, f"{copy} = {self.change(target, MATRIX)}")
        self.put(
            depth,
            f"{result} = ptensor.assemble {changed}, {copy}[{here}] : {half}, {whole}",
        )
        values[result] = MATRIX

    def _cast(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """To another element type and back."""
        other = self.draw(st.sampled_from(CASTS[self.dtype]))
        # A column of bytes fills no block.
        shape = self.draw(st.sampled_from((MATRIX, ROW) if other.endswith("i8") else SHAPES))
        source, result, between = self.pick(values, shape), self.name(), self.name()
        there = f"tensor<{shape[0]}x{shape[1]}x{other}>"
        types = f"{self.tensor(shape)} -> {there}"
        self.put(depth, f"{between} = ptensor.cast {source}, target_type = {other} : {types}")
        types = f"{there} -> {self.tensor(shape)}"
        self.put(depth, f"{result} = ptensor.cast {between}, target_type = {self.dtype} : {types}")
        values[result] = shape

    def _gather(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """Elements of each row by their columns."""
        source, result = self.pick(values, MATRIX), self.name()
        whole = self.tensor(MATRIX)
        types = f"{whole}, tensor<{ROWS}x{COLUMNS}xi32> -> {whole}"
        if self.dtype in ("f32", "i32"):
            self.put(depth, f"{result} = ptensor.gather {source}, %places : {types}")
        else:
            self.put(depth, f"{result} = {self.change(source, MATRIX)}")
        values[result] = MATRIX

    def _valid(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """Ops on a matrix of which a part is valid, some of it known at run time only."""
        source, whole, part = self.pick(values, MATRIX), self.name(), self.name()
        extents = [
            self.draw(st.sampled_from(choices))
            for choices in (("%late", "5", "11", "16"), ("%late", "1", "8", "20", "31"))
        ]
        valid = tuple("?" if extent.startswith("%") else extent for extent in extents)
        self.put(depth, f"{whole} = {self.change(source, MATRIX)}")
        type = self._partial(MATRIX, valid)
        given = ", ".join(extents)
        self.put(
            depth,
            f"{part} = ptensor.set_validshape {whole}, valid = [{given}] : "
            f"{self.tensor(MATRIX)} -> {type}",
        )
        shape = MATRIX
        for _ in range(self.draw(st.integers(1, 3))):
            changed = self.name()
            match self.draw(st.sampled_from(("scalar", "binary", "reduce"))):
                case "scalar":
                    op = self.draw(st.sampled_from(SCALAR))
                    self.put(
                        depth, f"{changed} = ptensor.{op} {part}, %half : {type}, {self.dtype}"
                    )
                case "binary":
                    op = self.draw(st.sampled_from(BINARY))
                    self.put(depth, f"{changed} = ptensor.{op} {part}, {part} : {type}")
                case _ if shape == MATRIX:
                    axis = self.draw(st.sampled_from(("row", "col")))
                    op = self.draw(st.sampled_from(("max", "min", "sum")))
                    shape = COLUMN if axis == "row" else ROW
                    valid = (valid[0], "1") if axis == "row" else ("1", valid[1])
                    reduced = self._partial(shape, valid)
                    self.put(depth, f"{changed} = ptensor.{axis}_{op} {part} : {type} -> {reduced}")
                    type = reduced
                case _:
                    self.put(
                        depth, f"{changed} = ptensor.muls {part}, %half : {type}, {self.dtype}"
                    )
            part = changed
        filled, result = self.name(), self.name()
        pad = self.draw(st.sampled_from(("zero", "min", "max")))
        plain = self.tensor(shape)
        padded = f"{plain[:-1]}, #ptensor.view<pad = {pad}>>"
        self.put(
            depth, f"{filled} = ptensor.fillpad {part}, pad_value = {pad} : {type} -> {padded}"
        )
        # No infinity is left.
        op = "minimums" if pad == "max" else "maximums"
        self.put(
            depth, f"{result} = ptensor.{op} {filled}, %half : {padded}, {self.dtype} -> {plain}"
        )
        values[result] = shape

    def _partial(self, shape: tuple[int, int], valid: tuple[str, ...]) -> str:
        if valid == tuple(map(str, shape)):
            return self.tensor(shape)
        return f"{self.tensor(shape)[:-1]}, #ptensor.view<valid = [{', '.join(valid)}]>>"

    def _element(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """An element of a part of a matrix, added to a matrix."""
        source, target = self.pick(values, MATRIX), self.pick(values, MATRIX)
        whole, part, element, result = (self.name() for _ in range(4))
        row, column = (self.draw(st.sampled_from(("0", "1", "7", "%c3"))) for _ in range(2))
        start = self.draw(st.sampled_from(("0", "8", "%n")))
        half = self.tensor((ROWS // 2, COLUMNS))
        self.put(depth, f"{whole} = {self.change(source, MATRIX)}")
        self.put(
            depth,
            f"{part} = ptensor.slice {whole}[{start}, 0] : {self.tensor(MATRIX)} -> {half}",
        )
        self.put(
            depth, f"{element} = ptensor.read {part}[{row}, {column}] : {half} -> {self.dtype}"
        )
        types = f"{self.tensor(MATRIX)}, {self.dtype}"
        self.put(depth, f"{result} = ptensor.adds {target}, {element} : {types}")
        values[result] = MATRIX

    def _loop(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        shape = self.draw(st.sampled_from(SHAPES))
        init, carried, result, step = (
            self.pick(values, shape),
            self.name(),
            self.name(),
            self.name(),
        )
        trips = self.draw(st.sampled_from(("%c0", "%c1", "%c3", "%n")))
        self.put(
            depth,
            f"{result} = scf.for {step} = %c0 to {trips} step %c1 iter_args({carried} = {init})"
            f" -> ({self.tensor(shape)}) {{",
        )
        inside = {**values, carried: shape}
        self.block(inside, depth + 1, 3)
        self.put(depth + 1, f"scf.yield {self.pick(inside, shape)} : {self.tensor(shape)}")
        self.put(depth, "}")
        values[result] = shape

    def _swap(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        """A loop that hands its carried values over in any order."""
        shape = self.draw(st.sampled_from(SHAPES))
        inits = [self.pick(values, shape) for _ in range(3)]
        carried = [self.name() for _ in range(3)]
        result, step = self.name(), self.name()
        starts = ", ".join(f"{c} = {i}" for c, i in zip(carried, inits, strict=True))
        types = ", ".join([self.tensor(shape)] * 3)
        self.put(
            depth,
            f"{result}:3 = scf.for {step} = %c0 to %n step %c1 iter_args({starts}) -> ({types}) {{",
        )
        inside = {**values, **dict.fromkeys(carried, shape)}
        self.block(inside, depth + 1, 2)
        pool = [*carried, *(n for n, s in inside.items() if s == shape)]
        yielded = [self.draw(st.sampled_from(pool)) for _ in range(3)]
        self.put(depth + 1, f"scf.yield {', '.join(yielded)} : {types}")
        self.put(depth, "}")
        for place in range(3):
            values[f"{result}#{place}"] = shape

    def _branch(self, values: dict[str, tuple[int, int]], depth: int) -> None:
        shape = self.draw(st.sampled_from(SHAPES))
        result = self.name()
        self.put(depth, f"{result} = scf.if %few -> ({self.tensor(shape)}) {{")
        for end in ("} else {", "}"):
            inside = dict(values)
            if self.draw(st.booleans()):
                self.block(inside, depth + 1, 3)
            self.put(depth + 1, f"scf.yield {self.pick(inside, shape)} : {self.tensor(shape)}")
            self.put(depth, end)
        values[result] = shape


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str]:
    """The element type of a program of one kernel that returns one or two results, and its text."""
    writer = Writer(draw, draw(st.sampled_from(tuple(DTYPES))))
    values = {"%x": MATRIX, "%y": MATRIX, "%c": COLUMN, "%r": ROW}
    given = list(values.items())
    writer.block(values, 2, 8)
    results = [draw(st.sampled_from(list(values))) for _ in range(draw(st.integers(1, 2)))]
    # A parameter is no result of its own.
    returned: list[tuple[str, tuple[int, int]]] = []
    for value in results:
        fresh = writer.name()
        types = f"{writer.tensor(values[value])}, {writer.dtype}"
        writer.put(2, f"{fresh} = ptensor.muls {value}, %half : {types}")
        returned.append((fresh, values[value]))
    types = ", ".join(writer.tensor(shape) for _, shape in returned)
    names = ", ".join(name for name, _ in returned)
    parameters = ", ".join(f"in {name} : {writer.tensor(shape)}" for name, shape in given)
    many = f"%o:{len(returned)}" if len(returned) > 1 else "%o"
    outs = ", ".join(f"%o#{place}" for place in range(len(returned)))
    half = "2" if writer.dtype.startswith("i") else "0.5"
    text = "\n".join(
        [
            f"orch.func orchestration @main({parameters}, "
            f"in %places : tensor<{ROWS}x{COLUMNS}xi32>, in %n : index) -> ({types}) {{",
            f'  {many} = orch.incore "kernel" -> ({types}) {{',
            f"    %half = arith.constant {half} : {writer.dtype}",
            *(f"    %c{k} = arith.constant {k} : index" for k in (0, 1, 3)),
            "    %few = arith.cmpi slt, %n, %c3 : index",
            "    %late = arith.addi %n, %c3 : index",
            *writer.lines,
            f"    orch.yield {names} : {types}",
            "  }",
            f"  orch.return {outs if len(returned) > 1 else '%o'} : {types}",
            "}",
        ]
    )
    return writer.dtype, text


def arguments(dtype: str, trips: int) -> list[Argument]:
    rng = np.random.default_rng(7)
    shapes = (MATRIX, MATRIX, COLUMN, ROW)
    if dtype.startswith("i"):
        tensors = [rng.integers(-50, 50, shape) for shape in shapes]
    else:
        tensors = [rng.standard_normal(shape) for shape in shapes]
    places = rng.integers(0, COLUMNS, MATRIX).astype(np.int32)
    return [*(array.astype(DTYPES[dtype]) for array in tensors), places, trips]


def references(module: ModuleOp, dtype: str) -> dict[int, RunResult]:
    """What a program computes, by the number of trips."""
    try:
        return {trips: run(module, "main", arguments(dtype, trips)) for trips in (0, 4)}
    except DiagnosticsError as e:
        # It reads one that is out of the range of a conversion, say.
        assume("an undefined element" not in str(e))
        raise


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(programs())
def test_every_level_runs_to_the_same_numbers(program: tuple[str, str]) -> None:
    dtype, text = program
    ctx = context()
    module = parse_module(ctx, text, "generated.mlir")
    wanted = references(module, dtype)
    spec = expand_pipelines("default-pipeline")
    for one in PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).passes:
        one.apply(ctx, module)
        module.verify()
        for trips, reference in wanted.items():
            got = run(module, "main", arguments(dtype, trips))
            assert compare_runs(got, reference) is None, f"{one.name}, {trips} trips:\n{text}"
    output = StringIO()
    Universe.get_multiverse().all_targets["pto"]()().emit(ctx, module, output)
    assert "pto.tstore" in output.getvalue()
