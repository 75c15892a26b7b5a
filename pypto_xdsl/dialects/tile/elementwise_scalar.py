"""Elementwise ops of the `tile` dialect one of whose operands is a scalar."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, result_def

from pypto_xdsl.dialects.declared_op import lives_in, reads, workspace
from pypto_xdsl.dialects.element_types import SCALAR, expect_integers
from pypto_xdsl.dialects.tile.attributes import MemorySpace
from pypto_xdsl.dialects.tile.base import TILE
from pypto_xdsl.dialects.tile.elementwise import VEC, ElementwiseOp, infer_broadcast
from pypto_xdsl.dialects.tile.types import TileType
from pypto_xdsl.dialects.typed_op import Types


class ScalarOp(ElementwiseOp, ABC):
    """`f(tile, scalar)`; the scalar never promotes the tile."""

    INTEGERS: ClassVar[bool] = False

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(SCALAR))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        tile = TileType.of(operands[0])
        scalar = operands[1]
        assert scalar is not None
        if cls.INTEGERS:
            expect_integers(tile.element_type, scalar)
        return (tile,)


class ScalarWithWorkspaceOp(ScalarOp, ABC):
    """`f(tile, scalar)`, with scratch of the tile's type."""

    # xDSL puts the operands of a subclass first: all are said again, in their order.
    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(SCALAR))
    tmp = operand_def(workspace(TILE, spaces=VEC))


class ScalarTernaryOp(ElementwiseOp, ABC):
    """`f(lhs, scalar, third)` of two tiles and a scalar."""

    lhs = operand_def(reads(TILE, spaces=VEC))
    rhs = operand_def(reads(SCALAR))
    third = operand_def(reads(TILE, spaces=VEC))
    result = result_def(lives_in(MemorySpace.VEC, TILE))

    @classmethod
    def infer(cls, operands: Types, properties: Mapping[str, Attribute]) -> Sequence[Attribute]:
        return (infer_broadcast(TileType.of(operands[0]), TileType.of(operands[2])),)


# A tile and a scalar.


@irdl_op_definition
class AddsOp(ScalarOp):
    """`lhs + scalar`."""

    name = "tile.adds"


@irdl_op_definition
class SubsOp(ScalarOp):
    """`lhs - scalar`."""

    name = "tile.subs"


@irdl_op_definition
class MulsOp(ScalarOp):
    """`lhs * scalar`."""

    name = "tile.muls"


@irdl_op_definition
class DivsOp(ScalarOp):
    """`lhs / scalar`; integers go through f32 and truncate."""

    name = "tile.divs"


@irdl_op_definition
class MaximumsOp(ScalarOp):
    """The larger of `lhs` and the scalar."""

    name = "tile.maximums"


@irdl_op_definition
class MinimumsOp(ScalarOp):
    """The smaller of `lhs` and the scalar."""

    name = "tile.minimums"


@irdl_op_definition
class FmodsOp(ScalarOp):
    """The remainder of `lhs / scalar` with the sign of `lhs`."""

    name = "tile.fmods"


@irdl_op_definition
class LreluOp(ScalarOp):
    """`lhs` where it is positive, else `lhs * scalar`."""

    name = "tile.lrelu"


@irdl_op_definition
class AndsOp(ScalarOp):
    """Bitwise `lhs & scalar`."""

    name = "tile.ands"
    INTEGERS: ClassVar[bool] = True
    IN_PLACE: ClassVar[bool] = False


@irdl_op_definition
class OrsOp(ScalarOp):
    """Bitwise `lhs | scalar`."""

    name = "tile.ors"
    INTEGERS: ClassVar[bool] = True
    IN_PLACE: ClassVar[bool] = False


@irdl_op_definition
class ShlsOp(ScalarOp):
    """`lhs << scalar`."""

    name = "tile.shls"
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class ShrsOp(ScalarOp):
    """`lhs >> scalar`."""

    name = "tile.shrs"
    INTEGERS: ClassVar[bool] = True


@irdl_op_definition
class RemsOp(ScalarWithWorkspaceOp):
    """The remainder of `lhs / scalar` with the sign of the scalar, computed in f32."""

    name = "tile.rems"


@irdl_op_definition
class XorsOp(ScalarWithWorkspaceOp):
    """Bitwise `lhs ^ scalar`."""

    name = "tile.xors"
    INTEGERS: ClassVar[bool] = True
    IN_PLACE: ClassVar[bool] = False


@irdl_op_definition
class AddscOp(ScalarTernaryOp):
    """`lhs + scalar + third`."""

    name = "tile.addsc"


@irdl_op_definition
class SubscOp(ScalarTernaryOp):
    """`lhs - scalar + third`."""

    name = "tile.subsc"
