"""Reductions over rows and columns, and their converse, expansion of a vector over a tensor."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads
from pypto_xdsl.dialects.element_types import promote
from pypto_xdsl.dialects.ptensor.elementwise import FRESH, with_dtype
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, Types


class ReductionOp(InferringOp, ABC):
    """One value along an axis, over the valid elements; the axis stays, with extent 1."""

    AXIS: ClassVar[int]
    """Counted from the last dimension: -1 reduces rows, -2 columns."""
    RESULT_TYPE: ClassVar[Attribute | None] = None
    """The element type of the result; None: the operand's."""

    operand = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tensor = tensor_of(operands[0])
        shape, valid = list(symbolic_shape_of(tensor)), list(valid_shape_of(tensor))
        if len(shape) < -cls.AXIS:
            raise VerifyException(f"expected a tensor of at least {-cls.AXIS} dimensions")
        shape[cls.AXIS] = valid[cls.AXIS] = 1
        return (tensor_type(shape, cls.RESULT_TYPE or tensor.element_type, valid=valid),)


class ExpandOp(InferringOp, ABC):
    """`f(target, vector)`, where the vector has extent 1 along an axis and stretches over it."""

    AXIS: ClassVar[int]
    """Along which the vector stretches, counted from the last dimension."""

    target = operand_def(reads(TENSOR))
    vector = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        target, vector = (tensor_of(type) for type in operands)
        _verify_vector(target, vector, cls.AXIS)
        return (with_dtype(target, promote(target.element_type, vector.element_type)),)


def _verify_vector(target: TensorType[Attribute], vector: TensorType[Attribute], axis: int) -> None:
    wanted = list(symbolic_shape_of(target)[-2:])
    if len(wanted) < 2:
        raise VerifyException(f"target should have at least two dimensions, got {target}")
    wanted[axis] = 1
    if list(symbolic_shape_of(vector)[-2:]) != wanted:
        raise VerifyException(f"vector should end in the extents {wanted}, got {vector}")


@irdl_op_definition
class RowSumOp(ReductionOp):
    """The sum of each row."""

    name = "ptensor.row_sum"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowMaxOp(ReductionOp):
    """The largest element of each row."""

    name = "ptensor.row_max"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowMinOp(ReductionOp):
    """The smallest element of each row."""

    name = "ptensor.row_min"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowProdOp(ReductionOp):
    """The product of each row."""

    name = "ptensor.row_prod"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowArgmaxOp(ReductionOp):
    """The column of the largest element of each row, the first of equal ones."""

    name = "ptensor.row_argmax"
    AXIS: ClassVar[int] = -1
    RESULT_TYPE: ClassVar[Attribute | None] = i32


@irdl_op_definition
class RowArgminOp(ReductionOp):
    """The column of the smallest element of each row, the first of equal ones."""

    name = "ptensor.row_argmin"
    AXIS: ClassVar[int] = -1
    RESULT_TYPE: ClassVar[Attribute | None] = i32


@irdl_op_definition
class ColSumOp(ReductionOp):
    """The sum of each column."""

    name = "ptensor.col_sum"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColMaxOp(ReductionOp):
    """The largest element of each column."""

    name = "ptensor.col_max"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColMinOp(ReductionOp):
    """The smallest element of each column."""

    name = "ptensor.col_min"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColProdOp(ReductionOp):
    """The product of each column."""

    name = "ptensor.col_prod"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColArgmaxOp(ReductionOp):
    """The row of the largest element of each column, the first of equal ones."""

    name = "ptensor.col_argmax"
    AXIS: ClassVar[int] = -2
    RESULT_TYPE: ClassVar[Attribute | None] = i32


@irdl_op_definition
class ColArgminOp(ReductionOp):
    """The row of the smallest element of each column, the first of equal ones."""

    name = "ptensor.col_argmin"
    AXIS: ClassVar[int] = -2
    RESULT_TYPE: ClassVar[Attribute | None] = i32


@irdl_op_definition
class RowExpandVectorOp(ExpandOp):
    """The vector, repeated; the target only gives the shape."""

    name = "ptensor.row_expand"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandAddOp(ExpandOp):
    """`target + vector`."""

    name = "ptensor.row_expand_add"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandSubOp(ExpandOp):
    """`target - vector`."""

    name = "ptensor.row_expand_sub"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandMulOp(ExpandOp):
    """`target * vector`."""

    name = "ptensor.row_expand_mul"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandDivOp(ExpandOp):
    """`target / vector`."""

    name = "ptensor.row_expand_div"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandMaxOp(ExpandOp):
    """The larger of target and vector."""

    name = "ptensor.row_expand_max"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandMinOp(ExpandOp):
    """The smaller of target and vector."""

    name = "ptensor.row_expand_min"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class RowExpandExpdifOp(ExpandOp):
    """`exp(target - vector)`."""

    name = "ptensor.row_expand_expdif"
    AXIS: ClassVar[int] = -1


@irdl_op_definition
class ColExpandVectorOp(ExpandOp):
    """The vector, repeated; the target only gives the shape."""

    name = "ptensor.col_expand"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandAddOp(ExpandOp):
    """`target + vector`."""

    name = "ptensor.col_expand_add"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandSubOp(ExpandOp):
    """`target - vector`."""

    name = "ptensor.col_expand_sub"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandMulOp(ExpandOp):
    """`target * vector`."""

    name = "ptensor.col_expand_mul"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandDivOp(ExpandOp):
    """`target / vector`."""

    name = "ptensor.col_expand_div"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandMaxOp(ExpandOp):
    """The larger of target and vector."""

    name = "ptensor.col_expand_max"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandMinOp(ExpandOp):
    """The smaller of target and vector."""

    name = "ptensor.col_expand_min"
    AXIS: ClassVar[int] = -2


@irdl_op_definition
class ColExpandExpdifOp(ExpandOp):
    """`exp(target - vector)`."""

    name = "ptensor.col_expand_expdif"
    AXIS: ClassVar[int] = -2
