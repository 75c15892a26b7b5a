"""Which part of a tensor in global memory a tensor value names, through the views of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.dialects import ptensor
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


def views_of(value: SSAValue) -> Iterator[Operation]:
    """The views from a value down to the slice that it is of, or to what is no view."""
    while isinstance(value, OpResult):
        op = value.op
        if not isinstance(op, LOADED_VIEWS):
            return
        yield op
        if isinstance(op, ptensor.SliceOp):
            return
        value = op.source
