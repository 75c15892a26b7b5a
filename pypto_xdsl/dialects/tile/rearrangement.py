"""Ops that put tiles together, turn them over or read their bytes as something else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, lives_with, reads, views, workspace
from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.tile.attributes import MemorySpace, TileLayout
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp
from pypto_xdsl.dialects.tile.memory import ViewOp
from pypto_xdsl.dialects.tile.types import Layout, TileType
from pypto_xdsl.dialects.typed_op import Cut, Types, Value
from pypto_xdsl.syntax.op_syntax import integer_attr, integer_prop

VEC = (MemorySpace.VEC,)


@irdl_op_definition
class ConcatOp(InferringTileOp):
    """The valid columns of `lhs`, then those of `rhs`."""

    name = "tile.concat"
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0,)
    IN_PLACE: ClassVar[bool] = False

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (TileType.of(type) for type in operands)
        if not lhs.get_num_dims() == rhs.get_num_dims() == 2:
            raise VerifyException("operands should have two dimensions")
        if lhs.element_type != rhs.element_type:
            raise VerifyException(
                f"operands should have one element type, got {lhs.element_type} "
                f"and {rhs.element_type}"
            )
        rows = (lhs.get_shape()[0], lhs.valid_shape[0])
        if rows != (rhs.get_shape()[0], rhs.valid_shape[0]):
            raise VerifyException(f"operands should have the same rows, got {lhs} and {rhs}")
        return (
            TileType(
                (rows[0], _sum(lhs.get_shape()[1], rhs.get_shape()[1])),
                lhs.element_type,
                lhs.memory_space,
                valid=(rows[1], _sum(lhs.valid_shape[1], rhs.valid_shape[1])),
            ),
        )


def _sum(lhs: int, rhs: int) -> int:
    return DYNAMIC_INDEX if DYNAMIC_INDEX in (lhs, rhs) else lhs + rhs


@irdl_op_definition
class TransposeOp(InferringTileOp):
    """A copy with two axes swapped, and its valid region with them."""

    name = "tile.transpose"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE))
    tmp = opt_operand_def(workspace(TILE))
    axis1 = integer_prop(0, minimum=0)
    axis2 = integer_prop(1, minimum=0)
    result = result_def(lives_with("source", TILE))

    def cut_together(self) -> Iterator[Cut]:
        axes = (self.axis1.value.data, self.axis2.value.data)
        swapped = dict(zip(axes, reversed(axes), strict=True))
        for axis in range(TileType.of(self.source.type).get_num_dims()):
            yield [(self.source, axis), (self.result, swapped.get(axis, axis))]

    def __init__(self, source: Value, tmp: Value | None = None, *, axis1: int = 0, axis2: int = 1):
        properties = {"axis1": integer_attr(axis1), "axis2": integer_attr(axis2)}
        super().__init__(source, tmp, properties=properties)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        axes = [_axis(properties[name], source) for name in ("axis1", "axis2")]
        if axes[0] == axes[1]:
            raise VerifyException("the two axes of a transpose differ")
        if operands[1] is not None:
            tmp = TileType.of(operands[1])
            if tmp.element_type != source.element_type:
                raise VerifyException(f"tmp dtype should be {source.element_type}, got {tmp}")
        shape, valid = _swap(source.get_shape(), *axes), _swap(source.valid_shape, *axes)
        return (TileType(shape, source.element_type, source.memory_space, valid=valid),)


def _axis(attribute: Attribute, tile: TileType) -> int:
    assert isinstance(attribute, IntegerAttr)
    axis = attribute.value.data
    if axis >= tile.get_num_dims():
        raise VerifyException(f"axis {axis} of a tile of {tile.get_num_dims()} dimensions")
    return axis


def _swap(extents: Sequence[int], axis1: int, axis2: int) -> tuple[int, ...]:
    swapped = list(extents)
    swapped[axis1], swapped[axis2] = swapped[axis2], swapped[axis1]
    return tuple(swapped)


_FLIPPED = {
    TileLayout.ROW_MAJOR: TileLayout.COL_MAJOR,
    TileLayout.COL_MAJOR: TileLayout.ROW_MAJOR,
    TileLayout.NONE_BOX: TileLayout.NONE_BOX,
}


@irdl_op_definition
class TransposeViewOp(InferringTileOp):
    """The transpose of a tile, by reading its bytes in the other order; no element moves."""

    name = "tile.transpose_view"

    source = operand_def(reads(TILE))
    result = result_def(views("source", TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        rank = source.get_num_dims()
        if rank < 2:
            raise VerifyException(f"source should have at least two dimensions, got {source}")
        layout = source.layout
        return (
            TileType(
                _swap(source.get_shape(), rank - 2, rank - 1),
                source.element_type,
                source.memory_space,
                valid=_swap(source.valid_shape, rank - 2, rank - 1),
                layout=Layout(_FLIPPED[layout.blayout], _FLIPPED[layout.slayout], layout.fractal),
                pad=source.pad_value,
            ),
        )


@irdl_op_definition
class ReinterpretViewOp(ViewOp):
    """
    The bytes of a tile as elements of another type, by default in as many rows; no element moves.

    Only for tiles whose bytes are not in boxes.
    """

    name = "tile.reinterpret_view"
    ROWWISE: ClassVar[bool] = True

    source = operand_def(reads(TILE))
    result = result_def(views("source", TILE))

    @staticmethod
    def reinterpreted(tile: TileType, element_type: Attribute) -> TileType:
        """The type of `tile` read as elements of another type, its last dimension scaled."""
        width = byte_width(element_type)
        scaled: list[int] = []
        for extents in (tile.get_shape(), tile.valid_shape):
            if extents[-1] == DYNAMIC_INDEX:
                scaled.append(DYNAMIC_INDEX)
                continue
            row = extents[-1] * byte_width(tile.element_type)
            if row % width:
                raise VerifyException(f"rows of {row} bytes hold no whole number of {element_type}")
            scaled.append(row // width)
        with_type = tile.with_element_type(element_type)  # pyright: ignore[reportArgumentType]
        return with_type.with_shape(
            (*tile.get_shape()[:-1], scaled[0]), (*tile.valid_shape[:-1], scaled[1])
        )

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        if source.memory_space is not result.memory_space:
            raise VerifyException("result should be in the memory space of the operand")
        for tile in (source, result):
            if tile.layout.slayout is not TileLayout.NONE_BOX:
                raise VerifyException(f"a tile in boxes has no other elements, got {tile}")
        shapes = (*source.get_shape(), *result.get_shape())
        if DYNAMIC_INDEX in shapes:
            return
        sizes = [
            prod(tile.get_shape()) * byte_width(tile.element_type) for tile in (source, result)
        ]
        if sizes[0] != sizes[1]:
            raise VerifyException(f"a tile of {sizes[0]} bytes is none of {sizes[1]}")
