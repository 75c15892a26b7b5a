"""Ops that pad, transpose and join tiles."""

from __future__ import annotations

from typing import Any

from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def
from xdsl.parser import Parser

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import PtoOp, Rule, declare, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pad, Pipe
from pypto_xdsl.dialects.pto.operands import NEEDED_SCRATCH_TILE, READ_TILE, WRITE_TILE
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC
from pypto_xdsl.dialects.pto.syntax import TileOp


def _fill_pipe(op: PtoOp) -> Pipe:
    return Pipe.MTE2 if r.tile_operand(op, "dst").space == AddressSpace.MAT else Pipe.V


def _padded(op: PtoOp) -> str | None:
    if r.tile_operand(op, "dst").pad == Pad.NULL:
        return "got pad=0"
    return None


_FILL = (
    r.in_space((AddressSpace.VEC, AddressSpace.MAT), "src", "dst"),
    r.same_width("src", "dst"),
    r.dtype("src", r.NARROW),
)
_PAD = Rule("dst pad not to be null", _padded)


class FillPadBase(TileOp):
    """`dst = src`, padded"""

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        # 0.60 has one name for both.
        op = super().parse(parser)
        src, dst = r.tile_of(op, "src"), r.tile_of(op, "dst")
        if cls is not TFillPadOp or src is None or dst is None or op.properties:
            return op
        larger = src.get_shape() != dst.get_shape() and _no_smaller(op) is None
        return TFillPadExpandOp.create(operands=op.operands) if larger else op


def _no_smaller(op: PtoOp) -> str | None:
    src, dst = r.tile_operand(op, "src").get_shape(), r.tile_operand(op, "dst").get_shape()
    if dst[0] >= src[0] and dst[1] >= src[1]:
        return None
    return f"got {r.shape_text(src)} and {r.shape_text(dst)}"


def _matching_pad(op: PtoOp) -> str | None:
    value: Any = op.properties.get("padValue")
    src, dst = r.tile_operand(op, "src"), r.tile_operand(op, "dst")
    if src.space == AddressSpace.MAT and dst.space == AddressSpace.MAT and src != dst:
        return f"src and dst in mat to have the same type, got {src} and {dst}"
    if value is None:
        return None
    if dst.space != AddressSpace.MAT:
        return f"padValue only for loc=mat, got loc={dst.space}"
    if value.data != dst.pad:
        return f"padValue to match the pad of dst, got {value.data} and {dst.pad}"
    return None


TFillPadOp = declare(
    FillPadBase,
    "TFillPadOp",
    "tfillpad",
    "dst = src where src is valid, the pad value in the rest of the box",
    pipe=_fill_pipe,
    rules=[*_FILL, _PAD, r.same_box("src", "dst"), Rule("", _matching_pad)],
    in_place=["src"],
    pad_value=opt_prop_def(word(a.PadValueAttr), prop_name="padValue"),
)
TFillPadExpandOp = declare(
    FillPadBase,
    "TFillPadExpandOp",
    "tfillpad_expand",
    "dst = src where src is valid, the pad value in the rest of a box that may be larger",
    pipe=_fill_pipe,
    rules=[*_FILL, _PAD, Rule("dst shape to be no smaller than that of src", _no_smaller)],
    other_names={"0.60": "tfillpad"},
)
TFillPadInplaceOp = declare(
    FillPadBase,
    "TFillPadInplaceOp",
    "tfillpad_inplace",
    "as tfillpad, src and dst being the same bytes",
    pipe=_fill_pipe,
    rules=[*_FILL, _PAD, r.same_box("src", "dst")],
    in_place=["src"],
    other_names={"0.60": "tfillpad"},
)


class TransposeBase(TileOp):
    """`dst[c, r] = src[r, c]`"""

    src = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TTransOp = declare(
    TransposeBase,
    "TTransOp",
    "ttrans",
    "dst[c, r] = src[r, c]",
    pipe=Pipe.V,
    rules=[
        r.in_vec("src", "tmp", "dst"),
        r.row_major("src"),
        r.same_dtype("src", "tmp", "dst"),
        r.dtype("src", r.NARROW),
    ],
)


class ConcatBase(TileOp):
    """`dst = [src0 | src1]`"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


def _columns_fit(op: PtoOp) -> str | None:
    src0, src1, dst = (r.tile_operand(op, name) for name in ("src0", "src1", "dst"))
    widths = (src0.valid_shape[1], src1.valid_shape[1])
    if DYNAMIC in widths or sum(widths) <= dst.get_shape()[1]:
        return None
    return f"got {widths[0]} and {widths[1]} in {dst.get_shape()[1]}"


_CONCAT = (
    r.in_vec("src0", "src1", "dst"),
    r.same_dtype("src0", "src1", "dst"),
    r.dtype("dst", r.NARROW),
    r.same_valid_dim("row", "src0", "src1", "dst"),
)

TConcatOp = declare(
    ConcatBase,
    "TConcatOp",
    "tconcat",
    "dst = the columns of src0, then those of src1",
    pipe=Pipe.V,
    rules=[*_CONCAT, Rule("the valid columns of src0 and src1 to fit in dst", _columns_fit)],
)


class ConcatIdxBase(TileOp):
    """`dst = [src0 | src1]`, each as far as its index tile says"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    src0_idx = operand_def(READ_TILE)
    src1_idx = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


TConcatIdxOp = declare(
    ConcatIdxBase,
    "TConcatIdxOp",
    "tconcatidx",
    "dst = the columns of src0, then those of src1, each as many as its index tile says",
    pipe=Pipe.V,
    rules=[*_CONCAT, r.in_vec("src0_idx", "src1_idx")],
    SINCE="0.57",
)
