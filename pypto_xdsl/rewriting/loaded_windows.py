"""
Loads what a tensor value in global memory names: all of a tensor, or the part that it is through
the views of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.diagnostics import OpError, note
from pypto_xdsl.dialects import ptensor, tile
from pypto_xdsl.dialects.extents import reshape_valid
from pypto_xdsl.dialects.tile import MemorySpace, TileType
from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.rewriting.tensor_parts import transposed, with_rank
from pypto_xdsl.rewriting.tensor_to_tile import tile_type_of
from pypto_xdsl.rewriting.tile_merges import cast_valid
from pypto_xdsl.syntax.lists import Index

LOADED_VIEWS = (
    ptensor.SetValidShapeOp,
    ptensor.SliceOp,
    ptensor.TransposeOp,
    ptensor.TypeCastOp,
)
"""Views of tensors in global memory that have done their work once they are loaded."""


@dataclass(frozen=True)
class Window:
    """Which part of a tensor in global memory a value names."""

    source: SSAValue
    offsets: Sequence[Index]
    valid: Sequence[Index] | None
    """The extents of the valid region, None where no list gives them."""


def window_of(value: SSAValue) -> Window:
    """
    The window that a value names, of the tensor that it is a slice of, else of itself whole.
    """
    valid: Sequence[Index] | None = None
    for op in views_of(value):
        if isinstance(op, ptensor.SetValidShapeOp) and valid is None:
            valid = op.valid_extents
        if isinstance(op, ptensor.SliceOp):
            return Window(op.source, op.window_offsets, valid)
        if isinstance(op, ptensor.TransposeOp):
            value = op.result
            break
    rank = ptensor.tensor_of(value.type).get_num_dims()
    return Window(value, (0,) * rank, valid)


def is_reshaped_window(value: SSAValue) -> bool:
    """
    Whether a value sees a slice of a tensor in another shape. Its elements need not follow each
    other in global memory, as they do once the slice is loaded.
    """
    reshaped = False
    while isinstance(value, OpResult):
        op = value.op
        if isinstance(op, ptensor.SliceOp):
            return reshaped
        if not isinstance(op, ptensor.ReshapeOp | ptensor.SetValidShapeOp | ptensor.TypeCastOp):
            return False
        reshaped |= isinstance(op, ptensor.ReshapeOp)
        value = op.source
    return False


def views_of(value: SSAValue) -> Iterator[Operation]:
    """The views from a value down to the slice that it is of, or to what is no view."""
    views = (*LOADED_VIEWS, ptensor.ReshapeOp) if is_reshaped_window(value) else LOADED_VIEWS
    while isinstance(value, OpResult):
        op = value.op
        if not isinstance(op, views):
            return
        yield op
        # What is seen transposed is loaded whole.
        if isinstance(op, ptensor.SliceOp) and not isinstance(op.source.owner, ptensor.TransposeOp):
            return
        value = op.source


def load_tensor(
    value: SSAValue, space: MemorySpace | None, reader: Operation, inserter: Inserter
) -> SSAValue:
    """
    Load what a tensor in global memory holds, whole or as the window that it is of another one; the
    memory is open where none is given. Raises `OpError` at `reader`, or at what is wrong itself,
    where there is no such tile.
    """
    if isinstance(value.owner, ptensor.TransposeOp):
        # The bytes are loaded in their order, and turned over on chip.
        transpose = value.owner
        source = load_tensor(transpose.source, space, reader, inserter)
        return transposed(source, transpose, inserter)
    if space is None and is_reshaped_window(value):
        reshaped = _reshaped_window(value, reader, inserter)
        if reshaped is not None:
            return reshaped
    hint = value.name_hint
    if hint is not None:
        hint = f"{hint}_{'tile' if space is None else space}"
    window = window_of(value)
    turned = window.source.owner
    if isinstance(turned, ptensor.TransposeOp):
        return _part_of_transposed(value, window, turned, space, reader, inserter)
    origin = value.owner if isinstance(value.owner, Operation) else inserter.origin
    try:
        type = tile_type_of(value.type, origin)
    except OpError as error:
        raise OpError(reader, error.diagnostic.message.partition(" op ")[2]) from error
    if space is not None:
        type = type.with_space(space)
    source_rank = ptensor.tensor_of(window.source.type).get_num_dims()
    ones = (1,) * (source_rank - type.get_num_dims())
    loaded = type
    if ones:
        loaded = type.with_shape((*ones, *type.get_shape()), (*ones, *type.valid_shape))
    extents = window.valid if DYNAMIC_INDEX in type.valid_shape else ()
    if extents is None:
        raise OpError(origin, f"has a valid region known at run time only: {value.type}")
    load = tile.LoadOp(window.source, window.offsets, loaded, (*ones, *extents) if extents else ())
    result = inserter.insert(load, hint)
    if ones:
        result = inserter.insert(tile.ReshapeOp(result, type), hint)
    return result


def _reshaped_window(value: SSAValue, reader: Operation, inserter: Inserter) -> SSAValue | None:
    """Load a slice and see it in another shape on chip; None where its valid part is no part."""
    view = value.owner
    if not isinstance(view, ptensor.ReshapeOp | ptensor.SetValidShapeOp | ptensor.TypeCastOp):
        return None
    shape = ptensor.tensor_of(value.type).get_shape()
    try:
        type = tile_type_of(view.source.type, reader)
        valid = reshape_valid(type.get_shape(), type.valid_shape, shape)
    except (OpError, VerifyException):
        return None
    source = load_tensor(view.source, None, reader, inserter)
    if isinstance(view, ptensor.TypeCastOp):
        return cast_valid(source, ptensor.tensor_of(value.type), inserter)
    new: Operation = (
        tile.SetValidShapeOp(source, view.valid_extents)
        if isinstance(view, ptensor.SetValidShapeOp)
        else tile.ReshapeOp(source, TileType.of(source.type).with_shape(shape, valid))
    )
    return inserter.insert(new, value.name_hint)


def _part_of_transposed(
    value: SSAValue,
    window: Window,
    turned: ptensor.TransposeOp,
    space: MemorySpace | None,
    reader: Operation,
    inserter: Inserter,
) -> SSAValue:
    """Load all of what is seen transposed, and take a part of it on chip."""
    tensor = ptensor.tensor_of(value.type)
    if space is not None or ptensor.valid_shape_of(tensor) != tensor.get_shape():
        raise OpError(
            reader,
            "reads a part of a tensor that is seen transposed: transpose the part instead",
            [note(turned, "transposed here")],
        )
    whole = load_tensor(window.source, None, reader, inserter)
    rank = tensor.get_num_dims()
    shape = (*(1,) * (len(window.offsets) - rank), *tensor.get_shape())
    try:
        part = tile.SliceOp.window(TileType.of(whole.type), window.offsets, shape)
        new = tile.SliceOp(whole, window.offsets, part)
        new.verify_()
    except VerifyException as error:
        raise OpError(reader, f"reads a part that does not fit what tiles are: {error}") from error
    return with_rank(inserter.insert(new, value.name_hint), rank, inserter)
