"""
Integer arithmetic of orchestration, where the operands are known.

`evaluate(op, operands)` gives the results of an `arith` op on integers, None where unknown.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

_BINARY: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: int.__add__,
    arith.SubiOp: int.__sub__,
    arith.MuliOp: int.__mul__,
    arith.AndIOp: int.__and__,
    arith.OrIOp: int.__or__,
    arith.XOrIOp: int.__xor__,
    arith.MinSIOp: lambda a, b: min(a, b),
    arith.MaxSIOp: lambda a, b: max(a, b),
    arith.ShLIOp: int.__lshift__,
    arith.ShRSIOp: int.__rshift__,
}
_DIVISIONS: Mapping[type[Operation], Callable[[int, int], int]] = {
    arith.FloorDivSIOp: int.__floordiv__,
    arith.DivSIOp: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.RemSIOp: lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
}
_CASTS = (arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)
_COMPARISONS: tuple[Callable[[int, int], bool], ...] = (
    operator.eq,
    operator.ne,
    operator.lt,
    operator.le,
    operator.gt,
    operator.ge,
)
"""By the number of the predicate; those of unsigned numbers follow, see `_compare`."""


def evaluate(op: Operation, operands: Sequence[int | None]) -> tuple[int | None, ...]:
    """The results of an op on integers, None where they do not follow from the operands."""
    return (_evaluate(op, operands),) * len(op.results) if len(op.results) == 1 else _nothing(op)


def _nothing(op: Operation) -> tuple[None, ...]:
    return (None,) * len(op.results)


def _evaluate(op: Operation, operands: Sequence[int | None]) -> int | None:
    if isinstance(op, arith.ConstantOp):
        return op.value.value.data if isinstance(op.value, IntegerAttr) else None
    if isinstance(op, arith.SelectOp):
        condition, true, false = operands
        return None if condition is None else true if condition else false
    known = [operand for operand in operands if operand is not None]
    if len(known) != len(operands):
        return None
    if isinstance(op, _CASTS):
        # Values that do not fit are no business of orchestration.
        return known[0]
    if isinstance(op, arith.CmpiOp):
        return _compare(op.predicate.value.data, *known)
    if (function := _BINARY.get(type(op))) is not None:
        return function(*known)
    if (division := _DIVISIONS.get(type(op))) is not None:
        return division(*known) if known[1] else None
    return None


def _compare(predicate: int, left: int, right: int) -> int | None:
    if predicate >= len(_COMPARISONS):
        if left < 0 or right < 0:
            return None
        predicate -= len(_COMPARISONS) - 2
    return int(_COMPARISONS[predicate](left, right))
