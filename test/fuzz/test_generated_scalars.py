"""
Generated computations on integers, in branches and loops, keep their results when simplified.

Programs compute on `index` and `i32` values and on conditions; what is compared, divided and
counted is often a constant, so that there is something to decide. They run before and after.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.programs import context, program

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.transforms.simplify import SimplifyPass

NUMBERS = [-3, -1, 0, 1, 2, 3, 4, 5, 8, 12]
LARGE = [1 << 30, (1 << 31) - 1, -(1 << 31)]
BINARY = ["addi", "subi", "muli", "minsi", "maxsi"]
DIVIDING = ["floordivsi", "divsi", "remsi"]
COMPARISONS = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "uge"]


@dataclass
class Values:
    """The values that can be used at one place, by type."""

    index: list[str]
    i32: list[str]
    i1: list[str]

    def copy(self) -> Values:
        return Values([*self.index], [*self.i32], [*self.i1])


@dataclass
class Writer(DrawnProgram):
    """A program while it is drawn."""

    def pick(self, choices: list[str]) -> str:
        return self.draw(st.sampled_from(choices))

    def number(self, depth: int, type: str, numbers: list[int] = NUMBERS) -> str:
        name = self.name()
        self.put(depth, f"{name} = arith.constant {self.draw(st.sampled_from(numbers))} : {type}")
        return name

    def operand(self, depth: int, values: Values, type: str) -> str:
        known = values.index if type == "index" else values.i32
        if self.draw(st.booleans()):
            numbers = NUMBERS + (LARGE if type == "i32" else [])
            return self.number(depth, type, numbers)
        # What is new is what loops count and branches ask about.
        return self.pick(known[-4:])

    def compute(self, depth: int, values: Values) -> None:
        type = self.pick(["index", "index", "i32"])
        known = values.index if type == "index" else values.i32
        kind = self.pick(["binary", "binary", "divide", "compare", "logic", "select", "cast"])
        result = self.name()
        match kind:
            case "binary":
                lhs, rhs = (self.operand(depth, values, type) for _ in range(2))
                self.put(depth, f"{result} = arith.{self.pick(BINARY)} {lhs}, {rhs} : {type}")
                known.append(result)
            case "divide":
                lhs = self.operand(depth, values, type)
                rhs = self.number(depth, type, [1, 2, 3, 4, 8, 12])
                self.put(depth, f"{result} = arith.{self.pick(DIVIDING)} {lhs}, {rhs} : {type}")
                known.append(result)
            case "compare":
                lhs, rhs = (self.operand(depth, values, type) for _ in range(2))
                word = self.pick(COMPARISONS)
                self.put(depth, f"{result} = arith.cmpi {word}, {lhs}, {rhs} : {type}")
                values.i1.append(result)
            case "logic":
                lhs, rhs = (self.pick(values.i1) for _ in range(2))
                word = self.pick(["andi", "ori", "xori"])
                self.put(depth, f"{result} = arith.{word} {lhs}, {rhs} : i1")
                values.i1.append(result)
            case "select":
                lhs, rhs = (self.operand(depth, values, type) for _ in range(2))
                condition = self.pick(values.i1)
                self.put(depth, f"{result} = arith.select {condition}, {lhs}, {rhs} : {type}")
                known.append(result)
            case _:
                source, to = (type, "i32") if type == "index" else (type, "index")
                operand = self.operand(depth, values, type)
                self.put(depth, f"{result} = arith.index_cast {operand} : {source} to {to}")
                (values.i32 if to == "i32" else values.index).append(result)

    def branch(self, depth: int, values: Values, nest: int) -> None:
        results = [self.name(), self.name()]
        condition = self.pick(values.i1)
        self.put(depth, f"{', '.join(results)} = scf.if {condition} -> (index, i32) {{")
        for word in ("} else {", "}"):
            inner = values.copy()
            self.block(depth + 1, inner, nest - 1)
            yielded = f"{self.pick(inner.index[-3:])}, {self.pick(inner.i32[-3:])}"
            self.put(depth + 1, f"scf.yield {yielded} : index, i32")
            self.put(depth, word)
        values.index.append(results[0])
        values.i32.append(results[1])

    def loop(self, depth: int, values: Values, nest: int) -> None:
        results = [self.name(), self.name()]
        counter, *carried = (self.name() for _ in range(3))
        lower, upper = (
            self.number(depth, "index", [0, 1]),
            self.number(depth, "index", [0, 1, 2, 5]),
        )
        step = self.number(depth, "index", [1, 2])
        inits = f"{carried[0]} = {self.pick(values.index)}, {carried[1]} = {self.pick(values.i32)}"
        self.put(
            depth,
            f"{', '.join(results)} = scf.for {counter} = {lower} to {upper} step {step} "
            f"iter_args({inits}) -> (index, i32) {{",
        )
        inner = values.copy()
        inner.index += [counter, carried[0]]
        inner.i32.append(carried[1])
        self.block(depth + 1, inner, nest - 1)
        yielded = f"{self.pick(inner.index[-3:])}, {self.pick(inner.i32[-3:])}"
        self.put(depth + 1, f"scf.yield {yielded} : index, i32")
        attribute = self.pick(["", " {orch.loop = #orch<loop parallel>}"])
        self.put(depth, f"}}{attribute}")
        values.index.append(results[0])
        values.i32.append(results[1])

    def block(self, depth: int, values: Values, nest: int) -> None:
        for _ in range(self.draw(st.integers(1, 5))):
            match self.pick(["compute"] * 4 + (["branch", "loop"] if nest else [])):
                case "compute":
                    self.compute(depth, values)
                case "branch":
                    self.branch(depth, values, nest)
                case _:
                    self.loop(depth, values, nest)


@st.composite
def programs(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    writer.put(0, "orch.func opaque @main(in %n : index, in %m : i32) -> (index, i32, i1) {")
    values = Values(["%n"], ["%m"], [])
    for compared, type in (("%n", "index"), ("%m", "i32")):
        number, name = writer.number(1, type), writer.name()
        writer.put(1, f"{name} = arith.cmpi slt, {compared}, {number} : {type}")
        values.i1.append(name)
    writer.block(1, values, 3)
    returned = f"{values.index[-1]}, {values.i32[-1]}, {values.i1[-1]}"
    writer.put(1, f"orch.return {returned} : index, i32, i1")
    writer.put(0, "}")
    return "\n".join(writer.lines)


CONTEXT = context()


@settings(
    max_examples=120,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(text=programs())
def test_simplified_programs_do_the_same(text: str) -> None:
    before, after = program(text), program(text)
    SimplifyPass().apply(CONTEXT, after)
    assert verify(after) == []
    printed = str(after)
    for n in (-5, 0, 1, 3, 7):
        for m in (-2, 4):
            assert run(after, "main", [n, m]).results == run(before, "main", [n, m]).results
    again = program(printed)
    SimplifyPass().apply(CONTEXT, again)
    assert str(again) == printed
