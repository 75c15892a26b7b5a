"""
Who reads and writes each buffer of a function, in the order of the text.

A call or submit does to its arguments what its callee's directions say, an op what it declares;
what a function returns counts as read. Naming a tensor, yielding it or making a view of it is no
access. A tensor that may be in one buffer or in another counts for both.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from pypto_xdsl.analysis.buffer_roots import BufferRoots, Place, place_written
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.program_order import ProgramOrder
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import DispatchOp, LaunchingOp, ReturnOp


@dataclass(frozen=True, slots=True)
class Access:
    """An op that reads or writes a tensor."""

    time: int
    """When, in the time of `ProgramOrder.read`."""
    op: Operation
    value: SSAValue
    """The tensor, as the op names it."""
    place: Place
    reads: bool
    writes: bool


class BufferAccesses:
    """The accesses to the buffers of a function."""

    def __init__(self, order: ProgramOrder, roots: BufferRoots, calls: CallGraph):
        self._roots = roots
        self._calls = calls
        self._of: dict[SSAValue | None, list[Access]] = {}
        """Root, or None for any buffer -> its accesses."""
        for op in order.ops:
            if any(isinstance(operand.type, TensorType) for operand in op.operands):
                for access in self._accesses(op, order.read(op)):
                    place = access.place
                    for root in place.roots if place.is_complete else (*place.roots, None):
                        self._of.setdefault(root, []).append(access)

    def of(self, root: SSAValue) -> Sequence[Access]:
        """The accesses to a buffer that are known to be to it or to one of a few."""
        return self._of.get(root, ())

    def become_part(self, root: SSAValue, place: Place) -> None:
        """A buffer is a part of another from now on: who accesses it accesses that."""
        for access in self.of(root):
            moved = replace(access, place=place)
            for other in place.roots if place.is_complete else (*place.roots, None):
                insort(self._of.setdefault(other, []), moved, key=_time)

    def between(self, place: Place, start: int, end: int) -> Iterator[Access]:
        """What may access a place after one time and until another."""
        for root in (*place.roots, None):
            accesses = self._of.get(root, ())
            first = bisect_right(accesses, start, key=_time)
            while first < len(accesses) and accesses[first].time <= end:
                if accesses[first].place.may_overlap(place):
                    yield accesses[first]
                first += 1

    def _accesses(self, op: Operation, time: int) -> Iterator[Access]:
        for value, reads, writes, place in self._effects(op):
            if isinstance(value.type, TensorType):
                yield Access(time, op, value, place or self._roots.of(value), reads, writes)

    def _effects(self, op: Operation) -> Iterator[tuple[SSAValue, bool, bool, Place | None]]:
        if isinstance(op, LaunchingOp) and op.predicate_tensor is not None:
            yield op.predicate_tensor, True, False, None
        if isinstance(op, DispatchOp):
            callee = self._calls.callee(op)
            directions = () if callee is None else callee.parameter_directions
            for index, argument in enumerate(op.arguments):
                if index < len(directions):
                    direction = directions[index]
                    yield argument, direction.reads, direction.writes, None
                else:
                    yield argument, True, True, None
        elif isinstance(op, DeclaredOp):
            for operand, effect in op.operand_effects():
                reads = effect.reads and (effect.writes or op.READS_ELEMENTS)
                if reads or effect.writes:
                    place = place_written(self._roots, op, operand) if effect.writes else None
                    yield operand, reads, effect.writes, place
        elif isinstance(op, ReturnOp):
            for operand in op.operands:
                yield operand, True, False, None
        elif not op.regions and not op.has_trait(IsTerminator, value_if_unregistered=False):
            for operand in op.operands:
                yield operand, True, True, None


def _time(access: Access) -> int:
    return access.time
