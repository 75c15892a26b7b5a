"""The walk of `insert-sync` that gives each event a number that is free while it is in use."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Operation

from pypto_xdsl.analysis.pipe_order import LANES
from pypto_xdsl.analysis.sync_plan import Event, Plan
from pypto_xdsl.analysis.sync_walk import SyncWalk
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.ascend910b import EVENT_COUNT, Core
from pypto_xdsl.dialects.pto import PtoOp


class Numbering(SyncWalk):
    """Numbers the events of a plan, or says which find none."""

    def __init__(self, function: func.FuncOp, core: Core, plan: Plan) -> None:
        super().__init__(function, core, plan, told_of=())
        self.failed: dict[Event, None] = {}
        """Events for which there is no number."""
        self._held: dict[tuple[int, int], set[int]] = {}
        """By pair of pipes, the numbers of events that are set, or carried by a loop around."""
        self._waited: dict[tuple[int, int, int], int] = {}
        """When a number of a pair was waited for last."""
        self._taken: dict[tuple[int, int], set[int]] = {}
        """Numbers that the program itself uses."""
        for op in walk(function):
            if isinstance(op, ascend910b.EventOp) and op.known_event is not None:
                pair = LANES[op.source], LANES[op.destination]
                self._taken.setdefault(pair, set()).add(op.known_event)

    def leave_loop(self, op: Operation) -> None:
        super().leave_loop(op)
        for event in self.index.carried.get(op, ()):
            if event.number is not None:
                self._held[event.pair].discard(event.number)

    def instruction(self, op: PtoOp, lane: int) -> None:
        self.clocks.begin(lane)
        self.clocks.tick(lane)

    def set_event(self, event: Event) -> None:
        self.put_event(event)
        held = self._held.setdefault(event.pair, set())
        if event.number is None:
            event.number = self._free_number(event, held)
            if event.number is None:
                self.failed[event] = None
                return
        elif (event.number in held and event.loop is None) or not self._is_over(
            event, event.number
        ):
            self.failed[event] = None
        held.add(event.number)

    def _free_number(self, event: Event, held: set[int]) -> int | None:
        """The number whose last wait is longest over."""
        pair = event.pair
        free = [
            number
            for number in range(EVENT_COUNT)
            if number not in held
            and number not in self._taken.get(pair, ())
            and self._is_over(event, number)
        ]
        return min(free, key=lambda number: self._waited.get((*pair, number), 0), default=None)

    def _is_over(self, event: Event, number: int) -> bool:
        """Whether the pipe that sets an event knows that it was taken."""
        time = self._waited.get((*event.pair, number), 0)
        return time <= self.clocks.known[event.source][event.destination].time

    def wait_event(self, event: Event) -> None:
        if self.take_event(event) is None:
            return
        time = self.clocks.tick(event.destination)
        if event.number is not None:
            self._waited[(*event.pair, event.number)] = time
            if event.loop is None:
                self._held[event.pair].discard(event.number)


__all__ = ["Numbering"]
