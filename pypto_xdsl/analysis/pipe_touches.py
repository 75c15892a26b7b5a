"""What the pipes of a core did to bytes last, while a walk follows its program."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.ir import Operation

from pypto_xdsl.analysis.journal import Journal
from pypto_xdsl.analysis.pipe_accesses import PipeAccess, Place, overlaps
from pypto_xdsl.analysis.pipe_order import SCALAR


@dataclass(frozen=True, eq=False)
class Touch:
    """The last time that a pipe did something to some bytes."""

    lane: int
    is_write: bool
    time: int
    op: Operation
    iterations: tuple[tuple[Operation, int], ...]
    """The loops around it, outermost first, and which iteration it was."""
    is_hint: bool = False
    """Whether it is a wait for another core, which gives the pipe more than the text tells."""


class Touches:
    """The last touches of a function's instructions, of which all places are known before."""

    def __init__(self, places: Iterable[Place]) -> None:
        self._overlaps = overlaps(places)
        self._ways: dict[Place, dict[tuple[int, bool], None]] = {p: {} for p in self._overlaps}
        """Which pipes were seen to read and to write each place."""
        self._last: Journal[tuple[Place, int, bool], Touch] = Journal()
        self._merged: list[dict[tuple[Place, int, bool], Touch]] = []

    def record(self, place: Place, touch: Touch) -> None:
        """A pipe did something."""
        self._ways[place][touch.lane, touch.is_write] = None
        self._last.set((place, touch.lane, touch.is_write), touch)

    def against(self, access: PipeAccess, lane: int) -> Iterator[Touch]:
        """What other pipes did last to the bytes of an access that it must come after."""
        for place in self._overlaps[access.place]:
            for other, is_write in self._ways[place]:
                if (
                    other != lane
                    and (access.is_write or is_write)
                    # The scalar unit goes on when it has what it reads.
                    and (is_write or other != SCALAR)
                ):
                    touch = self._last.get((place, other, is_write))
                    if touch is not None:
                        yield touch

    def times(self) -> dict[int, set[int]]:
        """By pipe, the times of all that may still be asked for."""
        found: dict[int, set[int]] = {}
        merged = (touch for touches in self._merged for touch in touches.values())
        for touch in (*self._last.kept(), *merged):
            found.setdefault(touch.lane, set()).add(touch.time)
        return found

    # What one way of a branch does, another does not see.

    def begin_branch(self) -> None:
        """A branch begins."""
        self._last.begin()
        self._merged.append({})

    def end_way(self) -> None:
        """One of the ways ends: things are as they were when the branch began."""
        self._merged[-1].update(self._last.take_back())

    def end_branch(self) -> None:
        """The branch ends: what any of its ways did may have been done."""
        self._last.end()
        for key, touch in self._merged.pop().items():
            self._last.set(key, touch)


__all__ = ["Touch", "Touches"]
