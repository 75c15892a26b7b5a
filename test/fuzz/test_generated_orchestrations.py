"""
Generated orchestration programs keep their numbers when returns are normalised, directions derived
and scopes of the runtime put in, and in every order of tasks that the derived graph allows.

A program keeps a few variables, each in a buffer of its own. Kernels write one or two of them and
return them in any order, through stores, branches and loops; groups forward kernels with their
parameters exchanged. The program calls and submits them in loops of all kinds, whiles, branches
and scopes, exchanges variables on the way around a loop, and waits for tasks. It is run on numpy
before and after.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.hazards import HazardKind, ancestors, hazards
from pypto_xdsl.analysis.return_lineage import ReturnLineage
from pypto_xdsl.analysis.task_graph import TaskGraph, record
from pypto_xdsl.diagnostics import Diagnostic, collecting
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.interpreters.arguments import random_arguments
from pypto_xdsl.interpreters.differential import assert_same_run, compare_runs
from pypto_xdsl.interpreters.run import find_function, run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder
from pypto_xdsl.properties.holding import derive
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.transforms.auto_derive_task_dependencies import AutoDeriveTaskDependenciesPass
from pypto_xdsl.transforms.derive_call_directions import DeriveCallDirectionsPass
from pypto_xdsl.transforms.materialize_runtime_scopes import MaterializeRuntimeScopesPass
from pypto_xdsl.transforms.normalize_return_order import NormalizeReturnOrderPass

T = "tensor<16xf32>"
TILE = "!tile.tile<16xf32>"
HALF, SQUARE = "tensor<8xf32>", "tensor<4x4xf32>"
VARIABLES = ("a", "b", "c", "d")

KERNELS = f"""
orch.func incore @one(in %x : {T}, out %a : {T}) -> {T} {{
  %t = tile.load %x[0] : {T} -> {TILE}
  %u = tile.add %t, %t : {TILE}
  %a1 = tile.store %u, %a[0] : {TILE}, {T}
  orch.return %a1 : {T}
}}
orch.func incore @swapped(in %x : {T}, out %a : {T}, out %b : {T}) -> ({T}, {T}) {{
  %half = arith.constant 0.5 : f32
  %t = tile.load %x[0] : {T} -> {TILE}
  %u = tile.muls %t, %half : {TILE}, f32
  %v = tile.adds %t, %half : {TILE}, f32
  %b1 = tile.store %v, %b[0] : {TILE}, {T}
  %a1 = tile.store %u, %a[0] : {TILE}, {T}
  orch.return %b1, %a1 : {T}, {T}
}}
orch.func incore @update(inout %a : {T}, in %x : {T}) -> {T} {{
  %t = tile.load %a[0] : {T} -> {TILE}
  %u = tile.load %x[0] : {T} -> {TILE}
  %v = tile.sub %t, %u : {TILE}
  %a1 = tile.store %v, %a[0] : {TILE}, {T}
  orch.return %a1 : {T}
}}
orch.func incore @exchange(inout %a : {T}, inout %b : {T}, in %n : index) -> ({T}, {T}) {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : index
  %c = arith.cmpi slt, %n, %one : index
  %m:2 = scf.if %c -> ({T}, {T}) {{
    %t = tile.load %a[0] : {T} -> {TILE}
    %u = tile.load %b[0] : {T} -> {TILE}
    %a1 = tile.store %u, %a[0] : {TILE}, {T}
    %b1 = tile.store %t, %b[0] : {TILE}, {T}
    scf.yield %b1, %a1 : {T}, {T}
  }} else {{
    scf.yield %b, %a : {T}, {T}
  }}
  %r = scf.for %i = %zero to %three step %one iter_args(%it = %m#1) -> ({T}) {{
    %t = tile.load %it[0] : {T} -> {TILE}
    %u = tile.add %t, %t : {TILE}
    %it1 = tile.store %u, %it[0] : {TILE}, {T}
    scf.yield %it1 : {T}
  }}
  orch.return %m#0, %r : {T}, {T}
}}
orch.func incore @half(in %x : {T}, out %h : {HALF}) -> {HALF} {{
  %t = tile.load %x[4] : {T} -> !tile.tile<8xf32>
  %h1 = tile.store %t, %h[0] : !tile.tile<8xf32>, {HALF}
  orch.return %h1 : {HALF}
}}
orch.func group @group(in %x : {T}, in %p : {T}, out %q : {T}) -> ({T}, {T}) {{
  %r:2 = orch.call @swapped(%x, %q, %p) : ({T}, {T}, {T}) -> ({T}, {T})
  orch.return %r#0, %r#1 : {T}, {T}
}}
orch.func group @outer(in %p : {T}, in %q : {T}, in %x : {T}) -> ({T}, {T}) {{
  %r:2 = orch.call @group(%x, %q, %p) : ({T}, {T}, {T}) -> ({T}, {T})
  orch.return %r#1, %r#0 : {T}, {T}
}}
"""

GRAPH = f"""
orch.func graph @graph_of_two(in %x : {T}, out %p : {T}, inout %q : {T}) -> ({T}, {T}) {{
  %r:2 = orch.call @swapped(%x, %q, %p) : ({T}, {T}, {T}) -> ({T}, {T})
  %q1 = orch.call @update(%r#1, %x) : ({T}, {T}) -> {T}
  orch.return %q1, %r#0 : {T}, {T}
}}
"""

USES: dict[str, tuple[str, ...]] = {
    "one": ("in", "a"),
    "swapped": ("in", "a", "b"),
    "update": ("a", "in"),
    "exchange": ("a", "b", "n"),
    "group": ("in", "a", "b"),
    "outer": ("a", "b", "in"),
    "graph_of_two": ("in", "a", "b"),
}
"""Of each function what goes in for its parameters: a variable read, ones written, an index."""
RESULTS = {
    "one": "a",
    "swapped": "ba",
    "update": "a",
    "exchange": "ba",
    "group": "ab",
    "outer": "ab",
    "graph_of_two": "ba",
}
"""Which of the written ones each function returns, in order, as it stands above."""


@dataclass
class Writer(DrawnProgram):
    """The body of the program while it is drawn."""

    tasks: list[str] = field(default_factory=list[str])
    has_graph: bool = False

    def use(self, names: dict[str, str], depth: int, tasks: list[str]) -> None:
        """A call or submit; the variables that it writes get new names."""
        functions = [name for name in sorted(USES) if name != "graph_of_two" or self.has_graph]
        function = self.draw(st.sampled_from(functions))
        written = self.draw(st.permutations(VARIABLES))[:2]
        read = self.draw(st.sampled_from([v for v in VARIABLES if v not in written]))
        place = {"in": names[read], "a": names[written[0]], "b": names[written[1]], "n": "%n"}
        arguments = [place[word] for word in USES[function]]
        types = ", ".join("index" if word == "n" else T for word in USES[function])
        results = [self.name("v") for _ in RESULTS[function]]
        returned = [T] * len(results)
        clauses = ""
        verb = "call"
        if function != "graph_of_two" and self.draw(st.booleans()):
            verb = "submit"
            results.append(self.name("t"))
            returned.append("!orch.task_id")
            if tasks and self.draw(st.booleans()):
                clauses = f" deps [{self.draw(st.sampled_from(tasks))}]"
            tasks.append(results[-1])
        self.put(
            depth,
            f"{', '.join(results)} = orch.{verb} @{function}({', '.join(arguments)}){clauses} : "
            f"({types}) -> ({', '.join(returned)})",
        )
        for word, result in zip(RESULTS[function], results, strict=False):
            names[written["ab".index(word)]] = result

    def alias(self, names: dict[str, str], depth: int) -> None:
        """Another name of a variable, through another shape."""
        variable = self.draw(st.sampled_from(VARIABLES))
        square, name = self.name("q"), self.name("n")
        self.put(depth, f"{square} = ptensor.reshape {names[variable]} : {T} -> {SQUARE}")
        self.put(depth, f"{name} = ptensor.reshape {square} : {SQUARE} -> {T}")
        names[variable] = name

    def window(self, names: dict[str, str], depth: int) -> None:
        """A kernel writes half of a variable, which is put back, and perhaps copied as well."""
        written, read, other = self.draw(st.permutations(VARIABLES))[:3]
        start = self.draw(st.sampled_from(["0", "4", "8"]))
        window, half, name = self.name("w"), self.name("h"), self.name("n")
        whole = names[written]
        self.put(depth, f"{window} = ptensor.slice {whole}[{start}] : {T} -> {HALF}")
        self.put(
            depth,
            f"{half} = orch.call @half({names[read]}, {window}) : ({T}, {HALF}) -> {HALF}",
        )
        self.put(depth, f"{name} = ptensor.assemble {half}, {whole}[{start}] : {HALF}, {T}")
        names[written] = name
        if self.draw(st.booleans()):
            half, copy = self.name("h"), self.name("n")
            self.put(depth, f"{half} = ptensor.slice {name}[{start}] : {T} -> {HALF}")
            self.put(depth, f"{copy} = ptensor.assemble {half}, {names[other]}[2] : {HALF}, {T}")
            names[other] = copy

    def element(self, names: dict[str, str], depth: int) -> None:
        """The orchestrator itself moves an element from one variable to another."""
        written, read = self.draw(st.permutations(VARIABLES))[:2]
        number, name = self.name("e"), self.name("n")
        self.put(depth, f"{number} = ptensor.read {names[read]}[3] : {T} -> f32")
        self.put(depth, f"{name} = ptensor.write {number}, {names[written]}[5] : f32, {T}")
        names[written] = name

    def loop(self, names: dict[str, str], depth: int, tasks: list[str]) -> None:
        carried = self.draw(st.permutations(VARIABLES))
        handed_on = carried
        if self.draw(st.booleans()):
            handed_on = [carried[1], carried[0], *carried[2:]]
        inner = {variable: self.name("c") for variable in VARIABLES}
        results = {variable: self.name("r") for variable in VARIABLES}
        inits = ", ".join(f"{inner[v]} = {names[v]}" for v in carried)
        types = ", ".join([T] * len(carried))
        next_count = self.name("k")
        kind = self.draw(st.sampled_from(["", "parallel", "unroll", "pipeline", "while"]))
        if kind == "parallel":
            # Its iterations are to be independent: nothing is exchanged between them.
            handed_on = carried
        # How often a loop that is unrolled runs is known.
        known = ["%zero", "%one", "%two"]
        trips = self.draw(st.sampled_from(known if kind == "unroll" else [*known, "%n"]))
        if kind == "while":
            go, after = self.name("go"), {variable: self.name("c") for variable in VARIABLES}
            count = self.name("k")
            self.put(
                depth,
                f"{self.name('k')}, {', '.join(results[v] for v in carried)} = scf.while "
                f"({count} = %zero, {inits}) : (index, {types}) -> (index, {types}) {{",
            )
            forward = ", ".join(inner[v] for v in carried)
            self.put(depth + 1, f"{go} = arith.cmpi slt, {count}, {trips} : index")
            self.put(depth + 1, f"scf.condition({go}) {count}, {forward} : index, {types}")
            self.put(depth, "} do {")
            arguments = ", ".join(f"{after[v]} : {T}" for v in carried)
            self.put(depth, f"^bb0({next_count} : index, {arguments}):")
            inner = after
        else:
            induction = self.name("i")
            self.put(
                depth,
                f"{', '.join(results[v] for v in carried)} = scf.for {induction} = %zero to "
                f"{trips} step %one iter_args({inits}) -> ({types}) {{",
            )
        # A task of an outer block may be waited for inside, one of the body only there.
        self.block(inner, depth + 1, list(tasks))
        yielded = ", ".join(inner[v] for v in handed_on)
        if kind == "while":
            step = self.name("k")
            self.put(depth + 1, f"{step} = arith.addi {next_count}, %one : index")
            self.put(depth + 1, f"scf.yield {step}, {yielded} : index, {types}")
            self.put(depth, "}")
        else:
            self.put(depth + 1, f"scf.yield {yielded} : {types}")
            stages = ", orch.stages = 2 : i64" if kind == "pipeline" else ""
            attribute = f" {{orch.loop = #orch<loop {kind}>{stages}}}" if kind else ""
            self.put(depth, f"}}{attribute}")
        names.update(results)

    def branch(self, names: dict[str, str], depth: int, tasks: list[str]) -> None:
        results = {variable: self.name("m") for variable in VARIABLES}
        condition = self.draw(st.sampled_from(["%first", "%second"]))
        types = ", ".join([T] * len(VARIABLES))
        self.put(depth, f"{', '.join(results.values())} = scf.if {condition} -> ({types}) {{")
        for word in ("} else {", "}"):
            inner = dict(names)
            self.block(inner, depth + 1, list(tasks))
            yielded = list(inner.values())
            if self.draw(st.booleans()):
                yielded[0], yielded[1] = yielded[1], yielded[0]
            self.put(depth + 1, f"scf.yield {', '.join(yielded)} : {types}")
            self.put(depth, word)
        names.update(results)

    def scope(self, names: dict[str, str], depth: int, tasks: list[str]) -> None:
        results = {variable: self.name("s") for variable in VARIABLES}
        types = ", ".join([T] * len(VARIABLES))
        self.put(depth, f"{', '.join(results.values())} = orch.task_scope auto -> ({types}) {{")
        inner = dict(names)
        self.block(inner, depth + 1, list(tasks))
        self.put(depth + 1, f"orch.yield {', '.join(inner.values())} : {types}")
        self.put(depth, "}")
        names.update(results)

    def block(self, names: dict[str, str], depth: int, tasks: list[str]) -> None:
        for _ in range(self.draw(st.integers(0, 3 if depth < 3 else 1))):
            kinds = ["use"] * 6 + ["alias", "window", "element"]
            kinds += ["loop", "branch", "scope"] * 2 if depth < 4 else []
            match self.draw(st.sampled_from(kinds)):
                case "use":
                    self.use(names, depth, tasks)
                case "alias":
                    self.alias(names, depth)
                case "window":
                    self.window(names, depth)
                case "element":
                    self.element(names, depth)
                case "loop":
                    self.loop(names, depth, tasks)
                case "branch":
                    self.branch(names, depth, tasks)
                case _:
                    self.scope(names, depth, tasks)


@st.composite
def programs(draw: st.DrawFn, *, graphs: bool = True) -> str:
    writer = Writer(draw, has_graph=graphs)
    parameters = ", ".join(f"inout %{v} : {T}" for v in VARIABLES)
    types = ", ".join([T] * len(VARIABLES))
    writer.put(0, f"orch.func orchestration @main(in %n : index, {parameters}) -> ({types}) {{")
    for name, number in (("zero", 0), ("one", 1), ("two", 2)):
        writer.put(1, f"%{name} = arith.constant {number} : index")
    writer.put(1, "%first = arith.cmpi slt, %n, %one : index")
    writer.put(1, "%second = arith.cmpi slt, %n, %two : index")
    names = {variable: f"%{variable}" for variable in VARIABLES}
    writer.block(names, 1, [])
    # A local buffer in the place of a parameter.
    local = writer.name("l")
    writer.put(1, f"{local} = ptensor.create : {T}")
    filled = writer.name("v")
    writer.put(1, f"{filled} = orch.call @one({names['a']}, {local}) : ({T}, {T}) -> {T}")
    names["a"] = filled
    writer.block(names, 1, [])
    writer.put(1, f"orch.return {', '.join(names.values())} : {types}")
    writer.put(0, "}")
    return KERNELS + GRAPH + "\n".join(writer.lines)


def context() -> Context:
    ctx = Context()
    for name, factory in Universe.get_multiverse().all_dialects.items():
        ctx.register_dialect(name, factory)
    return ctx


CONTEXT = context()


def parse(text: str) -> ModuleOp:
    return parse_module(CONTEXT, text, "generated.mlir")


def errors(name: str, module: ModuleOp) -> list[Diagnostic]:
    with collecting():
        return list(derive(name, module))


FUZZING = settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@FUZZING
@given(text=programs())
def test_same_numbers(text: str) -> None:
    before, after = parse(text), parse(text)
    with collecting():
        assert errors("NoStaleRead", before) == []
        NormalizeReturnOrderPass().apply(CONTEXT, after)
        DeriveCallDirectionsPass().apply(CONTEXT, after)
        MaterializeRuntimeScopesPass().apply(CONTEXT, after)
    after.verify()
    for n in (0, 1, 2):
        assert_same_run(before, after, "main", seeds=[n], given={"n": n})
    assert errors("NoStaleRead", after) == []
    again = after.clone()
    with collecting():
        NormalizeReturnOrderPass().apply(CONTEXT, again)
        DeriveCallDirectionsPass().apply(CONTEXT, again)
        MaterializeRuntimeScopesPass().apply(CONTEXT, again)
    assert str(again) == str(after)
    assert str(parse(str(after))) == str(after)


def test_kernels_and_groups() -> None:
    """What the functions above return: kernels are put in order, groups keep theirs."""
    module = parse(KERNELS)
    with collecting():
        NormalizeReturnOrderPass().apply(CONTEXT, module)
    returned = {
        op.sym_name.data: [value.name_hint for value in op.return_op.values]
        for op in module.ops
        if isinstance(op, FuncOp) and op.return_op is not None
    }
    assert returned["swapped"] == ["a", "b"]
    assert returned["exchange"] == ["a", "b"]
    assert returned["group"] == ["p", "q"]
    assert returned["outer"] == ["p", "q"]


def graph_of(module: ModuleOp, n: int) -> TaskGraph:
    lineage = ReturnLineage(CallGraph(module))
    main = next(f for f in lineage.calls.functions if f.sym_name.data == "main")
    return record(main, lineage, {"n": n})


@FUZZING
@given(text=programs(), n=st.integers(0, 2))
def test_any_order_of_tasks(text: str, n: int) -> None:
    """Without a hazard the numbers do not depend on the order, whatever order the graph allows."""
    module = parse(text)
    with collecting():
        NormalizeReturnOrderPass().apply(CONTEXT, module)
        DeriveCallDirectionsPass().apply(CONTEXT, module)
    found = list(hazards(graph_of(module, n)))
    assume(not found)
    main = find_function(module, "main")
    arguments = random_arguments(main, 0, given={"n": n})
    wanted = run(module, main, arguments)
    for seed in (None, 0, 1, 2):
        got = run(module, main, arguments, scheduler=TaskGraphOrder(seed))
        assert compare_runs(got, wanted) is None


@FUZZING
@given(text=programs(graphs=False))
def test_named_dependencies(text: str) -> None:
    """
    Naming what tasks wait for leaves no hazard but between iterations that the user calls parallel
    and where a remark says so; the numbers are those of program order, in any order.
    """
    before = parse(text)
    with collecting():
        NormalizeReturnOrderPass().apply(CONTEXT, before)
        DeriveCallDirectionsPass().apply(CONTEXT, before)
    after = before.clone()
    with collecting() as remarks:
        AutoDeriveTaskDependenciesPass().apply(CONTEXT, after)
    after.verify()
    again = after.clone()
    with collecting():
        AutoDeriveTaskDependenciesPass().apply(CONTEXT, again)
    assert str(again) == str(after)
    with collecting():
        MaterializeRuntimeScopesPass().apply(CONTEXT, after)
    assert errors("NoStaleRead", after) == []
    for n in (0, 1, 2):
        assert_same_run(before, after, "main", seeds=[n], given={"n": n})
        found = list(hazards(graph_of(after, n)))
        if "parallel" not in text and not remarks:
            assert found == []
        if not list(hazards(graph_of(before, n))):
            assert found == []
        if found:
            continue
        main = find_function(after, "main")
        arguments = random_arguments(main, 0, given={"n": n})
        wanted = run(after, main, arguments)
        for seed in (None, 0, 1, 2):
            got = run(after, main, arguments, scheduler=TaskGraphOrder(seed))
            assert compare_runs(got, wanted) is None


@st.composite
def rows_of_calls(draw: st.DrawFn) -> tuple[str, list[tuple[set[str], set[str]]]]:
    """Calls in a row, and what each reads and writes."""
    writer = Writer(draw)
    parameters = ", ".join(f"out %{v} : {T}" for v in VARIABLES)
    writer.put(0, f"orch.func orchestration @main(in %n : index, {parameters}) {{")
    names = {variable: f"%{variable}" for variable in VARIABLES}
    accesses: list[tuple[set[str], set[str]]] = []
    for _ in range(draw(st.integers(2, 8))):
        buffers = {name: variable for variable, name in names.items()}
        writer.use(names, 1, [])
        words = re.findall(r"%\w+", writer.lines[-1].split("(", 1)[1].split(")", 1)[0])
        function = re.findall(r"@(\w+)", writer.lines[-1])[0]
        reads: set[str] = set()
        writes: set[str] = set()
        for word, argument in zip(USES[function], words, strict=True):
            if argument in buffers:
                if word == "in" or function in ("update", "exchange"):
                    reads.add(buffers[argument])
                if word != "in":
                    writes.add(buffers[argument])
        accesses.append((reads, writes))
    writer.put(1, "orch.return")
    writer.put(0, "}")
    return KERNELS + "\n".join(writer.lines), accesses


@FUZZING
@given(drawn=rows_of_calls())
def test_no_edge_too_many_and_none_too_few(
    drawn: tuple[str, list[tuple[set[str], set[str]]]],
) -> None:
    """A task comes after exactly those whose writes it reads or overwrites, and what these need."""
    text, accesses = drawn
    module = parse(text)
    DeriveCallDirectionsPass().apply(CONTEXT, module)
    expected: list[int] = []
    for later, (reads, writes) in enumerate(accesses):
        before = 0
        for earlier, (_, written) in enumerate(accesses[:later]):
            if written & (reads | writes):
                before |= expected[earlier] | 1 << earlier
        expected.append(before)
    assert ancestors(graph_of(module, 0)) == expected


BOXES = [(height, width) for height in (1, 2, 4) for width in (1, 2, 4)]
FIELD = "tensor<4x4xf32>"


@st.composite
def rows_of_boxes(draw: st.DrawFn) -> tuple[str, list[tuple[set[int], set[int]]]]:
    """Tasks in a row that read, write or update boxes of two tensors; what elements each does."""
    lines: list[str] = []
    for height, width in BOXES:
        type = f"tensor<{height}x{width}xf32>"
        for word in ("in", "out", "inout"):
            lines.append(f"orch.func incore @{word}_{height}x{width}({word} {type})")
    lines.append(f"orch.func orchestration @main(inout %t : {FIELD}, in %n : index) {{")
    lines.append(f"%u = ptensor.create : {FIELD}")
    accesses: list[tuple[set[int], set[int]]] = []
    for step in range(draw(st.integers(2, 8))):
        height, width = draw(st.sampled_from(BOXES))
        top, left = draw(st.integers(0, 4 - height)), draw(st.integers(0, 4 - width))
        which, word = draw(st.sampled_from("tu")), draw(st.sampled_from(["in", "out", "inout"]))
        type = f"tensor<{height}x{width}xf32>"
        lines.append(f"%w{step} = ptensor.slice %{which}[{top}, {left}] : {FIELD} -> {type}")
        lines.append(f"orch.call @{word}_{height}x{width}(%w{step}) : ({type}) -> ()")
        elements = {
            16 * (which == "u") + 4 * row + column
            for row in range(top, top + height)
            for column in range(left, left + width)
        }
        accesses.append((elements if word != "out" else set(), elements if word != "in" else set()))
    return "\n".join([*lines, "orch.return", "}"]), accesses


@FUZZING
@given(drawn=rows_of_boxes())
def test_windows_wait_for_exactly_what_they_meet(
    drawn: tuple[str, list[tuple[set[int], set[int]]]],
) -> None:
    """Likewise of boxes; %u is 64 bytes, padded, and its rows are told apart as well as columns."""
    text, accesses = drawn
    module = parse(text)
    DeriveCallDirectionsPass().apply(CONTEXT, module)
    expected: list[int] = [0]
    for later, (reads, writes) in enumerate(accesses, 1):
        before = 0
        for earlier, (_, written) in enumerate(accesses[: later - 1], 1):
            if written & (reads | writes):
                before |= expected[earlier] | 1 << earlier
        if any(element >= 16 for element in reads | writes):
            # Task 0 allocates %u.
            before |= 1
        expected.append(before)
    assert ancestors(graph_of(module, 0)) == expected


def test_a_hazard_shows() -> None:
    """Where a hazard is reported, some order of the tasks gives other numbers."""
    module = parse(
        f"""{KERNELS}
orch.func orchestration @main(in %n : index, in %x : {T}, out %a : {T}, out %b : {T}) -> {T} {{
  %a1 = orch.call @one(%x, %a) : ({T}, {T}) -> {T}
  %b1 = orch.call @one(%a1, %b) : ({T}, {T}) -> {T}
  %a2 = orch.call @one(%b1, %a1) : ({T}, {T}) -> {T}
  %a3 = orch.call @one(%x, %a2) : ({T}, {T}) -> {T}
  %y = ptensor.create : {T}
  %y1 = orch.call @one(%a3, %y) : ({T}, {T}) -> {T}
  %a4 = orch.call @one(%b1, %a3) : ({T}, {T}) -> {T}
  orch.return %y1 : {T}
}}"""
    )
    DeriveCallDirectionsPass().apply(CONTEXT, module)
    graph = graph_of(module, 0)
    found = [(h.first.op, h.second.op, h.kind) for h in hazards(graph)]
    # %y is allocated as task 4.
    assert found == [(graph.tasks[5].op, graph.tasks[6].op, HazardKind.WRITE_AFTER_READ)]
    main = find_function(module, "main")
    arguments = random_arguments(main, 0, given={"n": 0})
    wanted = run(module, main, arguments)
    runs = [run(module, main, arguments, scheduler=TaskGraphOrder(seed)) for seed in range(20)]
    differing = [compare_runs(got, wanted) is not None for got in runs]
    assert True in differing
    assert False in differing
