"""
Sorting of whole tensors; the sorted lists are of pairs of a value and its index, eight bytes each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, f16, f32
from xdsl.ir import Attribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads
from pypto_xdsl.dialects.element_types import (
    SCALAR,
    UI32,
    byte_width,
    expect_element_types,
    expect_integers,
)
from pypto_xdsl.dialects.ptensor.elementwise import FRESH, with_dtype
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_prop

PAIR_BYTES = 8
"""The bytes of a value and its index."""
SORTED_BLOCK = 32
"""The elements that `sort32` sorts together."""


@irdl_op_definition
class Sort32Op(InferringOp):
    """
    Each 32 elements of a row as pairs, from the largest value to the smallest; equal values by
    their index.
    """

    name = "ptensor.sort32"

    source = operand_def(reads(TENSOR))
    indices = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, indices = (tensor_of(type) for type in operands)
        expect_element_types("source", source.element_type, (f16, f32))
        expect_element_types("indices", indices.element_type, (UI32,))
        columns, valid = source.get_shape()[-1], valid_shape_of(source)[-1]
        if columns == DYNAMIC_INDEX or columns % SORTED_BLOCK:
            raise VerifyException(f"the columns of source should be a multiple of 32: {source}")
        width = PAIR_BYTES // byte_width(source.element_type)
        return (
            tensor_type(
                (*symbolic_shape_of(source)[:-1], columns * width),
                source.element_type,
                valid=(
                    *valid_shape_of(source)[:-1],
                    DYNAMIC_INDEX if valid == DYNAMIC_INDEX else valid * width,
                ),
            ),
        )


@irdl_op_definition
class MrgsortFormat1Op(InferringOp):
    """Each four sorted runs of `block_len` columns merged into one."""

    name = "ptensor.mrgsort_format1"

    source = operand_def(reads(TENSOR))
    block_len = operand_def(reads(SCALAR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, block_len = tensor_of(operands[0]), operands[1]
        assert block_len is not None
        expect_element_types("source", source.element_type, (f16, f32))
        expect_integers(block_len)
        return (with_dtype(source, source.element_type),)


@irdl_op_definition
class MrgsortFormat2Op(InferringOp):
    """Two to four sorted lists merged into one; `exhausted` stops when the first of them ends."""

    name = "ptensor.mrgsort_format2"

    first = operand_def(reads(TENSOR))
    second = operand_def(reads(TENSOR))
    third = opt_operand_def(reads(TENSOR))
    fourth = opt_operand_def(reads(TENSOR))
    exhausted = boolean_prop(False)
    result = result_def(FRESH)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, *sources: Value, exhausted: bool = False):
        super().__init__(*sources, properties={"exhausted": BoolAttr.from_bool(exhausted)})

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tensors = [tensor_of(type) for type in operands if type is not None]
        if operands[2] is None and operands[3] is not None:
            raise VerifyException("a fourth list needs a third")
        first = tensors[0]
        expect_element_types("first", first.element_type, (f16, f32))
        for tensor in tensors[1:]:
            if tensor.element_type != first.element_type:
                raise VerifyException(f"lists should hold {first.element_type}, got {tensor}")
            if symbolic_shape_of(tensor)[:-1] != symbolic_shape_of(first)[:-1]:
                raise VerifyException(f"lists should have the rows of {first}, got {tensor}")
        columns = [tensor.get_shape()[-1] for tensor in tensors]
        total = DYNAMIC_INDEX if DYNAMIC_INDEX in columns else sum(columns)
        return (tensor_type((*symbolic_shape_of(first)[:-1], total), first.element_type),)
