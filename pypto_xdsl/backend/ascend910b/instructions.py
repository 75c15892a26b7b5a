"""The instruction that each op on tiles is on the 910B. Source: PyPTO's op table, PTOAS's ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, StringAttr, bf16, f32, i16, i32
from xdsl.ir import Attribute, Operation

from pypto_xdsl.backend.instruction import Instruction, Properties
from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.element_types import UI16, UI32
from pypto_xdsl.dialects.ptensor import RoundMode
from pypto_xdsl.dialects.pto import enumerations as words

_BOTH = ("lhs", "rhs")
_BOTH_TMP = ("lhs", "rhs", "tmp")
_ONE = ("operand",)
_ONE_TMP = ("operand", "tmp")
_EXPAND = ("target", "vector")


def _precise(attribute: Any) -> Properties:
    """`precisionType` where the op asks for high precision."""

    def properties(op: Any) -> Mapping[str, Attribute]:
        if op.properties.get("high_precision") != BoolAttr.from_bool(True):
            return {}
        return {"precisionType": attribute(words.Precision.HIGH_PRECISION)}

    return properties


def _comparison(name: str) -> Properties:
    """`cmpMode` from the op's property of this name."""

    def properties(op: Any) -> Mapping[str, Attribute]:
        return {"cmpMode": pto.CmpModeAttr(words.CmpMode(op.properties[name].data.value))}

    return properties


def _rounding(op: tile.CastOp) -> Mapping[str, Attribute]:
    # The default of a cast is the hardware's own, which is written out as well.
    mode = op.mode.data
    assert isinstance(mode, RoundMode)
    return {"rmode": pto.RoundModeAttr(words.RoundMode[mode.name])}


def _gathered(op: tile.GatherCompareOp) -> Mapping[str, Attribute]:
    offset = IntegerAttr(op.offset.value.data, i32)
    return {**_comparison("cmp_mode")(op), "offset": offset}


def _in_pairs(op: tile.ColSumOp) -> Mapping[str, Attribute]:
    return {} if op.tmp is None else {"isBinary": BoolAttr.from_bool(True)}


def _selected(op: Any) -> Mapping[str, Attribute]:
    pattern = words.MaskPattern(op.mask_pattern.data.value.upper())
    return {"maskPattern": pto.MaskPatternAttr(pattern), "axis": StringAttr("row")}


def _direction(op: tile.CiOp) -> Mapping[str, Attribute]:
    return {"descending": op.properties["descending"]}


def _triangle(op: tile.TriOp) -> Mapping[str, Attribute]:
    upper = op.properties["upper"] == BoolAttr.from_bool(True)
    return {"upperOrLower": IntegerAttr(int(upper), i32)}


def _phase(op: Any) -> Mapping[str, Attribute]:
    return {"accPhase": pto.AccPhaseAttr(words.Phase(op.properties["acc_phase"].data.value))}


INSTRUCTIONS: dict[type[Operation], Instruction] = {
    tile.AddOp: Instruction(pto.TAddOp, _BOTH),
    tile.SubOp: Instruction(pto.TSubOp, _BOTH),
    tile.MulOp: Instruction(pto.TMulOp, _BOTH),
    tile.DivOp: Instruction(pto.TDivOp, _BOTH, _precise(pto.DivPrecisionAttr)),
    tile.MaximumOp: Instruction(pto.TMaxOp, _BOTH),
    tile.MinimumOp: Instruction(pto.TMinOp, _BOTH),
    tile.FmodOp: Instruction(pto.TFModOp, _BOTH),
    tile.AndOp: Instruction(pto.TAndOp, _BOTH),
    tile.OrOp: Instruction(pto.TOrOp, _BOTH),
    tile.ShlOp: Instruction(pto.TShlOp, _BOTH),
    tile.ShrOp: Instruction(pto.TShrOp, _BOTH),
    tile.PartAddOp: Instruction(pto.TPartAddOp, _BOTH),
    tile.PartMulOp: Instruction(pto.TPartMulOp, _BOTH),
    tile.PartMaxOp: Instruction(pto.TPartMaxOp, _BOTH),
    tile.PartMinOp: Instruction(pto.TPartMinOp, _BOTH),
    tile.XorOp: Instruction(pto.TXorOp, _BOTH_TMP),
    tile.RemOp: Instruction(pto.TRemOp, _BOTH_TMP),
    tile.AddsOp: Instruction(pto.TAddSOp, _BOTH),
    tile.SubsOp: Instruction(pto.TSubSOp, _BOTH),
    tile.MulsOp: Instruction(pto.TMulSOp, _BOTH),
    tile.DivsOp: Instruction(pto.TDivSOp, _BOTH),
    tile.MaximumsOp: Instruction(pto.TMaxSOp, _BOTH),
    tile.MinimumsOp: Instruction(pto.TMinSOp, _BOTH),
    tile.FmodsOp: Instruction(pto.TFModSOp, _BOTH),
    tile.LreluOp: Instruction(pto.TLReluOp, _BOTH, scalar=f32),
    tile.AndsOp: Instruction(pto.TAndSOp, _BOTH, scalar=i32),
    tile.OrsOp: Instruction(pto.TOrSOp, _BOTH, scalar=i32),
    tile.ShlsOp: Instruction(pto.TShlSOp, _BOTH, scalar=i32),
    tile.ShrsOp: Instruction(pto.TShrSOp, _BOTH, scalar=i32),
    tile.XorsOp: Instruction(pto.TXorSOp, _BOTH_TMP, scalar=i32),
    tile.RemsOp: Instruction(pto.TRemSOp, _BOTH_TMP),
    tile.AddcOp: Instruction(pto.TAddCOp, ("lhs", "rhs", "third")),
    tile.SubcOp: Instruction(pto.TSubCOp, ("lhs", "rhs", "third")),
    tile.AddscOp: Instruction(pto.TAddSCOp, ("lhs", "rhs", "third")),
    tile.SubscOp: Instruction(pto.TSubSCOp, ("lhs", "rhs", "third")),
    tile.PreluOp: Instruction(pto.TPReluOp, ("operand", "slope", "tmp")),
    tile.AbsOp: Instruction(pto.TAbsOp, _ONE),
    tile.NegOp: Instruction(pto.TNegOp, _ONE),
    tile.NotOp: Instruction(pto.TNotOp, _ONE),
    tile.ExpOp: Instruction(pto.TExpOp, _ONE),
    tile.LogOp: Instruction(pto.TLogOp, _ONE, _precise(pto.LogPrecisionAttr)),
    tile.SqrtOp: Instruction(pto.TSqrtOp, _ONE),
    tile.RsqrtOp: Instruction(pto.TRsqrtOp, _ONE_TMP),
    tile.RecipOp: Instruction(pto.TRecipOp, _ONE, _precise(pto.RecipPrecisionAttr)),
    tile.ReluOp: Instruction(pto.TReluOp, _ONE),
    tile.CastOp: Instruction(pto.TCvtOp, _ONE, _rounding),
    tile.FullOp: Instruction(
        pto.TExpandSOp, ("value",), stand_ins={bf16: i16, UI16: i16, UI32: i32}
    ),
    tile.MoveOp: Instruction(pto.TMovOp, ("source",)),
    tile.CmpOp: Instruction(pto.TCmpOp, _BOTH, _comparison("cmp_type")),
    tile.CmpsOp: Instruction(pto.TCmpSOp, _BOTH, _comparison("cmp_type")),
    tile.SelOp: Instruction(pto.TSelOp, ("mask", "lhs", "rhs", "tmp")),
    tile.SelsOp: Instruction(pto.TSelSOp, ("mask", "source", "tmp", "scalar")),
    tile.GatherCompareOp: Instruction(
        pto.TGatherOp, {"src": "source", "k_value": "kvalue", "tmp": "tmp"}, _gathered
    ),
    tile.RowSumOp: Instruction(pto.TRowSumOp, _ONE_TMP),
    tile.RowMaxOp: Instruction(pto.TRowMaxOp, _ONE_TMP),
    tile.RowMinOp: Instruction(pto.TRowMinOp, _ONE_TMP),
    tile.RowProdOp: Instruction(pto.TRowProdOp, _ONE_TMP),
    tile.RowArgmaxOp: Instruction(pto.TRowArgMaxOp, _ONE_TMP),
    tile.RowArgminOp: Instruction(pto.TRowArgMinOp, _ONE_TMP),
    tile.ColSumOp: Instruction(pto.TColSumOp, _ONE_TMP, _in_pairs),
    tile.ColMaxOp: Instruction(pto.TColMaxOp, _ONE),
    tile.ColMinOp: Instruction(pto.TColMinOp, _ONE),
    tile.ColProdOp: Instruction(pto.TColProdOp, _ONE),
    tile.ColArgmaxOp: Instruction(pto.TColArgMaxOp, _ONE_TMP),
    tile.ColArgminOp: Instruction(pto.TColArgMinOp, _ONE_TMP),
    # The target of a plain expansion only gives the shape.
    tile.RowExpandVectorOp: Instruction(pto.TRowExpandOp, ("vector",), ignored=("target",)),
    tile.RowExpandAddOp: Instruction(pto.TRowExpandAddOp, (*_EXPAND, "tmp")),
    tile.RowExpandSubOp: Instruction(pto.TRowExpandSubOp, _EXPAND),
    tile.RowExpandMulOp: Instruction(pto.TRowExpandMulOp, _EXPAND),
    tile.RowExpandDivOp: Instruction(pto.TRowExpandDivOp, _EXPAND),
    tile.RowExpandMaxOp: Instruction(pto.TRowExpandMaxOp, _EXPAND),
    tile.RowExpandMinOp: Instruction(pto.TRowExpandMinOp, _EXPAND),
    tile.RowExpandExpdifOp: Instruction(pto.TRowExpandExpDifOp, _EXPAND),
    tile.ColExpandVectorOp: Instruction(pto.TColExpandOp, ("vector",), ignored=("target",)),
    tile.ColExpandAddOp: Instruction(pto.TColExpandAddOp, _EXPAND),
    tile.ColExpandSubOp: Instruction(pto.TColExpandSubOp, _EXPAND),
    tile.ColExpandMulOp: Instruction(pto.TColExpandMulOp, _EXPAND),
    tile.ColExpandDivOp: Instruction(pto.TColExpandDivOp, _EXPAND),
    tile.ColExpandMaxOp: Instruction(pto.TColExpandMaxOp, _EXPAND),
    tile.ColExpandMinOp: Instruction(pto.TColExpandMinOp, _EXPAND),
    tile.ColExpandExpdifOp: Instruction(pto.TColExpandExpDifOp, _EXPAND),
    tile.ExpandsOp: Instruction(pto.TExpandSOp, ("scalar",), ignored=("target",)),
    # The unit counts in signed integers.
    tile.CiOp: Instruction(pto.TCIOp, {"s": "start"}, _direction, stand_ins={UI16: i16, UI32: i32}),
    tile.TriOp: Instruction(pto.TTriOp, ("diagonal",), _triangle, scalar=i32),
    tile.ConcatOp: Instruction(pto.TConcatOp, _BOTH),
    tile.TransposeOp: Instruction(pto.TTransOp, ("source", "tmp")),
    tile.FillpadOp: Instruction(pto.TFillPadOp, ("source",)),
    tile.FillpadExpandOp: Instruction(pto.TFillPadExpandOp, ("source",)),
    tile.GatherOp: Instruction(
        pto.TGatherOp, {"src": "source", "indices": "indices", "tmp": "tmp"}
    ),
    tile.GatherbOp: Instruction(pto.TGatherBOp, ("source", "offsets")),
    tile.GatherMaskOp: Instruction(pto.TGatherOp, {"src": "source"}, _selected),
    # What a scatter starts from is lost: its buffer is the result's.
    tile.ScatterOp: Instruction(
        pto.TScatterOp, {"src": "source", "indexes": "indices"}, ignored=("destination",)
    ),
    tile.ScatterMaskOp: Instruction(
        pto.TScatterOp, {"src": "source"}, _selected, ignored=("destination",)
    ),
    tile.Sort32Op: Instruction(pto.TSort32Op, ("source", "indices")),
    tile.MrgsortFormat1Op: Instruction(
        pto.TMrgSortOp, {"srcs": "source", "block_len": "block_len"}, scalar=i32
    ),
    # On the cube core.
    tile.MatmulOp: Instruction(pto.TMatmulOp, _BOTH),
    tile.MatmulBiasOp: Instruction(pto.TMatmulBiasOp, (*_BOTH, "bias")),
    tile.MatmulAccOp: Instruction(pto.TMatmulAccOp, ("acc", *_BOTH)),
    tile.GemvOp: Instruction(pto.TGemvOp, _BOTH, _phase),
    tile.GemvBiasOp: Instruction(pto.TGemvBiasOp, (*_BOTH, "bias"), _phase),
    tile.GemvAccOp: Instruction(pto.TGemvAccOp, ("acc", *_BOTH), _phase),
}
"""Ops that are absent are no single instruction: loads, stores, views, composites."""
