"""The walk of `insert-sync` that finds what is not ordered, and what orders the rest."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import func
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from pypto_xdsl.analysis.pipe_accesses import ANYWHERE, PipeAccess, PipeAccesses
from pypto_xdsl.analysis.pipe_order import LANES, Known, SharedTeachers
from pypto_xdsl.analysis.pipe_touches import Touch, Touches
from pypto_xdsl.analysis.sync_plan import Before, Event, Plan
from pypto_xdsl.analysis.sync_walk import SyncWalk
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.ascend910b import CORE_OF_KIND, Core
from pypto_xdsl.dialects.pto import PtoOp
from pypto_xdsl.dialects.pto.queue import FreeOp, PopOp, PushOp
from pypto_xdsl.dialects.pto.section import SectionOp

_LEAST_REMEMBERED = 16
"""Of less than this it is not asked whether it can be forgotten."""


class Finding(SyncWalk):
    """Adds to a plan what is missing, and tells what of all that there is is needed."""

    def __init__(
        self,
        function: func.FuncOp,
        core: Core,
        plan: Plan,
        accesses: PipeAccesses,
        *,
        ignored: Collection[object] = (),
        kind: type[Known[Any]] = SharedTeachers,
        told_of: Collection[object] | None = None,
    ) -> None:
        super().__init__(function, core, plan, ignored=ignored, kind=kind, told_of=told_of)
        self.added = False
        """Whether something was missing."""
        self.needed: set[object] = set()
        """Events and barriers of the plan, waits and barriers of the program."""
        self.accesses = accesses
        places = {
            access.place
            for op in walk(function)
            if isinstance(op, PtoOp) and op.pipe in LANES
            for access in accesses.of(op)
        }
        self._touches = Touches((*places, ANYWHERE))
        self._most = _LEAST_REMEMBERED
        """How much may be remembered before it is looked for what can be forgotten."""
        self._taken: dict[Operation, dict[Operation, None]] = {}
        """Of waits of the program, the sets that they were seen to take."""
        self._keys: dict[Operation, Hashable] = {}
        self._barriers: dict[Operation, None] = {}

    # What the plan says.

    def before(self, op: Operation) -> None:
        super().before(op)
        # What was known before a branch or a loop is known again after it.
        if op.regions:
            self._forget()

    def set_event(self, event: Event) -> None:
        self.put_event(event)

    def wait_event(self, event: Event) -> None:
        self.take_event(event)

    # What the program says.

    def heard(self, wait: Operation, key: Hashable, sets: Sequence[Operation]) -> None:
        self._keys[wait] = key
        self._taken.setdefault(wait, {}).update(dict.fromkeys(sets))

    def barrier(self, op: ascend910b.BarrierOp) -> None:
        self._barriers[op] = None
        super().barrier(op)

    def flag(self, op: ascend910b.CrossFlagOp) -> None:
        self.clocks.begin(lane := LANES[op.pipe.data])
        self._tells_cores(lane)
        time = self.clocks.tick(lane)
        if isinstance(op, ascend910b.WaitCrossFlagOp):
            self._hears_cores(op, lane, time)

    def call(self, op: func.CallOp) -> None:
        # What a function does is done before and after it.
        clocks = self.clocks
        if not clocks.is_all_done():
            self._barrier(op)
        for mine in clocks.known:
            for known, last in zip(mine, clocks.last, strict=True):
                self.needed.update(known.teachers(last))
        following = self._barrier_behind(op)
        if following is not None:
            self.needed.add(following)
        elif op not in self.plan.barriers_after and (self.iterations or _is_followed(op)):
            self.plan.barriers_after[op] = None
            self.added = True
        for lane in LANES.values():
            self._tells_cores(lane)
            self.clocks.tick(lane)

    def _barrier_behind(self, op: Operation) -> Operation | None:
        """The barrier of the program that comes next on this core, if nothing comes before it."""
        following = op.next_op
        while isinstance(following, SectionOp):
            if CORE_OF_KIND[following.kernel_kind] is self.core:
                following = following.body.block.first_op
            else:
                following = following.next_op
        is_barrier = isinstance(following, ascend910b.BarrierOp) and following.is_of_all
        return following if is_barrier else None

    def _tells_cores(self, lane: int) -> None:
        """Whatever a pipe knows now, others will rely on."""
        for known in self.clocks.known[lane]:
            self.needed.update(known.teachers(known.time))

    def _hears_cores(self, op: Operation, lane: int, time: int) -> None:
        """A pipe was told something of global memory."""
        hint = Touch(lane, True, time, op, tuple(self.iterations), is_hint=True)
        self._touches.record(ANYWHERE, hint)

    # Branches.

    def enter_branch(self) -> None:
        self._touches.begin_branch()

    def leave_way(self) -> None:
        self._touches.end_way()

    def leave_branch(self) -> None:
        self._touches.end_branch()

    # Instructions.

    def instruction(self, op: PtoOp, lane: int) -> None:
        clocks = self.clocks
        clocks.begin(lane)
        accesses = self.accesses.of(op)
        while (touch := self._unordered(accesses, lane)) is not None:
            self._order(touch, op, lane)
        if isinstance(op, PushOp | FreeOp):
            self._tells_cores(lane)
        time = clocks.tick(lane)
        self.after[op] = {lane: clocks.snapshot(lane)}
        iterations = tuple(self.iterations)
        for access in accesses:
            touch = Touch(lane, access.is_write, time, op, iterations)
            self._touches.record(access.place, touch)
        if isinstance(op, PopOp | PushOp):
            self._hears_cores(op, lane, time)

    def _forget(self) -> None:
        """Have what is remembered grow with what may still be asked for, not with the program."""
        if self.clocks.size() > self._most:
            self.clocks.forget(self._touches.times())
            self._most = 2 * self.clocks.size() + _LEAST_REMEMBERED

    def _unordered(self, accesses: Sequence[PipeAccess], lane: int) -> Touch | None:
        """The last thing another pipe did that these accesses must wait for and do not."""
        found: Touch | None = None
        mine = self.clocks.known[lane]
        for access in accesses:
            for touch in self._touches.against(access, lane):
                known = mine[touch.lane]
                if touch.time <= known.time:
                    self.needed.update(known.teachers(touch.time))
                elif not touch.is_hint and (found is None or touch.time > found.time):
                    found = touch
        return found

    # What orders them.

    def _order(self, touch: Touch, op: Operation, lane: int) -> None:
        """Make a pipe wait, before an instruction, for what another did."""
        self.added = True
        loop = self._carrier(touch)
        home = _common_block(touch.op, op, loop)
        if home is None:
            self._barrier(op)
            return
        first, then = _child_in(home, touch.op), _child_in(home, op)
        if loop is None and first is then:
            self._barrier(op)
            return
        # Each wait in a loop is followed by a set, so one event is there before and after it: at
        # the outermost loop as well as at the one that carries it, and there but once.
        outermost = None if loop is None else self.outermost
        event = Event(touch.lane, lane, first, then, outermost)
        self.plan.events[event] = None
        self.index.add(event)
        self.new.add(event)
        told = self.after[first][touch.lane]
        self.clocks.learn(lane, told, event)
        # A wait before a branch or a loop is over in whatever comes after it.
        inside = False
        for opened, states in self.open:
            inside = inside or opened is then
            if inside:
                for state in states:
                    self.clocks.join(state[lane], told, event)

    def _barrier(self, op: Operation) -> None:
        if op not in self.plan.barriers_before:
            self.plan.barriers_before[op] = None
            self.added = True
            self.clocks.finish_all(Before(op))

    def _carrier(self, touch: Touch) -> Operation | None:
        """The outermost loop of which an earlier iteration did something."""
        for (loop, before), (own, now) in zip(touch.iterations, self.iterations, strict=False):
            if loop is not own:
                return None
            if before != now:
                return loop
        return None

    # What of the program may go.

    def spare(self) -> Iterator[Redundant]:
        """What of the program is not needed, one by one, besides what was ignored."""
        for waits, sets in self._groups():
            is_unclear = any(self._keys[wait] in self.unclear for wait in waits)
            if not is_unclear and self.needed.isdisjoint(waits) and waits[0] not in self.ignored:
                yield Redundant(waits, sets)
        for op in self._barriers:
            # One that ends a program has nothing to order.
            if op not in self.needed and _is_followed(op):
                yield Redundant((op,), ())

    def _groups(self) -> Iterator[tuple[tuple[Operation, ...], tuple[Operation, ...]]]:
        """Waits of the program and the sets that they take; those that share one together."""
        takers: dict[Operation, list[Operation]] = {}
        for wait, sets in self._taken.items():
            for op in sets:
                takers.setdefault(op, []).append(wait)
        seen: set[Operation] = set()
        for start in self._taken:
            if start in seen:
                continue
            waits: dict[Operation, None] = {}
            sets: dict[Operation, None] = {}
            todo = [start]
            while todo:
                wait = todo.pop()
                if wait in waits:
                    continue
                waits[wait] = None
                for op in self._taken[wait]:
                    if op not in sets:
                        sets[op] = None
                        todo += takers[op]
            seen.update(waits)
            yield tuple(waits), tuple(sets)


@dataclass(frozen=True)
class Redundant:
    """What of a program can go without a loss of order."""

    waits: tuple[Operation, ...]
    """Waits for events, or a barrier."""
    sets: tuple[Operation, ...]
    """What sets these events."""


def _is_followed(op: Operation) -> bool:
    """Whether anything but the ends of blocks comes after an op in its function."""
    while not isinstance(op, func.FuncOp):
        following, parent = op.next_op, op.parent_op()
        if parent is None:
            return True
        while following is not None:
            if following.next_op is not None or not following.has_trait(
                IsTerminator, value_if_unregistered=False
            ):
                return True
            following = following.next_op
        op = parent
    return False


def _ancestors(op: Operation) -> Iterator[Block]:
    block = op.parent
    while block is not None:
        yield block
        parent = block.parent_op()
        block = None if parent is None else parent.parent


def _common_block(first: Operation, second: Operation, loop: Operation | None) -> Block | None:
    """The innermost block that holds both; that of a loop's own body, if given."""
    around = set(_ancestors(first))
    for block in _ancestors(second):
        if block in around and (loop is None or block.parent_op() is loop):
            return block
    return None


def _child_in(block: Block, op: Operation) -> Operation:
    """The op directly in a block that is or holds an op."""
    while op.parent is not block:
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


__all__ = ["Finding", "Redundant"]
