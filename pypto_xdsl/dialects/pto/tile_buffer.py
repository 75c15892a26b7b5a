"""Ops that give tiles their storage: one tile, or several slots of one shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

from xdsl.dialects.builtin import i64
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, operand_def, opt_operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.pto.declaration import OperandConstraint, PtoOp, Role, declare
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Compact, SLayout
from pypto_xdsl.dialects.pto.operands import I64, INDEX, INDEX_TYPE, VIEW_TILE
from pypto_xdsl.dialects.pto.rules import constant_value
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, element_bytes
from pypto_xdsl.dialects.pto.syntax import FormattedOp, build, print_attributes
from pypto_xdsl.dialects.pto.tile_types import MultiTileBufType, TileBufType

MULTI_TILE = OperandConstraint((MultiTileBufType,), Role.VIEW, "a !pto.multi_tile_buf")

BLOCK_BYTES = 32
"""A core's memories are addressed in blocks of this size."""

ADDRESS_ALIGNMENT = {
    AddressSpace.VEC: BLOCK_BYTES,
    AddressSpace.MAT: BLOCK_BYTES,
    AddressSpace.BIAS: BLOCK_BYTES,
    AddressSpace.SCALING: BLOCK_BYTES,
    AddressSpace.LEFT: 512,
    AddressSpace.RIGHT: 512,
    AddressSpace.ACC: 512,
}
"""What the byte address of a tile in each memory is a multiple of."""


def verify_tile_layout(tile: TileBufType, name: str) -> None:
    """A tile's box is made of whole blocks. Raises `VerifyException`."""
    rows, cols = tile.get_shape()
    size = element_bytes(tile.element_type)
    if tile.slayout == SLayout.NONE_BOX:
        by_row = tile.blayout == "row_major"
        stretch = (cols if by_row else rows) * size
        if stretch % BLOCK_BYTES:
            what = "row-major none_box tile row" if by_row else "col-major none_box tile column"
            raise VerifyException(
                f"expects {name} {what} byte size to be 32-byte aligned, but got {stretch} bytes"
            )
        return
    if tile.fractal == 512 and BLOCK_BYTES % size:
        raise VerifyException(
            f"expects {name} element byte size to divide 32 for boxed fractal-512 tile layout"
        )
    inner_rows, inner_cols = tile.inner_box
    free_rows = tile.space == AddressSpace.VEC or tile.fractal == 32 or rows == 1
    if not free_rows and rows % inner_rows:
        raise VerifyException(
            f"expects {name} boxed tile rows to be a multiple of innerRows ({inner_rows}), "
            f"but got {rows}"
        )
    if cols % inner_cols:
        raise VerifyException(
            f"expects {name} boxed tile cols to be a multiple of innerCols ({inner_cols}), "
            f"but got {cols}"
        )


def verify_address(addr: SSAValue, space: AddressSpace) -> None:
    """A byte address that is known is one a tile can have. Raises `VerifyException`."""
    known = constant_value(addr)
    alignment = ADDRESS_ALIGNMENT[space]
    if known is None:
        return
    if known < 0:
        raise VerifyException(f"addr must be non-negative, got {known}")
    if known % alignment:
        raise VerifyException(
            f"addr must be aligned to {alignment} bytes for local tile memory space, got {known}"
        )


class AllocBase(PtoOp):
    """`[addr = %a] [valid_row = %r] [valid_col = %c] : T`"""

    ALLOCATES: ClassVar[bool] = True

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        values: dict[str, SSAValue | Sequence[SSAValue]] = {}
        for name, type_ in (("addr", i64), ("valid_row", INDEX_TYPE), ("valid_col", INDEX_TYPE)):
            if parser.parse_optional_keyword(name) is not None:
                parser.parse_punctuation("=")
                values[name] = parser.resolve_operand(parser.parse_unresolved_operand(), type_)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return build(cls, values, attributes, (parser.parse_type(),))

    def print(self, printer: Printer) -> None:
        for name in ("addr", "valid_row", "valid_col"):
            if (value := self.optional_operand(name)) is not None:
                printer.print_string(f" {name} = ")
                printer.print_ssa_value(value)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_tile(self, tile: TileBufType, name: str) -> None:
        """The tile can lie at the address, and has an operand for each unknown extent."""
        verify_tile_layout(tile, name)
        if (addr := self.optional_operand("addr")) is not None:
            verify_address(addr, tile.space)
        for what, dim, extent in zip(
            ("row", "col"), tile.valid_shape, tile.get_shape(), strict=True
        ):
            value = self.optional_operand(f"valid_{what}")
            if (value is not None) != (dim == DYNAMIC):
                raise VerifyException(
                    f"valid_{what} operand {'is required' if dim == DYNAMIC else 'must be absent'} "
                    f"because result type v_{what} is {'?' if dim == DYNAMIC else dim}"
                )
            known = None if value is None else constant_value(value)
            if known is not None and not 0 <= known <= extent:
                raise VerifyException(f"valid_{what} must be between 0 and {extent}, got {known}")


class AllocTileBase(AllocBase):
    """A new tile"""

    addr = opt_operand_def(I64)
    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    result = result_def(TileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        super().verify_()
        self.verify_tile(self.result.type, "result")


AllocTileOp = declare(
    AllocTileBase,
    "AllocTileOp",
    "alloc_tile",
    "a new tile, at a byte address or where the assembler puts it; equal addresses share bytes",
)


PLANNED_ADDRESSES = "pto.multi_buffer_addrs"
"""Where the assembler notes the addresses it gave to slots."""


class AllocMultiTileBase(AllocBase):
    """New tiles of one type, side by side"""

    addr = opt_operand_def(I64)
    valid_row = opt_operand_def(INDEX)
    valid_col = opt_operand_def(INDEX)
    result = result_def(MultiTileBufType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def verify_(self) -> None:
        super().verify_()
        slot = self.result.type.slot_type
        self.verify_tile(slot, "slot")
        if slot.compact == Compact.ROW_PLUS_ONE:
            raise VerifyException(
                "does not support row_plus_one compaction, whose footprint would overlap the "
                "next slot"
            )
        if PLANNED_ADDRESSES in self.attributes:
            raise VerifyException(f"attribute '{PLANNED_ADDRESSES}' is reserved for the assembler")


AllocMultiTileOp = declare(
    AllocMultiTileBase,
    "AllocMultiTileOp",
    "alloc_multi_tile",
    "new tiles of one type",
    SINCE="0.57",
)


class MultiTileGetBase(FormattedOp):
    """One of the tiles of a `multi_tile_buf`"""

    # What lies outside is an error where the program looks at it, and nowhere else: not `Pure`.
    traits = traits_def(NoMemoryEffect())
    ALIASES: ClassVar[str | None] = "source"

    source = operand_def(MULTI_TILE)
    slot = operand_def(INDEX)
    result = result_def(TileBufType)
    FORMAT: ClassVar[str] = "$source `[` $slot `]` attr-dict `:` type($source) `->` type($result)"

    def verify_(self) -> None:
        super().verify_()
        source = self.source.type
        assert isinstance(source, MultiTileBufType)
        if source.slot_type != self.result.type:
            raise VerifyException(
                "result tile_buf must match the multi_tile_buf slot type: expected "
                f"{source.slot_type}, got {self.result.type}"
            )
        slot = constant_value(self.slot)
        if slot is not None and not 0 <= slot < source.count:
            raise VerifyException(
                f"constant slot {slot} is out of range for multi_tile_buf count={source.count}"
            )


MultiTileGetOp = declare(
    MultiTileGetBase, "MultiTileGetOp", "multi_tile_get", "the tile in one slot", SINCE="0.57"
)


class AssignBase(FormattedOp):
    """A tile, moved to a byte address"""

    traits = traits_def(Pure())
    ALIASES: ClassVar[str | None] = None

    tile = operand_def(VIEW_TILE)
    addr = operand_def(I64)
    result = result_def(TileBufType)
    FORMAT: ClassVar[str] = "$tile `,` $addr attr-dict `:` type($tile) `->` type($result)"

    def verify_(self) -> None:
        super().verify_()
        if self.tile.type != self.result.type:
            raise VerifyException("expects tile and result to have the same type")
        verify_address(self.addr, self.result.type.space)


TAssignOp = declare(
    AssignBase, "TAssignOp", "tassign", "the tile's type at another byte address; level3 only"
)


class DeclareTileBase(FormattedOp):
    """A tile without storage, that a pop gives storage"""

    ALLOCATES: ClassVar[bool] = True

    tile = result_def(TileBufType)
    FORMAT: ClassVar[str] = "attr-dict `->` type($tile)"


DeclareTileOp = declare(
    DeclareTileBase, "DeclareTileOp", "declare_tile", "a tile without storage, for tpop to fill"
)
