"""Comparisons to packed masks, selection by them, and compare-gather."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    i32,
)
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, reads, workspace
from pypto_xdsl.dialects.element_types import (
    SCALAR,
    UI8,
    as_element_type,
    bit_width,
    expect_integers,
    promote,
)
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.ptensor.attributes import CompareMode, CompareModeAttr
from pypto_xdsl.dialects.ptensor.selection import (
    infer_gather_compare,
    verify_gather_compare,
)
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp, like
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Types, Value
from pypto_xdsl.syntax.op_syntax import integer_attr, integer_prop, type_prop, word_prop

VEC = (MemorySpace.VEC,)
_BLOCK = 32
"""The bytes of a block of the vector unit; rows of a mask are whole blocks."""


def packed_mask(tile: TileType) -> TileType:
    """
    The type of a mask over `tile`: in each row, bit `c % 8` of byte `c // 8` tells of column `c`.
    Rows take whole blocks of 32 bytes.
    """
    *rows, columns = tile.get_shape()
    *valid_rows, valid_columns = tile.valid_shape
    if columns == DYNAMIC_INDEX:
        raise VerifyException("a mask needs a static number of columns")
    width = -(-columns // (8 * _BLOCK)) * _BLOCK
    valid_width = DYNAMIC_INDEX if valid_columns == DYNAMIC_INDEX else -(-valid_columns // 8)
    return TileType((*rows, width), UI8, tile.memory_space, valid=(*valid_rows, valid_width))


def _verify_mask(mask: TileType, shape: Sequence[int]) -> None:
    """Raise unless the mask has a bit for each element of the shape."""
    *rows, columns = shape
    *mask_rows, width = mask.get_shape()
    expect_integers(mask.element_type)
    if DYNAMIC_INDEX in (*shape, width):
        return
    if mask_rows != rows or width * bit_width(mask.element_type) < columns:
        raise VerifyException(f"mask should have a bit for each element of {shape}, got {mask}")


@irdl_op_definition
class CmpOp(InferringTileOp):
    """Compare elementwise to a packed mask; nan compares false, except by `ne`."""

    name = "tile.cmp"
    ELEMENTWISE: ClassVar[bool] = True
    PACKED: ClassVar[tuple[str, ...]] = ("result",)

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(TILE, spaces=VEC))
    cmp_type = word_prop(CompareModeAttr, CompareModeAttr(CompareMode.EQ))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (TileType.of(type) for type in operands)
        shape = broadcast_shapes(lhs.get_shape(), rhs.get_shape())
        return (packed_mask(like(lhs, shape)),)


@irdl_op_definition
class CmpsOp(InferringTileOp):
    """Compare each element with a scalar to a packed mask; nan compares false, except by `ne`."""

    name = "tile.cmps"
    ELEMENTWISE: ClassVar[bool] = True
    PACKED: ClassVar[tuple[str, ...]] = ("result",)

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(SCALAR))
    cmp_type = word_prop(CompareModeAttr, CompareModeAttr(CompareMode.EQ))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (packed_mask(TileType.of(operands[0])),)


@irdl_op_definition
class SelOp(InferringTileOp):
    """`lhs` where the bit of the packed mask is set, else `rhs`."""

    name = "tile.sel"
    ELEMENTWISE: ClassVar[bool] = True
    PACKED: ClassVar[tuple[str, ...]] = ("mask",)
    NOT_IN_PLACE_WITH: ClassVar[tuple[str, ...]] = ("mask", "tmp")

    mask = operand_def(reads(TILE, spaces=VEC))
    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        mask, lhs, rhs = (TileType.of(type) for type in operands[:3])
        shape = broadcast_shapes(lhs.get_shape(), rhs.get_shape())
        _verify_mask(mask, shape)
        return (like(lhs, shape, promote(lhs.element_type, rhs.element_type)),)


@irdl_op_definition
class SelsOp(InferringTileOp):
    """`source` where the bit of the packed mask is set, else the scalar."""

    name = "tile.sels"
    ELEMENTWISE: ClassVar[bool] = True
    PACKED: ClassVar[tuple[str, ...]] = ("mask",)
    NOT_IN_PLACE_WITH: ClassVar[tuple[str, ...]] = ("mask",)

    mask = operand_def(reads(TILE, spaces=VEC))
    source = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    scalar = operand_def(reads(SCALAR))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        mask, source = (TileType.of(type) for type in operands[:2])
        _verify_mask(mask, source.get_shape())
        return (source,)


@irdl_op_definition
class GatherCompareOp(InferringTileOp):
    """
    For each row the columns (plus `offset`) where the source compares true, and their count.

    What lies beyond the count in a row of the first result is undefined.
    """

    name = "tile.gather_compare"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    kvalue = operand_def(reads(SCALAR))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    cmp_mode = word_prop(CompareModeAttr)
    offset = integer_prop(0)
    out_cols = integer_prop(minimum=1)
    count_dtype = type_prop(default_value=i32)
    indices = result_def(lives_in(MemorySpace.VEC, TILE))
    counts = result_def(lives_in(MemorySpace.VEC, TILE))

    def __init__(
        self,
        source: Value,
        kvalue: Value,
        tmp: Value,
        *,
        cmp_mode: CompareMode,
        out_cols: int,
        offset: int = 0,
        count_dtype: Attribute = i32,
    ):
        properties = {
            "cmp_mode": CompareModeAttr(cmp_mode),
            "offset": integer_attr(offset),
            "out_cols": integer_attr(out_cols),
            "count_dtype": count_dtype,
        }
        super().__init__(source, kvalue, tmp, properties=properties)

    @classmethod
    def workspace_type(cls, name: str, operands: Types) -> TileType:
        # A row of bits for each row, as wide as the row's elements.
        return TileType.of(operands[0]).with_valid(None).with_element_type(UI8)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        verify_gather_compare("src", source.element_type, operands[1])
        out_cols = properties["out_cols"]
        assert isinstance(out_cols, IntegerAttr)
        count_dtype = as_element_type(properties["count_dtype"])
        indices, counts = infer_gather_compare(source.get_shape(), out_cols.value.data, count_dtype)
        # The counts are contiguous: a row, whatever the number of rows.
        row = TileType(counts, count_dtype, source.memory_space)
        explicit = source.layout != source.with_shape(source.get_shape()).layout
        layout = source.layout if explicit else None
        return TileType(indices, i32, source.memory_space, layout=layout), row
