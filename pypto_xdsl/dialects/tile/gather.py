"""Ops that collect elements by index or by mask, from tiles and from global memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    TensorType,
    f16,
    f32,
    i16,
    i32,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import (
    Effect,
    lives_freely,
    lives_in,
    names,
    reads,
    updates,
    workspace,
    writes,
)
from pypto_xdsl.dialects.element_types import (
    UI32,
    as_element_type,
    bit_width,
    byte_width,
    expect_element_types,
)
from pypto_xdsl.dialects.extents import verify_window
from pypto_xdsl.dialects.ptensor.attributes import MaskPatternAttr
from pypto_xdsl.dialects.ptensor.types import TENSOR, tensor_of
from pypto_xdsl.dialects.tile.attributes import (
    Coalesce,
    CoalesceAttr,
    MemorySpace,
    OutOfBounds,
    OutOfBoundsAttr,
)
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import TypedOp, Types, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    boolean_attr,
    boolean_prop,
    indices_prop,
    opt_type_prop,
    subscript_prop,
    word_prop,
)

VEC = (MemorySpace.VEC,)
_BLOCK = 32
"""The bytes of a block of the vector unit."""


@irdl_op_definition
class GatherOp(InferringTileOp):
    """
    `source.flat[indices[r, c]]`, the source counted row by row.

    An index outside the source gives an undefined element.
    """

    name = "tile.gather"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    indices = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, indices = (TileType.of(type) for type in operands[:2])
        expect_element_types("source", source.element_type, (f16, f32, i16, i32))
        allowed = (i16, i32) if bit_width(source.element_type) == 16 else (i32,)
        expect_element_types("indices", indices.element_type, allowed)
        return (indices.with_element_type(source.element_type),)


@irdl_op_definition
class GatherMaskOp(InferringTileOp):
    """The columns that a pattern selects, side by side."""

    name = "tile.gather_mask"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    mask_pattern = word_prop(MaskPatternAttr)
    output_dtype = opt_type_prop()
    """Of the same width: the bits of the elements as another type."""
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        pattern = properties["mask_pattern"]
        assert isinstance(pattern, MaskPatternAttr)
        element_type = as_element_type(properties.get("output_dtype", source.element_type))
        if bit_width(element_type) != bit_width(source.element_type):
            raise VerifyException(
                f"output_dtype should be as wide as {source.element_type}, got {element_type}"
            )
        *rows, columns = source.get_shape()
        *valid_rows, valid = source.valid_shape
        if columns == DYNAMIC_INDEX or columns % pattern.data.stride:
            raise VerifyException(
                f"the columns of {source} should be a multiple of {pattern.data.stride}"
            )
        selected = DYNAMIC_INDEX if valid == DYNAMIC_INDEX else pattern.data.selected(valid)
        return (
            TileType(
                (*rows, columns // pattern.data.stride),
                element_type,
                source.memory_space,
                valid=(*valid_rows, selected),
            ),
        )


@irdl_op_definition
class GatherbOp(InferringTileOp):
    """
    The blocks of 32 bytes that start at the given byte offsets in the source, each a multiple of
    32, side by side.
    """

    name = "tile.gatherb"
    FAILS_BY_ELEMENTS: ClassVar[bool] = True
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    offsets = operand_def(reads(TILE, spaces=VEC))
    output_dtype = opt_type_prop()
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, offsets = (TileType.of(type) for type in operands)
        expect_element_types("offsets", offsets.element_type, (UI32,))
        element_type = as_element_type(properties.get("output_dtype", source.element_type))
        scale = _BLOCK // byte_width(element_type)
        *rows, columns = offsets.get_shape()
        *valid_rows, valid = offsets.valid_shape
        if columns == DYNAMIC_INDEX or columns % 8:
            raise VerifyException(f"the columns of offsets should be a multiple of 8: {offsets}")
        scaled = DYNAMIC_INDEX if valid == DYNAMIC_INDEX else valid * scale
        return (
            TileType(
                (*rows, columns * scale),
                element_type,
                source.memory_space,
                valid=(*valid_rows, scaled),
            ),
        )


@irdl_op_definition
class GatherRowOp(TypedOp):
    """
    The destination with a window of a tensor loaded into it at the given offsets; with `transpose`
    the window is turned over on the way. `valid` narrows what is loaded.
    """

    name = "tile.gather_row"

    destination = operand_def(updates(TILE))
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
    result = result_def(names("destination", TILE))

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
        """Where the window starts in the tensor, one a dimension."""
        return mixed_indices(self.static_source_offsets, self.source_offsets)

    @property
    def target_offsets(self) -> Sequence[Index]:
        """Where the window goes in the tile, one a dimension."""
        return mixed_indices(self.static_destination_offsets, self.destination_offsets)

    @property
    def window(self) -> Sequence[Index]:
        """The extents of the window in the tensor."""
        return mixed_indices(self.static_sizes, self.sizes)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The extents of what is loaded of the window; empty: all."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        tile, tensor = TileType.of(self.destination.type), tensor_of(self.source.type)
        if tile.element_type != tensor.element_type:
            raise VerifyException(
                f"destination should hold {tensor.element_type}, as the tensor, "
                f"got {tile.element_type}"
            )
        if len(self.window) != tensor.get_num_dims():
            raise VerifyException(f"sizes lists {len(self.window)} extents of the tensor {tensor}")
        if self.valid_extents and len(self.valid_extents) != len(self.window):
            raise VerifyException("valid lists as many extents as sizes")
        window = [size if isinstance(size, int) else DYNAMIC_INDEX for size in self.window]
        verify_window("the tensor", self.window_offsets, window, tensor.get_shape())
        if self.transpose.value.data:
            window[-2:] = reversed(window[-2:])
        verify_window("the tile", self.target_offsets, window, tile.get_shape())
        if self.result.type != tile:
            raise VerifyException(
                f"result should be the destination {tile}, got {self.result.type}"
            )


def _scratch_effect(op: MgatherOp) -> Effect:
    in_l1 = TileType.of(op.result.type).memory_space is MemorySpace.MAT
    return Effect.WRITE if in_l1 and op.coalesce.data is Coalesce.ELEM else Effect.READ


@irdl_op_definition
class MgatherOp(TypedOp):
    """
    Rows (`row`) or elements (`elem`) of a tensor by index, straight from global memory.

    By `row` the result is `[R, C]` for a vector of R indices and rows of C elements; by `elem` it
    has the shape of the indices, which count the tensor row by row. Indices count as unsigned;
    `gather_oob` says what one beyond the end selects, which is an error if it is `undefined`.

    The vector buffer is given what indices on chip select, L1 what those in global memory do. On
    their way to L1 elements pass through `scratch`, a tensor that holds as many.
    """

    name = "tile.mgather"
    IN_PLACE: ClassVar[bool] = False
    FAILS_BY_ELEMENTS: ClassVar[bool] = True

    source = operand_def(reads(TENSOR))
    indices = operand_def(reads(TILE | TENSOR))
    scratch = opt_operand_def(writes(TENSOR, resolve=_scratch_effect))
    coalesce = word_prop(CoalesceAttr, CoalesceAttr(Coalesce.ROW))
    gather_oob = word_prop(OutOfBoundsAttr, OutOfBoundsAttr(OutOfBounds.UNDEFINED))
    result = result_def(lives_freely(TILE))

    def __init__(
        self,
        source: Value,
        indices: Value,
        result_type: TileType,
        scratch: Value | None = None,
        *,
        coalesce: Coalesce = Coalesce.ROW,
        gather_oob: OutOfBounds = OutOfBounds.UNDEFINED,
    ):
        self._fill(
            [result_type],
            {"coalesce": CoalesceAttr(coalesce), "gather_oob": OutOfBoundsAttr(gather_oob)},
            source=source,
            indices=indices,
            scratch=scratch,
        )

    @staticmethod
    def gathered(
        source: TensorType[Attribute],
        indices: TileType | TensorType[Attribute],
        coalesce: Coalesce,
        space: MemorySpace | None = None,
    ) -> TileType:
        """
        The type of what indices select, valid as far as they are. Raises `VerifyException` for
        what are no indices of rows.
        """
        shape = indices.get_shape()
        valid = indices.valid_shape if isinstance(indices, TileType) else shape
        if coalesce is Coalesce.ROW:
            axes = [axis for axis, extent in enumerate(shape) if extent != 1]
            if len(axes) > 1 or source.get_num_dims() < 2:
                raise VerifyException(
                    f"rows of a tensor should be listed by a vector, got {indices} for {source}"
                )
            axis = axes[0] if axes else -1
            columns = source.get_shape()[-1]
            shape, valid = (shape[axis], columns), (valid[axis], columns)
        return TileType(shape, as_element_type(source.element_type), space, valid=valid)

    def verify_(self) -> None:
        source, result = tensor_of(self.source.type), TileType.of(self.result.type)
        if result.element_type != source.element_type:
            raise VerifyException(
                f"result should hold {source.element_type}, as the tensor, "
                f"got {result.element_type}"
            )
        type = self.indices.type
        on_chip = isinstance(type, TileType)
        indices = type if on_chip else tensor_of(type)
        expect_element_types("indices", indices.element_type, (i32,))
        in_l1 = result.memory_space is MemorySpace.MAT
        if result.memory_space is not None and on_chip == in_l1:
            where = "in global memory" if in_l1 else "on chip"
            raise VerifyException(f"indices of what goes to {result.memory_space} are {where}")
        gathered = self.gathered(source, indices, self.coalesce.data)
        if result.get_shape() != gathered.get_shape():
            shown = "x".join(map(str, gathered.get_shape()))
            raise VerifyException(f"result should have the shape {shown}, got {result}")
        if on_chip and result.valid_shape != gathered.valid_shape:
            raise VerifyException(
                f"result should be valid as far as its indices, {list(gathered.valid_shape)}, "
                f"got {result}"
            )
        self._verify_scratch(source, result)

    def _verify_scratch(self, source: TensorType[Attribute], result: TileType) -> None:
        in_l1 = not isinstance(self.indices.type, TileType)
        if not in_l1 or self.coalesce.data is Coalesce.ROW:
            if self.scratch is not None:
                raise VerifyException("only elements that go to L1 pass through scratch")
            return
        if self.scratch is None:
            raise VerifyException("elements that go to L1 pass through scratch in global memory")
        if self.scratch in (self.source, self.indices):
            raise VerifyException("scratch should be a tensor of its own")
        scratch = tensor_of(self.scratch.type)
        if scratch.element_type != source.element_type:
            raise VerifyException(
                f"scratch should hold {source.element_type}, as the tensor, got {scratch}"
            )
        extents = (*scratch.get_shape(), *result.get_shape())
        if DYNAMIC_INDEX not in extents and prod(scratch.get_shape()) < prod(result.get_shape()):
            raise VerifyException(f"scratch should hold all of {result}, got {scratch}")
