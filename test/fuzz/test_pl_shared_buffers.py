"""
Random programs that read and write one buffer through views of it, in loops, branches and scopes:
they do what numpy does, whose views share buffers too, before and after lowering, in whatever order
tasks go on; and they come back the same from text.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from check_pypto_pairs import problems, same
from hypothesis import given, settings
from hypothesis import strategies as st
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.targets.pl.program import program_text

HEAD = """import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def mix(
        self,
        a: pl.Tensor[[8], pl.INT32],
        b: pl.InOut[pl.Tensor[[8], pl.INT32]],
    ) -> pl.Tensor[[8], pl.INT32]:
        s = pl.load(a, [0], [8])
        t = pl.load(b, [0], [8])
        b = pl.store(pl.add(pl.add(s, t), t), [0], b)
        return b

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(
        self,
        x: pl.InOut[pl.Tensor[[8, 8], pl.INT32]],
        c: pl.Scalar[pl.BOOL],
        d: pl.Scalar[pl.BOOL],
    ) -> pl.Tensor[[8, 8], pl.INT32]:
"""


@dataclass
class Writer:
    """Writes one program twice: for PyPTO and for numpy. All names are of `size` elements."""

    rng: random.Random
    dsl: list[str] = field(default_factory=list[str])
    numpy: list[str] = field(default_factory=list[str])
    depth: int = 0
    made: int = 0
    left: int = 14

    def line(self, dsl: str, numpy: str) -> None:
        self.dsl.append("    " * (self.depth + 2) + dsl)
        self.numpy.append("    " * self.depth + numpy)

    def name(self) -> str:
        self.made += 1
        return f"v{self.made}"

    def block(self, names: dict[str, int], offset: str | None) -> None:
        """Statements; `names` are those that may be used here, with their sizes."""
        names = dict(names)
        for _ in range(self.rng.randint(2, 5)):
            self.left -= 1
            if self.left < 0:
                break
            kinds = ["view", "view", "write", "write", "write", "scope"]
            if self.depth < 3:
                kinds += ["loop", "if", "if"]
            getattr(self, f"_{self.rng.choice(kinds)}")(names, offset)
        self._write(names, offset)

    def _part(self, names: dict[str, int], offset: str | None, size: int) -> tuple[str, str]:
        """A view of `size` elements, as an expression."""
        base = self.rng.choice([name for name, have in names.items() if have >= size])
        have = names[base]
        if have == size:
            return f"pl.reshape({base}, [{size}])", f"{base}.reshape({size})"
        starts = [str(start) for start in range(0, have - size + 1, 8)]
        if offset is not None and have == 64 and size == 8:
            starts += [f"{offset} * 8"] * 4
        start = self.rng.choice(starts)
        dsl, numpy = f"pl.reshape({base}, [{have}])", f"{base}.reshape({have})"
        return (
            f"pl.slice({dsl}, [{size}], [{start}])",
            f"{numpy}[{start} : {start} + {size}]",
        )

    def _view(self, names: dict[str, int], offset: str | None) -> None:
        size = self.rng.choice([8, 16, 64])
        if not any(have >= size for have in names.values()):
            size = 8
        dsl, numpy = self._part(names, offset, size)
        name = self.name()
        self.line(f"{name} = {dsl}", f"{name} = {numpy}")
        names[name] = size

    def _operands(self, names: dict[str, int], offset: str | None) -> tuple[str, str]:
        """Names of 8 elements to read and to write."""
        for _ in range(2):
            if self.rng.random() < 0.6 or 8 not in names.values():
                dsl, numpy = self._part(names, offset, 8)
                name = self.name()
                self.line(f"{name} = {dsl}", f"{name} = {numpy}")
                names[name] = 8
        eight = [name for name, have in names.items() if have == 8]
        return self.rng.choice(eight), self.rng.choice(eight)

    def _write(self, names: dict[str, int], offset: str | None) -> None:
        source, target = self._operands(names, offset)
        result = f"{target} = " if self.rng.random() < 0.5 else ""
        self.line(
            f"{result}self.mix({source}, {target})",
            f"{target}[:] = {source} + {target} + {target}",
        )

    def _scope(self, names: dict[str, int], offset: str | None) -> None:
        source, target = self._operands(names, offset)
        self.line("with pl.at(level=pl.Level.CORE_GROUP):", "if True:")
        self.depth += 1
        name = self.name()
        self.line(f"{name} = pl.load({source}, [0], [8])", f"{name} = {source}.copy()")
        result = f"{target} = " if self.rng.random() < 0.5 else ""
        self.line(f"{result}pl.store({name}, [0], {target})", f"{target}[:] = {name}")
        self.depth -= 1

    def _loop(self, names: dict[str, int], offset: str | None) -> None:
        index = f"i{self.depth}"
        kind = self.rng.choice(["range", "range", "range", "unroll"])
        self.line(f"for {index} in pl.{kind}(3):", f"for {index} in range(3):")
        self.depth += 1
        self.block(names, index)
        self.depth -= 1

    def _if(self, names: dict[str, int], offset: str | None) -> None:
        condition = self.rng.choice("cd")
        self.line(f"if {condition}:", f"if {condition}:")
        self.depth += 1
        self.block(names, offset)
        self.depth -= 1
        if self.rng.random() < 0.5:
            self.line("else:", "else:")
            self.depth += 1
            self.block(names, offset)
            self.depth -= 1


def programs(seed: int) -> tuple[str, str]:
    """The text of a program, and what it does to `x` as statements of numpy."""
    writer = Writer(random.Random(seed))
    writer.block({"x": 64}, None)
    end = "        return x\n"
    return HEAD + "\n".join(writer.dsl) + "\n" + end, "\n".join(writer.numpy)


def read(text: str) -> ModuleOp:
    source = read_source(text.encode(), "p.py")
    (candidate,) = find_programs(source)
    module = read_program(source, candidate)
    assert problems(module) == [], text
    return module


@settings(max_examples=25)
@given(st.integers(0, 2**32))
def test_views_share_buffers(seed: int) -> None:
    text, statements = programs(seed)
    module = read(text)
    again = read(program_text(module))
    assert program_text(again) == program_text(module)
    assert same(module, again)

    lowered = module.clone()
    # The runtime by itself does not order a write after a read.
    spec = expand_pipelines("named-dependencies-pipeline")
    passes = Universe.get_multiverse().all_passes
    PassPipeline.parse_spec(passes, spec).apply(context(), lowered)
    runs: list[tuple[ModuleOp, TaskGraphOrder | None]] = [(module, None), (lowered, None)]
    if "unroll" not in text:
        # Else tasks may have too many to wait for, which is reported.
        runs.append((lowered, TaskGraphOrder(1)))
    for c, d in ((False, True), (True, False), (True, True)):
        x = np.arange(64, dtype=np.int32).reshape(8, 8)
        found: dict[str, Any] = {"x": x.copy(), "c": c, "d": d}
        exec(statements, found)
        for variant, scheduler in runs:
            outcome = run(variant, "main", [x, c, d], scheduler=scheduler)
            np.testing.assert_array_equal(outcome.parameters["x"], found["x"], err_msg=text)
