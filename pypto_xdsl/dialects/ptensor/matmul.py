"""Matrix products of whole tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType, f32, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import eq, irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads
from pypto_xdsl.dialects.element_types import as_element_type, expect_element_types, promote
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.ptensor.elementwise import FRESH
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    TensorLayout,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_attr, boolean_prop, opt_type_prop

_Extents = tuple[int | str, ...]


def infer_product(
    lhs: TensorType[Attribute], rhs: TensorType[Attribute], transposed: tuple[bool, bool]
) -> tuple[_Extents, tuple[int, ...]]:
    """
    The shape and the valid region of `lhs @ rhs`, each with its last two dimensions swapped where
    `transposed`. Batches broadcast; a vector is a row on the left and a column on the right, and
    has no dimension in the result.
    """
    shapes: list[_Extents] = []
    valid: list[tuple[int, ...]] = []
    for name, tensor, swap in (("lhs", lhs, transposed[0]), ("rhs", rhs, transposed[1])):
        rank = tensor.get_num_dims()
        if rank < 1 or (swap and rank < 2):
            raise VerifyException(f"{name} should have at least {2 if swap else 1} dimensions")
        extents, inner = symbolic_shape_of(tensor), valid_shape_of(tensor)
        if swap:
            extents = (*extents[:-2], extents[-1], extents[-2])
            inner = (*inner[:-2], inner[-1], inner[-2])
        shapes.append(extents)
        valid.append(inner)
    depth, rhs_depth = shapes[0][-1], shapes[1][-2 if len(shapes[1]) > 1 else 0]
    if depth != rhs_depth:
        raise VerifyException(
            f"the columns of lhs should be the rows of rhs, got {depth} and {rhs_depth}"
        )
    batch = broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
    rows, columns = slice(-2, -1), slice(-1, None) if len(shapes[1]) > 1 else slice(0, 0)
    shape = (*batch, *shapes[0][rows], *shapes[1][columns])
    whole = tensor_type(batch, f32).get_shape()
    return shape, (*whole, *valid[0][rows], *valid[1][columns])


def _flags(properties: Mapping[str, Attribute]) -> tuple[bool, bool]:
    yes = boolean_attr(True)
    return properties["a_trans"] == yes, properties["b_trans"] == yes


@irdl_op_definition
class MatmulOp(InferringOp):
    """
    `lhs @ rhs`, each transposed first if so asked, of matrices, vectors or batches of matrices.

    Products are summed in f32, or i32 (wrapping), and converted to the result's element type.
    """

    name = "ptensor.matmul"

    lhs = operand_def(reads(TENSOR))
    rhs = operand_def(reads(TENSOR))
    out_dtype = opt_type_prop()
    """The element type of the result; by default what those of the operands promote to."""
    a_trans = boolean_prop(False)
    b_trans = boolean_prop(False)
    c_matrix_nz = boolean_prop(False)
    """Whether the result lies in global memory in blocks."""
    result = result_def(FRESH)

    def __init__(
        self,
        lhs: Value,
        rhs: Value,
        *,
        out_dtype: Attribute | None = None,
        a_trans: bool = False,
        b_trans: bool = False,
        c_matrix_nz: bool = False,
    ):
        properties: dict[str, Attribute] = {
            "a_trans": boolean_attr(a_trans),
            "b_trans": boolean_attr(b_trans),
            "c_matrix_nz": boolean_attr(c_matrix_nz),
        }
        if out_dtype is not None:
            properties["out_dtype"] = out_dtype
        super().__init__(lhs, rhs, properties=properties)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (tensor_of(type) for type in operands)
        shape, valid = infer_product(lhs, rhs, _flags(properties))
        element_type = properties.get("out_dtype", promote(lhs.element_type, rhs.element_type))
        blocked = properties["c_matrix_nz"] == boolean_attr(True)
        return (
            tensor_type(
                shape,
                as_element_type(element_type),
                valid=valid,
                layout=TensorLayout.NZ if blocked else TensorLayout.ND,
            ),
        )


@irdl_op_definition
class MatmulAccOp(InferringOp):
    """`acc + lhs @ rhs`; where `init_cond` is true, `lhs @ rhs` alone."""

    name = "ptensor.matmul_acc"

    acc = operand_def(reads(TENSOR))
    lhs = operand_def(reads(TENSOR))
    rhs = operand_def(reads(TENSOR))
    init_cond = opt_operand_def(reads(eq(i1)))
    a_trans = boolean_prop(False)
    b_trans = boolean_prop(False)
    result = result_def(FRESH)

    def __init__(
        self,
        acc: Value,
        lhs: Value,
        rhs: Value,
        init_cond: Value | None = None,
        *,
        a_trans: bool = False,
        b_trans: bool = False,
    ):
        properties = {"a_trans": boolean_attr(a_trans), "b_trans": boolean_attr(b_trans)}
        super().__init__(acc, lhs, rhs, init_cond, properties=properties)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        acc, lhs, rhs = (tensor_of(type) for type in operands[:3])
        expect_element_types("acc", acc.element_type, (f32, i32))
        shape, _ = infer_product(lhs, rhs, _flags(properties))
        if symbolic_shape_of(acc) != shape:
            raise VerifyException(f"acc should have the extents {list(shape)}, got {acc}")
        return (tensor_type(shape, acc.element_type, valid=valid_shape_of(acc)),)
