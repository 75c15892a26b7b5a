"""
Lowers what moves between global memory and tiles, and the names of parts of tensors.

A tensor value makes no code: it is a window of a view (`global_views`). What loads or stores
tiles makes a `pto.partition_view` of the part that it touches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from xdsl.ir import Attribute, Operation

from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import ptensor, pto, tile
from pypto_xdsl.dialects.ptensor import AtomicKind, TensorLayout
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.tile import TileLayout, TileType
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering
from pypto_xdsl.rewriting.global_views import Window
from pypto_xdsl.rewriting.tile_part_lowering import matrix_offsets

CACHE = "pypto.cache"
"""How a load goes through the cache, which PTOAS has no word for."""


def slice_tensor(op: ptensor.SliceOp, into: ControlFlowLowering) -> None:
    """Name a window of a tensor."""
    window = into.window(op.source)
    shape = ptensor.tensor_of(op.result.type).get_shape()
    extents = into.indices(op.extents) or shape
    offsets = into.indices(op.window_offsets)
    into.windows[op.result] = window.part(offsets, extents, into.builder)


def reshape_tensor(op: ptensor.ReshapeOp | ptensor.LayoutViewOp, into: ControlFlowLowering) -> None:
    """See a tensor in another shape; raises `OpError` where its elements are not in a row."""
    window = into.window(op.source)
    shape = ptensor.tensor_of(op.result.type).get_shape()
    extents = into.indices(op.extents) or shape
    layout = ptensor.layout_of(ptensor.tensor_of(op.result.type))
    reshaped = window.reshaped(extents, layout, op.result.name_hint, into.builder)
    if reshaped is None:
        raise OpError(op, "reshapes a window whose elements do not lie one after the other")
    into.windows[op.result] = reshaped


def reinterpret_tensor(op: ptensor.ReinterpretViewOp, into: ControlFlowLowering) -> None:
    """
    See the bytes of a tensor as other elements; raises `OpError` where they do not follow each
    other.
    """
    result = ptensor.tensor_of(op.result.type)
    extents = into.indices(op.extents) or result.get_shape()
    window = into.window(op.source)
    seen = None
    if ptensor.layout_of(result) is TensorLayout.ND:
        seen = window.reinterpreted(extents, result.element_type, into.builder)
    if seen is None:
        raise OpError(op, "reads elements as others that do not lie one after the other")
    into.windows[op.result] = seen


def load(op: tile.LoadOp, into: ControlFlowLowering) -> None:
    """Load the valid part of a tile."""
    type = TileType.of(op.result.type)
    window = _agreeing(op, type, into.window(op.source))
    valid = into.indices(op.valid_extents) or type.valid_shape
    into.buffers.set_extents(op.result, valid)
    destination = into.buffers.allocate(op.result)
    part = window.partition(into.indices(op.window_offsets), valid, into.builder)
    new = build(pto.TLoadOp, {"src": part, "dst": destination})
    if op.cache is not None:
        new.attributes[CACHE] = op.cache
    into.builder.insert_op(new)


def store(op: tile.StoreOp, into: ControlFlowLowering) -> None:
    """Store the valid part of a tile, or add it to what is there."""
    named = into.window(op.destination)
    type = TileType.of(op.source.type)
    window = _agreeing(op, type, named)
    offsets = into.indices(op.window_offsets)
    part = window.partition(offsets, into.buffers.valid(op.source), into.builder)
    properties: dict[str, Attribute] = {}
    if op.atomic.data is AtomicKind.ADD:
        properties["atomicType"] = pto.AtomicTypeAttr(pto.AtomicType.ADD)
    values = {"src": into.buffers.buffer(op.source), "dst": part}
    into.builder.insert_op(build(pto.TStoreOp, values, {}, (), properties))
    into.windows[op.result] = named


def gather_row(op: tile.GatherRowOp, into: ControlFlowLowering) -> None:
    """
    Load a window straight into a part of a tile. A part of a tile in boxes is whole boxes, of which
    no more is valid than is loaded; a window is turned over by loading columns as rows.
    """
    destination = into.buffers.updated(op, op.result)
    window = into.window(op.source)
    sizes = op.window
    loaded = into.indices(op.valid_extents) or into.indices(sizes)
    if any(not isinstance(size, int) for size in sizes):
        raise OpError(op, "takes a window whose extents are known at run time only: give `valid`")
    if any(size != 1 for size in sizes[:-2]):
        raise OpError(op, "takes a window in more than two dimensions")
    offsets = into.indices(op.window_offsets)
    valid = loaded[-2:]
    shape = tuple(size for size in sizes[-2:] if isinstance(size, int))
    if op.transpose.value.data:
        window = window.transposed()
        offsets = (*offsets[:-2], offsets[-1], offsets[-2])
        shape, valid = shape[::-1], valid[::-1]
        loaded = (*loaded[:-2], *valid)
    place = matrix_offsets(op.target_offsets, into)
    rows, columns = shape
    row, column = valid
    part = into.buffers.part(destination, place, (rows, columns), (row, column))
    source = window.partition(offsets, loaded, into.builder)
    into.builder.insert_op(build(pto.TLoadOp, {"src": source, "dst": part}))


def read_element(op: ptensor.ReadOp, into: ControlFlowLowering) -> None:
    """Read one element from where it lies."""
    window = into.window(op.source)
    offset = window.element(into.indices(op.element), into.builder)
    values = {"ptr": window.view.pointer, "offset": offset}
    new = build(pto.LoadScalarOp, values, {}, (op.result.type,))
    into.scalars[op.result] = into.builder.insert(new, op.result.name_hint)


def write_element(op: ptensor.WriteOp, into: ControlFlowLowering) -> None:
    """Write one element to its place."""
    window = into.window(op.destination)
    values = {
        "ptr": window.view.pointer,
        "offset": window.element(into.indices(op.element), into.builder),
        "value": into.value(op.value),
    }
    into.builder.insert_op(build(pto.StoreScalarOp, values))
    into.windows[op.result] = window


def _agreeing(op: Operation, type: TileType, window: Window) -> Window:
    """
    The window, seen so that the elements of tile and tensor follow each other in one direction.
    Raises `OpError` where they do not.
    """
    layout = window.view.layout
    if type.layout.slayout is not TileLayout.NONE_BOX:
        return window
    by_row = type.layout.blayout is TileLayout.ROW_MAJOR
    if prod(type.get_shape()[:-1]) == 1 and len(window.view.extents) == 1:
        return window
    if by_row and window.view.extents[-1] == 1:
        # A tensor of one column has rows of one element.
        return window.by_rows()
    if by_row != (layout is TensorLayout.ND):
        if type.is_column and layout is TensorLayout.ND:
            raise OpError(
                op,
                f"moves a column {type} from or to a row-major tensor, where its elements do "
                "not follow each other: put columns together on chip, or keep each in a "
                "tensor of its own",
            )
        stored = "row-major" if by_row else "column-major"
        raise OpError(
            op,
            f"moves a {stored} tile {type} from or to a tensor whose elements lie in "
            f"{layout.value} order; reshape the tile, or make the tensor's layout agree",
        )
    return window


def rename(
    op: ptensor.TypeCastOp | ptensor.SetValidShapeOp | ptensor.UpdatedOp, into: ControlFlowLowering
) -> None:
    """Another name of a tensor makes no code."""
    into.windows[op.result] = into.window(op.source)


LOWERINGS: Mapping[type[Operation], Callable[[Any, ControlFlowLowering], None]] = {
    tile.LoadOp: load,
    tile.StoreOp: store,
    tile.GatherRowOp: gather_row,
    ptensor.SliceOp: slice_tensor,
    ptensor.ReshapeOp: reshape_tensor,
    ptensor.LayoutViewOp: reshape_tensor,
    ptensor.ReinterpretViewOp: reinterpret_tensor,
    ptensor.TypeCastOp: rename,
    ptensor.SetValidShapeOp: rename,
    ptensor.UpdatedOp: rename,
    ptensor.ReadOp: read_element,
    ptensor.WriteOp: write_element,
}
"""Op class -> how it is lowered."""
