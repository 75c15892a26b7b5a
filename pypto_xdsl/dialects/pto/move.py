"""Ops that move tiles between the memories of a core."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import PtoOp, Rule, declare, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, BLayout, Pipe, SLayout
from pypto_xdsl.dialects.pto.load_store import NO_RELU, print_scaled_ins
from pypto_xdsl.dialects.pto.operands import I64, READ_TILE, WRITE_TILE
from pypto_xdsl.dialects.pto.syntax import TileOp
from pypto_xdsl.dialects.pto.tile_types import TileBufType

MOVES = {
    (AddressSpace.MAT, AddressSpace.LEFT): Pipe.MTE1,
    (AddressSpace.MAT, AddressSpace.RIGHT): Pipe.MTE1,
    (AddressSpace.MAT, AddressSpace.BIAS): Pipe.MTE1,
    (AddressSpace.MAT, AddressSpace.SCALING): Pipe.FIX,
    (AddressSpace.VEC, AddressSpace.VEC): Pipe.V,
    (AddressSpace.ACC, AddressSpace.MAT): Pipe.FIX,
    (AddressSpace.ACC, AddressSpace.VEC): Pipe.FIX,
}
"""The moves between two memories of a core, and the pipe of each."""


def _move_pipe(op: PtoOp) -> Pipe:
    return MOVES.get((r.tile_operand(op, "src").space, r.tile_operand(op, "dst").space), Pipe.V)


def _is_nz(tile: TileBufType) -> bool:
    return tile.blayout == BLayout.COL_MAJOR and tile.slayout == SLayout.ROW_MAJOR


def _movable(op: PtoOp) -> str | None:
    src, dst = r.tile_operand(op, "src"), r.tile_operand(op, "dst")
    pair = (src.space, dst.space)
    if pair not in MOVES:
        return f"a supported tmov address-space pair, got {src.space} to {dst.space}"
    if src.get_shape() != dst.get_shape():
        return (
            f"matching src/dst shapes, got {r.shape_text(src.get_shape())} and "
            f"{r.shape_text(dst.get_shape())}"
        )
    fp = op.optional_operand("fp") if any(i.name == "fp" for i in op.DECLARATION.operands) else None
    scalar = op.optional_operand("pre_quant_scalar")
    if fp is not None and scalar is not None:
        return "fp and preQuantScalar forms to be mutually exclusive"
    relu = "reluPreMode" in op.properties
    if src.space != AddressSpace.ACC:
        for present, form in (
            (fp, "fp"),
            (scalar, "preQuantScalar"),
            (relu or None, "reluPreMode"),
        ):
            if present is not None:
                return f"{form} form to use loc=acc src"
    if "accToVecMode" in op.properties and pair != (AddressSpace.ACC, AddressSpace.VEC):
        return "accToVecMode to be used only for acc-to-vec tmov"
    if fp is not None:
        scale = r.tile_operand(op, "fp")
        if scale.space != AddressSpace.SCALING:
            return f"fp to use loc=scaling, got loc={scale.space}"
        if r.dtype_name(src.element_type, signless=True) not in ("i32", "f32"):
            return f"fp form src element type to be f32 or i32, got {src.element_type}"
    if src.space == AddressSpace.ACC and (fp is not None or relu) and not _is_nz(src):
        return "src to use blayout=col_major and slayout=row_major"
    if pair == (AddressSpace.ACC, AddressSpace.MAT) and dst.fractal != 512:
        return f"acc-to-mat destination fractal to be 512, got {dst.fractal}"
    return None


class MoveBase(TileOp):
    """`dst = src`, between memories of one core"""

    PAIRWISE: ClassVar[bool] = True

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    fp = opt_operand_def(READ_TILE)
    pre_quant_scalar = opt_operand_def(I64)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) > 3:
            return super().assign_ins(parser, values, position)
        named: dict[str, Any] = {"src": values[0]}
        for value in values[1:]:
            name = "fp" if isinstance(value.type, TileBufType) else "pre_quant_scalar"
            if name in named:
                parser.raise_error(f"{cls.name} has {name} twice", position)
            named[name] = value
        return named


TMovOp = declare(
    MoveBase,
    "TMovOp",
    "tmov",
    "dst = src; from an accumulator it may round, scale and clamp",
    pipe=_move_pipe,
    rules=[Rule("", _movable)],
)


class MoveScaledBase(TileOp):
    """`dst = src` scaled column by column, from an accumulator"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, ", ")


def nz_rule(name: str, fractal: int | None = None) -> Rule:
    """That a tile lies in column-major blocks of row-major order, the cube core's."""

    def check(op: PtoOp) -> str | None:
        tile = r.tile_of(op, name)
        if tile is None:
            return None
        if not _is_nz(tile):
            return f"got blayout={tile.blayout} and slayout={tile.slayout}"
        if fractal is not None and tile.fractal != fractal:
            return f"got fractal={tile.fractal}"
        return None

    size = "" if fractal is None else f", and fractal={fractal}"
    return Rule(f"{name} to use blayout=col_major and slayout=row_major{size}", check)


SCALED_RULES = (
    r.in_space(AddressSpace.ACC, "src"),
    r.in_space(AddressSpace.SCALING, "fp"),
    r.in_space(AddressSpace.MAT, "dst"),
    r.dtype("src", ("i32", "f32")),
    nz_rule("src"),
    nz_rule("dst", 512),
)

TMovFPOp = declare(
    MoveScaledBase,
    "TMovFPOp",
    "tmov.fp",
    "dst = src scaled column by column by fp",
    pipe=Pipe.FIX,
    rules=SCALED_RULES,
    other_names={"0.60": "tmov"},
)
