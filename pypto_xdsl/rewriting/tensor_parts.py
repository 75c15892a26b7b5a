"""Parts of what tensors hold, wherever that is, as tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.tile import TileType
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
