"""Ops that fill tensors: padding, sequences, a scalar, other tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType, i16, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import names, reads, writes
from pypto_xdsl.dialects.element_types import SCALAR, UI16, UI32, expect_element_types, promote
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.ptensor.attributes import PadValue, PadValueAttr
from pypto_xdsl.dialects.ptensor.elementwise import FRESH, with_dtype
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, TypedOp, Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_attr, boolean_prop, word_prop


def _expect_pad(pad: Attribute) -> PadValue:
    assert isinstance(pad, PadValueAttr)
    if pad.data is PadValue.NULL:
        raise VerifyException("pad_value should be zero, max or min")
    return pad.data


@irdl_op_definition
class FillpadOp(InferringOp):
    """The tensor with all that is not valid set to the pad value."""

    name = "ptensor.fillpad"

    source = operand_def(reads(TENSOR))
    pad_value = word_prop(PadValueAttr, PadValueAttr(PadValue.ZERO))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = tensor_of(operands[0])
        pad = _expect_pad(properties["pad_value"])
        return (tensor_type(symbolic_shape_of(source), source.element_type, pad=pad),)


@irdl_op_definition
class FillpadExpandOp(TypedOp):
    """The valid region in a larger tensor whose other elements are the pad value."""

    name = "ptensor.fillpad_expand"

    source = operand_def(reads(TENSOR))
    pad_value = word_prop(PadValueAttr, PadValueAttr(PadValue.ZERO))
    result = result_def(FRESH)

    def __init__(self, source: Value, shape: Sequence[int], pad_value: PadValue = PadValue.ZERO):
        source = SSAValue.get(source)
        element_type = tensor_of(source.type).element_type
        result_type = tensor_type(shape, element_type, pad=pad_value)
        self._fill([result_type], {"pad_value": PadValueAttr(pad_value)}, source=source)

    def verify_(self) -> None:
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        pad = _expect_pad(self.pad_value)
        if source.element_type != result.element_type:
            raise VerifyException(
                f"result should hold {source.element_type}, got {result.element_type}"
            )
        if valid_shape_of(result) != result.get_shape() or pad_value_of(result) is not pad:
            raise VerifyException(
                f"result should be wholly valid and padded with {pad}, got {result}"
            )
        if source.get_num_dims() != result.get_num_dims() or any(
            DYNAMIC_INDEX not in (small, large) and small > large
            for small, large in zip(source.get_shape(), result.get_shape(), strict=True)
        ):
            raise VerifyException(f"result should be no smaller than {source}, got {result}")


@irdl_op_definition
class ExpandsOp(InferringOp):
    """The scalar in each element; the target only gives the type."""

    name = "ptensor.expands"

    target = operand_def(reads(TENSOR))
    scalar = operand_def(reads(SCALAR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        target = tensor_of(operands[0])
        return (with_dtype(target, target.element_type),)


@irdl_op_definition
class CiOp(TypedOp):
    """`start + k` in column k of a single row; `start - k` if descending. Integers wrap."""

    name = "ptensor.ci"

    start = operand_def(reads(SCALAR))
    descending = boolean_prop(False)
    result = result_def(FRESH)

    def __init__(
        self, start: Value, result_type: TensorType[Attribute], *, descending: bool = False
    ):
        self._fill([result_type], {"descending": boolean_attr(descending)}, start=start)

    def verify_(self) -> None:
        result = tensor_of(self.result.type)
        expect_element_types("result", result.element_type, (i16, i32, UI16, UI32))
        if self.start.type != result.element_type:
            raise VerifyException(f"start should be {result.element_type}, got {self.start.type}")
        *rows, columns = result.get_shape()
        if any(extent != 1 for extent in rows) or columns == 1:
            raise VerifyException(f"result should be a single row of several columns, got {result}")


@irdl_op_definition
class CreateL1Op(TypedOp):
    """A buffer in the cube core's L1 memory rather than in global memory."""

    name = "ptensor.create_l1"

    transpose = boolean_prop(False)
    """Whether it is stored column by column."""
    result = result_def(FRESH)

    def __init__(self, result_type: TensorType[Attribute], *, transpose: bool = False):
        self._fill([result_type], {"transpose": boolean_attr(transpose)})

    def verify_(self) -> None:
        if DYNAMIC_INDEX in tensor_of(self.result.type).get_shape():
            raise VerifyException("a buffer on chip has constant extents")


@irdl_op_definition
class ConcatOp(InferringOp):
    """The valid columns of `lhs`, then those of `rhs`."""

    name = "ptensor.concat"

    lhs = operand_def(reads(TENSOR))
    rhs = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (tensor_of(type) for type in operands)
        if lhs.element_type != rhs.element_type:
            raise VerifyException(
                f"operands should have one element type, got {lhs.element_type} "
                f"and {rhs.element_type}"
            )
        shapes, valid = (
            (symbolic_shape_of(lhs), symbolic_shape_of(rhs)),
            (valid_shape_of(lhs), valid_shape_of(rhs)),
        )
        same_rows = shapes[0][:-1] == shapes[1][:-1] and valid[0][:-1] == valid[1][:-1]
        if not len(shapes[0]) == len(shapes[1]) == 2 or not same_rows:
            raise VerifyException(f"operands should have the same rows, got {lhs} and {rhs}")
        columns = _sum(lhs.get_shape()[1], rhs.get_shape()[1])
        return (
            tensor_type(
                (shapes[0][0], columns),
                lhs.element_type,
                valid=(valid[0][0], _sum(valid[0][1], valid[1][1])),
            ),
        )


def _sum(lhs: int, rhs: int) -> int:
    return DYNAMIC_INDEX if DYNAMIC_INDEX in (lhs, rhs) else lhs + rhs


@irdl_op_definition
class ExpandCloneOp(InferringOp):
    """
    Write the source to the whole target, stretched along at most one of three dimensions; the
    result is the target's next name.
    """

    name = "ptensor.expand_clone"

    source = operand_def(reads(TENSOR))
    target = operand_def(writes(TENSOR))
    result = result_def(names("target", TENSOR))

    @classmethod
    def default_result_operand(cls) -> int:
        return 1

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, target = (tensor_of(type) for type in operands)
        shapes = symbolic_shape_of(source), symbolic_shape_of(target)
        if not len(shapes[0]) == len(shapes[1]) == 3:
            raise VerifyException("source and target should have three dimensions")
        if broadcast_shapes(*shapes) != shapes[1]:
            raise VerifyException(f"source {source} does not stretch to {target}")
        if sum(small != large for small, large in zip(*shapes, strict=True)) > 1:
            raise VerifyException("source stretches along at most one dimension")
        if promote(source.element_type, target.element_type) != target.element_type:
            raise VerifyException(
                f"target should hold {source.element_type}, got {target.element_type}"
            )
        return (target,)
