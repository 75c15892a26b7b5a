"""
Elementwise ops of the `ptensor` dialect, by family.

Each result is a tensor of its own: packed row-major, with the valid region of the operands where
all agree. To add one, subclass the family's base, give the name and one line of meaning.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import ResultDeclaration, reads
from pypto_xdsl.dialects.element_types import (
    SCALAR,
    as_element_type,
    expect_integers,
    is_float,
    promote,
)
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.ptensor.attributes import RoundMode, RoundModeAttr
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_prop, type_prop, word_prop

FRESH = ResultDeclaration(TENSOR)
"""A tensor of its own."""


def infer_broadcast(*tensors: TensorType[Attribute]) -> TensorType[Attribute]:
    """Shapes broadcast, element types promote, a valid region stays where all have it."""
    shape = symbolic_shape_of(tensors[0])
    element_type = tensors[0].element_type
    for tensor in tensors[1:]:
        shape = broadcast_shapes(shape, symbolic_shape_of(tensor))
        element_type = promote(element_type, tensor.element_type)
    valid = valid_shape_of(tensors[0])
    agreed = all(
        symbolic_shape_of(tensor) == shape and valid_shape_of(tensor) == valid for tensor in tensors
    )
    return tensor_type(shape, element_type, valid=valid if agreed else None)


def with_dtype(tensor: TensorType[Attribute], element_type: Attribute) -> TensorType[Attribute]:
    """A packed tensor of the same extents and valid region with elements of another type."""
    return tensor_type(symbolic_shape_of(tensor), element_type, valid=valid_shape_of(tensor))


class BinaryOp(InferringOp, ABC):
    """`f(lhs, rhs)` of two tensors."""

    INTEGERS: ClassVar[bool] = False

    lhs = operand_def(reads(TENSOR))
    rhs = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (tensor_of(type) for type in operands)
        if cls.INTEGERS:
            expect_integers(lhs.element_type, rhs.element_type)
        return (infer_broadcast(lhs, rhs),)


class ScalarOp(InferringOp, ABC):
    """`f(tensor, scalar)`."""

    INTEGERS: ClassVar[bool] = False
    PROMOTES: ClassVar[bool] = True
    """Whether the scalar's type promotes the element type."""

    lhs = operand_def(reads(TENSOR))
    rhs = operand_def(reads(SCALAR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tensor, scalar = tensor_of(operands[0]), as_element_type(operands[1])
        if cls.INTEGERS:
            expect_integers(tensor.element_type, scalar)
        promoted = promote(tensor.element_type, scalar) if cls.PROMOTES else tensor.element_type
        return (with_dtype(tensor, promoted),)


class UnaryOp(InferringOp, ABC):
    """`f(operand)` of one tensor."""

    FLOAT_RESULT: ClassVar[bool] = False
    """Whether integers give an f32 result."""

    operand = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tensor = tensor_of(operands[0])
        convert = cls.FLOAT_RESULT and not is_float(tensor.element_type)
        return (with_dtype(tensor, f32 if convert else tensor.element_type),)


@irdl_op_definition
class CastOp(UnaryOp):
    """The operand in another element type, rounded by `mode`."""

    name = "ptensor.cast"

    target_type = type_prop()
    mode = word_prop(RoundModeAttr, RoundModeAttr(RoundMode.ROUND))

    def __init__(self, operand: Value, target_type: Attribute, mode: RoundMode = RoundMode.ROUND):
        properties = {"target_type": target_type, "mode": RoundModeAttr(mode)}
        super().__init__(operand, properties=properties)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tensor = tensor_of(operands[0])
        target = as_element_type(properties["target_type"])
        if target == tensor.element_type:
            raise VerifyException(f"a cast from {target} to itself changes nothing")
        return (with_dtype(tensor, target),)


# Two tensors.


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`; integers wrap."""

    name = "ptensor.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`; integers wrap."""

    name = "ptensor.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`; integers wrap."""

    name = "ptensor.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`; integers truncate towards zero."""

    name = "ptensor.div"
    high_precision = boolean_prop(False)


@irdl_op_definition
class MaximumOp(BinaryOp):
    """The larger of `lhs` and `rhs`."""

    name = "ptensor.maximum"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """The smaller of `lhs` and `rhs`."""

    name = "ptensor.minimum"


@irdl_op_definition
class FmodOp(BinaryOp):
    """The remainder of `lhs / rhs` with the sign of `lhs`."""

    name = "ptensor.fmod"


@irdl_op_definition
class AndOp(BinaryOp):
    """Bitwise `lhs & rhs`."""

    name = "ptensor.and"
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class OrOp(BinaryOp):
    """Bitwise `lhs | rhs`."""

    name = "ptensor.or"
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class XorOp(BinaryOp):
    """Bitwise `lhs ^ rhs`."""

    name = "ptensor.xor"
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class PartAddOp(BinaryOp):
    """`lhs + rhs` where both are valid, the valid one where only one is."""

    name = "ptensor.part_add"


@irdl_op_definition
class PartMulOp(BinaryOp):
    """`lhs * rhs` where both are valid, the valid one where only one is."""

    name = "ptensor.part_mul"


@irdl_op_definition
class PartMaxOp(BinaryOp):
    """The larger where both are valid, the valid one where only one is."""

    name = "ptensor.part_max"


@irdl_op_definition
class PartMinOp(BinaryOp):
    """The smaller where both are valid, the valid one where only one is."""

    name = "ptensor.part_min"


class ShiftOp(BinaryOp, ABC):
    """A shift of `lhs` by `rhs` bits, whose result has the element type of `lhs`."""

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (tensor_of(type) for type in operands)
        expect_integers(lhs.element_type, rhs.element_type)
        result = infer_broadcast(lhs, rhs)
        return (with_dtype(result, lhs.element_type),)


@irdl_op_definition
class ShlOp(ShiftOp):
    """`lhs << rhs`."""

    name = "ptensor.shl"


@irdl_op_definition
class ShrOp(ShiftOp):
    """`lhs >> rhs`, arithmetic for signed and logical for unsigned elements."""

    name = "ptensor.shr"


# A tensor and a scalar.


@irdl_op_definition
class AddsOp(ScalarOp):
    """`lhs + scalar`."""

    name = "ptensor.adds"


@irdl_op_definition
class SubsOp(ScalarOp):
    """`lhs - scalar`."""

    name = "ptensor.subs"
    PROMOTES: ClassVar[bool] = False


@irdl_op_definition
class MulsOp(ScalarOp):
    """`lhs * scalar`."""

    name = "ptensor.muls"


@irdl_op_definition
class DivsOp(ScalarOp):
    """`lhs / scalar`; integers go through f32 and truncate."""

    name = "ptensor.divs"


@irdl_op_definition
class MaximumsOp(ScalarOp):
    """The larger of `lhs` and the scalar."""

    name = "ptensor.maximums"


@irdl_op_definition
class MinimumsOp(ScalarOp):
    """The smaller of `lhs` and the scalar."""

    name = "ptensor.minimums"


@irdl_op_definition
class FmodsOp(ScalarOp):
    """The remainder of `lhs / scalar` with the sign of `lhs`."""

    name = "ptensor.fmods"


@irdl_op_definition
class AndsOp(ScalarOp):
    """Bitwise `lhs & scalar`."""

    name = "ptensor.ands"
    INTEGERS: ClassVar[bool] = True
    PROMOTES: ClassVar[bool] = False


@irdl_op_definition
class OrsOp(ScalarOp):
    """Bitwise `lhs | scalar`."""

    name = "ptensor.ors"
    INTEGERS: ClassVar[bool] = True
    PROMOTES: ClassVar[bool] = False


@irdl_op_definition
class XorsOp(ScalarOp):
    """Bitwise `lhs ^ scalar`."""

    name = "ptensor.xors"
    INTEGERS: ClassVar[bool] = True
    PROMOTES: ClassVar[bool] = False


@irdl_op_definition
class ShlsOp(ScalarOp):
    """`lhs << scalar`."""

    name = "ptensor.shls"
    INTEGERS: ClassVar[bool] = True
    PROMOTES: ClassVar[bool] = False


@irdl_op_definition
class ShrsOp(ScalarOp):
    """`lhs >> scalar`."""

    name = "ptensor.shrs"
    INTEGERS: ClassVar[bool] = True
    PROMOTES: ClassVar[bool] = False


# One tensor.


@irdl_op_definition
class AbsOp(UnaryOp):
    """The absolute value."""

    name = "ptensor.abs"


@irdl_op_definition
class NegOp(UnaryOp):
    """The negative; integers wrap."""

    name = "ptensor.neg"


@irdl_op_definition
class NotOp(UnaryOp):
    """The bitwise complement."""

    name = "ptensor.not"


@irdl_op_definition
class ExpOp(UnaryOp):
    """e to the power of the operand."""

    name = "ptensor.exp"
    FLOAT_RESULT: ClassVar[bool] = True


@irdl_op_definition
class LogOp(UnaryOp):
    """The natural logarithm."""

    name = "ptensor.log"
    high_precision = boolean_prop(False)


@irdl_op_definition
class SqrtOp(UnaryOp):
    """The square root; of a negative number nan."""

    name = "ptensor.sqrt"
    FLOAT_RESULT: ClassVar[bool] = True


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`1 / sqrt(operand)`."""

    name = "ptensor.rsqrt"
    FLOAT_RESULT: ClassVar[bool] = True
    high_precision = boolean_prop(False)


@irdl_op_definition
class RecipOp(UnaryOp):
    """`1 / operand`."""

    name = "ptensor.recip"
    FLOAT_RESULT: ClassVar[bool] = True
    high_precision = boolean_prop(False)


@irdl_op_definition
class SinOp(UnaryOp):
    """The sine, of radians."""

    name = "ptensor.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """The cosine, of radians."""

    name = "ptensor.cos"
