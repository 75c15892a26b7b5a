"""
Generated kernels whose halves load and store the same tensors, in loops and branches, keep their
numbers on the cores of a group, in whatever order the pipes of these go on.

The machine refuses what is in no order, so that a handover that is missing is found though the
numbers may be right.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.machine_programs import parsed

from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run

T = "tensor<16x16xf32>"
M = "!tile.tile<16x16xf32>"
TENSORS = ("p", "q", "r")
PASSES = (
    "infer-tile-memory-space,resolve-backend-op-layouts,expand-mixed-kernel,verify-target,"
    "inject-gm-pipe-buffer,convert-tile-to-pto,memory-reuse,allocate-memory-addr,"
    "derive-call-directions,ascend910b-pipeline"
)
SPLITS = ("", "attributes {orch.split = #orch<split up_down>}")


@dataclass
class Writer(DrawnProgram):
    """The body of a kernel while it is drawn."""

    def step(self, names: dict[str, str]) -> None:
        """Load a tile, compute on one of the cores, or on both, and store it."""
        source, target = (self.draw(st.sampled_from(TENSORS)) for _ in range(2))
        value = self.name("t")
        self.lines.append(f"{value} = tile.load {names[source]}[0, 0] : {T} -> {M}")
        for work in self.draw(st.sampled_from(["c", "v", "cv", "vc"])):
            made = self.name("v")
            if work == "c":
                self.lines.append(f"{made} = tile.matmul {value}, %turn : {M}")
            else:
                other = self.name("o")
                self.lines.append(f"{other} = tile.load %a[0, 0] : {T} -> {M}")
                self.lines.append(f"{made} = tile.maximum {value}, {other} : {M}")
            value = made
        put = self.name(target)
        self.lines.append(f"{put} = tile.store {value}, {names[target]}[0, 0] : {M}, {T}")
        names[target] = put

    def loop(self, names: dict[str, str], depth: int, index: str | None) -> None:
        inner = {tensor: self.name("w") for tensor in TENSORS}
        results = {tensor: self.name("l") for tensor in TENSORS}
        inits = ", ".join(f"{inner[t]} = {names[t]}" for t in TENSORS)
        counter = self.name("i")
        self.lines.append(
            f"{', '.join(results.values())} = scf.for {counter} = %c0 to %n step %c1 "
            f"iter_args({inits}) -> ({T}, {T}, {T}) {{"
        )
        self.steps(inner, depth - 1, counter)
        self.lines += [f"scf.yield {', '.join(inner.values())} : {T}, {T}, {T}", "}"]
        names.update(results)

    def branch(self, names: dict[str, str], depth: int, index: str | None) -> None:
        condition = "%flag"
        if index is not None:
            condition = self.name("e")
            self.lines.append(f"{condition} = arith.cmpi eq, {index}, %c1 : index")
        results = {tensor: self.name("b") for tensor in TENSORS}
        self.lines.append(
            f"{', '.join(results.values())} = scf.if {condition} -> ({T}, {T}, {T}) {{"
        )
        for end in ("} else {", "}"):
            inner = dict(names)
            self.steps(inner, depth - 1, index, least=0)
            self.lines += [f"scf.yield {', '.join(inner.values())} : {T}, {T}, {T}", end]
        names.update(results)

    def steps(
        self, names: dict[str, str], depth: int, index: str | None, *, least: int = 1
    ) -> None:
        for _ in range(self.draw(st.integers(least, 3))):
            match self.draw(st.sampled_from("ssslb")) if depth else "s":
                case "l":
                    self.loop(names, depth, index)
                case "b":
                    self.branch(names, depth, index)
                case _:
                    self.step(names)


@st.composite
def kernels(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    names = {tensor: f"%{tensor}" for tensor in TENSORS}
    writer.steps(names, 2, None, least=2)
    parameters = ", ".join(
        (f"in %a : {T}, in %b : {T}", *(f"inout %{t} : {T}" for t in TENSORS), "in %n : index")
    )
    arguments = ", ".join(("%a", "%b", *(f"%{t}" for t in TENSORS), "%n"))
    body = "\n".join(writer.lines)
    results = f"({T}, {T}, {T})"
    return f"""builtin.module attributes {{pto.target_arch = "a2a3"}} {{
      orch.func incore @k({parameters}) -> {results} {draw(st.sampled_from(SPLITS))} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %flag = arith.cmpi eq, %n, %c1 : index
        %turn = tile.load %b[0, 0] : {T} -> {M}
        {body}
        orch.return {", ".join(names.values())} : {T}, {T}, {T}
      }}
      orch.func orchestration @main({parameters}) -> {results} {{
        %z:3 = orch.call @k({arguments}) : ({", ".join([T] * 5)}, index) -> {results}
        orch.return %z#0, %z#1, %z#2 : {T}, {T}, {T}
      }}
    }}"""


def matrices() -> Sequence[Any]:
    """Small integers, and a matrix that turns columns over and changes signs."""
    rng = np.random.default_rng(0)
    turn = np.diag(rng.choice((-1, 1), 16))[rng.permutation(16)]
    found = [rng.integers(-9, 10, (16, 16)) for _ in range(4)]
    return [m.astype(np.float32) for m in (found[0], turn, *found[1:])]


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(kernels(), st.integers(0, 3))
def test_halves_keep_the_order_of_the_text(text: str, n: int):
    whole = run(parsed(text), "main", [*(m.copy() for m in matrices()), n]).parameters
    lowered = parsed(text, PASSES)
    for seed in (None, 0, 1):
        given_ = [*(m.copy() for m in matrices()), n]
        after = run(lowered, "main", given_, cores=CoreSettings(seed)).parameters
        for tensor in TENSORS:
            np.testing.assert_array_equal(after[tensor], whole[tensor])
