"""Ops that fill tiles: what lies outside the valid region, sequences, triangles, a scalar."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, f16, f32, i16, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, lives_with, names, reads, updates
from pypto_xdsl.dialects.element_types import (
    SCALAR,
    UI16,
    UI32,
    expect_element_types,
    expect_integers,
    promote,
)
from pypto_xdsl.dialects.ptensor.attributes import PadValue, PadValueAttr
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp, like
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import TypedOp, Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_attr, boolean_prop, word_prop

VEC = (MemorySpace.VEC,)


class PadOp(InferringTileOp, ABC):
    """The operand with all that is not valid set to the pad value; all of the result is valid."""

    ROWWISE: ClassVar[bool] = True
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    source = operand_def(reads(TILE, spaces=(MemorySpace.VEC, MemorySpace.MAT)))
    pad_value = word_prop(PadValueAttr, PadValueAttr(PadValue.ZERO))
    result = result_def(lives_with("source", TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source = TileType.of(operands[0])
        pad = properties["pad_value"]
        assert isinstance(pad, PadValueAttr)
        if pad.data is PadValue.NULL:
            raise VerifyException("pad_value should be zero, max or min")
        return (
            TileType(
                source.get_shape(),
                source.element_type,
                source.memory_space,
                layout=source.layout,
                pad=pad.data,
            ),
        )


@irdl_op_definition
class FillpadOp(PadOp):
    """The tile with all that is not valid set to the pad value."""

    name = "tile.fillpad"


@irdl_op_definition
class FillpadInplaceOp(PadOp):
    """The tile with all that is not valid set to the pad value, in the same buffer."""

    name = "tile.fillpad_inplace"

    source = operand_def(updates(TILE, spaces=(MemorySpace.VEC, MemorySpace.MAT)))
    result = result_def(names("source", TILE))


@irdl_op_definition
class FillpadExpandOp(TypedOp):
    """The valid region in a larger tile whose other elements are the pad value."""

    name = "tile.fillpad_expand"
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    pad_value = word_prop(PadValueAttr, PadValueAttr(PadValue.ZERO))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    def __init__(self, source: Value, shape: Sequence[int], pad_value: PadValue = PadValue.ZERO):
        source = SSAValue.get(source)
        tile = TileType.of(source.type)
        result_type = TileType(shape, tile.element_type, tile.memory_space, pad=pad_value)
        self._fill([result_type], {"pad_value": PadValueAttr(pad_value)}, source=source)

    def verify_(self) -> None:
        source, result = TileType.of(self.source.type), TileType.of(self.result.type)
        if self.pad_value.data is PadValue.NULL:
            raise VerifyException("pad_value should be zero, max or min")
        if source.element_type != result.element_type:
            raise VerifyException(
                f"result should hold {source.element_type}, got {result.element_type}"
            )
        if result.valid_shape != result.get_shape() or result.pad_value is not self.pad_value.data:
            raise VerifyException(
                f"result should be wholly valid and padded with {self.pad_value.data}, got {result}"
            )
        if source.get_num_dims() != result.get_num_dims() or any(
            DYNAMIC_INDEX not in (small, large) and small > large
            for small, large in zip(source.get_shape(), result.get_shape(), strict=True)
        ):
            raise VerifyException(f"result should be no smaller than {source}, got {result}")


@irdl_op_definition
class ExpandsOp(InferringTileOp):
    """The scalar in each element; the target only gives the shape."""

    name = "tile.expands"
    ROWWISE: ClassVar[bool] = True
    PARALLEL_AXES: ClassVar[tuple[int, ...]] = (0, 1)

    target = operand_def(reads(TILE, spaces=VEC))
    scalar = operand_def(reads(SCALAR))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        target, scalar = TileType.of(operands[0]), operands[1]
        assert scalar is not None
        return (like(target, element_type=promote(target.element_type, scalar)),)


class GeneratorOp(TypedOp, ABC):
    """A tile whose elements follow from their place, of the type that the result has."""

    DTYPES: ClassVar[tuple[Attribute, ...]]
    """The element types that it makes."""

    def verify_(self) -> None:
        result = TileType.of(self.results[0].type)
        expect_element_types("result", result.element_type, self.DTYPES)


@irdl_op_definition
class CiOp(GeneratorOp):
    """`start + k` in column k of a single row; `start - k` if descending. Integers wrap."""

    name = "tile.ci"
    DTYPES: ClassVar[tuple[Attribute, ...]] = (i16, i32, UI16, UI32)

    start = operand_def(reads(SCALAR))
    descending = boolean_prop(False)
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    def __init__(self, start: Value, result_type: TileType, *, descending: bool = False):
        self._fill([result_type], {"descending": boolean_attr(descending)}, start=start)

    def verify_(self) -> None:
        super().verify_()
        result = TileType.of(self.result.type)
        if self.start.type != result.element_type:
            raise VerifyException(f"start should be {result.element_type}, got {self.start.type}")
        *rows, columns = result.get_shape()
        if any(extent != 1 for extent in rows) or columns == 1:
            raise VerifyException(f"result should be a single row of several columns, got {result}")


@irdl_op_definition
class TriOp(GeneratorOp):
    """
    1 in row r and column c where `c <= r + diagonal`, 0 elsewhere; if `upper`, 1 where
    `c >= r + diagonal`.
    """

    name = "tile.tri"
    DTYPES: ClassVar[tuple[Attribute, ...]] = (i16, i32, UI16, UI32, f16, f32)

    diagonal = operand_def(reads(SCALAR))
    upper = boolean_prop(False)
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    def __init__(self, diagonal: Value, result_type: TileType, *, upper: bool = False):
        self._fill([result_type], {"upper": boolean_attr(upper)}, diagonal=diagonal)

    def verify_(self) -> None:
        super().verify_()
        expect_integers(self.diagonal.type)
        if TileType.of(self.result.type).get_num_dims() != 2:
            raise VerifyException(f"result should have two dimensions, got {self.result.type}")
