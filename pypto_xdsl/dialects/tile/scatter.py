"""Ops that spread elements by index or by mask, in tiles and to global memory."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import i16, i32
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import names, reads, updates, writes
from pypto_xdsl.dialects.element_types import byte_width, expect_element_types, expect_integers
from pypto_xdsl.dialects.ptensor.attributes import MaskPatternAttr
from pypto_xdsl.dialects.ptensor.types import TENSOR, tensor_of
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Types
from pypto_xdsl.syntax.op_syntax import word_prop

VEC = (MemorySpace.VEC,)


class ScatterIntoOp(InferringTileOp, ABC):
    """An op whose result is its destination, written in places."""

    destination = operand_def(updates(TILE, spaces=VEC))
    source = operand_def(reads(TILE, spaces=VEC))
    result = result_def(names("destination", TILE))


@irdl_op_definition
class ScatterOp(ScatterIntoOp):
    """
    `destination.flat[indices[r, c]] = source[r, c]`, row by row, the last one wins.

    The rest of the destination becomes zero: the hardware clears it first.
    """

    name = "tile.scatter"
    FAILS_BY_ELEMENTS: ClassVar[bool] = True

    destination = operand_def(updates(TILE, spaces=VEC))
    source = operand_def(reads(TILE, spaces=VEC))
    indices = operand_def(reads(TILE, spaces=VEC))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        destination, source, indices = (TileType.of(type) for type in operands)
        if source.element_type != destination.element_type:
            raise VerifyException(
                f"source should hold {destination.element_type}, got {source.element_type}"
            )
        if source.get_shape() != indices.get_shape():
            raise VerifyException(f"indices should have the shape of {source}, got {indices}")
        allowed = (i32,) if byte_width(source.element_type) == 4 else (i16,)
        expect_element_types("indices", indices.element_type, allowed)
        return (destination,)


@irdl_op_definition
class ScatterMaskOp(ScatterIntoOp):
    """
    The columns of the source in those of the destination that a pattern selects.

    The others become zero, except where the pattern selects all: the hardware clears the
    destination first.
    """

    name = "tile.scatter_mask"

    mask_pattern = word_prop(MaskPatternAttr)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        destination, source = (TileType.of(type) for type in operands)
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
        return (destination,)


@irdl_op_definition
class ScatterUpdateOp(ScatterIntoOp):
    """The destination with row `indices.flat[k]` replaced by row k of the source."""

    name = "tile.scatter_update"
    TAKEN_APART_BY: ClassVar[str] = "lower-composite-ops"
    FAILS_BY_ELEMENTS: ClassVar[bool] = True

    destination = operand_def(updates(TILE, spaces=VEC))
    indices = operand_def(reads(TILE, spaces=VEC))
    source = operand_def(reads(TILE, spaces=VEC))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        destination, indices, source = (TileType.of(type) for type in operands)
        verify_scatter_update(
            destination.get_shape(),
            destination.element_type,
            indices.get_shape(),
            indices.element_type,
            source.get_shape(),
            source.element_type,
        )
        return (destination,)


def verify_scatter_update(
    destination: Sequence[int],
    element_type: Attribute,
    indices: Sequence[int],
    index_type: Attribute,
    source: Sequence[int],
    source_type: Attribute,
) -> None:
    """Raise unless the source has a row of the destination for each index."""
    expect_integers(index_type)
    if source_type != element_type:
        raise VerifyException(f"source should hold {element_type}, got {source_type}")
    if len(destination) not in (2, 4) or len(source) != len(destination):
        raise VerifyException("destination and source should both have two dimensions, or four")
    if source[-1] != destination[-1]:
        raise VerifyException(
            f"source should have rows of {destination[-1]} elements, got {source[-1]}"
        )


@irdl_op_definition
class MscatterOp(InferringTileOp):
    """
    `destination.flat[indices[r, c]] = source[r, c]`, in global memory, the last one wins; its next
    name.
    """

    name = "tile.mscatter"
    ELEMENTWISE: ClassVar[bool] = True
    FAILS_BY_ELEMENTS: ClassVar[bool] = True

    source = operand_def(reads(TILE, spaces=VEC))
    indices = operand_def(reads(TILE, spaces=VEC))
    destination = operand_def(writes(TENSOR))
    result = result_def(names("destination", TENSOR))

    @classmethod
    def default_result_operand(cls) -> int:
        return 2

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, indices = (TileType.of(type) for type in operands[:2])
        destination = tensor_of(operands[2])
        expect_element_types("indices", indices.element_type, (i32,))
        if source.element_type != destination.element_type:
            raise VerifyException(
                f"source should hold {destination.element_type}, as the tensor, "
                f"got {source.element_type}"
            )
        if source.get_shape() != indices.get_shape():
            raise VerifyException(f"indices should have the shape of {source}, got {indices}")
        return (destination,)
