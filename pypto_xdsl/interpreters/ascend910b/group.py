"""
The cores that run a program together: one, or a cube core and its vector cores, or those of all
blocks of a launch, where blocks wait for each other.

Each core's scalar unit goes on until it has to wait, or ends, and hands over to the next
(`interpreters/turns.py`). When no core can go on, the error says who waits for whom.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from pypto_xdsl.diagnostics import Diagnostic, DiagnosticsError, diagnose, file_line_col, note
from pypto_xdsl.dialects import ascend910b, pto
from pypto_xdsl.dialects.ascend910b import FlagMode
from pypto_xdsl.dialects.pto import SyncCoreType
from pypto_xdsl.dialects.pto.cross_core_sync import CrossCoreOp
from pypto_xdsl.dialects.pto.queue import AllocEntryOp, PopOp, PushOp
from pypto_xdsl.interpreters.ascend910b.copy_on_write import Lenders
from pypto_xdsl.interpreters.ascend910b.core import Core
from pypto_xdsl.interpreters.ascend910b.globals import BufferHistory
from pypto_xdsl.interpreters.ascend910b.lanes import EventKey, Lane, Told
from pypto_xdsl.interpreters.core_settings import Check, CoreSettings
from pypto_xdsl.interpreters.turns import Turns

_GO_ON = 0.5
"""How likely another step is, after each thing issued, where chance decides."""


@dataclass(eq=False)
class _Blocked:
    op: Operation
    event: EventKey | None
    who: str


@dataclass(frozen=True)
class _Waiting:
    op: Operation
    who: str


_Token = tuple[Told, Operation]


@dataclass(eq=False)
class Flags:
    """Flags between cores, each a counter."""

    raised: dict[tuple[Core, int], deque[_Token]] = field(
        default_factory=dict[tuple[Core, int], deque[_Token]]
    )
    """By the core that may take one, and the number."""
    begun: dict[tuple[Core, int, FlagMode], deque[_Token]] = field(
        default_factory=dict[tuple[Core, int, FlagMode], deque[_Token]]
    )
    """By the core that raised one, which others have to raise too before it is there."""


@dataclass(eq=False)
class Group:
    """Cores that share global memory and flags."""

    settings: CoreSettings
    cores: list[Core] = field(default_factory=list[Core])
    lanes: list[Lane] = field(default_factory=list[Lane])
    histories: dict[int, BufferHistory] = field(default_factory=dict[int, BufferHistory])
    """By the identity of a buffer of global memory."""
    lenders: Lenders = field(default_factory=Lenders)
    flags: Flags = field(default_factory=Flags)
    """Raised flags that programs name."""
    tiles: Flags = field(default_factory=Flags)
    """Those of filled slots of queues."""
    credits: Flags = field(default_factory=Flags)
    """Those of free slots."""
    arrivals: dict[SyncCoreType, list[list[Told]]] = field(
        default_factory=dict[SyncCoreType, list[list[Told]]]
    )
    """By the kind of cores, for each of their barriers: what those tell that came to it."""
    queued: int = 0
    """How many things are in the queues of all pipes."""
    blocked: dict[Core, _Blocked] = field(default_factory=dict[Core, _Blocked])
    _visits: dict[tuple[Core, SyncCoreType], int] = field(
        default_factory=dict[tuple[Core, SyncCoreType], int]
    )
    _chance: random.Random = field(init=False)
    """Where chance decides."""
    _turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self._turns = Turns(self._deadlock, self.drain)
        if self.settings.seed is not None:
            self._chance = random.Random(self.settings.seed)

    # Pipes.

    def advance(self) -> None:
        """Let pipes go on: all that may, or some where chance decides."""
        if self.settings.seed is None:
            self.drain()
            return
        while self._chance.random() < _GO_ON and self._step_by_chance():
            pass

    def drain(self) -> bool:
        """Let pipes go on until none can; whether any did."""
        did = False
        if not self.queued:
            return did
        if self.settings.seed is not None:
            while self._step_by_chance():
                did = True
            return did
        again = True
        while again:
            again = False
            for core in self.cores:
                for lane in core.lanes:
                    while lane.queue and core.step(lane):
                        again = did = True
        return did

    def _step_by_chance(self) -> bool:
        waiting = [(core, lane) for core in self.cores for lane in core.lanes if lane.queue]
        self._chance.shuffle(waiting)
        return any(core.step(lane) for core, lane in waiting)

    # Flags between cores.

    def raise_flag(
        self,
        core: Core,
        op: Operation,
        lane: Lane,
        number: int,
        flags: Flags | None = None,
        mode: FlagMode = FlagMode.GROUP,
    ) -> None:
        """A core raises a flag; once all did that raise it together, it is there."""
        flags = self.flags if flags is None else flags
        flags.begun.setdefault((core, number, mode), deque()).append((_tell(core, lane), op))
        together = [
            flags.begun.get((other, number, mode))
            for other in self.cores
            if _raise_together(core, other, mode)
        ]
        while all(together):
            tokens = [queue.popleft() for queue in together if queue is not None]
            told = tuple(max(numbers) for numbers in zip(*(t for t, _ in tokens), strict=True))
            for other in self.cores:
                if _is_for(core, other, mode):
                    raised = flags.raised.setdefault((other, number), deque())
                    raised.append((told, tokens[-1][1]))

    def is_raised(self, core: Core, number: int, flags: Flags | None = None) -> bool:
        """Whether a flag is there for a core."""
        return bool((self.flags if flags is None else flags).raised.get((core, number)))

    def take_flag(self, core: Core, lane: Lane, number: int, flags: Flags | None = None) -> None:
        """A core takes a flag that is there."""
        told, _ = (self.flags if flags is None else flags).raised[core, number].popleft()
        for one in core.lanes if core.in_program_order else (lane,):
            core.hear(one, told)

    def core_barrier(
        self, core: Core, op: Operation, kind: SyncCoreType, count: int | None
    ) -> None:
        """
        A core waits for its pipes, and for all cores of a kind to come here as often; with `count`,
        for so many of them.
        """
        core.barrier(op)
        barriers = self.arrivals.setdefault(kind, [])
        if count is None:
            members = [other for other in self.cores if is_of_kind(other.is_cube, kind)]
            needed = len(members)
            place = self._visits.get((core, kind), 0)
            self._visits[core, kind] = place + 1
        else:
            needed = count
            place = sum(map(len, barriers)) // count
        while len(barriers) <= place:
            barriers.append([])
        found = barriers[place]
        found.append(core.scalar.tell())
        if len(found) < needed:
            self.block(core, op, lambda: len(found) >= needed)
        for told in found:
            for lane in core.lanes:
                core.hear(lane, told)

    # Scalar units.

    def run(self, programs: Sequence[Callable[[], None]]) -> None:
        """Run what each core does, to the end."""
        self._turns.run(programs)
        self.drain()
        waiting = [core for core in self.cores if not core.is_idle()]
        if waiting:
            raise DiagnosticsError(self._deadlock())
        self._check_events()

    def block(
        self,
        core: Core,
        op: Operation,
        is_ready: Callable[[], bool],
        event: EventKey | None = None,
        lane: Lane | None = None,
    ) -> None:
        """The scalar unit of a core waits; for a pipe, where all is in the order of the text."""
        who = f"the scalar unit of {core.name}" if lane is None else lane.name
        self.blocked[core] = _Blocked(op, event, who)
        self._turns.wait(self.cores.index(core), is_ready)
        del self.blocked[core]

    # What is wrong when nothing goes on, and at the end.

    def _deadlock(self) -> list[Diagnostic]:
        """One error: everything that waits, and for what."""
        found: list[tuple[bool, _Waiting]] = []
        for core in self.cores:
            blocked = self.blocked.get(core)
            if blocked is not None and not isinstance(blocked.op, ascend910b.BarrierOp):
                found.append((self._is_pending(blocked.event), _Waiting(blocked.op, blocked.who)))
            for lane in core.lanes:
                if lane.queue:
                    entry = lane.queue[0]
                    waiting = _Waiting(entry.op, lane.name)
                    found.append((self._is_pending(entry.event), waiting))
        # What comes first is what everything else follows from: it waits for what nothing that
        # is left sets, or, where all wait for each other, is the first in the program.
        (_, first), *others = sorted(found, key=lambda e: (e[0], _position(e[1].op)))
        notes = [
            note(other.op, f"{other.who} waits for {_awaited(other.op)}") for _, other in others
        ]
        for core in self.cores:
            blocked = self.blocked.get(core)
            if blocked is not None and isinstance(blocked.op, ascend910b.BarrierOp):
                notes.append(note(blocked.op, f"{blocked.who} waits for its pipes"))
        provides = "frees" if isinstance(first.op, PushOp | AllocEntryOp) else "sets"
        provides = "pushes" if isinstance(first.op, PopOp) else provides
        awaited = _awaited(first.op)
        message = f"waits forever: {first.who} waits for {awaited}, which nobody {provides}"
        if isinstance(first.op, pto.SyncAllOp):
            message = f"waits forever: {first.who} waits for {awaited}, and not all of them come"
        return [diagnose(first.op, message, notes)]

    def _is_pending(self, event: EventKey | None) -> bool:
        """Whether something that is left would set an event."""
        if event is None:
            return False
        return any(
            entry.event == event and entry.is_ready is None for entry in self.lanes[event[0]].queue
        )

    def _check_events(self) -> None:
        for core in self.cores:
            for (_, other, number), op in core.left_events():
                core.op = op
                core.complain(
                    Check.EVENT,
                    f"sets event {number} for {self.lanes[other].name}, which never waits for it",
                )
        for (core, number), tokens in self.flags.raised.items():
            for _, op in tokens:
                core.op = op
                core.complain(
                    Check.EVENT, f"raises flag {number} for {core.name}, which never takes it"
                )
        for (core, number, _), tokens in self.flags.begun.items():
            for _, op in tokens:
                core.op = op
                core.complain(
                    Check.EVENT, f"raises flag {number}, which not all cores do that it takes"
                )
        for flags in (self.tiles.raised, self.tiles.begun):
            for key, tokens in flags.items():
                for _, op in tokens:
                    core = key[0]
                    core.op = op
                    others = [o.name for o in self.cores if _is_for(core, o, FlagMode.GROUP)]
                    who = core.name if flags is self.tiles.raised else " and ".join(others)
                    core.complain(Check.EVENT, f"pushes a tile that {who} never takes")


def is_of_kind(is_cube: bool, kind: SyncCoreType) -> bool:
    """Whether a core is among those that meet."""
    return kind is SyncCoreType.MIX or is_cube == (kind is SyncCoreType.AIC_ONLY)


def _raise_together(core: Core, other: Core, mode: FlagMode) -> bool:
    """Whether a flag that a core raises is there only if another raises it too."""
    is_near = mode is FlagMode.ALL or core.block == other.block
    return is_near and core.is_cube == other.is_cube


def _is_for(core: Core, other: Core, mode: FlagMode) -> bool:
    """Whether a flag that a core raises is for another."""
    if mode is FlagMode.GROUP:
        return core.block == other.block and core.is_cube != other.is_cube
    return _raise_together(core, other, mode)


def _tell(core: Core, lane: Lane) -> Told:
    """What a flag tells that a pipe raises."""
    if not core.in_program_order:
        return lane.tell()
    # All that the core did comes before.
    return tuple(max(known) for known in zip(*(one.known for one in core.lanes), strict=True))


def _awaited(op: Operation) -> str:
    if isinstance(op, ascend910b.EventOp):
        number = op.known_event
        return (
            f"event {'?' if number is None else number} of "
            f"{_short(op.source.value)} -> {_short(op.destination.value)}"
        )
    if isinstance(op, ascend910b.CrossFlagOp | CrossCoreOp):
        number = op.known_flag
        return f"flag {'?' if number is None else number} of the other core"
    if isinstance(op, PopOp):
        return f"a tile of queue {op.queue_id}"
    if isinstance(op, PushOp | AllocEntryOp):
        return f"a free slot of queue {op.queue_id}"
    if isinstance(op, pto.SyncAllOp):
        return "other cores to meet"
    return "what is before it"


def _position(op: Operation) -> tuple[int, int]:
    position = file_line_col(op.location)
    return (0, 0) if position is None else position[1:]


def _short(pipe: str) -> str:
    return pipe.removeprefix("PIPE_")
