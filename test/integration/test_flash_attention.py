"""
The flash attention of `docs/examples`, as one kernel of both cores and as tasks, against numpy: as
tensors, as tiles, as `pto` on bytes, and on the pipes of a 910B, in whatever order tasks and pipes
go on.
"""

from __future__ import annotations

from functools import cache
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

EXAMPLES = Path(__file__).parent.parent.parent / "docs" / "examples"
ROWS, HEAD, KEYS = 64, 128, 512

LEVELS = {
    "tensor": "",
    "tile": "outline-incore-scopes,convert-tensor-to-tile-ops",
    "pto": "default-pipeline",
    "machine": "default-pipeline,convert-pto-to-ascend910b,insert-sync",
}


@cache
def arguments() -> tuple[Any, ...]:
    rng = np.random.default_rng(5)
    return tuple(
        rng.standard_normal((rows, HEAD)).astype(np.float16) for rows in (ROWS, KEYS, KEYS)
    )


@cache
def attention() -> Any:
    """All keys at once, in f64."""
    q, k, v = (array.astype(np.float64) for array in arguments())
    scores = q @ k.T / np.sqrt(HEAD)
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers @ v / powers.sum(axis=1, keepdims=True)


@cache
def lowered(name: str, level: str) -> ModuleOp:
    path = EXAMPLES / f"{name}.py"
    source = read_source(path.read_bytes(), str(path))
    (candidate,) = find_programs(source)
    module = read_program(source, candidate)
    passes = Universe.get_multiverse().all_passes
    if LEVELS[level]:
        spec = expand_pipelines(LEVELS[level])
        PassPipeline.parse_spec(passes, spec).apply(context(), module)
    return module


@pytest.mark.parametrize("seed", [None, 1, 2])
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["flash_attention", "flash_attention_tasks"])
def test_every_level_agrees_with_numpy(name: str, level: str, seed: int | None) -> None:
    has_task_graph = level in ("pto", "machine")
    outcome = run(
        lowered(name, level),
        "main",
        [*arguments(), None],
        scheduler=TaskGraphOrder(seed) if seed is not None and has_task_graph else None,
        cores=CoreSettings(seed),
    )
    # The weights are rounded to f16, whose last place is 2^-11 of a number.
    np.testing.assert_allclose(outcome.parameters["out"], attention(), rtol=0, atol=2.0**-11)
