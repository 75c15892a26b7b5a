"""Ops that gather from global memory and scatter to it by index."""

from __future__ import annotations

from typing import Any, ClassVar

from xdsl.irdl import operand_def, opt_operand_def, opt_prop_def, prop_def

from pypto_xdsl.dialects.pto import attributes as a
from pypto_xdsl.dialects.pto import enumerations as w
from pypto_xdsl.dialects.pto import rules as r
from pypto_xdsl.dialects.pto.declaration import (
    OperandConstraint,
    OperandInfo,
    PtoOp,
    Role,
    Rule,
    declare,
    word,
)
from pypto_xdsl.dialects.pto.enumerations import AddressSpace, Pipe
from pypto_xdsl.dialects.pto.gather_scatter import V, agree
from pypto_xdsl.dialects.pto.operands import READ_TILE, READ_WINDOW, WRITE_TILE, WRITE_WINDOW
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC
from pypto_xdsl.dialects.pto.syntax import TileOp
from pypto_xdsl.dialects.pto.tile_types import TileBufType

_ONCE_A5 = "is an instruction of A5 alone"
"""What both ops are before they are ones of A2/A3."""


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
    idx, tile = r.tile_operand(op, "idx"), r.tile_operand(op, data)
    coalesce: Any = op.properties.get("coalesce")
    (rows, cols), (data_rows, data_cols) = idx.valid_shape, tile.valid_shape
    by_row = idx.blayout == w.BLayout.ROW_MAJOR
    each = agree(rows, data_rows) and agree(cols, data_cols)
    in_row = by_row and rows in (DYNAMIC, 0, 1) and agree(cols, data_rows)
    in_column = agree(rows, data_rows) and cols in (DYNAMIC, 0, 1)
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
    if r.tile_operand(op, "dst").space == AddressSpace.VEC:
        if op.optional_operand("scratch") is not None:
            return "scratch only with dst in mat"
        if not isinstance(op.idx.type, TileBufType):
            return "idx to be a tile with dst in vec"
        return r.first_problem(op, _GATHER_TO_VEC) or _index_shape(op, "dst")
    dst = r.tile_operand(op, "dst")
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
    return Pipe.MTE2 if r.tile_operand(op, "dst").space == AddressSpace.MAT else V


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
    SINCE="0.57",
    BEFORE=_ONCE_A5,
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
    dtype = r.dtype_name(r.tile_operand(op, "src").element_type, signless=True)
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
    SINCE="0.57",
    BEFORE=_ONCE_A5,
)
