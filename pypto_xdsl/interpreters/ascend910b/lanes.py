"""
The pipes of cores as queues, and what each knows of the others.

What a pipe is given has a number, counted from 1. `known[i]` is the number up to which lane i is
known to be done before this lane begins anything new: by an event, a flag, or a barrier.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from pypto_xdsl.dialects.ascend910b import PIPES
from pypto_xdsl.dialects.pto import Pipe

PIPE_NUMBERS: dict[Pipe, int] = {pipe: place for place, pipe in enumerate(PIPES.values())}
"""Where the lane of a pipe is among those of its core."""

PIPE_COUNT = len(PIPE_NUMBERS)

Told = tuple[int, ...]
"""What a lane knew when it told it: an event or a flag carries it."""


EventKey = tuple[int, int, int]
"""Lanes of the pipes that set and take an event, and its number."""


@dataclass(eq=False)
class Entry:
    """One thing in a queue."""

    op: Operation
    run: Callable[[], Any]
    is_ready: Callable[[], bool] | None
    """Whether what it waits for is there; None: it waits for nothing."""
    scalar: Told
    """What the scalar unit knew when it issued this."""
    scalar_number: int
    """What it had done itself."""
    event: EventKey | None
    """The event that this sets or waits for."""


@dataclass(eq=False)
class Lane:
    """One pipe of one core."""

    index: int
    """Among all pipes of the group."""
    pipe: Pipe
    core_name: str
    known: list[int]
    queue: deque[Entry] = field(default_factory=deque[Entry])
    ops: list[Operation] = field(default_factory=list[Operation])
    """What it was given, by number, counted from 0."""
    seen: Told | None = None
    """What it last heard from the scalar unit."""

    def reset(self) -> None:
        """As if nothing had run."""
        self.known[:] = [0] * len(self.known)
        self.queue.clear()
        self.ops.clear()
        self.seen = None

    @property
    def name(self) -> str:
        """`pipe MTE2 of the vector core`"""
        return f"pipe {self.pipe.value.removeprefix('PIPE_')} of {self.core_name}"

    def learn(self, told: Sequence[int]) -> None:
        """Whatever was told is done before anything new here."""
        known = self.known
        # Little of it is new.
        for lane, number in enumerate(told):
            if number > known[lane]:
                known[lane] = number

    def tell(self) -> Told:
        """What another lane knows once this one has done what it began."""
        return tuple(self.known)

    def begin(self, op: Operation) -> int:
        """Count something that runs now."""
        self.ops.append(op)
        self.known[self.index] = number = len(self.ops)
        return number
