"""
Generated programs with scopes keep their numbers when the scopes are outlined.

A program has a few tensors. Scopes of all kinds, in loops, branches and each other, load windows
of some and store to others, also atomically, through windows, in loops and branches of their own.
A scope may yield the next name of what it writes, or say nothing of it; it may yield scalars. The
program is run on numpy before and after, and what each function reads and writes of its
parameters while it runs is compared with the directions that it declares.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.programs import context, program
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.interpreters.accesses import AccessRecorder
from pypto_xdsl.interpreters.differential import assert_same_run
from pypto_xdsl.interpreters.run import random_arguments, run
from pypto_xdsl.transforms.outline_cluster_scopes import OutlineClusterScopesPass
from pypto_xdsl.transforms.outline_hierarchy_scopes import OutlineHierarchyScopesPass
from pypto_xdsl.transforms.outline_incore_scopes import OutlineIncoreScopesPass

T = "tensor<4x16xf32>"
ROW = "tensor<1x16xf32>"
TILE = "!tile.tile<1x16xf32>"
VARIABLES = ("a", "b", "c")
PASSES = (OutlineHierarchyScopesPass, OutlineIncoreScopesPass, OutlineClusterScopesPass)


@dataclass
class Writer(DrawnProgram):
    """A program while it is drawn."""

    hierarchy: bool

    def chance(self) -> bool:
        return self.draw(st.booleans())

    def row(self, rows: list[str]) -> str:
        """A row to access: constant, or one of the values that count rows."""
        return self.draw(st.sampled_from(["0", "1", "2", "3", *rows]))

    # Inside kernels.

    def work(self, depth: int, names: dict[str, str], rows: list[str]) -> None:
        """Load, compute and store; the new name goes into `names` or nowhere."""
        target = self.draw(st.sampled_from(VARIABLES))
        tile = self.name("t")
        if self.chance():
            source = names[self.draw(st.sampled_from(VARIABLES))]
            self.put(depth, f"{tile} = tile.load {source}[{self.row(rows)}, 0] : {T} -> {TILE}")
        else:
            self.put(depth, f"{tile} = tile.full %half : f32 -> {TILE}")
        out = self.name("o")
        row = self.row(rows)
        match self.draw(st.sampled_from(["store", "atomic", "window", "cast", "assemble"])):
            case "store":
                self.put(
                    depth, f"{out} = tile.store {tile}, {names[target]}[{row}, 0] : {TILE}, {T}"
                )
            case "atomic":
                self.put(
                    depth,
                    f"{out} = tile.store {tile}, {names[target]}[{row}, 0], atomic = add : "
                    f"{TILE}, {T}",
                )
            case "window":
                view = self.name("w")
                self.put(depth, f"{view} = ptensor.slice {names[target]}[{row}, 0] : {T} -> {ROW}")
                self.put(depth, f"{out} = tile.store {tile}, {view}[0, 0] : {TILE}, {ROW}")
                return
            case "cast":
                view, back = self.name("w"), "tensor<?x16xf32>"
                self.put(depth, f"{view} = ptensor.type_cast {names[target]} : {T} -> {back}")
                self.put(depth, f"{out} = tile.store {tile}, {view}[{row}, 0] : {TILE}, {back}")
                return
            case _:
                source = names[self.draw(st.sampled_from(VARIABLES))]
                part = self.name("p")
                self.put(
                    depth, f"{part} = ptensor.slice {source}[{self.row(rows)}, 0] : {T} -> {ROW}"
                )
                copy = self.name("q")
                self.put(depth, f"{copy} = ptensor.add {part}, {part} : {ROW}")
                self.put(
                    depth,
                    f"{out} = ptensor.assemble {copy}, {names[target]}[{row}, 0] : {ROW}, {T}",
                )
        if self.chance():
            names[target] = out

    def kernel_body(self, depth: int, names: dict[str, str], rows: list[str], nest: int) -> None:
        for _ in range(self.draw(st.integers(1, 3))):
            kind = self.draw(st.sampled_from(["work", "work", "loop", "branch"]))
            if kind == "work" or nest == 0:
                self.work(depth, names, rows)
            elif kind == "loop":
                self.loop(depth, names, rows, nest, self.kernel_body)
            else:
                self.branch(depth, names, rows, nest, self.kernel_body)

    # Control flow, carrying some variables and not others.

    def carried(self) -> list[str]:
        return [v for v in VARIABLES if self.chance()]

    def loop(
        self, depth: int, names: dict[str, str], rows: list[str], nest: int, body: Any
    ) -> None:
        index, carried = self.name("i"), self.carried()
        inner = names | {v: self.name("c") for v in carried}
        types = ", ".join([T] * len(carried))
        inits = ", ".join(f"{inner[v]} = {names[v]}" for v in carried)
        results = [self.name("r") for _ in carried]
        left = f"{', '.join(results)} = " if carried else ""
        clause = f" iter_args({inits}) -> ({types})" if carried else ""
        trips = self.draw(st.sampled_from(["%one", "%two", "%n"]))
        if self.chance() and carried:
            # A while loop that counts.
            more, now, later = self.name("m"), self.name("k"), self.name("k")
            count = self.name("k")
            after = {v: self.name("d") for v in carried}
            self.put(
                depth,
                f"{count}, {', '.join(results)} = scf.while ({now} = %zero, {inits}) : "
                f"(index, {types}) -> (index, {types}) {{",
            )
            self.put(depth + 1, f"{more} = arith.cmpi slt, {now}, {trips} : index")
            handed = ", ".join(inner[v] for v in carried)
            self.put(depth + 1, f"scf.condition({more}) {now}, {handed} : index, {types}")
            self.put(depth, "} do {")
            arguments = ", ".join(f"{after[v]} : {T}" for v in carried)
            self.put(depth, f"^bb0({index} : index, {arguments}):")
            inner = names | after
            body(depth + 1, inner, [*rows, index], nest - 1)
            self.put(depth + 1, f"{later} = arith.addi {index}, %one : index")
            yielded = ", ".join(inner[v] for v in carried)
            self.put(depth + 1, f"scf.yield {later}, {yielded} : index, {types}")
        else:
            self.put(depth, f"{left}scf.for {index} = %zero to {trips} step %one{clause} {{")
            body(depth + 1, inner, [*rows, index], nest - 1)
            if carried:
                yielded = ", ".join(inner[v] for v in carried)
                self.put(depth + 1, f"scf.yield {yielded} : {types}")
        self.put(depth, "}")
        names.update(zip(carried, results, strict=True))

    def branch(
        self, depth: int, names: dict[str, str], rows: list[str], nest: int, body: Any
    ) -> None:
        carried = self.carried()
        types = ", ".join([T] * len(carried))
        results = [self.name("m") for _ in carried]
        left = f"{', '.join(results)} = " if carried else ""
        clause = f" -> ({types})" if carried else ""
        condition = self.draw(st.sampled_from(["%first", "%second"]))
        self.put(depth, f"{left}scf.if {condition}{clause} {{")
        arms = ["} else {", "}"] if carried or self.chance() else ["}"]
        for word in arms:
            inner = dict(names)
            body(depth + 1, inner, rows, nest - 1)
            if carried:
                yielded = ", ".join(inner[v] for v in carried)
                self.put(depth + 1, f"scf.yield {yielded} : {types}")
            self.put(depth, word)
        names.update(zip(carried, results, strict=True))

    # Scopes.

    def scope(
        self, depth: int, word: str, names: dict[str, str], rows: list[str], nest: int, body: Any
    ) -> None:
        """A scope that says of some variables what their next names are."""
        said = self.carried()
        results = [self.name("s") for _ in said]
        types = [T] * len(said)
        scalar = None
        if rows and word == "incore" and self.chance():
            scalar = self.name("n")
            results.append(scalar)
            types.append("index")
        left = f"{', '.join(results)} = " if results else ""
        clause = f" -> ({', '.join(types)})" if results else ""
        launch = " launch %two" if word == "spmd" else " host" if word == "hierarchy" else ""
        self.put(depth, f"{left}orch.{word}{launch}{clause} {{")
        inner = dict(names)
        inner_rows = list(rows)
        if scalar is not None:
            same = self.name("n")
            self.put(
                depth + 1, f"{same} = arith.muli {self.draw(st.sampled_from(rows))}, %one : index"
            )
            inner_rows.append(same)
        body(depth + 1, inner, inner_rows, nest - 1)
        if results:
            yielded = [inner[v] for v in said]
            if scalar is not None:
                yielded.append(same)  # pyright: ignore[reportPossiblyUnboundVariable]
            self.put(depth + 1, f"orch.yield {', '.join(yielded)} : {', '.join(types)}")
        self.put(depth, "}")
        names.update(zip(said, results, strict=False))
        if scalar is not None:
            rows.append(scalar)

    def incore(self, depth: int, names: dict[str, str], rows: list[str], nest: int) -> None:
        self.scope(depth, "incore", names, rows, 2, self.kernel_body)

    def wrapped(self, depth: int, names: dict[str, str], rows: list[str], nest: int) -> None:
        """One or two kernels, as the body of a wrapper."""
        for _ in range(self.draw(st.integers(1, 2))):
            self.incore(depth, names, rows, nest)

    def launched(self, depth: int, names: dict[str, str], rows: list[str], nest: int) -> None:
        self.scope(depth, "spmd", names, rows, nest, self.wrapped)

    def block(self, depth: int, names: dict[str, str], rows: list[str], nest: int) -> None:
        # What is counted inside is not known after it.
        rows = list(rows)
        kinds = ["incore", "incore", "spmd", "cluster", "both"]
        if nest > 0:
            kinds += ["loop", "branch", "task_scope"] + (["hierarchy"] if self.hierarchy else [])
        for _ in range(self.draw(st.integers(1, 3))):
            match self.draw(st.sampled_from(kinds)):
                case "incore":
                    self.incore(depth, names, rows, nest)
                case "spmd":
                    self.launched(depth, names, rows, nest)
                case "cluster":
                    self.scope(depth, "cluster", names, rows, nest, self.wrapped)
                case "both":
                    self.scope(depth, "cluster", names, rows, nest, self.launched)
                case "loop":
                    self.loop(depth, names, rows, nest, self.block)
                case "branch":
                    self.branch(depth, names, rows, nest, self.block)
                case "task_scope":
                    self.scope(depth, "task_scope manual", names, rows, nest, self.block)
                case _:
                    self.scope(depth, "hierarchy", names, rows, nest, self.block)


@st.composite
def programs(draw: st.DrawFn, hierarchy: bool = False) -> str:
    writer = Writer(draw, hierarchy)
    parameters = ", ".join(f"inout %{v} : {T}" for v in VARIABLES)
    types = ", ".join([T] * len(VARIABLES))
    writer.put(0, f"orch.func opaque @main(in %n : index, {parameters}) -> ({types}) {{")
    for name, number in (("zero", 0), ("one", 1), ("two", 2)):
        writer.put(1, f"%{name} = arith.constant {number} : index")
    writer.put(1, "%half = arith.constant 0.5 : f32")
    writer.put(1, "%first = arith.cmpi slt, %n, %one : index")
    writer.put(1, "%second = arith.cmpi slt, %n, %two : index")
    names = {variable: f"%{variable}" for variable in VARIABLES}
    writer.block(1, names, [], 3)
    writer.put(1, f"orch.return {', '.join(names.values())} : {types}")
    writer.put(0, "}")
    return "\n".join(writer.lines)


CONTEXT = context()


def outline(module: ModuleOp) -> None:
    with collecting():
        for outlining in PASSES:
            outlining().apply(CONTEXT, module)


def check_directions(module: ModuleOp, extent: int) -> None:
    """No direction is weaker than what calls were seen to do."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    recorder = AccessRecorder()
    arguments = random_arguments(functions["main"], extent, given={"n": extent})
    run(module, "main", arguments, listeners=(recorder,), observer=recorder.observe)
    for call in recorder.calls:
        name = call.op.callee_name
        for place, access in call.arguments.items():
            direction = functions[name].parameter_directions[place]
            where = f"parameter {place} of {name} is {direction.value}"
            assert direction.reads or not access.read.any(), where
            assert direction.writes or not access.written.any(), where


def check(text: str, *, directions: bool) -> None:
    before, after = program(text), program(text)
    outline(after)
    assert verify(after) == []
    printed = str(after)
    assert str(program(printed)) == printed
    for n in (0, 1, 3):
        assert_same_run(before, after, "main", seeds=[n], given={"n": n})
        if directions:
            check_directions(after, n)
    again = program(printed)
    outline(again)
    assert str(again) == printed
    for function in after.ops:
        assert isinstance(function, FuncOp)
        if function.kind.data.is_in_core:
            # A kernel has no parameter that it does not use.
            assert all(p.first_use is not None for p in function.parameters)


FUZZING = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@FUZZING
@given(text=programs())
def test_outlined_programs_do_the_same(text: str) -> None:
    check(text, directions=True)


@FUZZING
@given(text=programs(hierarchy=True))
def test_with_levels(text: str) -> None:
    """Targets of plain stores stay inputs of functions of other levels: no look at directions."""
    check(text, directions=False)
