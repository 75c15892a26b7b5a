"""
The order in which instructions of the vector unit want their tiles.

The vector unit walks rows of 32-byte blocks, so most instructions want row-major tiles. Those
that take a column for what it is (reductions, expansions, moves) do not. Source: the layout
table of PyPTO's 910B backend.
"""

from __future__ import annotations

from xdsl.ir import Operation

from pypto_xdsl.backend.layout_spec import LayoutSpec
from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile import TileLayout

ROW = TileLayout.ROW_MAJOR

_ROW_MAJOR_THROUGHOUT: tuple[type[DeclaredOp], ...] = (
    tile.AddOp,
    tile.SubOp,
    tile.MulOp,
    tile.DivOp,
    tile.MaximumOp,
    tile.MinimumOp,
    tile.FmodOp,
    tile.RemOp,
    tile.AndOp,
    tile.OrOp,
    tile.XorOp,
    tile.ShlOp,
    tile.ShrOp,
    tile.PartAddOp,
    tile.PartMulOp,
    tile.PartMaxOp,
    tile.PartMinOp,
    tile.AddsOp,
    tile.SubsOp,
    tile.MulsOp,
    tile.DivsOp,
    tile.MaximumsOp,
    tile.FmodsOp,
    tile.LreluOp,
    tile.AddscOp,
    tile.SubscOp,
    tile.PreluOp,
    tile.AbsOp,
    tile.ExpOp,
    tile.LogOp,
    tile.NotOp,
    tile.RecipOp,
    tile.ReluOp,
    tile.SqrtOp,
    tile.RsqrtOp,
    tile.CastOp,
    tile.SelOp,
    tile.SelsOp,
    tile.GatherbOp,
    tile.Sort32Op,
    tile.MrgsortFormat1Op,
    tile.MrgsortFormat2Op,
)

LAYOUTS: dict[type[Operation], LayoutSpec] = {
    **{op_type: LayoutSpec.throughout(op_type, ROW) for op_type in _ROW_MAJOR_THROUGHOUT},
    tile.CmpsOp: LayoutSpec({"lhs": ROW}, {"result": ROW}),
    tile.MscatterOp: LayoutSpec({"source": ROW, "indices": ROW}),
    tile.FullOp: LayoutSpec(results={"result": ROW}),
    tile.TriOp: LayoutSpec(results={"result": ROW}),
}
"""Ops that are absent take and give tiles in any order."""
