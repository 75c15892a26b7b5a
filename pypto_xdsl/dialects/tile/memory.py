"""Ops that create tiles, bring them in and out, and move or reshape them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import (
    lives_freely,
    lives_in,
    names,
    reads,
    updates,
    views,
)
from pypto_xdsl.dialects.element_types import SCALAR
from pypto_xdsl.dialects.extents import reshape_valid, verify_extents, verify_window
from pypto_xdsl.dialects.ptensor.types import TENSOR, tensor_of
from pypto_xdsl.dialects.ptensor.window_writes import WindowWriteOp
from pypto_xdsl.dialects.tile.attributes import CachePolicyAttr, MemorySpace, TileLayout
from pypto_xdsl.dialects.tile.base import TILE, ReifiesValidShapeInterface, made_in
from pypto_xdsl.dialects.tile.types import Layout, TileType
from pypto_xdsl.dialects.typed_op import Cut, TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices, split_indices
from pypto_xdsl.syntax.op_syntax import (
    INDEX,
    indices_prop,
    integer_attr,
    integer_prop,
    opt_word_prop,
    subscript_prop,
)


@irdl_op_definition
class CreateOp(TypedOp, ReifiesValidShapeInterface):
    """A tile whose elements are undefined."""

    name = "tile.create"
    ROWWISE: ClassVar[bool] = True
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")
    result = result_def(lives_freely(TILE))

    def __init__(self, result_type: TileType, valid: Sequence[Index] = ()):
        self._fill([result_type], valid=valid)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The run-time extents of the valid region, if it has any."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        verify_extents("valid", self.valid_extents, TileType.of(self.result.type).valid_shape)


@irdl_op_definition
class FullOp(TypedOp):
    """A tile that holds one value everywhere."""

    name = "tile.full"
    ELEMENTWISE: ClassVar[bool] = True

    value = operand_def(reads(SCALAR))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    def __init__(self, value: Value, result_type: TileType):
        self._fill([result_type], value=value)

    def verify_(self) -> None:
        element_type = TileType.of(self.result.type).element_type
        if self.value.type != element_type:
            raise VerifyException(f"value should be {element_type}, got {self.value.type}")


@irdl_op_definition
class LoadOp(TypedOp, ReifiesValidShapeInterface):
    """
    The window of a tensor at the given offsets, as large as the valid region of the result.

    The result's type gives the window's shape; `valid` gives the extents that its type leaves to
    run time. `cache` says how the bytes go through the cache, where that is not as usual; a `.pto`
    file has no word for it.
    """

    name = "tile.load"

    source = operand_def(reads(TENSOR))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")
    cache = opt_word_prop(CachePolicyAttr)
    result = result_def(lives_freely(TILE))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        source: Value,
        offsets: Sequence[Index],
        result_type: TileType,
        valid: Sequence[Index] = (),
        cache: CachePolicyAttr | None = None,
    ):
        properties = {} if cache is None else {"cache": cache}
        self._fill([result_type], properties, source=source, offsets=offsets, valid=valid)

    def cut_together(self) -> Iterator[Cut]:
        # The parts are windows of the tensor.
        for axis in range(TileType.of(self.result.type).get_num_dims()):
            yield [(self.result, axis)]

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the window starts, one a dimension of the tensor."""
        return mixed_indices(self.static_offsets, self.offsets)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The run-time extents of the valid region, if it has any."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        source = tensor_of(self.source.type)
        tile = TileType.of(self.result.type)
        if tile.element_type != source.element_type:
            raise VerifyException(
                f"result should hold {source.element_type}, as the tensor, got {tile.element_type}"
            )
        if tile.get_num_dims() != source.get_num_dims():
            raise VerifyException(
                f"result should have the {source.get_num_dims()} dimensions of the tensor, "
                f"got {tile.get_num_dims()}"
            )
        verify_extents("valid", self.valid_extents, tile.valid_shape)
        verify_window("the tensor", self.window_offsets, tile.valid_shape, source.get_shape())


@irdl_op_definition
class StoreOp(WindowWriteOp):
    """
    Write the valid region of a tile to a tensor at the given offsets; the result is the tensor's
    next name.
    """

    name = "tile.store"
    READING_ORDER: ClassVar[tuple[str, ...]] = ("source", "offsets", "destination")

    source = operand_def(reads(TILE, spaces=(MemorySpace.VEC, MemorySpace.ACC)))

    def cut_together(self) -> Iterator[Cut]:
        # The parts are windows of the tensor.
        for axis in range(TileType.of(self.source.type).get_num_dims()):
            yield [(self.source, axis)]

    def verify_(self) -> None:
        tile = TileType.of(self.source.type)
        tensor = tensor_of(self.destination.type)
        # The accumulator's drain converts on the way out, see `verify-target`.
        converts = MemorySpace.ACC in (tile.memory_space, made_in(self.source))
        if tile.element_type != tensor.element_type and not converts:
            raise VerifyException(
                f"tile should hold {tensor.element_type}, as the tensor, got {tile.element_type}"
            )
        rank = tensor.get_num_dims()
        if tile.get_num_dims() > rank:
            raise VerifyException(
                f"tile should have at most the {rank} dimensions of the tensor, "
                f"got {tile.get_num_dims()}"
            )
        # A tile of fewer dimensions is a window that is one element deep in the outer ones.
        window = (1,) * (rank - tile.get_num_dims()) + tile.valid_shape
        verify_window("the tensor", self.window_offsets, window, tensor.get_shape())
        result = tensor_of(self.result.type)
        if (result.get_shape(), result.element_type) != (tensor.get_shape(), tensor.element_type):
            raise VerifyException(f"result should name the tensor {tensor}, got {result}")


class ViewOp(TypedOp, ABC):
    """An op that names the storage of its operand; no element moves."""

    source = operand_def(reads(TILE))
    result = result_def(views("source", TILE))

    def __init__(self, source: Value, result_type: TileType):
        self._fill([result_type], source=source)


@irdl_op_definition
class ReshapeOp(ViewOp):
    """
    The same elements in another shape, row by row; no element moves.

    The result is stored in the order that its shape implies. A tile in the vector buffer whose
    bytes are not in the order of its rows has no such view.
    """

    name = "tile.reshape"
    ROWWISE: ClassVar[bool] = True

    def cut_together(self) -> Iterator[Cut]:
        source, result = (
            TileType.of(value.type).get_shape() for value in (self.source, self.result)
        )
        # Along the axes that both have, up to what differs. Leading parts are runs of elements.
        axes = [[axis for axis, extent in enumerate(s) if extent != 1] for s in (source, result)]
        pairs = list(zip(*axes, strict=False))
        differs = [source[a] for a in axes[0]] != [result[b] for b in axes[1]]
        for a, b in pairs[:1] if differs else pairs:
            if source[a] == result[b]:
                yield [(self.source, a), (self.result, b)]

    @staticmethod
    def reshaped(tile: TileType, shape: Sequence[int]) -> TileType:
        """
        The type of `tile` in another shape; pad value and memory space stay.

        Raises `VerifyException` if its valid region is no rectangle in that shape.
        """
        valid = reshape_valid(tile.get_shape(), tile.valid_shape, shape)
        return tile.with_shape(shape, valid)

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        if source.element_type != result.element_type:
            raise VerifyException(
                f"result should hold {source.element_type}, got {result.element_type}"
            )
        if source.memory_space is not result.memory_space:
            raise VerifyException("result should be in the memory space of the operand")
        shapes = (source.get_shape(), result.get_shape())
        if DYNAMIC_INDEX in (*shapes[0], *shapes[1]):
            return
        if prod(shapes[0]) != prod(shapes[1]):
            raise VerifyException(
                f"a tile of {prod(shapes[0])} elements does not reshape to {prod(shapes[1])}"
            )
        if result.memory_space in (None, MemorySpace.VEC):
            for tile in (source, result):
                if shapes[0] != shapes[1] and not _is_row_by_row(tile):
                    raise VerifyException(f"the bytes of {tile} are not in the order of its rows")
        valid = reshape_valid(shapes[0], source.valid_shape, shapes[1])
        if result.valid_shape != valid:
            wanted = TileType(shapes[1], result.element_type, result.memory_space, valid=valid)
            raise VerifyException(f"result should have the valid region of {wanted}, got {result}")


def _is_row_by_row(tile: TileType) -> bool:
    """Whether the elements lie in the order of the rows, as those of a column do."""
    layout = tile.layout
    if layout.slayout is not TileLayout.NONE_BOX:
        return False
    # The layout is that of the matrix of the last dimension by all others.
    *rows, columns = tile.get_shape()
    return columns == 1 or prod(rows) == 1 or layout.blayout is TileLayout.ROW_MAJOR


@irdl_op_definition
class MoveOp(TypedOp):
    """A copy into another memory space, or into another layout in the same one."""

    name = "tile.move"
    ROWWISE: ClassVar[bool] = True
    IN_PLACE: ClassVar[bool] = False
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    source = operand_def(reads(TILE))
    result = result_def(lives_freely(TILE))

    def __init__(self, source: Value, result_type: TileType):
        self._fill([result_type], source=source)

    @staticmethod
    def moved(tile: TileType, space: MemorySpace, layout: Layout | None = None) -> TileType:
        """
        The type of `tile` after a move. Without a `layout` the tile has that of the destination
        space, but into the vector and bias buffers it keeps its own.
        """
        keeps = space in (MemorySpace.VEC, MemorySpace.BIAS)
        if layout is None and keeps:
            layout = tile.layout
        return TileType(
            tile.get_shape(),
            tile.element_type,
            space,
            valid=tile.valid_shape,
            layout=layout,
            pad=tile.pad_value,
        )

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        kept = (
            ("shape", source.get_shape(), result.get_shape()),
            (
                "valid region",
                source.valid_shape,
                result.valid_shape,
            ),
        )
        for what, wanted, got in kept:
            if wanted != got:
                raise VerifyException(f"a move keeps the {what} {list(wanted)}, got {list(got)}")
        # The accumulator's drain converts on the way, see `verify-target`.
        converts = source.memory_space is MemorySpace.ACC
        if source.element_type != result.element_type and not converts:
            raise VerifyException(
                f"a move keeps the element type {source.element_type}, got {result.element_type}"
            )
        if result.memory_space is None:
            raise VerifyException("a move says in its result's type where it moves the tile")


@irdl_op_definition
class SetValidShapeOp(TypedOp, ReifiesValidShapeInterface):
    """
    The same tile with another valid region; no element moves. A tile one box high need not stay
    compact: its rows lie the same either way. What pads it may be forgotten.
    """

    name = "tile.set_validshape"
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    source = operand_def(reads(TILE))
    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")
    result = result_def(names("source", TILE))

    def __init__(
        self,
        source: Value,
        valid: Sequence[Index],
        *,
        compact: bool | None = None,
        keeps_pad: bool = True,
    ):
        source = SSAValue.get(source)
        result_type = TileType.of(source.type).with_valid(split_indices(valid)[0])
        if compact is not None:
            result_type = result_type.with_compact(compact)
        if not keeps_pad:
            result_type = result_type.without_pad()
        self._fill([result_type], source=source, valid=valid)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The extents of the valid region, one a dimension."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        verify_extents("valid", self.valid_extents, result.valid_shape, always=True)
        wanted = source.with_valid(None)
        if source.is_one_box_high:
            wanted = wanted.with_compact(result.is_compact)
        if result == result.without_pad():
            wanted = wanted.without_pad()
        if wanted != result.with_valid(None):
            raise VerifyException(f"only the valid region of {source} may change, got {result}")


@irdl_op_definition
class ValidDimOp(TypedOp):
    """The extent of the valid region along an axis, in elements."""

    name = "tile.valid_dim"

    source = operand_def(reads(TILE))
    axis = integer_prop(minimum=0)
    result = result_def(IndexType)

    def __init__(self, source: Value, axis: int):
        self._fill([INDEX], {"axis": integer_attr(axis)}, source=source)

    def verify_(self) -> None:
        rank = TileType.of(self.source.type).get_num_dims()
        if self.axis.value.data >= rank:
            raise VerifyException(f"axis {self.axis.value.data} of a tile of {rank} dimensions")


@irdl_op_definition
class ReadOp(TypedOp):
    """One element of a tile."""

    name = "tile.read"

    source = operand_def(reads(TILE, spaces=(MemorySpace.VEC,)))
    indices = var_operand_def(IndexType)
    static_indices = subscript_prop()
    result = result_def(SCALAR)

    def __init__(self, source: Value, indices: Sequence[Index]):
        source = SSAValue.get(source)
        self._fill([TileType.of(source.type).element_type], source=source, indices=indices)

    @property
    def element(self) -> Sequence[Index]:
        """Which element, one index a dimension."""
        return mixed_indices(self.static_indices, self.indices)

    def verify_(self) -> None:
        tile = TileType.of(self.source.type)
        verify_window("the tile", self.element, (1,) * len(self.element), tile.get_shape())
        if self.result.type != tile.element_type:
            raise VerifyException(f"result should be {tile.element_type}, got {self.result.type}")


@irdl_op_definition
class WriteOp(TypedOp):
    """The tile with one element replaced."""

    name = "tile.write"

    value = operand_def(reads(SCALAR))
    destination = operand_def(updates(TILE, spaces=(MemorySpace.VEC,)))
    indices = var_operand_def(IndexType)
    static_indices = subscript_prop()
    result = result_def(names("destination", TILE))

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
        tile = TileType.of(self.destination.type)
        verify_window("the tile", self.element, (1,) * len(self.element), tile.get_shape())
        if self.value.type != tile.element_type:
            raise VerifyException(f"value should be {tile.element_type}, got {self.value.type}")
        if self.result.type != tile:
            raise VerifyException(f"result should be {tile}, got {self.result.type}")
