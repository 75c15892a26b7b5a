"""Ops that compare, select, convert, quantise and generate elements."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def, prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import BOOL, PtoOp, Rule, declare, integer, word
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.operands import (
    ANY_INTEGER,
    NEEDED_SCRATCH_TILE,
    READ_TILE,
    SCALAR,
    SCRATCH_TILE,
    UPDATE_TILE,
    WRITE_TILE,
)
from pypto_xdsl.dialects.pto.reduction import REPEAT_BYTES
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, element_bits
from pypto_xdsl.dialects.pto.syntax import (
    Grammar,
    TileOp,
    grammar_of,
    parse_type_list,
    print_attributes,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

V = Pipe.V
MASKS = ("i8",)
"""Element types of a tile of packed bits."""


def _rows_agree(*names: str) -> Rule:
    return r.same_valid_dim("row", *names)


class CompareOp(TileOp):
    """`dst = cmp(src0, src1)`, a bit an element"""

    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ("cmpMode",)
    ATTRIBUTES_BEHIND: ClassVar[bool] = False

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    cmp_mode = opt_prop_def(word(a.CmpModeAttr), prop_name="cmpMode")


TCmpOp = declare(
    CompareOp,
    "TCmpOp",
    "tcmp",
    "bit c % 8 of dst[r, c // 8] = src0[r, c] cmp src1[r, c]",
    pipe=V,
    rules=[
        r.in_vec("src0", "src1", "dst"),
        r.same_dtype("src0", "src1"),
        r.dtype("src0", ("i32", "f16", "f32")),
        r.dtype("dst", MASKS),
        r.same_valid("src0", "src1"),
        _rows_agree("src0", "dst"),
    ],
)


class CompareScalarOp(TileOp):
    """`dst = cmp(src, scalar)`, a bit an element"""

    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ("cmpMode",)
    ATTRIBUTES_BEHIND: ClassVar[bool] = False

    src = operand_def(READ_TILE)
    scalar = operand_def(SCALAR)
    dst = operand_def(WRITE_TILE)
    cmp_mode = opt_prop_def(
        word(a.CmpModeAttr),
        default_value=a.CmpModeAttr(w.CmpMode.EQ),
        prop_name="cmpMode",
    )


TCmpSOp = declare(
    CompareScalarOp,
    "TCmpSOp",
    "tcmps",
    "bit c % 8 of dst[r, c // 8] = src[r, c] cmp scalar",
    pipe=V,
    rules=[
        r.in_vec("src", "dst"),
        r.dtype("src", r.ARITHMETIC),
        r.dtype("dst", MASKS),
        _rows_agree("src", "dst"),
    ],
)


class SelectOp(TileOp):
    """`dst = mask ? src0 : src1`"""

    mask = operand_def(READ_TILE)
    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TSelOp = declare(
    SelectOp,
    "TSelOp",
    "tsel",
    "dst = src0 where the bit of mask is set, else src1",
    pipe=V,
    rules=[
        r.in_vec("mask", "src0", "src1", "tmp", "dst"),
        r.same_dtype("src0", "src1", "dst"),
        r.row_major("src0", "src1", "dst"),
        r.dtype("dst", ("i16", "i32", "f16", "bf16", "f32")),
    ],
    in_place=["src0", "src1"],
)


class SelectScalarOp(TileOp):
    """`dst = mask ? src : scalar`"""

    INS: ClassVar[tuple[str, ...] | None] = ("mask", "src", "tmp", "scalar")

    mask = operand_def(READ_TILE)
    src = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    scalar = operand_def(SCALAR)
    dst = operand_def(WRITE_TILE)

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) == 3:
            return dict(zip(("mask", "src", "scalar"), values, strict=True))
        return super().assign_ins(parser, values, position)


TSelSOp = declare(
    SelectScalarOp,
    "TSelSOp",
    "tsels",
    "dst = src where the bit of mask is set, else scalar",
    pipe=V,
    rules=[
        r.in_vec("mask", "src", "tmp", "dst"),
        r.same_dtype("src", "dst"),
        r.row_major("src", "dst"),
        r.dtype("dst", r.ARITHMETIC),
        r.same_valid("src", "dst"),
    ],
    in_place=["src"],
)


class ConvertOp(TileOp):
    """`dst = convert(src)`"""

    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ("rmode", "sat_mode")
    ATTRIBUTES_BEHIND: ClassVar[bool] = False

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    rmode = opt_prop_def(
        word(a.RoundModeAttr), default_value=a.RoundModeAttr(w.RoundMode.CAST_RINT)
    )
    # The value that holds where the attribute is absent depends on the pair of element types.
    sat_mode = opt_prop_def(word(a.SaturationModeAttr))

    def may_share(self, source: str) -> bool:
        return source == "src"

    def may_narrow(self, source: str) -> bool:
        """
        The unit converts row by row, a repeat at a time, but what is left of rows that are no
        whole repeats after all of them.
        """
        src, dst = self.src.type, self.dst.type
        if source != "src" or not isinstance(src, TileBufType) or not isinstance(dst, TileBufType):
            return False
        bits = element_bits(src.element_type)
        columns = src.valid_shape[1]
        return (
            self.tmp is None
            and element_bits(dst.element_type) < bits
            and src.get_shape() == dst.get_shape()
            and columns != DYNAMIC
            and columns * bits % (8 * REPEAT_BYTES) == 0
            and all(
                tile.blayout == w.BLayout.ROW_MAJOR and tile.slayout == w.SLayout.NONE_BOX
                for tile in (src, dst)
            )
        )

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        values, attributes = super().parse_ins(parser)
        if "satmode" in attributes:
            # An older name.
            if "sat_mode" in attributes:
                parser.raise_error("cannot specify both satmode and sat_mode")
            attributes["sat_mode"] = attributes.pop("satmode")
        return values, attributes


TCvtOp = declare(
    ConvertOp,
    "TCvtOp",
    "tcvt",
    "dst = src in dst's element type, rounded by rmode, clamped or wrapped by sat_mode",
    pipe=V,
    rules=[r.in_vec("src", "dst", "tmp"), r.same_valid("src", "dst")],
)


class FillOp(TileOp):
    """`dst = scalar`"""

    scalar = operand_def(SCALAR)
    dst = operand_def(WRITE_TILE)


def _fill_pipe(op: PtoOp) -> Pipe:
    tile = op.operand("dst").type
    assert isinstance(tile, TileBufType)
    return Pipe.MTE2 if tile.space == AddressSpace.MAT else V


def _row_major_in_vec(op: PtoOp) -> str | None:
    tile = op.operand("dst").type
    assert isinstance(tile, TileBufType)
    if tile.space == AddressSpace.VEC and tile.blayout != w.BLayout.ROW_MAJOR:
        return f"got {tile.blayout}"
    return None


TExpandSOp = declare(
    FillOp,
    "TExpandSOp",
    "texpands",
    "dst = scalar in all of the valid region",
    pipe=_fill_pipe,
    rules=[
        r.in_space((AddressSpace.VEC, AddressSpace.MAT), "dst"),
        r.scalar_of("scalar", "dst"),
        r.dtype("dst", r.NARROW),
        Rule("dst in vec to use blayout=row_major", _row_major_in_vec),
    ],
)


class RampOp(TileOp):
    """`dst[0, c] = s + c`"""

    s = operand_def(ANY_INTEGER)
    tmp = opt_operand_def(SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)
    descending = opt_prop_def(BOOL, default_value=BoolAttr.from_bool(False))
    OLD_IN_INS: ClassVar[tuple[str, ...]] = ("descending",)
    """Attributes that 0.27 writes in `ins(...)`."""

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        names = [parser.parse_unresolved_operand()]
        if parser.parse_optional_punctuation(",") is not None:
            names.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return resolve(parser, names, parse_type_list(parser)), attributes

    def print(self, printer: Printer) -> None:
        old = grammar_of(printer) == Grammar.V0_27
        inside = {n: self.properties[n] for n in self.OLD_IN_INS if n in self.properties}
        printer.print_string(" ins(")
        self.print_ins(printer, inside if old else {})
        printer.print_string(") outs(")
        print_typed_operands(printer, (self.dst,))
        printer.print_string(")")
        print_attributes(printer, self, self.OLD_IN_INS if old else ())


def _several_columns(op: PtoOp) -> str | None:
    tile = op.operand("dst").type
    assert isinstance(tile, TileBufType)
    return f"got {tile.get_shape()[1]}" if tile.get_shape()[1] == 1 else None


TCIOp = declare(
    RampOp,
    "TCIOp",
    "tci",
    "dst[0, c] = s + c, or s - c if descending",
    pipe=Pipe.S,
    rules=[
        r.in_vec("dst", "tmp"),
        r.scalar_of("s", "dst"),
        r.dtype("dst", ("i16", "i32")),
        Rule("dst to have more than one column", _several_columns),
    ],
    newer=["tmp"],
)


class TriangleOp(TileOp):
    """`dst[r, c] = c <= r + diagonal ? 1 : 0`"""

    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ("upperOrLower",)
    ATTRIBUTES_BEHIND: ClassVar[bool] = False

    diagonal = operand_def(ANY_INTEGER)
    dst = operand_def(WRITE_TILE)
    upper_or_lower = opt_prop_def(
        integer(32), default_value=IntegerAttr(0, IntegerType(32)), prop_name="upperOrLower"
    )


def _upper_or_lower(op: PtoOp) -> str | None:
    value: Any = op.properties.get("upperOrLower")
    if value is None or value.value.data in (0, 1):
        return None
    return f"got {value.value.data}"


TTriOp = declare(
    TriangleOp,
    "TTriOp",
    "ttri",
    "dst[r, c] = 1 where c <= r + diagonal (upperOrLower 0) or c >= r + diagonal (1), else 0",
    pipe=V,
    rules=[
        r.in_vec("dst"),
        r.row_major("dst"),
        r.dtype("dst", r.ARITHMETIC),
        Rule("upperOrLower to be 0 or 1", _upper_or_lower),
    ],
)


class QuantBase(TileOp):
    """`dst = quantise(src)`"""

    INS: ClassVar[tuple[str, ...] | None] = ("src", "fp", "offset")
    OUTS: ClassVar[tuple[str, ...] | None] = ("dst", "tmp")

    # The instruction keeps intermediate values in src.
    src = operand_def(UPDATE_TILE)
    fp = operand_def(READ_TILE)
    offset = opt_operand_def(READ_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)
    quant_type = prop_def(word(a.QuantTypeAttr))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def assign_outs(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) == 2:
            return {"dst": values[0], "tmp": values[1]}
        if len(values) == 1:
            return {"dst": values[0]}
        return super().assign_outs(parser, values, position)


def _quantisable(op: PtoOp) -> str | None:
    mode: Any = op.properties["quant_type"]
    offset = op.optional_operand("offset")
    if mode.data not in (w.QuantType.INT8_SYM, w.QuantType.INT8_ASYM):
        return f"quant_type to be INT8_SYM or INT8_ASYM, got {mode.data}"
    symmetric = mode.data == w.QuantType.INT8_SYM
    if symmetric and offset is not None:
        return "no offset with INT8_SYM"
    if not symmetric and offset is None:
        return "an offset with INT8_ASYM"
    for name in ("fp", "offset"):
        tile = r.tile_of(op, name)
        if tile is not None and tile.blayout == w.BLayout.ROW_MAJOR:
            return f"{name} not to use blayout=row_major"
    return None


TQuantOp = declare(
    QuantBase,
    "TQuantOp",
    "tquant",
    "dst = src * fp [+ offset], rounded and clamped to 8 bits; src is overwritten",
    pipe=V,
    rules=[
        r.in_vec("src", "fp", "offset", "tmp", "dst"),
        r.row_major("src", "tmp", "dst"),
        r.dtype("src", ("f32",)),
        r.dtype("dst", ("i8",)),
        r.dtype("offset", ("f32",)),
        r.same_valid("src", "tmp", "dst"),
        r.same_dtype("src", "tmp"),
        r.same_box("src", "tmp"),
        _rows_agree("fp", "offset", "dst"),
        r.valid_dim_is("fp", "col", (1,)),
        r.valid_dim_is("offset", "col", (1,)),
        Rule("", _quantisable),
    ],
)


class DequantBase(TileOp):
    """`dst = (src - offset) * scale`"""

    src = operand_def(READ_TILE)
    scale = operand_def(READ_TILE)
    offset = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


TDequantOp = declare(
    DequantBase,
    "TDequantOp",
    "tdequant",
    "dst = (src - offset) * scale, a scale and offset a row",
    pipe=V,
    rules=[
        r.in_vec("src", "scale", "offset", "dst"),
        r.row_major("src", "dst"),
        r.dtype("src", ("i8", "i16")),
        r.dtype("dst", ("f32",)),
        r.dtype("scale", ("f32",)),
        r.dtype("offset", ("f32",)),
        r.same_valid("src", "dst"),
    ],
)


class PartOp(TileOp):
    """`dst = f(src0, src1)` where both are valid, else the one that is"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


def _covers(op: PtoOp) -> str | None:
    """One source covers dst, neither reaches beyond it."""
    src0, src1, dst = (op.operand(name).type for name in ("src0", "src1", "dst"))
    assert isinstance(src0, TileBufType)
    assert isinstance(src1, TileBufType)
    assert isinstance(dst, TileBufType)

    def no_larger(tile: TileBufType) -> bool:
        return all(
            DYNAMIC in (x, y) or x <= y
            for x, y in zip(tile.valid_shape, dst.valid_shape, strict=True)
        )

    def equal(tile: TileBufType) -> bool:
        return all(
            DYNAMIC in (x, y) or x == y
            for x, y in zip(tile.valid_shape, dst.valid_shape, strict=True)
        )

    if no_larger(src0) and no_larger(src1) and (equal(src0) or equal(src1)):
        return None
    shapes = [r.shape_text(tile.valid_shape) for tile in (src0, src1, dst)]
    return f"got {shapes[0]} and {shapes[1]} for {shapes[2]}"


_PART_SHAPE = Rule(
    "src0/src1 valid_shape to lie in that of dst, and one of them to match it", _covers
)
_PART = (
    r.in_vec("src0", "src1", "dst"),
    r.row_major("src0", "src1", "dst"),
    r.same_dtype("src0", "src1", "dst"),
    r.dtype("dst", r.ARITHMETIC),
    _PART_SHAPE,
)

TPartAddOp = declare(
    PartOp, "TPartAddOp", "tpartadd", "dst = src0 + src1 where both are valid", pipe=V, rules=_PART
)
TPartMulOp = declare(
    PartOp, "TPartMulOp", "tpartmul", "dst = src0 * src1 where both are valid", pipe=V, rules=_PART
)
_PART_SAME_BOX = (*_PART, r.same_box("src0", "src1", "dst"))

TPartMaxOp = declare(
    PartOp,
    "TPartMaxOp",
    "tpartmax",
    "dst = max(src0, src1) where both are valid",
    pipe=V,
    rules=_PART_SAME_BOX,
)
TPartMinOp = declare(
    PartOp,
    "TPartMinOp",
    "tpartmin",
    "dst = min(src0, src1) where both are valid",
    pipe=V,
    rules=_PART_SAME_BOX,
)


class PartArgOp(TileOp):
    """`dst, dst_idx = f((src0, src0_idx), (src1, src1_idx))`"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    src0_idx = operand_def(READ_TILE)
    src1_idx = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    dst_idx = operand_def(WRITE_TILE)


_PART_ARG = (
    r.in_vec("src0", "src1", "src0_idx", "src1_idx", "dst", "dst_idx"),
    r.same_dtype("src0", "src1", "dst"),
    r.same_dtype("src0_idx", "src1_idx", "dst_idx"),
    r.dtype("dst", r.FLOATS),
    _PART_SHAPE,
)

TPartArgMaxOp = declare(
    PartArgOp,
    "TPartArgMaxOp",
    "tpartargmax",
    "dst = max(src0, src1) where both are valid, dst_idx the index of the greater",
    pipe=V,
    rules=_PART_ARG,
    SINCE="0.57",
)
TPartArgMinOp = declare(
    PartArgOp,
    "TPartArgMinOp",
    "tpartargmin",
    "dst = min(src0, src1) where both are valid, dst_idx the index of the less",
    pipe=V,
    rules=_PART_ARG,
    SINCE="0.57",
)
