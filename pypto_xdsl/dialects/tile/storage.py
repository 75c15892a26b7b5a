"""
Where tiles are kept, where the program says it: named buffers, and tiles placed in them.

    %ping = tile.alloc buffer = "ping", slots = 2 : !tile.buffer
    %t = tile.place %t0, %ping[%slot], by_slot : !tile.tile<16x64xf32, vec>, !tile.buffer

What is not placed is allocated by the compiler.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads, views
from pypto_xdsl.dialects.tile.attributes import MemorySpace, MemorySpaceAttr
from pypto_xdsl.dialects.tile.base import TILE
from pypto_xdsl.dialects.typed_op import TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    integer_attr,
    integer_prop,
    opt_integer_prop,
    opt_word_prop,
    string_prop,
    subscript_prop,
)


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """A named stretch of on-chip memory."""

    name = "tile.buffer"


BUFFER = BufferType()


@irdl_op_definition
class AllocOp(TypedOp):
    """
    A buffer. One that the author declares is `pinned`: it has `slots` slots, each as large as the
    largest tile placed in one, and no other tile is kept there.
    """

    name = "tile.alloc"

    buffer = string_prop()
    space = opt_word_prop(MemorySpaceAttr)
    size = opt_integer_prop(minimum=0)
    """In bytes; absent: as large as what is placed in it."""
    slots = integer_prop(1, minimum=1)
    pinned = opt_prop_def(UnitAttr)
    result = result_def(base(BufferType))

    def __init__(
        self,
        buffer: str,
        space: MemorySpace | None = None,
        size: int | None = None,
        *,
        slots: int = 1,
        pinned: bool = False,
    ):
        properties: dict[str, Attribute] = {
            "buffer": StringAttr(buffer),
            "slots": integer_attr(slots),
        }
        if space is not None:
            properties["space"] = MemorySpaceAttr(space)
        if size is not None:
            properties["size"] = integer_attr(size)
        if pinned:
            properties["pinned"] = UnitAttr()
        self._fill([BUFFER], properties)


@irdl_op_definition
class PlaceOp(TypedOp):
    """
    The same tile, kept in a buffer: at a byte offset, or in a slot (`by_slot`); no element moves.
    """

    name = "tile.place"
    ROWWISE: ClassVar[bool] = True

    source = operand_def(reads(TILE))
    buffer = operand_def(base(BufferType))
    offset = var_operand_def(IndexType)
    static_offset = subscript_prop()
    size = opt_integer_prop(minimum=0)
    """The bytes that the tile takes there."""
    by_slot = opt_prop_def(UnitAttr)
    result = result_def(views("source", TILE))

    def __init__(
        self,
        source: Value,
        buffer: Value,
        offset: Index,
        size: int | None = None,
        *,
        by_slot: bool = False,
    ):
        source = SSAValue.get(source)
        properties: dict[str, Attribute] = {}
        if size is not None:
            properties["size"] = integer_attr(size)
        if by_slot:
            properties["by_slot"] = UnitAttr()
        self._fill([source.type], properties, source=source, buffer=buffer, offset=[offset])

    @property
    def place(self) -> Sequence[Index]:
        """The byte offset in the buffer, or the slot."""
        return mixed_indices(self.static_offset, self.offset)

    def verify_(self) -> None:
        if len(self.place) != 1:
            raise VerifyException(f"expected one offset, got {len(self.place)}")
        (place,) = self.place
        if isinstance(place, int) and place < 0:
            raise VerifyException(f"an offset of {place} lies outside the buffer")
        if self.source.type != self.result.type:
            raise VerifyException(f"result should be {self.source.type}, got {self.result.type}")
        owner = self.buffer.owner
        if self.by_slot is not None and isinstance(owner, AllocOp) and isinstance(place, int):
            slots = owner.slots.value.data
            if place >= slots:
                raise VerifyException(f"slot {place} of a buffer of {slots}")


def size_of(op: AllocOp | PlaceOp) -> int | None:
    """The size in bytes, None if it follows from the tiles."""
    size: IntegerAttr | None = op.size
    return None if size is None else size.value.data
