"""
Brings tiles to one valid region where control flow makes one value of them.

A tensor's type says what of it is valid: a constant, or `?` where that is known at run time only.
The tile that stands for it may say more, because it follows from the ops that made it. Where a
branch, or the next iteration of a loop, hands on another one, both take the type that holds for
either: `?` where they differ. What pads a tile stays only where it is the same.

    scf.yield %a : !tile.tile<16x64xf32>                 // one branch
    scf.yield %b : !tile.tile<16x64xf32, valid = [8, 64]>  // the other

    %all = tile.set_validshape %a, valid = [%c16, 64] : ... -> !tile.tile<.., valid = [?, 64]>
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.ptensor import pad_value_of, valid_shape_of
from pypto_xdsl.dialects.ptensor.attributes import PadValue
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.syntax.lists import Index


def joined(types: Sequence[TileType]) -> TileType | None:
    """The type that all these tiles can be brought to; None if they differ otherwise."""
    first, *others = types
    for other in others:
        if first == other:
            continue
        if first.is_compact != other.is_compact and first.is_one_box_high:
            first, other = first.with_compact(False), other.with_compact(False)
        if first.pad_value is not other.pad_value:
            first, other = first.without_pad(), other.without_pad()
        if first.with_valid(None) != other.with_valid(None):
            return None
        pairs = zip(first.valid_shape, other.valid_shape, strict=True)
        first = first.with_valid(x if x == y else DYNAMIC_INDEX for x, y in pairs)
    return first


def brought_to(value: SSAValue, type: TileType, inserter: Inserter) -> SSAValue:
    """A tile under a type that differs from its own in the valid region, `compact` and pad only."""
    have = TileType.of(value.type)
    if have == type:
        return value
    extents = [
        _extent(value, axis, inserter) if wanted == DYNAMIC_INDEX else wanted
        for axis, wanted in enumerate(type.valid_shape)
    ]
    source = value
    while isinstance(source.owner, tile.SetValidShapeOp):
        source = source.owner.source
    if source.type == type and DYNAMIC_INDEX not in type.valid_shape:
        return source
    keeps_pad = type.pad_value is TileType.of(source.type).pad_value
    new = tile.SetValidShapeOp(source, extents, compact=type.is_compact, keeps_pad=keeps_pad)
    return inserter.insert(new, value.name_hint)


def cast_valid(value: SSAValue, tensor: TensorType[Attribute], inserter: Inserter) -> SSAValue:
    """
    A tile whose valid region is what the type of its tensor says; what that leaves open stays as
    it is.
    """
    have = TileType.of(value.type)
    valid = valid_shape_of(tensor)
    if len(valid) != have.get_num_dims():
        return value
    pairs = zip(have.valid_shape, valid, strict=True)
    wanted = tuple(x if y == DYNAMIC_INDEX else y for x, y in pairs)
    return brought_to(value, with_valid(have, wanted), inserter)


def left_open(value: SSAValue, tensor: TensorType[Attribute], inserter: Inserter) -> SSAValue:
    """
    A tile whose valid region is open wherever that of its tensor is, and that is padded only if its
    tensor is.
    """
    have = TileType.of(value.type)
    valid = valid_shape_of(tensor)
    if len(valid) != have.get_num_dims():
        return value
    pairs = zip(have.valid_shape, valid, strict=True)
    wanted = have.with_valid(y if y == DYNAMIC_INDEX else x for x, y in pairs)
    if pad_value_of(tensor) is PadValue.NULL:
        wanted = wanted.without_pad()
    return brought_to(value, wanted, inserter)


def with_valid(type: TileType, valid: Sequence[int]) -> TileType:
    """A tile with this valid region, which is compact only where some rows are not valid."""
    type = type.with_valid(valid)
    if type.valid_shape == type.get_shape() and type.is_one_box_high:
        type = type.with_compact(False)
    return type


def _extent(value: SSAValue, axis: int, inserter: Inserter) -> SSAValue:
    """The extent of the valid region of a tile, which the tile is asked if nothing else says it."""
    op = value.owner
    extent: Index = TileType.of(value.type).valid_shape[axis]
    if extent == DYNAMIC_INDEX and isinstance(op, tile.SetValidShapeOp | tile.LoadOp):
        extent = op.valid_extents[axis]
    elif extent == DYNAMIC_INDEX:
        return inserter.insert(tile.ValidDimOp(value, axis))
    if isinstance(extent, SSAValue):
        return extent
    return inserter.insert(arith.ConstantOp.from_int_and_width(extent, IndexType()))


def bring_operand(end: Operation, index: int, type: TileType) -> None:
    """Bring what a region hands on to a type."""
    value = end.operands[index]
    if isinstance(value.type, TileType) and value.type != type:
        end.operands[index] = brought_to(value, type, Inserter(end))
