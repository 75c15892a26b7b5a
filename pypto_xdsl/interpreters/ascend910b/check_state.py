"""
What the checks of a core depend on, as numbers: which instruction of each lane was the last to
touch what, and which ones each lane knows to be done.

The checks only compare numbers of one lane with each other, remember the larger one, and count. So
if a turn of a loop moves some of them by as much as each lane has counted on, leaves the others
as they are, and the moved ones are the larger ones, then the next turn does the same, and finds
nothing that this one did not find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.core import Core
    from pypto_xdsl.interpreters.ascend910b.memory import Segment

Renumber: TypeAlias = Callable[[int, int], int]
"""`(number, what it counts) -> number`: lanes by their index, then the writes of memories."""


@dataclass
class CheckState:
    """The numbers of one moment, in an order that only depends on `structure`."""

    structure: list[Any] = field(default_factory=list[Any])
    """Everything else that the checks depend on."""
    numbers: list[int] = field(default_factory=list[int])
    counters: list[int] = field(default_factory=list[int])
    """What each number counts."""
    counts: list[int] = field(default_factory=list[int])
    """How far each counter is."""
    looks: int = 0
    """How often it took more than these numbers to check an access to global memory."""

    @classmethod
    def of(cls, core: Core) -> CheckState:
        """The state of a core."""
        state = cls(counts=_counts(core))
        state.looks = sum(history.looks for history in core.group.histories.values())

        def record(number: int, counter: int) -> int:
            state.numbers.append(number)
            state.counters.append(counter)
            return number

        state.structure.extend(_renumber(core, record))
        return state

    def moved_to(self, after: CheckState) -> Motion | None:
        """How a turn of a loop got from here to there, where every following one does the same."""
        if (
            self.looks != after.looks
            or self.structure != after.structure
            or self.counters != after.counters
        ):
            return None
        steps = [new - old for old, new in zip(self.counts, after.counts, strict=True)]
        moves: list[bool] = []
        least: dict[int, int] = {}
        largest: dict[int, int] = {}
        for old, new, counter in zip(self.numbers, after.numbers, self.counters, strict=True):
            step = steps[counter]
            moved = new != old
            if moved and new - old != step:
                return None
            moves.append(moved)
            if moved:
                least[counter] = min(old, least.get(counter, old))
            elif step:
                largest[counter] = max(old, largest.get(counter, old))
        if any(bound <= largest.get(counter, -1) for counter, bound in least.items()):
            return None
        return Motion(steps, moves)


@dataclass
class Motion:
    """What a turn of a loop does to the numbers."""

    steps: list[int]
    """How far each counter gets."""
    moves: list[bool]
    """Which numbers move with their counters."""

    def apply(self, core: Core, turns: int) -> None:
        """Move the numbers of a core as so many turns do; the counters are moved already."""
        moves = iter(self.moves)
        steps = [step * turns for step in self.steps]

        def move(number: int, counter: int) -> int:
            return number + steps[counter] if next(moves) else number

        for _ in _renumber(core, move):
            pass


def _counts(core: Core) -> list[int]:
    counts = [len(lane.ops) for lane in core.group.lanes]
    return counts + [memory.writes for memory in core.memories.values()]


def _renumber(core: Core, change: Renumber) -> Iterator[Any]:
    """Change each number; everything else, and where the numbers stand in it."""
    group = core.group

    def changed(told: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([change(number, lane) for lane, number in enumerate(told)])

    yield group.queued
    told = core.told
    new = changed(told)
    for lane in group.lanes:
        lane.known[:] = changed(tuple(lane.known))
        yield lane.seen is told
        if lane.seen is told:
            lane.seen = new
    core.told = new
    for key, tokens in core.events.items():
        if tokens:
            yield key
            yield [op for _, op in tokens]
            for place, (carried, op) in enumerate(tokens):
                tokens[place] = changed(carried), op
    for history in group.histories.values():
        for traces in (history.writes, history.reads):
            yield list(traces)
            for lane, trace in traces.items():
                trace.last = change(trace.last, lane)
    for place, memory in enumerate(core.memories.values()):
        for segment in memory.segments.values():
            yield from _renumber_segment(segment, change, len(group.lanes) + place)


def _renumber_segment(segment: Segment, change: Renumber, writes: int) -> Iterator[Any]:
    yield segment.held
    yield segment.is_stale
    yield segment.is_spoiled
    write = segment.write
    if write is not None:
        yield write.span
        yield write.lane
        write.number = change(write.number, write.lane)
        write.when = change(write.when, writes)
    for lane, read in segment.reads.items():
        yield read.span
        read.number = change(read.number, lane)
    yield list(segment.reads)
