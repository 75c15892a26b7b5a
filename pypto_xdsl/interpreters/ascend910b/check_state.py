"""
What the checks of a core depend on, as numbers: which instruction of each lane was the last to
touch what, and which ones each lane knows to be done.

The checks only compare numbers of one lane with each other, remember the larger one, and count. So
if an iteration of a loop moves some of them by as much as each lane has counted on, leaves the
others as they are, and the moved ones are the larger ones, then the next iteration does the same,
and finds nothing that this one did not find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from xdsl.ir import Operation

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.core import Core


@dataclass
class CheckState:
    """The numbers of one moment, in an order that only depends on `structure`."""

    structure: list[Any] = field(default_factory=list[Any])
    """Everything else that the checks depend on."""
    numbers: list[int] = field(default_factory=list[int])
    counters: list[int] = field(default_factory=list[int])
    """What each number counts: lanes by their index, then the writes of memories."""
    counts: list[int] = field(default_factory=list[int])
    """How far each counter is."""
    looks: int = 0
    """How often it took more than these numbers to check an access to global memory."""

    @classmethod
    def of(cls, core: Core) -> CheckState:
        """The state of a core."""
        group = core.group
        lanes = range(len(group.lanes))
        counts = [len(lane.ops) for lane in group.lanes]
        counts += [memory.writes for memory in core.memories.values()]
        state = cls(counts=counts)
        structure, numbers, counters = state.structure, state.numbers, state.counters
        told = core.told
        assert told is not None
        structure.append(group.queued)
        numbers.extend(told)
        for lane in group.lanes:
            numbers.extend(lane.known)
            structure.append(lane.seen is told)
        counters.extend(lanes)
        for _ in lanes:
            counters.extend(lanes)
        for key, tokens in core.events.items():
            if tokens:
                structure.append(key)
                for carried, op in tokens:
                    structure.append(op)
                    numbers.extend(carried)
                    counters.extend(lanes)
        for history in group.histories.values():
            state.looks += history.looks
            for traces in (history.writes, history.reads):
                structure.append(len(traces))
                for lane, trace in traces.items():
                    numbers.append(trace.last)
                    counters.append(lane)
        for place, memory in enumerate(core.memories.values(), len(lanes)):
            for segment in memory.segments.values():
                write = segment.write
                structure.append((segment.held, segment.is_stale, segment.is_spoiled))
                if write is not None:
                    structure.append(write.span)
                    numbers += (write.number, write.when)
                    counters += (write.lane, place)
                structure.append(len(segment.reads))
                for lane, read in segment.reads.items():
                    structure.append(read.span)
                    numbers.append(read.number)
                    counters.append(lane)
        return state

    def restore(self, core: Core, ops: Sequence[list[Operation]], iterations: int) -> None:
        """
        Bring a core into this state, which iterations led to of which each gives its lanes these
        ops. The structure is that of the core already.
        """
        group, told = core.group, core.told
        for lane, each in zip(core.lanes, ops, strict=True):
            lane.ops.extend(each * iterations)
        width = len(group.lanes)
        for memory, count in zip(core.memories.values(), self.counts[width:], strict=True):
            memory.writes = count
        # In the order of `of`.
        numbers = self.numbers
        core.told = tuple(numbers[:width])
        place = width
        for lane in group.lanes:
            lane.known[:] = numbers[place : place + width]
            place += width
            if lane.seen is told:
                lane.seen = core.told
        for tokens in core.events.values():
            for number, (_, op) in enumerate(tokens):
                tokens[number] = tuple(numbers[place : place + width]), op
                place += width
        for history in group.histories.values():
            for traces in (history.writes, history.reads):
                for trace in traces.values():
                    trace.last = numbers[place]
                    place += 1
        for memory in core.memories.values():
            for segment in memory.segments.values():
                if segment.write is not None:
                    segment.write.number, segment.write.when = numbers[place : place + 2]
                    place += 2
                for read in segment.reads.values():
                    read.number = numbers[place]
                    place += 1

    def moved_to(self, after: CheckState) -> Motion | None:
        """
        How the numbers got from here to there, if whatever is checked next is checked alike: by as
        much as each counter did, or not at all, and none over another.
        """
        if self.structure != after.structure or self.counters != after.counters:
            return None
        if self.numbers == after.numbers and self.counts == after.counts:
            return Motion([0] * len(self.counts), [False] * len(self.numbers), [])
        steps = [new - old for old, new in zip(self.counts, after.counts, strict=True)]
        moves: list[bool] = []
        least: dict[int, int] = {}
        largest = [-1] * len(steps)
        for old, new, counter in zip(self.numbers, after.numbers, self.counters, strict=True):
            moved = new != old
            if moved and new - old != steps[counter]:
                return None
            moves.append(moved)
            if moved:
                least[counter] = min(old, least.get(counter, old))
            elif old > largest[counter]:
                largest[counter] = old
        if any(steps[counter] and bound <= largest[counter] for counter, bound in least.items()):
            return None
        return Motion(steps, moves, largest)

    def moved(self, motion: Motion, iterations: int) -> CheckState:
        """The state after so many more iterations that do the same."""
        steps = [step * iterations for step in motion.steps]
        numbers = [
            number + steps[counter] if moves else number
            for number, counter, moves in zip(
                self.numbers, self.counters, motion.moves, strict=True
            )
        ]
        counts = [count + step for count, step in zip(self.counts, steps, strict=True)]
        return CheckState(self.structure, numbers, self.counters, counts, self.looks)

    def seen_from(self, motion: Motion) -> CheckState:
        """This state, which came after one that is as another but for a motion, after the other."""
        if not any(motion.steps):
            return self
        steps, largest = motion.steps, motion.largest
        numbers = [
            number + steps[counter] if number > largest[counter] else number
            for number, counter in zip(self.numbers, self.counters, strict=True)
        ]
        counts = [count + step for count, step in zip(self.counts, steps, strict=True)]
        return CheckState(self.structure, numbers, self.counters, counts, self.looks)


@dataclass(frozen=True)
class Motion:
    """How numbers move."""

    steps: list[int]
    """How far each counter gets."""
    moves: list[bool]
    """Which numbers move with their counters."""
    largest: list[int]
    """Of those that stay, the largest of each counter; -1: none does."""
