"""
Generated sums of products of batches give the same at every level, down to one core.

The accumulator holds one matrix at a time, so that loops and branches carry each sum of a batch
for itself. Batches broadcast, and elements are small integers, so that sums are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.lowering_levels import assert_keeps_results, on_910b

ROWS = 16


@dataclass
class Writer(DrawnProgram):
    """A kernel's body while it is drawn; each sum is used once, as accumulators are not copied."""

    random: np.random.Generator
    pages: int
    inner: int
    columns: int
    parameters: list[str] = field(default_factory=list[str])
    arguments: list[Any] = field(default_factory=list[Any])
    results: list[str] = field(default_factory=list[str])

    @property
    def shape(self) -> str:
        return f"{self.pages}x{ROWS}x{self.columns}xf32"

    @property
    def sum(self) -> str:
        return f"!tile.tile<{self.shape}>"

    def choose(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def parameter(self, kind: str, type: str, argument: Any) -> str:
        name = self.name("p")
        self.parameters.append(f"{kind} {name} : {type}")
        self.arguments.append(argument)
        return name

    def _operand(self, depth: int, shape: tuple[int, ...]) -> tuple[str, str]:
        name, extents = self.name(), "x".join(map(str, shape))
        numbers = self.random.integers(-3, 4, shape).astype(np.float16)
        tensor = self.parameter("in", f"tensor<{extents}xf16>", numbers)
        zeros, type = ", ".join("0" for _ in shape), f"!tile.tile<{extents}xf16>"
        self.put(depth, f"{name} = tile.load {tensor}[{zeros}] : tensor<{extents}xf16> -> {type}")
        return name, type

    def _pair(self, depth: int) -> tuple[str, str, str]:
        """Two operands, of which one may be the same for all pages, and their types."""
        whole, one = (self.pages,), self.choose((1,), ())
        batches = self.choose((whole, whole), (whole, one), (one, whole))
        (left, left_type), (right, right_type) = (
            self._operand(depth, (*batch, *matrix))
            for batch, matrix in zip(
                batches, ((ROWS, self.inner), (self.inner, self.columns)), strict=True
            )
        )
        return left, right, f"{left_type}, {right_type}"

    def product(self, sums: list[str], depth: int) -> None:
        left, right, types = self._pair(depth)
        name = self.name()
        self.put(depth, f"{name} = tile.batch_matmul {left}, {right} : {types} -> {self.sum}")
        sums.append(name)

    def more(self, sums: list[str], depth: int) -> None:
        left, right, types = self._pair(depth)
        old, name = self.taken(sums), self.name()
        self.put(
            depth,
            f"{name} = tile.batch_matmul_acc {old}, {left}, {right} : {self.sum}, {types}",
        )
        sums.append(name)

    def taken(self, sums: list[str]) -> str:
        """A sum, which is not there any more."""
        return sums.pop(self.draw(st.integers(0, len(sums) - 1)))

    def statements(self, sums: list[str], depth: int, most: int) -> None:
        kinds = ["product", "more", "more", *(["loop", "until", "branch"] if depth < 3 else [])]
        for _ in range(self.draw(st.integers(1, most))):
            kind = self.choose(*kinds) if sums else "product"
            getattr(self, kind)(sums, depth)

    def body(self, carried: str, depth: int) -> str:
        """A block that adds to a sum, or makes a new one; what it hands on."""
        inside = [carried]
        self.statements(inside, depth, 2)
        return self.taken(inside)

    def loop(self, sums: list[str], depth: int) -> None:
        old, carried, name, turn = self.taken(sums), self.name(), self.name(), self.name("i")
        self.put(
            depth,
            f"{name} = scf.for {turn} = %c0 to %c{self.choose(0, 1, 3)} step %c1 "
            f"iter_args({carried} = {old}) -> ({self.sum}) {{",
        )
        self.put(depth, f"  scf.yield {self.body(carried, depth + 1)} : {self.sum}")
        self.put(depth, "}")
        sums.append(name)

    def until(self, sums: list[str], depth: int) -> None:
        """A loop that asks before each turn."""
        old, asked, carried, name = self.taken(sums), self.name(), self.name(), self.name()
        turn, more, last, following = (self.name("i") for _ in range(4))
        types = f"index, {self.sum}"
        self.put(
            depth,
            f"{last}, {name} = scf.while ({turn} = %c0, {asked} = {old}) : ({types}) -> "
            f"({types}) {{",
        )
        limit = self.choose(0, 1, 3)
        self.put(depth, f"  {more} = arith.cmpi slt, {turn}, %c{limit} : index")
        self.put(depth, f"  scf.condition({more}) {turn}, {asked} : {types}")
        self.put(depth, "} do {")
        again = self.name("i")
        self.put(depth, f"^bb0({again} : index, {carried} : {self.sum}):")
        ending = self.body(carried, depth + 1)
        self.put(depth, f"  {following} = arith.addi {again}, %c1 : index")
        self.put(depth, f"  scf.yield {following}, {ending} : {types}")
        self.put(depth, "}")
        sums.append(name)

    def branch(self, sums: list[str], depth: int) -> None:
        old, name = self.taken(sums), self.name()
        condition = self.parameter("in", "i1", self.choose(False, True))
        self.put(depth, f"{name} = scf.if {condition} -> ({self.sum}) {{")
        self.put(depth, f"  scf.yield {self.body(old, depth + 1)} : {self.sum}")
        self.put(depth, "} else {")
        ending = self.body(old, depth + 1) if self.choose(False, True) else old
        self.put(depth, f"  scf.yield {ending} : {self.sum}")
        self.put(depth, "}")
        sums.append(name)

    def store(self, sum: str) -> None:
        zeros = np.zeros((self.pages, ROWS, self.columns), np.float32)
        target, name = self.parameter("inout", f"tensor<{self.shape}>", zeros), self.name()
        types = f"{self.sum}, tensor<{self.shape}>"
        self.put(1, f"{name} = tile.store {sum}, {target}[0, 0, 0] : {types}")
        self.results.append(name)

    @property
    def text(self) -> str:
        types = ", ".join(f"tensor<{self.shape}>" for _ in self.results)
        body = "\n".join(self.lines)
        return on_910b(
            f"""
            orch.func incore @k({", ".join(self.parameters)}) -> ({types}) {{
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c3 = arith.constant 3 : index
            {body}
              orch.return {", ".join(self.results)} : {types}
            }}
            """
        )


@st.composite
def kernels(draw: st.DrawFn) -> Writer:
    """A kernel that stores the sums that it ends with."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    inner, columns = (draw(st.sampled_from((16, 32))) for _ in range(2))
    writer = Writer(draw, random, draw(st.sampled_from((1, 2, 3))), inner, columns)
    sums: list[str] = []
    writer.statements(sums, 1, 5)
    for sum in sums:
        writer.store(sum)
    return writer


@settings(
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(kernels())
def test_the_same_at_every_level(kernel: Writer):
    assert_keeps_results(kernel.text, kernel.arguments)
