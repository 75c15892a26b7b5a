"""
What the hardware refuses beyond what the dialect's verifiers do, found when it is about to happen.

Sources: the assertions of pto-isa's tiles, the instruction limits and the native conversions of
A2/A3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.ir import Operation

from pypto_xdsl.backend.ascend910b.casts import CASTS, ROUNDED
from pypto_xdsl.dialects import pto
from pypto_xdsl.dialects.pto import AddressSpace, BLayout, TileBufType, element_bytes
from pypto_xdsl.dialects.pto.shaped_types import DYNAMIC

_BLOCK = 32
"""Bytes: memories are addressed in blocks of this size."""

_MOST_BURSTS = 4095
"""Rows of one transfer between global memory and a core."""


def tile_problem(type: TileBufType) -> str | None:
    """Why no instruction takes a tile of this type, or None."""
    rows, columns = type.get_shape()
    size = element_bytes(type.element_type)
    if not type.is_boxed:
        by_row = type.blayout is BLayout.ROW_MAJOR
        line = (columns if by_row else rows) * size
        if line % _BLOCK and rows * columns > 1:
            what = "row" if by_row else "column"
            return f"has {what}s of {line} bytes, which is no multiple of {_BLOCK}"
        return None
    high, wide = type.inner_box
    if columns % wide:
        return f"has {columns} columns in boxes of {wide}"
    if rows % high and rows != 1 and type.space is not AddressSpace.VEC:
        return f"has {rows} rows in boxes of {high}"
    return None


def _conversion(op: Any) -> str | None:
    pair = tuple(op.operand(name).type.element_type for name in ("src", "dst"))
    if pair in CASTS or pair == (ROUNDED, ROUNDED):
        return None
    return f"converts {pair[0]} to {pair[1]}, which takes a chain of conversions"


def _transfer(name: str) -> Callable[[Any], str | None]:
    def check(op: Any) -> str | None:
        type = op.operand(name).type
        lines = type.get_shape()[0 if type.blayout is BLayout.ROW_MAJOR else 1]
        valid = type.valid_shape[0 if type.blayout is BLayout.ROW_MAJOR else 1]
        if valid != DYNAMIC:
            lines = valid
        if type.is_boxed or lines <= _MOST_BURSTS:
            return None
        return f"moves {lines} lines at once, more than {_MOST_BURSTS}"

    return check


_RULES: Mapping[type[Operation], Callable[[Any], str | None]] = {
    pto.TCvtOp: _conversion,
    pto.TLoadOp: _transfer("dst"),
    pto.TStoreOp: _transfer("src"),
}


def instruction_problem(op: Operation) -> str | None:
    """Why the hardware has no such instruction, or None."""
    check = _RULES.get(type(op))
    return None if check is None else check(op)
