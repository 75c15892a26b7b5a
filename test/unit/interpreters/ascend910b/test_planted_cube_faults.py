"""
Faults planted into a program of a cube core: between L1, L0, the bias table and the fixpipe, in
straight code and over the back edge of a loop. Each is found at its line; without it, the program
computes what numpy does, in any order of the pipes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.machine_programs import run_core
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import DiagnosticsError

L1 = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
L1_BIAS = "!pto.tile_buf<mat, 1x16xf32>"
L0A = "!pto.tile_buf<left, 16x16xf32, slayout=row_major>"
L0B = "!pto.tile_buf<right, 16x16xf32, slayout=col_major>"
L0C = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
BT = "!pto.tile_buf<bias, 1x16xf32>"
P = "!pto.partition_tensor_view<16x16xf32>"
P_BIAS = "!pto.partition_tensor_view<1x16xf32>"
V = "!pto.tensor_view<?x?xf32>"

PROGRAM = f"""
func.func @kernel(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %d: !pto.ptr<f32>, %y: !pto.ptr<f32>,
    %n: index) attributes {{ascend910b.core = #ascend910b<core aic>}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %rows = arith.muli %n, %c16 : index
  %av = pto.make_tensor_view %a, shape = [%rows, %c16], strides = [%c16, %c1] : {V}
  %bv = pto.make_tensor_view %b, shape = [%c16, %c16], strides = [%c16, %c1] : {V}
  %dv = pto.make_tensor_view %d, shape = [%c1, %c16], strides = [%c16, %c1] : {V}
  %yv = pto.make_tensor_view %y, shape = [%rows, %c16], strides = [%c16, %c1] : {V}
  %bp = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c16, %c16] : {V} -> {P}
  %dp = pto.partition_view %dv, offsets = [%c0, %c0], sizes = [%c1, %c16] : {V} -> {P_BIAS}
  %al1 = ascend910b.view l1[0] : {L1}
  %bl1 = ascend910b.view l1[1024] : {L1}
  %dl1 = ascend910b.view l1[2048] : {L1_BIAS}
  %al = ascend910b.view l0a[0] : {L0A}
  %br = ascend910b.view l0b[0] : {L0B}
  %bt = ascend910b.view bt[0] : {BT}
  %c = ascend910b.view l0c[0] : {L0C}
  pto.tload ins(%bp : {P}) outs(%bl1 : {L1})
  pto.tload ins(%dp : {P_BIAS}) outs(%dl1 : {L1_BIAS})
  ascend910b.set_flag MTE2 -> MTE1, 1
  ascend910b.wait_flag MTE2 -> MTE1, 1
  pto.tmov ins(%bl1 : {L1}) outs(%br : {L0B})
  pto.tmov ins(%dl1 : {L1_BIAS}) outs(%bt : {BT})
  ascend910b.set_flag MTE1 -> MTE2, 0  // before the loop
  ascend910b.set_flag M -> MTE1, 0  // before the loop
  ascend910b.set_flag FIX -> M, 0  // before the loop
  scf.for %i = %c0 to %n step %c1 {{
    %row = arith.muli %i, %c16 : index
    %ap = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c16, %c16] : {V} -> {P}
    %yp = pto.partition_view %yv, offsets = [%row, %c0], sizes = [%c16, %c16] : {V} -> {P}
    ascend910b.wait_flag MTE1 -> MTE2, 0  // moved before
    pto.tload ins(%ap : {P}) outs(%al1 : {L1})
    ascend910b.set_flag MTE2 -> MTE1, 0
    ascend910b.wait_flag MTE2 -> MTE1, 0
    ascend910b.wait_flag M -> MTE1, 0  // multiplied before
    pto.tmov ins(%al1 : {L1}) outs(%al : {L0A})
    ascend910b.set_flag MTE1 -> MTE2, 0  // moved
    ascend910b.set_flag MTE1 -> M, 0
    ascend910b.wait_flag MTE1 -> M, 0
    ascend910b.wait_flag FIX -> M, 0  // drained before
    pto.tmatmul.bias ins(%al, %br, %bt : {L0A}, {L0B}, {BT}) outs(%c : {L0C})
    ascend910b.set_flag M -> MTE1, 0  // multiplied
    ascend910b.set_flag M -> FIX, 0
    ascend910b.wait_flag M -> FIX, 0
    pto.tstore ins(%c : {L0C}) outs(%yp : {P})
    ascend910b.set_flag FIX -> M, 0  // drained
  }}
  ascend910b.wait_flag MTE1 -> MTE2, 0  // after the loop
  ascend910b.wait_flag M -> MTE1, 0  // after the loop
  ascend910b.wait_flag FIX -> M, 0  // after the loop
  return
}}
"""
"""Rows of `a`, 16 at a time, times `b`, and `d` added to each."""


def arguments() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    # Small integers: products are exact in any order of summation.
    return {
        "a": rng.integers(-4, 5, (48, 16)),
        "b": rng.integers(-4, 5, (16, 16)),
        "d": rng.integers(-4, 5, (1, 16)),
        "y": np.zeros((48, 16)),
        "n": 3,
    }


@pytest.mark.parametrize("seed", [None, 0, 1, 2, 3])
def test_the_program_is_right(seed: int | None) -> None:
    given = arguments()
    after = run_core(PROGRAM, given, seed=seed)
    np.testing.assert_array_equal(after["y"], given["a"] @ given["b"] + given["d"])


def drop(line: str) -> tuple[str, str]:
    return line + "\n", "\n"


MATMUL = "pto.tmatmul.bias"
MOVE_A, LOAD_A = "pto.tmov ins(%al1", "pto.tload ins(%ap"
STORE = "pto.tstore"

FAULTS: dict[str, tuple[tuple[tuple[str, str], ...], str, str]] = {
    "L0C is drained before the product is there": (
        (drop("ascend910b.set_flag M -> FIX, 0"), drop("ascend910b.wait_flag M -> FIX, 0")),
        STORE,
        "of l0c on pipe FIX of the cube core that pipe M of the cube core may still have to write",
    ),
    "the next product overwrites L0C before it is drained": (
        (
            drop("ascend910b.set_flag FIX -> M, 0  // before the loop"),
            drop("ascend910b.wait_flag FIX -> M, 0  // drained before"),
            drop("ascend910b.set_flag FIX -> M, 0  // drained"),
            drop("ascend910b.wait_flag FIX -> M, 0  // after the loop"),
        ),
        MATMUL,
        "of l0c on pipe M of the cube core that pipe FIX of the cube core may still have to read",
    ),
    "the next operand overwrites L0A before it is multiplied": (
        (
            drop("ascend910b.set_flag M -> MTE1, 0  // before the loop"),
            drop("ascend910b.wait_flag M -> MTE1, 0  // multiplied before"),
            drop("ascend910b.set_flag M -> MTE1, 0  // multiplied"),
            drop("ascend910b.wait_flag M -> MTE1, 0  // after the loop"),
        ),
        MOVE_A,
        "of l0a on pipe MTE1 of the cube core that pipe M of the cube core may still have to read",
    ),
    "the next load overwrites L1 before it is moved": (
        (
            drop("ascend910b.set_flag MTE1 -> MTE2, 0  // before the loop"),
            drop("ascend910b.wait_flag MTE1 -> MTE2, 0  // moved before"),
            drop("ascend910b.set_flag MTE1 -> MTE2, 0  // moved"),
            drop("ascend910b.wait_flag MTE1 -> MTE2, 0  // after the loop"),
        ),
        LOAD_A,
        "of l1 on pipe MTE2 of the cube core that pipe MTE1 of the cube core may still have to "
        "read",
    ),
    "an event that the back edge loses": (
        (drop("ascend910b.set_flag FIX -> M, 0  // drained"),),
        "ascend910b.wait_flag FIX -> M, 0  // drained before",
        "waits forever: pipe M of the cube core waits for event 0 of FIX -> M, which nobody sets",
    ),
    "an event that is set in each turn and waited for in one": (
        (drop("ascend910b.wait_flag M -> MTE1, 0  // multiplied before"),),
        "ascend910b.set_flag M -> MTE1, 0  // multiplied",
        "sets an event that is still set",
    ),
    "an operand is moved before it is loaded": (
        (drop("ascend910b.wait_flag MTE2 -> MTE1, 1"),),
        "pto.tmov ins(%bl1",
        "of l1 on pipe MTE1 of the cube core that pipe MTE2 of the cube core may still have to "
        "write",
    ),
    "the wrong pipe waits": (
        (("ascend910b.wait_flag MTE1 -> M, 0", "ascend910b.wait_flag MTE1 -> FIX, 0"),),
        MATMUL,
        "reads bytes 0..1024 of l0a on pipe M of the cube core that pipe MTE1 of the cube core may "
        "still have to write",
    ),
    "the wrong pipe is waited for": (
        (("ascend910b.wait_flag M -> FIX, 0", "ascend910b.wait_flag MTE1 -> FIX, 0"),),
        "ascend910b.wait_flag MTE1 -> FIX, 0",
        "waits forever: pipe FIX of the cube core waits for event 0 of MTE1 -> FIX",
    ),
    "the bias stays in L1": (
        (drop(f"pto.tmov ins(%dl1 : {L1_BIAS}) outs(%bt : {BT})"),),
        MATMUL,
        "reads bytes 0..4 of bt, which nobody wrote",
    ),
    "a bias table that is full": (
        (("%bt = ascend910b.view bt[0]", "%bt = ascend910b.view bt[992]"),),
        "%bt = ascend910b.view bt[992]",
        "is bytes 992..1056 of bt, which has 1024",
    ),
    "an accumulator off the grid of L0": (
        (("%c = ascend910b.view l0c[0]", "%c = ascend910b.view l0c[256]"),),
        "%c = ascend910b.view l0c[256]",
        "starts at byte 256 of l0c, which is no multiple of 512",
    ),
    "an operand off the blocks of L1": (
        (("%bl1 = ascend910b.view l1[1024]", "%bl1 = ascend910b.view l1[1040]"),),
        "%bl1 = ascend910b.view l1[1040]",
        "starts at byte 1040 of l1, which is no multiple of 32",
    ),
    "more of L0A than there is": (
        (("%al = ascend910b.view l0a[0]", "%al = ascend910b.view l0a[65024]"),),
        "%al = ascend910b.view l0a[65024]",
        "is bytes 65024..66048 of l0a, which has 65536",
    ),
    "a sum that begins with what nobody wrote": (
        (
            (
                f"pto.tmatmul.bias ins(%al, %br, %bt : {L0A}, {L0B}, {BT})",
                f"pto.tmatmul.acc ins(%c, %al, %br : {L0C}, {L0A}, {L0B})",
            ),
        ),
        "pto.tmatmul.acc",
        "reads bytes 0..4 of l0c, which nobody wrote",
    ),
    "an operand of which less is loaded than is multiplied": (
        (
            (
                f"pto.tload ins(%ap : {P}) outs(%al1 : {L1})",
                f"""%a8 = pto.partition_view %av, offsets = [%row, %c0], sizes = [%c8, %c16] : {V}
      -> !pto.partition_tensor_view<8x16xf32>
    pto.tload ins(%a8 : !pto.partition_tensor_view<8x16xf32>) outs(%part :
      !pto.tile_buf<mat, 16x16xf32, valid=8x16, blayout=col_major, slayout=row_major>)""",
            ),
            (
                "  %c1 = arith.constant 1 : index\n",
                """  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %part = ascend910b.view l1[0] :
    !pto.tile_buf<mat, 16x16xf32, valid=8x16, blayout=col_major, slayout=row_major>
""",
            ),
        ),
        MOVE_A,
        "of l1, which nobody wrote: element [8, 0] of [16, 16], and 127 more",
    ),
    "a valid region that the window of the store is not filled by": (
        (
            (
                f"pto.tstore ins(%c : {L0C})",
                "pto.tstore ins(%c9 : !pto.tile_buf<acc, 16x16xf32, valid=?x16, "
                "blayout=col_major, slayout=row_major, fractal=1024>)",
            ),
            (
                "  %c1 = arith.constant 1 : index\n",
                """  %c1 = arith.constant 1 : index
  %c9n = arith.constant 9 : index
  %c9 = ascend910b.view l0c[0], valid = [%c9n] : !pto.tile_buf<acc, 16x16xf32, valid=?x16, \
blayout=col_major, slayout=row_major, fractal=1024>
""",
            ),
        ),
        STORE,
        "a valid region of [9, 16] does not fill a window of [16, 16]",
    ),
    "a move that no pipe makes": (
        (
            (
                f"pto.tmov ins(%al1 : {L1}) outs(%al : {L0A})",
                f"pto.tmov ins(%al1 : {L1}) outs(%c : {L0C})",
            ),
        ),
        "outs(%c : ",
        "a supported tmov address-space pair, got mat to acc",
    ),
    "a pipe of the other core": (
        (("ascend910b.wait_flag M -> FIX, 0", "ascend910b.wait_flag V -> FIX, 0"),),
        "ascend910b.wait_flag V -> FIX, 0",
        "is about pipe V, which the cube core does not have",
    ),
    "a memory of the other core": (
        (
            (
                "  %bt = ",
                "  %ub = ascend910b.view ub[0] : !pto.tile_buf<vec, 16x16xf32>\n  %bt = ",
            ),
        ),
        "%ub = ",
        "is in ub, which the cube core does not have",
    ),
}


def planted(fault: str) -> str:
    text = PROGRAM
    for old, new in FAULTS[fault][0]:
        assert text.count(old) == 1, (old, text.count(old))
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found_at_its_line(fault: str) -> None:
    _, where, message = FAULTS[fault]
    text = planted(fault)
    with pytest.raises((DiagnosticsError, VerifyException)) as error:
        run_core(text, arguments())
    if not isinstance(error.value, DiagnosticsError):
        # Found by the verifier, before anything runs.
        assert message in str(error.value)
        return
    found = error.value.diagnostics[0]
    assert message in found.message, found
    lines = [number for number, line in enumerate(text.split("\n"), 1) if where in line]
    assert found.line in lines, found


@pytest.mark.parametrize("seed", [0, 5, 11])
@pytest.mark.parametrize("fault", FAULTS)
def test_it_is_found_in_any_order_of_the_pipes(fault: str, seed: int) -> None:
    with pytest.raises((DiagnosticsError, VerifyException)):
        run_core(planted(fault), arguments(), seed=seed)
