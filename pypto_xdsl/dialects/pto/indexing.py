"""Ops that pick and place elements by index, by mask or by order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerType, StringAttr, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import (
    BOOL,
    STRING,
    OperandConstraint,
    OperandInfo,
    PtoOp,
    Role,
    Rule,
    declare,
    integer,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, MaskPattern, Pipe
from pypto_xdsl.dialects.pto.operands import (
    ANY_INTEGER,
    READ_TILE,
    READ_WINDOW,
    SCALAR,
    SCRATCH_TILE,
    UPDATE_TILE,
    WRITE_TILE,
    WRITE_WINDOW,
)
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC, element_bits
from pypto_xdsl.dialects.pto.syntax import (
    Grammar,
    TileOp,
    at_value,
    grammar_of,
    parse_operand_list,
    parse_type_list,
    print_attributes,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType

V = Pipe.V

MASK_STRIDE = {
    MaskPattern.P0101: 2,
    MaskPattern.P1010: 2,
    MaskPattern.P0001: 4,
    MaskPattern.P0010: 4,
    MaskPattern.P0100: 4,
    MaskPattern.P1000: 4,
    MaskPattern.P1111: 1,
}
"""How many elements a pattern keeps one of."""

MASK_FIRST = {
    MaskPattern.P0101: 0,
    MaskPattern.P1010: 1,
    MaskPattern.P0001: 0,
    MaskPattern.P0010: 1,
    MaskPattern.P0100: 2,
    MaskPattern.P1000: 3,
    MaskPattern.P1111: 0,
}
"""The first element a pattern keeps."""

AXES = ("row", "col")


def _tile(op: PtoOp, name: str) -> TileBufType:
    tile = op.operand(name).type
    assert isinstance(tile, TileBufType)
    return tile


def _agree(x: int, y: int) -> bool:
    return DYNAMIC in (x, y) or x == y


class MaskedOp(TileOp):
    """Ops whose `ins(...)` may be `%src, {maskPattern = ...} : T, "row"`"""

    OLD_AXIS: ClassVar[bool] = True

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        names = [parser.parse_unresolved_operand()]
        attributes: dict[str, Attribute] = {}
        while parser.parse_optional_punctuation(",") is not None:
            if at_value(parser):
                names.append(parser.parse_unresolved_operand())
                continue
            position = parser.pos
            attributes = parser.parse_optional_attr_dict()
            if len(names) > 1 or set(attributes) != {"maskPattern"}:
                parser.raise_error("expected a value or {maskPattern = ...}", position)
            break
        parser.parse_punctuation(":")
        if not attributes:
            return resolve(parser, names, parse_type_list(parser)), attributes
        values = resolve(parser, names, [parser.parse_type()])
        if parser.parse_optional_punctuation(",") is not None:
            axis = parser.parse_str_literal(" for the axis of a mask")
            if axis not in AXES:
                parser.raise_error('axis must be "row" or "col"')
            attributes["axis"] = StringAttr(axis)
        else:
            # 0.27 knows rows only, and leaves the word out.
            attributes["axis"] = StringAttr("row")
        return values, attributes

    def print(self, printer: Printer) -> None:
        mask = self.properties.get("maskPattern")
        if mask is None:
            super().print(printer)
            return
        printer.print_string(" ins(")
        printer.print_ssa_value(self.operand("src"))
        printer.print_string(", {maskPattern = ")
        printer.print_attribute(mask)
        printer.print_string("} : ")
        printer.print_attribute(self.operand("src").type)
        axis = self.properties.get("axis")
        if axis is not None and not (
            grammar_of(printer) == Grammar.V0_27 and axis == StringAttr("row")
        ):
            printer.print_string(", ")
            printer.print_attribute(axis)
        printer.print_string(") outs(")
        print_typed_operands(printer, (self.operand("dst"),))
        printer.print_string(")")
        print_attributes(printer, self, ("maskPattern", "axis"))

    def mask_problem(self, many: str, few: str) -> str | None:
        """The tile that holds all elements is the other times the stride of the mask."""
        mask: Any = self.properties["maskPattern"]
        axis: Any = self.properties.get("axis")
        if axis is None or axis.data not in AXES:
            return 'mask form to provide an axis, "row" or "col"'
        along = 1 if axis.data == "row" else 0
        large, small = _tile(self, many).valid_shape, _tile(self, few).valid_shape
        stride = MASK_STRIDE[mask.data]
        if not _agree(large[1 - along], small[1 - along]):
            return (
                f"{many} and {few} to agree across the mask, got {r.shape_text(large)} and "
                f"{r.shape_text(small)}"
            )
        if DYNAMIC not in (large[along], small[along]) and large[along] != small[along] * stride:
            return (
                f"valid extent of {many} to be {stride} times that of {few}, got "
                f"{large[along]} and {small[along]}"
            )
        return None


class GatherBase(MaskedOp):
    """`dst = src[indices]`, by index, by mask, or the places where a comparison holds"""

    INS: ClassVar[tuple[str, ...] | None] = ("src", "indices", "k_value", "tmp")
    OUTS: ClassVar[tuple[str, ...] | None] = ("dst", "cdst")

    src = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)
    cdst = opt_operand_def(WRITE_TILE)
    indices = opt_operand_def(READ_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    k_value = opt_operand_def(SCALAR)
    mask_pattern = opt_prop_def(word(a.MaskPatternAttr), prop_name="maskPattern")
    axis = opt_prop_def(STRING)
    cmp_mode = opt_prop_def(word(a.CmpModeAttr), prop_name="cmpMode")
    offset = opt_prop_def(integer(32))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def is_mask(self) -> bool:
        """Whether elements are picked by a mask."""
        return "maskPattern" in self.properties

    @property
    def is_compare(self) -> bool:
        """Whether the places where a comparison holds are picked."""
        return self.cdst is not None

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        named: dict[str, Any] = {"src": values[0]}
        if len(values) > 1:
            by_index = isinstance(values[1].type, TileBufType)
            named["indices" if by_index else "k_value"] = values[1]
        if len(values) > 2:
            named["tmp"] = values[2]
        if len(values) > 3:
            parser.raise_error(
                f"{cls.name} expects at most 3 operands in ins(...), got {len(values)}", position
            )
        return named

    @classmethod
    def assign_outs(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) == 1:
            return {"dst": values[0]}
        return super().assign_outs(parser, values, position)

    @classmethod
    def parse_behind(cls, parser: Parser) -> dict[str, Attribute]:
        attributes: dict[str, Attribute] = {}
        if parser.parse_optional_keyword("maskPattern") is not None:
            # A spelling of 0.27; printed in ins(...).
            parser.parse_punctuation("=")
            attributes = {"maskPattern": parser.parse_attribute(), "axis": StringAttr("row")}
        return attributes | parser.parse_optional_attr_dict()


def _gather(op: PtoOp) -> str | None:
    assert isinstance(op, GatherBase)
    if op.is_mask:
        return _mask_gather(op)
    if op.is_compare:
        return _compare_gather(op)
    return _index_gather(op)


_MASK_GATHER = (r.in_vec("src", "dst"), r.row_major("src", "dst"), r.same_width("src", "dst"))
_INDEX_GATHER = (
    r.in_vec("src", "dst", "indices", "tmp"),
    r.same_dtype("src", "dst"),
    r.dtype("src", r.ARITHMETIC),
    r.dtype("indices", ("i32",)),
    r.same_dtype("indices", "tmp"),
    r.same_valid("indices", "tmp"),
)
_COMPARE_GATHER = (
    r.in_vec("src", "dst", "cdst", "tmp"),
    r.dtype("dst", ("i32",)),
    r.same_dtype("dst", "cdst"),
    r.scalar_of("k_value", "src"),
)


def _full_columns(op: PtoOp, name: str) -> str | None:
    tile = _tile(op, name)
    if not _agree(tile.valid_shape[1], tile.get_shape()[1]):
        return f"{name} valid_shape[1] to equal {name} cols, got {tile.valid_shape[1]}"
    return None


def _mask_gather(op: GatherBase) -> str | None:
    for name in ("indices", "tmp", "k_value", "cdst"):
        if op.optional_operand(name) is not None:
            return f"no {name} with maskPattern"
    if (problem := r.first_problem(op, _MASK_GATHER)) is not None:
        return problem
    if element_bits(_tile(op, "src").element_type) not in (16, 32):
        return f"mask form elements to be 2 or 4 bytes, got {_tile(op, 'src').element_type}"
    return _full_columns(op, "dst") or op.mask_problem("src", "dst")


def _index_gather(op: GatherBase) -> str | None:
    if op.indices is None or op.tmp is None:
        return "index form to have both indices and tmp"
    return (
        r.first_problem(op, _INDEX_GATHER)
        or _full_columns(op, "dst")
        or _full_columns(op, "indices")
    )


def _compare_gather(op: GatherBase) -> str | None:
    if op.k_value is None or op.tmp is None:
        return "compare form to have kValue and tmp"
    if (problem := r.first_problem(op, _COMPARE_GATHER)) is not None:
        return problem
    mode: Any = op.properties.get("cmpMode")
    source = r.dtype_name(_tile(op, "src").element_type, signless=True)
    if mode is not None and mode.data not in (w.CmpMode.EQ, w.CmpMode.GT):
        return f"cmpMode to be eq or gt, got {mode.data}"
    wanted = ("f16", "f32", "i32") if mode is None or mode.data == w.CmpMode.EQ else ("f16", "f32")
    if source not in wanted:
        return f"compare form src element type to be {' or '.join(wanted)}, got {source}"
    return None


TGatherOp = declare(
    GatherBase,
    "TGatherOp",
    "tgather",
    "dst = src at indices; or the elements a mask keeps; or, with cdst, the columns where src "
    "compares with kValue, and their count",
    pipe=V,
    rules=[Rule("", _gather)],
)


class GatherBytesBase(TileOp):
    """`dst = src` at byte offsets, in blocks of 32 bytes"""

    src = operand_def(READ_TILE)
    offsets = operand_def(READ_TILE)
    dst = operand_def(WRITE_TILE)


TGatherBOp = declare(
    GatherBytesBase,
    "TGatherBOp",
    "tgatherb",
    "each 32-byte block of dst = the block of src at the byte offset in offsets",
    pipe=V,
    rules=[
        r.in_vec("src", "offsets", "dst"),
        r.row_major("dst"),
        r.dtype("dst", r.NARROW),
        r.dtype("offsets", ("ui32", "i32"), exact=True),
    ],
)


class ScatterBase(MaskedOp):
    """`dst[indexes] = src`, by index or by mask"""

    INS: ClassVar[tuple[str, ...] | None] = ("src", "indexes")

    src = operand_def(READ_TILE)
    dst = operand_def(UPDATE_TILE)
    indexes = opt_operand_def(READ_TILE)
    axis = opt_prop_def(STRING)
    mask_pattern = opt_prop_def(word(a.MaskPatternAttr), prop_name="maskPattern")


_SCATTER = (
    r.in_vec("src", "indexes", "dst"),
    r.row_major("src", "indexes", "dst"),
    r.same_dtype("src", "dst"),
    r.dtype("src", r.NARROW),
)


def _scatter(op: PtoOp) -> str | None:
    assert isinstance(op, ScatterBase)
    masked = "maskPattern" in op.properties
    if masked == (op.indexes is not None):
        return "exactly one of indexes and maskPattern"
    if (problem := r.first_problem(op, _SCATTER)) is not None:
        return problem
    if masked:
        return op.mask_problem("dst", "src")
    if "axis" in op.properties:
        return "no axis with indexes"
    bits = element_bits(_tile(op, "src").element_type)
    indexes = _tile(op, "indexes")
    index_bits = element_bits(indexes.element_type)
    if r.dtype_name(indexes.element_type, signless=True)[0] != "i" or index_bits != max(bits, 16):
        return f"indexes to be i{max(bits, 16)} for {bits}-bit elements, got {indexes.element_type}"
    return r.first_problem(op, (r.same_valid("src", "indexes"), r.at_least_valid("dst", "src")))


TScatterOp = declare(
    ScatterBase,
    "TScatterOp",
    "tscatter",
    "dst at indexes = src, the last of several at one place; or the elements a mask keeps = src",
    pipe=Pipe.S,
    rules=[Rule("", _scatter)],
)


class GlobalGatherBase(TileOp):
    """`dst = mem[idx]`, from global memory"""

    INS: ClassVar[tuple[str, ...] | None] = ("mem", "idx", "scratch")

    mem = operand_def(READ_WINDOW)
    idx = operand_def(
        OperandConstraint(
            (TileBufType, *READ_WINDOW.bases), Role.READ, "a tile or a window of indices"
        )
    )
    dst = operand_def(WRITE_TILE)
    scratch = opt_operand_def(
        OperandConstraint(READ_WINDOW.bases, Role.SCRATCH, "a window of global memory")
    )
    coalesce = prop_def(word(a.CoalesceAttr))
    gather_oob = opt_prop_def(
        word(a.GatherOobAttr),
        default_value=a.GatherOobAttr(w.GatherOob.UNDEFINED),
        prop_name="gatherOob",
    )


def _index_shape(op: PtoOp, data: str) -> str | None:
    """The index tile names the rows, or the elements, of the data tile."""
    idx, tile = _tile(op, "idx"), _tile(op, data)
    coalesce: Any = op.properties.get("coalesce")
    (rows, cols), (data_rows, data_cols) = idx.valid_shape, tile.valid_shape
    by_row = idx.blayout == w.BLayout.ROW_MAJOR
    each = _agree(rows, data_rows) and _agree(cols, data_cols)
    in_row = by_row and rows in (DYNAMIC, 0, 1) and _agree(cols, data_rows)
    in_column = _agree(rows, data_rows) and cols in (DYNAMIC, 0, 1)
    if coalesce is None:
        fits = (by_row and in_column) or each
        wanted = f"[{data_rows}, 0|1] or the shape of {data}"
    elif coalesce.data == w.Coalesce.ROW:
        fits = in_row or (not by_row and in_column)
        wanted = f"[0|1, {data_rows}] or a col_major [{data_rows}, 0|1]"
    else:
        fits = each
        wanted = f"the shape of {data}"
    if fits:
        return None
    return f"idx valid_shape to be {wanted}, got {r.shape_text(idx.valid_shape)}"


_GATHER_TO_VEC = (*r.nd("dst"), r.in_vec("idx"), r.none_box("idx"))


def _gather_global(op: PtoOp) -> str | None:
    assert isinstance(op, GlobalGatherBase)
    if _tile(op, "dst").space == AddressSpace.VEC:
        if op.optional_operand("scratch") is not None:
            return "scratch only with dst in mat"
        if not isinstance(op.idx.type, TileBufType):
            return "idx to be a tile with dst in vec"
        return r.first_problem(op, _GATHER_TO_VEC) or _index_shape(op, "dst")
    dst = _tile(op, "dst")
    if (dst.blayout, dst.slayout) != (w.BLayout.COL_MAJOR, w.SLayout.ROW_MAJOR):
        return (
            "dst in mat to use blayout=col_major and slayout=row_major, got "
            f"{dst.blayout} and {dst.slayout}"
        )
    if dst.fractal != 512:
        return f"dst in mat to use fractal=512, got {dst.fractal}"
    inner = dst.inner_box
    for extent, step in zip(dst.get_shape(), inner, strict=True):
        if extent % step:
            return f"dst in mat to be made of boxes of {inner[0]}x{inner[1]}, got {extent}"
    if isinstance(op.idx.type, TileBufType):
        return "idx to be a window of global memory with dst in mat"
    coalesce: Any = op.properties["coalesce"]
    scratch = op.optional_operand("scratch")
    if coalesce.data == w.Coalesce.ROW:
        return None if scratch is None else "no scratch with coalesce row"
    if scratch is None:
        return "scratch with coalesce elem and dst in mat"
    return r.first_problem(op, (r.same_dtype("dst", "scratch"),))


def _global_gather_pipe(op: PtoOp) -> Pipe:
    return Pipe.MTE2 if _tile(op, "dst").space == AddressSpace.MAT else V


_GLOBAL_DTYPES = ("i8", "i16", "i32", "f16", "bf16", "f32")

MGatherOp = declare(
    GlobalGatherBase,
    "MGatherOp",
    "mgather",
    "dst = the rows (or elements) of mem that idx names, from global memory",
    pipe=_global_gather_pipe,
    rules=[
        r.in_space((AddressSpace.VEC, AddressSpace.MAT), "dst"),
        r.same_dtype("mem", "dst"),
        r.dtype("dst", _GLOBAL_DTYPES),
        r.dtype("idx", ("i32",)),
        Rule("", _gather_global),
    ],
)


class GlobalScatterBase(TileOp):
    """`mem[idx] = src`, to global memory"""

    INS: ClassVar[tuple[str, ...] | None] = ("src", "idx")
    OUTS: ClassVar[tuple[str, ...] | None] = ("mem",)

    src = operand_def(READ_TILE)
    idx = operand_def(READ_TILE)
    mem = operand_def(WRITE_WINDOW)
    coalesce = opt_prop_def(word(a.CoalesceAttr))
    scatter_atomic_op = opt_prop_def(
        word(a.ScatterAtomicOpAttr),
        default_value=a.ScatterAtomicOpAttr(w.ScatterAtomicOp.NONE),
        prop_name="scatterAtomicOp",
    )
    scatter_oob = opt_prop_def(
        word(a.ScatterOobAttr),
        default_value=a.ScatterOobAttr(w.ScatterOob.UNDEFINED),
        prop_name="scatterOob",
    )
    scatter_conflict = opt_prop_def(word(a.ScatterConflictAttr), prop_name="scatterConflict")

    def role_of(self, info: OperandInfo) -> Role:
        # Elements that no index names stay.
        return Role.UPDATE if info.name == "mem" else info.role


def _scatter_global(op: PtoOp) -> str | None:
    if (problem := _index_shape(op, "src")) is not None:
        return problem
    if "coalesce" not in op.properties:
        for name in ("scatterAtomicOp", "scatterOob"):
            if name in op.properties:
                return f"coalesce with {name}"
    atomic: Any = op.properties.get("scatterAtomicOp")
    dtype = r.dtype_name(_tile(op, "src").element_type, signless=True)
    if atomic is None:
        return None
    adds = atomic.data == w.ScatterAtomicOp.ADD
    wanted = ("i32", "f16", "f32") if adds else ("i32", "f32")
    if dtype in wanted:
        return None
    return f"src element type to be {' or '.join(wanted)} to {atomic.data}, got {dtype}"


MScatterOp = declare(
    GlobalScatterBase,
    "MScatterOp",
    "mscatter",
    "the rows (or elements) of mem that idx names = src, in global memory",
    pipe=V,
    rules=[
        r.in_vec("src", "idx"),
        *r.nd("src"),
        r.none_box("idx"),
        r.same_dtype("src", "mem"),
        r.dtype("src", _GLOBAL_DTYPES),
        r.dtype("idx", ("i32",)),
        r.no_property("scatterConflict"),
        Rule("", _scatter_global),
    ],
)


class SortBase(TileOp):
    """`dst = pairs of src and idx, sorted`"""

    src = operand_def(READ_TILE)
    idx = operand_def(READ_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    dst = operand_def(WRITE_TILE)


TSort32Op = declare(
    SortBase,
    "TSort32Op",
    "tsort32",
    "each 32 elements of src as (value, index) pairs, in descending order",
    pipe=V,
    rules=[
        r.in_vec("src", "idx", "tmp", "dst"),
        r.row_major("src", "idx", "tmp", "dst"),
        r.same_dtype("src", "dst"),
        r.dtype("src", r.FLOATS),
        r.dtype("idx", ("i32",)),
    ],
)

COUNTS = OperandConstraint((VectorType,), Role.WRITE, "a vector<4xi16>", only=None)


class MergeBase(TileOp):
    """`dst = merge(srcs)`, one list of runs or two to four sorted lists"""

    INS: ClassVar[tuple[str, ...] | None] = ("srcs", "block_len", "tmp")
    OUTS: ClassVar[tuple[str, ...] | None] = ("dsts", "excuted")
    ATTRIBUTES_IN_INS: ClassVar[tuple[str, ...]] = ("exhausted",)

    srcs = var_operand_def(READ_TILE)
    block_len = opt_operand_def(ANY_INTEGER)
    dsts = var_operand_def(WRITE_TILE)
    tmp = opt_operand_def(SCRATCH_TILE)
    excuted = opt_operand_def(COUNTS)
    exhausted = opt_prop_def(BOOL, default_value=BoolAttr.from_bool(False))
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @property
    def merges_runs(self) -> bool:
        """Whether the runs of one list are merged, instead of several lists."""
        return self.block_len is not None

    @classmethod
    def parse_ins(cls, parser: Parser) -> tuple[list[SSAValue], dict[str, Attribute]]:
        names = parse_operand_list(parser)
        if parser.parse_optional_keyword("no_tmp") is not None:
            parser.raise_error(f"{cls.name} without workspace cannot be written in 0.57")
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        return resolve(parser, names, parse_type_list(parser)), attributes

    @classmethod
    def assign_ins(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if not 2 <= len(values) <= 5:
            parser.raise_error(
                f"{cls.name} expects a list and a block length, or two to four lists and "
                f"workspace, got {len(values)} operands in ins(...)",
                position,
            )
        if len(values) == 2:
            return {"srcs": (values[0],), "block_len": values[1]}
        return {"srcs": tuple(values[:-1]), "tmp": values[-1]}

    @classmethod
    def assign_outs(cls, parser: Parser, values: Any, position: int) -> dict[str, Any]:
        if len(values) > 2:
            parser.raise_error(
                f"{cls.name} expects 1 or 2 operands in outs(...), got {len(values)}", position
            )
        if len(values) == 1:
            return {"dsts": tuple(values)}
        return {"dsts": (values[0],), "excuted": values[1]}

    def print_ins(self, printer: Printer, inside: Mapping[str, Attribute]) -> None:
        if not self.merges_runs:
            # The text always has the attribute here.
            inside = {"exhausted": self.exhausted or BoolAttr.from_bool(False)}
        print_typed_operands(printer, tuple(self.present(("srcs", "block_len", "tmp"))), inside)


def _merge(op: PtoOp) -> str | None:
    assert isinstance(op, MergeBase)
    if len(op.dsts) != 1:
        return f"one dst, got {len(op.dsts)}"
    tiles: dict[str, TileBufType] = {}
    for name, value in (
        *((f"src{i}", value) for i, value in enumerate(op.srcs)),
        ("dst", op.dsts[0]),
        ("tmp", op.tmp),
    ):
        if value is None:
            continue
        assert isinstance(value.type, TileBufType)
        tiles[name] = value.type
        if value.type.get_shape()[0] != 1:
            return f"{name} rows to be 1, got {value.type.get_shape()[0]}"
        if value.type.element_type != tiles["src0"].element_type:
            return f"{name} and src0 to have the same element type"
    if r.dtype_name(tiles["src0"].element_type) not in r.FLOATS:
        return f"element type to be f16 or f32, got {tiles['src0'].element_type}"
    cols = {name: tile.get_shape()[1] for name, tile in tiles.items()}
    if op.merges_runs:
        if len(op.srcs) != 1 or op.tmp is not None or op.excuted is not None:
            return "one src and no tmp or excuted with a block length"
        if cols["src0"] != cols["dst"]:
            return f"src and dst cols to match, got {cols['src0']} and {cols['dst']}"
        length = r.constant_value(op.operand("block_len"))
        if length is not None and (length <= 0 or length % 64):
            return f"blockLen to be a positive multiple of 64, got {length}"
        return None
    if not 2 <= len(op.srcs) <= 4 or op.tmp is None or op.excuted is None:
        return "two to four srcs with tmp, and outs of dst and excuted"
    counts = op.excuted.type
    if counts != VectorType(IntegerType(16), (4,)):
        return f"excuted to be a vector<4xi16>, got {counts}"
    if cols["tmp"] < cols["dst"]:
        return f"tmp cols to be at least those of dst, got {cols['tmp']} and {cols['dst']}"
    return None


TMrgSortOp = declare(
    MergeBase,
    "TMrgSortOp",
    "tmrgsort",
    "dst = four runs of block_len elements of src merged, or the sorted lists srcs merged",
    pipe=V,
    rules=[Rule("", _merge)],
)
