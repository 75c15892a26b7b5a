"""
Layout repair never changes what a kernel computes, and leaves nothing to repair.

Kernels compute on matrices stored by rows and by columns, and on columns, with constrained ops of
every family, in loops and branches; each is run before and after.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.programs import program

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.backend.ascend910b import BACKEND
from pypto_xdsl.interpreters.differential import assert_same_run
from pypto_xdsl.properties.backend_layouts_satisfied import PROPERTY
from pypto_xdsl.transforms.resolve_backend_op_layouts import resolve_layouts

KINDS = {
    "column": "!tile.tile<16x1xf32, vec{valid}>",
    "by_rows": "!tile.tile<16x8xf32, vec{valid}>",
    "by_columns": "!tile.tile<16x8xf32, vec{valid}, blayout = col_major>",
}
SHAPES = {"column": "16x1", "by_rows": "16x8", "by_columns": "16x8"}
UNARY = ("abs", "relu", "exp", "neg")
BINARY = ("add", "sub", "mul", "maximum", "minimum", "part_add")
SCALAR = ("adds", "muls", "maximums", "minimums")
FORMS = ("unary", "binary", "mixed", "scalar", "select", "loop", "if")


@dataclass
class Kernel:
    """A body while it is drawn; `values` has a tile of each kind at least."""

    draw: st.DrawFn
    rows: int
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def type_of(self, kind: str) -> str:
        columns = 1 if kind == "column" else 8
        valid = "" if self.rows == 16 else f", valid = [{self.rows}, {columns}]"
        return KINDS[kind].format(valid=valid)

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def statements(self, values: dict[str, list[str]], depth: int, number: int) -> None:
        for _ in range(number):
            kind = self.draw(st.sampled_from(list(KINDS)))
            form = self.draw(st.sampled_from(FORMS))
            if form in ("loop", "if") and depth > 1:
                form = "unary"
            name, type = self.fresh(), self.type_of(kind)
            first, second = (self.draw(st.sampled_from(values[kind])) for _ in range(2))
            match form:
                case "unary":
                    self.lines.append(f"{name} = tile.{self.pick(UNARY)} {first} : {type}")
                case "scalar":
                    op = self.pick(SCALAR)
                    self.lines.append(f"{name} = tile.{op} {first}, %k : {type}, f32")
                case "mixed" if kind != "column":
                    other = "by_rows" if kind == "by_columns" else "by_columns"
                    second = self.draw(st.sampled_from(values[other]))
                    self.lines.append(
                        f"{name} = tile.{self.pick(BINARY)} {first}, {second} : "
                        f"{type}, {self.type_of(other)} -> {type}"
                    )
                case "select":
                    self.select(kind, name, first, second)
                case "loop":
                    carried, inner = self.fresh(), {k: list(v) for k, v in values.items()}
                    self.lines.append(
                        f"{name} = scf.for %i{self.count} = %zero to %two step %one "
                        f"iter_args({carried} = {first}) -> ({type}) {{"
                    )
                    inner[kind].append(carried)
                    self.statements(inner, depth + 1, 2)
                    self.lines.append(f"scf.yield {inner[kind][-1]} : {type}\n}}")
                case "if":
                    self.lines.append(f"{name} = scf.if %c -> ({type}) {{")
                    inner = {k: list(v) for k, v in values.items()}
                    self.statements(inner, depth + 1, 2)
                    self.lines.append(f"scf.yield {inner[kind][-1]} : {type}\n}} else {{")
                    self.lines.append(f"scf.yield {first} : {type}\n}}")
                case _:
                    self.lines.append(
                        f"{name} = tile.{self.pick(BINARY)} {first}, {second} : {type}"
                    )
            values[kind].append(name)

    def select(self, kind: str, name: str, first: str, second: str) -> None:
        """A comparison and a selection by it, with one scalar or none."""
        type, rows = self.type_of(kind), "" if self.rows == 16 else f"valid = [{self.rows}, 1]"
        mask = f"!tile.tile<16x32xui8, vec, {rows or 'valid = [16, 1]'}>"
        small = "!tile.tile<1x32xui8, vec>"
        self.lines.append(f"{name}t = tile.create : {small}")
        mode = self.draw(st.sampled_from(("lt", "ge", "ne")))
        if self.draw(st.booleans()):
            self.lines.append(
                f"{name}m = tile.cmps {first}, %k, cmp_type = {mode} : {type}, f32 -> {mask}"
            )
            self.lines.append(
                f"{name} = tile.sels {name}m, {second}, {name}t, %k : "
                f"{mask}, {type}, {small}, f32 -> {type}"
            )
        else:
            self.lines.append(
                f"{name}m = tile.cmp {first}, {second}, cmp_type = {mode} : {type} -> {mask}"
            )
            self.lines.append(
                f"{name} = tile.sel {name}m, {first}, {second}, {name}t : "
                f"{mask}, {type}, {type}, {small} -> {type}"
            )

    def pick(self, ops: tuple[str, ...]) -> str:
        return self.draw(st.sampled_from(ops))


@st.composite
def kernels(draw: st.DrawFn) -> str:
    kernel = Kernel(draw, draw(st.sampled_from((16, 5))))
    values = {kind: [f"%{kind}"] for kind in KINDS}
    for kind in KINDS:
        kernel.lines.append(
            f"%{kind} = tile.load %x_{kind}[0, 0] : tensor<{SHAPES[kind]}xf32> "
            f"-> {kernel.type_of(kind)}"
        )
    kernel.statements(values, 0, draw(st.integers(1, 6)))
    for kind in KINDS:
        kernel.lines.append(
            f"%s_{kind} = tile.store {values[kind][-1]}, %y_{kind}[0, 0] : "
            f"{kernel.type_of(kind)}, tensor<{SHAPES[kind]}xf32>"
        )
    parameters = [
        *(f"in %x_{kind} : tensor<{shape}xf32>" for kind, shape in SHAPES.items()),
        *(f"inout %y_{kind} : tensor<{shape}xf32>" for kind, shape in SHAPES.items()),
        "in %k : f32",
        "in %c : i1",
    ]
    constants = "\n".join(
        f"%{name} = arith.constant {number} : index"
        for name, number in (("zero", 0), ("one", 1), ("two", 2))
    )
    body = "\n".join((constants, *kernel.lines))
    return (
        'builtin.module attributes {pto.target_arch = "a2a3"} {\n'
        f"orch.func incore @kernel({', '.join(parameters)}) {{\n{body}\norch.return\n}}\n}}"
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(text=kernels())
def test_repair_keeps_what_a_kernel_computes(text: str):
    before, after = program(text), program(text)
    resolve_layouts(after, BACKEND)
    assert not verify(after)
    assert not list(PROPERTY.verifier(after))
    assert_same_run(before, after, "kernel", seeds=range(2))
    again = after.clone()
    resolve_layouts(again, BACKEND)
    assert again.is_structurally_equivalent(after)
