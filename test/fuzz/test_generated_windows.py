"""
Generated programs with windows keep their numbers through the default pipeline: tasks fill scratch
that is put into tensors, and read and write windows of rows and columns, in place and in loops.

Fusing lets a task write where its result is put; kernels are told how far apart the rows of the
windows are that they are given, wherever these come from.
"""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from support.drawn_programs import DrawnProgram
from support.programs import context
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.interpreters.differential import assert_same_run
from pypto_xdsl.properties.holding import derive
from pypto_xdsl.syntax.parser import parse_module
from pypto_xdsl.universe import PYPTO_UNIVERSE

BOX = "tensor<8x8xf32>"
TILE = "!tile.tile<8x8xf32>"
TENSORS = {"p": (16, 24), "q": (24, 32), "r": (24, 8)}

KERNELS = f"""
orch.func incore @double(in %x : {BOX}, out %o : {BOX}) -> {BOX} {{
  %t = tile.load %x[0, 0] : {BOX} -> {TILE}
  %u = tile.add %t, %t : {TILE}
  %o1 = tile.store %u, %o[0, 0] : {TILE}, {BOX}
  orch.return %o1 : {BOX}
}}
orch.func incore @subtract(in %x : {BOX}, inout %o : {BOX}) -> {BOX} {{
  %t = tile.load %x[0, 0] : {BOX} -> {TILE}
  %u = tile.load %o[0, 0] : {BOX} -> {TILE}
  %v = tile.sub %u, %t : {TILE}
  %o1 = tile.store %v, %o[0, 0] : {TILE}, {BOX}
  orch.return %o1 : {BOX}
}}
orch.func group @wrapped(in %x : {BOX}, inout %o : {BOX}) -> {BOX} {{
  %o1 = orch.call @subtract(%x, %o) : ({BOX}, {BOX}) -> {BOX}
  orch.return %o1 : {BOX}
}}
"""


def type_of(name: str) -> str:
    rows, columns = TENSORS[name]
    return f"tensor<{rows}x{columns}xf32>"


@dataclass
class Writer(DrawnProgram):
    """The body of the program while it is drawn."""

    def place(self, name: str, index: str | None) -> str:
        """A place of a box in a tensor; its row may be one that a loop counts."""
        rows, columns = TENSORS[name]
        column = self.draw(st.integers(0, columns - 8))
        if index is not None and self.draw(st.booleans()):
            return f"{index}, {column}"
        return f"{self.draw(st.integers(0, rows - 8))}, {column}"

    def window(self, names: dict[str, str], index: str | None) -> tuple[str, str, str]:
        """A window of a tensor: its name, the tensor, and where it is."""
        tensor = self.draw(st.sampled_from(sorted(TENSORS)))
        place, window = self.place(tensor, index), self.name("w")
        self.lines.append(
            f"{window} = ptensor.slice {names[tensor]}[{place}] : {type_of(tensor)} -> {BOX}"
        )
        return window, tensor, place

    def source(self, names: dict[str, str], boxes: list[str], index: str | None) -> str:
        if self.draw(st.booleans()):
            return self.draw(st.sampled_from(boxes))
        return self.window(names, index)[0]

    def task(self, names: dict[str, str], boxes: list[str], index: str | None) -> None:
        """A task that writes scratch, or a window in place, and puts it into a tensor."""
        source = self.source(names, boxes, index)
        result = self.name("y")
        if self.draw(st.booleans()):
            scratch = self.name("s")
            self.lines.append(f"{scratch} = ptensor.create : {BOX}")
            tensor = self.draw(st.sampled_from(sorted(TENSORS)))
            place, kernel, written = self.place(tensor, index), "double", scratch
        else:
            written, tensor, place = self.window(names, index)
            kernel = self.draw(st.sampled_from(["double", "subtract", "wrapped"]))
        self.lines.append(
            f"{result} = orch.call @{kernel}({source}, {written}) : ({BOX}, {BOX}) -> {BOX}"
        )
        put = self.name(tensor)
        self.lines.append(
            f"{put} = ptensor.assemble {result}, {names[tensor]}[{place}] : "
            f"{BOX}, {type_of(tensor)}"
        )
        names[tensor] = put
        if kernel == "double" and written.startswith("%s") and self.draw(st.booleans()):
            boxes.append(result)

    def loop(self, names: dict[str, str], boxes: list[str]) -> None:
        inner = {tensor: self.name("c") for tensor in TENSORS}
        results = {tensor: self.name("l") for tensor in TENSORS}
        inits = ", ".join(f"{inner[t]} = {names[t]}" for t in TENSORS)
        types = ", ".join(type_of(t) for t in TENSORS)
        index = self.name("i")
        self.lines.append(
            f"{', '.join(results.values())} = scf.for {index} = %zero to %sixteen step %eight "
            f"iter_args({inits}) -> ({types}) {{"
        )
        own = list(boxes)
        for _ in range(self.draw(st.integers(1, 2))):
            self.task(inner, own, index)
        self.lines.append(f"scf.yield {', '.join(inner.values())} : {types}")
        self.lines.append("}")
        names.update(results)


@st.composite
def programs(draw: st.DrawFn) -> str:
    writer = Writer(draw)
    names = {tensor: f"%{tensor}" for tensor in TENSORS}
    boxes = ["%x"]
    for _ in range(draw(st.integers(1, 4))):
        if draw(st.integers(0, 2)) == 0:
            writer.loop(names, boxes)
        else:
            writer.task(names, boxes, None)
    parameters = ", ".join(f"inout %{t} : {type_of(t)}" for t in TENSORS)
    body = "\n  ".join(writer.lines)
    return f"""{KERNELS}
orch.func orchestration @main(in %x : {BOX}, {parameters}) {{
  %zero = arith.constant 0 : index
  %eight = arith.constant 8 : index
  %sixteen = arith.constant 16 : index
  {body}
  orch.return
}}
"""


CONTEXT = context()


def lowered(module: ModuleOp) -> ModuleOp:
    after = module.clone()
    with collecting():
        PYPTO_UNIVERSE.all_passes["default-pipeline"]()().apply(CONTEXT, after)
    after.verify()
    return after


@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(text=programs())
def test_windows_keep_their_numbers(text: str) -> None:
    before = parse_module(CONTEXT, text, "generated.mlir")
    with collecting():
        assume(not list(derive("NoStaleRead", before)))
    after = lowered(before)
    with collecting():
        assert list(derive("NoStaleRead", after)) == []
    assert_same_run(before, after, "main", seeds=[0])
