"""
What tensors and tiles are while a program runs.

A tensor is a reference: all its names share one `Buffer`, and a window of it is a numpy view. A
tile is a value with a physical shape and a valid region. Both know which of their elements are
*defined*: written by somebody, and inside the valid region of what computed them. Undefined
elements hold poison (nan) and travel through moves and elementwise ops; whoever makes a result
depend on one (a store, a reduction, a scalar read) asks `Machine.require_defined`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from pypto_xdsl.interpreters.elements import Array, Element, Mask
from pypto_xdsl.interpreters.errors import ProgramError

Window: TypeAlias = tuple[slice, ...]
Observer: TypeAlias = Callable[[Literal["read", "write"], "Buffer", Array], None]
"""Told of each access to a buffer: which one, and the part of it, as a view."""


def leading(extents: Sequence[int]) -> Window:
    """The window of the given extents at the origin."""
    return tuple(slice(extent) for extent in extents)


def window_at(
    what: str, offsets: Sequence[int], extents: Sequence[int], shape: Sequence[int]
) -> Window:
    """The window of `what` at some offsets, or a `ProgramError` where it lies outside."""
    found: list[slice] = []
    for offset, extent, size in zip(offsets, extents, shape, strict=True):
        if offset < 0 or extent < 0 or offset + extent > size:
            raise ProgramError(
                f"a window of {list(extents)} at {list(offsets)} lies outside {what} of "
                f"{list(shape)}"
            )
        found.append(slice(offset, offset + extent))
    return tuple(found)


@dataclass(eq=False)
class Buffer:
    """
    The memory behind a tensor and all its names.

    `defined` has a flag for each `granule` bytes of the memory, in order, or is None once all of
    it is written.
    """

    memory: Array
    """Contiguous; every view of the buffer lies inside it."""
    defined: Mask | None = None
    granule: int = 1
    observer: Observer | None = None
    address: int = field(init=False)

    def __post_init__(self):
        self.address = _address(self.memory)

    @classmethod
    def undefined(cls, memory: Array, observer: Observer | None = None) -> Buffer:
        """A buffer that nobody has written."""
        flags = np.zeros(memory.size, np.bool_)
        return cls(memory, flags, memory.itemsize, observer)

    def flags(self, view: Array, flags: Mask, granule: int) -> Mask:
        """
        The part of `flags`, one for each `granule` bytes of the memory, that belongs to a view:
        of the shape of the view, with a last dimension where its elements are larger.
        """
        offset = (_address(view) - self.address) // granule
        strides = tuple(stride // granule for stride in view.strides)
        shape = view.shape
        if (parts := view.itemsize // granule) > 1:
            shape, strides = (*shape, parts), (*strides, 1)
        return np.ndarray(shape, np.bool_, flags, offset, strides)

    def undefined_mask(self, view: Array) -> Mask | None:
        """Which elements of a view are defined; None: all."""
        if self.defined is None or not view.size:
            return None
        flags = self._own_flags(view)
        if flags.all():
            return None
        return flags.copy()

    def mark_written(self, view: Array, defined: Mask | None = None) -> None:
        """Record that a view was written, with elements of which some may be undefined."""
        if self.defined is None:
            if defined is None:
                return
            self.granule = self.memory.itemsize
            self.defined = np.ones(self.memory.size, np.bool_)
        elif defined is None and view.nbytes == self.memory.nbytes:
            self.defined = None
            return
        self._refine(view.itemsize)
        flags = self.flags(view, self.defined, self.granule)
        if defined is None:
            flags[...] = True
        else:
            flags[...] = defined if flags.ndim == view.ndim else defined[..., None]

    def _own_flags(self, view: Array) -> Mask:
        self._refine(view.itemsize)
        assert self.defined is not None
        flags = self.flags(view, self.defined, self.granule)
        return flags if flags.ndim == view.ndim else np.asarray(flags.all(axis=-1))

    def _refine(self, itemsize: int) -> None:
        """Keep flags at least as fine as the elements of a view."""
        if itemsize < self.granule and self.defined is not None:
            self.defined = np.repeat(self.defined, self.granule // itemsize)
            self.granule = itemsize


def _address(array: Array) -> int:
    return array.__array_interface__["data"][0]


@dataclass(eq=False, slots=True)
class Tensor:
    """A name of a buffer in global memory, or of a window of one."""

    array: Array
    """The elements as stored, a view of the buffer; the shape is that of the tensor."""
    element: Element
    buffer: Buffer
    valid: tuple[int, ...] | None = None
    """The extents of the valid region, None: all."""

    @classmethod
    def holding(cls, array: Array, element: Element, observer: Observer | None = None) -> Tensor:
        """A tensor with a buffer of its own, all of it written."""
        return cls(array, element, Buffer(array, observer=observer))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def region(self) -> tuple[int, ...]:
        """The extents of the valid region."""
        return self.array.shape if self.valid is None else self.valid

    def named(self, array: Array, valid: tuple[int, ...] | None = None) -> Tensor:
        """Another name of (part of) the same buffer: `array` is a view of it."""
        return Tensor(array, self.element, self.buffer, valid)

    def is_window_of(self, whole: Tensor, starts: Sequence[int]) -> bool:
        """Whether this is the window of `whole` that starts there: the same bytes."""
        if self.buffer is not whole.buffer or len(starts) != len(whole.shape):
            return False
        extents = (1,) * (len(starts) - len(self.shape)) + self.shape
        ends = (start + extent for start, extent in zip(starts, extents, strict=True))
        window = whole.array[tuple(map(slice, starts, ends))]
        if window.shape != extents or _address(window) != _address(self.array):
            return False
        strides = (0,) * (len(starts) - len(self.shape)) + self.array.strides
        pairs = zip(extents, window.strides, strides, strict=True)
        return all(extent == 1 or one == other for extent, one, other in pairs)

    def read(self, window: Window = ()) -> tuple[Array, Mask | None]:
        """The elements of a window, not copied, and which of them are defined (None: all)."""
        view = self.array[window]
        if self.buffer.observer is not None:
            self.buffer.observer("read", self.buffer, view)
        return view, self.buffer.undefined_mask(view)

    def write(self, window: Window, values: Array, defined: Mask | None = None) -> None:
        """Overwrite a window with stored elements, of which some may be undefined."""
        buffer = self.buffer
        self.array[window] = values
        if buffer.observer is None and buffer.defined is None and defined is None:
            return
        view = self.array[window]
        if buffer.observer is not None:
            buffer.observer("write", buffer, view)
        buffer.mark_written(view, defined)

    def write_elements(
        self, places: tuple[Array, ...], values: Array, defined: Mask | None = None
    ) -> None:
        """Overwrite single elements; `places` are their indices, one array a dimension."""
        self.array[places] = values
        held = self.buffer.undefined_mask(self.array)
        if held is not None or defined is not None:
            mask = np.ones(self.array.shape, np.bool_) if held is None else held
            mask[places] = True if defined is None else defined
            self.buffer.mark_written(self.array, None if mask.all() else mask)
        if self.buffer.observer is not None:
            for place in zip(*places, strict=True):
                window = tuple(slice(index, index + 1) for index in place)
                self.buffer.observer("write", self.buffer, self.array[window])

    def defined_mask(self) -> Mask | None:
        """Which elements are defined (None: all). Looking is no access."""
        return self.buffer.undefined_mask(self.array)


@dataclass(eq=False, slots=True)
class Tile:
    """A block of elements on chip: a value, never changed once it is made."""

    array: Array
    """The elements as stored, of the physical shape."""
    element: Element
    valid: tuple[int, ...]
    """The extents of the valid region."""
    defined: tuple[int, ...] | Mask
    """Which elements are defined: those of a region at the origin, or by a mask of the shape."""
    defined_bits: Mask | None = None
    """Of a packed mask of which some elements are undefined: which bits are, 8 a byte."""

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def region(self) -> tuple[int, ...]:
        """The extents of the valid region."""
        return self.valid

    def read(self, window: Window = ()) -> tuple[Array, Mask | None]:
        """The elements of a window, not copied, and which of them are defined (None: all)."""
        return self.array[window], self.defined_mask(window)

    def defined_mask(self, window: Window = ()) -> Mask | None:
        """Which elements of a window are defined; None: all."""
        defined = self.defined
        if isinstance(defined, tuple):
            if defined == self.array.shape:
                return None
            stops = (w.stop for w in window) if window else self.array.shape
            if all(
                stop is not None and stop <= extent
                for stop, extent in zip(stops, defined, strict=False)
            ) and (not window or len(window) == len(defined)):
                return None
        mask = self.full_mask()[window]
        return None if mask.all() else mask

    @property
    def is_defined(self) -> bool:
        """Whether every element of the physical shape is known to be defined."""
        return isinstance(self.defined, tuple) and self.defined == self.array.shape

    def full_mask(self) -> Mask:
        """Which elements of the physical shape are defined."""
        if not isinstance(self.defined, tuple):
            return self.defined
        mask = np.zeros(self.array.shape, np.bool_)
        mask[leading(self.defined)] = True
        return mask


Block: TypeAlias = Tensor | Tile


def describe_undefined(defined: Mask) -> str:
    """Says which elements are undefined: `3 of 64 elements are undefined, the first at [0, 2]`."""
    missing = np.argwhere(~defined)
    count = len(missing)
    first = [int(index) for index in missing[0]]
    verb = "is" if count == 1 else "are"
    return f"{count} of {defined.size} elements {verb} undefined, the first at {first}"


def undefined_tensor(
    shape: Sequence[int], element: Element, observer: Observer | None = None
) -> Tensor:
    """A new tensor whose elements nobody has written."""
    array = element.poison(shape)
    return Tensor(array, element, Buffer.undefined(array, observer))
