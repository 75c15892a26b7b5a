"""
Between which numbers an integer lies: what loops count, what branches have asked, arithmetic.

Ranges are of mathematical integers: index arithmetic is taken not to overflow. A value of which
nothing is known has no bounds; in particular, a parameter of type `index` may be negative.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FixedBitwidthType, IndexType, i1
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from pypto_xdsl.analysis.control_flow import constant_integer, terminator
from pypto_xdsl.dialects import ptensor
from pypto_xdsl.dialects.ptensor import grid as tensor_grid
from pypto_xdsl.dialects.tile import grid as tile_grid


@dataclass(frozen=True)
class Range:
    """The integers from `low` to `high`, both included; None: no bound."""

    low: int | None = None
    high: int | None = None

    @property
    def constant(self) -> int | None:
        """The only number there is."""
        return self.low if self.low == self.high else None

    def intersect(self, other: Range) -> Range:
        """The numbers in both."""
        return Range(_most(self.low, other.low), _least(self.high, other.high))

    def union(self, other: Range) -> Range:
        """A range with the numbers of both."""
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Range(low, high)

    def __add__(self, other: Range) -> Range:
        return Range(_add(self.low, other.low), _add(self.high, other.high))

    def __sub__(self, other: Range) -> Range:
        return Range(_add(self.low, _neg(other.high)), _add(self.high, _neg(other.low)))

    def __mul__(self, other: Range) -> Range:
        if None not in (self.low, self.high, other.low, other.high):
            ends = [
                a * b
                for a in (self.low, self.high)
                for b in (other.low, other.high)
                if a is not None and b is not None
            ]
            return Range(min(ends), max(ends))
        if _not_negative(self) and _not_negative(other):
            assert self.low is not None
            assert other.low is not None
            high = None if self.high is None or other.high is None else self.high * other.high
            return Range(self.low * other.low, high)
        return UNKNOWN

    def divided_by(self, divisor: int) -> Range:
        """The quotients by a positive number, rounded down."""
        low = None if self.low is None else self.low // divisor
        return Range(low, None if self.high is None else self.high // divisor)


UNKNOWN = Range()
BOOLEAN = Range(0, 1)


def _add(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def _neg(a: int | None) -> int | None:
    return None if a is None else -a


def _most(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else max(a, b)


def _least(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)


def _not_negative(range: Range) -> bool:
    return range.low is not None and range.low >= 0


def _fitting(range: Range, type: Attribute) -> Range:
    """The range if numbers of the type cannot have wrapped around; nothing is known else."""
    if not isinstance(type, FixedBitwidthType) or type == i1:
        return range
    limit = 1 << (type.bitwidth - 1)
    fits = range.low is not None and range.high is not None and -limit <= range.low
    return range if fits and range.high is not None and range.high < limit else UNKNOWN


# Comparisons, as `arith.cmpi` numbers them.

_EQ, _NE, _SLT, _SLE, _SGT, _SGE, _ULT, _ULE, _UGT, _UGE = range(10)
_NEGATED = {
    _EQ: _NE, _NE: _EQ, _SLT: _SGE, _SGE: _SLT, _SGT: _SLE, _SLE: _SGT,
    _ULT: _UGE, _UGE: _ULT, _UGT: _ULE, _ULE: _UGT,
}  # fmt: skip
_SIGNED = {_ULT: _SLT, _ULE: _SLE, _UGT: _SGT, _UGE: _SGE}


def negated(predicate: int) -> int:
    """The comparison that holds where this one does not."""
    return _NEGATED[predicate]


def compare(predicate: int, left: Range, right: Range) -> bool | None:
    """What a comparison says for all numbers of two ranges, if it says the same for all."""
    if predicate in _SIGNED:
        if not (_not_negative(left) and _not_negative(right)):
            return None
        predicate = _SIGNED[predicate]
    match predicate:
        case _ if predicate == _SLT:
            return _is_less(left, right)
        case _ if predicate == _SGE:
            return _negate(_is_less(left, right))
        case _ if predicate == _SGT:
            return _is_less(right, left)
        case _ if predicate == _SLE:
            return _negate(_is_less(right, left))
        case _ if predicate == _EQ:
            return _is_equal(left, right)
        case _:
            return _negate(_is_equal(left, right))


def _is_less(left: Range, right: Range) -> bool | None:
    if left.high is not None and right.low is not None and left.high < right.low:
        return True
    if left.low is not None and right.high is not None and left.low >= right.high:
        return False
    return None


def _is_equal(left: Range, right: Range) -> bool | None:
    if _is_less(left, right) or _is_less(right, left):
        return False
    if left.constant is not None and left.constant == right.constant:
        return True
    return None


def _negate(verdict: bool | None) -> bool | None:
    return None if verdict is None else not verdict


class IntegerRanges:
    """
    The ranges of the values of a function, as a walk in the order of the text finds them: inside
    `assuming` more is known.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, Range] = {}
        self._found: list[SSAValue] = []
        """What is known, in the order in which it was found."""

    def of(self, value: SSAValue) -> Range:
        """The range of a value."""
        found = self._known.get(value)
        if found is None:
            found = self._known[value] = _fitting(self._find(value), value.type)
            self._found.append(value)
        return found

    def _find(self, value: SSAValue) -> Range:
        constant = constant_integer(value)
        if constant is not None:
            constant = constant & 1 if value.type == i1 else constant
            return Range(constant, constant)
        if isinstance(value, BlockArgument):
            return self._counter(value)
        assert isinstance(value, OpResult)
        op = value.op
        rule = _RULES.get(type(op))
        if rule is not None:
            return rule(self, op)
        if isinstance(op, tile_grid.GetBlockNumOp | tensor_grid.GetBlockNumOp):
            return Range(1, None)
        if isinstance(op, ptensor.DimOp | tile_grid.GridOp | tensor_grid.GridOp):
            return Range(0, None)
        return UNKNOWN

    def _counter(self, value: BlockArgument) -> Range:
        loop = value.block.parent_op()
        if not isinstance(loop, scf.ForOp) or value.index != 0:
            return self._carried(value)
        lower, upper = self.of(loop.lb), self.of(loop.ub)
        step = constant_integer(loop.step)
        if step is None or step <= 0:
            return Range(lower.low, None)
        high = _add(upper.high, -1)
        if high is not None and lower.constant is not None:
            # The last number that is counted.
            high = lower.constant + (high - lower.constant) // step * step
        return Range(lower.low, high)

    def _carried(self, value: BlockArgument) -> Range:
        """An index that a loop carries and never lowers is at least what it starts from."""
        loop = value.block.parent_op()
        if not isinstance(value.type, IndexType):
            return UNKNOWN
        names: set[SSAValue] = {value}
        if isinstance(loop, scf.ForOp):
            place = value.index - 1
            start, next_value = loop.iter_args[place], terminator(loop.body).operands[place]
        elif isinstance(loop, scf.WhileOp):
            passed_on = terminator(loop.before_region).operands[1:]
            first = value
            if value.block is loop.after_region.block:
                first = passed_on[value.index]
            if not isinstance(first, BlockArgument) or first.block is not loop.before_region.block:
                return UNKNOWN
            names.add(first)
            arguments = loop.after_region.block.args
            names.update(a for a, v in zip(arguments, passed_on, strict=True) if v is first)
            start = loop.operands[first.index]
            next_value = terminator(loop.after_region).operands[first.index]
        else:
            return UNKNOWN
        return Range(self.of(start).low) if _never_falls(next_value, names) else UNKNOWN

    @contextmanager
    def assuming(self, condition: SSAValue, holds: bool) -> Generator[None]:
        """Inside, a condition is known to hold, or not to."""
        before: dict[SSAValue, Range] = {}
        self._assume(condition, holds, before)
        mark = len(self._found)
        try:
            yield
        finally:
            # What was found inside may rest on the condition.
            for value in self._found[mark:]:
                del self._known[value]
            del self._found[mark:]
            self._known.update(before)

    def _assume(self, condition: SSAValue, holds: bool, before: dict[SSAValue, Range]) -> None:
        self._restrict(condition, Range(int(holds), int(holds)), before)
        op = condition.owner
        match op:
            case arith.CmpiOp():
                predicate = op.predicate.value.data
                if not holds:
                    predicate = negated(predicate)
                self._assume_comparison(op.lhs, predicate, op.rhs, before)
            case arith.XOrIOp() if constant_integer(op.rhs) is not None:
                self._assume(op.lhs, not holds, before)
            case arith.AndIOp() if holds:
                self._assume(op.lhs, True, before)
                self._assume(op.rhs, True, before)
            case arith.OrIOp() if not holds:
                self._assume(op.lhs, False, before)
                self._assume(op.rhs, False, before)
            case _:
                pass

    def _assume_comparison(
        self, lhs: SSAValue, predicate: int, rhs: SSAValue, before: dict[SSAValue, Range]
    ) -> None:
        left, right = self.of(lhs), self.of(rhs)
        if predicate in _SIGNED:
            if not (_not_negative(left) and _not_negative(right)):
                return
            predicate = _SIGNED[predicate]
        strict = int(predicate in (_SLT, _SGT))
        if predicate in (_SLT, _SLE):
            self._restrict(lhs, Range(None, _add(right.high, -strict)), before)
            self._restrict(rhs, Range(_add(left.low, strict), None), before)
        elif predicate in (_SGT, _SGE):
            self._restrict(lhs, Range(_add(right.low, strict), None), before)
            self._restrict(rhs, Range(None, _add(left.high, -strict)), before)
        elif predicate == _EQ:
            self._restrict(lhs, right, before)
            self._restrict(rhs, left, before)

    def _restrict(self, value: SSAValue, to: Range, before: dict[SSAValue, Range]) -> None:
        known = self.of(value)
        before.setdefault(value, known)
        self._known[value] = known.intersect(to)


_Rule = Callable[[IntegerRanges, Operation], Range]


def _never_falls(value: SSAValue, names: AbstractSet[SSAValue]) -> bool:
    """Whether a value is one of `names`, or that and something that is not negative."""
    todo = [value]
    while todo:
        value = todo.pop()
        if value in names:
            continue
        op = value.owner
        if isinstance(op, arith.AddiOp):
            terms = [(constant_integer(term), term) for term in (op.lhs, op.rhs)]
            others = [term for number, term in terms if number is None]
            if len(others) != 1 or any(number is not None and number < 0 for number, _ in terms):
                return False
            todo += others
        elif isinstance(op, scf.IfOp) and isinstance(value, OpResult):
            todo += [terminator(region).operands[value.index] for region in op.regions]
        else:
            return False
    return True


def _of_two(rule: Callable[[Range, Range], Range]) -> _Rule:
    return lambda ranges, op: rule(ranges.of(op.operands[0]), ranges.of(op.operands[1]))


def _quotient(dividend: Range, divisor: Range) -> Range:
    number = divisor.constant
    return UNKNOWN if number is None or number <= 0 else dividend.divided_by(number)


def _truncated_quotient(dividend: Range, divisor: Range) -> Range:
    return _quotient(dividend, divisor) if _not_negative(dividend) else UNKNOWN


def _remainder(dividend: Range, divisor: Range) -> Range:
    if not _not_negative(dividend) or divisor.low is None or divisor.low <= 0:
        return UNKNOWN
    return Range(0, _least(dividend.high, _add(divisor.high, -1)))


def _minimum(left: Range, right: Range) -> Range:
    low = None if left.low is None or right.low is None else min(left.low, right.low)
    return Range(low, _least(left.high, right.high))


def _maximum(left: Range, right: Range) -> Range:
    high = None if left.high is None or right.high is None else max(left.high, right.high)
    return Range(_most(left.low, right.low), high)


def _comparison(ranges: IntegerRanges, op: Operation) -> Range:
    assert isinstance(op, arith.CmpiOp)
    verdict = compare(op.predicate.value.data, ranges.of(op.lhs), ranges.of(op.rhs))
    return BOOLEAN if verdict is None else Range(int(verdict), int(verdict))


def _selection(ranges: IntegerRanges, op: Operation) -> Range:
    return ranges.of(op.operands[1]).union(ranges.of(op.operands[2]))


def _cast(ranges: IntegerRanges, op: Operation) -> Range:
    """Between `index` and 64 bits a number stays what it is."""
    types = (op.operands[0].type, op.results[0].type)
    widths = [64 if isinstance(t, IndexType) else getattr(t, "bitwidth", 0) for t in types]
    return ranges.of(op.operands[0]) if widths[1] >= widths[0] >= 2 else UNKNOWN


_RULES: Mapping[type[Operation], _Rule] = {
    arith.AddiOp: _of_two(Range.__add__),
    arith.SubiOp: _of_two(Range.__sub__),
    arith.MuliOp: _of_two(Range.__mul__),
    arith.FloorDivSIOp: _of_two(_quotient),
    arith.DivSIOp: _of_two(_truncated_quotient),
    arith.DivUIOp: _of_two(_truncated_quotient),
    arith.RemSIOp: _of_two(_remainder),
    arith.RemUIOp: _of_two(_remainder),
    arith.MinSIOp: _of_two(_minimum),
    arith.MaxSIOp: _of_two(_maximum),
    arith.CmpiOp: _comparison,
    arith.SelectOp: _selection,
    arith.IndexCastOp: _cast,
}
