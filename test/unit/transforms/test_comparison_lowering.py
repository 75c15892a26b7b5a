"""Comparisons of matrices, columns and rows keep their values down to instructions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.programs import context
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.pipelines import expand_pipelines
from pypto_xdsl.syntax.parser import parse_module

MODES: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "ge": operator.ge,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("shape", [(16, 32), (16, 1), (1, 32)])
def test_comparisons(shape: tuple[int, int], mode: str):
    tensor = f"tensor<{shape[0]}x{shape[1]}xf32>"
    text = f"""
    orch.func orchestration @main(in %x : {tensor}, in %y : {tensor}, in %k : f32) -> {tensor} {{
      %o = orch.incore "kernel" -> ({tensor}) {{
        %a = ptensor.cmp %x, %y, cmp_type = {mode} : {tensor}
        %b = ptensor.cmps %x, %k, cmp_type = {mode} : {tensor}, f32
        %c = ptensor.muls %b, %k : {tensor}, f32
        %d = ptensor.add %a, %c : {tensor}
        orch.yield %d : {tensor}
      }}
      orch.return %o : {tensor}
    }}
    """
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    rng = np.random.default_rng(5)
    x, y = (rng.integers(-2, 3, shape).astype(np.float32) for _ in range(2))
    wanted = MODES[mode](x, y).astype(np.float32) + 2 * MODES[mode](x, 2).astype(np.float32)
    (before,) = run(module, "main", [x, y, 2.0]).results
    np.testing.assert_array_equal(before, wanted)
    spec = expand_pipelines("default-pipeline")
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).apply(ctx, module)
    (after,) = run(module, "main", [x, y, 2.0]).results
    np.testing.assert_array_equal(after, wanted)
