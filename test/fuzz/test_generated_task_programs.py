"""
Generated programs of tasks submit from their C++ what their task graphs say.

A program submits kernels on windows of a few buffers, in manual and auto scopes, loops and
branches; it keeps identities of tasks in variables and arrays, updates arrays and reads them again,
also older ones, and waits for any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.orchestration_cpp import (
    COMPILER,
    assert_same_tasks,
    generate,
    orchestrations,
    submitted,
)
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.syntax.parser import parse_module

WHOLE = "tensor<64x32xf32>"
PART = "tensor<16x32xf32>"
ROW = "tensor<32xf32>"
ID = "!orch.task_id"
IDS = "!orch.array<4x!orch.task_id>"
PASSES = "derive-call-directions,materialize-runtime-scopes,classify-iter-arg-carry"

KERNELS = f"""
orch.func incore @part(in {PART}, out {PART}, in index) -> {PART} returns [1]
orch.func incore @row(in {ROW}, out {PART}, in index) -> {PART} returns [1]
orch.func incore @fresh(in {PART}, out {PART}) -> {PART} returns [1]
"""


@dataclass
class Scope:
    """What a block can use."""

    numbers: list[str]
    tasks: list[str]
    arrays: list[str]
    depth: int
    is_manual: bool = False

    def inner(self, is_manual: bool = False) -> Scope:
        return Scope(
            list(self.numbers),
            list(self.tasks),
            list(self.arrays),
            self.depth + 1,
            self.is_manual or is_manual,
        )


@dataclass
class Writer:
    """The body of the program while it is drawn."""

    draw: st.DrawFn
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def name(self, hint: str) -> str:
        self.count += 1
        return f"%{hint}{self.count}x"

    def put(self, scope: Scope, text: str) -> None:
        self.lines.append("  " * scope.depth + text)

    def pick(self, names: list[str]) -> str:
        return self.draw(st.sampled_from(names))

    def index(self, scope: Scope) -> str:
        """A number from 0 to 3."""
        number, rest = self.pick(scope.numbers), self.name("n")
        self.put(scope, f"{rest} = arith.remsi {number}, %c4 : index")
        return rest

    def window(self, scope: Scope, tensor: str, shape: str) -> str:
        start, offset, window = self.index(scope), self.name("s"), self.name("w")
        self.put(scope, f"{offset} = arith.muli {start}, %c16 : index")
        self.put(scope, f"{window} = ptensor.slice {tensor}[{offset}, 0] : {WHOLE} -> {shape}")
        return window

    def submit(self, scope: Scope) -> None:
        deps: list[str] = []
        for _ in range(self.draw(st.integers(0, 3))):
            if self.draw(st.booleans()):
                deps.append(f"{self.pick(scope.arrays)} : {IDS}")
            else:
                deps.append(self.pick(scope.tasks))
        clause = f" deps [{', '.join(deps)}]" if deps else ""
        result, task = self.name("r"), self.name("t")
        kind = self.pick(["part", "row", "fresh", "dummy"])
        number = self.pick(scope.numbers)
        if kind == "dummy":
            self.put(scope, f"{task} = orch.task_dummy{clause}")
        elif kind == "fresh":
            source = self.window(scope, "%x", PART)
            self.put(
                scope,
                f"{result}, {task} = orch.submit @fresh({source}){clause} : ({PART}) -> "
                f"({PART}, {ID})",
            )
        else:
            shape = PART if kind == "part" else ROW
            source = self.window(scope, "%x", shape)
            target = self.window(scope, self.pick(["%o", "%p"]), PART)
            self.put(
                scope,
                f"{result}, {task} = orch.submit @{kind}({source}, {target}, {number}){clause} : "
                f"({shape}, {PART}, index) -> ({PART}, {ID})",
            )
        scope.tasks.append(task)

    def array(self, scope: Scope) -> None:
        new = self.name("a")
        match self.pick(["create", "update", "update", "get"]):
            case "update":
                place = self.index(scope)
                task, old = self.pick(scope.tasks), self.pick(scope.arrays)
                self.put(
                    scope, f"{new} = orch.array.update_element {task}, {old}[{place}] : {ID}, {IDS}"
                )
                scope.arrays.append(new)
            case "get":
                place = self.index(scope)
                self.put(
                    scope,
                    f"{new} = orch.array.get_element {self.pick(scope.arrays)}[{place}] : {IDS}",
                )
                scope.tasks.append(new)
            case _:
                self.put(scope, f"{new} = orch.array.create : {IDS}")
                scope.arrays.append(new)

    def loop(self, scope: Scope) -> None:
        carried = [self.name("c") for _ in range(4)]
        results = [self.name("l") for _ in range(4)]
        types = f"{ID}, {ID}, index, {IDS}"
        inits = [
            self.pick(scope.tasks),
            self.pick(scope.tasks),
            self.pick(scope.numbers),
            self.pick(scope.arrays),
        ]
        pairs = ", ".join(f"{c} = {i}" for c, i in zip(carried, inits, strict=True))
        counter, trips = self.name("i"), self.pick(["%c0", "%c1", "%c4", "%n"])
        self.put(
            scope,
            f"{', '.join(results)} = scf.for {counter} = %c0 to {trips} step %c1 iter_args({pairs})"
            f" -> ({types}) {{",
        )
        body = scope.inner()
        body.numbers += [counter, carried[2]]
        body.tasks += carried[:2]
        body.arrays.append(carried[3])
        self.block(body)
        ends = [self.pick(body.tasks), self.pick(body.tasks), self.pick(body.numbers)]
        if self.draw(st.booleans()):
            ends[:2] = [carried[1], carried[0]]
        ends.append(self.pick(body.arrays))
        self.put(body, f"scf.yield {', '.join(ends)} : {types}")
        self.put(scope, "}")
        scope.numbers.append(results[2])
        scope.tasks += results[:2]
        scope.arrays.append(results[3])

    def branch(self, scope: Scope) -> None:
        condition, results = self.name("if"), [self.name("m") for _ in range(2)]
        self.put(scope, f"{condition} = arith.cmpi slt, {self.pick(scope.numbers)}, %c1 : index")
        self.put(scope, f"{', '.join(results)} = scf.if {condition} -> ({ID}, {IDS}) {{")
        for end in ("} else {", "}"):
            inner = scope.inner()
            self.block(inner)
            task, array = self.pick(inner.tasks), self.pick(inner.arrays)
            self.put(inner, f"scf.yield {task}, {array} : {ID}, {IDS}")
            self.put(scope, end)
        scope.tasks.append(results[0])
        scope.arrays.append(results[1])

    def scope(self, scope: Scope) -> None:
        is_manual = scope.is_manual or self.draw(st.booleans())
        results = [self.name("o") for _ in range(2)]
        mode = "manual" if is_manual else "auto"
        self.put(scope, f"{', '.join(results)} = orch.task_scope {mode} -> ({ID}, {IDS}) {{")
        inner = scope.inner(is_manual)
        self.block(inner)
        task, array = self.pick(inner.tasks), self.pick(inner.arrays)
        self.put(inner, f"orch.yield {task}, {array} : {ID}, {IDS}")
        self.put(scope, "}")
        scope.tasks.append(results[0])
        scope.arrays.append(results[1])

    def block(self, scope: Scope) -> None:
        for _ in range(self.draw(st.integers(0, 4 if scope.depth < 3 else 2))):
            kinds = ["submit", "submit", "array", "array"]
            if scope.depth < 4:
                kinds += ["loop", "branch", "scope"]
            getattr(self, self.pick(kinds))(scope)
        self.observe(scope)

    def observe(self, scope: Scope) -> None:
        """Tasks that wait for all that a value names: a slot that is wrong shows."""
        for value in (*(f"{a} : {IDS}" for a in scope.arrays[-6:]), *scope.tasks[-3:]):
            result, task = self.name("r"), self.name("t")
            self.put(
                scope,
                f"{result}, {task} = orch.submit @fresh(%y) deps [{value}] : ({PART}) -> "
                f"({PART}, {ID})",
            )


@st.composite
def programs(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    scope = Scope(["%n", "%c0", "%c1"], [], [], 1)
    writer.put(
        Scope([], [], [], 0),
        f"orch.func orchestration @main(in %n : index, in %x : {WHOLE}, in %y : {PART}, "
        f"out %o : {WHOLE}, out %p : {WHOLE}) {{",
    )
    for number in (0, 1, 4, 16):
        writer.put(scope, f"%c{number} = arith.constant {number} : index")
    writer.put(scope, "%none = orch.task_invalid")
    # Something to wait for, and an array that names it.
    writer.put(scope, f"%r0, %t = orch.submit @fresh(%y) : ({PART}) -> ({PART}, {ID})")
    writer.put(scope, f"%empty = orch.array.create : {IDS}")
    writer.put(scope, f"%a = orch.array.update_element %t, %empty[%c1] : {ID}, {IDS}")
    scope.tasks += ["%t", "%none"]
    scope.arrays += ["%a", "%empty"]
    writer.block(scope)
    writer.put(scope, "orch.return")
    return KERNELS + "\n".join(writer.lines) + "\n}"


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (g++ or clang++) here")
@settings(
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    database=None,
)
@given(text=programs(), n=st.integers(0, 2))
def test_same_tasks(text: str, n: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    module = parse_module(context(), text, "generated.mlir")
    with collecting():
        passes = Universe.get_multiverse().all_passes
        PassPipeline.parse_spec(passes, PASSES).apply(context(), module)
    (function,) = orchestrations(module)
    scratch = tmp_path_factory.mktemp("tasks")
    log = submitted(generate(module), function, scratch, {"n": n})
    assert_same_tasks(module, function, log, {"n": n})
