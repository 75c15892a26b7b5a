"""
Which carried values of a loop are only another name, and which need a variable.

The text of an orchestration function has variables where the program has values. A value that
each iteration hands on as it came, perhaps written meanwhile, is the variable that the loop
started from; any other is assigned at the end of each iteration, it is *rebound*:

    scf.for ... iter_args(%cur = %a, %acc = %b) {
      %nxt  = ptensor.create
      %nxt1 = orch.call @fill(input %cur, output_existing %nxt)
      %acc1 = orch.call @add(input %nxt1, inout %acc)
      scf.yield %nxt1, %acc1                    // %cur is rebound, %acc is not
    }

A value has the name of another if it is the result of a call or submit that returns it, the
destination of an op that writes it, what a scope hands out, or the init of a loop that does not
rebind it. Views and results of branches have names of their own, arrays and task identities one
each time they are handed on.

In a manual scope a task waits for the tasks that it names and no others. The iterations of a
parallel loop are not ordered, so that whoever waits for the loop must wait for all of them: the
identity it hands on is an array with a slot an iteration, and one that a sequential loop hands on
from such a loop is an array too.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Operation, OpResult, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots
from pypto_xdsl.analysis.control_flow import (
    Shape,
    constant_trip_count,
    forwarding,
    shape_of,
    terminator,
)
from pypto_xdsl.analysis.walk import Event, tour
from pypto_xdsl.dialects.declared_op import DeclaredOp
from pypto_xdsl.dialects.orch import (
    TASK_ID,
    DispatchOp,
    FuncOp,
    ScopeMode,
    TaskScopeOp,
    is_array,
    is_sequential,
)

NO_SLOTS = 0
"""The value is no array of tasks."""
UNKNOWN_SLOTS = -1
"""The value is an array of as many tasks as nobody knows."""


@dataclass(frozen=True)
class CarryClassification:
    """What each carried value of a loop is."""

    rebound: tuple[bool, ...]
    """Whether it is assigned in each iteration."""
    task_slots: tuple[int, ...]
    """How many tasks the array has that it is; `NO_SLOTS`; `UNKNOWN_SLOTS`."""


class CarryNames:
    """The names of the values of a function, and so what its loops carry."""

    def __init__(self, function: FuncOp, roots: BufferRoots):
        self._roots = roots
        self._names: dict[SSAValue, SSAValue] = {}
        self._slots: dict[SSAValue, int] = {}
        """Name -> how many tasks it has, where it has any."""
        self.loops: dict[scf.ForOp, CarryClassification] = {}
        """The loops that carry something, inner ones first."""
        manual_scopes = 0
        for event, op, _ in tour(function):
            if event is Event.ENTER:
                manual_scopes += _is_manual(op)
                if not op.regions:
                    self._name_results(op)
            elif event is Event.LEAVE:
                manual_scopes -= _is_manual(op)
                if isinstance(op, scf.ForOp):
                    self._classify(op, in_manual=manual_scopes > 0)
                elif shape_of(op) is Shape.SEQUENCE:
                    for step in forwarding(op):
                        self._names[step.target] = self.of(step.source)

    def of(self, value: SSAValue) -> SSAValue:
        """The value that first had the name of a value."""
        return self._names.get(value, value)

    def _name_results(self, op: Operation) -> None:
        for result in op.results:
            named = self._named(op, result)
            if named is not None:
                self._names[result] = self.of(named)

    def _named(self, op: Operation, result: OpResult) -> SSAValue | None:
        if isinstance(op, DeclaredOp):
            return None if op.is_view(result) else op.named_operand(result)
        if isinstance(op, DispatchOp) and not self._roots.may_allocate(result):
            sources = self._roots.sources(result)
            return sources[0] if len(sources) == 1 else None
        return None

    def _classify(self, loop: scf.ForOp, in_manual: bool) -> None:
        if not loop.results:
            return
        rebound: list[bool] = []
        slots: list[int] = []
        carried, yielded = loop.body.block.args[1:], terminator(loop.body).operands
        for argument, init, end, result in zip(
            carried, loop.iter_args, yielded, loop.results, strict=True
        ):
            name = self.of(end)
            is_rebound = argument.type == TASK_ID or name is not argument
            if not is_rebound and not is_array(argument.type):
                self._names[result] = self.of(init)
            rebound.append(is_rebound)
            slots.append(self._task_slots(loop, name) if in_manual else NO_SLOTS)
            if slots[-1] != NO_SLOTS:
                self._slots[result] = slots[-1]
        self.loops[loop] = CarryClassification(tuple(rebound), tuple(slots))

    def _task_slots(self, loop: scf.ForOp, yielded: SSAValue) -> int:
        if yielded.type != TASK_ID:
            return NO_SLOTS
        if is_sequential(loop):
            return self._slots.get(yielded, NO_SLOTS)
        trips = constant_trip_count(loop)
        return UNKNOWN_SLOTS if trips is None else trips


def _is_manual(op: Operation) -> bool:
    return isinstance(op, TaskScopeOp) and op.mode.data is ScopeMode.MANUAL
