"""
What the cores of a group know of each other, on tiles, and what they do to the same elements
of global memory.

A core counts the times that it tells others something: by a tile that it pushes, a slot that it
frees, a flag, a place where cores meet. Who is told knows all that came before, and what the other
knew. Of two accesses to an element, one of which writes, the one that comes second has to know of
the first: else nothing orders them, in whatever order they happen to run here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from pypto_xdsl.interpreters.elements import Array
from pypto_xdsl.interpreters.values import Buffer, Observer

Told = tuple[int, ...]
"""What one core tells another: how far it knows each core to be."""


@dataclass(eq=False)
class Clocks:
    """How far each core knows each to be; each is at 1 first."""

    known: list[list[int]]

    @classmethod
    def of(cls, count: int) -> Clocks:
        """Those of so many cores, that know nothing of each other."""
        return cls([[int(own == other) for other in range(count)] for own in range(count)])

    def tell(self, core: int) -> Told:
        """All that a core knows; what it does from now on is not told."""
        told = tuple(self.known[core])
        self.known[core][core] += 1
        return told

    def hear(self, core: int, told: Iterable[Told]) -> None:
        """A core is told things."""
        known = self.known[core]
        for one in told:
            known[:] = map(max, known, one)


_Numbers = npt.NDArray[np.int32]


@dataclass(eq=False)
class _History:
    """When each core last read and wrote the elements of a buffer; 0: never."""

    buffer: Buffer
    observer: Observer | None
    grain: int
    accesses: dict[tuple[str, int], _Numbers] = field(
        default_factory=dict[tuple[str, int], _Numbers]
    )

    def part(self, kind: str, core: int, view: Array) -> _Numbers:
        """The times of a core for the elements of a view."""
        if view.itemsize % self.grain:
            self._refine(view.itemsize)
        grain = self.grain
        numbers = self.accesses.get((kind, core))
        if numbers is None:
            numbers = np.zeros(-(-self.buffer.memory.nbytes // grain), np.int32)
            self.accesses[kind, core] = numbers
        start = (view.__array_interface__["data"][0] - self.buffer.address) // grain
        shape = (*view.shape, view.itemsize // grain)
        strides = (*(stride // grain * 4 for stride in view.strides), 4)
        return np.ndarray(shape, np.int32, numbers.data, start * 4, strides)

    def _refine(self, size: int) -> None:
        """Keep times for fewer bytes."""
        factor = self.grain // size if self.grain % size == 0 else self.grain
        self.grain //= factor
        self.accesses = {key: np.repeat(n, factor) for key, n in self.accesses.items()}


@dataclass(eq=False)
class SharedMemory:
    """The buffers of global memory that several cores are given."""

    clocks: Clocks
    _histories: dict[int, _History] = field(default_factory=dict[int, _History])
    """By the identity of a buffer."""

    def watch(self, buffers: Iterable[Buffer], observer: Observer) -> None:
        """Tell an observer of all accesses, and who was told before."""
        for buffer in buffers:
            if id(buffer) not in self._histories:
                size = buffer.memory.itemsize
                self._histories[id(buffer)] = _History(buffer, buffer.observer, size)
                buffer.observer = observer

    def release(self) -> None:
        """Tell of accesses no more."""
        for history in self._histories.values():
            history.buffer.observer = history.observer

    def tell_others(self, kind: Literal["read", "write"], buffer: Buffer, view: Array) -> None:
        """Who was told of accesses before is still."""
        history = self._histories[id(buffer)]
        if history.observer is not None:
            history.observer(kind, buffer, view)

    def touch(
        self, core: int, kind: Literal["read", "write"], buffer: Buffer, view: Array
    ) -> tuple[int, str] | None:
        """
        A core reads or writes a part of a buffer; the core, and what it did there, that it does
        not know of and should.
        """
        history = self._histories[id(buffer)]
        if not view.size:
            return None
        known = self.clocks.known[core]
        kinds: Sequence[str] = ("write",) if kind == "read" else ("write", "read")
        for earlier, other in tuple(history.accesses):
            if other != core and earlier in kinds:
                times = history.part(earlier, other, view)
                if int(times.max()) > known[other]:
                    return other, earlier
        history.part(kind, core, view)[...] = known[core]
        return None
