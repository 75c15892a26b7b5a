"""
Global memory as the cores of a group see it: views that know who touched each element.

For each buffer and each lane that touched it, an array holds the number of the last instruction
that wrote each element, and one that of the last that read it. Most accesses need not look: what
a lane did last to a buffer is known to be done. So accesses are only listed, and the arrays are
made when somebody has to look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from pypto_xdsl.interpreters.ascend910b.copy_on_write import Lender
from pypto_xdsl.interpreters.elements import Array, Mask
from pypto_xdsl.interpreters.pto.globals import GlobalView, Pointer
from pypto_xdsl.interpreters.values import Buffer

if TYPE_CHECKING:
    from pypto_xdsl.interpreters.ascend910b.core import Core
    from pypto_xdsl.interpreters.ascend910b.lanes import Lane

_LONGEST_LOG = 4096

Numbers = npt.NDArray[np.int32]


@dataclass(eq=False)
class Trace:
    """What one lane did to a buffer in one way."""

    numbers: Numbers | None = None
    """The number of the last instruction that did it, for each grain; None: all is in the log."""
    last: int = 0
    """The number of the last instruction of all."""
    log: list[tuple[Array, int]] = field(default_factory=list[tuple[Array, int]])
    """What is not in the numbers yet: views of the buffer, and the instruction."""


@dataclass(eq=False)
class BufferHistory:
    """Who touched the elements of one buffer."""

    buffer: Buffer
    grain: int
    """The bytes that one number is about."""
    lender: Lender
    writes: dict[int, Trace] = field(default_factory=dict[int, Trace])
    reads: dict[int, Trace] = field(default_factory=dict[int, Trace])
    looks: int = 0
    """How often numbers had to be looked at."""

    def touch(
        self, lane: Lane, number: int, view: Array, *, is_write: bool
    ) -> tuple[int, int, bool] | None:
        """
        Record an access; the lane, the number and the kind (a write?) of one that it should wait
        for and does not, if there is any.
        """
        found = self._unordered(lane, view, self.writes)
        if found is not None:
            found = (*found[:2], True)
        elif is_write:
            found = self._unordered(lane, view, self.reads)
        trace = self.trace(lane.index, is_write=is_write)
        trace.log.append((view, number))
        trace.last = number
        self.file_if_long(trace)
        return found

    def file_if_long(self, trace: Trace) -> None:
        """Keep the log of a trace short."""
        if len(trace.log) >= _LONGEST_LOG:
            self.file(trace)

    def trace(self, lane: int, *, is_write: bool) -> Trace:
        """What a lane did to the buffer in one way."""
        traces = self.writes if is_write else self.reads
        found = traces.get(lane)
        if found is None:
            found = traces[lane] = Trace()
        return found

    def _unordered(
        self, lane: Lane, view: Array, traces: dict[int, Trace]
    ) -> tuple[int, int, bool] | None:
        known, own = lane.known, lane.index
        for other, trace in traces.items():
            if other == own or trace.last <= known[other]:
                continue
            self.file(trace)
            self.looks += 1
            number = int(self._part(trace, view).max(initial=0))
            if number > known[other]:
                return other, number, False
        return None

    def file(self, trace: Trace) -> None:
        """Bring the log into the numbers."""
        if trace.numbers is None:
            count = -(-self.buffer.memory.nbytes // self.grain)
            trace.numbers = np.zeros(count, np.int32)
        for view, number in trace.log:
            self._part(trace, view)[...] = number
        trace.log.clear()

    def _part(self, trace: Trace, view: Array) -> Numbers:
        grain = self.grain
        if view.itemsize < grain or any(stride % grain for stride in view.strides):
            self._refine(view.itemsize)
            grain = self.grain
        start = view.__array_interface__["data"][0] - self.buffer.address
        strides = tuple(stride // grain * 4 for stride in view.strides)
        shape = view.shape
        if view.itemsize > grain:
            shape, strides = (*shape, view.itemsize // grain), (*strides, 4)
        assert trace.numbers is not None
        return np.ndarray(shape, np.int32, trace.numbers.data, start // grain * 4, strides)

    def _refine(self, grain: int) -> None:
        """Keep a number for fewer bytes."""
        factor = self.grain // grain if self.grain % grain == 0 else self.grain
        self.grain //= factor
        for trace in (*self.writes.values(), *self.reads.values()):
            if trace.numbers is not None:
                trace.numbers = np.repeat(trace.numbers, factor)


@dataclass(eq=False)
class CoreView(GlobalView):
    """A tensor in global memory, or a window of one, as a core sees it."""

    core: Core = None  # type: ignore[assignment]

    def part(self, offsets: Sequence[int], sizes: tuple[int, ...]) -> CoreView:
        start = self._start(offsets, sizes)
        made = CoreView(self.pointer, sizes, self.strides, self.core, axes=self.axes, start=start)
        made._array = self._window(offsets, sizes)
        return made

    def read(self, extents: tuple[int, int]) -> tuple[Array, Mask | None]:
        found = super().read(extents)
        self._touch(is_write=False)
        return found

    def write(self, stored: Array, defined: Mask | None) -> None:
        self._touch(is_write=True)
        super().write(stored, defined)

    def _touch(self, *, is_write: bool) -> None:
        array = self.array
        if array.size:
            self.core.touch_global(self.pointer.buffer, array, is_write=is_write)


def touch_element(core: Core, pointer: Pointer, *, is_write: bool) -> None:
    """The scalar unit reads or writes what a pointer points to."""
    view = pointer.view("the access", (1,), (1,))
    core.touch_global(pointer.buffer, view, is_write=is_write)
