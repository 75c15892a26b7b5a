"""
What each pipe of a core knows of the others, in a run of the text in which each loop runs twice
and each branch is taken.

Every instruction has a time. `known[q][p]` is a time: whatever pipe p was given until then is
done before pipe q begins anything new. Pipes learn by events and barriers; an instruction also
knows what the scalar unit had waited for when it issued it. After a branch or a loop only that
is known which is known however they went.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.ir import Operation

from pypto_xdsl.dialects.ascend910b import PIPES
from pypto_xdsl.dialects.pto import Pipe

LANES: dict[Pipe, int] = {pipe: lane for lane, pipe in enumerate(PIPES.values())}
"""A number for each pipe of a core."""
SCALAR = LANES[Pipe.S]
"""The lane of the scalar unit, which issues the others' instructions."""

Knowledge = list[list[int]]


@dataclass
class PipeClocks:
    """The times, and what the pipes know of them."""

    time: int = 0
    last: list[int] = field(default_factory=lambda: [0] * len(LANES))
    """When each pipe was given something last."""
    known: Knowledge = field(default_factory=lambda: [[0] * len(LANES) for _ in LANES])
    lessons: dict[tuple[int, int], list[tuple[int, Operation]]] = field(
        default_factory=dict[tuple[int, int], list[tuple[int, Operation]]]
    )
    """For a pipe and another it knows of: until when, in order, and by which wait."""

    def begin(self, lane: int) -> None:
        """A pipe is about to be given an instruction."""
        if lane != SCALAR:
            mine, scalar = self.known[lane], self.known[SCALAR]
            for other, time in enumerate(scalar):
                if other != SCALAR and time > mine[other]:
                    mine[other] = time

    def tick(self, lane: int) -> int:
        """The time of what a pipe is given."""
        self.time += 1
        self.last[lane] = self.time
        return self.time

    def snapshot(self, lane: int) -> tuple[int, ...]:
        """What a pipe can tell once it has done all it was given."""
        told = list(self.known[lane])
        told[lane] = self.last[lane]
        return tuple(told)

    def learn(self, lane: int, told: Sequence[int], wait: Operation | None = None) -> None:
        """A pipe waited for something that another told."""
        join(self.known[lane], told)
        if wait is None:
            return
        for other, time in enumerate(told):
            lessons = self.lessons.setdefault((lane, other), [])
            if not lessons or lessons[-1][0] < time:
                lessons.append((time, wait))

    def teacher(self, lane: int, other: int, time: int) -> Operation | None:
        """The first wait from which a pipe knew that another was done with a time."""
        lessons = self.lessons.get((lane, other), [])
        place = bisect_left(lessons, time, key=lambda lesson: lesson[0])
        return lessons[place][1] if place < len(lessons) else None

    def finish_all(self) -> None:
        """All pipes wait for all."""
        self.known = [list(self.last) for _ in LANES]

    def copy(self) -> Knowledge:
        """What is known, to come back to."""
        return [list(row) for row in self.known]

    def after_loop(self, entry: Knowledge, entry_last: Sequence[int]) -> None:
        """The body may not have run at all."""
        for mine, before in zip(self.known, entry, strict=True):
            for lane, time in enumerate(before):
                if mine[lane] > time and time < entry_last[lane]:
                    mine[lane] = time

    def after_branch(
        self, entry_last: Sequence[int], ends: Sequence[tuple[Knowledge, Sequence[int]]]
    ) -> None:
        """One of several was taken; each ended with what it knew and when pipes were last given."""
        for lane, mine in enumerate(self.known):
            for other in range(len(mine)):
                times = [known[lane][other] for known, _ in ends]
                least = min(times)
                if least < entry_last[other]:
                    mine[other] = least
                    continue
                mine[other] = entry_last[other]
                for time, (_, last) in zip(times, ends, strict=True):
                    mine[other] = min(time, last[other])
                    if time < last[other]:
                        break


def join(mine: list[int], told: Sequence[int]) -> None:
    """Know what is told as well."""
    for lane, time in enumerate(told):
        if time > mine[lane]:
            mine[lane] = time
