"""What an op costs beside its numpy, in Python calls, which no load of a machine changes."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import numpy as np
import pytest
from support.programs import program

from pypto_xdsl.interpreters.arguments import Argument
from pypto_xdsl.interpreters.run import run

TILE = "!tile.tile<16x16xf32>"


def calls_each(
    parameters: str, first: str, op: str, arguments: list[Argument], size: int = 20
) -> float:
    """The Python and C calls that one more `op` costs, in a function of some size."""

    def count(times: int) -> int:
        body = "\n".join([first, *(op.format(place) for place in range(times))])
        module = program(f"orch.func opaque @f({parameters}) {{\n{body}\norch.return }}")
        total = 0

        def profile(frame: FrameType, event: str, argument: Any) -> None:
            nonlocal total
            total += event in ("call", "c_call")

        run(module, "f", arguments)
        sys.setprofile(profile)
        try:
            run(module, "f", arguments)
        finally:
            sys.setprofile(None)
        return total

    return (count(2 * size) - count(size)) / size


@pytest.mark.parametrize(
    "op",
    [
        f"%r{{}} = tile.add %t, %t : {TILE}",
        f"%r{{}} = tile.exp %t : {TILE}",
        f"%r{{}} = tile.load %x[0, 0] : tensor<16x16xf32> -> {TILE}",
        f"%r{{}} = tile.store %t, %x[0, 0] : {TILE}, tensor<16x16xf32>",
        "%r{} = ptensor.add %x, %x : tensor<16x16xf32>",
    ],
)
def test_an_op_costs_about_as_much_as_one_of_arith(op: str):
    baseline = calls_each("in %a : i32", "", "%r{} = arith.addi %a, %a : i32", [1])
    first = f"%t = tile.load %x[0, 0] : tensor<16x16xf32> -> {TILE}"
    x = np.ones((16, 16), np.float32)
    cost = calls_each("inout %x : tensor<16x16xf32>", first, op, [x])
    assert cost <= 1.5 * baseline


def test_an_op_costs_the_same_in_a_large_program():
    op = "%r{} = arith.addi %a, %a : i32"
    small, large = (calls_each("in %a : i32", "", op, [1], size) for size in (20, 400))
    assert large == pytest.approx(small, rel=0.05)
