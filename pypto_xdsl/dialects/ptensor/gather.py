"""Ops on whole tensors that collect elements by index or by mask, and that spread them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, bf16, f16, f32, i8, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import reads
from pypto_xdsl.dialects.element_types import (
    as_element_type,
    bit_width,
    expect_element_types,
    expect_integers,
)
from pypto_xdsl.dialects.extents import verify_window
from pypto_xdsl.dialects.ptensor.attributes import MaskPatternAttr
from pypto_xdsl.dialects.ptensor.elementwise import FRESH, with_dtype
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.typed_op import InferringOp, TypedOp, Types, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    boolean_attr,
    boolean_prop,
    indices_prop,
    integer_attr,
    integer_prop,
    opt_type_prop,
    subscript_prop,
    word_prop,
)


@irdl_op_definition
class GatherOp(InferringOp):
    """
    `source[..., index[..., k, ...], ...]`: along an axis the elements at the given indices. The
    index has the source's extents or smaller ones along the other axes.
    """

    name = "ptensor.gather"
    LOADED_IN_PARTS: ClassVar[tuple[str, ...]] = ("source", "index")
    SAME_ON_TILES: ClassVar[bool] = False

    source = operand_def(reads(TENSOR))
    index = operand_def(reads(TENSOR))
    dim = integer_prop(-1)
    """The axis; a negative one counts from the last."""
    result = result_def(FRESH)

    def __init__(self, source: Value, index: Value, dim: int = -1):
        super().__init__(source, index, properties={"dim": integer_attr(dim)})

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, index = (tensor_of(type) for type in operands)
        expect_integers(index.element_type)
        axis = normalized_axis(properties["dim"], source.get_num_dims())
        if source.get_num_dims() < 2 or source.get_num_dims() != index.get_num_dims():
            raise VerifyException("source and index should have as many dimensions, two at least")
        extents = zip(source.get_shape(), index.get_shape(), strict=True)
        for place, (have, want) in enumerate(extents):
            if place != axis and DYNAMIC_INDEX not in (have, want) and want > have:
                raise VerifyException(f"index {index} reaches beyond the source {source}")
        return (with_dtype(index, source.element_type),)


def normalized_axis(attribute: Attribute, rank: int) -> int:
    """An axis, counted from the first dimension."""
    assert isinstance(attribute, IntegerAttr)
    axis = attribute.value.data
    if not -rank <= axis < rank:
        raise VerifyException(f"axis {axis} of a tensor of {rank} dimensions")
    return axis % rank


@irdl_op_definition
class GatherMaskOp(InferringOp):
    """The columns that a pattern selects, side by side."""

    name = "ptensor.gather_mask"

    source = operand_def(reads(TENSOR))
    mask_pattern = word_prop(MaskPatternAttr)
    output_dtype = opt_type_prop()
    """Of the same width: the bits of the elements as another type."""
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = tensor_of(operands[0])
        pattern = properties["mask_pattern"]
        assert isinstance(pattern, MaskPatternAttr)
        element_type = as_element_type(properties.get("output_dtype", source.element_type))
        if bit_width(element_type) != bit_width(source.element_type):
            raise VerifyException(
                f"output_dtype should be as wide as {source.element_type}, got {element_type}"
            )
        columns, valid = source.get_shape()[-1], valid_shape_of(source)[-1]
        if columns == DYNAMIC_INDEX or columns % pattern.data.stride:
            raise VerifyException(
                f"the columns of {source} should be a multiple of {pattern.data.stride}"
            )
        selected = DYNAMIC_INDEX if valid == DYNAMIC_INDEX else pattern.data.selected(valid)
        return (
            tensor_type(
                (*symbolic_shape_of(source)[:-1], columns // pattern.data.stride),
                element_type,
                valid=(*valid_shape_of(source)[:-1], selected),
            ),
        )


@irdl_op_definition
class GatherRowOp(TypedOp):
    """
    A copy of the destination with a window of the source in it at the given offsets; with
    `transpose` the window is turned over on the way. `valid` narrows what is taken.
    """

    name = "ptensor.gather_row"
    LOADED_IN_PARTS: ClassVar[tuple[str, ...]] = ("source",)

    destination = operand_def(reads(TENSOR))
    destination_offsets = var_operand_def(IndexType)
    static_destination_offsets = subscript_prop()
    source = operand_def(reads(TENSOR))
    source_offsets = var_operand_def(IndexType)
    static_source_offsets = subscript_prop()
    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")
    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")
    transpose = boolean_prop(False)
    result = result_def(FRESH)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        destination: Value,
        destination_offsets: Sequence[Index],
        source: Value,
        source_offsets: Sequence[Index],
        sizes: Sequence[Index],
        valid: Sequence[Index] = (),
        *,
        transpose: bool = False,
    ):
        destination = SSAValue.get(destination)
        self._fill(
            [destination.type],
            {"transpose": boolean_attr(transpose)},
            destination=destination,
            destination_offsets=destination_offsets,
            source=source,
            source_offsets=source_offsets,
            sizes=sizes,
            valid=valid,
        )

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the window starts in the source, one a dimension."""
        return mixed_indices(self.static_source_offsets, self.source_offsets)

    @property
    def target_offsets(self) -> Sequence[Index]:
        """Where the window goes, one a dimension."""
        return mixed_indices(self.static_destination_offsets, self.destination_offsets)

    @property
    def window(self) -> Sequence[Index]:
        """The extents of the window in the source."""
        return mixed_indices(self.static_sizes, self.sizes)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The extents of what is taken of the window; empty: all."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        destination, source = tensor_of(self.destination.type), tensor_of(self.source.type)
        if destination.element_type != source.element_type:
            raise VerifyException(
                f"destination should hold {source.element_type}, got {destination.element_type}"
            )
        if len(self.window) != source.get_num_dims():
            raise VerifyException(f"sizes lists {len(self.window)} extents of {source}")
        if self.valid_extents and len(self.valid_extents) != len(self.window):
            raise VerifyException("valid lists as many extents as sizes")
        window = [size if isinstance(size, int) else DYNAMIC_INDEX for size in self.window]
        verify_window("the source", self.window_offsets, window, source.get_shape())
        if self.transpose.value.data:
            window[-2:] = reversed(window[-2:])
        verify_window("destination", self.target_offsets, window, destination.get_shape())
        result = tensor_of(self.result.type)
        if (result.get_shape(), result.element_type) != (
            destination.get_shape(),
            destination.element_type,
        ):
            raise VerifyException(f"result should be like destination {destination}, got {result}")


@irdl_op_definition
class PagedGatherOp(InferringOp):
    """
    Rows of a paged cache: row i is the `size` columns from `col_off` on in row
    `block_table[k // block_size] * block_size + k % block_size` of the source, k = `indices[i]`.
    """

    name = "ptensor.paged_gather"
    LOADED_IN_PARTS: ClassVar[tuple[str, ...]] = ("source", "indices", "block_table")

    source = operand_def(reads(TENSOR))
    indices = operand_def(reads(TENSOR))
    block_table = operand_def(reads(TENSOR))
    block_size = integer_prop(minimum=1)
    size = integer_prop(minimum=1)
    max_indices = integer_prop(minimum=1)
    col_off = integer_prop(0, minimum=0)
    is_trans = boolean_prop(False)
    """Whether the result is transposed."""
    is_b_matrix = boolean_prop(False)
    """Whether the result is the right operand of a product."""
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, indices, block_table = (tensor_of(type) for type in operands)
        expect_element_types("source", source.element_type, (f16, bf16, f32, i8))
        expect_element_types("indices", indices.element_type, (i32,))
        expect_element_types("block_table", block_table.element_type, (i32,))
        if source.get_num_dims() != 2:
            raise VerifyException(f"source should have two dimensions, got {source}")
        rows, columns, offset = (
            _integer(properties[name]) for name in ("max_indices", "size", "col_off")
        )
        width = source.get_shape()[1]
        if width != DYNAMIC_INDEX and offset + columns > width:
            raise VerifyException(f"columns {offset} to {offset + columns} lie outside {source}")
        turned = properties["is_trans"] == boolean_attr(True)
        shape = (columns, rows) if turned else (rows, columns)
        return (tensor_type(shape, source.element_type),)


def _integer(attribute: Attribute) -> int:
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


class ScatterLikeOp(InferringOp, ABC):
    """An op whose result is a copy of its destination with other elements in places."""

    SAME_ON_TILES: ClassVar[bool] = False

    destination = operand_def(reads(TENSOR))
    index = operand_def(reads(TENSOR))
    source = operand_def(reads(TENSOR))
    result = result_def(FRESH)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        destination, index, source = (tensor_of(type) for type in operands)
        expect_integers(index.element_type)
        if source.element_type != destination.element_type:
            raise VerifyException(
                f"source should hold {destination.element_type}, got {source.element_type}"
            )
        cls.verify_shapes(*(symbolic_shape_of(tensor) for tensor in (destination, index, source)))
        return (with_dtype(destination, destination.element_type),)

    @classmethod
    def verify_shapes(
        cls,
        destination: tuple[int | str, ...],
        index: tuple[int | str, ...],
        source: tuple[int | str, ...],
    ) -> None:
        """Raise unless the three shapes fit together."""
        raise NotImplementedError


@irdl_op_definition
class ScatterOp(ScatterLikeOp):
    """
    A copy of the destination with `[b, index[b, k]]` replaced by `source[b, k]`; the rows that the
    index does not have stay.
    """

    name = "ptensor.scatter"

    @classmethod
    def verify_shapes(
        cls,
        destination: tuple[int | str, ...],
        index: tuple[int | str, ...],
        source: tuple[int | str, ...],
    ) -> None:
        if not len(destination) == len(index) == 2:
            raise VerifyException("destination and index should have two dimensions")
        if index != source:
            raise VerifyException(f"source should have the extents {list(index)}")
        rows, given = destination[0], index[0]
        fewer = isinstance(rows, int) and isinstance(given, int) and given < rows
        if given != rows and not fewer:
            raise VerifyException(f"index should have at most {rows} rows, got {given}")


@irdl_op_definition
class ScatterUpdateOp(ScatterLikeOp):
    """A copy of the destination with row `index.flat[k]` replaced by row k of the source."""

    name = "ptensor.scatter_update"

    @classmethod
    def verify_shapes(
        cls,
        destination: tuple[int | str, ...],
        index: tuple[int | str, ...],
        source: tuple[int | str, ...],
    ) -> None:
        if len(destination) not in (2, 4) or len(source) != len(destination):
            raise VerifyException("destination and source should both have two dimensions, or four")
        if source[-1] != destination[-1]:
            raise VerifyException(
                f"source should have rows of {destination[-1]} elements, got {source[-1]}"
            )


@irdl_op_definition
class ScatterMaskOp(InferringOp):
    """A copy of the destination with the columns that a pattern selects taken from the source."""

    name = "ptensor.scatter_mask"
    SAME_ON_TILES: ClassVar[bool] = False

    source = operand_def(reads(TENSOR))
    destination = operand_def(reads(TENSOR))
    mask_pattern = word_prop(MaskPatternAttr)
    result = result_def(FRESH)

    @classmethod
    def default_result_operand(cls) -> int:
        return 1

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, destination = (tensor_of(type) for type in operands)
        pattern = properties["mask_pattern"]
        assert isinstance(pattern, MaskPatternAttr)
        if source.element_type != destination.element_type:
            raise VerifyException(
                f"source should hold {destination.element_type}, got {source.element_type}"
            )
        *rows, columns = source.get_shape()
        if destination.get_shape() != (*rows, columns * pattern.data.stride):
            raise VerifyException(
                f"destination should have {pattern.data.stride} columns for each of {source}, "
                f"got {destination}"
            )
        return (with_dtype(destination, destination.element_type),)
