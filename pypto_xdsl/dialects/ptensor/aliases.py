"""Other ways to look at a buffer: transposed, in another layout, as other elements."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import Attribute, OpResult
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads, views
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.extents import verify_extents
from pypto_xdsl.dialects.ptensor.memory import SizedViewOp
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    TensorLayout,
    explicit_strides_of,
    layout_of,
    pad_value_of,
    strides_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, Types, Value
from pypto_xdsl.syntax.op_syntax import integer_attr, integer_prop

_FLIPPED = {TensorLayout.ND: TensorLayout.DN, TensorLayout.DN: TensorLayout.ND}


@irdl_op_definition
class TransposeOp(InferringOp):
    """The tensor with two axes swapped, and its strides with them; no element moves."""

    name = "ptensor.transpose"
    READS_ELEMENTS: ClassVar[bool] = False

    source = operand_def(reads(TENSOR))
    axis1 = integer_prop(0, minimum=0)
    axis2 = integer_prop(1, minimum=0)
    result = result_def(views("source", TENSOR))

    def __init__(self, source: Value, axis1: int = 0, axis2: int = 1):
        properties = {"axis1": integer_attr(axis1), "axis2": integer_attr(axis2)}
        super().__init__(source, properties=properties)

    def swapped_axes(self, result: OpResult) -> tuple[int, int] | None:
        return self.axis1.value.data, self.axis2.value.data

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = tensor_of(operands[0])
        rank = source.get_num_dims()
        axes: list[int] = []
        for name in ("axis1", "axis2"):
            axis = properties[name]
            assert isinstance(axis, IntegerAttr)
            axes.append(axis.value.data)
        if max(axes) >= rank or axes[0] == axes[1]:
            raise VerifyException(f"two axes of {rank} are swapped, got {axes[0]} and {axes[1]}")
        order = list(range(rank))
        order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
        layout, strides = layout_of(source), explicit_strides_of(source)
        if layout is TensorLayout.NZ:
            raise VerifyException("a tensor in blocks has no transposed view")
        if sorted(axes) == [rank - 2, rank - 1]:
            layout = _FLIPPED[layout]
        else:
            strides = strides_of(source)
        shape, valid = symbolic_shape_of(source), valid_shape_of(source)
        return (
            tensor_type(
                [shape[axis] for axis in order],
                source.element_type,
                valid=[valid[axis] for axis in order],
                strides=None if strides is None else [strides[axis] for axis in order],
                layout=layout,
                pad=pad_value_of(source),
            ),
        )


class RetypingViewOp(SizedViewOp, ABC):
    """A view whose type says how the buffer is looked at."""

    def verify_(self) -> None:
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        verify_extents("sizes", self.extents, result.get_shape())
        if DYNAMIC_INDEX in (*source.get_shape(), *result.get_shape()):
            return
        sizes = [prod(t.get_shape()) * byte_width(t.element_type) for t in (source, result)]
        if sizes[0] != sizes[1]:
            raise VerifyException(f"a tensor of {sizes[0]} bytes is none of {sizes[1]}")


@irdl_op_definition
class LayoutViewOp(RetypingViewOp):
    """The same elements in another shape or layout (`nd` or `dn`)."""

    name = "ptensor.view"

    def verify_(self) -> None:
        self.verify_element_type()
        if layout_of(tensor_of(self.result.type)) is TensorLayout.NZ:
            raise VerifyException("a tensor is not seen in blocks by a view")
        super().verify_()


@irdl_op_definition
class ReinterpretViewOp(RetypingViewOp):
    """The same bytes as elements of another type."""

    name = "ptensor.reinterpret_view"
