"""What outlining makes can be traced to the line of the program that it comes from."""

from __future__ import annotations

import pytest
from support.programs import context, program
from xdsl.dialects import scf
from xdsl.dialects.builtin import FileLineColLoc

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import collecting, file_line_col
from pypto_xdsl.dialects.orch import CallOp, FuncOp
from pypto_xdsl.universe import PYPTO_UNIVERSE

T = "tensor<64xf32>"
PROGRAM = f"""orch.func opaque @main(in %x : {T}, out %out : {T}, in %c : i1) -> {T} {{
  %one = arith.constant 1.0 : f32
  scf.if %c {{
    orch.SCOPE {{
      %t = tile.load %x[0] : {T} -> !tile.tile<64xf32>
      %u = tile.adds %t, %one : !tile.tile<64xf32>, f32
      tile.store %u, %out[0] : !tile.tile<64xf32>, {T}
    }}
  }}
  orch.return %out : {T}
}}
"""


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("outline-incore-scopes", "incore"),
        ("outline-cluster-scopes", "cluster"),
        ("outline-hierarchy-scopes", "hierarchy host"),
    ],
)
def test_every_op_has_the_line_it_comes_from(name: str, scope: str) -> None:
    module = program(PROGRAM.replace("SCOPE", scope))
    with collecting():
        PYPTO_UNIVERSE.all_passes[name]()().apply(context(), module)
    # The ends of regions that are not in the text have no place there.
    ops = [op for op in walk(module) if op is not module and not isinstance(op, scf.YieldOp)]
    assert all(isinstance(op.location, FileLineColLoc) for op in ops)
    outlined, main = (op for op in module.ops if isinstance(op, FuncOp))

    def line(op: object) -> int:
        assert op in ops
        position = file_line_col(op.location)  # pyright: ignore[reportAttributeAccessIssue,reportUnknownMemberType,reportUnknownArgumentType]
        assert position is not None
        return position[1]

    # The function and its call are where the scope was; what was captured keeps its line.
    assert line(outlined) == 4
    assert [line(op) for op in ops if isinstance(op, CallOp)] == [4]
    assert [line(op) for op in outlined.body.block.ops] == [2, 5, 6, 7, 4]
    assert line(main) == 1


def test_what_is_carried_has_the_line_of_the_loop() -> None:
    module = program(
        f"""orch.func opaque @main(in %x : {T}, out %out : {T}, in %n : index) -> {T} {{
  scf.for %i = %n to %n step %n {{
    orch.incore {{
      %t = tile.load %x[0] : {T} -> !tile.tile<64xf32>
      tile.store %t, %out[0] : !tile.tile<64xf32>, {T}
    }}
  }}
  orch.return %out : {T}
}}
"""
    )
    with collecting():
        PYPTO_UNIVERSE.all_passes["outline-incore-scopes"]()().apply(context(), module)
    (loop,) = (op for op in walk(module) if isinstance(op, scf.ForOp))
    _, carried = loop.body.block.args
    position = file_line_col(carried.location)
    assert position is not None
    assert position[1] == 2
