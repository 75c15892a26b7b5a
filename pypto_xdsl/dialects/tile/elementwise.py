"""
Elementwise ops of the `tile` dialect on tiles alone, by family; those that take a scalar are in
`elementwise_scalar`.

To add one: subclass the family's base, give the name, and one line that says what each element
of the result is. Everything else (operands, effects, spaces, inference, text) is the family's.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, f16, f32, i16, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Commutative
from xdsl.utils.exceptions import VerifyException

from pypto_xdsl.dialects.declared_op import lives_in, reads, workspace
from pypto_xdsl.dialects.element_types import (
    as_element_type,
    bit_width,
    expect_element_types,
    expect_integers,
    promote,
)
from pypto_xdsl.dialects.extents import broadcast_shapes
from pypto_xdsl.dialects.ptensor.attributes import RoundMode, RoundModeAttr
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE, InferringTileOp, like
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Types, Value
from pypto_xdsl.syntax.op_syntax import boolean_prop, type_prop, word_prop

VEC = (MemorySpace.VEC,)


def infer_broadcast(*tiles: TileType) -> TileType:
    """Shapes broadcast, element types promote; the valid region and the view are the first's."""
    shape = tiles[0].get_shape()
    element_type: Attribute = tiles[0].element_type
    for tile in tiles[1:]:
        shape = broadcast_shapes(shape, tile.get_shape())
        element_type = promote(element_type, tile.element_type)
    return like(tiles[0], shape, element_type)


class ElementwiseOp(InferringTileOp, ABC):
    """An op that computes each element of its result from those at the same place."""

    ELEMENTWISE: ClassVar[bool] = True


class BinaryOp(ElementwiseOp, ABC):
    """`f(lhs, rhs)` of two tiles."""

    INTEGERS: ClassVar[bool] = False
    """Whether both operands must hold integers."""

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (TileType.of(type) for type in operands[:2])
        if cls.INTEGERS:
            expect_integers(lhs.element_type, rhs.element_type)
        return (infer_broadcast(lhs, rhs),)


class BinaryWithWorkspaceOp(BinaryOp, ABC):
    """`f(lhs, rhs)` of two tiles, with scratch of their type."""

    # xDSL puts the operands of a subclass first: all are said again, in their order.
    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))


class TernaryOp(ElementwiseOp, ABC):
    """`f(lhs, rhs, third)` of three tiles."""

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(TILE, spaces=VEC))
    third = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (infer_broadcast(*(TileType.of(type) for type in operands)),)


class UnaryOp(ElementwiseOp, ABC):
    """`f(operand)` of one tile."""

    DTYPES: ClassVar[tuple[Attribute, ...]] = ()
    """The element types it takes; empty: any."""

    operand = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile = TileType.of(operands[0])
        if cls.DTYPES:
            expect_element_types("operand", tile.element_type, cls.DTYPES)
        return (tile,)


# Two tiles.


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`; integers wrap."""

    name = "tile.add"
    traits = traits_def(Commutative())


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`; integers wrap."""

    name = "tile.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`; integers wrap."""

    name = "tile.mul"
    traits = traits_def(Commutative())


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`; integers truncate towards zero, a float by zero gives an infinity or nan."""

    name = "tile.div"

    high_precision = boolean_prop(False)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (TileType.of(type) for type in operands)
        expect_element_types("lhs", lhs.element_type, (i16, i32, f16, f32))
        if lhs.element_type != rhs.element_type:
            raise VerifyException(
                f"operands should have one element type, got {lhs.element_type}"
                f" and {rhs.element_type}"
            )
        if lhs.get_shape() != rhs.get_shape() or lhs.valid_shape != rhs.valid_shape:
            raise VerifyException("operands should have one shape and one valid region")
        return (lhs,)


@irdl_op_definition
class MaximumOp(BinaryOp):
    """The larger of `lhs` and `rhs`."""

    name = "tile.maximum"
    traits = traits_def(Commutative())


@irdl_op_definition
class MinimumOp(BinaryOp):
    """The smaller of `lhs` and `rhs`."""

    name = "tile.minimum"
    traits = traits_def(Commutative())


@irdl_op_definition
class FmodOp(BinaryOp):
    """The remainder of `lhs / rhs` with the sign of `lhs`."""

    name = "tile.fmod"
    IN_PLACE: ClassVar[bool] = False


@irdl_op_definition
class AndOp(BinaryOp):
    """Bitwise `lhs & rhs`."""

    name = "tile.and"
    traits = traits_def(Commutative())
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class OrOp(BinaryOp):
    """Bitwise `lhs | rhs`."""

    name = "tile.or"
    traits = traits_def(Commutative())
    INTEGERS: ClassVar[bool] = True


class ShiftOp(BinaryOp, ABC):
    """A shift of `lhs` by `rhs` bits, whose result has the element type of `lhs`."""

    INTEGERS: ClassVar[bool] = True

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        lhs, rhs = (TileType.of(type) for type in operands)
        expect_integers(lhs.element_type, rhs.element_type)
        return (like(lhs, broadcast_shapes(lhs.get_shape(), rhs.get_shape())),)


@irdl_op_definition
class ShlOp(ShiftOp):
    """`lhs << rhs`; a count of the width or more is undefined."""

    name = "tile.shl"


@irdl_op_definition
class ShrOp(ShiftOp):
    """`lhs >> rhs`, arithmetic for signed and logical for unsigned elements."""

    name = "tile.shr"


class PartOp(BinaryOp, ABC):
    """An op on two tiles of which other parts are valid."""


@irdl_op_definition
class PartAddOp(PartOp):
    """`lhs + rhs` where both are valid, the valid one where only one is."""

    name = "tile.part_add"


@irdl_op_definition
class PartMulOp(PartOp):
    """`lhs * rhs` where both are valid, the valid one where only one is."""

    name = "tile.part_mul"


@irdl_op_definition
class PartMaxOp(PartOp):
    """The larger where both are valid, the valid one where only one is."""

    name = "tile.part_max"


@irdl_op_definition
class PartMinOp(PartOp):
    """The smaller where both are valid, the valid one where only one is."""

    name = "tile.part_min"


@irdl_op_definition
class XorOp(BinaryWithWorkspaceOp):
    """Bitwise `lhs ^ rhs`."""

    name = "tile.xor"
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class RemOp(BinaryWithWorkspaceOp):
    """The remainder of `lhs / rhs` with the sign of `rhs`, computed in f32."""

    name = "tile.rem"


# Three operands.


@irdl_op_definition
class AddcOp(TernaryOp):
    """`lhs + rhs + third`."""

    name = "tile.addc"


@irdl_op_definition
class SubcOp(TernaryOp):
    """`lhs - rhs + third`."""

    name = "tile.subc"


@irdl_op_definition
class PreluOp(ElementwiseOp):
    """`operand` where it is positive, else `operand * slope`."""

    name = "tile.prelu"
    IN_PLACE: ClassVar[bool] = False

    operand = operand_def(reads(TILE, spaces=VEC))
    slope = operand_def(reads(TILE, spaces=VEC))
    tmp = operand_def(workspace(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile, slope, tmp = (TileType.of(type) for type in operands)
        expect_element_types("operand", tile.element_type, (f16, f32))
        if (slope.get_shape(), slope.element_type, slope.valid_shape) != (
            tile.get_shape(),
            tile.element_type,
            tile.valid_shape,
        ):
            raise VerifyException(f"slope should agree with the operand {tile}, got {slope}")
        # A row of bits for each row, and one more.
        *_, rows, columns = tile.valid_shape
        *_, mask_rows, mask_columns = tmp.get_shape()
        fits = mask_rows > rows and mask_columns * bit_width(tmp.element_type) >= columns
        if DYNAMIC_INDEX not in (mask_rows, mask_columns) and not fits:
            raise VerifyException(f"tmp should have a bit for each element and one more row: {tmp}")
        return (tile,)


# One tile.


@irdl_op_definition
class AbsOp(UnaryOp):
    """The absolute value."""

    name = "tile.abs"


@irdl_op_definition
class ExpOp(UnaryOp):
    """e to the power of the operand."""

    name = "tile.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """The natural logarithm; of zero -infinity, of a negative number nan."""

    name = "tile.log"
    DTYPES: ClassVar[tuple[Attribute, ...]] = (f16, f32)
    high_precision = boolean_prop(False)


@irdl_op_definition
class NegOp(UnaryOp):
    """The negative; integers wrap."""

    name = "tile.neg"


@irdl_op_definition
class NotOp(UnaryOp):
    """The bitwise complement, of 16-bit integers."""

    name = "tile.not"

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile = TileType.of(operands[0])
        expect_integers(tile.element_type)
        if bit_width(tile.element_type) != 16:
            raise VerifyException(f"operand dtype should have 16 bits, got {tile.element_type}")
        return (tile,)


@irdl_op_definition
class RecipOp(UnaryOp):
    """`1 / operand`."""

    name = "tile.recip"
    IN_PLACE: ClassVar[bool] = False
    high_precision = boolean_prop(False)


@irdl_op_definition
class ReluOp(UnaryOp):
    """`max(operand, 0)`."""

    name = "tile.relu"
    DTYPES: ClassVar[tuple[Attribute, ...]] = (i32, f16, f32)


@irdl_op_definition
class SqrtOp(UnaryOp):
    """The square root; of a negative number nan."""

    name = "tile.sqrt"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`1 / sqrt(operand)`; scratch selects the precise form."""

    name = "tile.rsqrt"
    IN_PLACE: ClassVar[bool] = False

    operand = operand_def(reads(TILE, spaces=VEC))
    tmp = opt_operand_def(workspace(TILE, spaces=VEC))


@irdl_op_definition
class SinOp(UnaryOp):
    """The sine, of radians."""

    name = "tile.sin"
    TAKEN_APART_BY: ClassVar[str] = "lower-composite-ops"
    DTYPES: ClassVar[tuple[Attribute, ...]] = (f32,)


@irdl_op_definition
class CosOp(UnaryOp):
    """The cosine, of radians."""

    name = "tile.cos"
    TAKEN_APART_BY: ClassVar[str] = "lower-composite-ops"
    DTYPES: ClassVar[tuple[Attribute, ...]] = (f32,)


@irdl_op_definition
class CastOp(UnaryOp):
    """The operand in another element type, rounded by `mode`."""

    name = "tile.cast"

    target_type = type_prop()
    mode = word_prop(RoundModeAttr, RoundModeAttr(RoundMode.ROUND))

    def __init__(self, operand: Value, target_type: Attribute, mode: RoundMode = RoundMode.ROUND):
        properties = {"target_type": target_type, "mode": RoundModeAttr(mode)}
        super().__init__(operand, properties=properties)

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile = TileType.of(operands[0])
        target = as_element_type(properties["target_type"])
        if target == tile.element_type:
            raise VerifyException(f"a cast from {target} to itself changes nothing")
        return (like(tile, element_type=target),)
