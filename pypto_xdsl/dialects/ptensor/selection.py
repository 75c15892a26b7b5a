"""Selection by comparison on whole tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

from xdsl.dialects.builtin import IntegerAttr, f16, f32, i16, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads
from pypto_xdsl.dialects.element_types import SCALAR, UI32, expect_element_types
from pypto_xdsl.dialects.ptensor.attributes import CompareMode, CompareModeAttr
from pypto_xdsl.dialects.ptensor.elementwise import FRESH, BinaryOp, ScalarOp
from pypto_xdsl.dialects.ptensor.types import TENSOR, symbolic_shape_of, tensor_of, tensor_type
from pypto_xdsl.dialects.typed_op import InferringOp, Types, Value
from pypto_xdsl.syntax.op_syntax import integer_attr, integer_prop, type_prop, word_prop

_ExtentT = TypeVar("_ExtentT", bound=int | str)


def infer_gather_compare(
    shape: Sequence[_ExtentT], out_cols: int, count_dtype: Attribute
) -> tuple[tuple[_ExtentT | int, ...], tuple[_ExtentT | int, ...]]:
    """The shapes of the indices, `[rows, out_cols]`, and of the counts, `[1, rows]`."""
    if len(shape) != 2:
        raise VerifyException(f"source should have two dimensions, got {len(shape)}")
    expect_element_types("count", count_dtype, (i32, UI32))
    return (shape[0], out_cols), (1, shape[0])


def verify_gather_compare(source: str, element_type: Attribute, kvalue: Attribute | None) -> None:
    """Raise unless the source holds what can be compared, and the threshold is one of them."""
    expect_element_types(source, element_type, (f16, f32, i16, i32))
    if kvalue != element_type:
        raise VerifyException(f"kvalue dtype should be {element_type}, got {kvalue}")


@irdl_op_definition
class CmpOp(BinaryOp):
    """
    1 where `lhs` compares true with `rhs`, else 0, in the element type that both promote to; nan
    compares false, except by `ne`.
    """

    name = "ptensor.cmp"
    SAME_ON_TILES: ClassVar[bool] = False

    cmp_type = word_prop(CompareModeAttr, CompareModeAttr(CompareMode.EQ))


@irdl_op_definition
class CmpsOp(ScalarOp):
    """
    1 where `lhs` compares true with the scalar, else 0, in the element type that both promote to;
    nan compares false, except by `ne`.
    """

    name = "ptensor.cmps"
    SAME_ON_TILES: ClassVar[bool] = False

    cmp_type = word_prop(CompareModeAttr, CompareModeAttr(CompareMode.EQ))


@irdl_op_definition
class GatherCompareOp(InferringOp):
    """
    For each row the columns (plus `offset`) where the source compares true, and their count.

    What lies beyond the count in a row of the first result is undefined.
    """

    name = "ptensor.gather_compare"

    source = operand_def(reads(TENSOR))
    kvalue = operand_def(reads(SCALAR))
    cmp_mode = word_prop(CompareModeAttr)
    offset = integer_prop(0)
    out_cols = integer_prop(minimum=1)
    count_dtype = type_prop(default_value=i32)
    indices = result_def(FRESH)
    counts = result_def(FRESH)

    def __init__(
        self,
        source: Value,
        kvalue: Value,
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
        super().__init__(source, kvalue, properties=properties)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = tensor_of(operands[0])
        verify_gather_compare("input", source.element_type, operands[1])
        out_cols = properties["out_cols"]
        assert isinstance(out_cols, IntegerAttr)
        indices, counts = infer_gather_compare(
            symbolic_shape_of(source), out_cols.value.data, properties["count_dtype"]
        )
        return tensor_type(indices, i32), tensor_type(counts, properties["count_dtype"])
