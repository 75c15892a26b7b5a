"""
How much an orchestrator does at least: ops that it goes through, and tasks that it launches.

    LeastWork(calls).of_body(loop.body)     # of each trip

It is told from the text alone, in one look at each op: loops whose bounds may be found to be
anything, and the larger arms of branches, count as nothing; of loops with a bound that is certain
not to be found, so many trips count as are given. So what follows a program step by step can refuse
a loop before its first trip, where all of them would be too many.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.ir import Operation, Region, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.control_flow import constant_trip_count
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import DispatchOp, ScopeOp, TaskDummyOp
from pypto_xdsl.dialects.ptensor.types import is_tensor_type


@dataclass(frozen=True)
class Work:
    """What is done at least."""

    steps: int = 0
    """Ops, each as often as it is done; a trip of a loop is one too."""
    tasks: int = 0
    """Launched, the allocations of buffers among them."""

    def __add__(self, other: Work) -> Work:
        return Work(self.steps + other.steps, self.tasks + other.tasks)

    def times(self, count: int) -> Work:
        """So many times."""
        return Work(count * self.steps, count * self.tasks)


_STEP = Work(steps=1)


@dataclass
class LeastWork:
    """The least work of the bodies of a program."""

    calls: CallGraph
    unknown: Collection[SSAValue] = ()
    """Parameters that nobody gave a value."""
    unknown_trips: int = 0
    """So many trips are followed of a loop with a bound that is unknown for certain."""
    _known: dict[Region, Work] = field(default_factory=dict[Region, Work])

    def of_body(self, region: Region) -> Work:
        """What is done each time that a region is."""
        todo = [region]
        while todo:
            # What is inside comes first.
            missing = [r for op in _ops(todo[-1]) for r in self._inside(op) if r not in self._known]
            if missing:
                todo += missing
                continue
            found = todo.pop()
            self._known[found] = sum(map(self._of, _ops(found)), start=Work())
        return self._known[region]

    def of_trip(self, loop: scf.ForOp) -> Work:
        """What is done in each trip of a loop."""
        return _STEP + self.of_body(loop.body)

    def _is_unknown(self, loop: scf.ForOp) -> bool:
        """Whether a bound of a loop is for certain not known before a run."""
        return any(
            bound in self.unknown
            # What is read of tensors.  A call may hand on what is known.
            or (isinstance(bound.owner, DeclaredOp) and not isinstance(bound.owner, DispatchOp))
            for bound in loop.operands[:3]
        )

    def _inside(self, op: Operation) -> Sequence[Region]:
        """The regions that are done as a part of an op."""
        match op:
            case DispatchOp():
                callee = self.calls.callee(op)
                if callee is None or callee.kind.data.is_device or callee.is_declaration:
                    return ()
                return () if self.calls.is_recursive(op) else (callee.body,)
            case scf.ForOp() | scf.IfOp():
                return op.regions
            case scf.WhileOp() | ScopeOp() | scf.ExecuteRegionOp():
                return op.regions[:1]
            case _:
                return ()

    def _of(self, op: Operation) -> Work:
        inside = [self._known[region] for region in self._inside(op)]
        match op:
            case scf.ForOp():
                trips = constant_trip_count(op)
                if trips is None:
                    trips = self.unknown_trips if self._is_unknown(op) else 0
                return _STEP + (_STEP + inside[0]).times(trips)
            case scf.IfOp():
                return Work(1 + min(a.steps for a in inside), min(a.tasks for a in inside))
            case DispatchOp() | TaskDummyOp():
                return sum(inside, start=_STEP) if inside else Work(1, 1)
            case DeclaredOp():
                made = [
                    result
                    for result in op.results
                    if is_tensor_type(result.type) and op.named_operand(result) is None
                ]
                return Work(1, len(made))
            case _:
                return sum(inside, start=_STEP)


def _ops(region: Region) -> Iterator[Operation]:
    """The ops of a region without the one that ends it."""
    block = region.first_block
    for op in () if block is None else block.ops:
        if op.next_op is not None or op.regions:
            yield op
