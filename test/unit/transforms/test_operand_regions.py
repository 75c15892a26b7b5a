"""Elementwise ops on tensors of which other parts are valid give a tensor that counts as whole."""

from __future__ import annotations

import numpy as np
import pytest
from support.lowering_levels import assert_gives

WHOLE = "tensor<1x16xf32>"
PART = "tensor<1x16xf32, #ptensor.view<valid = [1, {}]>>"


@pytest.mark.parametrize("parts_come_first", [False, True])
@pytest.mark.parametrize("runtime", [False, True])
@pytest.mark.parametrize("op", ["maximum", "sub", "part_add", "part_max"])
def test_one_operand_is_valid_in_part(op: str, *, parts_come_first: bool, runtime: bool):
    part = PART.format("?" if runtime else "5")
    extent = "%n" if runtime else "5"
    operands, types = ("%v, %y", f"{part}, {WHOLE}")
    if not parts_come_first:
        operands, types = ("%y, %v", f"{WHOLE}, {part}")
    kept = WHOLE if op.startswith("part") else PART.format("5")
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @k(in %x : {WHOLE}, in %y : {WHOLE}, in %n : index, out %o : {WHOLE})
        -> {WHOLE} {{
      %v = ptensor.set_validshape %x, valid = [1, {extent}] : {WHOLE} -> {part}
      %m = ptensor.{op} {operands} : {types} -> {WHOLE}
      %c = ptensor.type_cast %m : {WHOLE} -> {kept}
      %r = ptensor.assemble %c, %o[0, 0] : {kept}, {WHOLE}
      orch.return %r : {WHOLE}
    }}
    }}
    """
    rng = np.random.default_rng(11)
    x, y = (rng.standard_normal((1, 16)).astype(np.float32) for _ in range(2))
    first, second = (x, y) if parts_come_first else (y, x)
    functions = {"maximum": np.maximum, "sub": np.subtract}
    functions |= {"part_add": np.add, "part_max": np.maximum}
    wanted = y.copy() if op.startswith("part") else np.zeros_like(x)
    wanted[:, :5] = functions[op](first, second)[:, :5]
    assert_gives(text, [x, y, 5, np.zeros_like(x)], wanted)


def test_row_that_an_op_broadcasts():
    """What is not valid of the matrix is not of the row that is stretched over it either."""
    whole, row = "tensor<8x16xf32>", "tensor<1x16xf32>"
    part = "tensor<8x16xf32, #ptensor.view<valid = [8, 4]>>"
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @k(in %x : {whole}, in %y : {row}, out %o : {whole}) -> {whole} {{
      %v = ptensor.set_validshape %x, valid = [8, 4] : {whole} -> {part}
      %m = ptensor.add %v, %y : {part}, {row} -> {whole}
      %c = ptensor.type_cast %m : {whole} -> {part}
      %r = ptensor.assemble %c, %o[0, 0] : {part}, {whole}
      orch.return %r : {whole}
    }}
    }}
    """
    rng = np.random.default_rng(15)
    x, y = rng.standard_normal((8, 16)), rng.standard_normal((1, 16))
    x, y = x.astype(np.float32), y.astype(np.float32)
    wanted = np.zeros_like(x)
    wanted[:, :4] = (x + y)[:, :4]
    assert_gives(text, [x, y, np.zeros_like(x)], wanted)


@pytest.mark.parametrize("along", ["row", "col"])
def test_vector_that_is_longer_or_shorter_than_its_target(along: str):
    """A row or column is stretched over what is valid, whatever of itself is."""
    whole = "tensor<8x64xf32>"
    part = "tensor<8x64xf32, #ptensor.view<valid = [{}, {}]>>".format(
        *((2, 64) if along == "row" else (8, 40))
    )
    vector = "tensor<8x1xf32>" if along == "row" else "tensor<1x64xf32>"
    valid = "[2, 64]" if along == "row" else "[8, 40]"
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @k(in %x : {whole}, in %y : {vector}, out %o : {whole}) -> {whole} {{
      %v = ptensor.set_validshape %x, valid = {valid} : {whole} -> {part}
      %m = ptensor.{along}_expand_mul %v, %y : {part}, {vector} -> {part}
      %r = ptensor.assemble %m, %o[0, 0] : {part}, {whole}
      orch.return %r : {whole}
    }}
    }}
    """
    rng = np.random.default_rng(12)
    x = rng.standard_normal((8, 64)).astype(np.float32)
    y = rng.standard_normal((8, 1) if along == "row" else (1, 64)).astype(np.float32)
    rows, columns = (2, 64) if along == "row" else (8, 40)
    wanted = np.zeros_like(x)
    wanted[:rows, :columns] = (x * y)[:rows, :columns]
    assert_gives(text, [x, y, np.zeros_like(x)], wanted)


def test_vector_of_a_program_on_tiles():
    """A kernel on tiles stretches a row that is valid further than what it is stretched over."""
    whole, row = "tensor<8x8xf32>", "tensor<1x8xf32>"
    part, vector = "!tile.tile<8x8xf32, valid = [8, 4]>", "!tile.tile<1x8xf32>"
    text = f"""
    builtin.module attributes {{pto.target_arch = "a2a3"}} {{
    orch.func incore @k(in %x : {whole}, in %y : {row}, out %o : {whole}) -> {whole} {{
      %t = tile.load %x[0, 0] : {whole} -> {part}
      %v = tile.load %y[0, 0] : {row} -> {vector}
      %m = tile.col_expand_mul %t, %v : {part}, {vector}
      %e = tile.col_expand %t, %v : {part}, {vector}
      %s = tile.add %m, %e : {part}
      %r = tile.store %s, %o[0, 0] : {part}, {whole}
      orch.return %r : {whole}
    }}
    }}
    """
    rng = np.random.default_rng(19)
    x, y = rng.standard_normal((8, 8)), rng.standard_normal((1, 8))
    x, y = x.astype(np.float32), y.astype(np.float32)
    wanted = np.zeros_like(x)
    wanted[:, :4] = (x * y + y)[:, :4]
    assert_gives(text, [x, y, np.zeros_like(x)], wanted)
