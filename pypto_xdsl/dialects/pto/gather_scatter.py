"""Ops that pick and place elements of a tile by index, by mask or by comparison."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, opt_prop_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import STRING, PtoOp, Rule, declare, integer, word
from pypto_xdsl.dialects.pto.enumerations import MaskPattern, Pipe
from pypto_xdsl.dialects.pto.operands import (
    READ_TILE,
    SCALAR,
    SCRATCH_TILE,
    UPDATE_TILE,
    WRITE_TILE,
)
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, element_bits
from pypto_xdsl.dialects.pto.syntax import (
    Grammar,
    TileOp,
    at_value,
    grammar_of,
    parse_type_list,
    print_attributes,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

V = Pipe.V

MASK_STRIDE = {
    MaskPattern.P0101: 2,
    MaskPattern.P1010: 2,
    MaskPattern.P0001: 4,
    MaskPattern.P0010: 4,
    MaskPattern.P0100: 4,
    MaskPattern.P1000: 4,
    MaskPattern.P1111: 1,
}
"""How many elements a pattern keeps one of."""

MASK_FIRST = {
    MaskPattern.P0101: 0,
    MaskPattern.P1010: 1,
    MaskPattern.P0001: 0,
    MaskPattern.P0010: 1,
    MaskPattern.P0100: 2,
    MaskPattern.P1000: 3,
    MaskPattern.P1111: 0,
}
"""The first element a pattern keeps."""

AXES = ("row", "col")


def agree(x: int, y: int) -> bool:
    """Whether two extents can be the same; one that only the run knows can be any."""
    return DYNAMIC in (x, y) or x == y


class MaskedOp(TileOp):
    """Ops whose `ins(...)` may be `%src, {maskPattern = ...} : T, "row"`"""

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        names = [parser.parse_unresolved_operand()]
        attributes: dict[str, Attribute] = {}
        while parser.parse_optional_punctuation(",") is not None:
            if at_value(parser):
                names.append(parser.parse_unresolved_operand())
                continue
            position = parser.pos
            attributes = parser.parse_optional_attr_dict()
            if len(names) > 1 or set(attributes) != {"maskPattern"}:
                parser.raise_error("expected a value or {maskPattern = ...}", position)
            break
        parser.parse_punctuation(":")
        if not attributes:
            return resolve(parser, names, parse_type_list(parser)), attributes
        values = resolve(parser, names, [parser.parse_type()])
        if parser.parse_optional_punctuation(",") is not None:
            axis = parser.parse_str_literal(" for the axis of a mask")
            if axis not in AXES:
                parser.raise_error('axis must be "row" or "col"')
            attributes["axis"] = StringAttr(axis)
        else:
            # 0.27 knows rows only, and leaves the word out.
            attributes["axis"] = StringAttr("row")
        return values, attributes

    def print(self, printer: Printer) -> None:
        mask = self.properties.get("maskPattern")
        if mask is None:
            super().print(printer)
            return
        printer.print_string(" ins(")
        printer.print_ssa_value(self.operand("src"))
        printer.print_string(", {maskPattern = ")
        printer.print_attribute(mask)
        printer.print_string("} : ")
        printer.print_attribute(self.operand("src").type)
        axis = self.properties.get("axis")
        if axis is not None and not (
            grammar_of(printer) == Grammar.V0_27 and axis == StringAttr("row")
        ):
            printer.print_string(", ")
            printer.print_attribute(axis)
        printer.print_string(") outs(")
        print_typed_operands(printer, (self.operand("dst"),))
        printer.print_string(")")
        print_attributes(printer, self, ("maskPattern", "axis"))

    def mask_problem(self, many: str, few: str) -> str | None:
        """The tile that holds all elements is the other times the stride of the mask."""
        mask: Any = self.properties["maskPattern"]
        axis: Any = self.properties.get("axis")
        if axis is None or axis.data not in AXES:
            return 'mask form to provide an axis, "row" or "col"'
        along = 1 if axis.data == "row" else 0
        large, small = r.tile_operand(self, many).valid_shape, r.tile_operand(self, few).valid_shape
        stride = MASK_STRIDE[mask.data]
        if not agree(large[1 - along], small[1 - along]):
            return (
                f"{many} and {few} to agree across the mask, got {r.shape_text(large)} and "
                f"{r.shape_text(small)}"
            )
        if DYNAMIC not in (large[along], small[along]) and large[along] != small[along] * stride:
            return (
                f"valid extent of {many} to be {stride} times that of {few}, got "
                f"{large[along]} and {small[along]}"
            )
        return None


class GatherBase(MaskedOp):
    """`dst = src[indices]`, by index, by mask, or the places where a comparison holds"""

    INS: ClassVar[tuple[str, ...] | None] = ("src", "indices", "k_value", "tmp")
    OUTS: ClassVar[tuple[str, ...] | None] = ("dst", "cdst")

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    cdst = opt_operand_def(WRITE_TILE)
    indices = opt_operand_def(READ_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    k_value = opt_operand_def(SCALAR)
    mask_pattern = opt_prop_def(word(a.MaskPatternAttr), prop_name="maskPattern")
    axis = opt_prop_def(STRING)
    cmp_mode = opt_prop_def(word(a.CmpModeAttr), prop_name="cmpMode")
    offset = opt_prop_def(integer(32))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def is_mask(self) -> bool:
        """Whether elements are picked by a mask."""
        return "maskPattern" in self.properties

    @property
    def is_compare(self) -> bool:
        """Whether the places where a comparison holds are picked."""
        return self.cdst is not None

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        named: dict[str, Any] = {"src": values[0]}
        if len(values) > 1:
            by_index = isinstance(values[1].type, TileBufType)
            named["indices" if by_index else "k_value"] = values[1]
        if len(values) > 2:
            named["tmp"] = values[2]
        if len(values) > 3:
            parser.raise_error(
                f"{cls.name} expects at most 3 operands in ins(...), got {len(values)}", position
            )
        return named

    @classmethod
    def assign_outs(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) == 1:
            return {"dst": values[0]}
        return super().assign_outs(parser, values, position)

    @classmethod
    def parse_behind(cls, parser: Parser) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("maskPattern") is not None:
            # A spelling of 0.27; printed in ins(...).
            parser.parse_punctuation("=")
            attributes = {"maskPattern": parser.parse_attribute(), "axis": StringAttr("row")}
        return attributes | parser.parse_optional_attr_dict()


def _gather(op: PtoOp) -> str | None:
    assert isinstance(op, GatherBase)
    if op.is_mask:
        return _mask_gather(op)
    if op.is_compare:
        return _compare_gather(op)
    return _index_gather(op)


_MASK_GATHER = (r.in_vec("src", "dst"), r.row_major("src", "dst"), r.same_width("src", "dst"))
_INDEX_GATHER = (
    r.in_vec("src", "dst", "indices", "tmp"),
    r.same_dtype("src", "dst"),
    r.dtype("src", r.ARITHMETIC),
    r.dtype("indices", ("i32",)),
    r.same_dtype("indices", "tmp"),
    r.same_valid("indices", "tmp"),
)
_COMPARE_GATHER = (
    r.in_vec("src", "dst", "cdst", "tmp"),
    r.dtype("dst", ("i32",)),
    r.same_dtype("dst", "cdst"),
    r.scalar_of("k_value", "src"),
)


def _full_columns(op: PtoOp, name: str) -> str | None:
    tile = r.tile_operand(op, name)
    if not agree(tile.valid_shape[1], tile.get_shape()[1]):
        return f"{name} valid_shape[1] to equal {name} cols, got {tile.valid_shape[1]}"
    return None


def _mask_gather(op: GatherBase) -> str | None:
    for name in ("indices", "tmp", "k_value", "cdst"):
        if op.optional_operand(name) is not None:
            return f"no {name} with maskPattern"
    if (problem := r.first_problem(op, _MASK_GATHER)) is not None:
        return problem
    if element_bits(r.tile_operand(op, "src").element_type) not in (16, 32):
        return (
            f"mask form elements to be 2 or 4 bytes, got {r.tile_operand(op, 'src').element_type}"
        )
    return _full_columns(op, "dst") or op.mask_problem("src", "dst")


def _index_gather(op: GatherBase) -> str | None:
    if op.indices is None or op.tmp is None:
        return "index form to have both indices and tmp"
    return (
        r.first_problem(op, _INDEX_GATHER)
        or _full_columns(op, "dst")
        or _full_columns(op, "indices")
    )


def _compare_gather(op: GatherBase) -> str | None:
    if op.k_value is None or op.tmp is None:
        return "compare form to have kValue and tmp"
    if (problem := r.first_problem(op, _COMPARE_GATHER)) is not None:
        return problem
    mode: Any = op.properties.get("cmpMode")
    source = r.dtype_name(r.tile_operand(op, "src").element_type, signless=True)
    if mode is not None and mode.data not in (w.CmpMode.EQ, w.CmpMode.GT):
        return f"cmpMode to be eq or gt, got {mode.data}"
    wanted = ("f16", "f32", "i32") if mode is None or mode.data == w.CmpMode.EQ else ("f16", "f32")
    if source not in wanted:
        return f"compare form src element type to be {' or '.join(wanted)}, got {source}"
    return None


TGatherOp = declare(
    GatherBase,
    "TGatherOp",
    "tgather",
    "dst = src at indices; or the elements a mask keeps; or, with cdst, the columns where src "
    "compares with kValue, and their count",
    pipe=V,
    rules=[Rule("", _gather)],
)


class GatherBytesBase(TileOp):
    """`dst = src` at byte offsets, in blocks of 32 bytes"""

    src = operand_def(READ_TILE)
    offsets = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


TGatherBOp = declare(
    GatherBytesBase,
    "TGatherBOp",
    "tgatherb",
    "each 32-byte block of dst = the block of src at the byte offset in offsets",
    pipe=V,
    rules=[
        r.in_vec("src", "offsets", "dst"),
        r.row_major("dst"),
        r.dtype("dst", r.NARROW),
        r.dtype("offsets", ("ui32", "i32"), exact=True),
    ],
)


class ScatterBase(MaskedOp):
    """`dst[indexes] = src`, by index or by mask"""

    INS: ClassVar[tuple[str, ...] | None] = ("src", "indexes")

    src = operand_def(READ_TILE)
    dst = operand_def(UPDATE_TILE)
    indexes = opt_operand_def(READ_TILE)
    axis = opt_prop_def(STRING)
    mask_pattern = opt_prop_def(word(a.MaskPatternAttr), prop_name="maskPattern")


_SCATTER = (
    r.in_vec("src", "indexes", "dst"),
    r.row_major("src", "indexes", "dst"),
    r.same_dtype("src", "dst"),
    r.dtype("src", r.NARROW),
)


def _scatter(op: PtoOp) -> str | None:
    assert isinstance(op, ScatterBase)
    masked = "maskPattern" in op.properties
    if masked == (op.indexes is not None):
        return "exactly one of indexes and maskPattern"
    if (problem := r.first_problem(op, _SCATTER)) is not None:
        return problem
    if masked:
        return op.mask_problem("dst", "src")
    if "axis" in op.properties:
        return "no axis with indexes"
    bits = element_bits(r.tile_operand(op, "src").element_type)
    indexes = r.tile_operand(op, "indexes")
    index_bits = element_bits(indexes.element_type)
    if r.dtype_name(indexes.element_type, signless=True)[0] != "i" or index_bits != max(bits, 16):
        return f"indexes to be i{max(bits, 16)} for {bits}-bit elements, got {indexes.element_type}"
    return r.first_problem(op, (r.same_valid("src", "indexes"), r.at_least_valid("dst", "src")))


TScatterOp = declare(
    ScatterBase,
    "TScatterOp",
    "tscatter",
    "dst at indexes = src, the last of several at one place; or the elements a mask keeps = src",
    pipe=Pipe.S,
    rules=[Rule("", _scatter)],
)
