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

    __slots__ = ("before", "depth", "jump", "sources", "taught", "teacher", "time")

    def __init__(
        self,
        time: int,
        teacher: object = None,
        sources: tuple[Lesson, ...] = (),
        before: Lesson | None = None,
        taught: int | None = None,
    ) -> None:
        self.time = time
        self.taught = time if taught is None else taught
        """What this alone says, which may be less than what is known."""
        self.teacher = teacher
        """What made the pipe wait; None where it need not."""
        self.sources = sources
        """The lessons of others that it follows from; of a branch, one for each way."""
        self.before = before
        """What the pipe knew before; where the latest teachers are kept, what says more."""
        # Each lesson links to one further back, so that one of n is found in log n steps.
        if before is None:
            self.depth, self.jump = 0, self
            return
        self.depth, jump = before.depth + 1, before.jump
        is_even = before.depth - jump.depth == jump.depth - jump.jump.depth
        self.jump = jump.jump if is_even else before

    def that_says(self, time: int) -> Lesson:
        """The first lesson that said as much; of those that are kept, the latest."""
        lesson = self
        if lesson.taught < time:
            # The latest are kept: each says less than the one before.
            while lesson.taught < time:
                assert lesson.before is not None
                lesson = lesson.jump if lesson.jump.taught < time else lesson.before
            return lesson
        while lesson.before is not None and time <= lesson.before.taught <= lesson.taught:
            lesson = lesson.jump if lesson.jump.taught >= time else lesson.before
        return lesson


Told = tuple[Lesson, ...]
"""What a pipe tells once it has done all that it was given: a lesson about each pipe."""
Knowledge = list[list[Lesson]]
"""What each pipe knows of each."""
End = tuple[Knowledge, list[int]]
"""What pipes know after one way, and when each was given something last."""


@dataclass
class PipeClocks:
    """The times, and what the pipes know of them."""

    keeps_latest: bool = False
    """Whether of all that teach a pipe the same the latest is kept, not the first."""
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
                mine[other] = self._lesson(mine[other], lesson.time, None, (lesson,))

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
        self.join(self.known[lane], told, teacher)
        self._scalar_changed(lane == SCALAR)

    def join(self, mine: list[Lesson], told: Told, teacher: object) -> None:
        """Know what is told as well."""
        for lane, lesson in enumerate(told):
            if lesson.time > (0 if self.keeps_latest else mine[lane].time):
                mine[lane] = self._lesson(mine[lane], lesson.time, teacher, (lesson,))

    def _lesson(
        self, known: Lesson, time: int, teacher: object, sources: tuple[Lesson, ...]
    ) -> Lesson:
        """What is known with a new lesson."""
        if not self.keeps_latest:
            return Lesson(time, teacher, sources, known)
        before: Lesson | None = known
        while before is not None and before.taught <= time:
            before = before.before
        return Lesson(max(time, known.time), teacher, sources, before, time)

    def finish_all(self, teacher: object) -> None:
        """All pipes wait for all."""
        for mine in self.known:
            for other, time in enumerate(self.last):
                if time > (0 if self.keeps_latest else mine[other].time):
                    mine[other] = self._lesson(mine[other], time, teacher, ())
        self._scalar_changed(True)

    def copy(self) -> Knowledge:
        """What is known, to come back to."""
        return [list(row) for row in self.known]

    def come_back(self, knowledge: Knowledge) -> None:
        """Know what was known then."""
        self.known = [list(row) for row in knowledge]
        self._scalar_changed(True)

    def merge(self, entry: End, ends: Sequence[End]) -> None:
        """One of several ways was taken."""
        for lane, mine in enumerate(entry[0]):
            told = [tuple(known[lane]) for known, _ in ends]
            lasts = [last for _, last in ends]
            self.known[lane] = list(self.merged(entry[1], tuple(mine), told, lasts))
        self._scalar_changed(True)

    def merged(
        self,
        entry_last: Sequence[int],
        entry: Told | None,
        told: Sequence[Told],
        lasts: Sequence[Sequence[int]],
    ) -> Told:
        """
        What is known of each pipe whichever way was taken, from what is known on each; before all
        of them that in `entry` was known, and pipes were given something last at `entry_last`, on
        each way at its `lasts`.
        """
        found: list[Lesson] = []
        for other, before in enumerate(entry_last):
            ways = [known[other] for known in told]
            time = _known_on_all(ways, before, [last[other] for last in lasts])
            if all(way is ways[0] for way in ways):
                found.append(ways[0])
            elif entry is not None and entry[other].time >= time:
                found.append(entry[other])
            else:
                # Where the latest are kept, this says all that is known.
                known = None if entry is None or self.keeps_latest else entry[other]
                found.append(Lesson(time, None, tuple(ways), known))
        return tuple(found)

    def end(self) -> End:
        """How things are, to come back to."""
        return self.copy(), list(self.last)

    def _scalar_changed(self, did: bool) -> None:
        if did:
            self._scalar_lessons += 1


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


def teachers(lesson: Lesson, time: int, told: set[tuple[Lesson, int]]) -> Iterator[object]:
    """
    What makes it known that a pipe was done at a time: events and barriers that were waited for.
    What is in `told` is left out, and what is given is put there.
    """
    todo = [(lesson, time)]
    while todo:
        lesson, time = todo.pop()
        # A way on which the pipe was given nothing so late: what it had before counts there.
        time = min(time, lesson.time)
        lesson = lesson.that_says(time)
        if (lesson, time) in told:
            continue
        told.add((lesson, time))
        if lesson.teacher is not None:
            yield lesson.teacher
        todo += ((source, time) for source in lesson.sources)
