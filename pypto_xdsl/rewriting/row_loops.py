"""Loops over the rows of tiles, and parts of tensors wherever these are, for lowerings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pypto_xdsl.dialects import tile
from pypto_xdsl.dialects.tile import TileType
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.rewriting.tensor_to_tile import Inserter, tile_type_of
from pypto_xdsl.syntax.lists import Index

Body = Callable[[tuple[SSAValue, ...], SSAValue, Inserter], SSAValue]
"""What is done for a row: its indices, what is carried, and where to insert; what is carried on."""


def over_rows(
    extents: Sequence[int], carried: SSAValue, body: Body, inserter: Inserter
) -> SSAValue:
    """
    Do `body` for each place in `extents`, by a loop a dimension, the last one innermost. The
    result is what is carried in the end.
    """
    return _loop(tuple(extents), (), carried, body, inserter)


def _loop(
    extents: tuple[int, ...],
    indices: tuple[SSAValue, ...],
    carried: SSAValue,
    body: Body,
    inserter: Inserter,
) -> SSAValue:
    if not extents:
        return body(indices, carried, inserter)
    start, stop, step = (constant(value, inserter) for value in (0, extents[0], 1))
    block = Block(arg_types=(IndexType(), carried.type))
    for argument, hint in zip(block.args, ("i", carried.name_hint), strict=True):
        argument.name_hint = hint
        argument.location = inserter.origin.location
    index, inner = block.args
    inside = Inserter(inserter.origin, InsertPoint.at_end(block))
    result = _loop(extents[1:], (*indices, index), inner, body, inside)
    end = scf.YieldOp(result)
    locate(inserter.origin.location, end)
    block.add_op(end)
    loop = scf.ForOp(start, stop, step, [carried], Region(block))
    return inserter.insert(loop, carried.name_hint)


def constant(value: int, inserter: Inserter, type: Attribute | None = None) -> SSAValue:
    """A constant of integer type, by default an index."""
    op = arith.ConstantOp.from_int_and_width(value, type or IndexType())  # pyright: ignore
    return inserter.insert(op)


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
