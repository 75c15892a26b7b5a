"""
Sorting, by blocks of 32 and by merging of sorted runs.

The sorted lists are of *pairs*: eight bytes that hold a value and its index. In elements of the
value's type a pair takes two columns of f32 or four of f16.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, BoolAttr, f16, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
)
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, reads, workspace
from pypto_xdsl.dialects.element_types import (
    SCALAR,
    UI32,
    byte_width,
    expect_element_types,
    expect_integers,
)
from pypto_xdsl.dialects.ptensor.sort import PAIR_BYTES, SORTED_BLOCK
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_prop

VEC = (MemorySpace.VEC,)


@irdl_op_definition
class Sort32Op(InferringTileOp):
    """
    Each 32 elements of a row as pairs, from the largest value to the smallest; equal values by
    their index.
    """

    name = "tile.sort32"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    indices = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, indices = (TileType.of(type) for type in operands)
        expect_element_types("source", source.element_type, (f16, f32))
        expect_element_types("indices", indices.element_type, (UI32,))
        *rows, columns = source.get_shape()
        *valid_rows, valid = source.valid_shape
        if columns == DYNAMIC_INDEX or columns % SORTED_BLOCK:
            raise VerifyException(f"the columns of source should be a multiple of 32: {source}")
        width = PAIR_BYTES // byte_width(source.element_type)
        return (
            TileType(
                (*rows, columns * width),
                source.element_type,
                source.memory_space,
                valid=(*valid_rows, DYNAMIC_INDEX if valid == DYNAMIC_INDEX else valid * width),
            ),
        )


@irdl_op_definition
class MrgsortFormat1Op(InferringTileOp):
    """
    Each four sorted runs of `block_len` columns merged into one; the columns are a whole number of
    such groups.
    """

    name = "tile.mrgsort_format1"
    IN_PLACE: ClassVar[bool] = False

    source = operand_def(reads(TILE, spaces=VEC))
    block_len = operand_def(reads(SCALAR))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        source, block_len = TileType.of(operands[0]), operands[1]
        assert block_len is not None
        expect_element_types("source", source.element_type, (f16, f32))
        expect_integers(block_len)
        return (source,)


@irdl_op_definition
class MrgsortFormat2Op(InferringTileOp):
    """
    Two to four sorted lists merged into one; `exhausted` stops when the first of them ends.

    The result has the shape of the scratch.
    """

    name = "tile.mrgsort_format2"
    IN_PLACE: ClassVar[bool] = False

    first = operand_def(reads(TILE, spaces=VEC))
    second = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    third = opt_operand_def(reads(TILE, spaces=VEC))
    fourth = opt_operand_def(reads(TILE, spaces=VEC))
    exhausted = boolean_prop(False)
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(self, sources: Sequence[Value], tmp: Value, *, exhausted: bool = False):
        first, second, *more = sources
        properties = {"exhausted": BoolAttr.from_bool(exhausted)}
        super().__init__(first, second, tmp, *more, properties=properties)

    @property
    def sources(self) -> Sequence[SSAValue]:
        """The lists, in order."""
        lists = (self.first, self.second, self.third, self.fourth)
        return [source for source in lists if source is not None]

    @classmethod
    def workspace_type(cls, name: str, operands: Types) -> TileType:
        # All lists go through it.
        first, second, _, third, fourth = operands
        lists = [TileType.of(type) for type in (first, second, third, fourth) if type is not None]
        columns = sum(tile.get_shape()[-1] for tile in lists)
        return lists[0].with_shape((*lists[0].get_shape()[:-1], columns))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        first, tmp = TileType.of(operands[0]), TileType.of(operands[2])
        expect_element_types("first", first.element_type, (f16, f32))
        for name, type in zip(("second", "tmp", "third", "fourth"), operands[1:], strict=True):
            if type is not None and TileType.of(type).element_type != first.element_type:
                raise VerifyException(f"{name} should hold {first.element_type}, got {type}")
        if operands[3] is None and operands[4] is not None:
            raise VerifyException("a fourth list needs a third")
        return (tmp.with_valid(None),)
