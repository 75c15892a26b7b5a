"""
Matrix products. They read L0A and L0B (`left`, `right`) and write L0C (`acc`), as f32 where the
operands hold floats, as i32 (wrapping) where they hold integers.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import eq, irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, names, reads, updates
from pypto_xdsl.dialects.element_types import ElementType, is_float
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.tile.attributes import AccPhase, AccPhaseAttr, MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Cut, Types
from pypto_xdsl.syntax.op_syntax import word_prop

LEFT = (MemorySpace.LEFT,)
RIGHT = (MemorySpace.RIGHT,)
ACC = (MemorySpace.ACC,)
BIAS = (MemorySpace.BIAS,)

GEMV_ROWS = 16
"""The rows of L0C that the product of a single row takes, of which the first is valid."""


def accumulator_type(operand: ElementType) -> ElementType:
    """In what element type products of these elements are summed."""
    return f32 if is_float(operand) else i32


def infer_product(lhs: TileType, rhs: TileType) -> TileType:
    """`[..., M, K] @ [..., K, N]`; batches broadcast."""
    for name, tile in (("lhs", lhs), ("rhs", rhs)):
        if tile.get_num_dims() < 2:
            raise VerifyException(f"{name} should be a matrix, got {tile}")
    if lhs.element_type != rhs.element_type:
        raise VerifyException(
            f"operands should have one element type, got {lhs.element_type} and {rhs.element_type}"
        )
    *batch, rows, depth = lhs.get_shape()
    *rhs_batch, rhs_depth, columns = rhs.get_shape()
    if depth != rhs_depth:
        raise VerifyException(
            f"the columns of lhs should be the rows of rhs, got {depth} and {rhs_depth}"
        )
    outer = broadcast_shapes(batch, rhs_batch)
    valid_rows, valid_columns = lhs.valid_shape[-2], rhs.valid_shape[-1]
    return TileType(
        (*outer, rows, columns),
        accumulator_type(lhs.element_type),
        None if lhs.memory_space is None else MemorySpace.ACC,
        valid=(*outer, valid_rows, valid_columns),
        # The unit packs the rows that there are.
        compact=valid_rows != rows,
    )


def verify_accumulator(accumulator: TileType, product: TileType) -> None:
    """Raise unless a product can be added to what the accumulator holds."""
    if (accumulator.get_shape(), accumulator.element_type) != (
        product.get_shape(),
        product.element_type,
    ):
        raise VerifyException(f"acc should have shape and dtype of {product}, got {accumulator}")
    if accumulator.memory_space not in (None, MemorySpace.ACC):
        # No move leads into L0C on any target: only products get there.
        raise VerifyException(f"acc should be in acc memory, got {accumulator}")


def _verify_bias(bias: TileType, product: TileType) -> None:
    shape = (1, product.get_shape()[-1])
    if bias.get_shape() != shape or bias.element_type != product.element_type:
        raise VerifyException(
            f"bias should be one row of {shape[1]} {product.element_type}, got {bias}"
        )


def _expect_matrices(*tiles: TileType) -> None:
    for tile in tiles:
        if tile.get_num_dims() != 2:
            raise VerifyException(f"operands should have two dimensions, got {tile}")


class ProductOp(InferringTileOp, ABC):
    """`lhs @ rhs`."""

    lhs = operand_def(reads(TILE, spaces=LEFT))
    rhs = operand_def(reads(TILE, spaces=RIGHT))
    result = result_def(lives_in(MemorySpace.ACC, TILE))

    def cut_together(self) -> Iterator[Cut]:
        # Rows are those of `lhs`, columns those of `rhs`, and what is added has both.
        shape = TileType.of(self.result.type).get_shape()
        for operand, axis in ((self.lhs, -2), (self.rhs, -1)):
            have = TileType.of(operand.type).get_shape()
            if have[axis] == shape[axis]:
                added = [(value, len(shape) + axis) for value in (*self.added, self.result)]
                yield [(operand, len(have) + axis), *added]

    @property
    def added(self) -> Sequence[SSAValue]:
        """What the product is added to, that has its shape."""
        return ()

    @classmethod
    def product(
        cls, lhs: Attribute | None, rhs: Attribute | None, properties: Mapping[str, Attribute]
    ) -> TileType:
        """The type of the product of operands of these types."""
        lhs, rhs = TileType.of(lhs), TileType.of(rhs)
        _expect_matrices(lhs, rhs)
        return infer_product(lhs, rhs)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (cls.product(operands[0], operands[1], properties),)


class RowProductOp(ProductOp, ABC):
    """A product whose `lhs` is a single row."""

    acc_phase = word_prop(AccPhaseAttr, AccPhaseAttr(AccPhase.UNSPECIFIED))

    @classmethod
    def product(
        cls, lhs: Attribute | None, rhs: Attribute | None, properties: Mapping[str, Attribute]
    ) -> TileType:
        product = super().product(lhs, rhs, properties)
        rows, columns = product.get_shape()
        if rows != 1:
            raise VerifyException(f"lhs should be a single row, got {lhs}")
        return TileType(
            (GEMV_ROWS, columns),
            product.element_type,
            product.memory_space,
            valid=(1, product.valid_shape[1]),
        )


class BatchProductOp(ProductOp, ABC):
    """A product of each pair of matrices in a batch."""

    TAKEN_APART_BY: ClassVar[str] = "flatten-tile-nd-to-2d"

    @classmethod
    def product(
        cls, lhs: Attribute | None, rhs: Attribute | None, properties: Mapping[str, Attribute]
    ) -> TileType:
        return infer_product(TileType.of(lhs), TileType.of(rhs))


class BiasedProductOp(ProductOp, ABC):
    """A product with a row added to each of its rows."""

    lhs = operand_def(reads(TILE, spaces=LEFT))
    rhs = operand_def(reads(TILE, spaces=RIGHT))
    bias = operand_def(reads(TILE, spaces=BIAS))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        product = cls.product(operands[0], operands[1], properties)
        _verify_bias(TileType.of(operands[2]), product)
        return (product,)


class AddedProductOp(ProductOp, ABC):
    """A product added to what the accumulator holds; the accumulator's next name."""

    acc = operand_def(updates(TILE, spaces=ACC))
    lhs = operand_def(reads(TILE, spaces=LEFT))
    rhs = operand_def(reads(TILE, spaces=RIGHT))
    result = result_def(names("acc", TILE))

    @property
    def added(self) -> Sequence[SSAValue]:
        return (self.acc,)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        acc = TileType.of(operands[0])
        verify_accumulator(acc, cls.product(operands[1], operands[2], properties))
        return (acc,)


@irdl_op_definition
class MatmulOp(ProductOp):
    """`lhs @ rhs`, over the valid columns of `lhs`."""

    name = "tile.matmul"


@irdl_op_definition
class MatmulBiasOp(BiasedProductOp):
    """`lhs @ rhs + bias`, the bias added to each row."""

    name = "tile.matmul_bias"


@irdl_op_definition
class MatmulAccOp(AddedProductOp):
    """`acc + lhs @ rhs`; where `init_cond` is true, `lhs @ rhs` alone."""

    name = "tile.matmul_acc"

    # Said again, because the fields of a class come before those of its bases.
    acc = operand_def(updates(TILE, spaces=ACC))
    lhs = operand_def(reads(TILE, spaces=LEFT))
    rhs = operand_def(reads(TILE, spaces=RIGHT))
    init_cond = opt_operand_def(reads(eq(i1)))


@irdl_op_definition
class GemvOp(RowProductOp):
    """A row times a matrix."""

    name = "tile.gemv"


@irdl_op_definition
class GemvBiasOp(BiasedProductOp, RowProductOp):
    """A row times a matrix, plus a row."""

    name = "tile.gemv_bias"


@irdl_op_definition
class GemvAccOp(AddedProductOp, RowProductOp):
    """`acc` plus a row times a matrix."""

    name = "tile.gemv_acc"


@irdl_op_definition
class BatchMatmulOp(BatchProductOp):
    """`lhs @ rhs` for each pair of matrices, whose batches broadcast."""

    name = "tile.batch_matmul"


@irdl_op_definition
class BatchMatmulAccOp(AddedProductOp, BatchProductOp):
    """`acc + lhs @ rhs` for each pair of matrices."""

    name = "tile.batch_matmul_acc"
