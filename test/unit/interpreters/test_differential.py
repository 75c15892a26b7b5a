"""Comparing runs: what counts as the same, and how a difference is told."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.programs import program

from pypto_xdsl.interpreters.differential import Mismatch, Tolerance, assert_same_run

TEXT = """
orch.func KIND @f(in %x : tensor<4xf32>, out %y : tensor<4xf32>, out %z : tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32>
  %u = tile.OP %t, %t : !tile.tile<4xf32>
  %y1 = tile.store %u, %y[0] : !tile.tile<4xf32>, tensor<4xf32>
  %z1 = tile.store %t, %z[0] : !tile.tile<4xf32>, tensor<4xf32>
  orch.return ORDER : tensor<4xf32>, tensor<4xf32>
}
"""


def variant(op: str = "add", order: str = "%y1, %z1", kind: str = "incore"):
    return program(TEXT.replace("OP", op).replace("ORDER", order).replace("KIND", kind))


def test_the_same_program_does_the_same():
    assert_same_run(variant(), variant(), "f")
    assert_same_run(variant("sub"), variant("sub"), arguments=[[np.full(4, math.nan, np.float32)]])


def test_another_value_is_told():
    with pytest.raises(Mismatch, match=r"'f', on arguments of seed 0: parameter 'y' differs in 4"):
        assert_same_run(variant(), variant("sub"), "f")


def test_kernels_may_order_their_results():
    assert_same_run(variant(), variant(order="%z1, %y1"), "f")
    with pytest.raises(Mismatch, match="result 0 differs in 4 of 4 elements"):
        assert_same_run(variant(), variant(order="%z1, %y1"), "f", order_of_results=True)
    # Whoever runs an orchestration sees its results in their order.
    with pytest.raises(Mismatch, match="result 0"):
        assert_same_run(
            variant(kind="orchestration"), variant(order="%z1, %y1", kind="orchestration"), "f"
        )


def test_tolerances():
    x = np.array([1.0, 2.0, -4.0, 0.0], np.float32)
    doubled, shifted = (
        variant(),
        program(
            TEXT.replace("ORDER", "%y1, %z1")
            .replace("KIND", "incore")
            .replace(
                "%u = tile.OP %t, %t : !tile.tile<4xf32>",
                "%c = arith.constant 0.001 : f32\n%d = tile.add %t, %t : !tile.tile<4xf32>\n"
                "%u = tile.adds %d, %c : !tile.tile<4xf32>, f32",
            )
        ),
    )
    arguments = [[x]]
    close = Tolerance(absolute=0.0011)
    assert_same_run(doubled, shifted, "f", (), arguments=arguments, tolerance=close)
    with pytest.raises(Mismatch, match=r"the largest difference is 0\.001"):
        assert_same_run(doubled, shifted, "f", (), arguments=arguments)
    # 0.001 beside 0 is no relative difference.
    relative = Tolerance(relative=0.001)
    with pytest.raises(Mismatch, match=r"differs in 1 of 4 elements; the first, at \[3\]"):
        assert_same_run(doubled, shifted, "f", (), arguments=arguments, tolerance=relative)


def test_undefined_elements_differ_from_defined_ones():
    partial = program(
        TEXT.replace("ORDER", "%y1, %z1")
        .replace("KIND", "incore")
        .replace("tile.OP", "tile.add")
        .replace(
            "%y1 = tile.store %u, %y[0] : !tile.tile<4xf32>",
            "%v = tile.set_validshape %u, valid = [3] : !tile.tile<4xf32>"
            " -> !tile.tile<4xf32, valid = [3]>\n"
            "%y1 = tile.store %v, %y[0] : !tile.tile<4xf32, valid = [3]>",
        )
    )
    with pytest.raises(Mismatch, match=r"'y' is undefined at \[3\], expected defined; 1 of 4"):
        assert_same_run(variant(), partial, "f")


def test_a_program_that_fails_afterwards():
    outside = program(
        TEXT.replace("ORDER", "%y1, %z1")
        .replace("KIND", "incore")
        .replace("tile.OP", "tile.add")
        .replace("%t = tile.load %x[0]", "%i = arith.constant 1 : index\n%t = tile.load %x[%i]")
    )
    with pytest.raises(Mismatch, match="'f' fails afterwards, on arguments of seed 0: "):
        assert_same_run(variant(), outside, "f")


def test_a_kernel_may_be_given_memory_to_work_in():
    """As its last parameters; who launches it may not, as its callers would have to."""
    text = """
    orch.func KIND @k(in %x : tensor<4xf32>, out %y : tensor<4xf32>MORE) -> tensor<4xf32> {
      %t = tile.load %x[0] : tensor<4xf32> -> !tile.tile<4xf32>
      %z = tile.store %t, %y[0] : !tile.tile<4xf32>, tensor<4xf32>
      orch.return %z : tensor<4xf32>
    }
    """
    for kind in ("incore", "opaque"):
        before = program(text.replace("KIND", kind).replace("MORE", ""))
        after = program(text.replace("KIND", kind).replace("MORE", ", out %w : tensor<9xf32>"))
        if kind == "incore":
            assert_same_run(before, after)
            with pytest.raises(Mismatch, match="has 2 parameters, had 3"):
                assert_same_run(after, before, arguments=[[np.ones(4, np.float32), None]], seeds=())
        else:
            with pytest.raises(Mismatch, match="has 3 parameters, had 2"):
                assert_same_run(before, after)
