"""Following a program of one core together with what is planned to be inserted into it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import Any

from xdsl.dialects import func
from xdsl.ir import Operation

from pypto_xdsl.analysis.pipe_order import FirstTeachers, Known
from pypto_xdsl.analysis.pipe_walk import PipeWalk, Token
from pypto_xdsl.analysis.sync_plan import Before, Event, Plan
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.ascend910b import Core


class SyncWalk(PipeWalk):
    """Sets and waits for the events of a plan where they are going to be."""

    def __init__(
        self,
        function: func.FuncOp,
        core: Core,
        plan: Plan,
        *,
        ignored: Collection[object] = (),
        kind: type[Known[Any]] = FirstTeachers,
        told_of: Collection[object] | None = None,
    ) -> None:
        super().__init__(function, core, ignored=ignored, kind=kind, told_of=told_of)
        self.plan = plan
        self.index = plan.index()

    @abstractmethod
    def set_event(self, event: Event) -> None:
        """An event of the plan is set."""

    @abstractmethod
    def wait_event(self, event: Event) -> None:
        """An event of the plan is waited for."""

    def before(self, op: Operation) -> None:
        if op in self.plan.barriers_before:
            self.clocks.finish_all(Before(op))
        # What is found meanwhile waits where it is found.
        for event in tuple(self.index.waits.get(op, ())):
            self.wait_event(event)

    def done(self, op: Operation) -> None:
        if op in self.plan.barriers_after:
            self.clocks.finish_all(None)
        for event in self.index.sets.get(op, ()):
            self.set_event(event)

    def enter_loop(self, op: Operation) -> None:
        for event in self.index.carried.get(op, ()):
            self.set_event(event)

    def leave_loop(self, op: Operation) -> None:
        for event in self.index.carried.get(op, ()):
            self.wait_event(event)

    def barrier(self, op: ascend910b.BarrierOp) -> None:
        self.clocks.finish_all(op)

    def put_event(self, event: Event) -> None:
        """The pipe that sets an event has come there."""
        self.put(event, event.source, event.first)

    def take_event(self, event: Event) -> Token | None:
        """The pipe that waits for an event goes on, if it is set at all."""
        self.clocks.begin(event.destination)
        return self.take(event, event.destination, event)


__all__ = ["SyncWalk"]
