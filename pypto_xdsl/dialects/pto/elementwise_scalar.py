"""Ops that compute each element of a tile from the element in its place and a number."""

from xdsl.dialects.builtin import IntegerType
from xdsl.irdl import operand_def, opt_operand_def

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    OperandInfo,
    PtoOp,
    Role,
    Rule,
    declare,
)
from pypto_xdsl.dialects.pto.elementwise import POWER_RULES, THREE, V, precision, tmp_covers_dst
from pypto_xdsl.dialects.pto.operands import (
    F32,
    FLOAT_TYPES,
    NEEDED_SCRATCH_TILE,
    READ_TILE,
    SCALAR,
    SCRATCH_TILE,
    SIGNLESS,
    UPDATE_TILE,
    WRITE_TILE,
)
from pypto_xdsl.dialects.pto.syntax import TileOp
from pypto_xdsl.dialects.pto.tile_types import TileBufType


class ScalarOp(TileOp):
    """`dst = f(src, scalar)`"""

    src = operand_def(READ_TILE)
    scalar = operand_def(SCALAR)
    dst = operand_def(WRITE_TILE)


def _scalar(dtypes: r.Dtypes) -> tuple[Rule, ...]:
    return (
        r.in_vec("src", "dst"),
        r.same_dtype("src", "dst"),
        r.dtype("src", dtypes),
        r.same_valid("src", "dst"),
    )


_SCALAR = _scalar(r.ARITHMETIC)
_SRC = ("src",)

TAddSOp = declare(
    ScalarOp, "TAddSOp", "tadds", "dst = src + scalar", pipe=V, rules=_SCALAR, in_place=_SRC
)
TSubSOp = declare(
    ScalarOp, "TSubSOp", "tsubs", "dst = src - scalar", pipe=V, rules=_SCALAR, in_place=_SRC
)
TMulSOp = declare(
    ScalarOp, "TMulSOp", "tmuls", "dst = src * scalar", pipe=V, rules=_SCALAR, in_place=_SRC
)
TMaxSOp = declare(
    ScalarOp, "TMaxSOp", "tmaxs", "dst = max(src, scalar)", pipe=V, rules=_SCALAR, in_place=_SRC
)
TMinSOp = declare(
    ScalarOp, "TMinSOp", "tmins", "dst = min(src, scalar)", pipe=V, rules=_SCALAR, in_place=_SRC
)
TFModSOp = declare(
    ScalarOp,
    "TFModSOp",
    "tfmods",
    "dst = src - trunc(src / scalar) * scalar",
    pipe=V,
    rules=[*_SCALAR, r.row_major("src", "dst"), r.scalar_of("scalar", "src")],
)


class SlopeOp(TileOp):
    """`dst = src > 0 ? src : src * slope`"""

    src = operand_def(READ_TILE)
    slope = operand_def(F32)
    dst = operand_def(WRITE_TILE)


TLReluOp = declare(
    SlopeOp,
    "TLReluOp",
    "tlrelu",
    "dst = src where it is positive, else src * slope",
    pipe=V,
    rules=_scalar(r.FLOATS),
    in_place=_SRC,
)


class IntegerScalarOp(TileOp):
    """`dst = f(src, scalar)`, the scalar a signless integer of any width"""

    src = operand_def(READ_TILE)
    scalar = operand_def(SIGNLESS)
    dst = operand_def(WRITE_TILE)


_BITWISE = (*_scalar(r.BITWISE), r.row_major("src", "dst"))

TAndSOp = declare(
    IntegerScalarOp,
    "TAndSOp",
    "tands",
    "dst = bitwise and of src and scalar",
    pipe=V,
    rules=_BITWISE,
    distinct=[("src", "dst")],
)
TOrSOp = declare(
    IntegerScalarOp,
    "TOrSOp",
    "tors",
    "dst = bitwise or of src and scalar",
    pipe=V,
    rules=_BITWISE,
    distinct=[("src", "dst")],
)
TShlSOp = declare(
    IntegerScalarOp,
    "TShlSOp",
    "tshls",
    "dst = src shifted left by scalar",
    pipe=V,
    rules=[*_scalar(("i8", "i16", "i32", "i64")), r.constant_at_least("scalar", 0)],
    in_place=_SRC,
)
TShrSOp = declare(
    IntegerScalarOp,
    "TShrSOp",
    "tshrs",
    "dst = src shifted right by scalar, with the sign where it is signed",
    pipe=V,
    rules=[
        *_scalar(("i16", "i32")),
        r.row_major("src", "dst"),
        r.constant_at_least("scalar", 0),
    ],
    in_place=_SRC,
)


class IntegerScalarScratchOp(TileOp):
    """`dst = f(src, scalar)` with workspace, the scalar a signless integer"""

    src = operand_def(READ_TILE)
    scalar = operand_def(SIGNLESS)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TXorSOp = declare(
    IntegerScalarScratchOp,
    "TXorSOp",
    "txors",
    "dst = bitwise exclusive or of src and scalar",
    pipe=V,
    rules=[*_BITWISE, r.in_vec("tmp"), r.row_major("tmp"), r.same_dtype("dst", "tmp")],
    distinct=[("src", "dst")],
)


class ScalarScratchOp(TileOp):
    """`dst = f(src, scalar)` with workspace"""

    src = operand_def(READ_TILE)
    scalar = operand_def(SCALAR)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TRemSOp = declare(
    ScalarScratchOp,
    "TRemSOp",
    "trems",
    "dst = src - floor(src / scalar) * scalar",
    pipe=V,
    rules=[
        *_scalar(("i32", "f32")),
        r.row_major("src", "dst", "tmp"),
        r.in_vec("tmp"),
        r.same_dtype("dst", "tmp"),
        tmp_covers_dst(1),
    ],
)


class TwoTilesScalarOp(TileOp):
    """`dst = f(src0, scalar, src1)`"""

    src0 = operand_def(READ_TILE)
    scalar = operand_def(SCALAR)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


_TWO_TILES = (r.in_vec(*THREE), r.same_dtype(*THREE), r.same_box(*THREE))

TAddSCOp = declare(
    TwoTilesScalarOp,
    "TAddSCOp",
    "taddsc",
    "dst = src0 + scalar + src1",
    pipe=V,
    rules=_TWO_TILES,
    in_place=("src0",),
)
TSubSCOp = declare(
    TwoTilesScalarOp,
    "TSubSCOp",
    "tsubsc",
    "dst = src0 - scalar + src1",
    pipe=V,
    rules=_TWO_TILES,
    in_place=("src0",),
)


class AxpyOp(TileOp):
    """`dst += scalar * src`"""

    src = operand_def(READ_TILE)
    scalar = operand_def(SCALAR)
    dst = operand_def(UPDATE_TILE)


TAxpyOp = declare(
    AxpyOp,
    "TAxpyOp",
    "taxpy",
    "dst = dst + scalar * src",
    pipe=V,
    rules=[
        r.in_vec("src", "dst"),
        r.row_major("src", "dst"),
        r.dtype("src", r.FLOATS),
        r.dtype("dst", r.FLOATS),
        r.scalar_of("scalar", "src"),
        r.same_box("src", "dst"),
        r.same_valid("src", "dst"),
    ],
)


class PowSOp(TileOp):
    """`dst = src ** scalar`"""

    src = operand_def(READ_TILE)
    scalar = operand_def(SCALAR)
    dst = operand_def(WRITE_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)


TPowSOp = declare(
    PowSOp,
    "TPowSOp",
    "tpows",
    "dst = src ** scalar",
    pipe=V,
    rules=[
        r.in_vec("src", "dst", "tmp"),
        r.row_major("src", "dst", "tmp"),
        r.same_dtype("src", "dst"),
        r.same_valid("src", "dst"),
        *POWER_RULES,
    ],
    precision_type=precision(a.PowPrecisionAttr),
    SINCE="0.57",
)


TILE_OR_SCALAR = OperandConstraint(
    (TileBufType, IntegerType, *FLOAT_TYPES), Role.READ, "a tile or a number"
)


class DivScalarOp(TileOp):
    """`dst = src / scalar`; either of the two is the tile, in the order of the text"""

    src = operand_def(TILE_OR_SCALAR)
    scalar = operand_def(TILE_OR_SCALAR)
    dst = operand_def(WRITE_TILE)

    def role_of(self, info: OperandInfo) -> Role:
        if info.name == "dst" or isinstance(self.operand(info.name).type, TileBufType):
            return info.role
        return Role.VALUE


def _one_tile(op: PtoOp) -> str | None:
    tiles = [tile for name in ("src", "scalar") if (tile := r.tile_of(op, name)) is not None]
    if len(tiles) != 1:
        return f"got {len(tiles)} tiles"
    dst = op.operand("dst").type
    assert isinstance(dst, TileBufType)
    if tiles[0].element_type != dst.element_type:
        return f"got {r.dtype_name(tiles[0].element_type)} and {r.dtype_name(dst.element_type)}"
    return None


TDivSOp = declare(
    DivScalarOp,
    "TDivSOp",
    "tdivs",
    "dst = src / scalar, one of them a tile",
    pipe=V,
    rules=[
        r.in_vec("src", "scalar", "dst"),
        Rule("one tile of dst's element type and one number", _one_tile),
        r.dtype("dst", r.ARITHMETIC),
        r.same_valid("src", "scalar", "dst"),
    ],
    in_place=["src", "scalar"],
    precision_type=precision(a.DivPrecisionAttr),
)
