"""
Live-in values: what a region reads and does not define, in the order in which it is first read
by the program as it is written in PyPTO.

A computation on scalars is read where its result is first used by something else, as the
expression that it was in the source: in `tile.load %a[%offset, 0]`, `%a` comes before what
`%offset` is computed from. A loop reads the values that it carries before its bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.scalar_computation import is_constant, is_scalar_computation
from pypto_xdsl.analysis.walk import blocks_inside, walk
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.tile.storage import AllocOp


@dataclass(frozen=True)
class LiveIns:
    """What the regions of an op read and do not define, each once, in reading order."""

    values: tuple[SSAValue, ...]
    constants: tuple[Operation, ...]
    """
    Those that are constants, and buffers on chip that are declared outside, which a closed function
    repeats instead of receiving.
    """


def live_ins(op: Operation, *, besides: Operation | None = None) -> LiveIns:
    """
    What the regions of `op` read from outside; the operands of `op` itself, and of the op inside
    it that is given, do not count.
    """
    search = _Search()
    for inner in walk(op):
        if inner is not op and inner is not besides:
            search.visit(inner)
        for block in blocks_inside(inner):
            search.inside.update(block.args)
    search.finish()
    return LiveIns(tuple(search.values), tuple(search.constants))


class _Search:
    def __init__(self) -> None:
        self.inside = set[SSAValue]()
        """Defined so far."""
        self.values = dict[SSAValue, None]()
        self.constants = dict[Operation, None]()
        self._unread = dict[Operation, None]()
        """Computations on scalars that nothing else has used so far."""

    def visit(self, op: Operation) -> None:
        if is_scalar_computation(op):
            self._unread[op] = None
        else:
            self._read(_reading_order(op))
        self.inside.update(op.results)

    def finish(self) -> None:
        for op in tuple(self._unread):
            self._read(op.operands)

    def _read(self, values: Iterable[SSAValue]) -> None:
        todo = [*values][::-1]
        while todo:
            value = todo.pop()
            owner = value.owner
            if value in self.inside:
                if owner in self._unread:
                    assert isinstance(owner, Operation)
                    del self._unread[owner]
                    todo.extend(reversed(owner.operands))
            elif isinstance(owner, AllocOp) or (
                isinstance(owner, Operation) and is_constant(owner)
            ):
                self.constants.setdefault(owner)
            else:
                self.values.setdefault(value)


def _reading_order(op: Operation) -> Iterable[SSAValue]:
    if isinstance(op, scf.ForOp):
        return (*op.iter_args, op.lb, op.ub, op.step)
    if isinstance(op, DeclaredOp):
        return op.operands_as_read()
    return op.operands
