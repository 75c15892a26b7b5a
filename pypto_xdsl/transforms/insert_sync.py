"""
insert-sync: makes the pipes of a core wait for each other wherever they touch the same bytes.

    pto.tload ins(%p : P) outs(%a : T)
    pto.texp ins(%a : T) outs(%b : T)

    pto.tload ins(%p : P) outs(%a : T)
    ascend910b.set_flag MTE2 -> V, 0
    ascend910b.wait_flag MTE2 -> V, 0
    pto.texp ins(%a : T) outs(%b : T)

A pipe is in order by itself, and does not wait for the others. Where two instructions on different
pipes touch bytes that overlap, and one of them writes, the later one must wait for the earlier: an
event is set after the one and waited for before the other, both in the innermost block that holds
both. What a loop's next iteration does with the bytes of this one is ordered by an event that is
set before the outermost loop too, and waited for after it. What is ordered already, by other
events, gets none, so the pass is idempotent. Eight events a pair of pipes are there: one is used
again once its last wait is known to be over; where none is free, a barrier of all pipes takes its
place.

Events that the program already has are kept. One that orders nothing which is not ordered without
it is reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from pypto_xdsl.analysis.control_flow import Shape, is_loop, runs_for_certain, shape_of
from pypto_xdsl.analysis.pipe_accesses import PipeAccess, PipeAccesses, Place
from pypto_xdsl.analysis.pipe_order import LANES, SCALAR, Knowledge, PipeClocks, join
from pypto_xdsl.analysis.walk import walk
from pypto_xdsl.diagnostics import note, remark
from pypto_xdsl.dialects import ascend910b
from pypto_xdsl.dialects.ascend910b import CORE, CORE_OF_KIND, EVENT_COUNT, PROGRAM_ORDER, Core
from pypto_xdsl.dialects.pto import AddressSpace, Pipe, PtoOp
from pypto_xdsl.dialects.pto.section import SectionOp
from pypto_xdsl.properties.checked_pass import CheckedPass
from pypto_xdsl.rewriting.locating import at


@dataclass(frozen=True)
class InsertSyncPass(CheckedPass):
    """Order the pipes of a core by the bytes they share."""

    name = "insert-sync"
    required = ("SSAForm",)
    produced = ("SSAForm",)

    def run(self, ctx: Context, module: ModuleOp) -> None:
        for op in tuple(walk(module)):
            core: Any = op.attributes.get(CORE)
            if core is None or not isinstance(op, func.FuncOp):
                continue
            cores = (Core.AIC, Core.AIV) if core.data is Core.MIX else (core.data,)
            plan = _Plan()
            for one in cores:
                _plan(op, one, plan)
            _apply(plan)
            op.attributes.pop(PROGRAM_ORDER, None)


@dataclass(eq=False)
class _Event:
    """One event: set after an op and waited for before another of the same block."""

    source: int
    destination: int
    first: Operation
    then: Operation
    loop: Operation | None
    """Where a loop's next iteration waits for this one's: the outermost loop around it."""
    number: int | None = None
    tokens: deque[tuple[int, ...]] = field(default_factory=deque[tuple[int, ...]])

    @property
    def pair(self) -> tuple[int, int]:
        return self.source, self.destination


@dataclass
class _Plan:
    """What is to be inserted where."""

    events: dict[_Event, None] = field(default_factory=dict[_Event, None])
    barriers_before: dict[Operation, None] = field(default_factory=dict[Operation, None])
    barriers_after: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def index(self) -> _Index:
        index = _Index()
        for event in self.events:
            event.number = None
            event.tokens.clear()
            index.add(event)
        return index


@dataclass
class _Index:
    """The events by the ops next to which something happens."""

    sets: dict[Operation, list[_Event]] = field(default_factory=dict[Operation, list[_Event]])
    waits: dict[Operation, list[_Event]] = field(default_factory=dict[Operation, list[_Event]])
    carried: dict[Operation, list[_Event]] = field(default_factory=dict[Operation, list[_Event]])

    def add(self, event: _Event) -> None:
        self.sets.setdefault(event.first, []).append(event)
        self.waits.setdefault(event.then, []).append(event)
        if event.loop is not None:
            self.carried.setdefault(event.loop, []).append(event)


@dataclass
class _Touch:
    """The last time that a pipe did something to some bytes."""

    place: Place
    lane: int
    is_write: bool
    time: int
    op: Operation
    iterations: tuple[tuple[Operation, int], ...]


def _plan(function: func.FuncOp, core: Core, plan: _Plan) -> None:
    """Decide what a function needs on one core."""
    accesses = PipeAccesses()
    finding = _Run(function, core, plan, accesses)
    finding.run()
    finding.report_redundant()
    while True:
        numbering = _Run(function, core, plan, accesses, numbers=True)
        numbering.run()
        if not numbering.failed:
            return
        for event in numbering.failed:
            del plan.events[event]
            plan.barriers_before[event.then] = None


class _Run:
    """One run of the text: finds what is not ordered, or gives the events their numbers."""

    def __init__(
        self,
        function: func.FuncOp,
        core: Core,
        plan: _Plan,
        accesses: PipeAccesses,
        *,
        numbers: bool = False,
    ) -> None:
        self.function = function
        self.core = core
        self.plan = plan
        self.accesses = accesses
        self.numbers = numbers
        self.index = plan.index()
        self.clocks = PipeClocks()
        self.touches: dict[object, dict[tuple[Place, int, bool], _Touch]] = {}
        self.iterations: list[tuple[Operation, int]] = []
        self.open: list[tuple[Operation, list[Knowledge]]] = []
        self.after: dict[Operation, dict[int, tuple[int, ...]]] = {}
        self.own_sets: dict[tuple[int, int, int], deque[tuple[Operation, tuple[int, ...]]]] = {}
        self.own_waits: dict[Operation, Operation] = {}
        self.needed: set[Operation] = set()
        # For numbering.
        self.failed: dict[_Event, None] = {}
        self.held: dict[tuple[int, int], set[int]] = {}
        self.waited: dict[tuple[int, int, int], int] = {}
        self.taken: dict[tuple[int, int], set[int]] = {}

    def run(self) -> None:
        for op in walk(self.function):
            if isinstance(op, ascend910b.EventOp) and op.known_event is not None:
                pair = LANES[op.source], LANES[op.destination]
                self.taken.setdefault(pair, set()).add(op.known_event)
        self._block(self.function.body.block)

    def _block(self, block: Block) -> None:
        for op in block.ops:
            self._node(op)

    def _node(self, op: Operation) -> None:
        if op in self.plan.barriers_before:
            self.clocks.finish_all()
        for event in tuple(self.index.waits.get(op, ())):
            self._take(event)
        if isinstance(op, ascend910b.SetFlagOp | ascend910b.WaitFlagOp):
            self._own_event(op)
        elif isinstance(op, ascend910b.BarrierOp):
            if op.is_of_all:
                self.clocks.finish_all()
        elif isinstance(op, func.CallOp):
            self._call(op)
        elif op.regions:
            self._inside(op)
        elif isinstance(op, PtoOp) and (pipe := op.pipe) in LANES:
            assert pipe is not None
            self._instruction(op, LANES[pipe])
        if op in self.plan.barriers_after:
            self.clocks.finish_all()
        for event in tuple(self.index.sets.get(op, ())):
            self._put(event)

    # Instructions.

    def _instruction(self, op: PtoOp, lane: int) -> None:
        clocks = self.clocks
        clocks.begin(lane)
        accesses = tuple(self.accesses.of(op))
        if not self.numbers:
            while (touch := self._unordered(accesses, lane)) is not None:
                self._order(touch, op, lane)
        time = clocks.tick(lane)
        self.after[op] = {lane: clocks.snapshot(lane)}
        iterations = tuple(self.iterations)
        for access in accesses:
            touches = self.touches.setdefault(access.place.memory, {})
            key = access.place, lane, access.is_write
            touches[key] = _Touch(access.place, lane, access.is_write, time, op, iterations)

    def _unordered(self, accesses: tuple[PipeAccess, ...], lane: int) -> _Touch | None:
        """The last thing another pipe did that these accesses must wait for and do not."""
        found: _Touch | None = None
        known = self.clocks.known[lane]
        for access in accesses:
            place = access.place
            for touch in self._in(place):
                if (
                    touch.lane != lane
                    and (access.is_write or touch.is_write)
                    # The scalar unit goes on when it has what it reads.
                    and (touch.is_write or touch.lane != SCALAR)
                    and touch.place.start < place.end
                    and place.start < touch.place.end
                ):
                    if touch.time <= known[touch.lane]:
                        teacher = self.clocks.teacher(lane, touch.lane, touch.time)
                        if teacher is not None:
                            self.needed.add(teacher)
                    elif found is None or touch.time > found.time:
                        found = touch
        return found

    def _in(self, place: Place) -> Iterator[_Touch]:
        memory = place.memory
        if memory is None:
            # Some global memory: it may be any.
            for other, touches in self.touches.items():
                if not isinstance(other, AddressSpace):
                    yield from touches.values()
            return
        yield from self.touches.get(memory, {}).values()
        if not isinstance(memory, AddressSpace):
            yield from self.touches.get(None, {}).values()

    # What orders them.

    def _order(self, touch: _Touch, op: Operation, lane: int) -> None:
        """Make a pipe wait, before an instruction, for what another did."""
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
        outermost = None if loop is None else self.iterations[0][0]
        event = _Event(touch.lane, lane, first, then, outermost)
        self.plan.events[event] = None
        self.index.add(event)
        told = self.after[first][touch.lane]
        self.clocks.learn(lane, told)
        # A wait before a branch or a loop is over in whatever comes after it.
        inside = False
        for opened, states in self.open:
            inside = inside or opened is then
            if inside:
                for state in states:
                    join(state[lane], told)

    def _barrier(self, op: Operation) -> None:
        self.plan.barriers_before[op] = None
        self.clocks.finish_all()

    def _carrier(self, touch: _Touch) -> Operation | None:
        """The outermost loop of which an earlier iteration did something."""
        for (loop, before), (own, now) in zip(touch.iterations, self.iterations, strict=False):
            if loop is not own:
                return None
            if before != now:
                return loop
        return None

    def _put(self, event: _Event) -> None:
        event.tokens.append(self.clocks.snapshot(event.source))
        if not self.numbers:
            return
        pair = event.pair
        held = self.held.setdefault(pair, set())
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

    def _free_number(self, event: _Event, held: set[int]) -> int | None:
        """The number whose last wait is longest over."""
        pair = event.pair
        free = [
            number
            for number in range(EVENT_COUNT)
            if number not in held
            and number not in self.taken.get(pair, ())
            and self._is_over(event, number)
        ]
        return min(free, key=lambda number: self.waited.get((*pair, number), 0), default=None)

    def _is_over(self, event: _Event, number: int) -> bool:
        """Whether the pipe that sets an event knows that it was taken."""
        time = self.waited.get((*event.pair, number), 0)
        return time <= self.clocks.known[event.source][event.destination]

    def _take(self, event: _Event) -> None:
        if not event.tokens:
            return
        self.clocks.begin(event.destination)
        self.clocks.learn(event.destination, event.tokens.popleft())
        time = self.clocks.tick(event.destination)
        if self.numbers and event.number is not None:
            self.waited[(*event.pair, event.number)] = time
            if event.loop is None:
                self.held[event.pair].discard(event.number)

    def _own_event(self, op: ascend910b.EventOp) -> None:
        """An event that the program has."""
        source, destination = LANES[op.source], LANES[op.destination]
        number = op.known_event
        if number is None:
            # Which event it is, is known at run time only: it orders nothing for certain.
            return
        sets = self.own_sets.setdefault((source, destination, number), deque())
        if isinstance(op, ascend910b.SetFlagOp):
            self.clocks.begin(source)
            sets.append((op, self.clocks.snapshot(source)))
            self.clocks.tick(source)
        elif sets:
            set_op, told = sets.popleft()
            self.own_waits[op] = set_op
            self.clocks.begin(destination)
            self.clocks.learn(destination, told, op)
            self.clocks.tick(destination)

    def report_redundant(self) -> None:
        """Tell of events of the program that order nothing."""
        for wait, set_op in self.own_waits.items():
            if wait not in self.needed:
                remark(
                    wait,
                    "is redundant: what it orders is ordered without it, or touches no common byte",
                    [note(set_op, "this sets the event")],
                )

    # Control flow.

    def _call(self, op: Operation) -> None:
        """What a function does is done before and after it."""
        if not self.numbers:
            following = op.next_op
            if any(self.clocks.last):
                self._barrier(op)
            if following is not None and following.next_op is not None:
                self.plan.barriers_after[op] = None

    def _inside(self, op: Operation) -> None:
        if isinstance(op, SectionOp):
            if CORE_OF_KIND[op.kernel_kind] is self.core:
                self._block(op.regions[0].block)
            self._leave(op)
            return
        shape = shape_of(op)
        if shape is Shape.LOOP:
            self._loop(op)
        elif shape is Shape.BRANCH:
            self._branch(op)
        else:
            for region in op.regions:
                for block in region.blocks:
                    self._block(block)
        self._leave(op)

    def _leave(self, op: Operation) -> None:
        self.after[op] = {lane: self.clocks.snapshot(lane) for lane in LANES.values()}

    def _loop(self, op: Operation) -> None:
        clocks = self.clocks
        for event in tuple(self.index.carried.get(op, ())):
            self._put(event)
        entry, last = clocks.copy(), list(clocks.last)
        self.open.append((op, [entry]))
        for iteration in range(2):
            self.iterations.append((op, iteration))
            for region in op.regions:
                for block in region.blocks:
                    self._block(block)
            self.iterations.pop()
        self.open.pop()
        if not runs_for_certain(op):
            clocks.after_loop(entry, last)
        for event in tuple(self.index.carried.get(op, ())):
            self._take(event)
            if self.numbers and event.number is not None:
                self.held[event.pair].discard(event.number)

    def _branch(self, op: Operation) -> None:
        clocks = self.clocks
        entry, last = clocks.copy(), list(clocks.last)
        states: list[Knowledge] = [entry]
        ends: list[tuple[Knowledge, list[int]]] = []
        self.open.append((op, states))
        for region in op.regions:
            clocks.known = [list(row) for row in entry]
            for block in region.blocks:
                self._block(block)
            ends.append((clocks.known, list(clocks.last)))
            states.append(clocks.known)
        self.open.pop()
        clocks.known = clocks.copy()
        clocks.after_branch(last, ends)


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


def _apply(plan: _Plan) -> None:
    pipes = tuple(LANES)
    for op in plan.barriers_before:
        _before(op, ascend910b.BarrierOp(Pipe.ALL))
    for op in plan.barriers_after:
        _after(op, ascend910b.BarrierOp(Pipe.ALL))
    for event in plan.events:
        assert event.number is not None
        arguments = pipes[event.source], pipes[event.destination], event.number
        if event.loop is not None:
            assert is_loop(event.loop)
            _before(event.loop, ascend910b.SetFlagOp(*arguments))
            _after(event.loop, ascend910b.WaitFlagOp(*arguments))
        _after(event.first, ascend910b.SetFlagOp(*arguments))
        _before(event.then, ascend910b.WaitFlagOp(*arguments))


def _before(op: Operation, made: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_op_before(at(op, made), op)


def _after(op: Operation, made: Operation) -> None:
    block = op.parent
    assert block is not None
    block.insert_op_after(at(op, made), op)
