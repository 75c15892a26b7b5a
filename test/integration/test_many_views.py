"""
Many views of one buffer that overlap, all made before the first write: tasks write and read them in
any order, in loops and branches too, and see what numpy's views see.
"""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects.ptensor.memory import UpdatedOp
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines

COUNT = 14
"""More than are told one by one."""

HEAD = """\
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[16, 16], pl.FP32], b: pl.InOut[pl.Tensor[[16, 16], pl.FP32]]
          ) -> pl.Tensor[[16, 16], pl.FP32]:
        t = pl.sub(pl.load(b, [0, 0], [16, 16]), pl.load(a, [0, 0], [16, 16]))
        b = pl.store(t, [0, 0], b)
        return b

    @pl.function(type=pl.FunctionType.Orchestration)
    def main(self, x: pl.InOut[pl.Tensor[[64, 16], pl.FP32]], n: pl.Scalar[pl.INDEX]
             ) -> pl.Tensor[[64, 16], pl.FP32]:
"""


class Drawn:
    """A program, and what it does to an array."""

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self.starts = [self._random.randrange(0, 49, 4) for _ in range(COUNT)]
        self.lines = [f"v{i} = pl.slice(x, [16, 16], [{s}, 0])" for i, s in enumerate(self.starts)]
        self.steps = self._block(20, "", depth=0)
        self.lines.append("return x")

    @property
    def text(self) -> str:
        return HEAD + "".join(f"        {line}\n" for line in self.lines)

    def _block(self, count: int, indent: str, depth: int) -> list[Any]:
        steps: list[Any] = []
        for _ in range(count):
            kind = self._random.random()
            if depth < 2 and kind < 0.2:
                self.lines.append(f"{indent}for i{depth} in pl.range(2):")
                steps.append(("for", self._block(3, indent + "    ", depth + 1)))
            elif depth < 2 and kind < 0.4:
                bound = self._random.randrange(4)
                self.lines.append(f"{indent}if n > {bound}:")
                steps.append(("if", bound, self._block(3, indent + "    ", depth + 1)))
            else:
                read, written = self._random.sample(range(COUNT), 2)
                self.lines.append(f"{indent}v{written} = self.k(v{read}, v{written})")
                steps.append(("task", read, written))
        return steps

    def apply(self, x: Any, n: int) -> None:
        views = [x[start : start + 16] for start in self.starts]

        def go(steps: list[Any]) -> None:
            for step in steps:
                if step[0] == "task":
                    views[step[2]][:] = views[step[2]] - views[step[1]].copy()
                elif step[0] == "for":
                    go(step[1])
                    go(step[1])
                elif n > step[1]:
                    go(step[2])

        go(self.steps)


def read(text: str) -> ModuleOp:
    source = read_source(text.encode(), "p.py")
    (candidate,) = find_programs(source)
    return read_program(source, candidate)


@pytest.mark.parametrize("seed", range(12))
def test_each_view_sees_what_was_written_through_others(seed: int) -> None:
    drawn = Drawn(seed)
    module = read(drawn.text)
    assert not verify(module)
    assert any(isinstance(op, UpdatedOp) for op in walk(module))
    modules = [module]
    if seed < 3:
        lowered = read(drawn.text)
        passes = Universe.get_multiverse().all_passes
        spec = expand_pipelines("default-pipeline")
        PassPipeline.parse_spec(passes, spec).apply(context(), lowered)
        modules.append(lowered)
    rng = np.random.default_rng(seed)
    for n in (0, 2):
        x = rng.integers(-2, 3, (64, 16)).astype(np.float32)
        wanted = x.copy()
        drawn.apply(wanted, n)
        for each in modules:
            np.testing.assert_array_equal(run(each, "main", [x, n]).parameters["x"], wanted)


def test_programs_are_read_the_same_each_time() -> None:
    """Whatever the order of sets of names is."""
    texts = [Drawn(seed).text for seed in range(4)]
    paths = [str(Path(__file__).parent), *sys.path]
    script = (
        f"import sys; sys.path[:0] = {paths!r}\n"
        f"from test_many_views import read\n"
        f"print(*(read(text) for text in {texts!r}))"
    )
    found = {
        subprocess.check_output(
            [sys.executable, "-c", script], env={"PYTHONHASHSEED": str(seed)}, text=True
        )
        for seed in range(3)
    }
    assert len(found) == 1


def test_views_are_told_by_one_name_of_the_whole() -> None:
    views = "".join(f"        v{i} = pl.slice(x, [16, 16], [{i}, 0])\n" for i in range(COUNT))
    writes = "".join(f"        v{i} = self.k(v{i}, v{i})\n" for i in range(COUNT)) * 2
    module = read(HEAD + views + writes + "        return x\n")
    told = [len(op.by) for op in walk(module) if isinstance(op, UpdatedOp)]
    # The first few views one by one, then the whole, and each view by that.
    assert max(told) <= COUNT
    assert sum(told) < 6 * COUNT
