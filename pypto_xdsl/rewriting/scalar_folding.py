"""
Simpler forms of computations on integers.

`fold(op, ranges)` gives what a computation results in, if that is simpler than the op: a number,
a value that is there already, or one op in its place. Constants stand on the right, sums and
products of constants are merged, and what follows from the ranges of the operands is decided.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import FixedBitwidthType, IndexType, IntegerAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from pypto_xdsl.analysis.control_flow import constant_integer
from pypto_xdsl.analysis.integer_ranges import IntegerRanges, compare, negated

Folded: TypeAlias = "int | SSAValue | Operation | None"
"""What is simpler than an op: a number, a value, an op (not yet inserted); None: nothing is."""


def constant(value: int, type: Attribute) -> arith.ConstantOp:
    """An integer constant."""
    if isinstance(type, FixedBitwidthType):
        return arith.ConstantOp.from_int_and_width(value, type.bitwidth)
    return arith.ConstantOp(IntegerAttr.from_index_int_value(value))


def fold(op: Operation, ranges: IntegerRanges) -> tuple[Folded, list[Operation]]:
    """What is simpler than an op, and the constants to insert before it."""
    rule = _RULES.get(type(op))
    if rule is None:
        return None, []
    number = ranges.of(op.results[0]).constant
    if number is not None:
        return number, []
    made: list[Operation] = []

    def make(value: int) -> SSAValue:
        op_made = constant(value, op.results[0].type)
        made.append(op_made)
        return op_made.result

    folded = rule(op, ranges, make)
    return folded, made if isinstance(folded, Operation) else []


_Make: TypeAlias = Callable[[int], SSAValue]
_Rule: TypeAlias = Callable[[Operation, IntegerRanges, _Make], Folded]


def _split(value: SSAValue, kind: type[Operation]) -> tuple[SSAValue, int] | None:
    """`x` and `c` of a value that is `x op c`, with a constant `c`."""
    owner = value.owner
    if isinstance(owner, kind):
        number = constant_integer(owner.operands[1])
        if number is not None:
            return owner.operands[0], number
    return None


def _swapped(op: Operation) -> Operation | None:
    """A commutative op with its constant on the right."""
    lhs, rhs = op.operands
    if constant_integer(lhs) is None or constant_integer(rhs) is not None:
        return None
    return cast(Callable[[SSAValue, SSAValue], Operation], type(op))(rhs, lhs)


def _add(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if (number := constant_integer(rhs)) is None:
        if isinstance(rhs.owner, arith.SubiOp) and rhs.owner.rhs is lhs:
            return rhs.owner.lhs
        if isinstance(lhs.owner, arith.SubiOp) and lhs.owner.rhs is rhs:
            return lhs.owner.lhs
        return _swapped(op)
    if number == 0:
        return lhs
    if (inner := _split(lhs, arith.AddiOp)) is not None:
        return arith.AddiOp(inner[0], make(inner[1] + number))
    if (inner := _split(lhs, arith.SubiOp)) is not None:
        return arith.AddiOp(inner[0], make(number - inner[1]))
    return None


def _subtract(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if lhs is rhs:
        return 0
    if (number := constant_integer(rhs)) is not None:
        if number == 0:
            return lhs
        if (inner := _split(lhs, arith.AddiOp)) is not None:
            return arith.AddiOp(inner[0], make(inner[1] - number))
        if (inner := _split(lhs, arith.SubiOp)) is not None:
            return arith.SubiOp(inner[0], make(inner[1] + number))
        return None
    if isinstance(lhs.owner, arith.AddiOp):
        if lhs.owner.rhs is rhs:
            return lhs.owner.lhs
        if lhs.owner.lhs is rhs:
            return lhs.owner.rhs
    return None


def _multiply(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if (number := constant_integer(rhs)) is None:
        return _swapped(op)
    if number == 0:
        return 0
    if number == 1:
        return lhs
    if (inner := _split(lhs, arith.MuliOp)) is not None:
        return arith.MuliOp(inner[0], make(inner[1] * number))
    return None


def _divide(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    number = constant_integer(rhs)
    if number is None or number <= 0:
        return None
    if number == 1:
        return lhs
    if isinstance(op, arith.DivUIOp) and not _is_natural(ranges, lhs):
        return None
    inner = _split(lhs, arith.MuliOp)
    if inner is not None and inner[1] > 0 and isinstance(lhs.type, IndexType):
        # Index arithmetic does not overflow.
        if inner[1] % number == 0:
            return arith.MuliOp(inner[0], make(inner[1] // number))
        if number % inner[1] == 0:
            return _like(op, inner[0], make(number // inner[1]))
    inner = _split(lhs, type(op))
    if inner is not None and inner[1] > 0:
        return _like(op, inner[0], make(inner[1] * number))
    return None


def _like(op: Operation, lhs: SSAValue, rhs: SSAValue) -> Operation:
    return cast(Callable[[SSAValue, SSAValue], Operation], type(op))(lhs, rhs)


def _remainder(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    dividend, divisor = ranges.of(lhs), ranges.of(rhs)
    if (
        _is_natural(ranges, lhs)
        and dividend.high is not None
        and divisor.low is not None
        and dividend.high < divisor.low
    ):
        return lhs
    number = constant_integer(rhs)
    if number is None or number <= 0:
        return None
    if number == 1:
        return 0
    if not isinstance(lhs.type, IndexType):
        return None
    if isinstance(op, arith.RemUIOp) and not _is_natural(ranges, lhs):
        return None
    inner = _split(lhs, arith.MuliOp)
    return 0 if inner is not None and inner[1] % number == 0 else None


def _is_natural(ranges: IntegerRanges, value: SSAValue) -> bool:
    low = ranges.of(value).low
    return low is not None and low >= 0


def _minimum(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if lhs is rhs or compare(_LESS_OR_EQUAL, ranges.of(lhs), ranges.of(rhs)):
        return lhs
    if compare(_LESS_OR_EQUAL, ranges.of(rhs), ranges.of(lhs)):
        return rhs
    return _swapped(op)


def _maximum(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if lhs is rhs or compare(_LESS_OR_EQUAL, ranges.of(rhs), ranges.of(lhs)):
        return lhs
    if compare(_LESS_OR_EQUAL, ranges.of(lhs), ranges.of(rhs)):
        return rhs
    return _swapped(op)


_LESS_OR_EQUAL = 3
_REFLEXIVE = (0, 3, 5, 7, 9)
"""The comparisons that hold for equal numbers."""


def _compare(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    assert isinstance(op, arith.CmpiOp)
    if op.lhs is op.rhs:
        return int(op.predicate.value.data in _REFLEXIVE)
    return None


def _select(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    condition, then, otherwise = op.operands
    if then is otherwise:
        return then
    chosen = ranges.of(condition).constant
    return None if chosen is None else then if chosen else otherwise


def _exclusive_or(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if lhs is rhs:
        return 0
    number = constant_integer(rhs)
    if number is None:
        return _swapped(op)
    if number == 0:
        return lhs
    if lhs.type != i1:
        return None
    owner = lhs.owner
    if isinstance(owner, arith.CmpiOp):
        return arith.CmpiOp(owner.lhs, owner.rhs, negated(owner.predicate.value.data))
    inner = _split(lhs, arith.XOrIOp)
    return None if inner is None else inner[0]


def _and(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if lhs is rhs:
        return lhs
    if lhs.type != i1:
        return None
    for value, other in ((lhs, rhs), (rhs, lhs)):
        number = ranges.of(value).constant
        if number is not None:
            return other if number else 0
    return None


def _or(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    lhs, rhs = op.operands
    if lhs is rhs:
        return lhs
    if lhs.type != i1:
        return None
    for value, other in ((lhs, rhs), (rhs, lhs)):
        number = ranges.of(value).constant
        if number is not None:
            return 1 if number else other
    return None


def _cast(op: Operation, ranges: IntegerRanges, make: _Make) -> Folded:
    source, result = op.operands[0], op.results[0]
    if isinstance(source.owner, arith.IndexCastOp) and source.owner.input.type == result.type:
        wide = not isinstance(source.type, FixedBitwidthType) or source.type.bitwidth >= 64
        return source.owner.input if wide else None
    return None


_RULES: Mapping[type[Operation], _Rule] = {
    arith.AddiOp: _add,
    arith.SubiOp: _subtract,
    arith.MuliOp: _multiply,
    arith.FloorDivSIOp: _divide,
    arith.DivSIOp: _divide,
    arith.DivUIOp: _divide,
    arith.RemSIOp: _remainder,
    arith.RemUIOp: _remainder,
    arith.MinSIOp: _minimum,
    arith.MaxSIOp: _maximum,
    arith.CmpiOp: _compare,
    arith.SelectOp: _select,
    arith.XOrIOp: _exclusive_or,
    arith.AndIOp: _and,
    arith.OrIOp: _or,
    arith.IndexCastOp: _cast,
}
