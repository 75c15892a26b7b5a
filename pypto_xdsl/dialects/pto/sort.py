"""Ops that sort the elements of a tile, and merge what is sorted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from xdsl.dialects.builtin import BoolAttr, IntegerType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import BOOL, OperandConstraint, PtoOp, Role, Rule, declare
from pypto_xdsl.dialects.pto.gather_scatter import V
from pypto_xdsl.dialects.pto.operands import ANY_INTEGER, READ_TILE, SCRATCH_TILE, WRITE_TILE
from pypto_xdsl.dialects.pto.syntax import (
    TileOp,
    parse_operand_list,
    parse_type_list,
    print_typed_operands,
    resolve,
)
from pypto_xdsl.dialects.pto.tile_types import TileBufType


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
