"""
Lowers what reaches parts of tiles: windows, what is put into a tile, single elements.

Rows of a tile are a view of it; of anything else a copy is made, by an instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.analysis.tile_storage import is_boxed_window, is_view_of_rows
from pypto_xdsl.diagnostics import OpError
from pypto_xdsl.dialects import pto, tile
from pypto_xdsl.dialects.pto.syntax import build
from pypto_xdsl.dialects.tile import TileLayout, TileType
from pypto_xdsl.rewriting.control_flow_lowering import ControlFlowLowering
from pypto_xdsl.rewriting.tile_buffers import Matrix
from pypto_xdsl.syntax.lists import Index


def matrix_offsets(offsets: Sequence[Index], into: ControlFlowLowering) -> Matrix:
    """Row and column where a window of a tile starts."""
    match into.indices(offsets):
        case (column,):
            return 0, column
        case (row, column):
            return row, column
        case _:
            raise OpError(into.builder.origin, "is a window in more than two dimensions")


def slice_tile(op: tile.SliceOp, into: ControlFlowLowering) -> None:
    """Rows of a tile are a view of it; of columns a copy is made; boxes are copied by moves."""
    if is_boxed_window(op):
        for use in op.result.uses:
            if not isinstance(use.operation, tile.MoveOp):
                raise OpError(
                    use.operation, "uses a part of a tile in boxes, which only moves take"
                )
        return
    if is_view_of_rows(op):
        offsets = matrix_offsets(op.window_offsets, into)
        into.buffers.window(op, offsets, into.indices(op.valid_extents))
        return
    into.buffers.set_extents(op.result, into.indices(op.valid_extents))
    extract(op.source, op.window_offsets, op.result, into)


def boxed_window(value: SSAValue) -> tile.SliceOp | None:
    """The op that makes a tile, if it is a part of a tile in boxes."""
    op = value.owner
    return op if isinstance(op, tile.SliceOp) and is_boxed_window(op) else None


def extract(
    source: SSAValue, offsets: Sequence[Index], result: OpResult, into: ControlFlowLowering
) -> None:
    """Copy a part of a tile."""
    row, column = matrix_offsets(offsets, into)
    into.buffers.infer_extents(result.op, result)
    destination = into.buffers.allocate(result)
    into.builder.insert_op(
        build(
            pto.TExtractOp,
            {
                "src": into.buffers.as_floats(into.buffers.buffer(source)),
                "index_row": into.builder.index(row),
                "index_col": into.builder.index(column),
                "dst": into.buffers.as_floats(destination),
            },
        )
    )


def extract_part(op: tile.ExtractOp, into: ControlFlowLowering) -> None:
    """Copy a part of a tile, as an op says."""
    extract(op.source, op.window_offsets, op.result, into)


def assemble(op: tile.AssembleOp, into: ControlFlowLowering) -> None:
    """
    Whole rows are moved into a view; anything else is inserted. All of the source goes there,
    whatever of it is valid.
    """
    buffers = into.buffers
    destination = buffers.updated(op, op.result)
    source = buffers.whole(buffers.buffer(op.source))
    row, column = matrix_offsets(op.window_offsets, into)
    part, whole = TileType.of(op.source.type), TileType.of(op.destination.type)
    if part.get_shape()[-1] == whole.get_shape()[-1] and part.layout == whole.layout:
        buffers.move(source, buffers.rows(destination, (row, column), source))
        return
    into.builder.insert_op(
        build(
            pto.TInsertOp,
            {
                "src": buffers.as_floats(source),
                "index_row": into.builder.index(row),
                "index_col": into.builder.index(column),
                "dst": buffers.as_floats(destination),
            },
        )
    )


def read_element(op: tile.ReadOp, into: ControlFlowLowering) -> None:
    """Read one element of a tile."""
    offset = _element(op.source, op.element, into)
    values = {"src": into.buffers.buffer(op.source), "offset": offset}
    new = build(pto.TGetValOp, values, {}, (op.result.type,))
    into.scalars[op.result] = into.builder.insert(new, op.result.name_hint)


def write_element(op: tile.WriteOp, into: ControlFlowLowering) -> None:
    """Write one element of a tile."""
    destination = into.buffers.updated(op, op.result)
    values = {
        "offset": _element(op.destination, op.element, into),
        "val": into.value(op.value),
        "dst": destination,
    }
    into.builder.insert_op(build(pto.TSetValOp, values))


def _element(value: SSAValue, indices: Sequence[Index], into: ControlFlowLowering) -> SSAValue:
    """The place of an element of a tile among its elements."""
    type, builder = TileType.of(value.type), into.builder
    if type.layout.slayout is not TileLayout.NONE_BOX:
        raise OpError(builder.origin, f"accesses an element of a boxed tile {type}")
    shape = list(type.get_shape())
    places = list(into.indices(indices))
    if type.layout.blayout is TileLayout.COL_MAJOR:
        shape.reverse()
        places.reverse()
    total: Index = 0
    for place, extent in zip(places, shape, strict=True):
        total = builder.add(builder.multiply(total, extent), place)
    return builder.index(total)


LOWERINGS: Mapping[type[Operation], Callable[[Any, ControlFlowLowering], None]] = {
    tile.SliceOp: slice_tile,
    tile.ExtractOp: extract_part,
    tile.AssembleOp: assemble,
    tile.ReadOp: read_element,
    tile.WriteOp: write_element,
}
"""Op class -> how it is lowered."""
