"""Tiles of any number of dimensions seen as matrices: of the last dimension by all others."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.tile.types import TileType


def matrix_type(type: TileType) -> TileType:
    """
    The type of a tile seen as a matrix; its own, if it has no more than two dimensions.

    Raises `VerifyException` where the valid region is no rectangle of that matrix.
    """
    if type.get_num_dims() <= 2:
        return type
    shape = type.get_shape()
    return TileType(
        (prod(shape[:-1]), shape[-1]),
        type.element_type,
        type.memory_space,
        valid=matrix_valid(shape, type.valid_shape),
        layout=type.layout,
        pad=type.pad_value,
        compact=type.is_compact,
    )


def matrix_valid(shape: Sequence[int], valid: Sequence[int]) -> tuple[int, int]:
    """
    The valid rows and columns of a tile seen as a matrix; `DYNAMIC_INDEX` where they are known at
    run time only. Raises `VerifyException` where they are no rectangle.
    """
    outer, rows = shape[:-1], valid[:-1]
    for place, (extent, inner) in enumerate(zip(outer, rows, strict=True)):
        if inner == extent:
            continue
        if any(e != 1 for e in outer[:place]) or tuple(rows[place + 1 :]) != tuple(
            outer[place + 1 :]
        ):
            raise VerifyException(
                f"the valid region {list(valid)} of {list(shape)} is no rectangle of a matrix"
            )
    return (DYNAMIC_INDEX if DYNAMIC_INDEX in rows else prod(rows)), valid[-1]
