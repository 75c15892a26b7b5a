"""
The cube core and the vector cores of a group, on tiles: what they wait for.

Kernels that wait for each other run at the same time, one core at a time (`turns.py`). What they
wait for are tiles and free slots of rings, flags, and that all come to one place.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.interpreter import InterpreterFunctions
from xdsl.ir import Operation

from pypto_xdsl.diagnostics import (
    Diagnostic,
    DiagnosticsError,
    OpError,
    diagnose,
    file_line_col,
    note,
)
from pypto_xdsl.dialects import orch
from pypto_xdsl.dialects.ascend910b import FlagMode
from pypto_xdsl.dialects.tile import CoreType
from pypto_xdsl.dialects.tile.sync import SyncSetOp
from pypto_xdsl.interpreters.core_clocks import Clocks, Told
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.machine import Machine, called_from
from pypto_xdsl.interpreters.rings import Ring, RingShape
from pypto_xdsl.interpreters.turns import Turns

TO_VECTOR, TO_CUBE = 1, 2
"""Directions of a ring, as in its `dir_mask`."""

_CORE = "core"


@dataclass(eq=False)
class GroupCore:
    """One core of a group at work."""

    name: str
    place: int
    """Among the cores that run together."""
    is_cube: bool | None
    """None: it runs a kernel that does not say."""
    block: int
    """Of the launch; cores of one block are a group."""
    subblock: int
    """Which of the vector cores."""
    group: CoreGroup
    call: Operation | None = None
    """On whose behalf it runs."""
    opened: dict[int, int] = field(default_factory=dict[int, int])
    """How often it has set up the ring of a number."""
    taken: dict[int, int] = field(default_factory=dict[int, int])
    """How often it has taken the flag of a number."""
    raised: dict[tuple[int, FlagMode], int] = field(default_factory=dict[tuple[int, FlagMode], int])
    """How often it has raised a flag."""
    met: dict[CoreType, int] = field(default_factory=dict[CoreType, int])
    """How often it has come to where cores of a kind meet."""
    turns: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """How often it has given a half away."""
    told: dict[tuple[int, FlagMode], list[Told]] = field(
        default_factory=dict[tuple[int, FlagMode], list[Told]]
    )
    """What it knew each time that it raised a flag."""

    def tell(self) -> Told:
        """What it knows, for others."""
        return self.group.clocks.tell(self.place)

    def hear(self, told: Iterable[Told]) -> None:
        """It is told what others know."""
        self.group.clocks.hear(self.place, told)

    def wait(self, op: Operation, needed: Needed) -> None:
        """Go on once others have done something."""
        group = self.group
        group.turns.offer(self.place)
        if needed.is_there():
            return
        group.waiting[self.place] = op, needed
        group.turns.wait(self.place, needed.is_there)
        del group.waiting[self.place]

    def set_up(self, op: Operation, number: int, shape: RingShape) -> None:
        """Open this core's end of a ring; the other end has to be the same."""
        turn = self.opened.get(number, 0)
        self.opened[number] = turn + 1
        key = self.block, number, turn
        group = self.group
        known = group.rings.setdefault(key, {})
        if not known:
            group.set_up_by[key] = shape, op
            for direction in (TO_VECTOR, TO_CUBE):
                if shape.dir_mask & direction:
                    known[direction] = group.ring(self.block, number, shape, direction)
            return
        other_shape, other = group.set_up_by[key]
        if other_shape != shape:
            raise OpError(
                op,
                f"sets up ring {number} as {shape}, and its other end is {other_shape}",
                [note(other, "the other end is set up here")],
            )

    def ring(self, number: int, direction: int) -> Ring:
        """The ring of a number, in a direction. Raises `ProgramError` where there is none."""
        turn = self.opened.get(number, 0) - 1
        if turn < 0:
            raise ProgramError(f"is about ring {number}, which {self.name} has not set up")
        rings = self.group.rings[self.block, number, turn]
        if direction not in rings:
            shape, _ = self.group.set_up_by[self.block, number, turn]
            raise ProgramError(
                f"is about ring {number}, which passes nothing to the "
                f"{'vector cores' if direction == TO_VECTOR else 'cube core'}: its dir_mask is "
                f"{shape.dir_mask}"
            )
        return rings[direction]

    def raise_flag(self, op: Operation, number: int, mode: FlagMode) -> None:
        """Raise a flag; it is there once all did that raise it together."""
        if mode is FlagMode.ALL:
            self.group.expect_all_blocks()
        self.raised[number, mode] = self.raised.get((number, mode), 0) + 1
        self.told.setdefault((number, mode), []).append(self.tell())
        self.group.raised_by[self.block, number] = op

    def take_flag(self, op: Operation, number: int) -> None:
        """Go on once a flag is there, which is then taken."""
        group, taken = self.group, self.taken.get(number, 0)
        self.wait(
            op,
            Needed(
                f"flag {number}",
                "raises",
                lambda: group.count_of(self, number) > taken,
                lambda: group.late_to_raise(self, number, taken),
            ),
        )
        self.taken[number] = taken + 1
        self.hear(group.told_by_flags(self, number, taken))

    def core_barrier(self, op: Operation, kind: CoreType, count: int | None) -> None:
        """Go on once all cores of a kind have come here as often; or, with `count`, so many."""
        self.group.expect_all_blocks()
        if not self.is_of(kind):
            return
        here = self.met[kind] = self.met.get(kind, 0) + 1
        known = self.tell()
        members = [other for other in self.group.cores if other.is_of(kind)]
        if count is not None:
            arrived = sum(other.met.get(kind, 0) for other in members)
            wanted = -(-arrived // count) * count
            told = self.group.told_at.setdefault((kind, wanted), [])
            told.append(known)
            self.wait(
                op,
                Needed(
                    f"{count} cores to meet",
                    "come",
                    lambda: sum(other.met.get(kind, 0) for other in members) >= wanted,
                    lambda: (),
                ),
            )
            self.hear(told)
            return
        told = self.group.told_at.setdefault((kind, here), [])
        told.append(known)
        self.wait(
            op,
            Needed(
                "other cores to meet",
                "comes",
                lambda: all(other.met.get(kind, 0) >= here for other in members),
                lambda: [o.place for o in members if o.met.get(kind, 0) < here],
            ),
        )
        self.hear(told)

    def gather(self, op: Operation, half: Any) -> Sequence[Any]:
        """Give a half of a tile away; the halves of all vector cores, once they are there."""
        group, turn = self.group, self.turns.get(op, 0)
        self.turns[op] = turn + 1
        halves = group.gathered.setdefault((op, turn), {})
        halves[self.place] = half, self.tell()
        late = [core.place for core in group.cores]
        self.wait(
            op,
            Needed(
                "the other half of a tile",
                "gathers",
                lambda: len(halves) == len(late),
                lambda: [place for place in late if place not in halves],
            ),
        )
        if self.place == late[-1]:
            group.gathered.pop((op, turn), None)
        self.hear(told for _, told in halves.values())
        return [halves[place][0] for place in late]

    def is_of(self, kind: CoreType) -> bool:
        """Whether it is among the cores of a kind."""
        return kind is CoreType.MIX or self.is_cube in (None, kind is CoreType.CUBE)


@dataclass(frozen=True)
class Needed:
    """What a core waits for."""

    what: str
    """As in: waits for ..."""
    verb: str
    """What others do that it waits for: `pushes`."""
    is_there: Callable[[], bool]
    """Whether it goes on."""
    lacking: Callable[[], Sequence[int]]
    """The places of those who have not done it yet, where it does not."""


@dataclass(eq=False)
class CoreGroup:
    """Cores that run kernels together: those of a group, or of the groups of all blocks."""

    blocks: int = 1
    """How many the launch has."""
    seed: int | None = None
    """Of the draw who goes on; None: each until it waits."""
    passes_halves: bool = False
    """They are the vector cores of one region, and give each other what they gather."""
    cores: list[GroupCore] = field(default_factory=list[GroupCore])
    turns: Turns = field(init=False)
    waiting: dict[int, tuple[Operation, Needed]] = field(
        default_factory=dict[int, tuple[Operation, Needed]]
    )
    """By the place of a core."""
    rings: dict[tuple[int, int, int], dict[int, Ring]] = field(
        default_factory=dict[tuple[int, int, int], dict[int, Ring]]
    )
    """By block, number, and how often it was set up before; then by direction."""
    set_up_by: dict[tuple[int, int, int], tuple[RingShape, Operation]] = field(
        default_factory=dict[tuple[int, int, int], tuple[RingShape, Operation]]
    )
    """What the end that was set up first says."""
    gathered: dict[tuple[Operation, int], dict[int, tuple[Any, Told]]] = field(
        default_factory=dict[tuple[Operation, int], dict[int, tuple[Any, Told]]]
    )
    """The halves of what an op gathers for so many times, by vector core."""
    raised_by: dict[tuple[int, int], Operation] = field(
        default_factory=dict[tuple[int, int], Operation]
    )
    """What raised the flag of a number last, in a block."""
    told_at: dict[tuple[CoreType, int], list[Told]] = field(
        default_factory=dict[tuple[CoreType, int], list[Told]]
    )
    """What cores of a kind knew that came to where they meet, each time."""
    clocks: Clocks = field(default_factory=lambda: Clocks([]))

    def __post_init__(self) -> None:
        chance = None if self.seed is None else random.Random(self.seed)
        self.turns = Turns(self._deadlock, chance=chance)

    def add(self, core: GroupCore) -> None:
        """One more core, which knows nothing of the others yet."""
        self.cores.append(core)
        self.clocks = Clocks.of(len(self.cores))

    def ring(self, block: int, number: int, shape: RingShape, direction: int) -> Ring:
        """A new ring between the cores of a block."""
        cores = [core for core in self.cores if core.block == block]
        cube = [core.place for core in cores if core.is_cube is True]
        vector = [core.place for core in cores if core.is_cube is False]
        push, pop = (cube, vector) if direction == TO_VECTOR else (vector, cube)
        return Ring.between(f"ring {number}", shape, push, pop)

    def expect_all_blocks(self) -> None:
        """Raise `ProgramError` where other blocks of the launch do not run beside these."""
        if len({core.block for core in self.cores}) < self.blocks:
            raise ProgramError("waits for the other blocks of its launch, which run later")

    def count_of(self, core: GroupCore, number: int) -> int:
        """How often the flag of a number was there for a core."""
        return sum(
            min((other.raised.get((number, mode), 0) for other in raisers), default=0)
            for mode, raisers in self._raisers(core)
        )

    def told_by_flags(self, core: GroupCore, number: int, taken: int) -> Iterator[Told]:
        """What those knew that have raised a flag which a core takes, after so many others."""
        for mode, raisers in self._raisers(core):
            told = [other.told.get((number, mode), ()) for other in raisers]
            count = min(map(len, told), default=0)
            if count:
                yield from (one[min(taken, count - 1)] for one in told)

    def late_to_raise(self, core: GroupCore, number: int, taken: int) -> Sequence[int]:
        """Who would have to raise a flag: its group, or those that raised it together so far."""
        for mode, raisers in self._raisers(core):
            counts = {other.place: other.raised.get((number, mode), 0) for other in raisers}
            if any(counts.values()):
                return [place for place, count in counts.items() if count <= taken]
        return [other.place for other in self._of_the_other_kind(core)]

    def _raisers(self, core: GroupCore) -> Sequence[tuple[FlagMode, Sequence[GroupCore]]]:
        """Who raises the flags together that are for a core, by how they are raised."""
        alike = [other for other in self.cores if other.is_cube == core.is_cube]
        return (
            (FlagMode.GROUP, self._of_the_other_kind(core)),
            (FlagMode.VECTOR, [other for other in alike if other.block == core.block]),
            (FlagMode.ALL, alike),
        )

    def _of_the_other_kind(self, core: GroupCore) -> Sequence[GroupCore]:
        return [
            other
            for other in self.cores
            if other.block == core.block and other.is_cube != core.is_cube
        ]

    def named(self, places: Iterable[int]) -> str:
        """The names of cores, in a list."""
        return " and ".join(self.cores[place].name for place in places)

    def left_over(self) -> Sequence[tuple[Operation, str]]:
        """What was pushed or raised, and nobody took."""
        found: list[tuple[Operation, str]] = []
        for rings in self.rings.values():
            for ring in rings.values():
                count = max(ring.pushed.values(), default=0)
                late = [place for place, popped in ring.popped.items() if popped < count]
                if ring.last_push is not None and (late or not ring.popped):
                    who = f"{self.named(late)} never" if late else "nobody"
                    found.append((ring.last_push, f"pushes a tile that {who} takes"))
        for (block, number), op in self.raised_by.items():
            late = [
                core.place
                for core in self.cores
                if core.block == block and self.count_of(core, number) > core.taken.get(number, 0)
            ]
            if late:
                found.append(
                    (op, f"raises flag {number} for {self.named(late)}, which never took it")
                )
        return found

    def _deadlock(self) -> Sequence[Diagnostic]:
        """One error: every core that waits, and for whom."""
        found: list[tuple[bool, tuple[int, int], GroupCore, Operation, Needed]] = []
        for place, (op, needed) in self.waiting.items():
            # What comes first is what everything else follows from: it waits for those who have
            # ended, or, where all wait for each other, is the first in the program.
            is_pending = not all(map(self.turns.is_done, needed.lacking()))
            found.append((is_pending, _position(op), self.cores[place], op, needed))
        found.sort(key=lambda one: one[:2])
        (_, _, core, op, needed), *others = found
        who = self.named(needed.lacking())
        never = f"{who} never {needed.verb}" if who else f"nobody {needed.verb}"
        notes = [note(o, f"{other.name} waits for {n.what}") for _, _, other, o, n in others]
        notes += [
            note(other.call, f"{other.name} has come to its end")
            for other in self.cores
            if self.turns.is_done(other.place) and other.call is not None
        ]
        message = f"waits forever: {core.name} waits for {needed.what}, which {never}"
        error = DiagnosticsError((diagnose(op, message, notes),))
        return on_behalf(core, error).diagnostics


def flag_mode(op: SyncSetOp) -> FlagMode:
    """Which cores raise a flag together, and which it is for."""
    return FlagMode.GROUP if op.ffts_mode is None else FlagMode(op.ffts_mode.value.data)


def core_of(machine: Machine) -> GroupCore:
    """The core that a machine is. Raises `ProgramError` where it is none of a group."""
    core = core_if_any(machine)
    if core is None:
        raise ProgramError(
            "is about another core, and runs in no kernel of a core: have a group call it, "
            "together with the kernel of the other core"
        )
    return core


def core_if_any(machine: Machine) -> GroupCore | None:
    """The core that a machine is, None where it is none of a group."""
    return machine.get_data(_Cores, _CORE, lambda: None)


def set_core(machine: Machine, core: GroupCore) -> None:
    """Make a machine a core."""
    machine.set_data(_Cores, _CORE, core)


class _Cores(InterpreterFunctions):
    """Whose data the core is that a machine runs."""


def on_behalf(core: GroupCore, error: DiagnosticsError) -> DiagnosticsError:
    """The same error, with a note that says for whom a core does what it does."""
    if isinstance(core.call, orch.DispatchOp):
        return called_from(error, core.call, core.call.callee_name)
    return error


def _position(op: Operation) -> tuple[int, int]:
    position = file_line_col(op.location)
    return (0, 0) if position is None else position[1:]
