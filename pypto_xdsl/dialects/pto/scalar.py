"""Ops of the scalar unit: numbers, pointers, arrays on its stack, printing."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from xdsl.dialects.builtin import IntegerType
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.attributes import PrintFormatAttr
from pypto_xdsl.dialects.pto.declaration import (
    STRING,
    OperandConstraint,
    PtoOp,
    Role,
    declare,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.literals import parse_string
from pypto_xdsl.dialects.pto.operands import (
    GM_VIEW_TYPES,
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
from pypto_xdsl.dialects.pto.shaped_types import LocalArrayType, PartitionTensorViewType, PtrType
from pypto_xdsl.dialects.pto.syntax import (
    FormattedOp,
    TileOp,
    build,
    parse_operand_list,
    parse_type_list,
    parse_type_of,
    print_attributes,
    print_typed_operands,
    resolve,
    resolve_indices,
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


PtrToIntOp = declare(PtrToIntBase, "PtrToIntOp", "ptrtoint", "the address of a pointer")


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


IntToPtrOp = declare(IntToPtrBase, "IntToPtrOp", "inttoptr", "the pointer to an address")

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


CastPtrOp = declare(CastPtrBase, "CastPtrOp", "castptr", "the same address under another type")


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

LOCAL_ARRAY = OperandConstraint((LocalArrayType,), Role.READ, "a !pto.local_array")
LOCAL_ARRAY_OUT = OperandConstraint((LocalArrayType,), Role.UPDATE, "a !pto.local_array")


class DeclareLocalArrayBase(FormattedOp):
    """An array on the scalar unit's stack"""

    ALLOCATES: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "attr-dict `->` type($array)"

    array = result_def(LocalArrayType)


DeclareLocalArrayOp = declare(
    DeclareLocalArrayBase, "DeclareLocalArrayOp", "declare_local_array", "an array on the stack"
)


def _verify_array(op: PtoOp, array: Any, indices: Any, value: Any) -> None:
    assert isinstance(array, LocalArrayType)
    if len(indices) != array.get_num_dims():
        raise VerifyException(
            f"expects {array.get_num_dims()} indices for {array}, got {len(indices)}"
        )
    if value != array.element_type:
        raise VerifyException(
            f"expects value type to match array element type, got {value} and {array.element_type}"
        )
    for index, dim in zip(indices, array.get_shape(), strict=True):
        known = r.constant_value(index)
        if known is not None and not 0 <= known < dim:
            raise VerifyException(f"index {known} is out of range for {array}")


class LocalArrayGetBase(PtoOp):
    """`result = array[indices]`"""

    array = operand_def(LOCAL_ARRAY)
    indices = var_operand_def(INDEX)
    result = result_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        array = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        array_type = parse_type_of(parser, LocalArrayType)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        values: dict[str, Any] = {
            "array": parser.resolve_operand(array, array_type),
            "indices": resolve_indices(parser, indices),
        }
        return build(cls, values, attributes, (result,))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.array)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string("]")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.array.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        super().verify_()
        _verify_array(self, self.array.type, self.indices, self.result.type)


LocalArrayGetOp = declare(
    LocalArrayGetBase, "LocalArrayGetOp", "local_array_get", "one element of an array", pipe=S
)


class LocalArraySetBase(PtoOp):
    """`array[indices] = value`"""

    OUTS: ClassVar[tuple[str, ...] | None] = ()

    array = operand_def(LOCAL_ARRAY_OUT)
    indices = var_operand_def(INDEX)
    value = operand_def(SCALAR)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        array = parser.parse_unresolved_operand()
        indices = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_unresolved_operand
        )
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        array_type = parse_type_of(parser, LocalArrayType)
        parser.parse_punctuation(",")
        value_type = parser.parse_type()
        values: dict[str, Any] = {
            "array": parser.resolve_operand(array, array_type),
            "indices": resolve_indices(parser, indices),
            "value": parser.resolve_operand(value, value_type),
        }
        return build(cls, values, attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.array)
        printer.print_string("[")
        printer.print_list(self.indices, printer.print_ssa_value)
        printer.print_string("], ")
        printer.print_ssa_value(self.value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_list((self.array.type, self.value.type), printer.print_attribute)

    def verify_(self) -> None:
        super().verify_()
        _verify_array(self, self.array.type, self.indices, self.value.type)


LocalArraySetOp = declare(
    LocalArraySetBase,
    "LocalArraySetOp",
    "local_array_set",
    "writes one element of an array",
    pipe=S,
)


class PrintBase(PtoOp):
    """Prints a number"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    format = prop_def(STRING)
    scalar = operand_def(OperandConstraint(SCALAR.bases + INDEX.bases, Role.VALUE, "a number"))

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        parser.parse_punctuation("(")
        text = parse_string(parser)
        parser.parse_punctuation(",")
        scalar = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        values = {"scalar": parser.resolve_operand(scalar, parser.parse_type())}
        parser.parse_punctuation(")")
        return build(
            cls, values, parser.parse_optional_attr_dict(), (), {"format": STRING.make(text)}
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        printer.print_attribute(self.format)
        printer.print_string(", ")
        print_typed_operands(printer, (self.scalar,))
        printer.print_string(")")
        print_attributes(printer, self, ("format",))


PrintOp = declare(PrintBase, "PrintOp", "print", "prints a number", pipe=S)


class PrintTileBase(PtoOp):
    """Prints a tile"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True

    src = operand_def(
        OperandConstraint(
            (TileBufType, *GM_VIEW_TYPES), Role.READ, "a tile or a view of global memory"
        )
    )
    tmp = opt_operand_def(
        OperandConstraint((PartitionTensorViewType,), Role.SCRATCH, "a window of global memory")
    )
    print_format = opt_prop_def(word(PrintFormatAttr), prop_name="printFormat")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("ins")
        position = parser.pos
        parser.parse_punctuation("(")
        names = parse_operand_list(parser)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        found = resolve(parser, names, parse_type_list(parser))
        parser.parse_punctuation(")")
        if len(found) > 2:
            parser.raise_error(f"{cls.name} expects 1 to 2 operands, got {len(found)}", position)
        values: dict[str, Any] = dict(zip(("src", "tmp"), found, strict=False))
        return build(cls, values, attributes | parser.parse_optional_attr_dict())

    def print(self, printer: Printer) -> None:
        printer.print_string(" ins(")
        print_typed_operands(printer, tuple(self.operands))
        printer.print_string(")")
        print_attributes(printer, self)

    def verify_(self) -> None:
        super().verify_()
        tile = r.tile_of(self, "src")
        if self.print_format is not None and self.tmp is None:
            raise VerifyException("expects printFormat only when tmp is present")
        if tile is None:
            if self.tmp is not None:
                raise VerifyException("expects tmp only when src is a tile_buf")
            return
        if r.dtype_name(tile.element_type, signless=True) not in PRINTABLE:
            raise VerifyException(f"expects printable tile element type, got {tile.element_type}")
        spaces = (AddressSpace.VEC, AddressSpace.MAT, AddressSpace.ACC)
        allowed = spaces[:1] if self.tmp is None else spaces
        if tile.space not in allowed:
            raise VerifyException(
                f"expects a printable tile in {' or '.join(allowed)}, got loc={tile.space}"
            )


PRINTABLE = ("i8", "i16", "i32", "f16", "f32")

TPrintOp = declare(PrintTileBase, "TPrintOp", "tprint", "prints a tile", pipe=Pipe.V)


class TrapBase(FormattedOp):
    """Stops the kernel"""

    HAS_SIDE_EFFECTS: ClassVar[bool] = True
    FORMAT: ClassVar[str] = "attr-dict"


TrapOp = declare(TrapBase, "TrapOp", "trap", "stops the kernel", pipe=S)
