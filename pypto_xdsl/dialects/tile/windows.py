"""Parts of a tile: named (`slice`), copied out (`extract`), written (`assemble`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, bf16, f16, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_freely, names, reads, updates, views
from pypto_xdsl.dialects.extents import verify_extents, verify_window
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, ReifiesValidShapeInterface
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Cut, TypedOp, Value
from pypto_xdsl.syntax.lists import Index, mixed_indices
from pypto_xdsl.syntax.op_syntax import (
    indices_prop,
    subscript_prop,
)


def window_valid(
    valid: Sequence[int], offsets: Sequence[Index], window: Sequence[int]
) -> tuple[int, ...]:
    """
    What of a window into a tile is valid; `DYNAMIC_INDEX` where that is known only at run time.

    A window at a run-time offset into a wholly valid extent is itself wholly valid.
    """
    extents: list[int] = []
    for inner, offset, size in zip(valid, offsets, window, strict=True):
        if offset == 0 and inner == size:
            extents.append(size)
        elif isinstance(offset, SSAValue) or inner == DYNAMIC_INDEX:
            extents.append(DYNAMIC_INDEX)
        else:
            extents.append(max(0, min(inner - offset, size)))
    return tuple(extents)


def _verify_within_valid(
    source: TileType, offsets: Sequence[Index], window: TileType, what: str
) -> None:
    """Raise if the window counts elements as valid that certainly are not so in the source."""
    whole = [
        size if valid == extent else found
        for valid, extent, size, found in zip(
            source.valid_shape,
            source.get_shape(),
            window.get_shape(),
            window_valid(source.valid_shape, offsets, window.get_shape()),
            strict=True,
        )
    ]
    for claimed, limit in zip(window.valid_shape, whole, strict=True):
        if DYNAMIC_INDEX not in (claimed, limit) and claimed > limit:
            raise VerifyException(
                f"{what} counts {claimed} elements as valid where the source has {limit}"
            )


def _cut_windows(
    offsets: Sequence[Index], whole: SSAValue, part: SSAValue, *others: SSAValue
) -> Iterator[Cut]:
    """Along axes of which a window has all, it is cut with what it is a window of."""
    shapes = [TileType.of(value.type).get_shape() for value in (whole, part)]
    if len(shapes[0]) != len(shapes[1]):
        return
    for axis, (offset, extent, size) in enumerate(zip(offsets, *shapes, strict=True)):
        if offset == 0 and extent == size:
            yield [(value, axis) for value in (whole, part, *others)]


@irdl_op_definition
class SliceOp(TypedOp, ReifiesValidShapeInterface):
    """
    A window of a tile at the given offsets; no element moves.

    The result's type gives the window's shape and valid region; `valid` gives the extents that
    its type leaves to run time. The window keeps the layout of the tile that it is in.
    """

    name = "tile.slice"

    source = operand_def(reads(TILE))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    valid = var_operand_def(IndexType)
    static_valid = indices_prop("valid")
    result = result_def(views("source", TILE))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        source: Value,
        offsets: Sequence[Index],
        result_type: TileType,
        valid: Sequence[Index] = (),
    ):
        self._fill([result_type], source=source, offsets=offsets, valid=valid)

    def cut_together(self) -> Iterator[Cut]:
        return _cut_windows(self.window_offsets, self.source, self.result)

    @staticmethod
    def window(tile: TileType, offsets: Sequence[Index], shape: Sequence[int]) -> TileType:
        """The type of the window of this shape at these offsets of a tile."""
        valid = [
            size if valid == extent else found
            for valid, extent, size, found in zip(
                tile.valid_shape,
                tile.get_shape(),
                shape,
                window_valid(tile.valid_shape, offsets, shape),
                strict=True,
            )
        ]
        return TileType(
            shape,
            tile.element_type,
            tile.memory_space,
            valid=valid,
            layout=tile.layout,
            pad=tile.pad_value,
            compact=tile.is_compact,
        )

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the window starts, one a dimension."""
        return mixed_indices(self.static_offsets, self.offsets)

    @property
    def valid_extents(self) -> Sequence[Index]:
        """The run-time extents of the valid region, if it has any."""
        return mixed_indices(self.static_valid, self.valid)

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        offsets = self.window_offsets
        verify_extents("valid", self.valid_extents, result.valid_shape)
        if result.get_num_dims() != source.get_num_dims():
            raise VerifyException(
                f"a window of {source.get_num_dims()} dimensions has no {result.get_num_dims()}"
            )
        verify_window("the tile", offsets, result.get_shape(), source.get_shape())
        _verify_within_valid(source, offsets, result, "the window")
        kept = (
            ("element type", source.element_type, result.element_type),
            ("memory space", source.memory_space, result.memory_space),
            ("layout", source.layout, result.layout),
        )
        for what, wanted, got in kept:
            if wanted != got:
                raise VerifyException(f"a window keeps the {what} of {source}, got {result}")


@irdl_op_definition
class ExtractOp(TypedOp):
    """A copy of a window of a tile, in the memory space and layout that the result's type says."""

    name = "tile.extract"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    result = result_def(lives_freely(TILE))

    def __init__(self, source: Value, offsets: Sequence[Index], result_type: TileType):
        self._fill([result_type], source=source, offsets=offsets)

    def cut_together(self) -> Iterator[Cut]:
        return _cut_windows(self.window_offsets, self.source, self.result)

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the window starts: row and column."""
        return mixed_indices(self.static_offsets, self.offsets)

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        offsets = self.window_offsets
        if not source.get_num_dims() == result.get_num_dims() == 2:
            raise VerifyException("operand and result should have two dimensions")
        verify_window("the tile", offsets, result.get_shape(), source.get_shape())
        _verify_within_valid(source, offsets, result, "the result")
        # The accumulator's drain converts on the way.
        converts = source.memory_space is MemorySpace.ACC
        if source.element_type != result.element_type and not converts:
            raise VerifyException(
                f"result should hold {source.element_type}, as the tile, got {result.element_type}"
            )


@irdl_op_definition
class AssembleOp(TypedOp):
    """
    The destination with the source written at the given offsets; all of the source is written,
    whatever of it is valid. A source in L0C is rounded from f32 to f16 or bf16 on the way.
    """

    name = "tile.assemble"

    source = operand_def(reads(TILE))
    destination = operand_def(updates(TILE))
    offsets = var_operand_def(IndexType)
    static_offsets = subscript_prop()
    result = result_def(names("destination", TILE))

    def __init__(
        self,
        source: Value,
        destination: Value,
        offsets: Sequence[Index],
        result_type: Attribute | None = None,
    ):
        destination = SSAValue.get(destination)
        source = SSAValue.get(source)
        if result_type is None:
            result_type = self.assembled(
                TileType.of(source.type), TileType.of(destination.type), offsets
            )
        self._fill([result_type], source=source, destination=destination, offsets=offsets)

    @classmethod
    def default_result_operand(cls) -> int:
        return 1

    def cut_together(self) -> Iterator[Cut]:
        return _cut_windows(self.window_offsets, self.destination, self.source, self.result)

    @staticmethod
    def assembled(source: TileType, destination: TileType, offsets: Sequence[Index]) -> TileType:
        """
        The type of the destination after the write: valid where it was or the source is now, if
        that is a region of leading rows and columns, else where it was.
        """
        if destination.valid_shape == destination.get_shape():
            return destination
        valid = destination.valid_shape
        if DYNAMIC_INDEX in (*valid, *source.valid_shape):
            return destination
        if any(isinstance(offset, SSAValue) for offset in offsets):
            return destination
        ends = [
            offset + extent
            for offset, extent in zip(offsets, source.valid_shape, strict=True)
            if isinstance(offset, int)
        ]
        grown = tuple(max(was, end) for was, end in zip(valid, ends, strict=True))
        added = [
            place for place, (was, now) in enumerate(zip(valid, grown, strict=True)) if now > was
        ]
        covered = all(
            offsets[place] == 0 and ends[place] >= grown[place]
            for place in range(len(grown))
            if place not in added
        )
        reaches = all(
            isinstance(offset := offsets[place], int) and offset <= valid[place] for place in added
        )
        if len(added) == 1 and covered and reaches:
            return destination.with_valid(grown)
        if all(offset == 0 for offset in offsets) and all(
            end >= was for end, was in zip(ends, valid, strict=True)
        ):
            return destination.with_valid(grown)
        return destination

    @property
    def window_offsets(self) -> Sequence[Index]:
        """Where the source goes, one a dimension."""
        return mixed_indices(self.static_offsets, self.offsets)

    def verify_(self) -> None:
        source, target = TileType.of(self.source.type), TileType.of(self.destination.type)
        drained = source.element_type == f32 and target.element_type in (f16, bf16)
        if source.element_type != target.element_type and not drained:
            raise VerifyException(
                f"source should hold {target.element_type}, got {source.element_type}"
            )
        if source.get_num_dims() != target.get_num_dims():
            raise VerifyException(
                f"source should have {target.get_num_dims()} dimensions, "
                f"got {source.get_num_dims()}"
            )
        verify_window(
            "the destination", self.window_offsets, source.get_shape(), target.get_shape()
        )
        result = TileType.of(self.result.type)
        if result.with_valid(None) != target.with_valid(None):
            raise VerifyException(f"result should be the destination {target}, got {result}")
