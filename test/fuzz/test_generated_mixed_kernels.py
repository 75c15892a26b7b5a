"""
Generated kernels of cube and vector work compute the same whole and taken apart, on one vector core
and shared out over two, in any order of what the cores do.

A program multiplies, computes on matrices, rows and columns with elementwise ops, expansions and
reductions, and multiplies what comes of it again, in loops and branches too. A split that needs
what the other core has is refused, and nothing else is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.programs import context, program
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines

PASSES = expand_pipelines("default-pipeline,ascend910b-pipeline")
REFUSALS = (
    "the two vector cores share out",
    "so that the two vector cores can share out",
    "the two vector cores cannot pass parts of it",
)
"""Why a kernel cannot be split."""
SIZE = 32
MATRIX, ROW, COLUMN = "matrix", "row", "column"
TYPES = {
    MATRIX: f"tensor<{SIZE}x{SIZE}xf32>",
    ROW: f"tensor<1x{SIZE}xf32>",
    COLUMN: f"tensor<{SIZE}x1xf32>",
}


_BY_ROW, _BY_COLUMN = ("row", COLUMN), ("col", ROW)
_REDUCTIONS = {
    "none": (_BY_ROW, _BY_COLUMN),
    "up_down": (*(_BY_ROW,) * 9, _BY_COLUMN),
    "left_right": (*(_BY_COLUMN,) * 9, _BY_ROW),
}


@dataclass
class Writer(DrawnProgram):
    """A kernel's body while it is drawn."""

    split: str

    def let(self, depth: int, text: str) -> str:
        """A value: its name."""
        name = self.name()
        self.put(depth, f"{name} = {text}")
        return name

    def pick(self, values: dict[str, str], kind: str) -> str:
        return self.draw(st.sampled_from([name for name, k in values.items() if k == kind]))

    def statement(self, values: dict[str, str], depth: int) -> None:
        kinds = ["unary", "binary", "scalar", "expand", "reduce", "product", "loop", "branch"]
        columns = any(kind == COLUMN for kind in values.values())
        matrix = self.pick(values, MATRIX)
        m = TYPES[MATRIX]
        match self.draw(st.sampled_from(kinds if depth < 3 else kinds[:6])):
            case "unary":
                kind = self.draw(st.sampled_from(sorted(set(values.values()))))
                value = self.pick(values, kind)
                op = self.draw(st.sampled_from(("abs", "neg")))
                values[self.let(depth, f"ptensor.{op} {value} : {TYPES[kind]}")] = kind
            case "binary":
                kind = self.draw(st.sampled_from(sorted(set(values.values()))))
                lhs, rhs = self.pick(values, kind), self.pick(values, kind)
                op = self.draw(st.sampled_from(("add", "sub", "maximum", "minimum")))
                values[self.let(depth, f"ptensor.{op} {lhs}, {rhs} : {TYPES[kind]}")] = kind
            case "scalar":
                op = self.draw(st.sampled_from(("adds", "muls", "maximums")))
                made = self.let(depth, f"ptensor.{op} {matrix}, %half : {m}, f32")
                values[made] = MATRIX
            case "expand":
                row = self.draw(st.booleans()) or not columns
                kind, word = (ROW, "col") if row else (COLUMN, "row")
                vector = self.pick(values, kind)
                op = self.draw(st.sampled_from(("add", "sub")))
                text = f"ptensor.{word}_expand_{op} {matrix}, {vector} : {m}, {TYPES[kind]}"
                values[self.let(depth, text)] = MATRIX
            case "reduce":
                # Seldom along what is shared out, which is refused.
                word, kind = self.draw(st.sampled_from(_REDUCTIONS[self.split]))
                text = f"ptensor.{word}_max {matrix} : {m} -> {TYPES[kind]}"
                values[self.let(depth, text)] = kind
            case "product":
                values[self.product(self.few(matrix, depth), depth)] = MATRIX
            case "loop":
                self.loop(values, matrix, depth)
            case _:
                self.branch(values, matrix, depth)

    def few(self, matrix: str, depth: int) -> str:
        """A matrix as f16, of small numbers, so that products are exact."""
        m = TYPES[MATRIX]
        low = self.let(depth, f"ptensor.maximums {matrix}, %least : {m}, f32")
        both = self.let(depth, f"ptensor.minimums {low}, %most : {m}, f32")
        whole = f"ptensor.cast {both}, target_type = i32, mode = rint : {m} -> {m[:-4]}i32>"
        whole = self.let(depth, whole)
        back = f"ptensor.cast {whole}, target_type = f32 : {m[:-4]}i32> -> {m}"
        back = self.let(depth, back)
        half = f"ptensor.cast {back}, target_type = f16 : {m} -> {m[:-4]}f16>"
        return self.let(depth, half)

    def product(self, half: str, depth: int) -> str:
        h = f"{TYPES[MATRIX][:-4]}f16>"
        text = f"ptensor.matmul {half}, %b, out_dtype = f32 : {h}, {h} -> {TYPES[MATRIX]}"
        return self.let(depth, text)

    def loop(self, values: dict[str, str], start: str, depth: int) -> None:
        m = TYPES[MATRIX]
        self.count += 1
        name, index, carried = f"%v{self.count}", f"%i{self.count}", f"%carried{self.count}"
        self.lines.append(
            f"{'  ' * depth}{name} = scf.for {index} = %c0 to %c3 step %c1 "
            f"iter_args({carried} = {start}) -> ({m}) {{"
        )
        inner = {**values, carried: MATRIX}
        end = self.block(inner, depth + 1)
        self.lines.append(f"{'  ' * depth}  scf.yield {end} : {m}")
        self.lines.append(f"{'  ' * depth}}}")
        values[name] = MATRIX

    def branch(self, values: dict[str, str], other: str, depth: int) -> None:
        m = TYPES[MATRIX]
        self.count += 1
        name = f"%v{self.count}"
        condition = self.draw(st.sampled_from(("%yes", "%no")))
        self.lines.append(f"{'  ' * depth}{name} = scf.if {condition} -> ({m}) {{")
        end = self.block(dict(values), depth + 1)
        self.lines.append(f"{'  ' * depth}  scf.yield {end} : {m}")
        self.lines.append(f"{'  ' * depth}}} else {{")
        self.lines.append(f"{'  ' * depth}  scf.yield {other} : {m}")
        self.lines.append(f"{'  ' * depth}}}")
        values[name] = MATRIX

    def block(self, values: dict[str, str], depth: int) -> str:
        for _ in range(self.draw(st.integers(1, 3))):
            self.statement(values, depth)
        return [name for name, kind in values.items() if kind == MATRIX][-1]


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, str]:
    """A program, and how it is split."""
    split = draw(st.sampled_from(("none", "up_down", "left_right")))
    writer = Writer(draw, split)
    values = {"%p": MATRIX, "%c": MATRIX, "%r": ROW}
    for _ in range(draw(st.integers(1, 6))):
        writer.statement(values, 2)
    end = [name for name, kind in values.items() if kind == MATRIX][-1]
    m, h, r = TYPES[MATRIX], f"{TYPES[MATRIX][:-4]}f16>", TYPES[ROW]
    word = "" if split == "none" else f" split {split}"
    lines = "\n    ".join(writer.lines)
    parameters = (
        f"in %a : {h}, in %b : {h}, in %x : {m}, in %row : {r}, in %yes : i1, in %no : i1, "
        f"out %y : {m}, out %z : {r}"
    )
    text = f"""builtin.module {{
  orch.func orchestration @main({parameters}) -> ({m}, {r}) {{
    %w, %u = orch.incore{word} "kernel" -> ({m}, {r}) {{
    %half = arith.constant 0.5 : f32
    %least = arith.constant -4.0 : f32
    %most = arith.constant 4.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c = ptensor.muls %x, %half : {m}, f32
    %r = ptensor.muls %row, %half : {r}, f32
    %p = ptensor.matmul %a, %b, out_dtype = f32 : {h}, {h} -> {m}
    {lines}
    %end = ptensor.assemble {end}, %y[0, 0] : {m}
    %side = ptensor.assemble %r, %z[0, 0] : {r}
    orch.yield %end, %side : {m}, {r}
    }}
    orch.return %w, %u : {m}, {r}
  }}
}}"""
    return text, split


def lowered(text: str) -> ModuleOp | str:
    """The program on the cores of its groups, or why it is refused."""
    module = program(text)

    def check(*_: object) -> None:
        errors = verify(module)
        assert not errors, "\n".join(map(str, errors))

    passes = Universe.get_multiverse().all_passes
    try:
        PassPipeline.parse_spec(passes, PASSES, check).apply(context(), module)
    except DiagnosticsError as e:
        return str(e)
    check()
    return module


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(drawn=programs(), seed=st.integers(0, 1000))
def test_taken_apart(drawn: tuple[str, str], seed: int) -> None:
    text, split = drawn
    rng = np.random.default_rng(seed)
    a, b = (rng.integers(-1, 2, (SIZE, SIZE)).astype(np.float16) for _ in range(2))
    c = rng.integers(-2, 3, (SIZE, SIZE)).astype(np.float32)
    row = rng.integers(-2, 3, (1, SIZE)).astype(np.float32)
    given = [
        a,
        b,
        c,
        row,
        1,
        0,
        np.zeros((SIZE, SIZE), np.float32),
        np.zeros((1, SIZE), np.float32),
    ]
    whole = run(program(text), "main", given).results
    module = lowered(text)
    if isinstance(module, str):
        event(f"{split}: refused")
        assert split != "none", module
        assert any(reason in module for reason in REFUSALS), module
        return
    event(f"{split}: runs")
    for schedule in (None, seed):
        apart = run(module, "main", given, cores=CoreSettings(schedule)).results
        for wanted, got in zip(whole, apart, strict=True):
            np.testing.assert_array_equal(got, wanted)
