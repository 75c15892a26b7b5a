"""Ops that create tensors, name windows of them, and read and write them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import names, reads, views, writes
from pypto_xdsl.dialects.element_types import SCALAR
from pypto_xdsl.dialects.extents import verify_extents, verify_window
from pypto_xdsl.dialects.ptensor.attributes import (
    AtomicKind,
)
from pypto_xdsl.dialects.ptensor.elementwise import FRESH
from pypto_xdsl.dialects.ptensor.types import (
    TENSOR,
    explicit_strides_of,
    layout_of,
    pad_value_of,
    symbolic_shape_of,
    tensor_of,
    tensor_type,
    valid_shape_of,
)
from pypto_xdsl.dialects.ptensor.window_writes import WindowWriteOp
from pypto_xdsl.dialects.typed_op import TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices, split_indices
from pypto_xdsl.syntax.op_syntax import (
    INDEX,
    indices_prop,
    integer_attr,
    integer_prop,
    subscript_prop,
)


@irdl_op_definition
class CreateOp(TypedOp):
    """
    A new buffer in global memory; its elements are undefined. The discardable attribute
    `orch.manual_dep` says that only `deps` order the tasks that are given the tensor itself.
    """

    name = "ptensor.create"

    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")
    result = result_def(FRESH)

    def __init__(self, result_type: TensorType[Attribute], sizes: Sequence[Index] = ()):
        self._fill([result_type], sizes=sizes)

    @property
    def extents(self) -> Sequence[Index]:
        """The run-time extents, if the tensor has any."""
        return mixed_indices(self.static_sizes, self.sizes)

    def verify_(self) -> None:
        verify_extents("sizes", self.extents, tensor_of(self.result.type).get_shape())


@irdl_op_definition
class FullOp(TypedOp):
    """A new buffer that holds one value everywhere."""

    name = "ptensor.full"

    value = operand_def(reads(SCALAR))
    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")
    result = result_def(FRESH)

    def __init__(
        self, value: Value, result_type: TensorType[Attribute], sizes: Sequence[Index] = ()
    ):
        self._fill([result_type], value=value, sizes=sizes)

    @property
    def extents(self) -> Sequence[Index]:
        """The run-time extents, if the tensor has any."""
        return mixed_indices(self.static_sizes, self.sizes)

    def verify_(self) -> None:
        result = tensor_of(self.result.type)
        verify_extents("sizes", self.extents, result.get_shape())
        if self.value.type != result.element_type:
            raise VerifyException(f"value should be {result.element_type}, got {self.value.type}")


class ViewOp(TypedOp, ABC):
    """An op whose result names its operand's buffer, or a window of it; no element moves."""

    READS_ELEMENTS: ClassVar[bool] = False

    source = operand_def(reads(TENSOR))
    result = result_def(names("source", TENSOR))

    def verify_element_type(self) -> None:
        """Raise unless the view holds elements of the source's type."""
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        if source.element_type != result.element_type:
            raise VerifyException(
                f"result should hold {source.element_type}, got {result.element_type}"
            )


@irdl_op_definition
class SliceOp(ViewOp):
    """
    A window of a tensor at the given offsets.

    The result's type gives the window's shape; `sizes` gives the extents that its type leaves to
    run time. Leading dimensions of extent 1 may be left out of the result.
    """

    name = "ptensor.slice"

    source = operand_def(reads(TENSOR))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")
    result = result_def(views("source", TENSOR))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        source: Value,
        offsets: Sequence[Index],
        result_type: TensorType[Attribute],
        sizes: Sequence[Index] = (),
    ):
        self._fill([result_type], source=source, offsets=offsets, sizes=sizes)

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the window starts, one a dimension of the source."""
        return mixed_indices(self.static_offsets, self.offsets)

    def window_start(self, result: OpResult) -> Sequence[Index]:
        return self.window_offsets

    @property
    def extents(self) -> Sequence[Index]:
        """The run-time extents of the window, if it has any."""
        return mixed_indices(self.static_sizes, self.sizes)

    def verify_(self) -> None:
        self.verify_element_type()
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        verify_extents("sizes", self.extents, result.get_shape())
        dropped = source.get_num_dims() - result.get_num_dims()
        if dropped < 0:
            raise VerifyException(
                f"a window of {source.get_num_dims()} dimensions has no {result.get_num_dims()}"
            )
        # What is not valid may hang over the edge of the tensor.
        window = (1,) * dropped + valid_shape_of(result)
        verify_window("the tensor", self.window_offsets, window, source.get_shape())


class SizedViewOp(ViewOp, ABC):
    """A view in the shape of its type; `sizes` gives the run-time extents."""

    source = operand_def(reads(TENSOR))
    sizes = var_operand_def(IndexType)
    static_sizes = indices_prop("sizes")
    result = result_def(views("source", TENSOR))

    def __init__(
        self, source: Value, result_type: TensorType[Attribute], sizes: Sequence[Index] = ()
    ):
        self._fill([result_type], source=source, sizes=sizes)

    @property
    def extents(self) -> Sequence[Index]:
        """The run-time extents of the result, if it has any."""
        return mixed_indices(self.static_sizes, self.sizes)


@irdl_op_definition
class ReshapeOp(SizedViewOp):
    """The same buffer in another shape, row by row."""

    name = "ptensor.reshape"

    def verify_(self) -> None:
        self.verify_element_type()
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        verify_extents("sizes", self.extents, result.get_shape())
        shapes = (source.get_shape(), result.get_shape())
        if DYNAMIC_INDEX in (*shapes[0], *shapes[1]):
            return
        if prod(shapes[0]) != prod(shapes[1]):
            raise VerifyException(
                f"a tensor of {prod(shapes[0])} elements does not reshape to {prod(shapes[1])}"
            )


@irdl_op_definition
class TypeCastOp(ViewOp):
    """
    The same tensor under a more or less specific type: constant, symbolic and run-time extents
    that agree, another encoding. Free.
    """

    name = "ptensor.type_cast"
    IS_ACCESS: ClassVar[bool] = False

    def __init__(self, source: Value, result_type: TensorType[Attribute]):
        self._fill([result_type], source=source)

    def verify_(self) -> None:
        self.verify_element_type()
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        if source.get_num_dims() != result.get_num_dims():
            raise VerifyException("a type cast keeps the number of dimensions")
        for have, want in zip(source.get_shape(), result.get_shape(), strict=True):
            if DYNAMIC_INDEX not in (have, want) and have != want:
                raise VerifyException(f"a type cast keeps extents, {have} is not {want}")


class _ReadsWhere(MemoryEffect):
    """The place in the text counts: what is written before and after stays before and after."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        assert isinstance(op, UpdatedOp)
        return {EffectInstance(MemoryEffectKind.READ, op.source)}


@irdl_op_definition
class UpdatedOp(ViewOp):
    """
    The next name of a tensor whose buffer was written through other names of it, as through a view:
    `by` are the names that the writes gave. Without `by` it is the name after all that was written
    before, as by a call without results. No element moves.
    """

    name = "ptensor.updated"
    IS_ACCESS: ClassVar[bool] = False

    source = operand_def(reads(TENSOR))
    by = var_operand_def(reads(TENSOR))
    result = result_def(names("source", TENSOR))

    traits = traits_def(_ReadsWhere())

    def __init__(self, source: Value, by: Sequence[Value] = ()):
        source = SSAValue.get(source)
        self._fill([source.type], source=source, by=by)

    def updated_by(self, result: OpResult) -> Sequence[SSAValue]:
        return self.by

    def verify_(self) -> None:
        if self.source.type != self.result.type:
            raise VerifyException(f"result should be {self.source.type}, got {self.result.type}")


@irdl_op_definition
class SetValidShapeOp(ViewOp):
    """The same tensor with another valid region."""

    name = "ptensor.set_validshape"

    source = operand_def(reads(TENSOR))
    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")

    def __init__(self, source: Value, valid: Sequence[Index]):
        source = SSAValue.get(source)
        result_type = with_valid(tensor_of(source.type), split_indices(valid)[0])
        self._fill([result_type], source=source, valid=valid)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The extents of the valid region, one a dimension."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        source, result = tensor_of(self.source.type), tensor_of(self.result.type)
        verify_extents("valid", self.valid_extents, valid_shape_of(result), always=True)
        if with_valid(source, None) != with_valid(result, None):
            raise VerifyException(f"only the valid region of {source} may change, got {result}")


def with_valid(tensor: TensorType[Attribute], valid: Sequence[int] | None) -> TensorType[Attribute]:
    """The same tensor type with another valid region."""
    return tensor_type(
        symbolic_shape_of(tensor),
        tensor.element_type,
        valid=valid,
        strides=explicit_strides_of(tensor),
        layout=layout_of(tensor),
        pad=pad_value_of(tensor),
    )


@irdl_op_definition
class DimOp(ViewOp):
    """The extent of a tensor along an axis, in elements. It reads no element."""

    name = "ptensor.dim"
    IS_ACCESS: ClassVar[bool] = False

    axis = integer_prop(minimum=0)
    result = result_def(IndexType)

    def __init__(self, source: Value, axis: int):
        self._fill([INDEX], {"axis": integer_attr(axis)}, source=source)

    def verify_(self) -> None:
        rank = tensor_of(self.source.type).get_num_dims()
        if self.axis.value.data >= rank:
            raise VerifyException(f"axis {self.axis.value.data} of a tensor of {rank} dimensions")


@irdl_op_definition
class AssembleOp(WindowWriteOp):
    """
    Write the valid region of a tensor into another at the given offsets; the result is the
    destination's next name.
    """

    name = "ptensor.assemble"
    READING_ORDER: ClassVar[tuple[str, ...]] = ("destination", "source", "offsets")

    source = operand_def(reads(TENSOR))

    def copied_window(self, result: OpResult) -> tuple[SSAValue, Sequence[Index]] | None:
        is_copy = self.atomic.data is AtomicKind.NONE
        return (self.source, self.window_offsets) if is_copy else None

    def verify_(self) -> None:
        source, target = tensor_of(self.source.type), tensor_of(self.destination.type)
        if source.element_type != target.element_type:
            raise VerifyException(
                f"source should hold {target.element_type}, got {source.element_type}"
            )
        rank = target.get_num_dims()
        if source.get_num_dims() > rank:
            raise VerifyException(
                f"source should have at most {rank} dimensions, got {source.get_num_dims()}"
            )
        window = (1,) * (rank - source.get_num_dims()) + valid_shape_of(source)
        verify_window("the destination", self.window_offsets, window, target.get_shape())
        result = tensor_of(self.result.type)
        if (result.get_shape(), result.element_type) != (target.get_shape(), target.element_type):
            raise VerifyException(f"result should name the destination {target}, got {result}")


@irdl_op_definition
class ReadOp(TypedOp):
    """One element of a tensor."""

    name = "ptensor.read"

    source = operand_def(reads(TENSOR))
    indices = var_operand_def(IndexType)
    static_indices = subscript_prop()
    result = result_def(SCALAR)

    def __init__(self, source: Value, indices: Sequence[Index]):
        source = SSAValue.get(source)
        self._fill([tensor_of(source.type).element_type], source=source, indices=indices)

    @property
    def element(self) -> Sequence[Index]:
        """Which element, one index a dimension."""
        return mixed_indices(self.static_indices, self.indices)

    def verify_(self) -> None:
        tensor = tensor_of(self.source.type)
        verify_window("the tensor", self.element, (1,) * len(self.element), tensor.get_shape())
        if self.result.type != tensor.element_type:
            raise VerifyException(f"result should be {tensor.element_type}, got {self.result.type}")


@irdl_op_definition
class WriteOp(TypedOp):
    """Write one element of a tensor; the result is the tensor's next name."""

    name = "ptensor.write"
    READING_ORDER: ClassVar[tuple[str, ...]] = ("destination", "indices", "value")

    value = operand_def(reads(SCALAR))
    destination = operand_def(writes(TENSOR))
    indices = var_operand_def(IndexType)
    static_indices = subscript_prop()
    result = result_def(names("destination", TENSOR))

    def __init__(self, value: Value, destination: Value, indices: Sequence[Index]):
        destination = SSAValue.get(destination)
        self._fill([destination.type], value=value, destination=destination, indices=indices)

    @classmethod
    def default_result_operand(cls) -> int:
        return 1

    @property
    def element(self) -> Sequence[Index]:
        """Which element, one index a dimension."""
        return mixed_indices(self.static_indices, self.indices)

    def verify_(self) -> None:
        tensor = tensor_of(self.destination.type)
        verify_window("the tensor", self.element, (1,) * len(self.element), tensor.get_shape())
        if self.value.type != tensor.element_type:
            raise VerifyException(f"value should be {tensor.element_type}, got {self.value.type}")
        if self.result.type != tensor:
            raise VerifyException(f"result should be {tensor}, got {self.result.type}")
