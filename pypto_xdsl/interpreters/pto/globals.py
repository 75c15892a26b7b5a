"""Global memory as a kernel sees it: pointers, and views by their strides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import mul
from typing import Any

import numpy as np

from pypto_xdsl.dialects.pto.enumerations import Layout
from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.errors import ProgramError
from pypto_xdsl.interpreters.values import Buffer, Tensor


@dataclass(eq=False)
class Pointer:
    """An address in global memory."""

    buffer: Buffer
    element: Element
    offset: int
    """From the start of the buffer, in elements."""

    @classmethod
    def to(cls, tensor: Tensor) -> Pointer:
        """The address of the first element of a tensor."""
        first = tensor.array.__array_interface__["data"][0] - tensor.buffer.address
        return cls(tensor.buffer, tensor.element, first // tensor.array.itemsize)

    def moved(self, elements: int) -> Pointer:
        """The address so many elements further on."""
        return Pointer(self.buffer, self.element, self.offset + elements)

    def view(self, what: str, shape: Sequence[int], strides: Sequence[int]) -> Array:
        """The elements at steps of `strides` from here; they must lie in the buffer."""
        storage = self.element.storage
        size = storage.itemsize
        shape = tuple(shape)
        last, is_regular, steps = _extent(shape, tuple(strides), size)
        total = self.buffer.memory.nbytes // size
        offset = self.offset
        if offset < 0 or offset + last >= total or not is_regular:
            if not all(shape):
                return np.ndarray(shape, storage, self.buffer.memory)
            raise ProgramError(
                f"{what} reaches elements {self.offset}..{self.offset + last} of a buffer of "
                f"{total}"
            )
        return np.ndarray(shape, storage, self.buffer.memory, offset * size, steps)

    def tensor(self, what: str, shape: Sequence[int], strides: Sequence[int]) -> Tensor:
        """Likewise, as a tensor that remembers what of it is defined."""
        return Tensor(self.view(what, shape, strides), self.element, self.buffer)


@lru_cache(maxsize=4096)
def _extent(
    shape: tuple[int, ...], strides: tuple[int, ...], size: int
) -> tuple[int, bool, tuple[int, ...]]:
    """
    The offset of the last element from the first, whether it is the largest offset of all, and the
    strides in bytes.
    """
    last = sum(map(mul, shape, strides)) - sum(strides)
    return last, min(strides, default=0) >= 0, tuple(stride * size for stride in strides)


@dataclass(eq=False)
class GlobalView:
    """A tensor in global memory, or a window of one."""

    pointer: Pointer
    """What its start is counted from."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    """In elements."""
    axes: tuple[int, ...] | None = field(default=None, kw_only=True)
    """The dimensions in the order in which they make a matrix; None: as they are."""
    start: int = field(default=0, kw_only=True)
    """Where the first element is, in elements."""
    _array: Array | None = field(default=None, init=False)
    _is_outside: bool = field(default=False, init=False)
    """Whether there are elements outside the buffer."""

    @property
    def array(self) -> Array:
        """The elements, in the buffer. Raises `ProgramError` where they are not."""
        found = self._array
        if found is None:
            found = self._array = self._first.view("a window", self.shape, self.strides)
        return found

    @property
    def tensor(self) -> Tensor:
        """Likewise, as a tensor."""
        return Tensor(self.array, self.pointer.element, self.pointer.buffer)

    @property
    def _first(self) -> Pointer:
        """The address of the first element."""
        return self.pointer.moved(self.start) if self.start else self.pointer

    def part(self, offsets: Sequence[int], sizes: tuple[int, ...]) -> GlobalView:
        """A window, which must lie inside."""
        start = self._start(offsets, sizes)
        made = GlobalView(self.pointer, sizes, self.strides, axes=self.axes, start=start)
        made._array = self._window(offsets, sizes)
        return made

    def _start(self, offsets: Sequence[int], sizes: Sequence[int]) -> int:
        """Where a window starts, in elements."""
        start = self.start
        for offset, size, extent, stride in zip(
            offsets, sizes, self.shape, self.strides, strict=True
        ):
            if offset < 0 or size < 0 or offset + size > extent:
                raise ProgramError(
                    f"a window of {list(sizes)} at {list(offsets)} lies outside a tensor of "
                    f"{list(self.shape)}"
                )
            start += offset * stride
        return start

    def _window(self, offsets: Sequence[int], sizes: Sequence[int]) -> Array | None:
        """The elements of a window, where it takes no look at the buffer to find them."""
        whole = self._array
        if whole is None:
            if self._is_outside:
                return None
            try:
                whole = self.array
            except ProgramError:
                # Of a window, there may be none outside.
                self._is_outside = True
                return None
        return whole[
            tuple([slice(place, place + size) for place, size in zip(offsets, sizes, strict=True)])
        ]

    def read(self, extents: tuple[int, int]) -> tuple[Array, Mask | None]:
        """The elements as a matrix, not copied, and which are defined."""
        values, buffer = self.array, self.pointer.buffer
        if buffer.observer is not None:
            buffer.observer("read", buffer, values)
        defined = None if buffer.defined is None else buffer.undefined_mask(values)
        if values.shape == extents and self.axes is None:
            return values, defined
        if values.size != extents[0] * extents[1]:
            raise ProgramError(
                f"a window of {list(self.shape)} does not fill a valid region of {list(extents)}"
            )
        if self.axes is not None:
            values = values.transpose(self.axes)
            defined = None if defined is None else defined.transpose(self.axes)
        matrix = values.reshape(extents)
        return matrix, None if defined is None else defined.reshape(extents)

    def write(self, stored: Array, defined: Mask | None) -> None:
        """Overwrite the elements by those of a matrix."""
        array, buffer = self.array, self.pointer.buffer
        if stored.size != array.size:
            raise ProgramError(
                f"a valid region of {list(stored.shape)} does not fill a window of "
                f"{list(self.shape)}"
            )
        mask = None if defined is None else self._as_held(defined)
        if stored.shape != array.shape or self.axes is not None:
            stored = self._as_held(stored)
        array[...] = stored
        if buffer.observer is not None:
            buffer.observer("write", buffer, array)
        if buffer.defined is not None or mask is not None:
            buffer.mark_written(array, mask)

    def _as_held(self, matrix: Array) -> Array:
        """A matrix as memory holds it."""
        if self.axes is None:
            return matrix.reshape(self.shape)
        ordered = matrix.reshape([self.shape[axis] for axis in self.axes])
        return ordered.transpose(np.argsort(self.axes))


_BOXES = (2, 3, 0, 1, 4)
"""Rows of boxes, rows in one; two dimensions of columns of boxes, columns in one."""

_COLUMNS = (3, 0, 1, 2, 4)


def axes_of(op: Any, rank: int) -> tuple[int, ...] | None:
    """
    In which order the dimensions of a `pto.make_tensor_view` make a matrix, by its layout.
    Raises `ProgramError` for boxes that are not of five dimensions.
    """
    layout: Any = op.properties.get("layout")
    match None if layout is None else layout.data:
        case Layout.NZ:
            if rank != len(_BOXES):
                raise ProgramError(f"lies box by box in {rank} dimensions, which takes five")
            return _BOXES
        case Layout.DN:
            # Of two dimensions, or with others of one element, that is the order there is.
            return _COLUMNS if rank == len(_COLUMNS) else None
        case _:
            return None
