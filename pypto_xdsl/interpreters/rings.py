"""
Rings of slots, in which tiles pass between the cube core and the vector cores of a group.

A slot holds elements in the order of rows, as global memory does: what the cube core pushes is
there as a whole, what two vector cores push lies below or beside each other, as the split says.
Who pops reads the rows and columns of its own valid region, from where its half starts. So a tile
comes out as it does on the machine; rows that do not fit those of the slot are an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from xdsl.ir import Operation

from pypto_xdsl.dialects.ptensor import TransportSplit
from pypto_xdsl.interpreters.core_clocks import Told
from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.errors import ProgramError


@dataclass(frozen=True)
class RingShape:
    """What both ends of a ring say of it."""

    dir_mask: int
    """1: from cube to vector, 2: from vector to cube, 3: both ways."""
    slot_size: int
    """In bytes."""
    slots: int
    """In each direction."""

    def __str__(self) -> str:
        return f"{self.slots} slots of {self.slot_size} bytes with dir_mask = {self.dir_mask}"


@dataclass(frozen=True)
class Part:
    """Where in a slot the elements of a tile are, in elements."""

    start: int
    rows: int
    columns: int
    pitch: int | None
    """From a row to the next; None: as the slot has it."""

    @property
    def end(self) -> int:
        """Behind the last element."""
        if not self.rows or not self.columns:
            return 0
        return self.start + (self.rows - 1) * (self.pitch or self.columns) + self.columns

    def of(self, flat: Array) -> Array:
        """The elements of a slot that are here, not copied."""
        size = flat.itemsize
        shape = self.rows, self.columns
        strides = (self.pitch or self.columns) * size, size
        return np.ndarray(shape, flat.dtype, flat.data, self.start * size, strides)


def part_of(
    region: Sequence[int],
    split: TransportSplit,
    subblock: int | None,
    lane_stride: int | None = None,
) -> Part:
    """
    The part of a slot that a core's tile with this valid region is: all of it for the cube core
    (`subblock` None), else the half of a vector core; the second half starts `lane_stride` rows or
    columns behind the first, where that is said.
    """
    *outer, columns = (1, *region)
    rows = prod(outer)
    if subblock is None or split is TransportSplit.NONE:
        return Part(0, rows, columns, columns)
    if len(region) != 2:
        raise ProgramError(f"halves a tile of {len(region)} dimensions, expected two")
    # Of an odd number, the first core has one more than the second.
    more = int(split.odd is split)
    if split.axis == 0:
        first = rows + more if lane_stride is None else lane_stride
        return Part(subblock * first * columns, rows, columns, columns)
    if lane_stride is not None:
        return Part(subblock * lane_stride, rows, columns, None)
    pitch = 2 * columns + (2 * subblock - 1) * more
    return Part(subblock * (columns + more), rows, columns, pitch)


@dataclass(eq=False)
class Slot:
    """What was pushed, until all that pop have it."""

    element: Element
    elements: Array
    written: Mask
    """Where somebody pushed to."""
    defined: Mask
    pitch: int | None = None
    """From a row to the next, where there are several."""
    told: list[Told] = field(default_factory=list[Told])
    """What those that pushed knew."""


@dataclass(eq=False)
class Ring:
    """One direction of a ring, and how far each core has got, by its place in the group."""

    name: str
    shape: RingShape
    pushed: dict[int, int]
    popped: dict[int, int]
    freed: dict[int, int]
    last_push: Operation | None = None
    _slots: dict[int, Slot] = field(default_factory=dict[int, Slot])
    """By how many were pushed before."""
    _frees: dict[int, list[Told]] = field(default_factory=dict[int, list[Told]])
    """By how many were freed before: what those that freed knew."""

    @classmethod
    def between(cls, name: str, shape: RingShape, push: Iterable[int], pop: Iterable[int]) -> Ring:
        """A ring that some cores push to, each its part, and others pop from, each its own."""
        pop = tuple(pop)
        none = dict.fromkeys(pop, 0)
        return cls(name, shape, dict.fromkeys(push, 0), none, dict(none))

    def can_pop(self, core: int) -> bool:
        """Whether the next slot is filled for a core."""
        return bool(self.pushed) and not self.late_to_push(core)

    def can_push(self, core: int) -> bool:
        """Whether the next slot is free for a core."""
        return self.pushed[core] < self.shape.slots or (
            bool(self.freed) and not self.late_to_free(core)
        )

    def late_to_push(self, core: int) -> Sequence[int]:
        """Who has to push before a core can pop."""
        return [other for other, count in self.pushed.items() if count <= self.popped[core]]

    def late_to_free(self, core: int) -> Sequence[int]:
        """Who has to free a slot before a core can push."""
        needed = self.pushed[core] - self.shape.slots
        return [other for other, count in self.freed.items() if count <= needed]

    def told_by_pushes(self, core: int) -> Sequence[Told]:
        """What those knew that have filled the next slot for a core."""
        return self._slots[self.popped[core]].told

    def told_by_frees(self, core: int) -> Sequence[Told]:
        """What those knew that have freed the next slot for a core."""
        return self._frees.get(self.pushed[core] - self.shape.slots, ())

    def push(
        self,
        core: int,
        op: Operation,
        part: Part,
        element: Element,
        stored: Array,
        mask: Mask | None,
        told: Told,
    ) -> None:
        """A core puts its part of a tile into the next slot, which is free, and what it knows."""
        number = self.pushed[core]
        slot = self._slots.get(number)
        if slot is None:
            extent = self.shape.slot_size // element.storage.itemsize
            none = np.zeros(extent, np.bool_)
            slot = Slot(element, element.poison((extent,)), none, none.copy())
            self._slots[number] = slot
        self._expect_fit(slot, part, element, "puts")
        if part.end:
            if part.of(slot.written).any():
                raise ProgramError(
                    "puts a tile where the other vector core has put one: split says which half "
                    "of a slot each of them has"
                )
            part.of(slot.written)[...] = True
            part.of(slot.elements)[...] = stored.reshape(part.rows, part.columns)
            part.of(slot.defined)[...] = (
                True if mask is None else mask.reshape(part.rows, part.columns)
            )
            if part.rows > 1:
                slot.pitch = part.pitch
        slot.told.append(told)
        self.pushed[core] += 1
        self.last_push = op
        if min(self.pushed.values()) > number:
            self._frees.pop(number - self.shape.slots, None)

    def pop(self, core: int, part: Part, element: Element) -> tuple[Array, Mask | None]:
        """A core takes its part of the next slot, which is filled; rows and columns of it."""
        number = self.popped[core]
        slot = self._slots[number]
        if part.pitch is None:
            part = replace(part, pitch=slot.pitch)
        self._expect_fit(slot, part, element, "takes")
        self.popped[core] += 1
        if min(self.popped.values()) > number:
            del self._slots[number]
        if not part.end:
            nothing = element.poison((part.rows, part.columns))
            return nothing, None
        mask = part.of(slot.defined)
        return part.of(slot.elements).copy(), None if mask.all() else mask.copy()

    def free(self, core: int, told: Told) -> None:
        """A core gives back the first slot of those that it took, and what it knows."""
        if self.freed[core] == self.popped[core]:
            raise ProgramError(f"frees a slot of {self.name}, of which it has taken none")
        self._frees.setdefault(self.freed[core], []).append(told)
        self.freed[core] += 1

    def _expect_fit(self, slot: Slot, part: Part, element: Element, verb: str) -> None:
        if element is not slot.element:
            raise ProgramError(
                f"{verb} a tile of {element.type} where {slot.element.type} is in the slot"
            )
        size = element.storage.itemsize
        if part.end * size > self.shape.slot_size:
            raise ProgramError(
                f"takes {part.end * size} bytes of slots of {self.shape.slot_size} bytes"
            )
        if part.end and part.rows > 1 and slot.pitch not in (None, part.pitch):
            raise ProgramError(
                f"{verb} rows that are {part.pitch} elements apart, and those in the slot are "
                f"{slot.pitch}"
            )
