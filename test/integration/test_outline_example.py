"""The outlining example of the documentation computes the same before and after."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.programs import context, program
from xdsl.dialects.builtin import ModuleOp

from pypto_xdsl.diagnostics import collecting
from pypto_xdsl.dialects.orch import FuncOp
from pypto_xdsl.interpreters.run import run
from pypto_xdsl.transforms.outline_incore_scopes import OutlineIncoreScopesPass

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "outline.mlir"


def as_written() -> ModuleOp:
    return program(EXAMPLE.read_text(), str(EXAMPLE))


def outlined() -> ModuleOp:
    module = as_written()
    with collecting():
        OutlineIncoreScopesPass().apply(context(), module)
    return module


def vector(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-8, 8, shape).astype(np.float32)


@pytest.fixture(params=[as_written, outlined])
def module(request: pytest.FixtureRequest) -> ModuleOp:
    made: ModuleOp = request.param()
    return made


def test_basic(module: ModuleOp) -> None:
    """The kernel squares `x + 1`, adds one, and writes that over `x`; the function adds two."""
    x = vector(0, 64)
    outcome = run(module, "basic", [x])
    np.testing.assert_array_equal(outcome.results[0], (x + 1) ** 2 + 3)
    np.testing.assert_array_equal(outcome.parameters["x"], (x + 1) ** 2 + 1)


def test_multiple_outputs(module: ModuleOp) -> None:
    """The sum is written to `out`, twice the sum to the kernel's own; both are added."""
    a, b = vector(1, 64), vector(2, 64)
    outcome = run(module, "multiple_outputs", [a, b, None])
    np.testing.assert_array_equal(outcome.parameters["out"], a + b)
    np.testing.assert_array_equal(outcome.results[0], 3 * (a + b))


def test_loop(module: ModuleOp) -> None:
    """Four rounds double 64 rows each."""
    a = vector(3, 256, 128)
    outcome = run(module, "loop", [a, None])
    np.testing.assert_array_equal(outcome.results[0], 2 * a)
    np.testing.assert_array_equal(outcome.parameters["out"], 2 * a)


def test_kernels_alone() -> None:
    """The kernels run by themselves, on the arguments that their signatures ask for."""
    module = outlined()
    signatures = {
        op.sym_name.data: [direction.value for direction in op.parameter_directions]
        for op in module.ops
        if isinstance(op, FuncOp) and op.kind.data.is_in_core
    }
    assert signatures == {
        "basic_incore_0": ["in", "out"],
        "multiple_outputs_incore_0": ["in", "in", "out"],
        "loop_incore_0": ["in", "in", "out"],
    }
    y = vector(4, 64)
    (result,) = run(module, "basic_incore_0", [y, None]).results
    np.testing.assert_array_equal(result, y**2 + 1)
