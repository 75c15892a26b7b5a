"""Ops that compute each element of a tile from the elements of tiles in its place."""

from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import PtoOp, Rule, declare, word
from pypto_xdsl.dialects.pto.enumerations import Pipe
from pypto_xdsl.dialects.pto.operands import (
    NEEDED_SCRATCH_TILE,
    READ_TILE,
    SCRATCH_TILE,
    WRITE_TILE,
)
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC
from pypto_xdsl.dialects.pto.syntax import TileOp

V = Pipe.V
ORDINARY = w.Precision.DEFAULT


def precision(attribute: type) -> object:
    """The property that asks for the more exact form of an op."""
    return opt_prop_def(
        word(attribute), default_value=attribute(ORDINARY), prop_name="precisionType"
    )


class UnaryOp(TileOp):
    """`dst = f(src)`"""

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


def _unary(dtypes: r.Dtypes) -> tuple[Rule, ...]:
    return (
        r.in_vec("src", "dst"),
        r.row_major("src", "dst"),
        r.same_dtype("src", "dst"),
        r.dtype("src", dtypes),
        r.same_valid("src", "dst"),
    )


_FLOAT = _unary(r.FLOATS)

TAbsOp = declare(UnaryOp, "TAbsOp", "tabs", "dst = |src|", pipe=V, rules=_FLOAT, in_place=["src"])
TNegOp = declare(
    UnaryOp,
    "TNegOp",
    "tneg",
    "dst = -src; integers wrap",
    pipe=V,
    rules=_unary(r.ARITHMETIC),
    in_place=["src"],
)
TExpOp = declare(
    UnaryOp,
    "TExpOp",
    "texp",
    "dst = e ** src",
    pipe=V,
    rules=_FLOAT,
    in_place=["src"],
    precision_type=precision(a.ExpPrecisionAttr),
)
TLogOp = declare(
    UnaryOp,
    "TLogOp",
    "tlog",
    "dst = ln src",
    pipe=V,
    rules=_FLOAT,
    in_place=["src"],
    precision_type=precision(a.LogPrecisionAttr),
)
TSqrtOp = declare(
    UnaryOp,
    "TSqrtOp",
    "tsqrt",
    "dst = square root of src",
    pipe=V,
    rules=_FLOAT,
    in_place=["src"],
    precision_type=precision(a.SqrtPrecisionAttr),
)
TRecipOp = declare(
    UnaryOp,
    "TRecipOp",
    "trecip",
    "dst = 1 / src",
    pipe=V,
    rules=_FLOAT,
    distinct=[("src", "dst")],
    precision_type=precision(a.RecipPrecisionAttr),
)
TReluOp = declare(
    UnaryOp,
    "TReluOp",
    "trelu",
    "dst = max(src, 0)",
    pipe=V,
    rules=_unary(("i32", "f16", "f32")),
    in_place=["src"],
)
TNotOp = declare(
    UnaryOp,
    "TNotOp",
    "tnot",
    "dst = bitwise not of src",
    pipe=V,
    rules=_unary(("i16",)),
    in_place=["src"],
)


class RsqrtOp(TileOp):
    """`dst = f(src)` with optional workspace"""

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)


TRsqrtOp = declare(
    RsqrtOp,
    "TRsqrtOp",
    "trsqrt",
    "dst = 1 / square root of src; tmp selects the exact form",
    pipe=V,
    rules=[*_FLOAT, r.in_vec("tmp"), r.bytes_at_least("tmp", 32)],
    precision_type=precision(a.RsqrtPrecisionAttr),
)


class BinaryOp(TileOp):
    """`dst = f(src0, src1)`"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


THREE = ("src0", "src1", "dst")


def _tmp_rows_beyond_dst(op: PtoOp) -> str | None:
    """One row more than dst, and a bit for each of its columns."""
    tmp, dst = r.tile_of(op, "tmp"), r.tile_of(op, "dst")
    assert dst is not None
    if tmp is None:
        return None
    rows, cols = dst.valid_shape
    if rows != DYNAMIC and tmp.get_shape()[0] < rows + 1:
        return f"got {tmp.get_shape()[0]} rows for {rows + 1}"
    if DYNAMIC not in (cols, tmp.valid_shape[1]) and tmp.valid_shape[1] < -(-cols // 8):
        return f"got {tmp.valid_shape[1]} valid columns for {-(-cols // 8)}"
    return None


def tmp_covers_dst(rows: int) -> Rule:
    """Workspace of so many rows, as wide as dst."""

    def check(op: PtoOp) -> str | None:
        tmp, dst = r.tile_of(op, "tmp"), r.tile_of(op, "dst")
        assert dst is not None
        if tmp is None:
            return None
        v_row, v_col = tmp.valid_shape
        if v_row != DYNAMIC and v_row < rows:
            return f"got {v_row} rows"
        if DYNAMIC not in (v_col, dst.valid_shape[1]) and v_col < dst.valid_shape[1]:
            return f"got {v_col} columns for {dst.valid_shape[1]}"
        return None

    return Rule(f"tmp to have {rows} valid rows as wide as dst", check)


def _binary(dtypes: r.Dtypes) -> tuple[Rule, ...]:
    return (
        r.in_vec(*THREE),
        r.row_major(*THREE),
        r.same_dtype(*THREE),
        r.dtype("dst", dtypes),
        r.same_valid(*THREE),
    )


_BOTH = ("src0", "src1")
_ARITHMETIC = _binary(r.ARITHMETIC)

TAddOp = declare(
    BinaryOp, "TAddOp", "tadd", "dst = src0 + src1", pipe=V, rules=_ARITHMETIC, in_place=_BOTH
)
TSubOp = declare(
    BinaryOp, "TSubOp", "tsub", "dst = src0 - src1", pipe=V, rules=_ARITHMETIC, in_place=_BOTH
)
TMulOp = declare(
    BinaryOp, "TMulOp", "tmul", "dst = src0 * src1", pipe=V, rules=_ARITHMETIC, in_place=_BOTH
)
TMaxOp = declare(
    BinaryOp, "TMaxOp", "tmax", "dst = max(src0, src1)", pipe=V, rules=_ARITHMETIC, in_place=_BOTH
)
TMinOp = declare(
    BinaryOp, "TMinOp", "tmin", "dst = min(src0, src1)", pipe=V, rules=_ARITHMETIC, in_place=_BOTH
)
TDivOp = declare(
    BinaryOp,
    "TDivOp",
    "tdiv",
    "dst = src0 / src1",
    pipe=V,
    rules=_binary(r.FLOATS),
    in_place=_BOTH,
    precision_type=precision(a.DivPrecisionAttr),
)
TFModOp = declare(
    BinaryOp,
    "TFModOp",
    "tfmod",
    "dst = src0 - trunc(src0 / src1) * src1",
    pipe=V,
    rules=_ARITHMETIC,
    precision_type=precision(a.FmodPrecisionAttr),
)
TAndOp = declare(
    BinaryOp,
    "TAndOp",
    "tand",
    "dst = bitwise and of src0 and src1",
    pipe=V,
    rules=_binary(r.INTEGERS),
    in_place=_BOTH,
)
TOrOp = declare(
    BinaryOp,
    "TOrOp",
    "tor",
    "dst = bitwise or of src0 and src1",
    pipe=V,
    rules=_binary(r.INTEGERS),
    in_place=_BOTH,
)
TShlOp = declare(
    BinaryOp,
    "TShlOp",
    "tshl",
    "dst = src0 shifted left by src1",
    pipe=V,
    rules=_binary(r.INTEGERS),
    in_place=_BOTH,
)
TShrOp = declare(
    BinaryOp,
    "TShrOp",
    "tshr",
    "dst = src0 shifted right by src1, with the sign where it is signed",
    pipe=V,
    rules=_binary(r.INTEGERS),
    in_place=_BOTH,
)
TAddReluOp = declare(
    BinaryOp,
    "TAddReluOp",
    "taddrelu",
    "dst = max(src0 + src1, 0)",
    pipe=V,
    rules=_ARITHMETIC,
    in_place=_BOTH,
    SINCE="0.57",
)


class BinaryScratchOp(TileOp):
    """`dst = f(src0, src1)` with workspace"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TXorOp = declare(
    BinaryScratchOp,
    "TXorOp",
    "txor",
    "dst = bitwise exclusive or of src0 and src1",
    pipe=V,
    rules=[
        *_binary(r.INTEGERS),
        r.in_vec("tmp"),
        r.row_major("tmp"),
        r.same_dtype("dst", "tmp"),
        r.same_valid("dst", "tmp"),
    ],
)
TRemOp = declare(
    BinaryScratchOp,
    "TRemOp",
    "trem",
    "dst = src0 - floor(src0 / src1) * src1",
    pipe=V,
    rules=[
        *_binary(("i32", "f32")),
        r.in_vec("tmp"),
        r.row_major("tmp"),
        r.same_dtype("dst", "tmp"),
        tmp_covers_dst(2),
    ],
    precision_type=precision(a.RemPrecisionAttr),
)


class PreluOp(TileOp):
    """`dst = src0 > 0 ? src0 : src0 * src1`"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TPReluOp = declare(
    PreluOp,
    "TPReluOp",
    "tprelu",
    "dst = src0 where it is positive, else src0 * src1",
    pipe=V,
    rules=[
        *_binary(r.FLOATS),
        r.same_box(*THREE),
        r.in_vec("tmp"),
        r.row_major("tmp"),
        r.dtype("tmp", ("i8",)),
        Rule("tmp to hold a row more than dst and a bit a column", _tmp_rows_beyond_dst),
    ],
    distinct=[
        ("src0", "src1"),
        ("src0", "tmp"),
        ("src1", "tmp"),
        ("src0", "dst"),
        ("src1", "dst"),
        ("tmp", "dst"),
    ],
)


class TernaryOp(TileOp):
    """`dst = f(src0, src1, src2)`"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    src2 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


_FOUR = ("src0", "src1", "src2", "dst")
_TERNARY = (r.in_vec(*_FOUR), r.same_dtype(*_FOUR), r.same_box(*_FOUR))

TAddCOp = declare(
    TernaryOp,
    "TAddCOp",
    "taddc",
    "dst = src0 + src1 + src2",
    pipe=V,
    rules=_TERNARY,
    in_place=_BOTH,
)
TSubCOp = declare(
    TernaryOp,
    "TSubCOp",
    "tsubc",
    "dst = src0 - src1 + src2",
    pipe=V,
    rules=_TERNARY,
    in_place=_BOTH,
)


class PowOp(TileOp):
    """`dst = base ** exp`"""

    base = operand_def(READ_TILE)
    exp = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)


_POWERS = ("i8", "i16", "i32", "f32")


def _tmp_with_floats(op: PtoOp) -> str | None:
    dst = r.tile_of(op, "dst")
    assert dst is not None
    floats = r.dtype_name(dst.element_type, signless=True)[0] != "i"
    if floats == (op.optional_operand("tmp") is not None):
        return None
    return f"got {'no tmp' if floats else 'tmp'} with {r.dtype_name(dst.element_type)}"


POWER_RULES = (
    r.dtype("dst", _POWERS),
    r.no_property("precisionType", "which A2/A3 does not support"),
    Rule("tmp with floating-point elements, and none with integers", _tmp_with_floats),
    r.same_dtype("dst", "tmp"),
    r.same_valid("dst", "tmp"),
)

TPowOp = declare(
    PowOp,
    "TPowOp",
    "tpow",
    "dst = base ** exp",
    pipe=V,
    rules=[
        r.in_vec("base", "exp", "dst", "tmp"),
        r.row_major("base", "exp", "dst", "tmp"),
        r.same_dtype("base", "exp", "dst"),
        r.same_valid("base", "exp", "dst"),
        *POWER_RULES,
    ],
    precision_type=precision(a.PowPrecisionAttr),
    SINCE="0.57",
)
