"""Indices of matrices, from indices of tiles and tensors of more dimensions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.rewriting.inserter import Inserter
from pypto_xdsl.syntax.lists import Index


def row_of(indices: Sequence[Index], shape: Sequence[int], inserter: Inserter) -> Index:
    """
    The row at these indices of what has this shape, seen as a matrix of its last dimension by all
    others; both are without the last dimension.

    Raises `VerifyException` where that depends on an extent that is known at run time only.
    """
    row: Index = 0
    for index, extent in zip(indices, shape, strict=True):
        if row != 0:
            if extent == DYNAMIC_INDEX:
                raise VerifyException("the rows of a part depend on an extent of run time")
            row = multiply(row, extent, inserter)
        row = add(row, index, inserter)
    return row


def is_run_of_rows(window: Sequence[int], shape: Sequence[int]) -> bool:
    """
    Whether a window is of consecutive rows of such a matrix; both are without the last dimension.
    """
    start = next((i for i, extent in enumerate(window) if extent != 1), len(window))
    return tuple(window[start + 1 :]) == tuple(shape[start + 1 :])


def add(left: Index, right: Index, inserter: Inserter) -> Index:
    """The sum of two indices; folded where it is known."""
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    if left == 0 or right == 0:
        return right if left == 0 else left
    return inserter.insert(arith.AddiOp(_value(left, inserter), _value(right, inserter)))


def multiply(left: Index, right: Index, inserter: Inserter) -> Index:
    """The product of two indices; folded where it is known."""
    if isinstance(left, int) and isinstance(right, int):
        return left * right
    if left == 1 or right == 1:
        return right if left == 1 else left
    return inserter.insert(arith.MuliOp(_value(left, inserter), _value(right, inserter)))


def _value(index: Index, inserter: Inserter) -> SSAValue:
    if not isinstance(index, int):
        return index
    return inserter.insert(arith.ConstantOp.from_int_and_width(index, IndexType()))
