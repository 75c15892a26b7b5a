"""
What each pipe of a core knows of the others, and from where.

Every instruction has a time. A *lesson* of pipe q about pipe p says that whatever p was given
until some time is done before q begins anything new. Pipes learn by events and barriers; an
instruction also knows what the scalar unit had waited for when it issued it. After a branch or a
loop only that is known which is known however they went.

Lessons are linked to the ones before them and to those that they follow from, so what taught a
pipe something can be told at any time later (`teachers`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pypto_xdsl.dialects.ascend910b import PIPES
from pypto_xdsl.dialects.pto import Pipe

LANES: dict[Pipe, int] = {pipe: lane for lane, pipe in enumerate(PIPES.values())}
"""A number for each pipe of a core."""
SCALAR = LANES[Pipe.S]
"""The lane of the scalar unit, which issues the others' instructions."""


class Lesson:
    """Until when one pipe is known by another to be done, and why."""

    __slots__ = ("before", "depth", "jump", "sources", "teacher", "time")

    def __init__(
        self,
        time: int,
        teacher: object = None,
        sources: tuple[Lesson, ...] = (),
        before: Lesson | None = None,
    ) -> None:
        self.time = time
        self.teacher = teacher
        """What made the pipe wait; None where it need not."""
        self.sources = sources
        """The lessons of others that it follows from; of a branch, one for each way."""
        self.before = before
        """What the pipe knew before."""
        # Each lesson links to one further back, so that one of n is found in log n steps.
        if before is None:
            self.depth, self.jump = 0, self
            return
        self.depth, jump = before.depth + 1, before.jump
        is_even = before.depth - jump.depth == jump.depth - jump.jump.depth
        self.jump = jump.jump if is_even else before

    def first(self, time: int) -> Lesson:
        """The first lesson that said as much."""
        lesson = self
        while lesson.before is not None and lesson.before.time >= time:
            lesson = lesson.jump if lesson.jump.time >= time else lesson.before
        return lesson


Told = tuple[Lesson, ...]
"""What a pipe tells once it has done all that it was given: a lesson about each pipe."""
Knowledge = list[list[Lesson]]
"""What each pipe knows of each."""


@dataclass
class PipeClocks:
    """The times, and what the pipes know of them."""

    time: int = 0
    last: list[int] = field(default_factory=lambda: [0] * len(LANES))
    """When each pipe was given something last."""
    known: Knowledge = field(default_factory=lambda: [[Lesson(0) for _ in LANES] for _ in LANES])
    _heard: list[int] = field(default_factory=lambda: [0] * len(LANES))
    """How much of what the scalar unit learned each pipe was issued with."""
    _scalar_lessons: int = 0

    def begin(self, lane: int) -> None:
        """A pipe is about to be given an instruction."""
        if lane == SCALAR or self._heard[lane] == self._scalar_lessons:
            return
        self._heard[lane] = self._scalar_lessons
        mine = self.known[lane]
        for other, lesson in enumerate(self.known[SCALAR]):
            if other != SCALAR and lesson.time > mine[other].time:
                mine[other] = Lesson(lesson.time, None, (lesson,), mine[other])

    def tick(self, lane: int) -> int:
        """The time of what a pipe is given."""
        self.time += 1
        self.last[lane] = self.time
        return self.time

    def snapshot(self, lane: int) -> Told:
        """What a pipe can tell once it has done all it was given."""
        told = list(self.known[lane])
        told[lane] = Lesson(self.last[lane])
        return tuple(told)

    def learn(self, lane: int, told: Told, teacher: object) -> None:
        """A pipe waited for something that another told."""
        join(self.known[lane], told, teacher)
        self._scalar_changed(lane == SCALAR)

    def finish_all(self, teacher: object) -> None:
        """All pipes wait for all."""
        for mine in self.known:
            for other, time in enumerate(self.last):
                if time > mine[other].time:
                    mine[other] = Lesson(time, teacher, (), mine[other])
        self._scalar_changed(True)

    def copy(self) -> Knowledge:
        """What is known, to come back to."""
        return [list(row) for row in self.known]

    def come_back(self, knowledge: Knowledge) -> None:
        """Know what was known then."""
        self.known = [list(row) for row in knowledge]
        self._scalar_changed(True)

    def merge(
        self, entry_last: Sequence[int], ends: Sequence[tuple[Knowledge, Sequence[int]]]
    ) -> None:
        """
        One of several ways was taken: each ended with what it knew and when pipes were last given
        something, which before all of them was at `entry_last`.
        """
        lasts = [last for _, last in ends]
        for lane in range(len(self.known)):
            told = [tuple(known[lane]) for known, _ in ends]
            self.known[lane] = list(merge(entry_last, told, lasts))
        self._scalar_changed(True)

    def _scalar_changed(self, did: bool) -> None:
        if did:
            self._scalar_lessons += 1


def merge(entry_last: Sequence[int], told: Sequence[Told], lasts: Sequence[Sequence[int]]) -> Told:
    """
    What is known of each pipe whichever way was taken, from what is known on each; before all of
    them pipes were given something last at `entry_last`, on each at its `lasts`.
    """
    found: list[Lesson] = []
    for other, before in enumerate(entry_last):
        ways = [known[other] for known in told]
        common = _common(ways)
        time = _known_on_all(ways, before, [last[other] for last in lasts])
        if common is not None and common.time >= time:
            found.append(common)
        else:
            found.append(Lesson(time, None, tuple(ways), common))
    return tuple(found)


def _known_on_all(ways: Sequence[Lesson], before: int, ends: Sequence[int]) -> int:
    """Until when a pipe is known to be done, whichever way was taken."""
    least = min(way.time for way in ways)
    if least < before:
        return least
    # All before is known; of what came after, the first that is missed on its way counts.
    for way, end in zip(ways, ends, strict=True):
        if way.time < end:
            return max(way.time, before)
        before = max(before, end)
    return before


def _common(ways: Sequence[Lesson]) -> Lesson | None:
    """The lesson that was learned before the ways parted."""
    common = ways[0]
    for way in ways[1:]:
        while common is not way:
            # The times of lessons that follow each other rise.
            if common.depth >= way.depth:
                if common.before is None:
                    return None
                common = common.before
            else:
                assert way.before is not None
                way = way.before
    return common


def join(mine: list[Lesson], told: Told, teacher: object) -> None:
    """Know what is told as well."""
    for lane, lesson in enumerate(told):
        if lesson.time > mine[lane].time:
            mine[lane] = Lesson(lesson.time, teacher, (lesson,), mine[lane])


def teachers(lesson: Lesson, time: int, told: set[tuple[Lesson, int]]) -> Iterator[object]:
    """
    What, waited for first, makes it known that a pipe was done at a time: events and barriers.
    What is in `told` is left out, and what is given is put there.
    """
    todo = [lesson]
    while todo:
        lesson = todo.pop()
        if lesson.time < time:
            # A way on which the pipe was given nothing.
            continue
        lesson = lesson.first(time)
        if (lesson, time) in told:
            continue
        told.add((lesson, time))
        if lesson.teacher is not None:
            yield lesson.teacher
        todo += lesson.sources
