"""Ops that move a window of a tile into a tile, or a tile into a window of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import PtoOp, Rule, declare, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, BLayout, Pipe, SLayout
from pypto_xdsl.dialects.pto.load_store import NO_RELU, print_scaled_ins
from pypto_xdsl.dialects.pto.move import SCALED_RULES, nz_rule
from pypto_xdsl.dialects.pto.operands import I64, INDEX, READ_TILE, UPDATE_TILE, WRITE_TILE
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC
from pypto_xdsl.dialects.pto.syntax import TileOp, build, print_typed_operands
from pypto_xdsl.dialects.pto.tile_types import TileBufType

SCALED_TO = {"f32": ("i8",), "i32": ("i8", "f16", "i16")}
"""Elements of an accumulator, and what they may be scaled to."""


def _scaled_pair(op: PtoOp) -> str | None:
    source = r.dtype_name(r.tile_operand(op, "src").element_type, signless=True)
    target = r.dtype_name(r.tile_operand(op, "dst").element_type, signless=True)
    return None if target in SCALED_TO.get(source, ()) else f"got {source} to {target}"


_SCALED_PAIR = Rule("element types to be f32 to i8, or i32 to i8, f16 or i16", _scaled_pair)

_PLAIN = ("i8", "f16", "bf16", "f32")


def _acc_pair(op: PtoOp) -> str | None:
    """The element types an accumulator is drained to."""
    source = r.dtype_name(r.tile_operand(op, "src").element_type, signless=True)
    target = r.dtype_name(r.tile_operand(op, "dst").element_type, signless=True)
    scaled = op.optional_operand("pre_quant_scalar") is not None
    by_column = getattr(op, "fp", None) is not None
    wanted: tuple[str, ...] = ()
    if scaled or by_column:
        wanted = SCALED_TO.get(source, ())
    if not scaled and source == "f32":
        wanted = (*wanted, "f16", "bf16")
    if target in wanted:
        return None
    return (
        "acc element types to be f32 to f16 or bf16, or with preQuantScalar f32 to i8 and i32 to "
        f"i8, f16 or i16, got {source} to {target}"
    )


def _drain(op: PtoOp) -> str | None:
    for rule in (nz_rule("src"), nz_rule("dst", 512)):
        if (problem := rule.check(op)) is not None:
            return f"{rule.text}, {problem}"
    return _acc_pair(op)


def _window_in(large: str, small: str, *, by_valid: bool) -> Rule:
    def check(op: PtoOp) -> str | None:
        big, little = r.tile_operand(op, large), r.tile_operand(op, small)
        extents = little.valid_shape if by_valid else little.get_shape()
        for name, extent, room in zip(
            ("index_row", "index_col"), extents, big.get_shape(), strict=True
        ):
            at = r.constant_value(op.operand(name))
            if at is None:
                continue
            if at < 0:
                return f"got {at} for {name}"
            if extent != DYNAMIC and at + extent > room:
                return f"got {name}={at}, {extent} of {room}"
        return None

    return Rule(f"the window of {small} to lie in {large}", check)


def _extract_pipe(op: PtoOp) -> Pipe:
    return {AddressSpace.MAT: Pipe.MTE1, AddressSpace.ACC: Pipe.FIX}.get(
        r.tile_operand(op, "src").space, Pipe.V
    )


def _extractable(op: PtoOp) -> str | None:
    src, dst = r.tile_operand(op, "src"), r.tile_operand(op, "dst")
    if src.space != AddressSpace.ACC and src.element_type != dst.element_type:
        return (
            "src and dst to have the same element type, got "
            f"{r.dtype_name(src.element_type)} and {r.dtype_name(dst.element_type)}"
        )
    scalar = op.optional_operand("pre_quant_scalar")
    target = r.dtype_name(dst.element_type, signless=True)
    if target not in _PLAIN and not (
        src.space == AddressSpace.ACC and scalar is not None and target == "i16"
    ):
        return f"element type to be i8/f16/bf16/f32, got {target}"
    if src.space != AddressSpace.ACC:
        if scalar is not None:
            return "preQuantScalar form to use loc=acc src"
        if "reluPreMode" in op.properties:
            return "reluPreMode form to use loc=acc src"
    if "accToVecMode" in op.properties:
        return "no accToVecMode, which exists on A5 only"
    match src.space, dst.space:
        case (AddressSpace.VEC, AddressSpace.VEC):
            return None
        case (AddressSpace.ACC, AddressSpace.MAT):
            return _drain(op)
        case (AddressSpace.MAT, AddressSpace.LEFT):
            # PTOAS reads either blayout of a left tile as the one of the target.
            if dst.slayout != SLayout.ROW_MAJOR:
                return f"left dst to use row_major slayout, got {dst.slayout}"
        case (AddressSpace.MAT, AddressSpace.RIGHT):
            if (dst.blayout, dst.slayout) != (BLayout.ROW_MAJOR, SLayout.COL_MAJOR):
                return (
                    "right dst to use row_major blayout and col_major slayout, got "
                    f"{dst.blayout} and {dst.slayout}"
                )
        case _:
            return (
                "to go from mat to left or right, from acc to mat, or from vec to vec, got "
                f"{src.space} to {dst.space}"
            )
    if src.blayout != BLayout.ROW_MAJOR and src.slayout != SLayout.ROW_MAJOR:
        return (
            "src to use a supported mat blayout/slayout combination, got "
            f"{src.blayout} and {src.slayout}"
        )
    return None


CLAUSES = ("fp", "pre_quant")
"""What 0.60 writes behind the operands of textract and tinsert; 0.57 for tinsert only."""


def parse_scale_clauses(parser: Parser, values: list[SSAValue]) -> None:
    """`fp %s : S`, `pre_quant %q : i64`, appended to the operands read so far."""
    for keyword in CLAUSES:
        if parser.parse_optional_keyword(keyword) is not None:
            value = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            values.append(parser.resolve_operand(value, parser.parse_type()))


class ExtractBase(TileOp):
    """`dst = src[index_row + r, index_col + c]`"""

    src = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    pre_quant_scalar = opt_operand_def(I64)
    dst = operand_def(WRITE_TILE)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    def unwritable_in(self, version: str) -> str | None:
        src, dst = r.tile_operand(self, "src").space, r.tile_operand(self, "dst").space
        if version == "0.27" and src != AddressSpace.MAT:
            return f"copies from {src} to {dst}, and in PTOAS 0.27 from mat alone"
        return super().unwritable_in(version)

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        # 0.60 writes textract_fp as textract with `fp`.
        op = super().parse(parser)
        if len(op.operands) != 5 or not isinstance(op.operands[3].type, TileBufType):
            return op
        names = ("src", "index_row", "index_col", "fp", "dst")
        values: dict[str, Any] = dict(zip(names, op.operands, strict=True))
        return build(TExtractFPOp, values, {**op.properties, **op.attributes})

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        values, attributes = super().parse_ins(parser)
        if len(values) == 3:
            parse_scale_clauses(parser, values)
        return values, attributes


TExtractOp = declare(
    ExtractBase,
    "TExtractOp",
    "textract",
    "dst[r, c] = src[index_row + r, index_col + c]",
    pipe=_extract_pipe,
    rules=[_window_in("src", "dst", by_valid=False), Rule("", _extractable)],
)


class ExtractScaledBase(TileOp):
    """`dst = src[index_row + r, index_col + c]` scaled column by column"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    dst = operand_def(WRITE_TILE)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, " fp ")


TExtractFPOp = declare(
    ExtractScaledBase,
    "TExtractFPOp",
    "textract_fp",
    "dst[r, c] = src[index_row + r, index_col + c] scaled column by column by fp",
    pipe=Pipe.FIX,
    rules=[*SCALED_RULES, _SCALED_PAIR, _window_in("src", "dst", by_valid=False)],
    other_names={"0.60": "textract"},
)


class InsertScaledBase(TileOp):
    """`dst[index_row + r, index_col + c] = src` scaled column by column"""

    src = operand_def(READ_TILE)
    fp = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    dst = operand_def(UPDATE_TILE)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        print_scaled_ins(self, printer, inside, " fp ")


TInsertFPOp = declare(
    InsertScaledBase,
    "TInsertFPOp",
    "tinsert_fp",
    "dst[index_row + r, index_col + c] = src[r, c] scaled column by column by fp",
    pipe=Pipe.FIX,
    rules=[*SCALED_RULES, _SCALED_PAIR, _window_in("dst", "src", by_valid=True)],
    other_names={"0.60": "tinsert"},
)


def _insert_pipe(op: PtoOp) -> Pipe:
    return Pipe.FIX if r.tile_operand(op, "src").space == AddressSpace.ACC else Pipe.V


def _insertable(op: PtoOp) -> str | None:
    src, dst = r.tile_operand(op, "src"), r.tile_operand(op, "dst")
    fp, scalar = op.optional_operand("fp"), op.optional_operand("pre_quant_scalar")
    if fp is not None and scalar is not None:
        return "fp and preQuantScalar to be mutually exclusive"
    for name in ("accToVecMode", "tinsertMode"):
        if name in op.properties:
            return f"no {name}, which exists on A5 only"
    pair = (src.space, dst.space)
    if pair == (AddressSpace.VEC, AddressSpace.VEC):
        if fp is not None or scalar is not None or "reluPreMode" in op.properties:
            return "the vec to vec form without fp, preQuantScalar and reluPreMode"
        dtype = r.dtype_name(src.element_type, signless=True)
        if src.element_type != dst.element_type or dtype not in _PLAIN:
            return (
                "src and dst to have one element type of i8/f16/bf16/f32, got "
                f"{r.dtype_name(src.element_type)} and {r.dtype_name(dst.element_type)}"
            )
        return None
    if pair != (AddressSpace.ACC, AddressSpace.MAT):
        return f"to use acc to mat or vec to vec, got {src.space} to {dst.space}"
    if fp is not None and r.tile_operand(op, "fp").space != AddressSpace.SCALING:
        return f"fp to use loc=scaling, got loc={r.tile_operand(op, 'fp').space}"
    return _drain(op)


class InsertBase(TileOp):
    """`dst[index_row + r, index_col + c] = src`"""

    src = operand_def(READ_TILE)
    index_row = operand_def(INDEX)
    index_col = operand_def(INDEX)
    dst = operand_def(UPDATE_TILE)
    fp = opt_operand_def(READ_TILE)
    pre_quant_scalar = opt_operand_def(I64)
    acc_to_vec_mode = opt_prop_def(word(a.AccToVecModeAttr), prop_name="accToVecMode")
    relu_pre_mode = opt_prop_def(
        word(a.ReluPreModeAttr), default_value=NO_RELU, prop_name="reluPreMode"
    )
    tinsert_mode = opt_prop_def(word(a.TInsertModeAttr), prop_name="tinsertMode")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def unwritable_in(self, version: str) -> str | None:
        pair = (r.tile_operand(self, "src").space, r.tile_operand(self, "dst").space)
        if version == "0.27" and pair != (AddressSpace.ACC, AddressSpace.MAT):
            return f"copies from {pair[0]} to {pair[1]}, and in PTOAS 0.27 from acc to mat alone"
        return super().unwritable_in(version)

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        values, attributes = super().parse_ins(parser)
        if len(values) == 3:
            parse_scale_clauses(parser, values)
        return values, attributes

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        named = super().assign_ins(parser, values[:3], position)
        for value in values[3:]:
            is_tile = isinstance(value.type, TileBufType)
            named["fp" if is_tile else "pre_quant_scalar"] = value
        return named

    def print_ins(self, printer: Printer, inside: Any) -> None:
        print_typed_operands(printer, (self.src, self.index_row, self.index_col))
        for keyword, value in zip(CLAUSES, (self.fp, self.pre_quant_scalar), strict=True):
            if value is not None:
                printer.print_string(f" {keyword} ")
                print_typed_operands(printer, (value,))


TInsertOp = declare(
    InsertBase,
    "TInsertOp",
    "tinsert",
    "dst[index_row + r, index_col + c] = src[r, c]",
    pipe=_insert_pipe,
    rules=[_window_in("dst", "src", by_valid=True), Rule("", _insertable)],
)
