"""Ops of the scalar unit: numbers, pointers, single elements."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IntegerType
from xdsl.irdl import (
    operand_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    PtoOp,
    Role,
    declare,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.operands import (
    I64,
    INDEX,
    INDEX_TYPE,
    POINTER,
    READ_POINTER,
    READ_TILE,
    SCALAR,
    UPDATE_TILE,
    WRITE_POINTER,
)
from pypto_xdsl.dialects.pto.shaped_types import PtrType
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    TileOp,
    build,
    parse_type_of,
    print_attributes,
    print_typed_operands,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

I64_TYPE = IntegerType(64)
S = Pipe.S


class BlockQueryOp(FormattedOp):
    """A number of the core that runs the kernel"""

    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "attr-dict"

    result = result_def(I64_TYPE)


GetBlockIdxOp = declare(BlockQueryOp, "GetBlockIdxOp", "get_block_idx", "which block this is")
GetBlockNumOp = declare(BlockQueryOp, "GetBlockNumOp", "get_block_num", "how many blocks there are")
GetSubBlockIdxOp = declare(
    BlockQueryOp, "GetSubBlockIdxOp", "get_subblock_idx", "which vector core of the block this is"
)
GetSubBlockNumOp = declare(
    BlockQueryOp,
    "GetSubBlockNumOp",
    "get_subblock_num",
    "how many vector cores the block has",
)


class AddPtrBase(PtoOp):
    """`result = ptr + offset` elements"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = "ptr"

    ptr = operand_def(POINTER)
    offset = operand_def(INDEX)
    result = result_def(PtrType)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offset = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_type_of(parser, PtrType)
        parser.parse_punctuation("->")
        result = parse_type_of(parser, PtrType)
        values = {
            "ptr": parser.resolve_operand(ptr, type_),
            "offset": parser.resolve_operand(offset, INDEX_TYPE),
        }
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.ptr.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        if self.ptr.type != self.result.type:
            raise VerifyException(
                f"expects ptr and result to have the same type, got {self.ptr.type} and "
                f"{self.result.type}"
            )


AddPtrOp = declare(AddPtrBase, "AddPtrOp", "addptr", "the pointer offset elements further on")


class PtrToIntBase(FormattedOp):
    """The address as a number"""

    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$ptr attr-dict `:` type($ptr) `->` type($result)"

    ptr = operand_def(POINTER)
    result = result_def(I64_TYPE)


PtrToIntOp = declare(
    PtrToIntBase, "PtrToIntOp", "ptrtoint", "the address of a pointer", SINCE="0.57"
)


class IntToPtrBase(FormattedOp):
    """A number as an address"""

    traits = traits_def(Pure())
    FORMAT: ClassVar[str] = "$addr attr-dict `:` type($addr) `->` type($result)"

    addr = operand_def(I64)
    result = result_def(PtrType)

    def verify_(self) -> None:
        super().verify_()
        element = self.result.type.element_type
        if not isinstance(element, SCALAR.bases):
            raise VerifyException(f"expects a pointer to a number, got {self.result.type}")
        for use in self.result.uses:
            name = use.operation.name
            pointer = {"pto.load_scalar": 0, "pto.store_scalar": 0}.get(name)
            if pointer != use.index:
                raise VerifyException(
                    "expects result to be used only as the pointer of pto.load_scalar or "
                    f"pto.store_scalar, got {name}"
                )


IntToPtrOp = declare(
    IntToPtrBase, "IntToPtrOp", "inttoptr", "the pointer to an address", SINCE="0.57"
)

CASTABLE = OperandConstraint(
    (PtrType, IntegerType, TileBufType), Role.VIEW, "a pointer, an address or a tile"
)


class CastPtrBase(FormattedOp):
    """A pointer to other elements"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = "input"
    FORMAT: ClassVar[str] = "$input attr-dict `:` type($input) `->` type($result)"

    input = operand_def(CASTABLE)
    result = result_def(CASTABLE)


CastPtrOp = declare(
    CastPtrBase, "CastPtrOp", "castptr", "the same address under another type", SINCE="0.57"
)


def _verify_element(op: PtoOp, pointer: Any, value: Any) -> None:
    assert isinstance(pointer, PtrType)
    if pointer.space != AddressSpace.GM:
        raise VerifyException(f"expects a pointer to global memory, got {pointer}")
    if pointer.element_type != value:
        raise VerifyException(
            f"expects value type to match pointer element type, got {value} and "
            f"{pointer.element_type}"
        )


class LoadScalarBase(PtoOp):
    """`value = ptr[offset]`"""

    ptr = operand_def(READ_POINTER)
    offset = operand_def(INDEX)
    value = result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        offset = parser.parse_unresolved_operand()
        parser.parse_punctuation("]")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_type_of(parser, PtrType)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        values = {
            "ptr": parser.resolve_operand(ptr, type_),
            "offset": parser.resolve_operand(offset, INDEX_TYPE),
        }
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ptr)
        printer.print_string("[")
        printer.print_ssa_value(self.offset)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.ptr.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.value.type)

    def verify_(self) -> None:
        super().verify_()
        _verify_element(self, self.ptr.type, self.value.type)


LoadScalarOp = declare(
    LoadScalarBase, "LoadScalarOp", "load_scalar", "one element of global memory", pipe=S
)


class StoreScalarBase(PtoOp):
    """`ptr[offset] = value`"""

    ptr = operand_def(WRITE_POINTER)
    offset = operand_def(INDEX)
    value = operand_def(OperandConstraint(SCALAR.bases + INDEX.bases, Role.VALUE, "a number"))
    INS: ClassVar[tuple[str, ...] | None] = ("value", "ptr", "offset")
    OUTS: ClassVar[tuple[str, ...] | None] = ()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        ptr = parser.parse_unresolved_operand()
        parser.parse_punctuation("[")
        offset = parser.parse_unresolved_operand()
        parser.parse_punctuation("]")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_type_of(parser, PtrType)
        parser.parse_punctuation(",")
        value_type = parser.parse_type()
        values = {
            "ptr": parser.resolve_operand(ptr, type_),
            "offset": parser.resolve_operand(offset, INDEX_TYPE),
            "value": parser.resolve_operand(value, value_type),
        }
        return build(cls, values, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.value, self.ptr), printer.print_ssa_value)
        printer.print_string("[")
        printer.print_ssa_value(self.offset)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list((self.ptr.type, self.value.type), printer.print_attribute)

    def verify_(self) -> None:
        super().verify_()
        _verify_element(self, self.ptr.type, self.value.type)


StoreScalarOp = declare(
    StoreScalarBase, "StoreScalarOp", "store_scalar", "writes one element of global memory", pipe=S
)


class GetValueBase(PtoOp):
    """`dst = src[offset]`, the offset counting elements row by row"""

    src = operand_def(READ_TILE)
    offset = operand_def(INDEX)
    dst = result_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        parser.parse_punctuation("(")
        src = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        offset = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        src_type = parse_type_of(parser, TileBufType)
        parser.parse_punctuation(",")
        offset_type = parser.parse_type()
        parser.parse_punctuation(")")
        parser.parse_keyword("outs")
        parser.parse_punctuation(":")
        result = parser.parse_type()
        values = {
            "src": parser.resolve_operand(src, src_type),
            "offset": parser.resolve_operand(offset, offset_type),
        }
        return build(cls, values, parser.parse_optional_attr_dict(), (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        print_typed_operands(printer, (self.src, self.offset))
        printer.print_string(") outs : ")
        printer.print_attribute(self.dst.type)
        print_attributes(printer, self)

    def verify_(self) -> None:
        super().verify_()
        tile = self.src.type
        assert isinstance(tile, TileBufType)
        if self.dst.type != tile.element_type:
            raise VerifyException(
                f"expects dst type to match the element type of src, got {self.dst.type} and "
                f"{tile.element_type}"
            )


TGetValOp = declare(
    GetValueBase,
    "TGetValOp",
    "tgetval",
    "one element of a tile, by its place in row order",
    pipe=S,
    rules=[r.in_vec("src")],
)


class SetValueBase(TileOp):
    """`dst[offset] = val`, the offset counting elements row by row"""

    INS: ClassVar[tuple[str, ...] | None] = ("offset", "val")

    dst = operand_def(UPDATE_TILE)
    offset = operand_def(INDEX)
    val = operand_def(SCALAR)


TSetValOp = declare(
    SetValueBase,
    "TSetValOp",
    "tsetval",
    "writes one element of a tile, by its place in row order",
    pipe=S,
    rules=[r.in_vec("dst"), r.scalar_of("val", "dst")],
)
