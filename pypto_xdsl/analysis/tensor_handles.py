"""
What the runtime knows of a tensor that a task is given: its buffer, and where in it.

The runtime orders tasks by comparing handles. `Handle.overlap` is its rule, with what it cannot
tell apart; a start, extent or stride that only a run knows makes a handle overlap whatever is in
its buffer, uncertainly.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import Generic

from typing_extensions import TypeVar
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from pypto_xdsl.dialects.element_types import byte_width
from pypto_xdsl.dialects.ptensor.types import packed_strides, strides_of

_ItemT = TypeVar("_ItemT")

CREATED_ALIGNMENT = 1024
"""Buffers that the runtime creates are multiples of so many bytes."""

Extent = int | None
"""A number of elements, None where only a run knows it."""


class Overlapping(Enum):
    """How a handle meets an earlier one."""

    NONE = "none"
    OTHER = "other"
    COVERED = "covered"
    """The later handle contains the earlier one."""


@dataclass(frozen=True, eq=False)
class Buffer:
    """A piece of global memory; each object is one of its own."""

    name: str
    size: int | None
    """In bytes; None where only a run knows it."""
    value: SSAValue | None = None
    """What allocates it, or the parameter."""
    owner: int | None = None
    """The task that allocates it; None for what the caller passed."""


@dataclass(frozen=True)
class Handle:
    """A tensor as a task gets it; extents and strides in elements."""

    buffer: Buffer
    start: Extent
    shape: tuple[Extent, ...]
    strides: tuple[Extent, ...]
    element_size: int
    is_manual: bool = False
    """Whoever is given it neither waits for writers nor is waited for, only for the allocation.
    This is said of a handle, not of a buffer: windows and other shapes of it are as others."""

    @staticmethod
    def whole(buffer: Buffer, type: TensorType[Attribute], *, is_manual: bool = False) -> Handle:
        """All of a buffer."""
        return Handle(
            buffer,
            0,
            tuple(map(_known, type.get_shape())),
            tuple(map(_known, strides_of(type))),
            byte_width(type.element_type),
            is_manual,
        )

    @cached_property
    def is_known(self) -> bool:
        """Whether nothing of it is left to the run."""
        return None not in (self.start, *self.shape, *self.strides)

    @cached_property
    def elements(self) -> int | None:
        """The number of elements from the first to the one after the last."""
        if not self.is_known:
            return None
        shape = [extent for extent in self.shape if extent is not None]
        strides = [stride for stride in self.strides if stride is not None]
        if 0 in shape:
            return 0
        if tuple(strides) == packed_strides(shape):
            return prod(shape)
        return 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))

    def window(self, starts: Sequence[Extent], type: TensorType[Attribute]) -> Handle:
        """The window of the shape of `type` that starts at an element."""
        shape = tuple(map(_known, type.get_shape()))
        strides = self.strides[len(self.strides) - len(shape) :]
        start = self._place(starts)
        return replace(self, start=start, shape=shape, strides=strides, is_manual=False)

    def element(self, indices: Sequence[Extent]) -> Handle:
        """One element."""
        start = self._place(indices)
        return replace(self, start=start, shape=(1,), strides=(1,), is_manual=False)

    def _place(self, indices: Sequence[Extent]) -> Extent:
        start = self.start
        for index, stride in zip(indices, self.strides, strict=False):
            if start is None or index is None or stride is None:
                return None
            start += index * stride
        return start

    def transposed(self, one: int, other: int) -> Handle:
        """The same elements with two dimensions exchanged."""
        shape, strides = list(self.shape), list(self.strides)
        shape[one], shape[other] = shape[other], shape[one]
        strides[one], strides[other] = strides[other], strides[one]
        return replace(self, shape=tuple(shape), strides=tuple(strides), is_manual=False)

    def reshaped(self, type: TensorType[Attribute]) -> Handle:
        """The same bytes in the shape and with the strides of `type`."""
        return replace(
            self,
            shape=tuple(map(_known, type.get_shape())),
            strides=tuple(map(_known, strides_of(type))),
            element_size=byte_width(type.element_type),
            is_manual=False,
        )

    def overlap(self, earlier: Handle) -> Overlapping:
        """How the runtime says that this handle meets an earlier one."""
        if self.buffer is not earlier.buffer:
            return Overlapping.NONE
        if not self.is_known or not earlier.is_known:
            return Overlapping.OTHER
        assert self.start is not None
        assert earlier.start is not None
        mine, theirs = self.elements or 0, earlier.elements or 0
        if self.start >= earlier.start + theirs or earlier.start >= self.start + mine:
            return Overlapping.NONE
        boxes = self._boxes(earlier)
        if boxes is None:
            return Overlapping.OTHER
        if any(a >= d or c >= b for (a, b), (c, d) in boxes):
            return Overlapping.NONE
        if all(a <= c and d <= b for (a, b), (c, d) in boxes):
            return Overlapping.COVERED
        return Overlapping.OTHER

    def touches(self, other: Handle) -> bool:
        """Whether the two may have a byte in common, as exactly as can be told."""
        return self.overlap(other) is not Overlapping.NONE

    def _boxes(self, other: Handle) -> list[tuple[tuple[int, int], tuple[int, int]]] | None:
        """Both as intervals of each dimension, where the runtime can compare them so."""
        strides = [stride for stride in self.strides if stride is not None]
        if self.strides != other.strides or self.element_size != other.element_size or not strides:
            return None
        if strides[-1] != 1 or any(
            outer == 0 or inner == 0 or outer % inner for outer, inner in pairwise(strides)
        ):
            return None
        if self.buffer.size is None or (self.buffer.size // self.element_size) % strides[0]:
            return None
        mine, theirs = self._box(strides), other._box(strides)
        if mine is None or theirs is None:
            return None
        return list(zip(mine, theirs, strict=True))

    def _box(self, strides: Sequence[int]) -> list[tuple[int, int]] | None:
        """The interval of each dimension, if the box fits in its rows."""
        assert self.start is not None
        rest = self.start
        box: list[tuple[int, int]] = []
        for dimension, (extent, stride) in enumerate(zip(self.shape, strides, strict=True)):
            assert extent is not None
            first, rest = divmod(rest, stride)
            if dimension and first + extent > strides[dimension - 1] // stride:
                return None
            box.append((first, first + extent))
        return box


class HandleIndex(Generic[_ItemT]):
    """Things at handles of one buffer, by where these start: most windows never meet."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._placed: list[tuple[Handle, _ItemT]] = []
        self._longest = 0
        self._unplaced: list[tuple[Handle, _ItemT]] = []
        """Those of which only a run knows where they are."""

    def add(self, handle: Handle, item: _ItemT) -> None:
        """Enter a thing."""
        start, length = handle.start, handle.elements
        if start is None or length is None:
            self._unplaced.append((handle, item))
            return
        place = bisect_right(self._starts, start)
        self._starts.insert(place, start)
        self._placed.insert(place, (handle, item))
        self._longest = max(self._longest, length)

    def near(self, handle: Handle) -> Sequence[tuple[Handle, _ItemT]]:
        """What a handle can meet, and perhaps more."""
        start, length = handle.start, handle.elements
        if start is None or length is None:
            return [*self._placed, *self._unplaced]
        first = bisect_left(self._starts, start - self._longest + 1)
        last = bisect_left(self._starts, start + length)
        return [*self._placed[first:last], *self._unplaced]

    def remove(self, handle: Handle, item: _ItemT) -> None:
        """Take out a thing that was entered at a handle."""
        if handle.start is None or handle.elements is None:
            self._unplaced.remove((handle, item))
            return
        place = bisect_left(self._starts, handle.start)
        while self._placed[place][1] is not item:
            place += 1
        del self._placed[place], self._starts[place]


def created(name: str, type: TensorType[Attribute], value: SSAValue | None, owner: int) -> Buffer:
    """A buffer that the runtime creates for a tensor of a type."""
    size = size_in_bytes(type)
    if size is not None:
        size = -(-size // CREATED_ALIGNMENT) * CREATED_ALIGNMENT
    return Buffer(name, size, value, owner)


def size_in_bytes(type: TensorType[Attribute]) -> int | None:
    """The bytes of a packed tensor."""
    shape = type.get_shape()
    return None if any(n < 0 for n in shape) else prod(shape) * byte_width(type.element_type)


def _known(extent: int) -> Extent:
    return None if extent < 0 else extent
