"""
Mixed kernels compute, on a cube core and one or two vector cores, what numpy makes of the same
numbers: as tensors, as tiles that pass between the cores, and on the pipes of a 910B in whatever
order tasks, cores and pipes go on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.mixed_programs import MIXED, SPLITS, Mixed
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.analysis.verification import verify
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import DiagnosticsError
from pypto_xdsl.dialects import orch, pto
from pypto_xdsl.dialects.orch import FunctionKind
from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder
from pypto_xdsl.pipelines import PIPELINES, expand_pipelines

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "mixed_kernel.py"
PASSES = "default-pipeline,ascend910b-pipeline"
SLOTS = "inject-gm-pipe-buffer"
"""The last pass before kernels are `.pto` code."""


def read(text: str, name: str) -> ModuleOp:
    source = read_source(text.encode(), name)
    (candidate,) = find_programs(source)
    return read_program(source, candidate)


def lower(module: ModuleOp, passes: str = PASSES) -> ModuleOp:
    """Run passes, after each of which the program is valid."""
    ctx = context()

    def check(*_: Any) -> None:
        assert not verify(module)

    spec = expand_pipelines(passes)
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec, check).apply(ctx, module)
    check()
    return module


def cases() -> Iterator[Any]:
    for name, program in MIXED.items():
        splits = SPLITS if "{split}" in program.source else ("none",)
        for split in splits:
            yield pytest.param(name, split, id=f"{name}-{split}")


def entry(module: ModuleOp) -> str:
    kinds = (FunctionKind.ORCHESTRATION, FunctionKind.OPAQUE)
    functions = [f for f in walk(module) if isinstance(f, orch.FuncOp) and f.kind.data in kinds]
    return functions[-1].sym_name.data


@cache
def lowered(name: str, split: str) -> ModuleOp:
    return lower(read(MIXED[name].text(split), f"{name}.py"))


def expect(program: Mixed, module: ModuleOp, function: str, **how: Any) -> None:
    given = program.arguments()
    results = run(module, function, given, **how).results
    for got, wanted in zip(results, program.wanted(given), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=program.tolerance, atol=program.tolerance)


@pytest.mark.parametrize("name", MIXED)
def test_as_tensors(name: str):
    program = MIXED[name]
    module = read(program.text("none"), f"{name}.py")
    expect(program, module, entry(module))


@pytest.mark.parametrize(("name", "split"), list(cases()))
def test_on_the_cores_of_groups(name: str, split: str):
    program = MIXED[name]
    function = entry(read(program.text(split), f"{name}.py"))
    if (reason := program.refused.get(split)) is not None:
        with pytest.raises(DiagnosticsError, match=reason) as refusal:
            lowered(name, split)
        # At the line of the program.
        assert all(str(d).startswith(f"{name}.py:") for d in refusal.value.diagnostics)
        return
    module = lowered(name, split)
    expect(program, module, function)
    for seed in (1, 2, 3):
        scheduler = TaskGraphOrder(seed)
        expect(program, module, function, cores=CoreSettings(seed), scheduler=scheduler)


BEFORE_PTO = PIPELINES["default-pipeline"][: PIPELINES["default-pipeline"].index(SLOTS) + 1]
PARTS = (FunctionKind.AIC, FunctionKind.AIV)
EXPANDED = BEFORE_PTO[: [p.startswith("expand-mixed-kernel") for p in BEFORE_PTO].index(True) + 1]


@pytest.mark.parametrize("passes", [EXPANDED, BEFORE_PTO], ids=["expanded", "with slots"])
@pytest.mark.parametrize(
    ("name", "split"), [c for c in cases() if c.values[1] not in MIXED[c.values[0]].refused]
)
def test_on_tiles_that_pass_between_cores(name: str, split: str, passes: Sequence[str]):
    program = MIXED[name]
    module = read(program.text(split), f"{name}.py")
    function = entry(module)
    lower(module, ",".join(passes))
    assert any(isinstance(op, orch.FuncOp) and op.kind.data in PARTS for op in walk(module))
    for seed in (None, 1, 2):
        expect(program, module, function, cores=CoreSettings(seed))


@pytest.mark.parametrize("split", ["up_down", "left_right"])
def test_each_core_has_its_part(split: str):
    """A part of what the vector cores do on one core is done by each, none of it by both."""
    for name in ("matmul_bias_relu", "there_and_back", "loop"):
        module = lowered(name, split)
        whole = lowered(name, "none")
        sizes: list[set[int]] = []
        for found in (module, whole):
            pops = [op for op in walk(found) if isinstance(op, pto.TPopFromAicOp)]
            types = [op.tile.type for op in pops]
            sizes.append(
                {
                    int(np.prod(t.valid_shape))
                    for t in types
                    if isinstance(t, pto.TileBufType) and 0 not in t.valid_shape
                }
            )
            if found is module:
                assert {op.split_code for op in pops} == {1 if split == "up_down" else 2}
        assert sizes == [{32 * 64}, {64 * 64}]


def example() -> ModuleOp:
    return read(EXAMPLE.read_text(), str(EXAMPLE))


def arguments() -> tuple[list[Any], Any]:
    """Small integers, whose sums are exact in any order, and what the program makes of them."""
    rng = np.random.default_rng(0)
    x, up, bias, down = (rng.integers(-1, 2, (64, 64)).astype(np.float32) for _ in range(4))
    wanted = np.maximum(x @ up + bias, 0) @ down - bias
    return [x, up, bias, down, np.zeros((64, 64), np.float32)], wanted


def test_example_as_one_kernel():
    given, wanted = arguments()
    (result,) = run(example(), "feed_forward", given).results
    np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_example_on_the_cores_of_a_group(seed: int | None):
    module = lower(example())
    given, wanted = arguments()
    (result,) = run(module, "feed_forward", given, cores=CoreSettings(seed)).results
    np.testing.assert_array_equal(result, wanted)
