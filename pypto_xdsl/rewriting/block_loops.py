"""Loops over the blocks of an extent: one loop for those that are alike, and the rest after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pypto_xdsl.rewriting.locating import locate
from pypto_xdsl.syntax.lists import Index

Body: TypeAlias = "Callable[[BlockLoops, Index, int, Sequence[SSAValue]], Sequence[SSAValue]]"
"""
What is done for a block: from where to insert, the block's start and extent, and the values that
are carried, the values that are carried on.
"""


class BlockLoops:
    """Puts ops, and loops around them, before an op; they get its location."""

    def __init__(self, origin: Operation, point: InsertPoint | None = None):
        self._origin = origin
        self._point = InsertPoint.before(origin) if point is None else point

    def insert(self, op: Operation, hint: str | None = None) -> OpResult:
        """Insert an op of one result, and return that."""
        locate(self._origin.location, op)
        following = self._point.insert_before
        if following is None:
            self._point.block.add_op(op)
        else:
            self._point.block.insert_op_before(op, following)
        result = op.results[0]
        result.name_hint = hint
        return result

    def add(self, lhs: Index, rhs: Index) -> Index:
        """The sum of two indices."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if lhs == 0 or rhs == 0:
            return rhs if lhs == 0 else lhs
        return self.insert(arith.AddiOp(self._value(lhs), self._value(rhs)))

    def over(
        self,
        start: int,
        stop: int,
        block: int,
        carried: Sequence[SSAValue],
        body: Body,
        hint: str | None = None,
    ) -> Sequence[SSAValue]:
        """
        Do `body` for each block of `[start, stop)`, in order. Extents are in elements; `hint`
        names the place of a block.

        Blocks that are alike become a loop, unless there is one alone; a smaller block at the end
        stands after it.
        """
        count, rest = divmod(stop - start, block)
        if count == 1:
            carried = body(self, start, block, carried)
        elif count > 1:
            carried = self._loop(start, start + count * block, block, carried, body, hint)
        if rest:
            carried = body(self, stop - rest, rest, carried)
        return carried

    def _loop(
        self,
        start: int,
        stop: int,
        step: int,
        carried: Sequence[SSAValue],
        body: Body,
        hint: str | None,
    ) -> Sequence[SSAValue]:
        inside = Block(arg_types=[IndexType(), *(value.type for value in carried)])
        first, end, by = (self._value(bound) for bound in (start, stop, step))
        loop = scf.ForOp(first, end, by, carried, Region(inside))
        inside.args[0].name_hint = hint
        for argument, value in zip(inside.args[1:], carried, strict=True):
            argument.name_hint = value.name_hint
        nested = BlockLoops(self._origin, InsertPoint.at_end(inside))
        values = body(nested, inside.args[0], step, inside.args[1:])
        terminator = scf.YieldOp(*values)
        locate(self._origin.location, terminator)
        inside.add_op(terminator)
        self.insert(loop)
        for result, value in zip(loop.results, values, strict=True):
            result.name_hint = value.name_hint
        return loop.results

    def _value(self, index: Index) -> SSAValue:
        if isinstance(index, int):
            constant = arith.ConstantOp.from_int_and_width(index, IndexType())
            return self.insert(constant, f"c{index}")
        return index
