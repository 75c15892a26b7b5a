"""
Which tasks may have written a buffer before, in the same scope of a function.

`visit_dispatches` walks a function in program order and shows each call and submit what was
written before it:

* tasks in a row, and in scopes, come one after the other;
* a task in a loop comes after what was written before the loop; what other iterations write is
  not prior to it (the kind of the loop says whether they are ordered);
* the arms of a branch do not see each other; what follows sees both.

Windows that cannot overlap do not count; of one buffer a few are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.buffer_roots import BufferRoots, Place, Window
from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.control_flow import Shape, shape_of
from pypto_xdsl.analysis.walk import Event, tour
from pypto_xdsl.dialects.orch import DispatchOp, FuncOp, is_sequential

MOST_WINDOWS = 16
"""So many windows of a buffer are told apart; more count as all of it."""


class PriorWrites:
    """The buffers and windows written so far."""

    def __init__(self) -> None:
        self._written: dict[SSAValue | None, list[Window | None]] = {}
        """Root, or None for any buffer -> the windows written; None: anywhere in it."""
        self._log: list[tuple[SSAValue | None, Window | None]] = []

    def may_cover(self, place: Place) -> bool:
        """Whether something in a place may have been written."""
        if None in self._written or not place.is_complete:
            return bool(self._log)
        return any(self._overlaps(root, place.window) for root in place.roots)

    def _overlaps(self, root: SSAValue, window: Window | None) -> bool:
        for written in reversed(self._written.get(root, ())):
            if written is None or window is None or written.overlaps(window):
                return True
        return False

    def add(self, place: Place) -> None:
        """Something in a place is written now."""
        for root in place.roots:
            self._add(root, place.window)
        if not place.is_complete:
            self._add(None, None)

    def _add(self, root: SSAValue | None, window: Window | None) -> None:
        windows = self._written.setdefault(root, [])
        if len(windows) >= MOST_WINDOWS:
            window = None
        if window not in windows:
            windows.append(window)
            self._log.append((root, window))

    def mark(self) -> int:
        """This moment, for `forget_since`."""
        return len(self._log)

    def forget_since(self, mark: int) -> list[tuple[SSAValue | None, Window | None]]:
        """Take back what was written after a moment, for another arm of a branch."""
        taken = self._log[mark:]
        del self._log[mark:]
        for root, _ in reversed(taken):
            windows = self._written[root]
            windows.pop()
            if not windows:
                del self._written[root]
        return taken

    def restore(self, taken: Sequence[tuple[SSAValue | None, Window | None]]) -> None:
        """Both arms of a branch count for what follows it."""
        for root, window in taken:
            self._add(root, window)


Visitor = Callable[[DispatchOp, PriorWrites, int], None]
"""A call or submit, what was written before it, and how many sequential loops it is in."""


def visit_dispatches(
    function: FuncOp, calls: CallGraph, roots: BufferRoots, visitor: Visitor
) -> None:
    """Show a visitor each call and submit of a function, in program order."""
    writes = PriorWrites()
    sequential_loops = 0
    branches: list[tuple[int, list[tuple[SSAValue | None, Window | None]]]] = []
    """Of each branch around: when it was entered, and what its earlier arms wrote."""
    for event, op, _ in tour(function):
        if event is Event.ENTER:
            if isinstance(op, DispatchOp):
                visitor(op, writes, sequential_loops)
                _add_writes(op, calls, roots, writes)
            elif op.regions:
                sequential_loops += runs_in_sequence(op)
                if shape_of(op) is Shape.BRANCH:
                    branches.append((writes.mark(), []))
        elif event is Event.LEAVE_REGION and shape_of(op) is Shape.BRANCH:
            mark, arms = branches[-1]
            arms.extend(writes.forget_since(mark))
        elif event is Event.LEAVE:
            sequential_loops -= runs_in_sequence(op)
            if shape_of(op) is Shape.BRANCH:
                writes.restore(branches.pop()[1])


def runs_in_sequence(op: Operation) -> bool:
    """Whether the regions of an op run again and again, one after the other."""
    shape = shape_of(op)
    return shape is Shape.UNKNOWN or (shape is Shape.LOOP and is_sequential(op))


def _add_writes(
    dispatch: DispatchOp, calls: CallGraph, roots: BufferRoots, writes: PriorWrites
) -> None:
    callee = calls.callee(dispatch)
    if callee is None:
        return
    for argument, direction in zip(dispatch.arguments, callee.parameter_directions, strict=False):
        if direction.writes:
            writes.add(roots.of(argument))
