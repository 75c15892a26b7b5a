"""Ops say along which axes the tiles that they work on are cut together."""

from __future__ import annotations

from support.programs import program

from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import tile

X = "tensor<16x16xf32>"
M, C = "!tile.tile<16x16xf32>", "!tile.tile<16x1xf32>"


def test_ops_are_cut_where_they_say():
    """Reductions along the axis that they leave, views where both shapes have the axis."""
    text = f"""builtin.module {{ orch.func incore @kernel(in %x : {X}) {{
      %a = tile.load %x[0, 0] : {X} -> {M}
      %tmp = tile.create : !tile.tile<16x128xf32>
      %row = tile.row_max %a, %tmp : {M}, !tile.tile<16x128xf32> -> {C}
      %flat = tile.reshape %row : {C} -> !tile.tile<1x16xf32>
      %some = tile.slice %a[0, 8] : {M} -> !tile.tile<16x8xf32>
      %e = tile.row_expand_sub %a, %row : {M}, {C}
      orch.return
    }} }}"""
    found: dict[str, list[list[tuple[str | None, int]]]] = {}
    for op in walk(program(text)):
        if isinstance(op, tile.RowMaxOp | tile.ReshapeOp | tile.SliceOp | tile.RowExpandSubOp):
            found[op.name] = [[(v.name_hint, axis) for v, axis in cut] for cut in op.cut_together()]
    assert found == {
        "tile.row_max": [[("a", 0), ("tmp", 0), ("row", 0)]],
        "tile.reshape": [[("row", 0), ("flat", 1)]],
        "tile.slice": [[("a", 0), ("some", 0)]],
        "tile.row_expand_sub": [[("a", 0), ("row", 0), ("e", 0)], [("a", 1), ("e", 1)]],
    }
