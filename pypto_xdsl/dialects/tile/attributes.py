"""The words of the `tile` dialect: memory spaces and layouts."""

from __future__ import annotations

from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.str_enum import StrEnum


class MemorySpace(StrEnum):
    """Where a tile lives on a core. Global memory holds tensors, never tiles."""

    VEC = "vec"
    """The unified buffer of a vector core."""
    MAT = "mat"
    """L1, the staging buffer of a cube core."""
    LEFT = "left"
    """L0A, the left operand of a matmul."""
    RIGHT = "right"
    """L0B, the right operand of a matmul."""
    ACC = "acc"
    """L0C, the accumulator of a matmul."""
    BIAS = "bias"
    """The bias table of a cube core."""


class TileLayout(StrEnum):
    """An order of elements: of the blocks of a tile, or inside each block."""

    NONE_BOX = "none_box"
    """Not blocked. Only legal as the inner layout."""
    ROW_MAJOR = "row_major"
    COL_MAJOR = "col_major"


@irdl_attr_definition
class MemorySpaceAttr(EnumAttribute[MemorySpace], SpacedOpaqueSyntaxAttribute):
    name = "tile.space"


@irdl_attr_definition
class TileLayoutAttr(EnumAttribute[TileLayout], SpacedOpaqueSyntaxAttribute):
    name = "tile.layout"
