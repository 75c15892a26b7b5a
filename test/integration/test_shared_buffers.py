"""
The example of writes through views, against numpy, whose views share buffers as well: as tensors,
as tiles, as `pto` on bytes, and on the pipes of a 910B, in whatever order tasks and pipes go on.
"""

from __future__ import annotations

from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.frontend.pl import read_program, read_source
from pypto_xdsl.frontend.pl.discovery import find_programs
from pypto_xdsl.interpreters.core_settings import CoreSettings
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.interpreters.task_graph_order import TaskGraphOrder
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.targets.orchestration import OrchestrationTarget

EXAMPLE = Path(__file__).parent.parent.parent / "docs" / "examples" / "shared_buffers.py"

LEVELS = {
    "tensor": "",
    "tile": "outline-incore-scopes,convert-tensor-to-tile-ops",
    "pto": "default-pipeline",
    "machine": "default-pipeline,convert-pto-to-ascend910b,insert-sync",
}


@cache
def lowered(level: str) -> ModuleOp:
    source = read_source(EXAMPLE.read_bytes(), str(EXAMPLE))
    (candidate,) = find_programs(source)
    module = read_program(source, candidate)
    passes = Universe.get_multiverse().all_passes
    if LEVELS[level]:
        spec = expand_pipelines(LEVELS[level])
        PassPipeline.parse_spec(passes, spec).apply(context(), module)
    return module


def expected(a: Any, twice: bool) -> Any:
    x = np.zeros_like(a)
    flat = x.reshape(2048)
    for i in range(4):
        rows = x[i * 16 : i * 16 + 16]
        rows[:] = 2 * a[i * 16 : i * 16 + 16]
    half = flat[1024:].reshape(32, 32)
    half[:] = -half
    if twice:
        x[48:64] = 2 * x[32:48]
    y = x + 1
    y[63] = flat[:32]
    return y


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_agrees_with_numpy(level: str, twice: bool, seed: int | None) -> None:
    a = np.arange(2048, dtype=np.float32).reshape(64, 32)
    has_task_graph = level in ("pto", "machine")
    outcome = run(
        lowered(level),
        "main",
        [a, twice, None],
        scheduler=TaskGraphOrder(seed) if seed is not None and has_task_graph else None,
        cores=CoreSettings(seed),
    )
    np.testing.assert_array_equal(outcome.parameters["y"], expected(a, twice))


def test_the_orchestration_has_one_buffer_and_copies_nothing() -> None:
    """A next name for a buffer is no variable, and no task."""
    output = StringIO()
    OrchestrationTarget().write(context(), lowered("pto"), output)
    text = output.getvalue()
    assert text.count("alloc_tensors(") == 1
    assert text.count("rt_submit_aiv_task(") == 5
    assert "params_t3.add_input(x);" in text
    assert "params_t4.add_input(flat);" in text
