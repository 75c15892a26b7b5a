"""Parts of what tensors hold, wherever that is, as tiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import OpResult, SSAValue

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.declared_op import DeclaredOp
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


def put_view_back(
    op: ptensor.UpdatedOp,
    name: SSAValue,
    part: SSAValue | None,
    whole: SSAValue,
    inserter: Inserter,
) -> SSAValue:
    """
    The tile of a tensor with the tile `part` where the view is that `name` is a next name of.
    Raises `OpError` where `op` does not tell which view of the tensor itself that is.
    """
    view = _named(name).owner
    source = view.source if isinstance(view, ptensor.SliceOp | ptensor.ReshapeOp) else None
    if part is None or source is None or _named(source) is not _named(op.source):
        raise OpError(
            op,
            "reads a tensor on chip that was written through a view of a view, or depending on "
            "control flow: write it through a slice or reshape of itself",
        )
    type = TileType.of(whole.type)
    if isinstance(view, ptensor.SliceOp):
        part = with_rank(part, type.get_num_dims(), inserter)
        new = tile.AssembleOp(part, whole, view.window_offsets)
    else:
        new = tile.ReshapeOp(part, type)
    new.verify_()
    return inserter.insert(new, op.result.name_hint)


def _named(value: SSAValue) -> SSAValue:
    """The view, or the buffer, that a tensor is a next name of."""
    while isinstance(value, OpResult) and isinstance(value.op, DeclaredOp):
        named = value.op.named_operand(value)
        if named is None or value.op.is_view(value):
            break
        value = named
    return value
