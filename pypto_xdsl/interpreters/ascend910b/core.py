"""
One core at work: its memories, its pipes, its events.

The scalar unit walks the program and issues instructions; each goes to the queue of its pipe and
runs when all before it there have run and what it waits for is there. By default a pipe goes on as
soon as it may, so that what waits for nothing runs when it is issued; with a seed, chance decides
which pipe goes on. Either way an access that no event orders is found, whatever order is taken:
each pipe knows what it has waited for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.interpreter import PythonValues
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import DiagnosticsError, Note, OpError, note, warn
from pypto_xdsl.dialects.ascend910b import MEMORY_NAMES
from pypto_xdsl.dialects.pto import AddressSpace, Pipe, TileBufType
from pypto_xdsl.interpreters.ascend910b.globals import BufferHistory
from pypto_xdsl.interpreters.ascend910b.lanes import (
    PIPE_COUNT,
    PIPE_NUMBERS,
    Entry,
    EventKey,
    Lane,
    Told,
)
from pypto_xdsl.interpreters.ascend910b.memory import CoreMemory, CoreTile, Span, Touch
from pypto_xdsl.interpreters.ascend910b.rules import instruction_problem, tile_problem
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.execution import Prepared
from pypto_xdsl.interpreters.pto.memory import Memory
from pypto_xdsl.interpreters.values import Buffer

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.group import Group
    from pypto_xdsl.interpreters.ascend910b.queues import Queue

ALIGNMENTS: Mapping[AddressSpace, int] = {
    AddressSpace.LEFT: 512,
    AddressSpace.RIGHT: 512,
    AddressSpace.ACC: 512,
}
"""What the address of a view must be a multiple of, where it is not a block of 32 bytes."""

_BLOCK = 32

_LENIENT_ROOM = 8
"""How many times its size a memory has where what reaches outside is only warned of."""

_VECTOR_PIPES = frozenset({Pipe.V})
_CUBE_PIPES = frozenset({Pipe.M, Pipe.MTE1, Pipe.FIX})


@dataclass(eq=False)
class Core:
    """One core of a group."""

    name: str
    """`the vector core`"""
    is_cube: bool
    subblock: int
    """Which vector core of its group."""
    group: Group
    sizes: Mapping[AddressSpace, int]
    settings: CoreSettings
    lanes: list[Lane]
    in_program_order: bool = False
    """Whether nothing says yet how the pipes wait for each other."""
    block: int = 0
    """Which block of the launch it is a core of."""
    memories: dict[AddressSpace, CoreMemory] = field(default_factory=dict[AddressSpace, CoreMemory])
    events: dict[EventKey, deque[tuple[Told, Operation]]] = field(
        default_factory=dict[EventKey, deque[tuple[Told, Operation]]]
    )
    queues: dict[int, Queue] = field(default_factory=dict[int, "Queue"])
    """The core's ends of queues, by number."""
    scalar: Lane = field(init=False)
    """The scalar unit."""
    lane: Lane = field(init=False)
    """Of the instruction at work."""
    number: int = 0
    op: Operation | None = None
    scalar_number: int = 0
    """What the scalar unit had done when it issued the instruction at work."""
    told: Told | None = None
    _kept: dict[int, TileBufType] = field(default_factory=dict[int, TileBufType])
    _equal: dict[TileBufType, TileBufType] = field(default_factory=dict[TileBufType, TileBufType])
    _originals: list[TileBufType] = field(default_factory=list[TileBufType])
    _checked: set[Operation] = field(default_factory=set[Operation])
    _warned: set[tuple[Operation | None, Check]] = field(
        default_factory=set[tuple[Operation | None, Check]]
    )

    def __post_init__(self) -> None:
        self.lane = self.scalar = self.lanes[PIPE_NUMBERS[Pipe.S]]
        self.told = self.scalar.tell()

    def reset(self, group: Group) -> None:
        """Make it a core of a group that has not run yet. What is known of the program stays."""
        self.group = group
        for lane in self.lanes:
            lane.reset()
        for memory in self.memories.values():
            memory.reset()
        for tokens in self.events.values():
            tokens.clear()
        self.queues.clear()
        self.lane, self.op, self.told = self.scalar, None, self.scalar.tell()

    def lane_of(self, pipe: Pipe) -> Lane:
        """The lane of a pipe."""
        number = PIPE_NUMBERS.get(pipe)
        if number is None or pipe in (_VECTOR_PIPES if self.is_cube else _CUBE_PIPES):
            raise ProgramError(
                f"is about pipe {pipe.value.removeprefix('PIPE_')}, which {self.name} does not have"
            )
        return self.lanes[number]

    def check_instruction(self, op: Operation) -> None:
        """Complain, once, of what the hardware has no instruction for."""
        if op in self._checked:
            return
        self._checked.add(op)
        problem = instruction_problem(op)
        if problem is not None:
            self.op = op
            self.complain(Check.RULE, problem)

    def keep(self, type: TileBufType) -> TileBufType:
        """A type that lives as long as the core, the same object for the same type."""
        found = self._kept.get(id(type))
        if found is not None:
            return found
        if type not in self._equal:
            self._equal[type] = type
            problem = tile_problem(type)
            if problem is not None:
                self.complain(Check.RULE, problem)
        # A type that equals another may go away; what stands for it may not be looked up by its
        # identity then, so both are kept.
        self._originals.append(type)
        kept = self._equal[type]
        self._kept[id(type)] = self._kept[id(kept)] = kept
        return kept

    # Views.

    def view(self, type: TileBufType, address: int, valid: tuple[int, int]) -> CoreTile:
        """The bytes at an address as a tile."""
        space = type.space
        memory = self.memories.get(space)
        if memory is None:
            size = self.sizes.get(space)
            if size is None:
                raise ProgramError(f"is in {MEMORY_NAMES[space]}, which {self.name} does not have")
            room = _LENIENT_ROOM if Check.BOUNDS in self.settings.lenient else 1
            memory = self.memories[space] = CoreMemory.of(self, space, size * room)
        end, size = address + type.size_in_bytes, self.sizes[space]
        if address < 0 or end > size:
            message = f"is bytes {address}..{end} of {MEMORY_NAMES[space]}, which has {size}"
            self.complain(Check.BOUNDS, message)
            if address < 0 or end > memory.bytes.size:
                raise ProgramError(f"{message}: cannot go on without them")
        alignment = ALIGNMENTS.get(space, _BLOCK)
        if address % alignment:
            self.complain(
                Check.ALIGNMENT,
                f"starts at byte {address} of {MEMORY_NAMES[space]}, which is no multiple of "
                f"{alignment}",
            )
        return CoreTile(memory, address, self.keep(type), valid)

    # Instructions.

    def issue(self, lane: Lane, op: Operation, run: Callable[[], Any]) -> None:
        """Give a pipe something to do."""
        if self.settings.seed is None and not lane.queue:
            self._run(lane, op, run, self.told, len(self.scalar.ops))
            return
        self._enqueue(lane, op, run, None)

    def run_scalar(self, op: Operation, run: Callable[[], Any]) -> Any:
        """The scalar unit does something that touches memory."""
        return self._run(self.scalar, op, run, self.told, len(self.scalar.ops))

    def _enqueue(
        self,
        lane: Lane,
        op: Operation,
        run: Callable[[], Any],
        is_ready: Callable[[], bool] | None,
        event: EventKey | None = None,
    ) -> None:
        assert self.told is not None
        entry = Entry(op, run, is_ready, self.told, len(self.scalar.ops), event)
        lane.queue.append(entry)
        self.group.queued += 1
        self.group.advance()

    def _run(
        self,
        lane: Lane,
        op: Operation,
        run: Callable[[], Any],
        told: Told | None,
        scalar_number: int,
    ) -> Any:
        self._start(lane, op, told, scalar_number)
        try:
            return run()
        except DiagnosticsError:
            raise
        except ProgramError as e:
            raise OpError(op, str(e)) from e

    def _start(self, lane: Lane, op: Operation, told: Told | None, scalar_number: int) -> None:
        """A lane begins with something, knowing what the scalar unit told it."""
        if lane.seen is not told and told is not None:
            # What the scalar unit touched itself is told by an event only.
            own = self.scalar.index
            before = lane.known[own]
            lane.learn(told)
            if lane.index != own:
                lane.known[own] = before
            lane.seen = told
        self.lane, self.op, self.scalar_number = lane, op, scalar_number
        self.number = lane.begin(op)

    def starts(self, lane: Lane, op: Operation) -> bool:
        """Begin with something in a lane, if it may run at once; whether it may."""
        if lane.queue or self.settings.seed is not None:
            return False
        told, ops = self.told, lane.ops
        if lane.seen is told:
            self.lane, self.op, self.scalar_number = lane, op, len(self.scalar.ops)
            ops.append(op)
            self.number = lane.known[lane.index] = len(ops)
        else:
            self._start(lane, op, told, len(self.scalar.ops))
        return True

    def step(self, lane: Lane) -> bool:
        """Run the next thing of a pipe, if it may; whether it did."""
        if not lane.queue:
            return False
        entry = lane.queue[0]
        if entry.is_ready is not None and not entry.is_ready():
            return False
        lane.queue.popleft()
        self.group.queued -= 1
        self._run(lane, entry.op, entry.run, entry.scalar, entry.scalar_number)
        return True

    # Events.

    def setting(self, op: Operation, source: Pipe, destination: Pipe, number: int) -> Prepared:
        """What lets a pipe set an event once it got here."""
        lane, other = self.lane_of(source), self.lane_of(destination)
        key = lane.index, other.index, number
        tokens = self.events.setdefault(key, deque())
        is_direct = lane is not self.scalar and self.settings.seed is None

        def run() -> None:
            if tokens:
                self.complain(
                    Check.EVENT,
                    "sets an event that is still set: nobody waited for it since",
                    [note(tokens[0][1], "it was set here")],
                )
            tokens.append((lane.tell(), op))

        def issue(_: PythonValues) -> PythonValues:
            if tokens or not is_direct or lane.queue or lane.seen is not self.told:
                self._give(lane, op, run, None, key)
                return ()
            # It touches nothing, so that it needs no number of its own.
            tokens.append((tuple(lane.known), op))
            # Another pipe may be waiting for it.
            if self.group.queued:
                self.group.advance()
            return ()

        return issue

    def waiting(self, op: Operation, source: Pipe, destination: Pipe, number: int) -> Prepared:
        """What lets a pipe wait for an event, and take it."""
        lane, other = self.lane_of(destination), self.lane_of(source)
        key = other.index, lane.index, number
        tokens = self.events.setdefault(key, deque())
        is_direct = lane is not self.scalar and self.settings.seed is None

        def run() -> None:
            self.hear(lane, tokens.popleft()[0])

        def issue(_: PythonValues) -> PythonValues:
            if not tokens or not is_direct or lane.queue or lane.seen is not self.told:
                self._give(lane, op, run, lambda: bool(tokens), key)
            else:
                lane.learn(tokens.popleft()[0])
            return ()

        return issue

    def hear(self, lane: Lane, told: Told) -> None:
        """A lane learns something; if it is the scalar unit, so does all it issues from now on."""
        lane.learn(told)
        if lane is self.scalar:
            self.told = lane.tell()

    def _give(
        self,
        lane: Lane,
        op: Operation,
        run: Callable[[], None],
        is_ready: Callable[[], bool] | None,
        event: EventKey | None = None,
    ) -> None:
        if lane is self.scalar:
            if is_ready is not None and not is_ready():
                self.group.block(self, op, is_ready, event)
            self._run(lane, op, run, self.told, len(self.scalar.ops))
            self.told = lane.tell()
            self.group.advance()
        elif self.in_program_order:
            # What comes after it in the text waits as well.
            if is_ready is not None and not is_ready():
                self.group.block(self, op, is_ready, event, lane)
            self._run(lane, op, run, self.told, len(self.scalar.ops))
            self.group.advance()
        elif self.settings.seed is None and not lane.queue and (is_ready is None or is_ready()):
            self._run(lane, op, run, self.told, len(self.scalar.ops))
            if is_ready is None:
                # Something was set that another pipe may be waiting for.
                self.group.advance()
        else:
            self._enqueue(lane, op, run, is_ready, event)

    def give(
        self,
        pipe: Pipe,
        op: Operation,
        run: Callable[[], None],
        is_ready: Callable[[], bool] | None = None,
    ) -> None:
        """Give a pipe something that is no access: a flag to set, or to wait for."""
        self._give(self.lane_of(pipe), op, run, is_ready)

    def barrier(self, op: Operation) -> None:
        """The scalar unit waits until all pipes are idle."""
        if not self.is_idle():
            self.group.block(self, op, self.is_idle)
        for lane in self.lanes:
            self.scalar.learn(lane.known)
        told = self.told = self.scalar.tell()
        for lane in self.lanes:
            lane.learn(told)
            lane.seen = told

    def is_idle(self) -> bool:
        """Whether every queue is empty."""
        return not any(lane.queue for lane in self.lanes)

    def left_events(self) -> Iterable[tuple[EventKey, Operation]]:
        """Events that are set, and who set them."""
        for key, tokens in self.events.items():
            for _, op in tokens:
                yield key, op

    # Checks.

    def complain(self, check: Check, message: str, notes: Iterable[Note] = ()) -> None:
        """Raise at the op at work, or warn once."""
        op = self.op
        assert op is not None
        if check not in self.settings.lenient:
            raise OpError(op, message, notes)
        if (op, check) not in self._warned:
            self._warned.add((op, check))
            warn(op, message, notes)

    def touch(self, memory: CoreMemory, span: Span, *, is_write: bool) -> None:
        """The instruction at work reads or writes bytes of a memory of the core."""
        lane = self.lane
        known, own = lane.known, lane.index
        for other in span.segment.neighbours:
            write = other.write
            if write is not None and write.number > known[write.lane] and write.lane != own:
                self._unordered(memory, span, write, is_write, "written")
            if is_write and other.reads:
                for read in other.reads.values():
                    if (
                        read.number > known[read.lane]
                        and read.lane != own
                        and not self._was_read_before_issue(read.lane, read.number)
                    ):
                        self._unordered(memory, span, read, is_write, "read")
        segment = span.segment
        if is_write:
            memory.writes = when = memory.writes + 1
            write = segment.write
            if write is None:
                segment.write = Touch(own, self.number, span, when)
            else:
                write.lane, write.number, write.span, write.when = own, self.number, span, when
            if segment.reads:
                segment.reads.clear()
        else:
            read = segment.reads.get(own)
            if read is None:
                segment.reads[own] = Touch(own, self.number, span, memory.writes)
            else:
                read.number, read.span = self.number, span

    def _was_read_before_issue(self, lane: int, number: int) -> bool:
        """Whether the scalar unit had read something when it issued the instruction at work."""
        # It goes on when it has the value; what it writes, it does not wait for.
        return lane == self.scalar.index and number <= self.scalar_number

    def _unordered(
        self, memory: Memory, span: Span, earlier: Touch, is_write: bool, what: str
    ) -> None:
        if self.in_program_order or not span.shares_bytes_with(earlier.span):
            return
        lane = self.group.lanes[earlier.lane]
        start = max(span.segment.start, earlier.span.segment.start)
        end = min(span.segment.end, earlier.span.segment.end)
        self.complain(
            Check.ORDER,
            f"{'writes' if is_write else 'reads'} bytes {start}..{end} of "
            f"{MEMORY_NAMES[memory.space]} on {self.lane.name} that {lane.name} may still have "
            f"to {what.replace('written', 'write')}: no event orders them",
            [note(lane.ops[earlier.number - 1], f"they are {what} here")],
        )

    def undefined(self, memory: CoreMemory, span: Span, defined: Mask) -> None:
        """The instruction at work reads elements that nobody wrote."""
        missing = np.argwhere(~defined)
        row, column = (int(index) for index in missing[0])
        count = len(missing)
        place = _place(span, row, column)
        size = span.element.storage.itemsize
        writer = memory.writer_of(place)
        notes: list[Note] = []
        if writer is not None:
            op = self.group.lanes[writer.lane].ops[writer.number - 1]
            notes.append(note(op, "this used them last, and left nothing that means anything"))
        self.complain(
            Check.UNDEFINED,
            f"reads bytes {place}..{place + size} of {MEMORY_NAMES[memory.space]}, which nobody "
            f"wrote: element [{row}, {column}] of {list(defined.shape)}"
            + (f", and {count - 1} more" if count > 1 else ""),
            notes,
        )

    def touch_global(self, buffer: Buffer, view: Array, *, is_write: bool) -> None:
        """The instruction at work reads or writes global memory."""
        history = self.group.histories.get(id(buffer))
        if history is None:
            history = self.group.histories[id(buffer)] = BufferHistory(
                buffer, buffer.memory.itemsize, self.group.lenders.lender_of(buffer.memory)
            )
        if is_write and history.lender.borrowers:
            history.lender.recall(view)
        found = history.touch(self.lane, self.number, view, is_write=is_write)
        if found is None:
            return
        lane, number, was_write = found
        if not was_write and self._was_read_before_issue(lane, number):
            return
        if self.in_program_order and self.group.lanes[lane] in self.lanes:
            return
        earlier = self.group.lanes[lane]
        self.complain(
            Check.ORDER,
            f"{'writes' if is_write else 'reads'} global memory on {self.lane.name} that "
            f"{earlier.name} may still have to {'write' if was_write else 'read'}: nothing "
            "orders them",
            [note(earlier.ops[number - 1], f"it is {'written' if was_write else 'read'} here")],
        )


def _place(span: Span, row: int, column: int) -> int:
    """The address of an element."""
    if span.places is not None:
        return span.start + int(span.places[row, column]) * span.element.storage.itemsize
    values = span.values
    assert values is not None
    if values.ndim == 2:
        index = (row, column)
    else:
        high, wide = values.shape[1], values.shape[3]
        index = (row // high, row % high, column // wide, column % wide)
    steps = zip(index, values.strides, strict=True)
    return span.start + sum(place * stride for place, stride in steps)


def make_lanes(first: int, core_name: str, count: int) -> list[Lane]:
    """The lanes of a core, the first of which has this index among `count`."""
    return [
        Lane(first + place, pipe, core_name, [0] * count) for pipe, place in PIPE_NUMBERS.items()
    ]


__all__ = ["PIPE_COUNT", "Core", "make_lanes"]
