"""Parts of what tensors hold, wherever that is, as tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.tensor_to_tile import tile_type_of
from pypto_xdsl.syntax.lists import Index


class Parts:
    """Parts of what tensors hold: windows of tiles on chip, loads from global memory."""

    def __init__(self, tiles: Mapping[SSAValue, SSAValue]):
        self._tiles = tiles
        """The tile that stands for a tensor on chip."""

    def part(
        self,
        value: SSAValue,
        offsets: Sequence[Index],
        shape: Sequence[int],
        inserter: Inserter,
        hint: str | None,
    ) -> SSAValue:
        """The part of a tensor at these offsets, as a tile of this shape."""
        on_chip = self._tiles.get(value)
        if on_chip is None:
            type = tile_type_of(value.type, inserter.origin)
            if type.get_shape() != tuple(shape):
                type = type.with_shape(shape)
            return inserter.insert(tile.LoadOp(value, offsets, type), hint)
        whole = TileType.of(on_chip.type)
        if whole.get_shape() == tuple(shape):
            return on_chip
        window = tile.SliceOp.window(whole, offsets, shape)
        return inserter.insert(tile.SliceOp(on_chip, offsets, window), hint)


def reshaped(value: SSAValue, shape: Sequence[int], inserter: Inserter) -> SSAValue:
    """A tile in another shape."""
    type = TileType.of(value.type)
    if type.get_shape() == tuple(shape):
        return value
    return inserter.insert(tile.ReshapeOp(value, type.with_shape(shape)), value.name_hint)


def transposed(value: SSAValue, op: ptensor.TransposeOp, inserter: Inserter) -> SSAValue:
    """A tile with two axes swapped: by a view in L1, by a copy elsewhere."""
    type, hint = TileType.of(value.type), op.result.name_hint
    rank = type.get_num_dims()
    axes = op.axis1.value.data, op.axis2.value.data
    if type.memory_space is MemorySpace.MAT and sorted(axes) == [rank - 2, rank - 1]:
        return inserter.insert(tile.TransposeViewOp(value), hint)
    scratch = None if rank > 2 else inserter.insert(tile.CreateOp(type), "tmp")
    turned = tile.TransposeOp(value, scratch, axis1=axes[0], axis2=axes[1])
    return inserter.insert(turned, hint)


def with_rank(value: SSAValue, rank: int, inserter: Inserter) -> SSAValue:
    """A tile with as many dimensions, by leading ones of extent 1."""
    type = TileType.of(value.type)
    more = rank - type.get_num_dims()
    if not more:
        return value
    ones = (1,) * max(more, 0)
    shape = (*ones, *type.get_shape()[max(-more, 0) :])
    valid = (*ones, *type.valid_shape[max(-more, 0) :])
    return inserter.insert(tile.ReshapeOp(value, type.with_shape(shape, valid)), value.name_hint)
