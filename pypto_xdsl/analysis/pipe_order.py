"""
What each pipe of a core knows of the others, and from where.

Every instruction has a time. What pipe q knows of pipe p is a time: whatever p was given until then
is done before q begins anything new. Pipes learn by events and barriers; an instruction also knows
what the scalar unit had waited for when it issued it. After a branch or a loop only that is known
which is known however they went.

What is remembered of where a pipe knows it from is up to a kind of `Known`: what all of the ways to
know it share (`SharedTeachers`), or the first way to know it (`FirstTeachers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pypto_xdsl.dialects.ascend910b import PIPES
from pypto_xdsl.dialects.pto import Pipe

LANES: dict[Pipe, int] = {pipe: lane for lane, pipe in enumerate(PIPES.values())}
"""A number for each pipe of a core."""
SCALAR = LANES[Pipe.S]
"""The lane of the scalar unit, which issues the others' instructions."""


K = TypeVar("K")


class Known(ABC, Generic[K]):
    """Until when one pipe is known by another to be done. It does not change."""

    __slots__ = ("time",)

    time: int

    @classmethod
    @abstractmethod
    def certain(cls, time: int) -> K:
        """What needs no teacher."""

    @abstractmethod
    def heard(self, told: K, teacher: object) -> K:
        """
        What is known once it was told, by an event or a barrier; by None where it needs none.
        """

    @classmethod
    @abstractmethod
    def after(cls, entry: K | None, ways: Sequence[K], before: int, ends: Sequence[int]) -> K:
        """
        What is known whichever of several ways was taken, from what is known after each. `entry` is
        what was known before all of them, when the pipe that it is about had been given something
        last at `before`, and after each way at one of `ends`.
        """

    @abstractmethod
    def teachers(self, time: int) -> Iterable[object]:
        """The teachers that are remembered of what was given until some time, which is known."""

    def size(self) -> int:
        """How much work it is to learn more."""
        return 1

    @abstractmethod
    def only(self, times: Sequence[int]) -> K:
        """It, where it is asked for these times only, which are in order, or for all it knows."""


class SharedTeachers(Known["SharedTeachers"]):
    """
    It remembers the teachers without any one of which it would not be known. The later something
    was given, the more there are of them: they are kept by steps. Mostly these are few, since
    whatever is taught twice has none; `only` makes them fewer.
    """

    __slots__ = ("steps",)

    def __init__(self, steps: tuple[tuple[int, frozenset[object]], ...]) -> None:
        self.steps = steps
        """Until when, and the teachers; in the order of time, which is that of inclusion."""
        self.time = steps[-1][0]

    @classmethod
    def certain(cls, time: int) -> SharedTeachers:
        return cls(((time, frozenset()),))

    def heard(self, told: SharedTeachers, teacher: object) -> SharedTeachers:
        if told.time <= self.steps[0][0] and not self.steps[0][1]:
            return self
        new: frozenset[object] = frozenset() if teacher is None else frozenset((teacher,))
        steps = _Steps()
        times = sorted({time for time, _ in (*self.steps, *told.steps)})
        for time in times:
            if time > told.time:
                steps.add(time, self._at(time))
            elif time > self.time:
                steps.add(time, new | told._at(time))
            else:
                steps.add(time, self._at(time) & (new | told._at(time)))
        made = steps.made()
        return self if made == self.steps else SharedTeachers(made)

    @classmethod
    def after(
        cls,
        entry: SharedTeachers | None,
        ways: Sequence[SharedTeachers],
        before: int,
        ends: Sequence[int],
    ) -> SharedTeachers:
        if all(way is ways[0] for way in ways):
            return ways[0]
        steps = _Steps()
        common = min(before, *(way.time for way in ways))
        for time in sorted({time for way in ways for time, _ in way.steps if time < common}):
            steps.add(time, frozenset[object]().union(*(way._at(time) for way in ways)))
        needed = frozenset[object]().union(*(way._at(common) for way in ways))
        steps.add(common, needed)
        if common == before:
            for way, end in zip(ways, ends, strict=True):
                if end <= before:
                    continue
                for time, teachers in way.steps:
                    if time > before:
                        steps.add(time, needed | teachers)
                if way.time < end:
                    break
                needed |= way._at(end)
                before = end
        return cls(steps.made())

    def teachers(self, time: int) -> Iterable[object]:
        return self._at(time)

    def size(self) -> int:
        return len(self.steps)

    def only(self, times: Sequence[int]) -> SharedTeachers:
        steps = _Steps()
        start = -1
        for time, teachers in self.steps[:-1]:
            if bisect_right(times, start) < bisect_right(times, time):
                steps.add(time, teachers)
            start = time
        steps.add(*self.steps[-1])
        return SharedTeachers(steps.made())

    def _at(self, time: int) -> frozenset[object]:
        for until, teachers in self.steps:
            if time <= until:
                return teachers
        raise AssertionError("not known")


class _Steps:
    """Steps while they are made, in the order of time."""

    def __init__(self) -> None:
        self._made: list[tuple[int, frozenset[object]]] = []

    def add(self, time: int, teachers: frozenset[object]) -> None:
        """All that was given later than the step before has these teachers."""
        if self._made and self._made[-1][1] == teachers:
            self._made.pop()
        self._made.append((time, teachers))

    def made(self) -> tuple[tuple[int, frozenset[object]], ...]:
        return tuple(self._made)


class FirstTeachers(Known["FirstTeachers"]):
    """
    It remembers what taught it first, and nothing of what is known without a teacher as well.

    It links to what was known before and to what it follows from, so what taught a pipe something
    can be told at any time later.
    """

    __slots__ = ("before", "depth", "jump", "sources", "teacher", "untaught")

    def __init__(
        self,
        time: int,
        untaught: int,
        teacher: object = None,
        sources: tuple[FirstTeachers, ...] = (),
        before: FirstTeachers | None = None,
    ) -> None:
        self.time = time
        self.untaught = untaught
        """Until when it is known without a teacher."""
        self.teacher = teacher
        self.sources = sources
        """What it follows from; after a branch, what was known after each way."""
        self.before = before
        # Each links to one further back, so that one of n is found in log n steps.
        self.depth: int = 0
        self.jump: FirstTeachers = self
        if before is not None:
            self.depth, jump = before.depth + 1, before.jump
            is_even = before.depth - jump.depth == jump.depth - jump.jump.depth
            self.jump = jump.jump if is_even else before

    @classmethod
    def certain(cls, time: int) -> FirstTeachers:
        return cls(time, time)

    def heard(self, told: FirstTeachers, teacher: object) -> FirstTeachers:
        untaught = max(self.untaught, told.untaught) if teacher is None else self.untaught
        if told.time > self.time:
            if told.time == untaught:
                return told
            return FirstTeachers(told.time, untaught, teacher, (told,), self)
        if untaught > self.untaught:
            return FirstTeachers(self.time, untaught, None, (), self)
        return self

    @classmethod
    def after(
        cls,
        entry: FirstTeachers | None,
        ways: Sequence[FirstTeachers],
        before: int,
        ends: Sequence[int],
    ) -> FirstTeachers:
        if all(way is ways[0] for way in ways):
            return ways[0]
        time = _known_on_all([way.time for way in ways], before, ends)
        untaught = _known_on_all([way.untaught for way in ways], before, ends)
        if entry is not None and entry.time >= time and entry.untaught >= untaught:
            return entry
        return cls(time, untaught, None, tuple(ways), entry)

    def teachers(self, time: int) -> Iterator[object]:
        seen: set[tuple[FirstTeachers, int]] = set()
        todo: list[tuple[FirstTeachers, int]] = [(self, time)]
        while todo:
            known, time = todo.pop()
            # A way on which the pipe was given nothing so late: what it had before counts there.
            time = min(time, known.time)
            if time <= known.untaught:
                continue
            known = known._that_says(time)
            if (known, time) in seen:
                continue
            seen.add((known, time))
            if known.teacher is not None:
                yield known.teacher
            todo += ((source, time) for source in known.sources)

    def only(self, times: Sequence[int]) -> FirstTeachers:
        return self

    def _that_says(self, time: int) -> FirstTeachers:
        """The first that said as much."""
        known: FirstTeachers = self
        while known.before is not None and known.before.time >= time:
            known = known.jump if known.jump.time >= time else known.before
        return known


def _known_on_all(ways: Sequence[int], before: int, ends: Sequence[int]) -> int:
    """Until when a pipe is known to be done, whichever way was taken."""
    least = min(ways)
    if least < before:
        return least
    # All before is known; of what came after, the first that is missed on its way counts.
    for way, end in zip(ways, ends, strict=True):
        if end <= before:
            continue
        if way < end:
            return max(way, before)
        before = end
    return before


Told = tuple[Known[Any], ...]
"""What a pipe tells once it has done all that it was given: what it knows of each pipe."""
Knowledge = list[list[Known[Any]]]
"""What each pipe knows of each."""
End = tuple[Knowledge, list[int]]
"""What pipes know after one way, and when each was given something last."""


@dataclass
class PipeClocks:
    """The times, and what the pipes know of them."""

    kind: type[Known[Any]] = FirstTeachers
    told_of: Collection[object] | None = None
    """The teachers that are remembered; None: all are."""
    time: int = 0
    last: list[int] = field(default_factory=lambda: [0] * len(LANES))
    """When each pipe was given something last."""
    known: Knowledge = field(init=False)
    _heard: list[int] = field(default_factory=lambda: [0] * len(LANES))
    """How much of what the scalar unit learned each pipe was issued with."""
    _scalar_lessons: int = 0

    def __post_init__(self) -> None:
        self.known = [[self.kind.certain(0) for _ in LANES] for _ in LANES]

    def begin(self, lane: int) -> None:
        """A pipe is about to be given an instruction."""
        if lane == SCALAR or self._heard[lane] == self._scalar_lessons:
            return
        self._heard[lane] = self._scalar_lessons
        mine = self.known[lane]
        for other, known in enumerate(self.known[SCALAR]):
            if other != SCALAR:
                mine[other] = mine[other].heard(known, None)

    def tick(self, lane: int) -> int:
        """The time of what a pipe is given."""
        self.time += 1
        self.last[lane] = self.time
        return self.time

    def snapshot(self, lane: int) -> Told:
        """What a pipe can tell once it has done all it was given."""
        told = list(self.known[lane])
        told[lane] = self.kind.certain(self.last[lane])
        return tuple(told)

    def learn(self, lane: int, told: Told, teacher: object) -> None:
        """A pipe waited for something that another told."""
        self.join(self.known[lane], told, teacher)
        self._scalar_changed(lane == SCALAR)

    def join(self, mine: list[Known[Any]], told: Told, teacher: object) -> None:
        """Know what is told as well."""
        teacher = self._remembered(teacher)
        for lane, known in enumerate(told):
            mine[lane] = mine[lane].heard(known, teacher)

    def finish_all(self, teacher: object) -> None:
        """All pipes wait for all."""
        told = tuple(self.kind.certain(time) for time in self.last)
        for mine in self.known:
            self.join(mine, told, teacher)
        self._scalar_changed(True)

    def is_all_done(self) -> bool:
        """Whether all pipes know that all that was begun is done."""
        return all(
            known.time >= last
            for mine in self.known
            for known, last in zip(mine, self.last, strict=True)
        )

    def _remembered(self, teacher: object) -> object:
        return teacher if self.told_of is None or teacher in self.told_of else None

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
        found: list[Known[Any]] = []
        for other, ways in enumerate(zip(*told, strict=True)):
            known = ways[0]
            # Mostly nothing happened to it.
            if any(way is not known for way in ways):
                before = None if entry is None else entry[other]
                ends = [last[other] for last in lasts]
                known = self.kind.after(before, ways, entry_last[other], ends)
            found.append(known)
        return tuple(found)

    def forget(self, times: Mapping[int, Iterable[int]]) -> None:
        """Remember no more than is needed where only what was given at these times is asked for."""
        for other in LANES.values():
            kept = sorted(times.get(other, ()))
            for mine in self.known:
                mine[other] = mine[other].only(kept)

    def size(self) -> int:
        """How much is remembered of one pipe by another, at the most."""
        return max(known.size() for mine in self.known for known in mine)

    def end(self) -> End:
        """How things are, to come back to."""
        return self.copy(), list(self.last)

    def _scalar_changed(self, did: bool) -> None:
        if did:
            self._scalar_lessons += 1


__all__ = [
    "LANES",
    "SCALAR",
    "End",
    "FirstTeachers",
    "Knowledge",
    "Known",
    "PipeClocks",
    "SharedTeachers",
    "Told",
]
