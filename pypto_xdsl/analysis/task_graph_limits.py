"""
How large a task graph gets before it is refused, with the loops that make it so.

A loop whose trips would certainly be too many is refused before the first, as are loops in each
other whose bounds only a run knows, of which some trips are followed each; else it is counted what
is done.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from pypto_xdsl.analysis.call_graph import CallGraph
from pypto_xdsl.analysis.least_work import LeastWork
from pypto_xdsl.diagnostics import Note, OpError, note
from pypto_xdsl.dialects.orch import FuncOp

MOST_TASKS = 20_000
"""A graph of more tasks is refused: its loops are better given smaller bounds."""
MOST_EDGES = 1_000_000
"""So is one with more edges, what the orchestrator waits for itself among them."""
MOST_STEPS = 400_000
"""The orchestrator is followed for so many ops and trips of loops."""

UNKNOWN_TRIPS = 2
"""So many trips are followed of a loop whose bounds only a run knows."""

_NO_FURTHER = ", which is not followed further"
_ADVICE = "give it smaller bounds to see its graph"


@dataclass
class Limits:
    """Counts what is done, and raises `OpError` where it is too much."""

    function: FuncOp
    calls: CallGraph
    unknown: Collection[SSAValue] = ()
    """Parameters of the function that nobody gave a value."""
    around: list[Operation] = field(default_factory=list[Operation])
    """The loops that are being followed, outermost first."""
    _steps: int = 0
    _edges: int = 0
    _least: LeastWork = field(init=False)

    def __post_init__(self) -> None:
        self._least = LeastWork(self.calls, self.unknown, UNKNOWN_TRIPS)

    def expect_trips(self, loop: scf.ForOp, trips: int, tasks: int) -> None:
        """The trips of a loop are to be followed, after so many tasks."""
        work = self._least.of_trip(loop).times(trips)
        if tasks + work.tasks > MOST_TASKS:
            raise self._error(
                loop,
                f"launches at least {work.tasks} tasks in {trips} trips, and a graph of more than "
                f"{MOST_TASKS} is not followed: {_ADVICE}",
            )
        if self._steps + work.steps > MOST_STEPS:
            raise self._error(
                loop,
                f"takes the orchestrator at least {work.steps} steps in {trips} trips, and more "
                f"than {MOST_STEPS} are not followed: {_ADVICE}",
            )

    def expect_array(self, op: Operation, extent: int) -> None:
        """An array of tasks is made."""
        if extent > MOST_TASKS:
            raise self._error(op, f"holds {extent} tasks, and a graph has {MOST_TASKS} at most")

    def count_step(self, op: Operation) -> None:
        """An op is followed, or a trip of a loop."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise self._error(op, f"is step {self._steps} of the orchestrator{_NO_FURTHER}")

    def count_task(self, op: Operation, number: int) -> None:
        """A task is launched, after so many others."""
        if number >= MOST_TASKS:
            raise self._error(op, f"is task {number} of the graph{_NO_FURTHER}")

    def count_edges(self, op: Operation, count: int) -> None:
        """Something waits for so many tasks."""
        self._edges += count
        if self._edges > MOST_EDGES:
            raise self._error(op, f"makes edge {self._edges} of the graph{_NO_FURTHER}")

    def _error(self, op: Operation, message: str) -> OpError:
        return OpError(op, message, self._notes())

    def _notes(self) -> Iterator[Note]:
        for loop in reversed(self.around):
            yield note(loop, "in this loop")
        yield note(self.function, "the graph is of this function")
