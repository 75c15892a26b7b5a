"""Sines and conversions by several instructions are what numpy computes."""

from __future__ import annotations

import numpy as np
import pytest
from support.programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import PassPipeline
from xdsl.universe import Universe

from pypto_xdsl.interpreters.run import run
from pypto_xdsl.syntax.parser import parse_module

LOWERING = (
    "convert-tensor-to-tile-ops",
    "lower-composite-ops",
    "flatten-tile-nd-to-2d",
    "legalize-tile-cast{backend=ascend910b}",
    "infer-tile-memory-space",
    "resolve-backend-op-layouts{backend=ascend910b}",
    "verify-target{backend=ascend910b}",
    "convert-tile-to-pto{backend=ascend910b}",
    "memory-reuse",
    "allocate-memory-addr{backend=ascend910b}",
)


def lowered(text: str) -> ModuleOp:
    ctx = context()
    module = parse_module(ctx, text, "kernel.mlir")
    spec = ",".join(LOWERING)
    PassPipeline.parse_spec(Universe.get_multiverse().all_passes, spec).apply(ctx, module)
    return module


def kernel(body: str, source: str, result: str) -> str:
    return f"""
    orch.func incore @k(in %x : tensor<{source}>, out %o : tensor<{result}>) -> tensor<{result}> {{
      {body}
      %s = ptensor.assemble %y, %o[0, 0] : tensor<{result}>, tensor<{result}>
      orch.return %s : tensor<{result}>
    }}
    """


@pytest.mark.parametrize("function", ["sin", "cos"])
@pytest.mark.parametrize("reach", [1.0, 10.0, 1000.0])
def test_sines(function: str, reach: float):
    text = kernel(f"%y = ptensor.{function} %x : tensor<64x64xf32>", "64x64xf32", "64x64xf32")
    x = np.random.default_rng(7).uniform(-reach, reach, (64, 64)).astype(np.float32)
    x[0, :8] = [0.0, np.pi, -np.pi, np.pi / 2, -np.pi / 2, 3 * np.pi, 1e-20, -0.0]
    wanted = getattr(np, function)(x.astype(np.float64))
    out = np.zeros_like(x)
    (result,) = run(lowered(text), "k", [x, out]).results
    np.testing.assert_allclose(np.asarray(result), wanted, rtol=0, atol=2.0**-22)


@pytest.mark.parametrize("mode", ["rint", "floor", "ceil", "trunc"])
def test_conversions_round_once(mode: str):
    types = "tensor<16x32xf32> -> tensor<16x32xi8>"
    body = f"%y = ptensor.cast %x, target_type = i8, mode = {mode} : {types}"
    # Just off a half, by less than an f16 can tell.
    halves = np.arange(-64, 64, dtype=np.float32)[:, None] + np.float32(0.5)
    tiny = np.array([0, 2.0**-15, -(2.0**-15), 0.25], dtype=np.float32)
    x = (halves + tiny).reshape(16, 32)
    round_whole = {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}[mode]
    out = np.zeros((16, 32), np.int8)
    module = lowered(kernel(body, "16x32xf32", "16x32xi8"))
    (result,) = run(module, "k", [x, out]).results
    np.testing.assert_array_equal(np.asarray(result), round_whole(x).astype(np.int8))
