"""Reductions over rows and columns, and their converse, expansion of a vector over a tile."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, reads, workspace
from pypto_xdsl.dialects.element_types import ElementType, promote
from pypto_xdsl.dialects.tile.attributes import MemorySpace, TileLayout
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp, like
from pypto_xdsl.dialects.tile.elementwise import (
    AddOp,
    BinaryOp,
    DivOp,
    MaximumOp,
    MinimumOp,
    MulOp,
    SubOp,
)
from pypto_xdsl.dialects.tile.types import Layout, TileType
from pypto_xdsl.dialects.typed_op import Types

VEC = (MemorySpace.VEC,)
_COLUMN = Layout(TileLayout.COL_MAJOR, TileLayout.NONE_BOX, 512)
_ROW = Layout(TileLayout.ROW_MAJOR, TileLayout.NONE_BOX, 512)


def _expect_rank_two(tile: TileType) -> None:
    if tile.get_num_dims() < 2:
        raise VerifyException(f"expected a tile of at least two dimensions, got {tile}")


class RowReductionOp(InferringTileOp, ABC):
    """One value a row, over its valid columns: `[..., R, C]` to a column `[..., R, 1]`."""

    ROWWISE: ClassVar[bool] = True
    IN_PLACE: ClassVar[bool] = False
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0,)
    RESULT_TYPE: ClassVar[ElementType | None] = None
    """The element type of the result; None: the operand's."""
    WORKSPACE_COLUMNS: ClassVar[int] = 128
    """How wide the scratch is at least, in elements."""

    operand = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile, tmp = (TileType.of(type) for type in operands)
        _expect_rank_two(tile)
        if tmp.element_type != tile.element_type or tmp.get_num_dims() != tile.get_num_dims():
            raise VerifyException(f"scratch should have dtype and rank of {tile}, got {tmp}")
        for have, need in zip(tmp.get_shape(), tile.get_shape(), strict=True):
            if DYNAMIC_INDEX not in (have, need) and have < need:
                raise VerifyException(f"scratch {tmp} is smaller than the operand {tile}")
        return (
            TileType(
                (*tile.get_shape()[:-1], 1),
                cls.RESULT_TYPE or tile.element_type,
                tile.memory_space,
                valid=(*tile.valid_shape[:-1], 1),
                layout=_COLUMN,
            ),
        )

    @classmethod
    def workspace_type(cls, name: str, operands: Types) -> TileType:
        # The partial results of a row take a whole repeat of the vector unit at least.
        tile = TileType.of(operands[0])
        *outer, columns = tile.get_shape()
        return tile.with_shape((*outer, max(columns, cls.WORKSPACE_COLUMNS)))


class ColumnReductionOp(InferringTileOp, ABC):
    """One value a column, over its valid rows: `[R, C...]` to a row `[1, C...]`."""

    COLUMNWISE: ClassVar[bool] = True
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (1,)
    RESULT_TYPE: ClassVar[ElementType | None] = None

    operand = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile = TileType.of(operands[0])
        _expect_rank_two(tile)
        return (
            TileType(
                (1, *tile.get_shape()[1:]),
                cls.RESULT_TYPE or tile.element_type,
                tile.memory_space,
                valid=(1, *tile.valid_shape[1:]),
                layout=_ROW,
            ),
        )


@irdl_op_definition
class RowSumOp(RowReductionOp):
    """The sum of each row."""

    name = "tile.row_sum"


@irdl_op_definition
class RowMaxOp(RowReductionOp):
    """The largest element of each row."""

    name = "tile.row_max"


@irdl_op_definition
class RowMinOp(RowReductionOp):
    """The smallest element of each row."""

    name = "tile.row_min"


@irdl_op_definition
class RowProdOp(RowReductionOp):
    """The product of each row."""

    name = "tile.row_prod"


@irdl_op_definition
class RowArgmaxOp(RowReductionOp):
    """The column of the largest element of each row, the first of equal ones."""

    name = "tile.row_argmax"
    RESULT_TYPE: ClassVar[ElementType | None] = i32
    WORKSPACE_COLUMNS: ClassVar[int] = 0


@irdl_op_definition
class RowArgminOp(RowReductionOp):
    """The column of the smallest element of each row, the first of equal ones."""

    name = "tile.row_argmin"
    RESULT_TYPE: ClassVar[ElementType | None] = i32
    WORKSPACE_COLUMNS: ClassVar[int] = 0


@irdl_op_definition
class ColSumOp(ColumnReductionOp):
    """The sum of each column; scratch selects a tree of sums."""

    name = "tile.col_sum"

    operand = operand_def(reads(TILE, spaces=VEC))
    tmp = opt_operand_def(workspace(TILE, spaces=VEC))


@irdl_op_definition
class ColMaxOp(ColumnReductionOp):
    """The largest element of each column."""

    name = "tile.col_max"


@irdl_op_definition
class ColMinOp(ColumnReductionOp):
    """The smallest element of each column."""

    name = "tile.col_min"


@irdl_op_definition
class ColProdOp(ColumnReductionOp):
    """The product of each column."""

    name = "tile.col_prod"


@irdl_op_definition
class ColArgmaxOp(ColumnReductionOp):
    """The row of the largest element of each column, the first of equal ones."""

    name = "tile.col_argmax"
    IN_PLACE: ClassVar[bool] = False
    RESULT_TYPE: ClassVar[ElementType | None] = i32

    operand = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))


@irdl_op_definition
class ColArgminOp(ColumnReductionOp):
    """The row of the smallest element of each column, the first of equal ones."""

    name = "tile.col_argmin"
    IN_PLACE: ClassVar[bool] = False
    RESULT_TYPE: ClassVar[ElementType | None] = i32

    operand = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))


class ExpandOp(InferringTileOp, ABC):
    """`f(target, vector)`, where the vector has extent 1 along an axis and stretches over it."""

    FUSES: ClassVar[type[BinaryOp] | None] = None
    """The `f(target, expanded vector)` that this op computes in one go, if it is an op."""
    NOT_IN_PLACE_WITH: ClassVar[tuple[str, ...]] = ("vector",)
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    target = operand_def(reads(TILE, spaces=VEC))
    vector = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    @abstractmethod
    def verify_vector(cls, target: TileType, vector: TileType) -> None:
        """Raise `VerifyException` unless the vector stretches over the target."""

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        target, vector = (TileType.of(type) for type in operands[:2])
        _expect_rank_two(target)
        cls.verify_vector(target, vector)
        return (like(target, element_type=promote(target.element_type, vector.element_type)),)


class RowExpandOp(ExpandOp, ABC):
    """`f(target[r, c], vector[r])`: a column `[R, 1]` against each column of `[R, C]`."""

    ROWWISE: ClassVar[bool] = True

    @classmethod
    def verify_vector(cls, target: TileType, vector: TileType) -> None:
        rows, width = vector.get_shape()[-2:] if vector.get_num_dims() >= 2 else (0, 0)
        if width != 1 or rows != target.get_shape()[-2]:
            raise VerifyException(
                f"vector should have one column and the rows of {target}, got {vector}"
            )


class ColumnExpandOp(ExpandOp, ABC):
    """`f(target[r, c], vector[c])`: a row `[1, C]` against each row of `[R, C]`."""

    COLUMNWISE: ClassVar[bool] = True

    @classmethod
    def verify_vector(cls, target: TileType, vector: TileType) -> None:
        rows, width = vector.get_shape()[-2:] if vector.get_num_dims() >= 2 else (0, 0)
        if rows != 1 or width != target.get_shape()[-1]:
            raise VerifyException(
                f"vector should have one row and the columns of {target}, got {vector}"
            )


@irdl_op_definition
class RowExpandVectorOp(RowExpandOp):
    """The vector, repeated; the target only gives the shape."""

    name = "tile.row_expand"


@irdl_op_definition
class RowExpandAddOp(RowExpandOp):
    """`target + vector`."""

    name = "tile.row_expand_add"
    FUSES: ClassVar[type[BinaryOp] | None] = AddOp
    NOT_IN_PLACE_WITH: ClassVar[tuple[str, ...]] = ("vector", "tmp")

    target = operand_def(reads(TILE, spaces=VEC))
    vector = operand_def(reads(TILE, spaces=VEC))
    tmp = opt_operand_def(workspace(TILE, spaces=VEC))


@irdl_op_definition
class RowExpandSubOp(RowExpandOp):
    """`target - vector`."""

    name = "tile.row_expand_sub"
    FUSES: ClassVar[type[BinaryOp] | None] = SubOp


@irdl_op_definition
class RowExpandMulOp(RowExpandOp):
    """`target * vector`."""

    name = "tile.row_expand_mul"
    FUSES: ClassVar[type[BinaryOp] | None] = MulOp


@irdl_op_definition
class RowExpandDivOp(RowExpandOp):
    """`target / vector`."""

    name = "tile.row_expand_div"
    FUSES: ClassVar[type[BinaryOp] | None] = DivOp


@irdl_op_definition
class RowExpandMaxOp(RowExpandOp):
    """The larger of target and vector."""

    name = "tile.row_expand_max"
    FUSES: ClassVar[type[BinaryOp] | None] = MaximumOp


@irdl_op_definition
class RowExpandMinOp(RowExpandOp):
    """The smaller of target and vector."""

    name = "tile.row_expand_min"
    FUSES: ClassVar[type[BinaryOp] | None] = MinimumOp


@irdl_op_definition
class RowExpandExpdifOp(RowExpandOp):
    """`exp(target - vector)`."""

    name = "tile.row_expand_expdif"


@irdl_op_definition
class ColExpandVectorOp(ColumnExpandOp):
    """The vector, repeated; the target only gives the shape."""

    name = "tile.col_expand"


@irdl_op_definition
class ColExpandAddOp(ColumnExpandOp):
    """`target + vector`."""

    name = "tile.col_expand_add"
    FUSES: ClassVar[type[BinaryOp] | None] = AddOp


@irdl_op_definition
class ColExpandSubOp(ColumnExpandOp):
    """`target - vector`."""

    name = "tile.col_expand_sub"
    FUSES: ClassVar[type[BinaryOp] | None] = SubOp


@irdl_op_definition
class ColExpandMulOp(ColumnExpandOp):
    """`target * vector`."""

    name = "tile.col_expand_mul"
    FUSES: ClassVar[type[BinaryOp] | None] = MulOp


@irdl_op_definition
class ColExpandDivOp(ColumnExpandOp):
    """`target / vector`."""

    name = "tile.col_expand_div"
    FUSES: ClassVar[type[BinaryOp] | None] = DivOp


@irdl_op_definition
class ColExpandMaxOp(ColumnExpandOp):
    """The larger of target and vector."""

    name = "tile.col_expand_max"
    FUSES: ClassVar[type[BinaryOp] | None] = MaximumOp


@irdl_op_definition
class ColExpandMinOp(ColumnExpandOp):
    """The smaller of target and vector."""

    name = "tile.col_expand_min"
    FUSES: ClassVar[type[BinaryOp] | None] = MinimumOp


@irdl_op_definition
class ColExpandExpdifOp(ColumnExpandOp):
    """`exp(target - vector)`."""

    name = "tile.col_expand_expdif"
