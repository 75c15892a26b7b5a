"""Ops that fold the rows or columns of a tile, and those that spread a vector over one."""

from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr
from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import BOOL, PtoOp, Rule, declare
from pypto_xdsl.dialects.pto.elementwise import precision
from pypto_xdsl.dialects.pto.enumerations import BLayout, Pipe
from pypto_xdsl.dialects.pto.operands import (
    NEEDED_SCRATCH_TILE,
    READ_TILE,
    SCRATCH_TILE,
    WRITE_TILE,
)
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, element_bytes
from pypto_xdsl.dialects.pto.syntax import TileOp
from pypto_xdsl.dialects.pto.tile_buffer import BLOCK_BYTES
from pypto_xdsl.dialects.pto.tile_types import TileBufType

V = Pipe.V
REPEAT_BYTES = 256
"""Bytes that one repeat of a vector instruction covers."""

INDICES = ("i32",)


class FoldOp(TileOp):
    """`dst = fold(src)` over one axis"""

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


class FoldScratchOp(TileOp):
    """`dst = fold(src)` over one axis, with workspace"""

    src = operand_def(READ_TILE)
    tmp = opt_operand_def(NEEDED_SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


def _pair(op: PtoOp) -> tuple[TileBufType, TileBufType]:
    src, dst = op.operand("src").type, op.operand("dst").type
    assert isinstance(src, TileBufType)
    assert isinstance(dst, TileBufType)
    return src, dst


def _is_empty(tile: TileBufType) -> bool:
    """A valid shape of 0x0: the op is replayed for its order only and writes nothing."""
    return tile.valid_shape == (0, 0)


def _is_column(op: PtoOp) -> str | None:
    """A reduced column: [N, 1] column-major, or row-major with one valid column."""
    _, dst = _pair(op)
    if dst.blayout == BLayout.COL_MAJOR and dst.get_shape()[1] != 1:
        return f"got a col_major box of {r.shape_text(dst.get_shape())}"
    return None


_COLUMN = Rule("dst to be a column, if it is col_major", _is_column)


def _row_region(*, may_be_empty: bool) -> Rule:
    def check(op: PtoOp) -> str | None:
        src, dst = _pair(op)
        if may_be_empty and _is_empty(dst):
            return None
        (rows, cols), (dst_rows, dst_cols) = src.valid_shape, dst.valid_shape
        if 0 in (rows, cols):
            return f"got an empty src, {r.shape_text(src.valid_shape)}"
        if DYNAMIC not in (rows, dst_rows) and rows != dst_rows:
            return f"got {rows} and {dst_rows} rows"
        if dst_cols not in (DYNAMIC, 1):
            return f"got {dst_cols} columns"
        return None

    return Rule("src valid_shape[0] in dst, and dst valid_shape[1] to be 1", check)


def _col_region(*, may_be_empty: bool) -> Rule:
    def check(op: PtoOp) -> str | None:
        src, dst = _pair(op)
        if may_be_empty and _is_empty(dst):
            return None
        if not may_be_empty and 0 in src.valid_shape:
            return f"got an empty src, {r.shape_text(src.valid_shape)}"
        cols, dst_cols = src.valid_shape[1], dst.valid_shape[1]
        if DYNAMIC not in (cols, dst_cols) and cols != dst_cols:
            return f"got {cols} and {dst_cols} columns"
        return None

    return Rule("src valid_shape[1] in dst", check)


def _arg_stride(src: TileBufType) -> int | None:
    """Fewest columns of the workspace of an arg reduction, None if not known."""
    cols = src.valid_shape[1]
    if cols == DYNAMIC:
        return None
    size = element_bytes(src.element_type)
    per_repeat, per_block = REPEAT_BYTES // size, BLOCK_BYTES // size
    repeats = -(-cols // per_repeat)
    return (-(-2 * repeats // per_block) + -(-repeats // per_block)) * per_block


def _wide_enough(src: TileBufType, tmp: TileBufType) -> str | None:
    least = _arg_stride(src)
    if least is not None and tmp.valid_shape[1] != DYNAMIC and tmp.valid_shape[1] < least:
        return f"tmp valid_shape[1] to be at least {least}, got {tmp.valid_shape[1]}"
    return None


def _col_arg_tmp(op: PtoOp) -> str | None:
    src, tmp = _pair(op)[0], r.tile_of(op, "tmp")
    if tmp is None or tmp.valid_shape == src.valid_shape:
        return None
    if tmp.blayout != BLayout.ROW_MAJOR:
        return f"tmp to use blayout=row_major, got {tmp.blayout}"
    if tmp.valid_shape[0] == 0:
        return "tmp valid_shape[0] to be at least 1, got 0"
    return _wide_enough(src, tmp)


def _row_arg_tmp(op: PtoOp) -> str | None:
    src, tmp = _pair(op)[0], r.tile_of(op, "tmp")
    if tmp is None or tmp.valid_shape == src.valid_shape:
        return None
    (rows, cols), (tmp_rows, tmp_cols) = src.valid_shape, tmp.valid_shape
    short = cols != DYNAMIC and cols <= REPEAT_BYTES // element_bytes(src.element_type)
    if short and tmp.blayout == BLayout.COL_MAJOR and not tmp.is_boxed:
        if tmp.get_shape()[1] != 1 or tmp_cols not in (DYNAMIC, 1):
            return f"col_major tmp to have one column, got {r.shape_text(tmp.get_shape())}"
        if DYNAMIC not in (rows, tmp_rows) and tmp_rows < 2 * rows:
            return f"col_major tmp to have {2 * rows} valid rows, got {tmp_rows}"
        return None
    if tmp.blayout != BLayout.ROW_MAJOR:
        return f"tmp to use blayout=row_major, got {tmp.blayout}"
    if not short and tmp.get_shape()[0] != src.get_shape()[0]:
        return f"tmp to have as many rows as src, got {tmp.get_shape()[0]}"
    if DYNAMIC not in (rows, tmp_rows) and tmp_rows < rows:
        return f"tmp valid_shape[0] to cover the {rows} valid rows of src, got {tmp_rows}"
    if short:
        if tmp_cols != DYNAMIC and tmp_cols < 2:
            return f"tmp valid_shape[1] to be at least 2, got {tmp_cols}"
        return None
    return _wide_enough(src, tmp)


_ROW_SHAPE = (r.in_vec("src", "tmp", "dst"), *r.nd("src"), r.none_box("dst"), _COLUMN)
_ROW = (
    *_ROW_SHAPE,
    r.same_dtype("src", "dst"),
    _row_region(may_be_empty=True),
    r.dtype("src", r.ARITHMETIC),
)
_ROW_ARG = (
    *_ROW_SHAPE,
    r.same_dtype("src", "tmp"),
    Rule("", _row_arg_tmp),
    _row_region(may_be_empty=False),
    r.dtype("src", r.ARITHMETIC),
    r.dtype("dst", INDICES),
)

TRowSumOp = declare(
    FoldScratchOp, "TRowSumOp", "trowsum", "dst[r, 0] = sum of row r of src", pipe=V, rules=_ROW
)
TRowMaxOp = declare(
    FoldScratchOp,
    "TRowMaxOp",
    "trowmax",
    "dst[r, 0] = greatest of row r of src",
    pipe=V,
    rules=_ROW,
)
TRowMinOp = declare(
    FoldScratchOp, "TRowMinOp", "trowmin", "dst[r, 0] = least of row r of src", pipe=V, rules=_ROW
)
TRowProdOp = declare(
    FoldScratchOp,
    "TRowProdOp",
    "trowprod",
    "dst[r, 0] = product of row r of src",
    pipe=V,
    rules=_ROW,
)
TRowArgMaxOp = declare(
    FoldScratchOp,
    "TRowArgMaxOp",
    "trowargmax",
    "dst[r, 0] = column of the greatest of row r of src, the first where there are several",
    pipe=V,
    rules=_ROW_ARG,
)
TRowArgMinOp = declare(
    FoldScratchOp,
    "TRowArgMinOp",
    "trowargmin",
    "dst[r, 0] = column of the least of row r of src, the first where there are several",
    pipe=V,
    rules=_ROW_ARG,
)

_COL_SHAPE = (r.in_vec("src", "dst"), *r.nd("src", "dst"))
_COL = (
    *_COL_SHAPE,
    r.same_dtype("src", "dst"),
    _col_region(may_be_empty=True),
    r.dtype("src", r.ARITHMETIC),
)
_COL_ARG = (
    *_COL_SHAPE,
    r.valid_dim_is("dst", "row", (1,)),
    r.in_vec("tmp"),
    r.same_dtype("src", "tmp"),
    Rule("", _col_arg_tmp),
    _col_region(may_be_empty=False),
    r.dtype("src", ("i8", "i16", "i32", "f16", "bf16", "f32")),
    r.dtype("dst", INDICES),
)

TColMaxOp = declare(
    FoldOp, "TColMaxOp", "tcolmax", "dst[0, c] = greatest of column c of src", pipe=V, rules=_COL
)
TColMinOp = declare(
    FoldOp, "TColMinOp", "tcolmin", "dst[0, c] = least of column c of src", pipe=V, rules=_COL
)
TColProdOp = declare(
    FoldOp, "TColProdOp", "tcolprod", "dst[0, c] = product of column c of src", pipe=V, rules=_COL
)
TColArgMaxOp = declare(
    FoldScratchOp,
    "TColArgMaxOp",
    "tcolargmax",
    "dst[0, c] = row of the greatest of column c of src, the first where there are several",
    pipe=V,
    rules=_COL_ARG,
)
TColArgMinOp = declare(
    FoldScratchOp,
    "TColArgMinOp",
    "tcolargmin",
    "dst[0, c] = row of the least of column c of src, the first where there are several",
    pipe=V,
    rules=_COL_ARG,
)


class ColSumOp(TileOp):
    """`dst = fold(src)` over rows, in order or in pairs"""

    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ("isBinary",)

    src = operand_def(READ_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)
    is_binary = opt_prop_def(BOOL, default_value=BoolAttr.from_bool(False), prop_name="isBinary")


def _tmp_with_is_binary(op: PtoOp) -> str | None:
    src, tmp = _pair(op)[0], r.tile_of(op, "tmp")
    binary = "isBinary" in op.properties
    if tmp is None:
        return "isBinary only with tmp" if binary else None
    cols = src.valid_shape[1]
    if binary and cols != DYNAMIC and tmp.get_shape()[1] < cols:
        return f"tmp shape[1] to be at least the {cols} valid columns of src"
    return None


TColSumOp = declare(
    ColSumOp,
    "TColSumOp",
    "tcolsum",
    "dst[0, c] = sum of column c of src; isBinary adds in pairs, in tmp",
    pipe=V,
    rules=[
        *_COL,
        r.in_vec("tmp"),
        *r.nd("tmp"),
        r.same_dtype("src", "tmp"),
        Rule("", _tmp_with_is_binary),
    ],
)


class SpreadOp(TileOp):
    """`dst = spread(src)` over one axis"""

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


def _non_empty(op: PtoOp) -> str | None:
    for name in ("src", "dst"):
        tile = op.operand(name).type
        assert isinstance(tile, TileBufType)
        if 0 in tile.valid_shape:
            return f"got {name} valid_shape {r.shape_text(tile.valid_shape)}"
    return None


_NON_EMPTY = Rule("src and dst not to be empty", _non_empty)
_SPREAD = (r.in_vec("src", "dst"), r.same_dtype("src", "dst"), r.dtype("src", r.NARROW), _NON_EMPTY)

TRowExpandOp = declare(
    SpreadOp,
    "TRowExpandOp",
    "trowexpand",
    "dst[r, c] = src[r, 0]",
    pipe=V,
    rules=[*_SPREAD, r.none_box("src"), *r.nd("dst"), r.same_valid_dim("row", "src", "dst")],
)
TColExpandOp = declare(
    SpreadOp,
    "TColExpandOp",
    "tcolexpand",
    "dst[r, c] = src[0, c]",
    pipe=V,
    rules=[*_SPREAD, *r.nd("src", "dst"), r.same_valid_dim("col", "src", "dst")],
)


class RowSpreadOp(TileOp):
    """`dst = f(src0, spread(src1))`, a value a row; either source may be the vector"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


_THREE = ("src0", "src1", "dst")


def _one_value_a_row(op: PtoOp) -> str | None:
    """One source lies as dst does, the other holds one value (or one 32-byte block) a row."""
    src0, src1, dst = (op.operand(name).type for name in _THREE)
    assert isinstance(src0, TileBufType)
    assert isinstance(src1, TileBufType)
    assert isinstance(dst, TileBufType)

    def is_full(tile: TileBufType) -> bool:
        agrees = all(
            DYNAMIC in (x, y) or x == y
            for x, y in zip(tile.valid_shape, dst.valid_shape, strict=True)
        )
        return tile.blayout == BLayout.ROW_MAJOR and agrees

    def is_vector(tile: TileBufType) -> bool:
        v_row, v_col = tile.valid_shape
        if DYNAMIC not in (v_row, dst.valid_shape[0]) and v_row != dst.valid_shape[0]:
            return False
        if tile.blayout == BLayout.COL_MAJOR:
            return v_col in (DYNAMIC, 1)
        return v_col in (DYNAMIC, 1, max(1, 32 // element_bytes(tile.element_type)))

    if (is_full(src0) and is_vector(src1)) or (is_full(src1) and is_vector(src0)):
        return None
    return f"got {r.shape_text(src0.valid_shape)} and {r.shape_text(src1.valid_shape)}"


def _row_spread(dtypes: r.Dtypes) -> tuple[Rule, ...]:
    return (
        r.in_vec(*_THREE, "tmp"),
        r.row_major("dst"),
        r.same_dtype(*_THREE, "tmp"),
        r.dtype("dst", dtypes),
        Rule("one source to lie as dst and the other to hold a value a row", _one_value_a_row),
    )


_ROW_ARITHMETIC = _row_spread(r.ARITHMETIC)
_ROW_FLOATS = _row_spread(r.FLOATS)
_FULL = ("src0",)

TRowExpandAddOp = declare(
    RowSpreadOp,
    "TRowExpandAddOp",
    "trowexpandadd",
    "dst[r, c] = src0[r, c] + src1[r, 0]",
    pipe=V,
    rules=_ROW_ARITHMETIC,
    in_place=_FULL,
    newer=["tmp"],
)
TRowExpandSubOp = declare(
    RowSpreadOp,
    "TRowExpandSubOp",
    "trowexpandsub",
    "dst[r, c] = src0[r, c] - src1[r, 0]",
    pipe=V,
    rules=_ROW_ARITHMETIC,
    in_place=_FULL,
)
TRowExpandMulOp = declare(
    RowSpreadOp,
    "TRowExpandMulOp",
    "trowexpandmul",
    "dst[r, c] = src0[r, c] * src1[r, 0]",
    pipe=V,
    rules=_ROW_ARITHMETIC,
    in_place=_FULL,
)
TRowExpandDivOp = declare(
    RowSpreadOp,
    "TRowExpandDivOp",
    "trowexpanddiv",
    "dst[r, c] = src0[r, c] / src1[r, 0]",
    pipe=V,
    rules=_ROW_FLOATS,
    in_place=_FULL,
    precision_type=precision(a.DivPrecisionAttr),
)
TRowExpandMaxOp = declare(
    RowSpreadOp,
    "TRowExpandMaxOp",
    "trowexpandmax",
    "dst[r, c] = max(src0[r, c], src1[r, 0])",
    pipe=V,
    rules=_ROW_ARITHMETIC,
    in_place=_FULL,
)
TRowExpandMinOp = declare(
    RowSpreadOp,
    "TRowExpandMinOp",
    "trowexpandmin",
    "dst[r, c] = min(src0[r, c], src1[r, 0])",
    pipe=V,
    rules=_ROW_ARITHMETIC,
    in_place=_FULL,
)
TRowExpandExpDifOp = declare(
    RowSpreadOp,
    "TRowExpandExpDifOp",
    "trowexpandexpdif",
    "dst[r, c] = e ** (src0[r, c] - src1[r, 0])",
    pipe=V,
    rules=_ROW_FLOATS,
    in_place=_FULL,
)


class ColSpreadOp(TileOp):
    """`dst = f(src0, spread(src1))`, a value a column"""

    src0 = operand_def(READ_TILE)
    src1 = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


def _col_spread(dtypes: r.Dtypes) -> tuple[Rule, ...]:
    return (
        r.in_vec(*_THREE),
        r.row_major(*_THREE),
        r.same_dtype(*_THREE),
        r.dtype("dst", dtypes),
        r.same_valid("src0", "dst"),
        r.same_valid_dim("col", "src1", "dst"),
    )


_COL_ARITHMETIC = _col_spread(r.ARITHMETIC)
_COL_FLOATS = _col_spread(r.FLOATS)

TColExpandAddOp = declare(
    ColSpreadOp,
    "TColExpandAddOp",
    "tcolexpandadd",
    "dst[r, c] = src0[r, c] + src1[0, c]",
    pipe=V,
    rules=_COL_ARITHMETIC,
    in_place=_FULL,
)
TColExpandSubOp = declare(
    ColSpreadOp,
    "TColExpandSubOp",
    "tcolexpandsub",
    "dst[r, c] = src0[r, c] - src1[0, c]",
    pipe=V,
    rules=_COL_ARITHMETIC,
    in_place=_FULL,
)
TColExpandMulOp = declare(
    ColSpreadOp,
    "TColExpandMulOp",
    "tcolexpandmul",
    "dst[r, c] = src0[r, c] * src1[0, c]",
    pipe=V,
    rules=_COL_ARITHMETIC,
    in_place=_FULL,
)
TColExpandDivOp = declare(
    ColSpreadOp,
    "TColExpandDivOp",
    "tcolexpanddiv",
    "dst[r, c] = src0[r, c] / src1[0, c]",
    pipe=V,
    rules=_COL_FLOATS,
    in_place=_FULL,
    precision_type=precision(a.DivPrecisionAttr),
)
TColExpandMaxOp = declare(
    ColSpreadOp,
    "TColExpandMaxOp",
    "tcolexpandmax",
    "dst[r, c] = max(src0[r, c], src1[0, c])",
    pipe=V,
    rules=_COL_ARITHMETIC,
    in_place=_FULL,
)
TColExpandMinOp = declare(
    ColSpreadOp,
    "TColExpandMinOp",
    "tcolexpandmin",
    "dst[r, c] = min(src0[r, c], src1[0, c])",
    pipe=V,
    rules=_COL_ARITHMETIC,
    in_place=_FULL,
)
TColExpandExpDifOp = declare(
    ColSpreadOp,
    "TColExpandExpDifOp",
    "tcolexpandexpdif",
    "dst[r, c] = e ** (src0[r, c] - src1[0, c])",
    pipe=V,
    rules=_COL_FLOATS,
    in_place=_FULL,
)
