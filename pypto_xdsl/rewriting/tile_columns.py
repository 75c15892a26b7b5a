"""
Columns of matrices, whose elements do not follow each other where the matrix is stored by rows.

On chip a target has no tile whose rows are less than a block. A window of a tile keeps its layout,
so that a column of a row-major tile is no tile. The largest of the one element of each row is that
element, and is put where elements of a column lie one after the other; what is made of the column
is a column as well:

    %c = tile.slice %t[0, 8] : ... -> !tile.tile<16x1xf32, vec, blayout = row_major>

    %w = tile.slice %t[0, 8] : ... -> !tile.tile<16x8xf32, vec, valid = [16, 1]>
    %c = tile.row_max %w, %tmp : ... -> !tile.tile<16x1xf32, vec>

A column of a row-major tensor is loaded in the same way, into rows of a block, one element each,
and stored from such rows:

    %w = tile.load %x[%r, 3] : tensor<64x8xf32> -> !tile.tile<16x8xf32, vec, valid = [16, 1]>
    %c = tile.row_max %w, %tmp : ...

    %w = tile.row_expand %shape, %c : ... -> !tile.tile<16x8xf32, vec, valid = [16, 1]>
    %x1 = tile.store %w, %x[%r, 3] : ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from pypto_xdsl.analysis.control_flow import constant_integer
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.backend.backend import Backend
from pypto_xdsl.dialects import orch, ptensor, tile
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.ptensor import TensorLayout
from pypto_xdsl.dialects.tile import MemorySpace, TileLayout, TileType
from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index

_ROWS = "rows"
_BLOCK = 32
"""Bytes of the blocks that rows are made of."""


def store_columns(kernel: orch.FuncOp, backend: Backend) -> None:
    """
    Store the columns of a kernel as columns, and bring them from and to tensors as such. Where one
    cannot be taken out of its tile, or is put into a row-major one, all stay as they are.
    """
    _store_on_chip(kernel, backend)
    for op in list(walk(kernel)):
        if isinstance(op, tile.LoadOp) and _is_apart(op.result.type, op.source):
            new = _loaded(op, backend)
        elif isinstance(op, tile.StoreOp) and _is_apart(op.source.type, op.destination):
            new = _stored(op, backend)
        else:
            continue
        if new is not None:
            Rewriter.replace_op(op, new, new[-1].results)


def _store_on_chip(kernel: orch.FuncOp, backend: Backend) -> None:
    values = [value for value in _values(kernel) if _column(value.type, backend) is not None]
    windows: list[tuple[tile.SliceOp, Sequence[Operation]]] = []
    for value in values:
        op = value.owner
        if isinstance(op, tile.SliceOp) and TileType.of(op.source.type).get_shape()[-1] != 1:
            taken = _taken_out(op, backend)
            if taken is None:
                return
            windows.append((op, taken))
        if any(_is_put_into_rows(value, use.operation, backend) for use in value.uses):
            return
    for op, taken in windows:
        values.remove(op.result)
        Rewriter.replace_op(op, taken, taken[-1].results)
    for value in values:
        column = _column(value.type, backend)
        assert column is not None
        Rewriter.replace_value_with_new_type(value, column)


def _is_put_into_rows(value: SSAValue, user: Operation, backend: Backend) -> bool:
    return (
        isinstance(user, tile.AssembleOp)
        and user.source is value
        and _column(user.destination.type, backend) is None
    )


def _values(kernel: orch.FuncOp) -> Iterator[SSAValue]:
    for op in walk(kernel):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def _column(type: Attribute, backend: Backend) -> TileType | None:
    """How the target stores a column that it cannot store by rows; None for any other type."""
    if not isinstance(type, TileType) or type.memory_space is not MemorySpace.VEC:
        return None
    if type.get_num_dims() != 2 or type.get_shape()[-1] != 1:
        return None
    column = TileType(
        type.get_shape(),
        type.element_type,
        type.memory_space,
        valid=type.valid_shape,
        pad=type.pad_value,
    )
    return column if _breaks(type, backend) and not _breaks(column, backend) else None


def _breaks(type: TileType, backend: Backend) -> bool:
    return any(message for rule in backend.tile_rules for message in rule.check(type))


def _is_apart(type: Attribute, tensor: SSAValue) -> bool:
    """Whether a tile is a column of several elements, and the tensor is stored by rows."""
    if not isinstance(type, TileType) or type.memory_space is not MemorySpace.VEC:
        return False
    if type.get_num_dims() != 2:
        return False
    rows, columns = type.get_shape()
    if columns != 1 or rows == 1 or type.layout.blayout is TileLayout.ROW_MAJOR:
        return False
    while isinstance(tensor.owner, ptensor.SliceOp):
        # Where it lies is said by what it is a window of.
        tensor = tensor.owner.source
    whole = ptensor.tensor_of(tensor.type)
    return ptensor.layout_of(whole) is TensorLayout.ND and whole.get_shape()[-1] != 1


def _rows_of(column: TileType) -> TileType:
    """Rows of a block each, of which the first element is that of a column."""
    width = _BLOCK // byte_width(column.element_type)
    return TileType(
        (column.get_shape()[0], width),
        column.element_type,
        column.memory_space,
        valid=(column.valid_shape[0], 1),
    )


def _taken_out(op: tile.SliceOp, backend: Backend) -> Sequence[Operation] | None:
    """The ops that take a column out of a tile; None where there are none."""
    source, rows = TileType.of(op.source.type), _rows_of(TileType.of(op.result.type))
    *_, place = op.window_offsets
    start = place if isinstance(place, int) else constant_integer(place)
    if start is None or start + rows.get_shape()[-1] > source.get_shape()[-1]:
        return None
    window = tile.SliceOp(op.source, op.window_offsets, rows, op.valid_extents)
    return _first_of(op, window, rows, backend)


def _loaded(op: tile.LoadOp, backend: Backend) -> Sequence[Operation] | None:
    """The ops that load a column; None where there are none."""
    rows = _rows_of(TileType.of(op.result.type))
    load = tile.LoadOp(op.source, op.window_offsets, rows, op.valid_extents, op.cache)
    return _first_of(op, load, rows, backend)


def _first_of(
    origin: Operation, window: tile.SliceOp | tile.LoadOp, rows: TileType, backend: Backend
) -> Sequence[Operation] | None:
    """Put the first element of each row into a column."""
    # Rows of one block are no more than an instruction takes at once: nothing is put aside.
    scratch = tile.CreateOp(rows.with_valid(rows.get_shape()))
    largest = tile.RowMaxOp(window.result, scratch.result)
    return _checked(origin, (window, scratch, largest), backend)


def _stored(op: tile.StoreOp, backend: Backend) -> Sequence[Operation] | None:
    """The ops that store a column; None where there are none."""
    rows = _rows_of(TileType.of(op.source.type))
    made: list[Operation] = []
    count: Index = rows.valid_shape[0]
    if count == DYNAMIC_INDEX:
        known = tile.ValidDimOp(op.source, 0)
        made.append(known)
        count = known.result
    shape = tile.CreateOp(rows, (count, 1) if isinstance(count, SSAValue) else ())
    repeated = tile.RowExpandVectorOp(shape.result, op.source)
    store = tile.StoreOp(
        repeated.result,
        op.destination,
        op.window_offsets,
        atomic=op.atomic.data,
        result_type=op.result.type,
    )
    store.attributes |= op.attributes
    return _checked(op, (*made, shape, repeated, store), backend)


def _checked(
    origin: Operation, ops: Sequence[Operation], backend: Backend
) -> Sequence[Operation] | None:
    """New ops in the place of one; None if the target cannot run them."""
    for op in ops:
        if any(message for rule in backend.rules.get(type(op), ()) for message in rule.check(op)):
            for new in reversed(ops):
                new.erase()
            return None
    *others, last = ops
    for op in ops:
        locate(origin.location, op)
    (last.results[0].name_hint,) = (result.name_hint for result in origin.results)
    for op in others:
        op.results[0].name_hint = _ROWS
    return ops
